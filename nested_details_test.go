package ai_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/holdpoint/ai"
	"github.com/holdpoint/ai/aitest"
)

// journal writes starts and outcomes into a diary, and may fail.
type journal struct {
	diary
	fail func(line string) bool
}

func (j *journal) Said(context.Context, ai.Path, []*ai.Message, *ai.ModelResponse) error { return nil }

func (j *journal) Started(_ context.Context, call *ai.ToolCall, _ *ai.ToolRequestPart) error {
	return j.write("start", call)
}

func (j *journal) Settled(_ context.Context, call *ai.ToolCall, _ *ai.Settlement) error {
	return j.write("end", call)
}

func (j *journal) write(what string, call *ai.ToolCall) error {
	line := fmt.Sprintf("%s %s#%s %s", what, call.Name, call.Ref, call.Path)
	j.add("%s", line)
	if j.fail != nil && j.fail(line) {
		return errors.New("the disk is full")
	}
	return nil
}

// The journal of the outer turn is told of inner calls too, with their paths,
// unless the host says otherwise. Its middleware is not taken over.
func TestInnerTurnOptions(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	outer, own := &journal{}, &journal{}
	look := wish("look", "l", "")
	set := newSet(t, hostOf(t, &d.diary, "host", runEach,
		branch{name: "a", model: agent(&d.diary, "a", look), tools: d.set},
		branch{name: "b", model: agent(&d.diary, "b", look), tools: d.set, turn: ai.ResolveOptions{Journal: own}}))
	seen := &ai.Middleware{Name: "seen", Wrap: func(ctx context.Context, call *ai.ToolCall, next ai.Next) (*ai.ToolResult, error) {
		outer.add("wrap %s", call.Name)
		return next(ctx)
	}}
	_, err := ai.Resolve(t.Context(), set, modelSays(wish("host", "h", "")), &ai.ResolveOptions{Journal: outer, Middleware: []*ai.Middleware{seen}})
	require.NoError(t, err)
	require.Equal(t, []string{"wrap host", "start host#h ", "start look#l h/a", "end look#l h/a", "end host#h "}, outer.take())
	require.Equal(t, []string{"start look#l h/b", "end look#l h/b"}, own.take())
}

// An inner turn whose journal failed when all was settled has nothing open: a
// retry of the host goes on from there.
func TestInnerTurnFailsWhenAllIsSettled(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	full := true
	j := &journal{fail: func(line string) bool { return full && line == "end look#l h/a" }}
	set := newSet(t, hostOf(t, &d.diary, "host", runEach, branch{name: "a", model: agent(&d.diary, "a", wish("look", "l", `{"give":5}`)), tools: d.set}))
	_, err := ai.Resolve(t.Context(), set, modelSays(wish("host", "h", "")), &ai.ResolveOptions{Journal: j})
	turn, m := failed(t, err)
	require.ErrorContains(t, err, "the disk is full")
	require.Equal(t, "h", turn.Open()[0].ToolRequest.Ref)

	lost := &ai.ToolRequestPart{ToolRequest: ai.ToolRequest{Name: "look", Ref: "l"}, Metadata: ai.Metadata{"path": json.RawMessage(`[["h","a"]]`)}}
	_, err = resume(t, set, m, restarts(lost), &ai.ResolveOptions{Partial: true})
	require.ErrorContains(t, err, "look#l: that tool request already has a result")
	full = false
	res, err := resume(t, set, m, restarts(yes(t, turn.Open()[0])), &ai.ResolveOptions{Journal: j})
	require.NoError(t, err)
	require.Equal(t, []string{`"a: 5"`}, outputsOf(t, res.Tool))
	require.Equal(t, []string{"host runs", "a begins", "look l", "host runs", "a ends"}, d.take())
}

