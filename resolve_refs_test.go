package ai_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/holdpoint/ai"
	"github.com/holdpoint/ai/aitest"
)

// refsOf are the refs of a message, of requests or of responses.
func refsOf(m *ai.Message) []string {
	var refs []string
	for _, p := range m.Content {
		switch p := p.(type) {
		case *ai.ToolRequestPart:
			refs = append(refs, p.ToolRequest.Ref)
		case *ai.ToolResponsePart:
			refs = append(refs, p.ToolResponse.Ref)
		}
	}
	return refs
}

// A request without a ref, or with one that an earlier request has, gets one:
// the same in the revised message, in the call and in the response.
func TestRefsAreMinted(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		sent []string
		kept []bool
	}{
		"one missing":   {[]string{""}, []bool{false}},
		"all missing":   {[]string{"", "", ""}, []bool{false, false, false}},
		"some missing":  {[]string{"a", "", "b", ""}, []bool{true, false, true, false}},
		"doubled":       {[]string{"a", "a", "a"}, []bool{true, false, false}},
		"doubled apart": {[]string{"a", "b", "a", "", "b"}, []bool{true, true, false, false, false}},
		"as sent":       {[]string{"a", "b"}, []bool{true, true}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			tool := raw(t, "ref", func(_ context.Context, call *ai.ToolCall) (*ai.ToolResult, error) {
				output, err := json.Marshal(call.Ref)
				return &ai.ToolResult{Output: output}, err
			})
			var parts []ai.Part
			for _, ref := range test.sent {
				parts = append(parts, wish("ref", ref, `{"a":1}`))
			}
			res, err := resolve(t, newSet(t, tool), nil, parts...)
			finished(t, res, err)
			refs := refsOf(res.Model)
			require.Equal(t, refs, refsOf(res.Tool))
			seen := map[string]bool{}
			for i, ref := range refs {
				require.Equal(t, test.kept[i], ref == test.sent[i])
				require.Regexp(t, regexp.MustCompile(`^[a-zA-Z0-9_-]{1,40}$`), ref, "every provider takes it")
				require.Equal(t, fmt.Sprintf("%q", ref), outputsOf(t, res.Tool)[i])
				require.False(t, seen[ref])
				seen[ref] = true
			}
			for _, p := range res.Model.ToolRequests() {
				require.Nil(t, p.Metadata)
				require.JSONEq(t, `{"a":1}`, string(p.ToolRequest.Input))
			}
		})
	}
}

// With minted refs each of several pending calls gets its own answer, also when
// the model called them all the same.
func TestEachPendingCallGetsItsOwnAnswer(t *testing.T) {
	t.Parallel()
	for _, ref := range []string{"", "same"} {
		t.Run("ref "+ref, func(t *testing.T) {
			t.Parallel()
			d := newDesk(t)
			var parts []ai.Part
			for i := range 3 {
				parts = append(parts, wish("pay", ref, fmt.Sprintf(`{"amount":%d}`, i)))
			}
			m := pause(t, d.set, nil, parts...)
			list, err := m.Interrupts()
			require.NoError(t, err)
			require.Len(t, list, 3)
			answers := &ai.Answers{
				Restart: restarts(yes(t, list[2].Request), yes(t, list[0].Request)).Restart,
				Respond: responds(say(t, list[1].Request, "by hand")).Respond,
			}
			res, err := resume(t, d.set, m, answers, nil)
			finished(t, res, err)
			require.Equal(t, []string{`"paid 0"`, `"by hand"`, `"paid 2"`}, outputsOf(t, res.Tool))
			require.Equal(t, refsOf(m), refsOf(res.Tool), "refs are stable through the pause")
		})
	}
}

// A new call of the same tool in the next turn starts clean, whatever its ref.
func TestNextTurnStartsClean(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	m := pause(t, d.set, nil, wish("pay", "a", `{"amount":1}`))
	res, err := resume(t, d.set, m, restarts(yes(t, requestOf(t, m, "a"))), nil)
	finished(t, res, err)
	require.Len(t, d.take(), 1)
	pause(t, d.set, nil, wish("pay", "a", `{"amount":1}`))
	require.Empty(t, d.take(), "the yes was for the first call alone")
}

