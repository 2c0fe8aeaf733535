package ai_test

import (
	"context"
	"encoding/json"
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/holdpoint/ai"
)

// waits is a request of a tool that asked, addressed to where it stands.
func waits(t testing.TB, tool, path string) *ai.ToolRequestPart {
	t.Helper()
	md := `{"interrupt":{"confirm":5},"interruptState":1,"callKey":"k","thoughtSignature":"x"` + path + `}`
	return decode[*ai.ToolRequestPart](t, `{"toolRequest":{"name":"`+tool+`","ref":"a","input":{"amount":9007199254740993}},"metadata":`+md+`}`)
}

// Answers hold what they need and nothing of the record; the path they take from
// the request.
func TestAnswersMadeOfARequest(t *testing.T) {
	t.Parallel()
	req := waits(t, "pay", `,"path":[["h","b"]]`)
	before := jsonOf(t, req)
	raw := json.RawMessage(`{"amount":3.50}`)
	restart := func(opts *ai.RestartOptions[json.RawMessage]) any {
		p, err := ai.Restart(req, opts)
		require.NoError(t, err)
		return p
	}
	tests := map[string]struct {
		got  any
		want string
	}{
		"respond": {say(t, req, map[string]any{"html": "<b>", "n": json.Number("1.50")}),
			`{"toolResponse":{"name":"pay","ref":"a","output":{"html":"<b>","n":1.50}},"metadata":{"interruptResponse":true,"path":[["h","b"]]}}`},
		"respond nil": {say(t, req, nil),
			`{"toolResponse":{"name":"pay","ref":"a","output":null},"metadata":{"interruptResponse":true,"path":[["h","b"]]}}`},
		"deny": {no(t, req, "<no>"), `{"toolResponse":{"name":"pay","ref":"a","output":"Denied: <no>"},
			"metadata":{"interruptResponse":true,"outcome":"denied","path":[["h","b"]],"reason":"<no>"}}`},
		"deny without a reason": {no(t, req, ""), `{"toolResponse":{"name":"pay","ref":"a","output":"Denied."},
			"metadata":{"interruptResponse":true,"outcome":"denied","path":[["h","b"]],"reason":""}}`},
		"restart": {restart(nil), `{"toolRequest":{"name":"pay","ref":"a","input":{"amount":9007199254740993}},"metadata":{"path":[["h","b"]],"resumed":true}}`},
		"restart with data": {restart(&ai.RestartOptions[json.RawMessage]{Resumed: map[string]string{"by": "<me>"}}),
			`{"toolRequest":{"name":"pay","ref":"a","input":{"amount":9007199254740993}},"metadata":{"path":[["h","b"]],"resumed":{"by":"<me>"}}}`},
		"restart with new input": {restart(&ai.RestartOptions[json.RawMessage]{NewInput: &raw, Resumed: true}),
			`{"toolRequest":{"name":"pay","ref":"a","input":{"amount":3.50}},"metadata":{"path":[["h","b"]],"replacedInput":{"amount":9007199254740993},"resumed":true}}`},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			data, err := json.Marshal(tt.got)
			require.NoError(t, err)
			require.JSONEq(t, tt.want, string(data))
			var got, want any
			require.NoError(t, json.Unmarshal(data, &got))
			require.NoError(t, json.Unmarshal([]byte(tt.want), &want))
			require.Equal(t, want, got)
			if name == "restart" {
				require.Contains(t, string(data), "9007199254740993")
			}
		})
	}
	require.Equal(t, before, jsonOf(t, req), "the request is not changed")
}