// A host that asks for itself before its conversation, and again after it: each
// is a question of its own, and no answer is used for another.
func TestHostAsksToo(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	type step struct{ Step int }
	host := newRaw(t, &ai.ToolDefinition{Name: "host"}, func(ctx context.Context, call *ai.ToolCall) (*ai.ToolResult, error) {
		var s step
		if !call.Resumed() {
			return nil, call.InterruptWithState("may I begin?", step{1})
		}
		require.NoError(t, call.DecodeState(&s))
		result, err := runAll(ctx, call, []branch{{name: "a", model: agent(&d.diary, "a", wish("pay", "p", `{"amount":1}`)), tools: d.set}})
		if err == nil && s.Step == 1 {
			return nil, call.InterruptWithState("may I end?", step{2})
		}
		return result, err
	})
	set := newSet(t, host)
	m := pause(t, set, nil, wish("host", "h", ""))
	for _, want := range []struct{ data, path string }{{`"may I begin?"`, ""}, {`{"confirm":1}`, "h/a"}, {`"may I end?"`, ""}} {
		list, err := m.Interrupts()
		require.NoError(t, err)
		require.Len(t, list, 1)
		require.Equal(t, want.data, string(list[0].Data))
		require.Equal(t, want.path, list[0].Path.String())
		res, err := resume(t, set, m, restarts(yes(t, list[0].Request)), nil)
		require.NoError(t, err)
		if res.Tool != nil {
			require.Equal(t, []string{`"a: paid 1"`}, outputsOf(t, res.Tool))
			break
		}
		m = aitest.Reload(t, res.Model)
	}
	require.Equal(t, []string{"a begins", "pay p 1", "a ends"}, d.take())
}

// A gate before a host asks once; the conversation inside may pause as often as
// it likes after that.
func TestGateBeforeAHost(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	opts := &ai.ResolveOptions{Middleware: []*ai.Middleware{gate("gate", &d.diary, nil)}}
	set := newSet(t, hostOf(t, &d.diary, "host", runEach,
		branch{name: "a", model: agent(&d.diary, "a", wish("pay", "p", `{"amount":1}`)), tools: d.set},
		branch{name: "b", model: agent(&d.diary, "b", wish("pay", "p", `{"amount":2}`)), tools: d.set}))
	m := pause(t, set, opts, wish("host", "h", ""))
	res, err := resume(t, set, m, as(t, "amy", requestOf(t, m, "h")), opts)
	require.NoError(t, err)
	for _, path := range []string{"h/a", "h/b"} {
		require.Len(t, res.Interrupts(), 1)
		require.Equal(t, path, res.Interrupts()[0].Path.String())
		require.Empty(t, res.Interrupts()[0].By)
		m = aitest.Reload(t, res.Model)
		res, err = resume(t, set, m, restarts(yes(t, res.Interrupts()[0].Request)), opts)
		require.NoError(t, err)
	}
	require.Equal(t, []string{`"a: paid 1; b: paid 2"`}, outputsOf(t, res.Tool))
	passed := "gate passed by amy, state of gate"
	require.Equal(t, []string{passed, "host runs", "a begins", passed, "host runs", "pay p 1", "a ends", "b begins", passed, "host runs", "pay p 2", "b ends"}, d.take())
}

// Inside, too: a restart that asks again, an edit, a sequential turn of which
// nothing was started, and the key of a call that stays.
func TestInnerTurnIsLikeAnyTurn(t *testing.T) {
	t.Parallel()
	var d diary
	keys := map[string]bool{}
	tool, err := ai.NewTool(&ai.ToolDefinition{Name: "pay"}, func(_ context.Context, call *ai.ToolCall, in payIn) (int, error) {
		keys[call.Ref+call.Key()] = true
		var approved payAsk
		if call.DecodeResumed(&approved) != nil || approved.Confirm != in.Amount {
			return 0, call.Interrupt(payAsk{in.Amount})
		}
		d.add("pay %s %d at %s", call.Ref, in.Amount, call.Path)
		return in.Amount, nil
	})
	require.NoError(t, err)
	set := newSet(t, hostOf(t, &diary{}, "host", runEach, branch{name: "a", tools: newSet(t, tool), turn: ai.ResolveOptions{Sequential: true},
		model: agent(&diary{}, "a", wish("pay", "p", `{"amount":100}`), wish("pay", "q", `{"amount":2}`))}))
	m := pause(t, set, nil, wish("host", "h", ""))
	next := func(approve int, input *payIn) *ai.Resolution {
		t.Helper()
		list, err := m.Interrupts()
		require.NoError(t, err)
		require.Len(t, list, 1)
		answer, err := tool.Restart(list[0].Request, &ai.RestartOptions[payIn]{Resumed: payAsk{approve}, NewInput: input})
		require.NoError(t, err)
		res, err := resume(t, set, m, restarts(answer), nil)
		require.NoError(t, err)
		m = aitest.Reload(t, res.Model)
		return res
	}
	require.Nil(t, next(99, nil).Tool)
	require.Nil(t, next(100, &payIn{1}).Tool)
	require.Nil(t, next(1, nil).Tool)
	require.Equal(t, []string{"pay p 1 at h/a"}, d.take())
	res := next(2, nil)
	require.Equal(t, []string{"pay q 2 at h/a"}, d.take())
	require.Equal(t, []string{`"a: Note: the arguments were changed before the call ran; it ran with {\"amount\":1}.\n1, 2"`}, outputsOf(t, res.Tool))
	require.Len(t, keys, 3, "p had a second key after the edit, q one")
}