// Only what is in the set can be called; the siblings of an unknown tool run.
func TestUnknownTool(t *testing.T) {
	t.Parallel()
	var d diary
	var r ai.Registry
	hidden := raw(t, "hidden", func(context.Context, *ai.ToolCall) (*ai.ToolResult, error) {
		d.add("hidden ran")
		return &ai.ToolResult{}, nil
	})
	require.NoError(t, r.Register(hidden, noting(t, &d), gives(t, "other", "1")))
	set, err := r.Tools(t.Context(), "look", "other")
	require.NoError(t, err)

	_, err = resolve(t, set, nil, wish("look", "a", ""), wish("hidden", "b", ""))
	call := onlyCall(t, err)
	require.Equal(t, ai.FailedLookup, call.Kind)
	require.Equal(t, "hidden", call.Name)
	require.Equal(t, "b", call.Ref)
	require.False(t, call.MayHaveActed)
	require.ErrorIs(t, err, ai.ErrNotFound)
	require.EqualError(t, err, `ai: tool request hidden#b: tool "hidden" is not available; on offer: look, other`)
	require.Equal(t, []string{"look a {}"}, d.take())

	res, err := resolve(t, set, &ai.ResolveOptions{OnError: ai.ReportErrors}, wish("hidden", "b", ""))
	finished(t, res, err)
	told := responseOf(t, res.Tool, "b").ForModel()
	require.True(t, told.IsError)
	require.Equal(t, `tool "hidden" is not available; on offer: look, other`, told.Text)
	require.Empty(t, d.take())

	_, err = resolve(t, nil, nil, wish("look", "a", ""))
	require.ErrorIs(t, err, ai.ErrNotFound)
	require.ErrorContains(t, err, "no tools are offered")
}

// The full name is written down where the model used another one, whatever
// becomes of the call, so that a resumption finds the tool under changed names.
func TestOriginalName(t *testing.T) {
	t.Parallel()
	tools := func(fn ai.RawFunc) *ai.ToolSet {
		return newSet(t, raw(t, "work-orders/order", fn), asks(t, "stop", nil, "1"))
	}
	for name, fn := range map[string]ai.RawFunc{
		"settled": func(context.Context, *ai.ToolCall) (*ai.ToolResult, error) { return &ai.ToolResult{}, nil },
		"asking":  func(_ context.Context, call *ai.ToolCall) (*ai.ToolResult, error) { return nil, call.Interrupt(nil) },
		"failed":  func(context.Context, *ai.ToolCall) (*ai.ToolResult, error) { return nil, errBroken },
		"not started": func(context.Context, *ai.ToolCall) (*ai.ToolResult, error) {
			return nil, errors.New("it was to be left alone")
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			parts := []ai.Part{wish("order", "a", "")}
			opts := &ai.ResolveOptions{}
			if name == "not started" {
				parts, opts.Sequential = []ai.Part{wish("stop", "s", ""), parts[0]}, true
			}
			res, err := resolve(t, tools(fn), opts, parts...)
			var m *ai.Message
			if name == "failed" {
				_, m = failed(t, err)
				require.Equal(t, "work-orders/order", onlyCall(t, err).Name)
			} else {
				require.NoError(t, err)
				m = aitest.Reload(t, res.Model)
			}
			req := requestOf(t, m, "a")
			require.Equal(t, "order", req.ToolRequest.Name)
			require.Equal(t, `"work-orders/order"`, string(req.Metadata["originalName"]))
			if name == "settled" {
				require.Equal(t, "order", responseOf(t, res.Tool, "a").ToolResponse.Name)
			}
		})
	}
}

// The full name works too, and is nothing to write down.
func TestFullNameOfATool(t *testing.T) {
	t.Parallel()
	set := newSet(t, gives(t, "work-orders/order", "1"))
	res, err := resolve(t, set, nil, wish("work-orders/order", "a", ""))
	finished(t, res, err)
	require.Nil(t, res.Model.ToolRequests()[0].Metadata)
	require.Equal(t, "work-orders/order", responseOf(t, res.Tool, "a").ToolResponse.Name)
}

// After a deploy the same short name may stand for another tool.
func TestNotStartedCallFindsItsToolUnderChangedNames(t *testing.T) {
	t.Parallel()
	set := newSet(t, asks(t, "stop", nil, "1"), gives(t, "a/order", `"a"`))
	res, err := resolve(t, set, &ai.ResolveOptions{Sequential: true}, wish("stop", "s", ""), wish("order", "o", ""))
	require.NoError(t, err)
	m := aitest.Reload(t, res.Model)
	later := newSet(t, asks(t, "stop", nil, "1"), gives(t, "order", `"bare"`), gives(t, "a/order", `"a"`))
	res, err = resume(t, later, m, restarts(yes(t, requestOf(t, m, "s"))), nil)
	finished(t, res, err)
	require.Equal(t, []string{"1", `"a"`}, outputsOf(t, res.Tool))
}
