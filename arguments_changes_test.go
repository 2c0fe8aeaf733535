package ai_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/holdpoint/ai"
	"github.com/holdpoint/ai/aitest"
)

const fiveAsText = `{"amount":"5"}`

// fiveChanged is the record of what became of fiveAsText.
const fiveChanged = `[{"path":"amount","from":"5","to":5,"rule":"number"}]`

// asksFirst is a tool with a schema that asks before it notes what it got.
func asksFirst(t testing.TB, d *diary) *ai.TypedTool[payIn, string] {
	t.Helper()
	tool, err := ai.NewTool(&ai.ToolDefinition{Name: "pay"}, func(_ context.Context, call *ai.ToolCall, in payIn) (string, error) {
		if !call.Resumed() {
			return "", call.Interrupt(payAsk{in.Amount})
		}
		d.add("pay %d %s", in.Amount, jsonOf(t, call.Changes))
		return "paid", nil
	})
	require.NoError(t, err)
	return tool
}

// Middleware sees the mended arguments with the record of what was changed.
func TestChangesAreSeenByMiddleware(t *testing.T) {
	t.Parallel()
	var d diary
	watch := &ai.Middleware{
		Name: "watch",
		Rewrite: func(_ context.Context, call *ai.ToolCall) (json.RawMessage, error) {
			d.add("rewrite %s %s", call.Input, jsonOf(t, call.Changes))
			return json.RawMessage(`{"amount":4}`), nil
		},
		Wrap: func(ctx context.Context, call *ai.ToolCall, next ai.Next) (*ai.ToolResult, error) {
			d.add("wrap %s %s", call.Input, jsonOf(t, call.Changes))
			return next(ctx)
		},
	}
	res, err := resolve(t, newSet(t, typedPay(t, &d)), &ai.ResolveOptions{Middleware: []*ai.Middleware{watch}}, wish("pay", "a", fiveAsText))
	finished(t, res, err)
	require.Equal(t, []string{`rewrite {"amount":5} ` + fiveChanged, `wrap {"amount":4} ` + fiveChanged, "pay a 4"}, d.take())
	req := requestOf(t, res.Model, "a")
	require.JSONEq(t, fiveChanged, string(req.Metadata["changes"]))
	require.JSONEq(t, `{"amount":4}`, string(req.Metadata["effectiveInput"]))
	require.JSONEq(t, fiveAsText, string(req.ToolRequest.Input), "what the model said stays")
}

// Whoever approves sees them too, now and after the pause was stored, and the
// tool gets the same record when it runs.
func TestChangesAreSeenByWhoeverApproves(t *testing.T) {
	t.Parallel()
	for name, part := range map[string]*ai.ToolRequestPart{
		"input": wish("pay", "a", fiveAsText),
		"text":  ai.NewToolRequest("pay", "a", "```json\n"+fiveAsText+"\n```"),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var d diary
			set := newSet(t, asksFirst(t, &d))
			m := pause(t, set, nil, part)
			list, err := m.Interrupts()
			require.NoError(t, err)
			require.Len(t, list, 1)
			require.JSONEq(t, `{"confirm":5}`, string(list[0].Data))
			require.JSONEq(t, `{"amount":5}`, string(list[0].Effective))
			seen := list[0].Changes
			require.Equal(t, `{"amount":5}`, string(replay(t, sentAs(t, list[0].Request), seen)))

			res, err := resume(t, set, m, restarts(yes(t, list[0].Request)), nil)
			finished(t, res, err)
			require.Equal(t, []string{"pay 5 " + jsonOf(t, seen)}, d.take())
			req := requestOf(t, aitest.Reload(t, res.Model), "a")
			require.Equal(t, seen, recordOf(t, req))
			require.JSONEq(t, `{"amount":5}`, string(req.Metadata["effectiveInput"]))
		})
	}
}

