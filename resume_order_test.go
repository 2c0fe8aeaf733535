package ai_test

import (
	"context"
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/holdpoint/ai"
	"github.com/holdpoint/ai/aitest"
)

// Calls that a sequential turn did not come to start on resumption without an
// answer, in order, and stop again at the next that asks.
func TestNotStartedCallsStartByThemselves(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	opts := &ai.ResolveOptions{Sequential: true}
	m := pause(t, d.set, opts,
		wish("pay", "a", `{"amount":1}`), wish("flaky", "b", `{"amount":2}`), wish("look", "c", `{"give":0}`),
		wish("pay", "d", `{"amount":4}`), wish("look", "e", ""))
	require.Empty(t, d.take())
	for _, ref := range []string{"b", "c", "d", "e"} {
		require.JSONEq(t, `{"notStarted":true}`, jsonOf(t, requestOf(t, m, ref).Metadata))
	}
	list, err := m.Interrupts()
	require.NoError(t, err)
	require.Len(t, list, 1)

	res, err := resume(t, d.set, m, restarts(yes(t, list[0].Request)), opts)
	require.NoError(t, err)
	require.Equal(t, []string{"pay a 1", "flaky b 2", "look c"}, d.take())
	m = aitest.Reload(t, res.Model)
	require.Equal(t, "d", res.Interrupts()[0].Request.ToolRequest.Ref)
	require.JSONEq(t, `{"notStarted":true}`, jsonOf(t, requestOf(t, m, "e").Metadata))

	res, err = resume(t, d.set, m, responds(no(t, requestOf(t, m, "d"), "no")), opts)
	require.NoError(t, err)
	require.Equal(t, []string{"look e"}, d.take())
	require.Equal(t, []string{`"paid 1"`, `"paid 2"`, "0", `"Denied: no"`, "null"}, outputsOf(t, res.Tool))
}

// They stop at a failure, too, and go on with what comes after it when that is
// answered.
func TestNotStartedCallsAfterAFailure(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.broken.Store(true)
	opts := &ai.ResolveOptions{Sequential: true}
	_, err := ai.Resolve(t.Context(), d.set, modelSays(wish("flaky", "a", `{"amount":1}`), wish("look", "b", "")), opts)
	turn, m := failed(t, err)
	require.Len(t, turn.Open(), 2)
	require.Equal(t, []string{"flaky a 1"}, d.take())

	_, err = resume(t, d.set, m, restarts(yes(t, requestOf(t, m, "a"))), opts)
	_, m = failed(t, err)
	require.Equal(t, []string{"flaky a 1"}, d.take(), "b waits for a")
	require.JSONEq(t, `{"notStarted":true}`, jsonOf(t, requestOf(t, m, "b").Metadata))
	d.broken.Store(false)
	res, err := resume(t, d.set, m, restarts(yes(t, requestOf(t, m, "a"))), opts)
	require.NoError(t, err)
	require.Equal(t, []string{"flaky a 1", "look b"}, d.take())
	require.NotNil(t, res.Tool)
}

// Of a sequential turn that is answered in part, nothing starts by itself behind
// a call that stays open; what is named by an answer does.
func TestSequentialWithPartial(t *testing.T) {
	t.Parallel()
	opts := &ai.ResolveOptions{Sequential: true, Partial: true}
	tests := map[string]struct {
		answer func(t *testing.T, m *ai.Message) *ai.Answers
		ran    []string
		open   []string
	}{
		"nothing": {
			func(*testing.T, *ai.Message) *ai.Answers { return nil },
			[]string{"look b"}, []string{"d", "e", "f"},
		},
		"the open one": {
			func(t *testing.T, m *ai.Message) *ai.Answers {
				return restarts(yes(t, requestOf(t, m, "d")))
			},
			[]string{"look b", "pay d 4", "look e"}, []string{"f"},
		},
		"one behind it": {
			func(t *testing.T, m *ai.Message) *ai.Answers {
				return restarts(yes(t, requestOf(t, m, "e")))
			},
			[]string{"look b", "look e"}, []string{"d", "f"},
		},
		"a denial behind it": {
			func(t *testing.T, m *ai.Message) *ai.Answers {
				return responds(no(t, requestOf(t, m, "f"), "no"))
			},
			[]string{"look b"}, []string{"d", "e"},
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := newDesk(t)
			// As a turn leaves it that was sequential, then answered in part.
			m := modelSays(wish("look", "a", ""), wish("look", "b", ""), wish("look", "c", ""),
				wish("pay", "d", `{"amount":4}`), wish("look", "e", ""), wish("pay", "f", `{"amount":6}`))
			marks := []string{`{"pendingOutput":1}`, `{"notStarted":true}`, `{"pendingOutput":3}`,
				`{"interrupt":{"confirm":4}}`, `{"notStarted":true}`, `{"notStarted":true}`}
			for i, text := range marks {
				require.NoError(t, json.Unmarshal([]byte(text), &m.ToolRequests()[i].Metadata))
			}
			res, err := ai.Resume(t.Context(), d.set, m, tt.answer(t, m), opts)
			require.NoError(t, err)
			require.Equal(t, tt.ran, d.take())
			var open []string
			for _, p := range res.Model.ToolRequests() {
				if _, settled := p.Metadata["pendingOutput"]; !settled {
					open = append(open, p.ToolRequest.Ref)
				}
			}
			require.Equal(t, tt.open, open)
		})
	}
}