// Approve and Deny add the two answers that fit any question. A nil interrupt is
// refused when the answers are used.
func TestApproveAndDeny(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	set, m := twoQuestions(t, d)
	list, err := m.Interrupts()
	require.NoError(t, err)
	var answers ai.Answers
	answers.Approve(list[0])
	answers.Deny(list[1], "too much")
	require.Equal(t, jsonOf(t, yes(t, list[0].Request)), jsonOf(t, answers.Restart[0]))
	require.Equal(t, jsonOf(t, no(t, list[1].Request, "too much")), jsonOf(t, answers.Respond[0]))
	res, err := resume(t, set, m, &answers, nil)
	require.NoError(t, err)
	require.Equal(t, []string{`"left: office: paid 1, 1; right: office: Denied: too much, 1"`}, outputsOf(t, res.Tool))

	for want, add := range map[string]func(*ai.Answers){
		"restart 0 is nil":  func(a *ai.Answers) { a.Approve(nil) },
		"response 0 is nil": func(a *ai.Answers) { a.Deny(nil, "no") },
	} {
		var bad ai.Answers
		add(&bad)
		_, err := ai.Resume(t.Context(), set, m, &bad, nil)
		require.ErrorIs(t, err, ai.ErrInvalidArgument)
		require.ErrorContains(t, err, want)
	}
}

func TestAnswersThatCannotBeMade(t *testing.T) {
	t.Parallel()
	asking, failed := waits(t, "pay", ""), wish("pay", "a", `{"amount":5}`)
	list, broken, null := json.RawMessage(`[1]`), json.RawMessage(`{`), json.RawMessage(`null`)
	type options = ai.RestartOptions[json.RawMessage]
	tests := map[string]struct {
		make func() error
		want string
	}{
		"respond to nothing":  {func() error { _, err := ai.Respond(nil, 1); return err }, "ai: respond: no tool request"},
		"deny nothing":        {func() error { _, err := ai.Deny(nil, ""); return err }, "ai: deny: no tool request"},
		"restart nothing":     {func() error { _, err := ai.Restart(nil, nil); return err }, "ai: restart: no tool request"},
		"output":              {func() error { _, err := ai.Respond(asking, make(chan int)); return err }, "ai: response to tool request pay#a: json: unsupported type: chan int"},
		"data of a retry":     {func() error { _, err := ai.Restart(failed, &options{Resumed: true}); return err }, "ai: tool request pay#a did not ask, so it takes no resume data"},
		"data a string":       {func() error { _, err := ai.Restart(asking, &options{Resumed: "yes"}); return err }, `ai: resume data of tool request pay#a must be a JSON object, not "yes"`},
		"data false":          {func() error { _, err := ai.Restart(asking, &options{Resumed: false}); return err }, "ai: resume data of tool request pay#a must be a JSON object, not false"},
		"data no JSON":        {func() error { _, err := ai.Restart(asking, &options{Resumed: func() {}}); return err }, "ai: resume data of tool request pay#a: json: unsupported type: func()"},
		"new input a list":    {func() error { _, err := ai.Restart(asking, &options{NewInput: &list}); return err }, "ai: new input of tool request pay#a must be a JSON object"},
		"new input null":      {func() error { _, err := ai.Restart(asking, &options{NewInput: &null}); return err }, "ai: new input of tool request pay#a must be a JSON object"},
		"new input no JSON":   {func() error { _, err := ai.Restart(asking, &options{NewInput: &broken}); return err }, "ai: new input of tool request pay#a: "},
		"respond, malformed":  {func() error { _, err := newDesk(t).pay.Respond(nil, ""); return err }, "ai: no tool request to answer"},
		"restart, malformed":  {func() error { _, err := newDesk(t).pay.Restart(nil, nil); return err }, "ai: no tool request to answer"},
		"deny is never wrong": {func() error { _, err := ai.Deny(&ai.ToolRequestPart{}, ""); return err }, ""},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			err := tt.make()
			if tt.want == "" {
				require.NoError(t, err)
				return
			}
			require.ErrorIs(t, err, ai.ErrInvalidArgument)
			require.ErrorContains(t, err, tt.want)
		})
	}
}

