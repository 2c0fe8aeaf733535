package ai_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/holdpoint/ai"
)

// asked is a model message with one call of a tool that waits, with metadata
// beside or instead of the interrupt.
func asked(tool, metadata string) string {
	return `{"role":"model","content":[{"toolRequest":{"name":"` + tool + `","ref":"a","input":{"amount":5}},"metadata":{` + metadata + `}}]}`
}

func TestResumeNeedsSomethingOpen(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	tests := map[string]struct {
		message *ai.Message
		kind    error
		want    string
	}{
		"no message":  {nil, ai.ErrInvalidArgument, "no model message"},
		"user":        {ai.TextMessage(ai.RoleUser, "hi"), ai.ErrInvalidArgument, `role "user"`},
		"no requests": {ai.TextMessage(ai.RoleModel, "hi"), ai.ErrFailedPrecondition, "the message has no open tool request"},
		"all settled": {decode[*ai.Message](t, asked("pay", `"pendingOutput":null`)), ai.ErrFailedPrecondition, "no open tool request"},
		"still streamed": {modelSays(&ai.ToolRequestPart{ToolRequest: ai.ToolRequest{Name: "pay", Ref: "a", Partial: true}}),
			ai.ErrInvalidArgument, "pay#a is marked partial"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := ai.Resume(t.Context(), d.set, tt.message, restarts(wish("pay", "a", "")), nil)
			require.ErrorIs(t, err, tt.kind)
			require.ErrorContains(t, err, tt.want)
		})
	}
	require.Empty(t, d.take())
}

// An answer that could be for several open calls is for none.
func TestAmbiguousAnswers(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	m := decode[*ai.Message](t, `{"role":"model","content":[
		{"toolRequest":{"name":"pay","input":{"amount":1}},"metadata":{"interrupt":true}},
		{"toolRequest":{"name":"pay","input":{"amount":2}},"metadata":{"interrupt":true}}]}`)
	_, err := ai.Resume(t.Context(), d.set, m, restarts(wish("pay", "", "")), &ai.ResolveOptions{Partial: true})
	require.ErrorIs(t, err, ai.ErrInvalidArgument)
	require.EqualError(t, err, "ai: restart for pay fits several open tool requests; open are: pay, pay")
	require.Empty(t, d.take())
}

// The recorded input is held to the schema of today.
func TestRecordedInputThatNoLongerFits(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	for name, text := range map[string]string{
		"model's":   strings.Replace(asked("pay", `"interrupt":true`), `"amount"`, `"sum"`, 1),
		"effective": asked("pay", `"interrupt":true,"effectiveInput":{"sum":5}`),
		"retried":   asked("flaky", `"failure":{"kind":"tool"},"effectiveInput":{"sum":5}`),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m := decode[*ai.Message](t, text)
			_, err := ai.Resume(t.Context(), d.set, m, restarts(yes(t, requestOf(t, m, "a"))), nil)
			var misfit *ai.ArgumentError
			require.ErrorAs(t, err, &misfit)
			require.NotErrorAs(t, err, new(*ai.TurnError))
			require.Equal(t, "a", misfit.Ref)

			m = decode[*ai.Message](t, text)
			res, err := ai.Resume(t.Context(), newDesk(t).set, m, restarts(edit(t, requestOf(t, m, "a"), `{"amount":3}`)), nil)
			require.NoError(t, err)
			require.Equal(t, []string{`"paid 3"`}, outputsOf(t, res.Tool))
		})
	}
	require.Empty(t, d.take())
}

