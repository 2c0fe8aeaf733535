package ai_test

import (
	"context"
	"encoding/json"
	"fmt"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/holdpoint/ai"
	"github.com/holdpoint/ai/aitest"
)

// Calls run side by side, and results stand in request order whoever is done
// first: here each call waits for the one behind it.
func TestResultsAreInRequestOrder(t *testing.T) {
	t.Parallel()
	const n = 20
	done := make([]chan struct{}, n+1)
	for i := range done {
		done[i] = make(chan struct{})
	}
	close(done[n])
	tool, err := ai.NewTool(&ai.ToolDefinition{Name: "count"}, func(_ context.Context, _ *ai.ToolCall, in struct{ I int }) (int, error) {
		<-done[in.I+1]
		close(done[in.I])
		return in.I, nil
	})
	require.NoError(t, err)
	parts := []ai.Part{&ai.TextPart{Text: "Let me count."}}
	var want []string
	for i := range n {
		parts = append(parts, wish("count", fmt.Sprint("c", i), fmt.Sprintf(`{"I":%d}`, i)), &ai.ReasoningPart{Reasoning: "more"})
		want = append(want, fmt.Sprint(i))
	}
	m := modelSays(parts...)
	res, err := ai.Resolve(t.Context(), newSet(t, tool), m, nil)
	finished(t, res, err)
	require.Same(t, m, res.Model, "nothing had to be written into the message")
	require.Equal(t, want, outputsOf(t, res.Tool))
	require.Equal(t, ai.RoleTool, res.Tool.Role)
	for i, p := range res.Tool.Content {
		response := p.(*ai.ToolResponsePart)
		require.Equal(t, "count", response.ToolResponse.Name)
		require.Equal(t, fmt.Sprint("c", i), response.ToolResponse.Ref)
		require.Nil(t, response.Metadata)
	}
}

func TestLimitBoundsHowManyCallsRun(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		opts  *ai.ResolveOptions
		most  int64
		takes time.Duration
	}{
		{nil, 6, time.Second},
		{&ai.ResolveOptions{Limit: 1}, 1, 6 * time.Second},
		{&ai.ResolveOptions{Limit: 4}, 4, 2 * time.Second},
		{&ai.ResolveOptions{Limit: 6}, 6, time.Second},
		{&ai.ResolveOptions{Limit: 100}, 6, time.Second},
		{&ai.ResolveOptions{Sequential: true}, 1, 6 * time.Second},
		{&ai.ResolveOptions{Sequential: true, Limit: 3}, 1, 6 * time.Second},
	} {
		t.Run(fmt.Sprintf("%+v", test.opts), func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				var now, most atomic.Int64
				set := newSet(t, raw(t, "sleep", func(context.Context, *ai.ToolCall) (*ai.ToolResult, error) {
					running := now.Add(1)
					for old := most.Load(); running > old && !most.CompareAndSwap(old, running); old = most.Load() {
					}
					time.Sleep(time.Second)
					now.Add(-1)
					return &ai.ToolResult{}, nil
				}))
				var parts []ai.Part
				for i := range 6 {
					parts = append(parts, wish("sleep", fmt.Sprint("c", i), ""))
				}
				start := time.Now()
				res, err := resolve(t, set, test.opts, parts...)
				finished(t, res, err)
				require.Equal(t, test.takes, time.Since(start))
				require.Equal(t, test.most, most.Load())
			})
		})
	}
}

