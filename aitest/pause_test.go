package aitest_test

import (
	"context"
	"encoding/json"
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/holdpoint/ai"
	"github.com/holdpoint/ai/aitest"
)

type payment struct {
	To     string `json:"to"`
	Amount int    `json:"amount"`
}

// payTool asks before it pays.
func payTool(t *testing.T) *ai.TypedTool[payment, string] {
	t.Helper()
	tool, err := ai.NewTool(&ai.ToolDefinition{Name: "pay"}, func(_ context.Context, call *ai.ToolCall, in payment) (string, error) {
		if call.Resumed() {
			return "paid " + in.To, nil
		}
		return "", call.Interrupt("pay " + in.To + "?")
	})
	require.NoError(t, err)
	return tool
}

// pausedAtTwo is a conversation that waits for two answers.
func pausedAtTwo(t *testing.T) (*ai.Registry, *ai.Response) {
	t.Helper()
	var r ai.Registry
	require.NoError(t, r.Register(payTool(t)))
	m := aitest.NewModel(t, aitest.ToolRequests(
		aitest.Request("pay", "1", payment{"bob", 1}), aitest.Request("pay", "2", payment{"eve", 2}),
	))
	resp, err := ai.Generate(t.Context(), &r, &ai.GenerateOptions{Model: m, Prompt: "pay"})
	require.NoError(t, err)
	return &r, resp
}

// outputs resumes a conversation and returns what its calls gave.
func outputs(t *testing.T, r *ai.Registry, resp *ai.Response, answers *ai.Answers) []string {
	t.Helper()
	m := aitest.NewModel(t, aitest.Text("done"))
	end, err := ai.Generate(t.Context(), r, &ai.GenerateOptions{
		Model: m, Messages: aitest.Reload(t, resp.Messages), Resume: aitest.Reload(t, answers),
	})
	require.NoError(t, err)
	aitest.CheckHistory(t, end.Messages)
	var list []string
	for _, p := range end.Messages[2].Content {
		list = append(list, string(p.(*ai.ToolResponsePart).ToolResponse.Output))
	}
	return list
}

func TestApproveAnswersAll(t *testing.T) {
	t.Parallel()
	r, resp := pausedAtTwo(t)
	require.Equal(t, []string{`"paid bob"`, `"paid eve"`}, outputs(t, r, resp, aitest.Approve(t, resp)))
}

func TestDenyAnswersAll(t *testing.T) {
	t.Parallel()
	r, resp := pausedAtTwo(t)
	require.Equal(t, []string{`"Denied: too much"`, `"Denied: too much"`}, outputs(t, r, resp, aitest.Deny(t, resp, "too much")))
}

func TestAnswerDecidesEach(t *testing.T) {
	t.Parallel()
	r, resp := pausedAtTwo(t)
	answers := aitest.Answer(t, resp, func(it *ai.Interrupt) (ai.Part, error) {
		if string(it.Data) == `"pay bob?"` {
			return ai.Restart(it.Request, nil)
		}
		return ai.Respond(it.Request, "paid in cash")
	})
	require.Equal(t, []string{`"paid bob"`, `"paid in cash"`}, outputs(t, r, resp, answers))
}

func TestAnswerLeavesOpen(t *testing.T) {
	t.Parallel()
	_, resp := pausedAtTwo(t)
	answers := aitest.Answer(t, resp, func(*ai.Interrupt) (ai.Part, error) { return nil, nil })
	require.Equal(t, &ai.Answers{}, answers)
}

func TestAnswerFailsItsTest(t *testing.T) {
	t.Parallel()
	_, resp := pausedAtTwo(t)
	tests := map[string]struct {
		test func(tb *fakeTB)
		want string
	}{
		"nothing to answer": {
			func(tb *fakeTB) { aitest.Approve(tb, &ai.Response{FinishReason: ai.FinishStop}) },
			"aitest: there is nothing to answer: the response is not interrupted",
		},
		"no response": {
			func(tb *fakeTB) { aitest.Deny(tb, nil, "") },
			"aitest: there is nothing to answer: the response is not interrupted",
		},
		"an error": {
			func(tb *fakeTB) {
				aitest.Answer(tb, resp, func(*ai.Interrupt) (ai.Part, error) { return nil, errors.New("no idea") })
			},
			`aitest: answer to "pay"#"1": no idea`,
		},
		"no answer at all": {
			func(tb *fakeTB) {
				aitest.Answer(tb, resp, func(*ai.Interrupt) (ai.Part, error) { return &ai.TextPart{Text: "yes"}, nil })
			},
			"aitest: a *ai.TextPart is no answer: it takes a tool response or a tool request",
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			require.Equal(t, []string{tt.want}, runFake(t, tt.test))
		})
	}
}

func TestReload(t *testing.T) {
	t.Parallel()
	messages := parse(t, `[{"role":"user","content":[{"text":"<9007199254740993>"},{"new":1.50}],"metadata":{"n":9007199254740993}}]`)
	read := aitest.Reload(t, messages)
	require.Equal(t, messages, read)
	require.NotSame(t, messages[0], read[0])
}

// lossy is a value that does not come back.
type lossy struct{ n int }

func (l lossy) MarshalJSON() ([]byte, error) { return json.Marshal(l.n) }
func (l *lossy) UnmarshalJSON([]byte) error  { l.n++; return nil }

func TestReloadFailsItsTest(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		test func(tb *fakeTB)
		want string
	}{
		"does not encode": {
			func(tb *fakeTB) { aitest.Reload(tb, []*ai.Message{{Role: "robot"}}) },
			"aitest: reload: json: error calling MarshalJSON for type *ai.Message: ai: role must be system, user, model or tool",
		},
		"comes back as something else": {
			func(tb *fakeTB) { aitest.Reload(tb, lossy{7}) },
			"aitest: reload: what was read differs from what was written:\n\twrote 7\n\tread  1",
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			require.Equal(t, []string{tt.want}, runFake(t, tt.test))
		})
	}
}
