package ai_test

import (
	"context"
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/holdpoint/ai"
	"github.com/holdpoint/ai/aitest"
)

// typedPay is a tool with a schema that notes what it got.
func typedPay(t *testing.T, d *diary) ai.Tool {
	t.Helper()
	tool, err := ai.NewTool(&ai.ToolDefinition{Name: "pay"}, func(_ context.Context, call *ai.ToolCall, in payIn) (int, error) {
		d.add("pay %s %d", call.Ref, in.Amount)
		return in.Amount, nil
	})
	require.NoError(t, err)
	return tool
}

// Arguments that do not fit are the model's to mend: it is told what is wrong,
// the tool is not called, and the turn goes on.
func TestArgumentsThatDoNotFit(t *testing.T) {
	t.Parallel()
	var d diary
	set := newSet(t, typedPay(t, &d))
	m := modelSays(wish("pay", "a", `{"amount":"lots"}`), wish("pay", "b", `{"amount":2}`), wish("pay", "c", `{}`))
	res, err := ai.Resolve(t.Context(), set, m, nil)
	finished(t, res, err)
	require.Same(t, m, res.Model)
	require.Equal(t, []string{"pay b 2"}, d.take())
	for ref, want := range map[string]string{
		"a": `The arguments of pay do not fit: amount: expected an integer, got string "lots"`,
		"c": `The arguments of pay do not fit: missing property "amount"`,
	} {
		part := responseOf(t, res.Tool, ref)
		require.JSONEq(t, `{"isError":true}`, jsonOf(t, part.Metadata))
		told := part.ForModel()
		require.True(t, told.IsError)
		require.Equal(t, want, told.Text)
		require.Equal(t, jsonOf(t, want), jsonOf(t, part.ToolResponse.Output))
	}
}

// A policy can make them the caller's, who gets the arguments as they came.
func TestArgumentsThatStopTheTurn(t *testing.T) {
	t.Parallel()
	var d diary
	_, err := resolve(t, newSet(t, typedPay(t, &d)), &ai.ResolveOptions{OnError: stopOnAll}, wish("pay", "a", `{"amount":"s3cret"}`))
	call := onlyCall(t, err)
	require.Equal(t, ai.FailedArguments, call.Kind)
	require.False(t, call.MayHaveActed)
	var args *ai.ArgumentError
	require.ErrorAs(t, err, &args)
	require.Equal(t, "pay", args.Tool)
	require.Equal(t, "a", args.Ref)
	require.JSONEq(t, `{"amount":"s3cret"}`, string(args.Arguments))
	require.ErrorIs(t, err, ai.ErrInvalidArgument)
	_, m := failed(t, err)
	require.JSONEq(t, `{"kind":"arguments","text":"the arguments do not fit the schema","mayHaveActed":false}`,
		string(requestOf(t, m, "a").Metadata["failure"]))
	require.Empty(t, d.take())
}

// What is no JSON object is kept as text, and the message stays one that can be
// stored and sent to any provider again.
func TestArgumentsThatAreNoObject(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct{ input, problem string }{
		"array":     {`[1]`, "an array"},
		"string":    {`"{}"`, "a string"},
		"number":    {`12`, "a number"},
		"boolean":   {`false`, "a boolean"},
		"cut":       {`{"amount":`, "text that is not JSON"},
		"trailing":  {`{"amount":1} {}`, "text that is not JSON"},
		"words":     {`amount 1`, "text that is not JSON"},
		"no string": {`{"amount":"`, "text that is not JSON"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var d diary
			part := wish("pay", "a", test.input)
			res, err := resolve(t, newSet(t, typedPay(t, &d)), nil, part)
			finished(t, res, err)
			require.Empty(t, d.take())
			require.Equal(t, test.input, string(part.ToolRequest.Input))
			req := requestOf(t, aitest.Reload(t, res.Model), "a")
			require.JSONEq(t, `{}`, string(req.ToolRequest.Input))
			require.JSONEq(t, jsonOf(t, map[string]any{"text": test.input, "problem": test.problem}), string(req.Metadata["argumentsError"]))
			require.Len(t, req.Metadata, 1)
			told := responseOf(t, res.Tool, "a").ForModel()
			require.True(t, told.IsError)
			require.Contains(t, told.Text, "The arguments of pay do not fit: ")
		})
	}
}