// Results stand in request order whatever order the calls end and the answers
// come in.
func TestResumeKeepsRequestOrder(t *testing.T) {
	t.Parallel()
	var d diary
	ended := make(chan struct{})
	wait := newRaw(t, &ai.ToolDefinition{Name: "wait"}, func(_ context.Context, call *ai.ToolCall) (*ai.ToolResult, error) {
		if !call.Resumed() {
			return nil, call.Interrupt(nil)
		}
		if call.Ref == "first" {
			<-ended
		} else {
			defer close(ended)
		}
		d.add("%s", call.Ref)
		return &ai.ToolResult{Output: json.RawMessage(jsonOf(t, call.Ref))}, nil
	})
	set := newSet(t, wait)
	m := pause(t, set, nil, wish("wait", "first", ""), wish("wait", "second", ""))
	list, err := m.Interrupts()
	require.NoError(t, err)
	require.Equal(t, []string{"first", "second"}, []string{list[0].Request.ToolRequest.Ref, list[1].Request.ToolRequest.Ref})
	res, err := resume(t, set, m, restarts(yes(t, list[1].Request), yes(t, list[0].Request)), nil)
	require.NoError(t, err)
	require.Equal(t, []string{"second", "first"}, d.take())
	require.Equal(t, []string{`"first"`, `"second"`}, outputsOf(t, res.Tool))
}

// Two of four calls failed: only they are run again.
func TestTwoOfFourRunAgain(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.broken.Store(true)
	_, err := ai.Resolve(t.Context(), d.set, modelSays(
		wish("look", "a", `{"give":1}`), wish("flaky", "b", `{"amount":2}`),
		wish("look", "c", `{"give":3}`), wish("flaky", "d", `{"amount":4}`)), nil)
	turn, m := failed(t, err)
	require.Len(t, turn.Calls, 2)
	require.Equal(t, []string{"flaky b 2", "flaky d 4", "look a", "look c"}, d.sorted())
	d.broken.Store(false)
	var again []*ai.ToolRequestPart
	for _, req := range turn.Open() {
		again = append(again, yes(t, req))
	}
	res, err := resume(t, d.set, m, restarts(again...), nil)
	require.NoError(t, err)
	require.Equal(t, []string{"flaky b 2", "flaky d 4"}, d.sorted())
	require.Equal(t, []string{"1", `"paid 2"`, "3", `"paid 4"`}, outputsOf(t, res.Tool))
}

// Three calls ask side by side: two are answered, later the last one.
func TestThreeQuestionsAnsweredTwoAndOne(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	m := pause(t, d.set, nil, wish("pay", "a", `{"amount":1}`), wish("pay", "b", `{"amount":2}`), wish("pay", "c", `{"amount":3}`))
	partial := &ai.ResolveOptions{Partial: true}
	res, err := resume(t, d.set, m, restarts(yes(t, requestOf(t, m, "c")), yes(t, requestOf(t, m, "a"))), partial)
	require.NoError(t, err)
	require.Equal(t, []string{"pay a 1", "pay c 3"}, d.sorted())
	require.Len(t, res.Interrupts(), 1)
	m = aitest.Reload(t, res.Model)
	list, err := m.Interrupts()
	require.NoError(t, err)
	require.Len(t, list, 1)
	require.Equal(t, "b", list[0].Request.ToolRequest.Ref)

	res, err = resume(t, d.set, m, restarts(yes(t, list[0].Request)), partial)
	require.NoError(t, err)
	require.Equal(t, []string{"pay b 2"}, d.take())
	require.Equal(t, []string{`"paid 1"`, `"paid 2"`, `"paid 3"`}, outputsOf(t, res.Tool))
}

