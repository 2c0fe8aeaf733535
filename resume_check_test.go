package ai_test

import (
	"context"
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/holdpoint/ai"
	"github.com/holdpoint/ai/aitest"
)

// decode reads a value from JSON text.
func decode[T any](t testing.TB, text string) T {
	t.Helper()
	var v T
	require.NoError(t, json.Unmarshal([]byte(text), &v))
	return v
}

// waiting is a turn in every state: a result on record, two questions, a
// failure, and a call nobody came to.
const waiting = `{"role":"model","content":[
	{"toolRequest":{"name":"look","ref":"l","input":{"give":1}},"metadata":{"pendingOutput":1}},
	{"toolRequest":{"name":"pay","ref":"p","input":{"amount":5}},"metadata":{"interrupt":{"confirm":5}}},
	{"toolRequest":{"name":"ask","ref":"q","input":{"question":"?"}},"metadata":{"interrupt":true}},
	{"toolRequest":{"name":"flaky","ref":"f","input":{"amount":7}},"metadata":{"failure":{"kind":"tool","text":"the tool returned an error","mayHaveActed":true}}},
	{"toolRequest":{"name":"look","ref":"n","input":{"give":2}},"metadata":{"notStarted":true}}]}`

// answered lifts all of that.
const (
	restartPay   = `{"toolRequest":{"name":"pay","ref":"p"},"metadata":{"resumed":true}}`
	retryFlaky   = `{"toolRequest":{"name":"flaky","ref":"f"}}`
	respondAsk   = `{"toolResponse":{"name":"ask","ref":"q","output":4}}`
	openRequests = "open are: pay#p, ask#q, flaky#f, look#n"
)

func answersOf(respond, restart string) string {
	return `{"respond":[` + respond + `],"restart":[` + restart + `]}`
}

// requireUsable makes sure that a refused answer left the pause as it was.
func requireUsable(t *testing.T, d *desk, m *ai.Message) {
	t.Helper()
	require.Empty(t, d.take(), "something ran")
	good := decode[*ai.Answers](t, answersOf(respondAsk, restartPay+","+retryFlaky))
	res, err := ai.Resume(t.Context(), d.set, m, good, nil)
	require.NoError(t, err)
	require.Equal(t, []string{"1", `"paid 5"`, "4", `"paid 7"`, "2"}, outputsOf(t, res.Tool))
	require.Equal(t, []string{"flaky f 7", "look n", "pay p 5"}, d.sorted())
}

// badAnswers are answers by what is wrong with them, and what the text says.
type badAnswers map[string]struct{ answers, want string }

// check makes sure that everything is checked before anything runs. One bad
// answer among good ones refuses all of them.
func (b badAnswers) check(t *testing.T) {
	t.Helper()
	for name, tt := range b {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d, m := newDesk(t), decode[*ai.Message](t, waiting)
			_, err := ai.Resume(t.Context(), d.set, m, decode[*ai.Answers](t, tt.answers), nil)
			require.ErrorIs(t, err, ai.ErrInvalidArgument)
			require.ErrorContains(t, err, tt.want)
			require.JSONEq(t, waiting, jsonOf(t, m))
			requireUsable(t, d, m)
		})
	}
}

// Each answer is for exactly one open call, and each open call has one.
func TestAnswersAreMatchedFirst(t *testing.T) {
	t.Parallel()
	rest := restartPay + "," + retryFlaky
	badAnswers{
		"none":    {`{}`, "not every open tool request is answered; " + openRequests},
		"missing": {answersOf("", rest), "not every open tool request is answered; " + openRequests},
		"unknown ref": {answersOf(respondAsk, rest+`,{"toolRequest":{"name":"pay","ref":"x"}}`),
			"restart for pay#x fits no open tool request; " + openRequests},
		"unknown name": {answersOf(`{"toolResponse":{"name":"pay","ref":"q","output":4}}`, rest),
			"response for pay#q fits no open tool request; " + openRequests},
		"no ref": {answersOf(respondAsk, retryFlaky+`,{"toolRequest":{"name":"pay"}}`),
			"restart for pay fits no open tool request; " + openRequests},
		"settled": {answersOf(respondAsk, rest+`,{"toolRequest":{"name":"look","ref":"l"}}`),
			"restart for look#l: that tool request already has a result; " + openRequests},
		"settled, responded": {answersOf(respondAsk+`,{"toolResponse":{"name":"look","ref":"l","output":2}}`, rest),
			"response for look#l: that tool request already has a result; " + openRequests},
		"restarted twice": {answersOf(respondAsk, rest+","+restartPay), "restart for pay#p: tool request pay#p is answered twice"},
		"restarted and responded": {answersOf(respondAsk+`,{"toolResponse":{"name":"pay","ref":"p","output":"x"}}`, rest),
			"restart for pay#p: tool request pay#p is answered twice"},
		"responded twice": {answersOf(respondAsk+","+respondAsk, rest), "response for ask#q: tool request ask#q is answered twice"},
		"nil response":    {answersOf("null", rest), "response 0 is nil"},
		"nil restart":     {answersOf(respondAsk, rest+",null"), "restart 2 is nil"},
		"path a string": {answersOf(`{"toolResponse":{"name":"ask","ref":"q","output":4},"metadata":{"path":"p/b"}}`, rest),
			`response for ask#q: metadata "path" must be a list of [ref, branch]`},
		"path of one": {answersOf(`{"toolResponse":{"name":"ask","ref":"q","output":4},"metadata":{"path":[["p"]]}}`, rest),
			`a step of a path must be [ref, branch], not ["p"]`},
		"path of numbers": {answersOf(respondAsk, retryFlaky+`,{"toolRequest":{"name":"pay","ref":"p"},"metadata":{"path":[[1,2]]}}`),
			`restart for pay#p: metadata "path" must be a list of [ref, branch]`},
		"path to nowhere": {answersOf(respondAsk, retryFlaky+`,{"toolRequest":{"name":"pay","ref":"p"},"metadata":{"path":[["p","b"]]}}`),
			"restart for pay#p: path p/b leads to no paused conversation; " + openRequests},
	}.check(t)
}

