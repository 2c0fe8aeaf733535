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

func TestGenerateSeveralRounds(t *testing.T) {
	t.Parallel()
	tools := newLoopTools()
	m := aitest.NewModel(t,
		&aitest.Reply{
			Content: ai.Parts{&ai.TextPart{Text: "Let me see."}, look("1", "Rome"), look("2", "Oslo")},
			Usage:   ai.Usage{InputTokens: 1, OutputTokens: 10, TotalTokens: 100, CachedInputTokens: 1000, ReasoningTokens: 10000},
		},
		&aitest.Reply{
			Content: ai.Parts{look("1", "Bonn")},
			Usage:   ai.Usage{InputTokens: 2, OutputTokens: 20, TotalTokens: 200, CachedInputTokens: 2000, ReasoningTokens: 20000},
		},
		&aitest.Reply{Content: ai.Parts{&ai.TextPart{Text: "Sunny "}, &ai.TextPart{Text: "everywhere."}}, FinishMessage: "fine", Usage: ai.Usage{InputTokens: 3}},
	)
	resp, err := ai.Generate(t.Context(), &tools.Registry, &ai.GenerateOptions{
		Model: m, System: "Be brief.", Messages: []*ai.Message{userSays("Hello."), modelSays(&ai.TextPart{Text: "Hi."})}, Prompt: "Weather?",
	})
	require.NoError(t, err)
	require.Equal(t, []string{
		"system Be brief.", "user Hello.", "model Hi.", "user Weather?",
		"model Let me see.", "model look#1?", "model look#2?",
		`tool look#1="sunny in Rome"`, `tool look#2="sunny in Oslo"`,
		"model look#1?", `tool look#1="sunny in Bonn"`,
		"model Sunny ", "model everywhere.",
	}, outline(resp.Messages))
	require.Equal(t, "Sunny everywhere.", resp.Text())
	require.Same(t, resp.Messages[len(resp.Messages)-1], resp.Message)
	require.Equal(t, ai.FinishStop, resp.FinishReason)
	require.Equal(t, "fine", resp.FinishMessage)
	require.Equal(t, ai.Usage{InputTokens: 6, OutputTokens: 30, TotalTokens: 300, CachedInputTokens: 3000, ReasoningTokens: 30000}, resp.Usage)
	require.Empty(t, resp.Interrupts())
	aitest.CheckHistory(t, resp.Messages)

	sent := m.Requests()
	require.Len(t, sent, 3)
	for i, n := range []int{4, 6, 8} {
		require.Equal(t, mustJSONText(t, resp.Messages[:n]), mustJSONText(t, sent[i].Messages), "request %d", i)
	}
}

func mustJSONText(t *testing.T, v any) string {
	t.Helper()
	return string(mustJSON(t, v))
}

// roundsForever asks for a tool in each reply.
func roundsForever(t *testing.T) *aitest.Model {
	return aitest.NewModelFunc(t, func(_ context.Context, req *ai.ModelRequest) *aitest.Reply {
		return aitest.ToolRequests(look(fmt.Sprint(len(req.Messages)), "Rome"))
	})
}

func TestGenerateMaxTurns(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct{ max, turns int }{
		"default": {0, ai.DefaultMaxTurns}, "one": {1, 1}, "seven": {7, 7},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			tools := newLoopTools()
			m := roundsForever(t)
			resp, err := ai.Generate(t.Context(), &tools.Registry, &ai.GenerateOptions{Model: m, Prompt: "go", MaxTurns: tt.max})
			require.Nil(t, resp)
			require.ErrorIs(t, err, ai.ErrAborted)
			require.EqualError(t, err, fmt.Sprintf("ai: the model asked for tools after %d tool turns, the most that MaxTurns allows", tt.turns))
			require.EqualValues(t, tt.turns, tools.looked.Load())
			require.Len(t, m.Requests(), tt.turns+1)

			history := requireHistory(t, err)
			require.Len(t, history, 1+2*tt.turns+1)
			open := history[len(history)-1].ToolRequests()
			require.Len(t, open, 1)

			retry, err := ai.Restart(open[0], nil)
			require.NoError(t, err)
			resp, err = ai.Generate(t.Context(), &tools.Registry, &ai.GenerateOptions{
				Model: aitest.NewModel(t, aitest.Text("done")), Messages: aitest.Reload(t, history),
				Resume: &ai.Answers{Restart: []*ai.ToolRequestPart{retry}},
			})
			require.NoError(t, err)
			require.Equal(t, "done", resp.Text())
			require.EqualValues(t, tt.turns+1, tools.looked.Load())
		})
	}
	require.Equal(t, 5, ai.DefaultMaxTurns)
}

