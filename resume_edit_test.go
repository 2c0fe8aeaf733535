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

// ledger is a tool that asks first and says all it knows of its input.
func ledger(t *testing.T, d *diary, broken *bool) ai.Tool {
	t.Helper()
	tool, err := ai.NewTool(&ai.ToolDefinition{Name: "pay"}, func(_ context.Context, call *ai.ToolCall, in payIn) (string, error) {
		if !call.Resumed() {
			return "", call.Interrupt(payAsk{in.Amount})
		}
		var original payIn
		switch err := call.DecodeOriginalInput(&original); {
		case err == nil:
			d.add("pay %d instead of %d", in.Amount, original.Amount)
		case errors.Is(err, ai.ErrFailedPrecondition):
			d.add("pay %d", in.Amount)
		default:
			return "", err
		}
		if broken != nil && *broken {
			return "", errors.New("the line is down")
		}
		return fmt.Sprintf("paid %d", in.Amount), nil
	})
	require.NoError(t, err)
	return tool
}

// An edit runs the new input, says so to the tool and to the model, and leaves
// what the model said as it was.
func TestReplacedInput(t *testing.T) {
	t.Parallel()
	var d diary
	set := newSet(t, ledger(t, &d, nil))
	m := pause(t, set, nil, wish("pay", "a", `{"amount":500}`))
	answer := edit(t, requestOf(t, m, "a"), `{"amount":5}`)
	require.JSONEq(t, `{"toolRequest":{"name":"pay","ref":"a","input":{"amount":5}},
		"metadata":{"resumed":true,"replacedInput":{"amount":500}}}`, jsonOf(t, answer))

	res, err := resume(t, set, m, restarts(answer), nil)
	require.NoError(t, err)
	require.Equal(t, []string{"pay 5 instead of 500"}, d.take())
	require.JSONEq(t, `{"role":"model","content":[{"toolRequest":{"name":"pay","ref":"a","input":{"amount":500}},
		"metadata":{"effectiveInput":{"amount":5},"resolvedInterrupt":{"confirm":500}}}]}`, jsonOf(t, res.Model))
	part := res.Tool.Content[0].(*ai.ToolResponsePart)
	require.JSONEq(t, `{"replacedInput":{"amount":500},"effectiveInput":{"amount":5}}`, jsonOf(t, part.Metadata))
	told := part.ForModel()
	require.Equal(t, "Note: the arguments were changed before the call ran; it ran with {\"amount\":5}.\npaid 5", told.Text)
	require.False(t, told.IsError)
}

// Also when the edit settles while the turn goes on.
func TestReplacedInputIsKeptOverAPause(t *testing.T) {
	t.Parallel()
	var d diary
	set := newSet(t, ledger(t, &d, nil))
	m := pause(t, set, nil, wish("pay", "a", `{"amount":500}`), wish("pay", "b", `{"amount":1}`))
	res, err := resume(t, set, m, restarts(edit(t, requestOf(t, m, "a"), `{"amount":5}`)), &ai.ResolveOptions{Partial: true})
	require.NoError(t, err)
	m = aitest.Reload(t, res.Model)
	res, err = resume(t, set, m, responds(no(t, requestOf(t, m, "b"), "no")), nil)
	require.NoError(t, err)
	part := res.Tool.Content[0].(*ai.ToolResponsePart)
	require.Contains(t, part.ForModel().Text, `it ran with {"amount":5}`)
	require.JSONEq(t, `{"amount":500}`, string(part.Metadata["replacedInput"]))
}

// An edit that fails is still the input of the call: a retry runs it, not what
// the model had sent, and the model is told of it in the end.
func TestReplacedInputSurvivesAFailure(t *testing.T) {
	t.Parallel()
	var d diary
	broken := true
	set := newSet(t, ledger(t, &d, &broken))
	m := pause(t, set, nil, wish("pay", "a", `{"amount":500}`))
	_, err := resume(t, set, m, restarts(edit(t, requestOf(t, m, "a"), `{"amount":5}`)), nil)
	turn, m := failed(t, err)
	require.JSONEq(t, `{"amount":500}`, string(turn.Open()[0].ToolRequest.Input), "what the model said stays")

	for range 2 {
		_, err = resume(t, set, m, restarts(yes(t, requestOf(t, m, "a"))), nil)
		_, m = failed(t, err)
	}
	broken = false
	res, err := resume(t, set, m, restarts(yes(t, requestOf(t, m, "a"))), nil)
	require.NoError(t, err)
	for _, line := range d.take() {
		require.Equal(t, "pay 5 instead of 500", line)
	}
	part := res.Tool.Content[0].(*ai.ToolResponsePart)
	require.JSONEq(t, `{"replacedInput":{"amount":500},"effectiveInput":{"amount":5}}`, jsonOf(t, part.Metadata))
	require.JSONEq(t, `{"effectiveInput":{"amount":5},"resolvedInterrupt":{"confirm":500}}`, jsonOf(t, requestOf(t, res.Model, "a").Metadata))
}

