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

// What a tool has to say to the model reaches it under every policy, as an error
// result, and the turn goes on.
func TestModelErrorGoesToTheModel(t *testing.T) {
	t.Parallel()
	refuse, err := ai.NewTool(&ai.ToolDefinition{Name: "pay"}, func(context.Context, *ai.ToolCall, amountInput) (string, error) {
		return "", fmt.Errorf("bank: %w", &ai.ModelError{Text: "you have 3"})
	})
	require.NoError(t, err)
	never := func(context.Context, *ai.CallError) bool { return false }
	res, err := resolve(t, newSet(t, refuse), &ai.ResolveOptions{OnError: never}, wish("pay", "a", `{"Amount":5}`))
	finished(t, res, err)
	told := responseOf(t, res.Tool, "a").ForModel()
	require.True(t, told.IsError)
	require.Equal(t, "you have 3", told.Text)
}

// An error of the journal, or a failure beside what a tool has to say, is a
// failure of the call: it must not reach the model as an answer.
func TestModelErrorHidesNoFailure(t *testing.T) {
	t.Parallel()
	down := errors.New("down")
	said := &ai.ModelError{Text: "you have 3"}
	both, err := ai.NewRawTool(&ai.ToolDefinition{Name: "both"}, func(context.Context, *ai.ToolCall) (*ai.ToolResult, error) {
		return nil, errors.Join(said, down)
	})
	require.NoError(t, err)
	_, err = resolve(t, newSet(t, both), nil, wish("both", "a", `{}`))
	require.ErrorIs(t, err, down)
	require.ErrorAs(t, err, new(*ai.TurnError))

	var ran bool
	runs, err := ai.NewRawTool(&ai.ToolDefinition{Name: "runs"}, func(context.Context, *ai.ToolCall) (*ai.ToolResult, error) {
		ran = true
		return &ai.ToolResult{}, nil
	})
	require.NoError(t, err)
	_, err = resolve(t, newSet(t, runs), &ai.ResolveOptions{Journal: failingStart{said}}, wish("runs", "a", `{}`))
	var failed *ai.CallError
	require.ErrorAs(t, err, &failed)
	require.Equal(t, ai.FailedJournal, failed.Kind)
	require.False(t, ran)
}

// failingStart is a journal that can't record starts.
type failingStart struct{ err error }

func (j failingStart) Said(context.Context, ai.Path, []*ai.Message, *ai.ModelResponse) error {
	return nil
}
func (j failingStart) Started(context.Context, *ai.ToolCall, *ai.ToolRequestPart) error { return j.err }
func (j failingStart) Settled(context.Context, *ai.ToolCall, *ai.Settlement) error      { return nil }

// Open lists what failed as well as what asked, where Interrupts lists questions.
func TestOpenListsWhatFailedToo(t *testing.T) {
	t.Parallel()
	ask, err := ai.NewRawTool(&ai.ToolDefinition{Name: "ask"}, func(_ context.Context, call *ai.ToolCall) (*ai.ToolResult, error) {
		return nil, call.Interrupt(nil)
	})
	require.NoError(t, err)
	fail, err := ai.NewRawTool(&ai.ToolDefinition{Name: "fail"}, func(context.Context, *ai.ToolCall) (*ai.ToolResult, error) {
		return nil, errors.New("down")
	})
	require.NoError(t, err)
	_, err = resolve(t, newSet(t, ask, fail), nil, wish("fail", "a", `{}`), wish("ask", "b", `{}`))
	var failed *ai.TurnError
	require.ErrorAs(t, err, &failed)
	open, err := failed.Model.Open()
	require.NoError(t, err)
	require.Len(t, open, 2)
	require.Equal(t, []string{"a", "b"}, []string{open[0].ToolRequest.Ref, open[1].ToolRequest.Ref})
	require.Equal(t, open, failed.Open())
	asked, err := failed.Model.Interrupts()
	require.NoError(t, err)
	require.Len(t, asked, 1)
	require.Equal(t, "b", asked[0].Request.ToolRequest.Ref)
}

// A gate that said yes to some arguments is asked again when a person changes
// them at the tool's own question.
func TestAnEditAsksEarlierGatesAgain(t *testing.T) {
	t.Parallel()
	var seen []string
	gate := &ai.Middleware{Name: "gate", Wrap: func(ctx context.Context, call *ai.ToolCall, next ai.Next) (*ai.ToolResult, error) {
		if !call.Resumed() {
			return nil, call.Interrupt("gate")
		}
		seen = append(seen, string(call.Input))
		return next(ctx)
	}}
	pay, err := ai.NewTool(&ai.ToolDefinition{Name: "pay"}, func(_ context.Context, call *ai.ToolCall, in amountInput) (string, error) {
		if !call.Resumed() {
			return "", call.Interrupt("tool")
		}
		return fmt.Sprint("paid ", in.Amount), nil
	})
	require.NoError(t, err)
	set, opts := newSet(t, pay), &ai.ResolveOptions{Middleware: []*ai.Middleware{gate}}
	res, err := resolve(t, set, opts, wish("pay", "a", `{"Amount":1}`))
	require.NoError(t, err)

	res = approveAll(t, set, res, opts)
	it := res.Interrupts()[0]
	require.JSONEq(t, `"tool"`, string(it.Data))
	edit, err := pay.Restart(it.Request, &ai.RestartOptions[amountInput]{NewInput: &amountInput{Amount: 900}})
	require.NoError(t, err)
	res, err = ai.Resume(t.Context(), set, res.Model, &ai.Answers{Restart: []*ai.ToolRequestPart{edit}}, opts)
	require.NoError(t, err)

	it = res.Interrupts()[0]
	require.Equal(t, "gate", it.By)
	require.JSONEq(t, `{"Amount":900}`, string(it.Effective))
	res = approveAll(t, set, res, opts)
	require.NotNil(t, res.Tool, "the tool's own question was answered with the edit")
	require.JSONEq(t, `"paid 900"`, string(responseOf(t, res.Tool, "a").ToolResponse.Output))
	require.Equal(t, []string{`{"Amount":1}`, `{"Amount":900}`}, seen)
}

func approveAll(t *testing.T, set *ai.ToolSet, res *ai.Resolution, opts *ai.ResolveOptions) *ai.Resolution {
	t.Helper()
	var answers ai.Answers
	for _, it := range res.Interrupts() {
		answers.Approve(it)
	}
	next, err := ai.Resume(t.Context(), set, res.Model, &answers, opts)
	require.NoError(t, err)
	return next
}

// What a model is told does not depend on whether the history was stored in
// between: encoding/json escapes HTML in what it stores.
func TestForModelReadsTheSameAfterStorage(t *testing.T) {
	t.Parallel()
	for _, output := range []string{`"a <b> & c"`, `{"html":"<b>&amp;</b>"}`, `["\\u003c"]`, `"\u00e9\u0000"`} {
		p := &ai.ToolResponsePart{ToolResponse: ai.ToolResponse{Name: "look", Output: json.RawMessage(output)}}
		stored := aitest.Reload(t, p)
		require.Equal(t, p.ForModel().Text, stored.ForModel().Text)
		require.JSONEq(t, output, string(stored.ForModel().Output))
		require.NotContains(t, stored.ForModel().Text, "u003cb")
	}
}