// A tool that is gone can't run or be answered for, but its call can be denied,
// with no tool at hand at all.
func TestResumeWithoutTheTool(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	m := decode[*ai.Message](t, `{"role":"model","content":[
		{"toolRequest":{"name":"gone","ref":"a","input":{}},"metadata":{"interrupt":true}},
		{"toolRequest":{"name":"pay","ref":"b","input":{"amount":1}},"metadata":{"interrupt":true}}]}`)
	gone, paid := requestOf(t, m, "a"), requestOf(t, m, "b")
	for name, answers := range map[string]*ai.Answers{
		"restart":  restarts(yes(t, paid), yes(t, gone)),
		"edit":     restarts(yes(t, paid), edit(t, gone, `{}`)),
		"response": {Restart: restarts(yes(t, paid)).Restart, Respond: responds(say(t, gone, 1)).Respond},
	} {
		_, err := ai.Resume(t.Context(), d.set, m, answers, nil)
		require.ErrorIs(t, err, ai.ErrNotFound, name)
		require.ErrorContains(t, err, `"gone"`, name)
		require.Empty(t, d.take(), name)
	}
	res, err := ai.Resume(t.Context(), d.set, m, &ai.Answers{Restart: restarts(yes(t, paid)).Restart, Respond: responds(no(t, gone, "it is gone")).Respond}, nil)
	require.NoError(t, err)
	require.Equal(t, []string{`"Denied: it is gone"`, `"paid 1"`}, outputsOf(t, res.Tool))

	res, err = ai.Resume(t.Context(), nil, m, responds(no(t, gone, "a"), no(t, paid, "b")), nil)
	require.NoError(t, err)
	require.Equal(t, []string{`"Denied: a"`, `"Denied: b"`}, outputsOf(t, res.Tool))
	_, err = ai.Resume(t.Context(), nil, m, restarts(yes(t, gone), yes(t, paid)), nil)
	require.ErrorIs(t, err, ai.ErrNotFound)
}

// The words of a denial are ours; the answer brings the reason alone.
func TestDenialInTheAnswersWords(t *testing.T) {
	t.Parallel()
	m := decode[*ai.Message](t, asked("pay", `"interrupt":true`))
	a := decode[*ai.Answers](t, answersOf(`{"toolResponse":{"name":"pay","ref":"a","output":"paid 1000","content":[{"text":"paid"}]},
		"metadata":{"outcome":"denied","reason":"no","isError":false,"interruptResponse":false}}`, ""))
	res, err := ai.Resume(t.Context(), nil, m, a, nil)
	require.NoError(t, err)
	require.JSONEq(t, `{"toolResponse":{"name":"pay","ref":"a","output":"Denied: no"},
		"metadata":{"interruptResponse":true,"outcome":"denied","reason":"no"}}`, jsonOf(t, res.Tool.Content[0]))
}

