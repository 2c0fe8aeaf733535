package anthropic_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/holdpoint/ai"
	"github.com/holdpoint/ai/internal/wiretest"
)

// chunks streams the answer of a fixture and writes down what comes.
func chunks(t *testing.T, name string) []string {
	t.Helper()
	var list []string
	generate(t, name, func(c *ai.Chunk) error {
		line := toJSON(t, c)
		line = strings.TrimPrefix(line, `{"role":"model","index":0,`)
		list = append(list, strings.TrimSuffix(line, "}"))
		return nil
	})
	return list
}

func TestStreams(t *testing.T) {
	t.Parallel()
	tests := map[string][]string{
		"text": {
			`"content":[{"text":"Grüß"}]`, `"content":[{"text":" dich! How"}]`, `"content":[{"text":" can I help?"}]`,
		},
		"thinking": {
			`"content":[{"reasoning":"The user wants"}]`,
			`"content":[{"reasoning":" the weather.\nI have a tool for it."}]`,
			`"content":[{"text":"I will look."}]`,
			`"tool":{"kind":"start","index":0,"ref":"toolu_01Weather","name":"get_weather"}`,
			`"tool":{"kind":"delta","index":0,"ref":"toolu_01Weather","name":"get_weather","delta":"{\"loca"}`,
			`"tool":{"kind":"delta","index":0,"ref":"toolu_01Weather","name":"get_weather","delta":"tion\":\"Berlin\"}"}`,
			`"content":[{"toolRequest":{"name":"get_weather","ref":"toolu_01Weather","input":{"location":"Berlin"}},"metadata":{"anthropic":{"caller":{"type":"direct"}}}}],` +
				`"tool":{"kind":"end","index":0,"ref":"toolu_01Weather","name":"get_weather"}`,
		},
		// A call that was cut off has no end.
		"fine_grained": {
			`"tool":{"kind":"start","index":0,"ref":"toolu_01Fine","name":"write_file"}`,
			`"tool":{"kind":"delta","index":0,"ref":"toolu_01Fine","name":"write_file","delta":"{\"path\": \"a.txt\", \"lines\": [\"on"}`,
			`"tool":{"kind":"delta","index":0,"ref":"toolu_01Fine","name":"write_file","delta":"e\", \"tw"}`,
		},
		"other_server": {
			`"content":[{"text":"Let me"}]`, `"content":[{"text":" see."}]`,
			`"tool":{"kind":"start","index":0,"ref":"call_0","name":"get_weather"}`,
			`"tool":{"kind":"start","index":1,"ref":"call_1","name":"now"}`,
			`"tool":{"kind":"delta","index":0,"ref":"call_0","name":"get_weather","delta":"{\"location\":\"Oslo\"}"}`,
			`"content":[{"toolRequest":{"name":"get_weather","ref":"call_0","input":{"location":"Oslo"}}}],"tool":{"kind":"end","index":0,"ref":"call_0","name":"get_weather"}`,
			`"content":[{"reasoning":"un"}]`, `"content":[{"reasoning":"signed"}]`,
			`"tool":{"kind":"delta","index":1,"ref":"call_1","name":"now","delta":"{}"}`,
			`"content":[{"toolRequest":{"name":"now","ref":"call_1","input":{}}}],"tool":{"kind":"end","index":1,"ref":"call_1","name":"now"}`,
		},
	}
	for name, want := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			require.Equal(t, want, chunks(t, name))
		})
	}
}

// Some servers send the input of a call as text.
func TestInputAsText(t *testing.T) {
	t.Parallel()
	w := serve(t, wiretest.Answer(`{"content":[{"type":"tool_use","id":"1","name":"f","input":"{\"a\":1}"}],"stop_reason":"tool_use"}`, ""))
	resp, err := w.model(nil).Generate(t.Context(), ask("hi"), nil)
	require.NoError(t, err)
	require.JSONEq(t, `{"a":1}`, string(resp.Message.ToolRequests()[0].ToolRequest.Input))
}

// Arguments that are no JSON, though nothing was cut off, have an end.
func TestArgumentsThatAreNoJSON(t *testing.T) {
	t.Parallel()
	w := serve(t, wiretest.Answer("", strings.Replace(read(t, "replies", "fine_grained.sse"), "max_tokens", "tool_use", 1)))
	var last *ai.Chunk
	resp, err := w.model(nil).Generate(t.Context(), ask("hi"), func(c *ai.Chunk) error {
		last = c
		return nil
	})
	require.NoError(t, err)
	require.Equal(t, ai.FinishStop, resp.FinishReason)
	require.Equal(t, ai.ToolEnd, last.Tool.Kind)
	require.Equal(t, resp.Message.Content, last.Content)
}

