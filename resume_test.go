package ai_test

import (
	"context"
	"encoding/json"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/holdpoint/ai"
	"github.com/holdpoint/ai/aitest"
)

// One message with a result on record, a call that is restarted, one that is
// answered and one that is denied: a tool message in request order, and nothing
// transient left in the model message.
func TestResumeFinishesATurn(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	m := pause(t, d.set, nil,
		&ai.TextPart{Text: "ok"},
		wish("ask", "a", `{"question":"how many?"}`),
		wish("pay", "b", `{"amount":5}`),
		wish("look", "c", `{"give":{"tempC":21}}`),
		wish("pay", "d", `{"amount":7}`))
	require.Equal(t, []string{"look c"}, d.take())

	list, err := m.Interrupts()
	require.NoError(t, err)
	require.Len(t, list, 3)
	require.JSONEq(t, `{"confirm":5}`, string(list[1].Data))
	require.JSONEq(t, `{"amount":5}`, string(list[1].Effective))

	res, err := resume(t, d.set, m, &ai.Answers{
		Restart: restarts(yes(t, list[1].Request)).Restart,
		Respond: responds(no(t, list[2].Request, "too much"), say(t, list[0].Request, 3)).Respond,
	}, nil)
	require.NoError(t, err)
	require.Equal(t, []string{"pay b 5"}, d.take(), "what had a result did not run again")
	require.Empty(t, res.Interrupts())
	require.JSONEq(t, `{"role":"model","content":[
		{"text":"ok"},
		{"toolRequest":{"name":"ask","ref":"a","input":{"question":"how many?"}},"metadata":{"resolvedInterrupt":true}},
		{"toolRequest":{"name":"pay","ref":"b","input":{"amount":5}},"metadata":{"resolvedInterrupt":{"confirm":5}}},
		{"toolRequest":{"name":"look","ref":"c","input":{"give":{"tempC":21}}}},
		{"toolRequest":{"name":"pay","ref":"d","input":{"amount":7}},"metadata":{"resolvedInterrupt":{"confirm":7}}}]}`,
		jsonOf(t, res.Model))
	require.JSONEq(t, `{"role":"tool","metadata":{"resumed":true},"content":[
		{"toolResponse":{"name":"ask","ref":"a","output":3},"metadata":{"interruptResponse":true}},
		{"toolResponse":{"name":"pay","ref":"b","output":"paid 5"}},
		{"toolResponse":{"name":"look","ref":"c","output":{"tempC":21}},"metadata":{"source":"pending"}},
		{"toolResponse":{"name":"pay","ref":"d","output":"Denied: too much"},
			"metadata":{"interruptResponse":true,"outcome":"denied","reason":"too much"}}]}`,
		jsonOf(t, res.Tool))
}

// Whatever kind of result a call gave, it is the same after a pause as it would
// have been without one, but for the word that it is from before.
func TestResumeKeepsEveryKindOfResult(t *testing.T) {
	t.Parallel()
	tests := map[string]*ai.ToolResult{
		"zero":     {Output: json.RawMessage("0")},
		"empty":    {Output: json.RawMessage(`""`)},
		"false":    {Output: json.RawMessage("false")},
		"null":     {Output: json.RawMessage("null")},
		"absent":   {},
		"digits":   {Output: json.RawMessage(`{"n":9007199254740993,"f":1.50}`)},
		"metadata": {Output: json.RawMessage("1"), Metadata: ai.Metadata{"cost": json.RawMessage("1.10")}},
		"multipart": {Output: json.RawMessage(`"drawn"`), Content: ai.Parts{
			&ai.MediaPart{Media: ai.Media{ContentType: "image/png", URL: "data:image/png;base64,AA=="}},
			&ai.TextPart{Text: ""},
		}},
		"error":      ai.ErrorResult("no such city"),
		"denied":     ai.DeniedResult("not today"),
		"superseded": ai.OutcomeResult(ai.OutcomeSuperseded, "too late"),
	}
	for name, result := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			give := newRaw(t, &ai.ToolDefinition{Name: "give"},
				func(context.Context, *ai.ToolCall) (*ai.ToolResult, error) { return result, nil })
			set := newSet(t, give, newDesk(t).ask)
			plain, err := ai.Resolve(t.Context(), set, modelSays(wish("give", "a", `{}`)), nil)
			require.NoError(t, err)

			m := pause(t, set, nil, wish("ask", "q", `{"question":"?"}`), wish("give", "a", `{}`))
			res, err := resume(t, set, m, responds(say(t, requestOf(t, m, "q"), 1)), nil)
			require.NoError(t, err)
			want, got := plain.Tool.Content[0].(*ai.ToolResponsePart), res.Tool.Content[1].(*ai.ToolResponsePart)
			require.Equal(t, `"pending"`, string(got.Metadata["source"]))
			delete(got.Metadata, "source")
			require.JSONEq(t, jsonOf(t, want), jsonOf(t, got))
			require.Equal(t, string(want.ToolResponse.Output), string(got.ToolResponse.Output), "digits are kept")
			require.Equal(t, want.ForModel().IsError, got.ForModel().IsError)
			require.Empty(t, res.Model.ToolRequests()[1].Metadata)
		})
	}
}