// A host may take no notice of a question inside; then there is none.
func TestHostThatGivesUpOnAQuestion(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	host := newRaw(t, &ai.ToolDefinition{Name: "host"}, func(ctx context.Context, call *ai.ToolCall) (*ai.ToolResult, error) {
		_, err := runAll(ctx, call, []branch{{name: "a", model: agent(&d.diary, "a", wish("pay", "p", `{"amount":1}`)), tools: d.set}})
		var asked *ai.InterruptError
		require.ErrorAs(t, err, &asked)
		return ai.ErrorResult("nobody to ask"), nil
	})
	res, err := ai.Resolve(t.Context(), newSet(t, host), modelSays(wish("host", "h", "")), nil)
	require.NoError(t, err)
	require.Equal(t, []string{`"nobody to ask"`}, outputsOf(t, res.Tool))
	require.NotContains(t, requestOf(t, res.Model, "h").Metadata, "inner")
}

// A call made by hand has no record to go on from: its conversations are plain
// ones, as often as it likes.
func TestGenerateOfACallMadeByHand(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	for range 2 {
		resp, err := (&ai.ToolCall{}).Generate(t.Context(), "a", nil, &ai.GenerateOptions{
			Model: agent(&d.diary, "a", wish("pay", "p", `{"amount":1}`)), Prompt: "go", Tools: d.set,
		})
		require.NoError(t, err)
		require.Equal(t, ai.FinishInterrupted, resp.FinishReason)
	}
}

// A host that calls itself without end is stopped before its history could not
// be read any more.
func TestNestingWithoutEnd(t *testing.T) {
	t.Parallel()
	var d diary
	var set *ai.ToolSet
	host := newRaw(t, &ai.ToolDefinition{Name: "host"}, func(ctx context.Context, call *ai.ToolCall) (*ai.ToolResult, error) {
		d.add("%d", len(call.Path))
		return runEach(ctx, call, []branch{{name: "a", model: agent(&diary{}, "a", wish("host", "h", "")), tools: set}})
	})
	set = newSet(t, host)
	_, err := ai.Resolve(t.Context(), set, modelSays(wish("host", "h", "")), nil)
	require.ErrorIs(t, err, ai.ErrInvalidArgument)
	require.ErrorContains(t, err, "conversations are nested more than 32 deep")
	require.Len(t, d.take(), 33)
	turn, m := failed(t, err)
	require.Len(t, turn.Open(), 1)
	res, err := resume(t, nil, m, responds(no(t, requestOf(t, m, "h"), "enough")), nil)
	require.NoError(t, err)
	require.Equal(t, []string{`"Denied: enough"`}, outputsOf(t, res.Tool))
}

// Where the host is gone, answers for what it holds are refused, and the pause
// stays as it was.
func TestAnswersForAHostThatIsGone(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	_, m := twoQuestions(t, d)
	list, err := m.Interrupts()
	require.NoError(t, err)
	for _, set := range []*ai.ToolSet{nil, d.set} {
		_, err = resume(t, set, m, restarts(yes(t, list[0].Request), yes(t, list[1].Request)), nil)
		require.ErrorIs(t, err, ai.ErrNotFound)
		require.ErrorContains(t, err, `"boss"`)
	}
	require.Empty(t, d.take())
}