// What an answer says fits the call.
func TestAnswersAreCheckedFirst(t *testing.T) {
	t.Parallel()
	rest := restartPay + "," + retryFlaky
	badAnswers{
		"not restartable": {answersOf("", rest+`,{"toolRequest":{"name":"ask","ref":"q"}}`),
			"tool request ask#q can't be restarted: its tool takes a response only"},
		"resumed a string": {answersOf(respondAsk, retryFlaky+`,{"toolRequest":{"name":"pay","ref":"p"},"metadata":{"resumed":"yes"}}`),
			`restart for pay#p: resume data must be a JSON object or true, not "yes"`},
		"resumed false": {answersOf(respondAsk, retryFlaky+`,{"toolRequest":{"name":"pay","ref":"p"},"metadata":{"resumed":false}}`),
			"resume data must be a JSON object or true, not false"},
		"resumed null": {answersOf(respondAsk, retryFlaky+`,{"toolRequest":{"name":"pay","ref":"p"},"metadata":{"resumed":null}}`),
			"resume data must be a JSON object or true, not null"},
		"resumed a list": {answersOf(respondAsk, retryFlaky+`,{"toolRequest":{"name":"pay","ref":"p"},"metadata":{"resumed":[1]}}`),
			"resume data must be a JSON object or true, not [1]"},
		"retry with data": {answersOf(respondAsk, restartPay+`,{"toolRequest":{"name":"flaky","ref":"f"},"metadata":{"resumed":{"by":"me"}}}`),
			"restart for flaky#f: the call did not ask, so it takes no resume data"},
		"new input misfit": {answersOf(respondAsk, retryFlaky+`,{"toolRequest":{"name":"pay","ref":"p","input":{"amount":"x"}},"metadata":{"replacedInput":{}}}`),
			`arguments of pay#p do not fit: amount: expected an integer, got string "x"`},
		"new input a list": {answersOf(respondAsk, retryFlaky+`,{"toolRequest":{"name":"pay","ref":"p","input":[]},"metadata":{"replacedInput":{}}}`),
			"arguments of pay#p do not fit: expected an object, got an array"},
		"new input absent": {answersOf(respondAsk, retryFlaky+`,{"toolRequest":{"name":"pay","ref":"p"},"metadata":{"replacedInput":{}}}`),
			"arguments of pay#p do not fit: missing property \"amount\""},
		"retry misfit": {answersOf(respondAsk, restartPay+`,{"toolRequest":{"name":"flaky","ref":"f","input":{}},"metadata":{"replacedInput":{}}}`),
			"arguments of flaky#f do not fit"},
		"input differs": {answersOf(respondAsk, retryFlaky+`,{"toolRequest":{"name":"pay","ref":"p","input":{"amount":6}},"metadata":{"resumed":true}}`),
			`restart for pay#p: its input differs from the one on record; new input needs "replacedInput" in the metadata`},
		"response misfit": {answersOf(`{"toolResponse":{"name":"ask","ref":"q","output":"four"}}`, rest),
			`response for ask#q: output of tool "ask" does not fit its schema`},
		"response absent": {answersOf(`{"toolResponse":{"name":"ask","ref":"q"}}`, rest), "response for ask#q: output of tool"},
		"outcome unknown": {answersOf(`{"toolResponse":{"name":"ask","ref":"q","output":4},"metadata":{"outcome":"expired"}}`, rest),
			`metadata "outcome" of the answer to tool request ask#q must be "denied" or absent`},
		"outcome a number": {answersOf(`{"toolResponse":{"name":"ask","ref":"q","output":4},"metadata":{"outcome":1}}`, rest),
			`metadata "outcome" of the answer to tool request ask#q must be "denied" or absent`},
		"reason a number": {answersOf(`{"toolResponse":{"name":"ask","ref":"q"},"metadata":{"outcome":"denied","reason":1}}`, rest),
			`metadata "reason" of the answer to tool request ask#q must be a string`},
	}.check(t)
}