func TestGenerateResumptionCostsNoTurn(t *testing.T) {
	t.Parallel()
	tools := newLoopTools()
	m := aitest.NewModel(t, aitest.ToolRequests(pay("1", 5)), aitest.ToolRequests(look("2", "Rome")), aitest.ToolRequests(look("3", "Rome")))
	opts := &ai.GenerateOptions{Model: m, Prompt: "pay", MaxTurns: 1}
	paused, err := ai.Generate(t.Context(), &tools.Registry, opts)
	require.NoError(t, err)
	_, err = ai.Generate(t.Context(), &tools.Registry, &ai.GenerateOptions{
		Model: m, Messages: paused.Messages, Resume: aitest.Approve(t, paused), MaxTurns: 1,
	})
	require.ErrorIs(t, err, ai.ErrAborted)
	require.EqualValues(t, 1, tools.paid.Load())
	require.EqualValues(t, 1, tools.looked.Load(), "the one turn that MaxTurns allows beside the resumption")
}

func TestGeneratePausesAndResumes(t *testing.T) {
	t.Parallel()
	tools := newLoopTools()
	m := aitest.NewModel(t,
		&aitest.Reply{Content: ai.Parts{look("1", "Rome"), pay("2", 5)}, FinishMessage: "the model's own", Usage: ai.Usage{InputTokens: 1}},
		&aitest.Reply{Content: ai.Parts{&ai.TextPart{Text: "done"}}, Usage: ai.Usage{InputTokens: 2}},
	)
	paused, err := ai.Generate(t.Context(), &tools.Registry, &ai.GenerateOptions{Model: m, Prompt: "pay"})
	require.NoError(t, err)
	require.Equal(t, ai.FinishInterrupted, paused.FinishReason)
	require.Equal(t, "One or more tool calls resulted in interrupts.", paused.FinishMessage)
	require.Equal(t, []string{"user pay", "model look#1?", "model pay#2?"}, outline(paused.Messages))
	require.Same(t, paused.Messages[1], paused.Message)
	require.Equal(t, ai.Usage{InputTokens: 1}, paused.Usage)
	require.Len(t, paused.Interrupts(), 1)
	require.Equal(t, "2", paused.Interrupts()[0].Request.ToolRequest.Ref)

	resp, err := ai.Generate(t.Context(), &tools.Registry, &ai.GenerateOptions{
		Model: m, Messages: aitest.Reload(t, paused.Messages), Resume: aitest.Approve(t, paused),
	})
	require.NoError(t, err)
	require.Equal(t, []string{
		"user pay", "model look#1?", "model pay#2?", `tool look#1="sunny in Rome"`, `tool pay#2="paid 5"`, "model done",
	}, outline(resp.Messages))
	require.Equal(t, ai.Usage{InputTokens: 2}, resp.Usage, "of this call alone")
	require.EqualValues(t, 1, tools.looked.Load(), "what had settled is not run again")
	aitest.CheckHistory(t, resp.Messages)
}