// A stream that ends anywhere before its end is a failure of the provider.
func TestStreamsThatBreak(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"text", "tools", "web_search"} {
		events := strings.SplitAfter(read(t, "replies", name+".sse"), "\n\n")
		events = events[:len(events)-2] // without message_stop and what is behind it
		for n := range len(events) + 1 {
			w := serve(t, wiretest.Answer("", strings.Join(events[:n], "")))
			resp, err := w.model(nil).Generate(t.Context(), ask("hi"), discard)
			require.Nil(t, resp)
			var failed *ai.ProviderError
			require.ErrorAs(t, err, &failed)
			require.ErrorIs(t, err, ai.ErrUnavailable)
			require.Equal(t, "ai: anthropic: provider unavailable: the stream ended before the message was complete", err.Error())
		}
	}
}

// abort sends half of the events and then breaks the connection.
func abort(events string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = io.WriteString(w, events[:len(events)/2])
		_ = http.NewResponseController(w).Flush()
		panic(http.ErrAbortHandler)
	}
}

func TestStreamsThatBreakOff(t *testing.T) {
	t.Parallel()
	w := serve(t, abort(read(t, "replies", "tools.sse")))
	_, err := w.model(nil).Generate(t.Context(), ask("hi"), discard)
	require.ErrorIs(t, err, ai.ErrUnavailable)
	require.ErrorIs(t, err, io.ErrUnexpectedEOF)
}

// Events are told by their data, so that servers may leave out the other line.
func TestStreamsOfDataOnly(t *testing.T) {
	t.Parallel()
	var data strings.Builder
	for line := range strings.SplitSeq(read(t, "replies", "tools.sse"), "\n") {
		if !strings.HasPrefix(line, "event:") {
			data.WriteString(line + "\n")
		}
	}
	w := serve(t, wiretest.Answer("", "\nevent: nothing\n\n"+data.String()))
	resp, err := w.model(nil).Generate(t.Context(), ask("hi"), discard)
	require.NoError(t, err)
	require.JSONEq(t, read(t, "replies", "tools.want"), toJSON(t, resp))
}

func TestStreamsThatAreNoJSON(t *testing.T) {
	t.Parallel()
	for _, events := range []string{
		"event: message_start\ndata: {\n\n",
		"event: content_block_start\ndata: {\"type\":\"content_block_start\",\"index\":0,\"content_block\":7}\n\n",
		"event: content_block_start\ndata: {\"type\":\"content_block_start\",\"index\":0,\"content_block\":null}\n\n",
		"event: content_block_start\ndata: {\"type\":\"content_block_start\",\"index\":0}\n\n",
	} {
		w := serve(t, wiretest.Answer("", events+"event: message_stop\ndata: {\"type\":\"message_stop\"}\n\n"))
		_, err := w.model(nil).Generate(t.Context(), ask("hi"), discard)
		require.ErrorIs(t, err, ai.ErrUnavailable)
	}
}

// What emit returns ends the call at once and is returned as it is.
func TestStreamsThatNobodyWants(t *testing.T) {
	t.Parallel()
	enough := errors.New("enough")
	for n := range len(chunks(t, "tools")) {
		gone := make(chan struct{})
		w := serve(t, func(rw http.ResponseWriter, r *http.Request) {
			wiretest.Answer("", read(t, "replies", "tools.sse")+strings.Repeat(": wait\n", 1<<20))(rw, r)
			<-r.Context().Done()
			close(gone)
		})
		left := n
		_, err := w.model(nil).Generate(t.Context(), ask("hi"), func(*ai.Chunk) error {
			if left == 0 {
				return enough
			}
			left--
			return nil
		})
		require.Equal(t, enough, err)
		<-gone
	}
}

// hold sends the events but for the end, and then nothing.
func hold(events string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if wiretest.IsStream(r) {
			w.Header().Set("Content-Type", "text/event-stream")
			_, _ = io.WriteString(w, events[:strings.LastIndex(events, "event: content_block_delta")])
		}
		_ = http.NewResponseController(w).Flush()
		<-r.Context().Done()
	}
}

func TestContextEndsACall(t *testing.T) {
	t.Parallel()
	why := errors.New("no time")
	for _, mode := range []string{"streamed", "whole"} {
		t.Run(mode, func(t *testing.T) {
			t.Parallel()
			ctx, cancel := context.WithCancelCause(t.Context())
			defer cancel(nil)
			held := hold(read(t, "replies", "text.sse"))
			w := serve(t, func(rw http.ResponseWriter, r *http.Request) {
				if mode == "whole" {
					cancel(why)
				}
				held(rw, r)
			})
			emit := func(*ai.Chunk) error {
				cancel(why)
				return nil
			}
			if mode == "whole" {
				emit = nil
			}
			_, err := w.model(nil).Generate(ctx, ask("hi"), emit)
			require.Equal(t, why, err)
		})
	}
}