// What a person puts in place of the arguments is mended by the same rules, and
// the record is then that of the edit.
func TestChangesOfAnEdit(t *testing.T) {
	t.Parallel()
	var d diary
	set := newSet(t, asksFirst(t, &d))
	m := pause(t, set, nil, wish("pay", "a", fiveAsText))
	res, err := resume(t, set, m, restarts(edit(t, requestOf(t, m, "a"), `{"amount":"7"}`)), nil)
	finished(t, res, err)
	changed := `[{"path":"amount","from":"7","to":7,"rule":"number"}]`
	require.Equal(t, []string{"pay 7 " + changed}, d.take())
	req := requestOf(t, aitest.Reload(t, res.Model), "a")
	require.JSONEq(t, changed, string(req.Metadata["changes"]))
	require.JSONEq(t, `{"amount":7}`, string(req.Metadata["effectiveInput"]))

	res, err = resume(t, set, m, restarts(edit(t, requestOf(t, m, "a"), `{"amount":7}`)), nil)
	finished(t, res, err)
	require.Equal(t, []string{"pay 7 null"}, d.take())
	require.NotContains(t, requestOf(t, res.Model, "a").Metadata, "changes", "that of the model's input is no longer true")
}

// An edit that can't be mended, or that nobody reads in only one way, is an
// error of the caller before anything runs.
func TestEditsThatDoNotFit(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct{ input, want string }{
		"type":          {`{"amount":"lots"}`, `amount: expected an integer, got string "lots"`},
		"missing":       {`{}`, `missing property "amount"`},
		"key twice":     {`{"amount":1,"amount":2}`, `expected each key once, got twice "amount"`},
		"case of a key": {`{"amount":1,"Amount":2}`, `expected property "amount", got unknown property "Amount"`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var d diary
			set := newSet(t, asksFirst(t, &d))
			m := pause(t, set, nil, wish("pay", "a", `{"amount":5}`), wish("pay", "b", `{"amount":6}`))
			answer := edit(t, requestOf(t, m, "b"), `{"amount":1}`)
			answer.ToolRequest.Input = json.RawMessage(test.input)
			res, err := ai.Resume(t.Context(), set, m, restarts(yes(t, requestOf(t, m, "a")), answer), nil)
			require.Nil(t, res)
			require.ErrorIs(t, err, ai.ErrInvalidArgument)
			require.ErrorContains(t, err, test.want)
			require.Empty(t, d.take(), "something ran")
		})
	}
}

// Keys that two readers would read differently are faults also where the
// schema takes any key, at any depth, and in text that was mended.
func TestKeysReadInTwoWays(t *testing.T) {
	t.Parallel()
	schema := json.RawMessage(`{"type":"object","properties":{"to":{"type":"object","properties":{"name":{}}},"list":{"items":{"$ref":"#"}}}}`)
	for name, test := range map[string]struct{ text, want string }{
		"twice":             {`{"x":1,"x":1}`, `expected each key once, got twice "x"`},
		"twice below":       {`{"y":[{"x":1,"\u0078":2}]}`, `y.0: expected each key once, got twice "x"`},
		"case":              {`{"To":{}}`, `expected the property "to", got "To"`},
		"case below":        {`{"to":{"name":1,"NAME":2}}`, `to: expected the property "name", got "NAME"`},
		"case by reference": {`{"list":[{"TO":{}}]}`, `list.0: expected the property "to", got "TO"`},
		"in a fence":        {"```\n{\"x\":1,\"x\":1}\n```", `expected each key once, got twice "x"`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var got []received
			set := newSet(t, catcher(t, &ai.ToolDefinition{Name: "tool", InputSchema: schema}, &got))
			res, err := resolve(t, set, nil, ai.NewToolRequest("tool", "a", test.text))
			finished(t, res, err)
			require.Equal(t, "The arguments of tool do not fit: "+test.want, responseOf(t, res.Tool, "a").ForModel().Text)
			require.Empty(t, got)
		})
	}
	var got []received
	set := newSet(t, catcher(t, &ai.ToolDefinition{Name: "tool", InputSchema: schema}, &got))
	res, err := resolve(t, set, nil, wish("tool", "a", `{"x":{"X":1},"X":{"to":1,"To":2}}`))
	finished(t, res, err)
	require.Len(t, got, 1, "these are declared nowhere")
}