// A typed tool answers for its own calls, by whatever name a set has given it,
// and for no others.
func TestTypedAnswers(t *testing.T) {
	t.Parallel()
	tool, err := ai.NewTool(&ai.ToolDefinition{Name: "bank/pay"}, func(context.Context, *ai.ToolCall, payIn) (int, error) { return 0, nil })
	require.NoError(t, err)
	named := func(name, original string) *ai.ToolRequestPart {
		req := waits(t, name, "")
		if original != "" {
			req.Metadata["originalName"] = json.RawMessage(jsonOf(t, original))
		}
		return req
	}
	for _, req := range []*ai.ToolRequestPart{named("pay", ""), named("bank__pay", ""), named("bank/pay", ""), named("pay", "bank/pay")} {
		answer, err := tool.Respond(req, 5)
		require.NoError(t, err)
		require.Equal(t, "5", string(answer.ToolResponse.Output))
		require.Equal(t, req.ToolRequest.Name, answer.ToolResponse.Name, "an answer names what the model named")
		again, err := tool.Restart(req, &ai.RestartOptions[payIn]{NewInput: &payIn{3}})
		require.NoError(t, err)
		require.JSONEq(t, `{"amount":3}`, string(again.ToolRequest.Input))
		require.JSONEq(t, `{"amount":9007199254740993}`, string(again.Metadata["replacedInput"]))
	}
	for _, req := range []*ai.ToolRequestPart{named("look", ""), named("shop/pay", ""), named("pay", "shop/pay")} {
		_, err := tool.Respond(req, 5)
		require.ErrorIs(t, err, ai.ErrInvalidArgument)
		require.ErrorContains(t, err, `is not one of tool "bank/pay"`)
		_, err = tool.Restart(req, nil)
		require.ErrorContains(t, err, `is not one of tool "bank/pay"`)
	}
	for _, req := range []*ai.ToolRequestPart{named("look", "bank/pay"), decode[*ai.ToolRequestPart](t, `{"toolRequest":{"name":"pay"},"metadata":{"originalName":1}}`)} {
		_, err := tool.Respond(req, 5)
		require.ErrorContains(t, err, `metadata "originalName"`)
	}
	_, err = tool.Restart(decode[*ai.ToolRequestPart](t, `{"toolRequest":{"name":"pay"},"metadata":{"interruptedBy":1}}`), nil)
	require.ErrorContains(t, err, `metadata "interruptedBy"`)
}

// The JSON form is the `resume` of Genkit: what it sends is read, what we write
// it reads.
func TestAnswersJSON(t *testing.T) {
	t.Parallel()
	text := `{"respond":[{"toolResponse":{"name":"ask","ref":"q","output":4},"metadata":{"interruptResponse":true}}],` +
		`"restart":[{"toolRequest":{"name":"pay","ref":"p","input":{"amount":5}},"metadata":{"interrupt":{"confirm":5},"resumed":{"ok":true}}}],` +
		`"metadata":{"who":"me"}}`
	a := decode[*ai.Answers](t, text)
	require.Len(t, a.Respond, 1)
	require.Len(t, a.Restart, 1)
	require.JSONEq(t, `"me"`, string(a.Metadata["who"]))
	require.JSONEq(t, text, jsonOf(t, a))
	require.Equal(t, "{}", jsonOf(t, &ai.Answers{}))
	empty := decode[*ai.Answers](t, `{"respond":null,"restart":[],"metadata":null}`)
	require.Equal(t, "{}", jsonOf(t, empty))
	for _, bad := range []string{`{"respond":{}}`, `{"restart":[{"toolResponse":{"name":"x"}}]}`, `{"respond":[1]}`, `[]`} {
		require.Error(t, json.Unmarshal([]byte(bad), &ai.Answers{}), bad)
	}
}

// Answers may be used again, and for another pause: resuming changes neither
// them nor the pause.
func TestAnswersAreNotUsedUp(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	set, m := twoQuestions(t, d)
	list, err := m.Interrupts()
	require.NoError(t, err)
	answers := restarts(yes(t, list[0].Request), yes(t, list[1].Request))
	before := jsonOf(t, answers)
	for range 2 {
		res, err := ai.Resume(t.Context(), set, m, answers, nil)
		require.NoError(t, err)
		require.Equal(t, []string{bothPaid}, outputsOf(t, res.Tool))
		require.Equal(t, before, jsonOf(t, answers))
	}
}