// Metadata that no turn of anybody leaves is refused, and the text names the key
// and the call. So is a name that the tool on record was never offered under.
func TestMalformedRecord(t *testing.T) {
	t.Parallel()
	tests := []struct{ metadata, want string }{
		{`"interrupt":true,"interruptedBy":1`, `metadata "interruptedBy" of tool request pay#a must be a string`},
		{`"interrupt":true,"answered":[]`, `metadata "answered" of tool request pay#a must be answers by asker`},
		{`"interrupt":true,"answered":{"gate":1}`, `metadata "answered" of tool request pay#a must be answers by asker`},
		{`"interrupt":true,"answered":{"gate":{}}`, `metadata "answered" of tool request pay#a: "gate" must have "resumed", an object or true`},
		{`"interrupt":true,"answered":{"gate":{"resumed":"yes"}}`, `"gate" must have "resumed", an object or true`},
		{`"pendingOutput":1,"pendingContent":{}`, `metadata "pendingContent" of tool request pay#a must be a list of parts`},
		{`"pendingOutput":1,"pendingContent":[1]`, `metadata "pendingContent" of tool request pay#a must be a list of parts`},
		{`"pendingOutput":1,"pendingMetadata":[]`, `metadata "pendingMetadata" of tool request pay#a must be an object`},
		{`"pendingMetadata":{"isError":true}`, `tool request pay#a has pendingMetadata without pendingOutput`},
		{`"pendingContent":[{"text":""}]`, `tool request pay#a has pendingContent without pendingOutput`},
		{`"interrupt":true,"originalName":7`, `metadata "originalName" of tool request pay#a must be a string`},
		{`"interrupt":true,"originalName":"bank/look"`, `metadata "originalName" of tool request pay#a: tool "bank/look" is never offered under that name`},
		{`"interrupt":true,"originalName":""`, `metadata "originalName" of tool request pay#a must be a name`},
		{`"argumentsError":"bad"`, `metadata "argumentsError" of tool request pay#a must be an object with text and problem`},
		{`"interrupt":true,"effectiveInput":null`, `metadata "effectiveInput" of tool request pay#a must be an object`},
		{`"interrupt":true,"effectiveInput":[5]`, `metadata "effectiveInput" of tool request pay#a must be an object`},
		{`"interrupt":true,"changes":{}`, `metadata "changes" of tool request pay#a must be a list of changes`},
		{`"interrupt":true,"callKey":{}`, `metadata "callKey" of tool request pay#a must be a string`},
		{`"failure":"tool"`, `metadata "failure" of tool request pay#a must be an object with kind and text`},
		{`"failure":{"kind":1}`, `metadata "failure" of tool request pay#a must be an object with kind and text`},
		{`"notStarted":"yes"`, `metadata "notStarted" of tool request pay#a must be true`},
		{`"interrupt":true,"inner":true`, `metadata "inner" of tool request pay#a must be conversations by branch`},
		{`"interrupt":true,"inner":{"b":{"messages":{}}}`, `metadata "inner" of tool request pay#a must be conversations by branch`},
		{`"interrupt":true,"inner":{"b":{"messages":[{"role":"boss"}]}}`, `metadata "inner" of tool request pay#a must be conversations by branch: role must be`},
		{`"interrupt":true,"inner":{"b":null}`, `metadata "inner" of tool request pay#a: branch "b" must be an object with messages`},
		{`"interrupt":true,"inner":{"b":{}}`, `branch "b" must be an object with messages`},
		{`"interrupt":true,"inner":{"b":{"messages":[null]}}`, `branch "b" must be an object with messages`},
		{`"interrupt":true,"inner":{"b":{"messages":[` + asked("x", `"notStarted":1`) + `]}}`, `metadata "notStarted" of tool request x#a must be true`},
		{`"interrupt":true,"pendingOutput":1`, `tool request pay#a is marked both pendingOutput and interrupt`},
		{`"interrupt":true,"failure":{"kind":"tool"}`, `tool request pay#a is marked both interrupt and failure`},
		{`"notStarted":true,"failure":{"kind":"tool"}`, `tool request pay#a is marked both failure and notStarted`},
		{`"notStarted":true,"interrupt":true`, `tool request pay#a is marked both interrupt and notStarted`},
		{`"notStarted":true,"pendingOutput":1`, `tool request pay#a is marked both pendingOutput and notStarted`},
		{`"pendingOutput":1,"pendingMetadata":{"transfer":1}`, `metadata "transfer" of tool request pay#a must name a prompt and its messages`},
		{`"pendingOutput":1,"pendingMetadata":{"transfer":{"prompt":"p","messages":[]}}`, `metadata "transfer" of tool request pay#a must name a prompt and its messages`},
	}
	for _, tt := range tests {
		t.Run(tt.metadata, func(t *testing.T) {
			t.Parallel()
			d := newDesk(t)
			m := decode[*ai.Message](t, asked("pay", tt.metadata))
			open := decode[*ai.ToolRequestPart](t, `{"toolRequest":{"name":"flaky","ref":"f","input":{"amount":1}},"metadata":{"notStarted":true}}`)
			m.Content = append(m.Content, open)
			answers := restarts(wish("pay", "a", ""))
			if strings.HasPrefix(tt.metadata, `"pendingOutput"`) {
				answers = nil
			}
			_, err := ai.Resume(t.Context(), d.set, m, answers, nil)
			require.ErrorIs(t, err, ai.ErrInvalidArgument)
			require.ErrorContains(t, err, tt.want)
			require.Equal(t, 1, strings.Count(err.Error(), "ai: "), err.Error())
			require.Empty(t, d.take(), "the call that needs no answer did not start either")
		})
	}
}