// The same where nobody came to read them, because the tool is unknown or the
// call was not started.
func TestUnreadArgumentsDoNotSpoilTheMessage(t *testing.T) {
	t.Parallel()
	set := newSet(t, asks(t, "ask", nil, "1"), gives(t, "look", "1"))
	for _, input := range []string{`{"a":`, `[1`, `[1]`} {
		res, err := resolve(t, set, &ai.ResolveOptions{Sequential: true}, wish("ask", "a", `{}`), wish("look", "b", input))
		require.NoError(t, err)
		require.Contains(t, jsonOf(t, requestOf(t, aitest.Reload(t, res.Model), "b").Metadata), `"notStarted":true`)
		requireArgumentsKept(t, res.Model, input)

		_, err = resolve(t, set, nil, wish("nobody", "b", input))
		_, m := failed(t, err)
		requireArgumentsKept(t, m, input)

		res, err = resolve(t, set, &ai.ResolveOptions{OnError: ai.ReportErrors}, wish("nobody", "b", input))
		finished(t, res, err)
		requireArgumentsKept(t, res.Model, input)
	}
}

// requireArgumentsKept makes sure that the arguments of request b were kept as text.
func requireArgumentsKept(t *testing.T, m *ai.Message, input string) {
	t.Helper()
	req := requestOf(t, aitest.Reload(t, m), "b")
	require.JSONEq(t, `{}`, string(req.ToolRequest.Input))
	var kept struct{ Text string }
	found, err := req.Metadata.Decode("argumentsError", &kept)
	require.NoError(t, err)
	require.True(t, found)
	require.Equal(t, input, kept.Text)
}

// An adapter may have kept them already; what it wrote is what the model is told of.
func TestArgumentsErrorOfAnAdapter(t *testing.T) {
	t.Parallel()
	var d diary
	part := wish("pay", "a", `{}`)
	part.Metadata = ai.Metadata{"argumentsError": json.RawMessage(`{"text":"<oops>","problem":"XML"}`)}
	res, err := resolve(t, newSet(t, typedPay(t, &d)), nil, part)
	finished(t, res, err)
	require.Empty(t, d.take())
	require.Equal(t, "The arguments of pay do not fit: expected a JSON object, got XML", responseOf(t, res.Tool, "a").ForModel().Text)
}

// Absent and null arguments are an empty object, which is nothing to write down.
func TestAbsentArguments(t *testing.T) {
	t.Parallel()
	for _, input := range []string{"", "null"} {
		var d diary
		m := modelSays(wish("look", "a", input))
		res, err := ai.Resolve(t.Context(), newSet(t, noting(t, &d)), m, nil)
		finished(t, res, err)
		require.Same(t, m, res.Model)
		require.Equal(t, []string{"look a {}"}, d.take())
	}
}

// Arguments keep their digits on the way to the tool and back.
func TestArgumentsKeepTheirDigits(t *testing.T) {
	t.Parallel()
	tool, err := ai.NewTool(&ai.ToolDefinition{Name: "echo"}, func(_ context.Context, _ *ai.ToolCall, in map[string]any) (map[string]any, error) {
		return in, nil
	})
	require.NoError(t, err)
	res, err := resolve(t, newSet(t, tool), nil, wish("echo", "a", `{"id":9007199254740993,"x":1.10}`))
	finished(t, res, err)
	require.Equal(t, `{"id":9007199254740993,"x":1.10}`, string(responseOf(t, res.Tool, "a").ToolResponse.Output))
}