// The same where the edited call asks again: the question, and then the plain
// yes, are about the edit.
func TestReplacedInputSurvivesAQuestion(t *testing.T) {
	t.Parallel()
	var d diary
	tool, err := ai.NewTool(&ai.ToolDefinition{Name: "pay"}, func(_ context.Context, call *ai.ToolCall, in payIn) (int, error) {
		var approved payAsk
		if call.DecodeResumed(&approved) != nil || approved.Confirm != in.Amount {
			return 0, call.Interrupt(payAsk{in.Amount})
		}
		d.add("pay %d", in.Amount)
		return in.Amount, nil
	})
	require.NoError(t, err)
	set := newSet(t, tool)
	m := pause(t, set, nil, wish("pay", "a", `{"amount":500}`))
	five := payIn{5}
	answer, err := tool.Restart(requestOf(t, m, "a"), &ai.RestartOptions[payIn]{Resumed: payAsk{500}, NewInput: &five})
	require.NoError(t, err)
	res, err := resume(t, set, m, restarts(answer), nil)
	require.NoError(t, err)
	m = aitest.Reload(t, res.Model)
	it := res.Interrupts()[0]
	require.JSONEq(t, `{"confirm":5}`, string(it.Data))
	require.JSONEq(t, `{"amount":5}`, string(it.Effective))

	answer, err = tool.Restart(requestOf(t, m, "a"), &ai.RestartOptions[payIn]{Resumed: payAsk{5}})
	require.NoError(t, err)
	res, err = resume(t, set, m, restarts(answer), nil)
	require.NoError(t, err)
	require.Equal(t, []string{"pay 5"}, d.take())
	require.JSONEq(t, `{"replacedInput":{"amount":500},"effectiveInput":{"amount":5}}`, jsonOf(t, res.Tool.Content[0].(*ai.ToolResponsePart).Metadata))
}

// Rewrite hooks run on what the model sent and on edits, never again on what
// they made. An edit back to the model's own input is an edit like any other.
func TestHooksAndEdits(t *testing.T) {
	t.Parallel()
	var d diary
	broken := true
	set := newSet(t, ledger(t, &d, &broken))
	cap := &ai.Middleware{Name: "cap", Rewrite: func(_ context.Context, call *ai.ToolCall) (json.RawMessage, error) {
		d.add("hook %s", call.Input)
		if string(call.Input) == `{"amount":500}` && !call.Resumed() && len(d.lines) == 1 {
			return json.RawMessage(`{"amount":100}`), nil
		}
		return nil, nil
	}}
	opts := &ai.ResolveOptions{Middleware: []*ai.Middleware{cap}}
	m := pause(t, set, opts, wish("pay", "a", `{"amount":500}`))
	list, err := m.Interrupts()
	require.NoError(t, err)
	require.JSONEq(t, `{"amount":100}`, string(list[0].Effective))
	require.JSONEq(t, `{"confirm":100}`, string(list[0].Data))
	require.Equal(t, []string{`hook {"amount":500}`}, d.take())

	_, err = resume(t, set, m, restarts(yes(t, list[0].Request)), opts)
	_, retry := failed(t, err)
	require.Equal(t, []string{"pay 100"}, d.take(), "the recorded input, not rewritten again, is no edit")
	_, err = resume(t, set, retry, restarts(yes(t, requestOf(t, retry, "a"))), opts)
	_, _ = failed(t, err)
	require.Equal(t, []string{"pay 100"}, d.take())

	d.add("not the first line")
	_, err = resume(t, set, m, restarts(edit(t, list[0].Request, `{"amount":500}`)), opts)
	_, retry = failed(t, err)
	require.Equal(t, []string{"not the first line", `hook {"amount":500}`, "pay 500 instead of 100"}, d.take())
	broken = false
	res, err := resume(t, set, retry, restarts(yes(t, requestOf(t, retry, "a"))), opts)
	require.NoError(t, err)
	require.Equal(t, []string{"pay 500 instead of 100"}, d.take())
	require.Equal(t, []string{`"paid 500"`}, outputsOf(t, res.Tool))
}

// A restart that never came to run leaves the call as it was, its input and key
// included: an answer is for now, not for later.
func TestRestartThatNeverRan(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	m := pause(t, d.set, nil, wish("pay", "a", `{"amount":500}`), wish("pay", "b", `{"amount":7}`))
	ctx, cancel := context.WithCancel(t.Context())
	stop := &ai.Middleware{Name: "stop", Wrap: func(ctx context.Context, call *ai.ToolCall, next ai.Next) (*ai.ToolResult, error) {
		cancel()
		return next(ctx)
	}}
	answers := restarts(edit(t, requestOf(t, m, "a"), `{"amount":"5"}`), edit(t, requestOf(t, m, "b"), `{"amount":6}`))
	_, err := ai.Resume(ctx, d.set, m, answers, &ai.ResolveOptions{Sequential: true, Middleware: []*ai.Middleware{stop}})
	turn, after := failed(t, err)
	require.Empty(t, d.take())
	require.ErrorIs(t, err, context.Canceled)
	require.Len(t, turn.Calls, 2)
	require.JSONEq(t, jsonOf(t, m), jsonOf(t, after))

	_, err = ai.Resume(ctx, d.set, m, answers, nil)
	require.ErrorIs(t, err, context.Canceled)
	require.NotErrorAs(t, err, &turn, "nothing was started, so there is nothing to hand over")

	res, err := ai.Resume(ctx, d.set, m, responds(no(t, requestOf(t, m, "a"), ""), no(t, requestOf(t, m, "b"), "")), nil)
	require.NoError(t, err, "denying runs nothing, so it needs no live context")
	require.NotNil(t, res.Tool)
}