// Answers that settle a call while others stay open are kept like results.
func TestResumeKeepsAnswers(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	m := pause(t, d.set, nil, wish("pay", "a", `{"amount":1}`), wish("ask", "b", `{"question":"?"}`), wish("pay", "c", `{"amount":3}`))
	b := say(t, requestOf(t, m, "b"), 0)
	b.Metadata["interruptResponse"] = json.RawMessage(`{"by":"amy"}`)
	res, err := resume(t, d.set, m, responds(no(t, requestOf(t, m, "a"), ""), b), &ai.ResolveOptions{Partial: true})
	require.NoError(t, err)
	require.Nil(t, res.Tool)
	m = aitest.Reload(t, res.Model)
	require.JSONEq(t, `true`, string(requestOf(t, m, "b").Metadata["resolvedInterrupt"]))
	require.Equal(t, "0", string(requestOf(t, m, "b").Metadata["pendingOutput"]))

	res, err = resume(t, d.set, m, restarts(yes(t, requestOf(t, m, "c"))), nil)
	require.NoError(t, err)
	require.Equal(t, []string{`"Denied."`, "0", `"paid 3"`}, outputsOf(t, res.Tool))
	denied, asked := res.Tool.Content[0].(*ai.ToolResponsePart), res.Tool.Content[1].(*ai.ToolResponsePart)
	require.JSONEq(t, `{"interruptResponse":true,"outcome":"denied","reason":"","source":"pending"}`, jsonOf(t, denied.Metadata))
	require.True(t, denied.ForModel().IsError)
	require.JSONEq(t, `{"interruptResponse":{"by":"amy"},"source":"pending"}`, jsonOf(t, asked.Metadata))
}

func TestResumeWritesTheAnswersMetadata(t *testing.T) {
	t.Parallel()
	for name, md := range map[string]ai.Metadata{"true": nil, `{"n":9007199254740993}`: {"n": json.RawMessage("9007199254740993")}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := newDesk(t)
			m := pause(t, d.set, nil, wish("pay", "a", `{"amount":1}`))
			res, err := resume(t, d.set, m, &ai.Answers{Metadata: md, Restart: restarts(yes(t, requestOf(t, m, "a"))).Restart}, nil)
			require.NoError(t, err)
			require.Equal(t, name, string(res.Tool.Metadata["resumed"]))
		})
	}
}

// What a host of metadata keys of its own wrote stays where it is.
func TestResumeKeepsForeignMetadata(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	req := wish("pay", "a", `{"amount":1}`)
	req.Metadata = ai.Metadata{"thoughtSignature": json.RawMessage(`"abc"`)}
	m := pause(t, d.set, nil, req)
	res, err := resume(t, d.set, m, restarts(yes(t, requestOf(t, m, "a"))), nil)
	require.NoError(t, err)
	require.JSONEq(t, `{"resolvedInterrupt":{"confirm":1},"thoughtSignature":"abc"}`, jsonOf(t, requestOf(t, res.Model, "a").Metadata))
}

