package ai_test

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/holdpoint/ai"
	"github.com/holdpoint/ai/aitest"
)

// digTools have a tool that reports each metre and then asks, or is done, or
// fails, as its name says.
func digTools(t *testing.T, metres int) *ai.Registry {
	t.Helper()
	var r ai.Registry
	for _, end := range []string{"ask", "end", "fail"} {
		ai.DefineTool(&r, end, "Dig.", func(_ context.Context, call *ai.ToolCall, _ struct{}) (string, error) {
			for i := range metres {
				if err := call.Emit(&ai.TextPart{Text: fmt.Sprint(call.Ref, " ", i)}); err != nil {
					return "", err
				}
			}
			switch {
			case end == "ask" && !call.Resumed():
				return "", call.Interrupt("deeper?")
			case end == "fail":
				return "", errBroken
			}
			return "dug", nil
		})
	}
	return &r
}

// progressOf gives what each call has emitted, by ref, and checks its events.
func progressOf(t *testing.T, chunks []*ai.Chunk) map[string][]string {
	t.Helper()
	texts := map[string][]string{}
	for _, c := range chunks {
		if c.Tool == nil || c.Tool.Kind != ai.ToolProgress {
			continue
		}
		require.Equal(t, ai.RoleTool, c.Role)
		response := c.Content[0].(*ai.ToolResponsePart)
		require.Equal(t, &ai.ToolEvent{
			Kind: ai.ToolProgress, Index: c.Tool.Index, Ref: response.ToolResponse.Ref, Name: response.ToolResponse.Name,
		}, c.Tool)
		texts[c.Tool.Ref] = append(texts[c.Tool.Ref], response.ToolResponse.Content[0].(*ai.TextPart).Text)
	}
	return texts
}

// Everything that a call has emitted reaches the reader, in its order and before
// the last chunk, however the call ends. An interrupt behind progress is like any other.
func TestEmitNothingIsLost(t *testing.T) {
	t.Parallel()
	const calls, metres = 6, 20
	for _, end := range []string{"ask", "end", "fail"} {
		t.Run(end, func(t *testing.T) {
			t.Parallel()
			r := digTools(t, metres)
			var requests []*ai.ToolRequestPart
			want := map[string][]string{}
			for i := range calls {
				ref := fmt.Sprint("c", i)
				requests = append(requests, aitest.Request(end, ref, nil))
				for n := range metres {
					want[ref] = append(want[ref], fmt.Sprint(ref, " ", n))
				}
			}
			replies := []*aitest.Reply{aitest.ToolRequests(requests...)}
			if end == "end" {
				replies = append(replies, aitest.Text("done"))
			}
			m := aitest.NewModel(t, replies...)
			chunks, resp, err := collect(t, ai.Stream(t.Context(), r, &ai.GenerateOptions{Model: m, Prompt: "dig"}))
			require.Equal(t, want, progressOf(t, chunks))
			for _, c := range chunks {
				if c.Tool != nil {
					require.Equal(t, fmt.Sprint("c", c.Tool.Index), c.Tool.Ref)
				}
			}
			if end == "fail" {
				require.ErrorIs(t, err, errBroken)
				return
			}
			require.NoError(t, err)
			require.Equal(t, end == "ask", resp.FinishReason == ai.FinishInterrupted)
			if end == "ask" {
				require.Len(t, resp.Interrupts(), calls)
				requireResumes(t, r, resp, want)
			}
		})
	}
}

// requireResumes approves all, and expects the same progress again.
func requireResumes(t *testing.T, r *ai.Registry, paused *ai.Response, want map[string][]string) {
	t.Helper()
	chunks, resp, err := collect(t, ai.Stream(t.Context(), r, &ai.GenerateOptions{
		Model: aitest.NewModel(t, aitest.Text("done")), Messages: aitest.Reload(t, paused.Messages), Resume: aitest.Approve(t, paused),
	}))
	require.NoError(t, err)
	require.Equal(t, want, progressOf(t, chunks))
	require.Equal(t, "done", resp.Text())
	tool := slices.IndexFunc(chunks, func(c *ai.Chunk) bool { return c.Tool == nil })
	require.Len(t, chunks[tool].Content, len(want), "all results in one chunk, behind all progress")
	require.Equal(t, len(want)*20, tool)
}

// The reader may go in the midst of progress: the calls are told, and the stream
// is left only when they have ended.
func TestEmitToAReaderThatGoesAtAnyPoint(t *testing.T) {
	t.Parallel()
	for point := range 24 {
		synctest.Test(t, func(t *testing.T) {
			running := make(chan struct{}, 4)
			var r ai.Registry
			ai.DefineTool(&r, "dig", "Dig.", func(_ context.Context, call *ai.ToolCall, _ struct{}) (string, error) {
				running <- struct{}{}
				defer func() { <-running }()
				for range 6 {
					time.Sleep(time.Millisecond)
					if err := call.Emit(&ai.TextPart{Text: "1 m"}); err != nil {
						return "", err
					}
				}
				return "dug", nil
			})
			m := aitest.NewModelFunc(t, func(context.Context, *ai.ModelRequest) *aitest.Reply {
				return aitest.ToolRequests(aitest.Request("dig", "1", nil), aitest.Request("dig", "2", nil), aitest.Request("dig", "3", nil), aitest.Request("dig", "4", nil))
			})
			seen := 0
			for c, err := range ai.Stream(t.Context(), &r, &ai.GenerateOptions{Model: m, Prompt: "dig"}) {
				require.NoError(t, err)
				if c.Role != ai.RoleTool {
					continue
				}
				if seen == point {
					break
				}
				seen++
			}
			require.Empty(t, running, "point %d", point)
		})
	}
}

// What a call emits inside a conversation that a call hosts is for the options of
// that conversation; what the host emits is for the reader.
func TestEmitNested(t *testing.T) {
	t.Parallel()
	var inner chunkList
	var r ai.Registry
	inside := digTools(t, 2)
	ai.DefineTool(&r, "host", "Host.", func(ctx context.Context, call *ai.ToolCall, _ struct{}) (string, error) {
		if err := call.Emit(&ai.TextPart{Text: "begin"}); err != nil {
			return "", err
		}
		m := aitest.NewModel(t, aitest.ToolRequests(aitest.Request("end", "i", nil)), aitest.Text("done"))
		opts := &ai.GenerateOptions{Model: m, Prompt: "dig"}
		opts.Turn.Emit = inner.emit
		if _, err := call.Generate(ctx, "b", inside, opts); err != nil {
			return "", err
		}
		return "hosted", call.Emit(&ai.TextPart{Text: "end"})
	})
	m := aitest.NewModel(t, aitest.ToolRequests(aitest.Request("host", "h", nil)), aitest.Text("done"))
	chunks, _, err := collect(t, ai.Stream(t.Context(), &r, &ai.GenerateOptions{Model: m, Prompt: "go"}))
	require.NoError(t, err)
	require.Equal(t, map[string][]string{"h": {"begin", "end"}}, progressOf(t, chunks))
	require.Equal(t, map[string][]string{"i": {"i 0", "i 1"}}, progressOf(t, inner.list))
}