// A tool that is not safe beside others runs alone; the others still run side by
// side, and nothing overtakes it.
func TestExclusiveToolRunsAlone(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var now atomic.Int64
		var d diary
		tool := func(def *ai.ToolDefinition) ai.Tool {
			return newRaw(t, def, func(_ context.Context, call *ai.ToolCall) (*ai.ToolResult, error) {
				now.Add(1)
				time.Sleep(time.Second)
				if def.Exclusive {
					require.Equal(t, int64(1), now.Load())
				}
				now.Add(-1)
				d.add("%s", call.Name)
				return &ai.ToolResult{}, nil
			})
		}
		set := newSet(t, tool(&ai.ToolDefinition{Name: "read"}), tool(&ai.ToolDefinition{Name: "write", Exclusive: true}))
		start := time.Now()
		res, err := resolve(t, set, nil, wish("read", "1", ""), wish("read", "2", ""), wish("write", "3", ""),
			wish("write", "4", ""), wish("read", "5", ""), wish("read", "6", ""), wish("read", "7", ""), wish("write", "8", ""))
		finished(t, res, err)
		require.Equal(t, []string{"read", "read", "write", "write", "read", "read", "read", "write"}, d.take())
		require.Equal(t, 5*time.Second, time.Since(start))
	})
}

// A sequential turn stops at the first call that asks or fails. An error result
// is neither. What was not started says so, and starts on resumption, in order.
func TestSequentialStops(t *testing.T) {
	t.Parallel()
	for _, stop := range []string{"ask", "fail", "misfit"} {
		t.Run(stop, func(t *testing.T) {
			t.Parallel()
			var d diary
			set := newSet(t,
				raw(t, "look", func(_ context.Context, call *ai.ToolCall) (*ai.ToolResult, error) {
					d.add("look %s", call.Ref)
					return ai.ErrorResult("nothing to see"), nil
				}),
				asks(t, "ask", nil, `"yes"`), fails(t, "fail", errBroken),
				newRaw(t, &ai.ToolDefinition{Name: "misfit", OutputSchema: json.RawMessage(`{"type":"integer"}`)},
					func(context.Context, *ai.ToolCall) (*ai.ToolResult, error) { return &ai.ToolResult{}, nil }))
			opts := &ai.ResolveOptions{Sequential: true}
			res, err := resolve(t, set, opts, wish("look", "1", ""), wish("look", "2", `"no object"`), wish(stop, "3", ""),
				wish("look", "4", ""), wish("look", "5", ""))
			var m *ai.Message
			if stop == "ask" {
				require.NoError(t, err)
				m = aitest.Reload(t, res.Model)
				require.Len(t, res.Interrupts(), 1)
			} else {
				var turn *ai.TurnError
				turn, m = failed(t, err)
				require.Len(t, turn.Calls, 1)
				require.Len(t, turn.Open(), 3)
			}
			require.Equal(t, []string{"look 1"}, d.take())
			require.JSONEq(t, `{"pendingOutput":"nothing to see","pendingMetadata":{"isError":true}}`, jsonOf(t, requestOf(t, m, "1").Metadata))
			require.JSONEq(t, `{"notStarted":true}`, jsonOf(t, requestOf(t, m, "4").Metadata))
			require.JSONEq(t, `{"notStarted":true}`, jsonOf(t, requestOf(t, m, "5").Metadata))

			res, err = resume(t, set, m, responds(no(t, requestOf(t, m, "3"), "no")), opts)
			finished(t, res, err)
			require.Equal(t, []string{"look 4", "look 5"}, d.take())
			require.NotContains(t, jsonOf(t, res.Model), "notStarted")
		})
	}
}

// No tool request, no turn.
func TestMessageWithoutToolRequests(t *testing.T) {
	t.Parallel()
	for _, m := range []*ai.Message{modelSays(), modelSays(&ai.TextPart{Text: "Hello."})} {
		res, err := ai.Resolve(t.Context(), nil, m, nil)
		require.NoError(t, err)
		require.Same(t, m, res.Model)
		require.Nil(t, res.Tool)
		require.Empty(t, res.Interrupts())
	}
}