// A new call of the same tool in the next turn knows nothing of the last one,
// even where the model uses its ref again.
func TestTheNextCallStartsClean(t *testing.T) {
	t.Parallel()
	var d diary
	call := aitest.ToolRequests(wish("tool", "a", `{}`))
	opts := &ai.GenerateOptions{Model: aitest.NewModel(t, call, call, aitest.Text("done")), Prompt: "hi", Tools: newSet(t, asker(t, &d))}
	resp, err := ai.Generate(t.Context(), nil, opts)
	opts.Prompt = ""
	for _, by := range []string{"amy", "bob"} {
		require.NoError(t, err)
		list := resp.Interrupts()
		require.Len(t, list, 1)
		require.NotContains(t, list[0].Request.Metadata, "resolvedInterrupt")
		opts.Messages, opts.Resume = aitest.Reload(t, resp.Messages), as(t, by, list[0].Request)
		resp, err = ai.Generate(t.Context(), nil, opts)
	}
	require.NoError(t, err)
	require.Equal(t, "done", resp.Text())
	require.Equal(t, []string{"tool ran by amy, state of tool", "tool ran by bob, state of tool"}, d.take())
}

// A model that sends one ref twice, or none: each call gets a ref of its own,
// which stays, and an answer of its own.
func TestDuplicateAndMissingRefs(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	m := pause(t, d.set, nil, wish("pay", "x", `{"amount":1}`), wish("pay", "x", `{"amount":2}`), wish("pay", "", `{"amount":3}`), wish("pay", "", `{"amount":4}`))
	list, err := m.Interrupts()
	require.NoError(t, err)
	refs := map[string]bool{}
	for _, it := range list {
		refs[it.Request.ToolRequest.Ref] = true
	}
	require.Len(t, refs, 4)
	require.True(t, refs["x"], "the first keeps the ref it has")
	require.NotContains(t, refs, "")

	res, err := resume(t, d.set, m, &ai.Answers{
		Restart: restarts(yes(t, list[3].Request), yes(t, list[1].Request)).Restart,
		Respond: responds(say(t, list[0].Request, "by hand"), no(t, list[2].Request, "no")).Respond,
	}, nil)
	require.NoError(t, err)
	require.Equal(t, []string{`"by hand"`, `"paid 2"`, `"Denied: no"`, `"paid 4"`}, outputsOf(t, res.Tool))
	for i, p := range res.Tool.Content {
		require.Equal(t, list[i].Request.ToolRequest.Ref, p.(*ai.ToolResponsePart).ToolResponse.Ref)
	}
}

// In a history that someone else paused, the requests may have no refs. An
// answer that fits only one open call is for that one.
func TestForeignHistoryWithoutRefs(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	first, second, other := wish("pay", "", `{"amount":1}`), wish("pay", "", `{"amount":2}`), wish("ask", "", `{"question":"?"}`)
	first.Metadata = ai.Metadata{"pendingOutput": json.RawMessage(`"paid 1"`)}
	second.Metadata = ai.Metadata{"interrupt": json.RawMessage("true")}
	other.Metadata = ai.Metadata{"interrupt": json.RawMessage("true")}
	m := modelSays(first, second, other)
	res, err := resume(t, d.set, m, &ai.Answers{
		Restart: restarts(yes(t, second)).Restart, Respond: responds(say(t, other, 5)).Respond,
	}, nil)
	require.NoError(t, err)
	require.Equal(t, []string{`"paid 1"`, `"paid 2"`, "5"}, outputsOf(t, res.Tool))
	for i, p := range res.Tool.Content {
		ref := p.(*ai.ToolResponsePart).ToolResponse.Ref
		require.NotEmpty(t, ref)
		require.Equal(t, res.Model.ToolRequests()[i].ToolRequest.Ref, ref)
	}
}