// Interrupts says what it can't read, too.
func TestInterruptsOfAMalformedMessage(t *testing.T) {
	t.Parallel()
	m := decode[*ai.Message](t, asked("pay", `"interrupt":true,"inner":{"b":{"messages":[`+asked("x", `"callKey":1`)+`]}}`))
	_, err := m.Interrupts()
	require.ErrorIs(t, err, ai.ErrInvalidArgument)
	require.ErrorContains(t, err, `metadata "callKey" of tool request x#a must be a string`)
}

// Any value of `interrupt` is a question, and a path in the record is nothing to
// go by: it would lead the answer elsewhere.
func TestInterruptsOfForeignRecords(t *testing.T) {
	t.Parallel()
	for _, data := range []string{"true", "null", "0", `""`, "false", `{"n":9007199254740993}`} {
		m := decode[*ai.Message](t, asked("pay", `"interrupt":`+data+`,"path":[["x","y"]],"inner":null`))
		list, err := m.Interrupts()
		require.NoError(t, err)
		require.Len(t, list, 1)
		require.Equal(t, data, string(list[0].Data))
		require.Empty(t, list[0].Path)
		require.NotContains(t, list[0].Request.Metadata, "path")
		require.Contains(t, requestOf(t, m, "a").Metadata, "path", "the message is not changed")
		d := newDesk(t)
		res, err := ai.Resume(t.Context(), d.set, m, restarts(yes(t, list[0].Request)), nil)
		require.NoError(t, err)
		require.Equal(t, []string{`"paid 5"`}, outputsOf(t, res.Tool))
	}
}

// Conversations stand in conversations only so deep, or a small history could
// keep a reader busy for hours.
func TestNestingIsBounded(t *testing.T) {
	t.Parallel()
	nested := func(n int) *ai.Message {
		open, end := `{"role":"model","content":[{"toolRequest":{"name":"h","ref":"r"},"metadata":{"interrupt":true,"inner":{"b":{"messages":[`, `]}}}}]}`
		return decode[*ai.Message](t, strings.Repeat(open, n)+asked("pay", `"interrupt":true`)+strings.Repeat(end, n))
	}
	list, err := nested(32).Interrupts()
	require.NoError(t, err)
	require.Len(t, list[0].Path, 32)
	_, err = ai.Resume(t.Context(), nil, nested(32), nil, &ai.ResolveOptions{Partial: true})
	require.NoError(t, err)
	for _, n := range []int{33, 200} {
		_, err = nested(n).Interrupts()
		require.ErrorIs(t, err, ai.ErrInvalidArgument)
		require.ErrorContains(t, err, "conversations are nested more than 32 deep")
		_, err = ai.Resume(t.Context(), nil, nested(n), restarts(yes(t, list[0].Request)), nil)
		require.ErrorIs(t, err, ai.ErrInvalidArgument)
		require.ErrorContains(t, err, "conversations are nested more than 32 deep")
	}
}

// Error texts stay short where values are long.
func TestErrorTextsAreBounded(t *testing.T) {
	t.Parallel()
	d, m := newDesk(t), decode[*ai.Message](t, asked("pay", `"interrupt":true`))
	answer := yes(t, requestOf(t, m, "a"))
	answer.Metadata["resumed"] = json.RawMessage(`"` + strings.Repeat("x", 1e5) + `"`)
	_, err := ai.Resume(t.Context(), d.set, m, restarts(answer), nil)
	require.ErrorIs(t, err, ai.ErrInvalidArgument)
	require.Less(t, len(err.Error()), 300, fmt.Sprintf("%.300s", err))
}