func TestGeneratePartialAnswersDoNotCallTheModel(t *testing.T) {
	t.Parallel()
	tools := newLoopTools()
	m := aitest.NewModel(t, aitest.ToolRequests(pay("1", 1), pay("2", 2)))
	paused, err := ai.Generate(t.Context(), &tools.Registry, &ai.GenerateOptions{Model: m, Prompt: "pay"})
	require.NoError(t, err)
	answers := aitest.Approve(t, paused)
	answers.Restart = answers.Restart[1:]
	paused, err = ai.Generate(t.Context(), &tools.Registry, &ai.GenerateOptions{
		Model: m, Messages: paused.Messages, Resume: answers, Turn: ai.ResolveOptions{Partial: true},
	})
	require.NoError(t, err)
	require.Equal(t, ai.FinishInterrupted, paused.FinishReason)
	require.Len(t, paused.Interrupts(), 1)
	require.Equal(t, "1", paused.Interrupts()[0].Request.ToolRequest.Ref)
	require.EqualValues(t, 1, tools.paid.Load())
	require.Zero(t, paused.Usage)
}

// A store may hold a message whose calls have all settled, but no tool message
// yet: going on needs no answers, and runs nothing.
func TestGenerateGoesOnFromSettledCalls(t *testing.T) {
	t.Parallel()
	settled := look("1", "Rome")
	settled.Metadata = ai.Metadata{"pendingOutput": json.RawMessage(`"snow"`)}
	m := aitest.NewModel(t, aitest.Text("done"))
	resp, err := ai.Generate(t.Context(), &newLoopTools().Registry, &ai.GenerateOptions{
		Model: m, Messages: []*ai.Message{userSays("hi"), modelSays(settled)},
	})
	require.NoError(t, err)
	require.Equal(t, []string{"user hi", "model look#1?", `tool look#1="snow"`, "model done"}, outline(resp.Messages))
}

func TestGenerateReturnToolRequests(t *testing.T) {
	t.Parallel()
	tools := newLoopTools()
	m := aitest.NewModel(t, &aitest.Reply{
		Content: ai.Parts{look("", "Rome"), look("x", "Oslo"), look("x", "Bonn"), aitest.Request("look", "y", json.RawMessage(`{"City":`))},
		// What a provider calls its finish reason is up to it.
		FinishReason: ai.FinishOther, FinishMessage: "tool use",
	})
	resp, err := ai.Generate(t.Context(), &tools.Registry, &ai.GenerateOptions{Model: m, Prompt: "go", ReturnToolRequests: true})
	require.NoError(t, err)
	require.Equal(t, ai.FinishOther, resp.FinishReason)
	require.Equal(t, "tool use", resp.FinishMessage)
	require.Zero(t, tools.looked.Load())
	require.Empty(t, resp.Interrupts())
	require.Same(t, resp.Messages[1], resp.Message)

	requests := resp.Message.ToolRequests()
	require.Len(t, requests, 4)
	require.NotEmpty(t, requests[0].ToolRequest.Ref, "a missing ref is minted")
	require.Equal(t, "x", requests[1].ToolRequest.Ref)
	require.NotEqual(t, "x", requests[2].ToolRequest.Ref, "a ref that is taken is replaced")
	require.JSONEq(t, `{}`, string(requests[3].ToolRequest.Input), "what is no JSON does not spoil the history")
	require.JSONEq(t, `{"text":"{\"City\":","problem":"text that is not JSON"}`, string(requests[3].Metadata["argumentsError"]))

	// The caller runs them: the answers find their calls.
	answers := &ai.Answers{}
	for i, req := range requests {
		answer, err := ai.Respond(req, fmt.Sprint(i))
		require.NoError(t, err)
		answers.Respond = append(answers.Respond, answer)
	}
	resp, err = ai.Generate(t.Context(), &tools.Registry, &ai.GenerateOptions{
		Model: aitest.NewModel(t, aitest.Text("done")), Messages: aitest.Reload(t, resp.Messages), Resume: answers,
	})
	require.NoError(t, err)
	aitest.CheckHistory(t, resp.Messages)
	for i, p := range resp.Messages[2].Content {
		require.Equal(t, fmt.Sprintf("%q", fmt.Sprint(i)), string(p.(*ai.ToolResponsePart).ToolResponse.Output))
	}
}