func TestMessagesThatAreNotResolved(t *testing.T) {
	t.Parallel()
	partial := wish("look", "a", "")
	partial.ToolRequest.Partial = true
	for name, test := range map[string]struct {
		message *ai.Message
		opts    *ai.ResolveOptions
		want    string
	}{
		"nil":       {nil, nil, "no model message"},
		"user":      {ai.TextMessage(ai.RoleUser, "hi"), nil, `role "user"`},
		"tool":      {toolSays(response("look", "a", "1")), nil, `role "tool"`},
		"partial":   {modelSays(wish("look", "b", ""), partial), nil, "look#a is marked partial"},
		"nil part":  {modelSays((*ai.ToolRequestPart)(nil)), nil, "part 0 of its content is nil"},
		"bad mark":  {modelSays(marked("callKey", "5")), nil, `"callKey" of tool request look#a`},
		"two marks": {modelSays(marked("interrupt", "true", "notStarted", "true")), nil, "both interrupt and notStarted"},
		"nil middleware": {modelSays(wish("look", "a", "")), &ai.ResolveOptions{Middleware: []*ai.Middleware{nil}},
			"middleware 0 is nil"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var d diary
			_, err := ai.Resolve(t.Context(), newSet(t, noting(t, &d)), test.message, test.opts)
			require.ErrorIs(t, err, ai.ErrInvalidArgument)
			require.ErrorContains(t, err, test.want)
			require.Empty(t, d.take())
		})
	}
}

// marked is a request with metadata: keys and JSON values.
func marked(pairs ...string) *ai.ToolRequestPart {
	p := wish("look", "a", `{}`)
	p.Metadata = ai.Metadata{}
	for i := 0; i < len(pairs); i += 2 {
		p.Metadata[pairs[i]] = json.RawMessage(pairs[i+1])
	}
	return p
}

// noting is a tool named look that notes in a diary that it ran.
func noting(t *testing.T, d *diary) ai.Tool {
	return raw(t, "look", func(_ context.Context, call *ai.ToolCall) (*ai.ToolResult, error) {
		d.add("look %s %s", call.Ref, call.Input)
		return &ai.ToolResult{Output: json.RawMessage(`"seen"`)}, nil
	})
}

// A message that a turn has worked on is for Resume: Resolve would run again
// what has run.
func TestMessageThatWasWorkedOn(t *testing.T) {
	t.Parallel()
	for key, value := range map[string]string{
		"interrupt": "true", "pendingOutput": "null", "failure": `{"kind":"tool"}`, "notStarted": "true",
		"inner": `{"b":{"messages":[{"role":"user","content":[]}]}}`, "callKey": `"k"`, "answered": `{"tool":{"resumed":true}}`,
		"interruptState": "1", "resolvedInterrupt": "true", "effectiveInput": `{"a":1}`,
	} {
		t.Run(key, func(t *testing.T) {
			t.Parallel()
			var d diary
			set := newSet(t, noting(t, &d))
			_, err := resolve(t, set, nil, wish("look", "b", ""), marked(key, value))
			require.ErrorIs(t, err, ai.ErrFailedPrecondition)
			require.ErrorContains(t, err, "look#a was worked on before")
			require.Empty(t, d.take())
		})
	}
}

// What is not ours in the metadata of a request is kept, as thought signatures
// of providers have to be.
func TestForeignMetadataIsKept(t *testing.T) {
	t.Parallel()
	for name, tool := range map[string]ai.Tool{
		"settled": gives(t, "look", "1"), "asking": asks(t, "look", nil, "1"), "failed": fails(t, "look", errBroken),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			part := marked("thoughtSignature", `"abc"`, "big", "9007199254740993")
			res, err := resolve(t, newSet(t, tool), nil, part)
			var m *ai.Message
			if name == "failed" {
				_, m = failed(t, err)
			} else {
				require.NoError(t, err)
				m = res.Model
			}
			md := requestOf(t, m, "a").Metadata
			require.Equal(t, `"abc"`, string(md["thoughtSignature"]))
			require.Equal(t, "9007199254740993", string(md["big"]))
			require.Equal(t, name == "settled", len(md) == 2)
		})
	}
}