// A tool that asks several times: each question is a pause of its own, results
// of the others are kept over all of them, and state and resume data are those
// of the last question.
func TestRestartMayAskAgain(t *testing.T) {
	t.Parallel()
	type step struct {
		Step int `json:"step"`
	}
	d := newDesk(t)
	wizard := newRaw(t, &ai.ToolDefinition{Name: "wizard"}, func(_ context.Context, call *ai.ToolCall) (*ai.ToolResult, error) {
		var state step
		if call.Resumed() {
			require.NoError(t, call.DecodeState(&state))
			var given step
			require.NoError(t, call.DecodeResumed(&given))
			require.Equal(t, state.Step, given.Step)
		} else {
			require.ErrorIs(t, call.DecodeState(&state), ai.ErrFailedPrecondition)
			require.ErrorIs(t, call.DecodeResumed(&state), ai.ErrFailedPrecondition)
		}
		d.add("step %d", state.Step)
		if state.Step == 3 {
			return &ai.ToolResult{Output: json.RawMessage(`"done"`)}, nil
		}
		return nil, call.InterruptWithState(map[string]int{"question": state.Step + 1}, step{state.Step + 1})
	})
	set := newSet(t, wizard, d.pay, d.ask)
	m := pause(t, set, nil, wish("wizard", "w", `{}`), wish("pay", "p", `{"amount":1}`))
	answers := restarts(yes(t, requestOf(t, m, "p")))
	for n := 1; n <= 3; n++ {
		req := requestOf(t, m, "w")
		require.JSONEq(t, fmt.Sprintf(`{"question":%d}`, n), string(req.Metadata["interrupt"]))
		w, err := ai.Restart(req, &ai.RestartOptions[json.RawMessage]{Resumed: step{n}})
		require.NoError(t, err)
		answers.Restart = append(answers.Restart, w)
		res, err := resume(t, set, m, answers, nil)
		require.NoError(t, err)
		answers = &ai.Answers{}
		if n < 3 {
			require.Nil(t, res.Tool)
			md := requestOf(t, res.Model, "w").Metadata
			require.NotContains(t, md, "resolvedInterrupt", "the question is open again")
			require.NotContains(t, md, "answered", "the answer to the last question is used up")
			m = aitest.Reload(t, res.Model)
			continue
		}
		require.Equal(t, []string{`"done"`, `"paid 1"`}, outputsOf(t, res.Tool))
		require.JSONEq(t, `{"resolvedInterrupt":{"question":3}}`, jsonOf(t, requestOf(t, res.Model, "w").Metadata))
	}
	require.Equal(t, []string{"step 0", "pay p 1", "step 1", "step 2", "step 3"}, stepsInOrder(d.take()))
}

// stepsInOrder puts the payment, which ran beside step 1, in front of it.
func stepsInOrder(lines []string) []string {
	for i := 1; i < len(lines); i++ {
		if lines[i] == "pay p 1" && lines[i-1] == "step 1" {
			lines[i-1], lines[i] = lines[i], lines[i-1]
		}
	}
	return lines
}

// A question without state after one with: the old state is gone.
func TestStateIsThatOfTheLastQuestion(t *testing.T) {
	t.Parallel()
	asked := 0
	tool := newRaw(t, &ai.ToolDefinition{Name: "tool"}, func(_ context.Context, call *ai.ToolCall) (*ai.ToolResult, error) {
		asked++
		if asked == 1 {
			return nil, call.InterruptWithState(nil, "old")
		}
		var s string
		if err := call.DecodeState(&s); err == nil {
			return nil, call.Interrupt(nil)
		}
		return ai.ErrorResult("no state"), nil
	})
	set := newSet(t, tool)
	m := pause(t, set, nil, wish("tool", "a", ""))
	require.Equal(t, "true", string(requestOf(t, m, "a").Metadata["interrupt"]))
	for range 2 {
		res, err := resume(t, set, m, restarts(yes(t, requestOf(t, m, "a"))), nil)
		require.NoError(t, err)
		if res.Tool != nil {
			require.Equal(t, []string{`"no state"`}, outputsOf(t, res.Tool))
			return
		}
		m = aitest.Reload(t, res.Model)
		require.NotContains(t, requestOf(t, m, "a").Metadata, "interruptState")
	}
	require.Fail(t, "the tool asked without end")
}