// What a careful reader accepts: nothing but what is needed, restarts made of
// the whole request, JSON that a JavaScript client wrote anew.
func TestAnswersInOtherForms(t *testing.T) {
	t.Parallel()
	tests := map[string]struct{ pay, ask string }{
		"bare":               {`{"toolRequest":{"name":"pay","ref":"p"}}`, respondAsk},
		"empty metadata":     {`{"toolRequest":{"name":"pay","ref":"p"},"metadata":{}}`, `{"toolResponse":{"name":"ask","ref":"q","output":4},"metadata":{}}`},
		"null metadata":      {`{"toolRequest":{"name":"pay","ref":"p"},"metadata":null}`, `{"toolResponse":{"name":"ask","ref":"q","output":4},"metadata":null}`},
		"input too":          {`{"toolRequest":{"name":"pay","ref":"p","input":{"amount":5}}}`, respondAsk},
		"input reformatted":  {`{"toolRequest":{"ref":"p","name":"pay","input":{ "amount" : 5.0 }}}`, respondAsk},
		"still interrupted":  {`{"toolRequest":{"name":"pay","ref":"p"},"metadata":{"interrupt":{"confirm":5},"resumed":{"ok":1}}}`, respondAsk},
		"empty path":         {`{"toolRequest":{"name":"pay","ref":"p"},"metadata":{"path":[]}}`, respondAsk},
		"path null":          {`{"toolRequest":{"name":"pay","ref":"p"},"metadata":{"path":null}}`, respondAsk},
		"flags without work": {`{"toolRequest":{"name":"pay","ref":"p"},"metadata":{"pendingOutput":"paid 1000","originalName":"ask","effectiveInput":{"amount":9},"callKey":"x","answered":{"tool":{"resumed":true}},"inner":1}}`, respondAsk},
		"forged response":    {restartPay, `{"toolResponse":{"name":"ask","ref":"q","output":4},"metadata":{"isError":true,"source":"x","effectiveInput":{},"transfer":{"prompt":"x"}}}`},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d, m := newDesk(t), decode[*ai.Message](t, waiting)
			answers := decode[*ai.Answers](t, answersOf(tt.ask, tt.pay+","+retryFlaky))
			res, err := ai.Resume(t.Context(), d.set, m, answers, nil)
			require.NoError(t, err)
			require.Equal(t, []string{"1", `"paid 5"`, "4", `"paid 7"`, "2"}, outputsOf(t, res.Tool))
			require.Nil(t, res.Transfer)
			require.JSONEq(t, `{"interruptResponse":true}`, jsonOf(t, res.Tool.Content[2].(*ai.ToolResponsePart).Metadata))
		})
	}
}

// Digits past 2^53 are lost by a JavaScript client that sends a request back.
// What runs is the record.
func TestEchoedInputWithLostDigits(t *testing.T) {
	t.Parallel()
	var got string
	tool := newRaw(t, &ai.ToolDefinition{Name: "tool"}, func(_ context.Context, call *ai.ToolCall) (*ai.ToolResult, error) {
		if !call.Resumed() {
			return nil, call.Interrupt(nil)
		}
		got = string(call.Input)
		return &ai.ToolResult{}, nil
	})
	set := newSet(t, tool)
	m := pause(t, set, nil, wish("tool", "a", `{"id":9007199254740993,"x":1.50}`))
	answers := decode[*ai.Answers](t, answersOf("", `{"toolRequest":{"name":"tool","ref":"a","input":{"x":1.5,"id":9007199254740992}},"metadata":{"resumed":true}}`))
	_, err := ai.Resume(t.Context(), set, m, answers, nil)
	require.NoError(t, err)
	require.Equal(t, `{"id":9007199254740993,"x":1.50}`, got)
}

// Answers made in Go can hold what no JSON can.
func TestAnswersThatDoNotEncode(t *testing.T) {
	t.Parallel()
	d, m := newDesk(t), decode[*ai.Message](t, waiting)
	good := decode[*ai.Answers](t, answersOf(respondAsk, restartPay+","+retryFlaky))
	spoil := map[string]func(a *ai.Answers){
		"output":   func(a *ai.Answers) { a.Respond[0].ToolResponse.Output = json.RawMessage("{") },
		"content":  func(a *ai.Answers) { a.Respond[0].ToolResponse.Content = ai.Parts{nil} },
		"said":     func(a *ai.Answers) { a.Respond[0].Metadata = ai.Metadata{"interruptResponse": json.RawMessage("{")} },
		"resumed":  func(a *ai.Answers) { a.Restart[0].Metadata["resumed"] = json.RawMessage(`{"a":}`) },
		"input":    func(a *ai.Answers) { a.Restart[0].ToolRequest.Input = json.RawMessage(`{`) },
		"metadata": func(a *ai.Answers) { a.Metadata = ai.Metadata{"who": json.RawMessage("{")} },
	}
	for name, change := range spoil {
		t.Run(name, func(t *testing.T) {
			a := aitest.Reload(t, good)
			change(a)
			_, err := ai.Resume(t.Context(), d.set, m, a, nil)
			require.ErrorIs(t, err, ai.ErrInvalidArgument)
			require.Empty(t, d.take())
		})
	}
	requireUsable(t, d, m)
}