// Genkit takes data that is false to JavaScript for no question. We write true.
func TestQuestionsAreNeverFalse(t *testing.T) {
	t.Parallel()
	ask := func(data any) string {
		tool := newRaw(t, &ai.ToolDefinition{Name: "tool"}, func(_ context.Context, call *ai.ToolCall) (*ai.ToolResult, error) {
			return nil, call.Interrupt(data)
		})
		var it *ai.InterruptError
		require.ErrorAs(t, (&ai.ToolCall{}).Interrupt(data), &it)
		written := requestOf(t, pause(t, newSet(t, tool), nil, wish("tool", "a", "")), "a").Metadata["interrupt"]
		require.JSONEq(t, string(it.Data), string(written))
		return string(written)
	}
	for _, data := range []any{nil, false, 0, math.Copysign(0, -1), "", json.RawMessage("0.00"), json.RawMessage("-0e3"), json.RawMessage(" null ")} {
		require.Equal(t, "true", ask(data), "%v", data)
	}
	for _, data := range []any{1, "0", []int{}, struct{}{}, json.RawMessage("0.10")} {
		require.Equal(t, jsonOf(t, data), ask(data))
	}
}

// An InterruptError that was not made by a call is a question all the same; data
// that is none becomes true. What can't be encoded is an error of the tool.
func TestInterruptsMadeByHand(t *testing.T) {
	t.Parallel()
	set := func(err func(*ai.ToolCall) error) *ai.ToolSet {
		return newSet(t, newRaw(t, &ai.ToolDefinition{Name: "tool"}, func(_ context.Context, call *ai.ToolCall) (*ai.ToolResult, error) {
			return nil, err(call)
		}))
	}
	for _, data := range []string{"", "0", "{"} {
		byHand := func(*ai.ToolCall) error { return &ai.InterruptError{Data: json.RawMessage(data)} }
		m := pause(t, set(byHand), nil, wish("tool", "a", ""))
		require.Equal(t, "true", string(requestOf(t, m, "a").Metadata["interrupt"]))
	}
	for _, ask := range []func(*ai.ToolCall) error{
		func(call *ai.ToolCall) error { return call.Interrupt(make(chan int)) },
		func(call *ai.ToolCall) error { return call.InterruptWithState(nil, make(chan int)) },
	} {
		_, err := ai.Resolve(t.Context(), set(ask), modelSays(wish("tool", "a", "")), nil)
		require.ErrorIs(t, err, ai.ErrInvalidArgument)
		require.ErrorContains(t, err, "json: unsupported type: chan int")
	}
}

// What an interrupt tool asks with: fixed data, data of the arguments, or none;
// the answer is of its output type.
func TestInterruptToolQuestions(t *testing.T) {
	t.Parallel()
	for want, opts := range map[string]*ai.InterruptOptions[askIn]{
		"true":     nil,
		`{"n":1}`:  {Data: map[string]int{"n": 1}},
		`"many? "`: {Data: 1, Request: func(_ context.Context, in askIn) (any, error) { return in.Question + " ", nil }},
	} {
		var r ai.Registry
		tool := ai.DefineInterrupt[askIn, int](&r, "ask", "Ask.", opts)
		set, err := r.AllTools(t.Context())
		require.NoError(t, err)
		m := pause(t, set, nil, wish("ask", "a", `{"question":"many?"}`))
		req := requestOf(t, m, "a")
		require.JSONEq(t, want, string(req.Metadata["interrupt"]))
		answer, err := tool.Respond(req, 7)
		require.NoError(t, err)
		res, err := resume(t, set, m, responds(answer), nil)
		require.NoError(t, err)
		require.Equal(t, []string{"7"}, outputsOf(t, res.Tool))
	}
}