// The same for responses, which a history keeps.
func TestResponsesWithKeysReadInTwoWays(t *testing.T) {
	t.Parallel()
	var d diary
	def := &ai.ToolDefinition{Name: "ask", OutputSchema: json.RawMessage(`{"type":"object","properties":{"ok":{}}}`)}
	set := newSet(t, newRaw(t, def, func(_ context.Context, call *ai.ToolCall) (*ai.ToolResult, error) {
		d.add("ran")
		return nil, call.Interrupt(nil)
	}))
	m := pause(t, set, nil, wish("ask", "a", `{}`))
	d.take()
	for _, output := range []string{`{"ok":1,"ok":2}`, `{"ok":1,"OK":2}`} {
		answer := say(t, requestOf(t, m, "a"), 1)
		answer.ToolResponse.Output = json.RawMessage(output)
		_, err := ai.Resume(t.Context(), set, m, responds(answer), nil)
		require.ErrorIs(t, err, ai.ErrInvalidArgument, output)
	}
	require.Empty(t, d.take())
}

// A policy can stop at arguments that can't be mended. The error holds the text
// that came.
func TestTextThatStopsTheTurn(t *testing.T) {
	t.Parallel()
	var d diary
	_, err := resolve(t, newSet(t, typedPay(t, &d)), &ai.ResolveOptions{OnError: stopOnAll}, ai.NewToolRequest("pay", "a", `{"amount":`))
	require.Equal(t, ai.FailedArguments, onlyCall(t, err).Kind)
	var args *ai.ArgumentError
	require.ErrorAs(t, err, &args)
	require.Equal(t, jsonOf(t, `{"amount":`), string(args.Arguments), "text that is no JSON is a string here")
	require.NotContains(t, err.Error(), "amount", "the arguments are in the value, not in the text")
	_, m := failed(t, err)
	require.JSONEq(t, `{}`, string(requestOf(t, m, "a").ToolRequest.Input))
	require.Empty(t, d.take())
}

func TestCheckReturnsMendedArguments(t *testing.T) {
	t.Parallel()
	var d diary
	set := newSet(t, asksFirst(t, &d))
	for _, part := range []*ai.ToolRequestPart{
		wish("pay", "a", fiveAsText), ai.NewToolRequest("pay", "a", jsonOf(t, fiveAsText)),
		wish("pay", "a", jsonOf(t, fiveAsText)), wish("pay", "a", "```json"+fiveAsText+"```"),
	} {
		got, err := set.Check(part)
		require.NoError(t, err)
		require.Equal(t, `{"amount":5}`, string(got))
	}
	m := pause(t, set, nil, wish("pay", "a", fiveAsText))
	got, err := set.Check(requestOf(t, m, "a"))
	require.NoError(t, err)
	require.JSONEq(t, `{"amount":5}`, string(got), "what the call would run with")

	_, err = set.Check(ai.NewToolRequest("pay", "a", `{"amount":5`))
	var args *ai.ArgumentError
	require.ErrorAs(t, err, &args)
	require.Equal(t, "a", args.Ref)
}

func TestNewToolRequest(t *testing.T) {
	t.Parallel()
	p := ai.NewToolRequest("pay", "a", `{"amount":1.0}`)
	require.Equal(t, wish("pay", "a", `{"amount":1.0}`), p)
	for text, problem := range map[string]string{
		"": "text that is not JSON", `{"a":`: "text that is not JSON", `[1]`: "an array", `"x"`: "a string", "null": "null", "1": "a number", "true": "a boolean",
	} {
		p := ai.NewToolRequest("pay", "a", text)
		require.Equal(t, `{}`, string(p.ToolRequest.Input))
		require.JSONEq(t, jsonOf(t, map[string]string{"text": text, "problem": problem}), string(p.Metadata["argumentsError"]))
		mustJSON(t, modelSays(p))
	}
}

// A key of any size, at any depth, costs time and text in proportion.
func TestKeysAreToldInBoundedText(t *testing.T) {
	t.Parallel()
	const depth = 2000
	long := strings.Repeat("k", 2000)
	var got []received
	set := newSet(t, catcher(t, &ai.ToolDefinition{Name: "tool"}, &got))
	text := strings.Repeat(`{"`+long+`":`, depth) + `{"x":1,"x":2}` + strings.Repeat("}", depth)
	_, err := set.Check(wish("tool", "a", text))
	var args *ai.ArgumentError
	require.ErrorAs(t, err, &args)
	require.Len(t, args.Faults, 1)
	require.Equal(t, `twice "x"`, args.Faults[0].Got)
	require.Less(t, len(args.Faults[0].Path), 50_000)
	require.Less(t, len(err.Error()), 1000)
}