// So does an edit that a rewrite hook fails on: it has not been through every
// step, so nothing may run with it later.
func TestEditThatAHookFailsOn(t *testing.T) {
	t.Parallel()
	var d diary
	set := newSet(t, ledger(t, &d, nil))
	hook := &ai.Middleware{Name: "hook", Rewrite: func(_ context.Context, call *ai.ToolCall) (json.RawMessage, error) {
		if string(call.Input) == `{"amount":5}` {
			return nil, errors.New("not five")
		}
		return json.RawMessage(`{"amount":7}`), nil
	}}
	opts := &ai.ResolveOptions{Middleware: []*ai.Middleware{hook}}
	m := pause(t, set, opts, wish("pay", "a", `{"amount":500}`))
	_, err := resume(t, set, m, restarts(edit(t, requestOf(t, m, "a"), `{"amount":5}`)), opts)
	require.ErrorContains(t, err, "not five")
	turn, after := failed(t, err)
	require.JSONEq(t, jsonOf(t, m), jsonOf(t, after))
	require.JSONEq(t, `{"amount":7}`, string(turn.Interrupts()[0].Effective))
	res, err := resume(t, set, after, restarts(yes(t, turn.Open()[0])), opts)
	require.NoError(t, err)
	require.Equal(t, []string{"pay 7"}, d.take())
	require.Equal(t, []string{`"paid 7"`}, outputsOf(t, res.Tool))
}

// New input is made to fit like the model's; recorded input never again.
func TestEditsAreCoerced(t *testing.T) {
	t.Parallel()
	var d diary
	set := newSet(t, ledger(t, &d, nil))
	m := pause(t, set, nil, wish("pay", "a", `{"amount":500}`))
	res, err := resume(t, set, m, restarts(edit(t, requestOf(t, m, "a"), `{"amount":"5"}`)), nil)
	require.NoError(t, err)
	require.Equal(t, []string{"pay 5 instead of 500"}, d.take())
	require.JSONEq(t, `{"replacedInput":{"amount":500},"effectiveInput":{"amount":5}}`, jsonOf(t, res.Tool.Content[0].(*ai.ToolResponsePart).Metadata))

	requestOf(t, m, "a").Metadata["effectiveInput"] = json.RawMessage(`{"amount":"5"}`)
	_, err = resume(t, set, m, restarts(yes(t, requestOf(t, m, "a"))), nil)
	require.ErrorAs(t, err, new(*ai.ArgumentError))
	require.Empty(t, d.take())
}

// The key is the same over questions and failures, and new once the input is.
func TestCallKey(t *testing.T) {
	t.Parallel()
	var d diary
	tool := newRaw(t, &ai.ToolDefinition{Name: "tool"}, func(_ context.Context, call *ai.ToolCall) (*ai.ToolResult, error) {
		d.add("%s", call.Key())
		require.Equal(t, call.Key(), call.Key())
		if string(call.Input) == `{"fail":true}` {
			return nil, errors.New("failed")
		}
		return nil, call.Interrupt(nil)
	})
	set := newSet(t, tool)
	key := func() string {
		lines := d.take()
		require.Len(t, lines, 1)
		require.NotEmpty(t, lines[0])
		return lines[0]
	}
	m := pause(t, set, nil, wish("tool", "a", `{}`))
	first := key()
	again := func(answer *ai.ToolRequestPart) {
		t.Helper()
		res, err := resume(t, set, m, restarts(answer), nil)
		if err != nil {
			_, m = failed(t, err)
			return
		}
		m = aitest.Reload(t, res.Model)
	}
	again(yes(t, requestOf(t, m, "a")))
	require.Equal(t, first, key())
	again(edit(t, requestOf(t, m, "a"), `{"fail":true}`))
	second := key()
	require.NotEqual(t, first, second)
	again(yes(t, requestOf(t, m, "a")))
	require.Equal(t, second, key(), "a retry of the edit")
	again(edit(t, requestOf(t, m, "a"), `{"n":1}`))
	third := key()
	require.NotContains(t, []string{first, second}, third)
	again(yes(t, requestOf(t, m, "a")))
	require.Equal(t, third, key())

	other := pause(t, set, nil, wish("tool", "a", `{}`))
	require.NotNil(t, other)
	require.NotEqual(t, first, key(), "another call has another key")
}
