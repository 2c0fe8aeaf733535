package ai_test

import (
	"context"
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/holdpoint/ai"
	"github.com/holdpoint/ai/aitest"
)

// renders is a prompt that only has instructions.
func renders(name, text string) *ai.Prompt {
	return &ai.Prompt{Name: name, Render: func(context.Context, json.RawMessage) ([]*ai.Message, error) {
		return []*ai.Message{ai.TextMessage(ai.RoleSystem, text)}, nil
	}}
}

func toolNames(req *ai.ModelRequest) []string {
	var names []string
	for _, def := range req.Tools {
		names = append(names, def.Name)
	}
	return names
}

func TestGenerateHandsOver(t *testing.T) {
	t.Parallel()
	tools := newLoopTools()
	billing := aitest.NewModel(t, aitest.ToolRequests(pay("2", 5)), aitest.Text("paid"), aitest.Text("bye"))
	p := renders("billing", "You do the billing.")
	p.Model, p.Tools, p.Config = billing, []string{"pay"}, "careful"
	ai.DefinePrompt(&tools.Registry, p)

	reception := aitest.NewModel(t, aitest.ToolRequests(aitest.Request("billing", "1", nil)))
	paused, err := ai.Generate(t.Context(), &tools.Registry, &ai.GenerateOptions{
		Model: reception, System: "You are the reception.", Prompt: "I owe you 5.", Config: "friendly", ToolChoice: ai.ToolChoiceAuto,
	})
	require.NoError(t, err)
	require.Equal(t, []string{
		"system You do the billing.", "user I owe you 5.", "model billing#1?", `tool billing#1="transferred to billing"`, "model pay#2?",
	}, outline(paused.Messages))

	// The history alone says who is in charge: whatever the caller offers, the
	// resumption and what follows stay with billing.
	resp, err := ai.Generate(t.Context(), &tools.Registry, &ai.GenerateOptions{
		Model: reception, System: "You are the reception.", Messages: aitest.Reload(t, paused.Messages), Resume: aitest.Approve(t, paused),
	})
	require.NoError(t, err)
	resp, err = ai.Generate(t.Context(), &tools.Registry, &ai.GenerateOptions{Messages: resp.Messages, Prompt: "Bye."})
	require.NoError(t, err)
	require.Equal(t, "bye", resp.Text())
	require.Len(t, billing.Requests(), 3)
	for _, req := range billing.Requests() {
		require.Equal(t, []string{"pay"}, toolNames(req))
		require.Equal(t, "careful", req.Config)
		require.Equal(t, "You do the billing.", req.Messages[0].Text())
	}
}

// What a prompt leaves open is the caller's, also behind another prompt that
// had its own.
func TestGenerateHandsOverTwice(t *testing.T) {
	t.Parallel()
	var r ai.Registry
	first := renders("first", "one")
	first.Model, first.Config = aitest.NewModel(t, aitest.ToolRequests(aitest.Request("second", "2", nil))), "first's"
	ai.DefinePrompt(&r, first)
	ai.DefinePrompt(&r, renders("second", "two"))
	m := aitest.NewModel(t, aitest.ToolRequests(aitest.Request("first", "1", nil)), aitest.Text("done"), aitest.Text("done again"))
	opts := &ai.GenerateOptions{Model: m, Prompt: "go", Config: "mine"}
	resp, err := ai.Generate(t.Context(), &r, opts)
	require.NoError(t, err)
	require.Equal(t, "done", resp.Text())
	require.Equal(t, "system two", outline(resp.Messages)[0])
	_, err = ai.Generate(t.Context(), &r, &ai.GenerateOptions{Model: m, Messages: resp.Messages, Prompt: "go on", Config: "mine"})
	require.NoError(t, err)
	for _, req := range m.Requests() {
		require.Equal(t, "mine", req.Config)
	}
}

func TestGenerateHandedToAPromptThatIsGone(t *testing.T) {
	t.Parallel()
	var r ai.Registry
	ai.DefinePrompt(&r, renders("billing", "You do the billing."))
	m := aitest.NewModel(t, aitest.ToolRequests(aitest.Request("billing", "1", nil)), aitest.Text("done"))
	resp, err := ai.Generate(t.Context(), &r, &ai.GenerateOptions{Model: m, Prompt: "go"})
	require.NoError(t, err)

	_, err = ai.Generate(t.Context(), &ai.Registry{}, &ai.GenerateOptions{Model: m, Messages: resp.Messages, Prompt: "go on"})
	requirePlain(t, err)
	require.ErrorIs(t, err, ai.ErrNotFound)
	require.ErrorContains(t, err, `the conversation was handed to prompt "billing"`)

	_, err = ai.Generate(t.Context(), &r, &ai.GenerateOptions{Messages: resp.Messages, Prompt: "go on"})
	require.ErrorIs(t, err, ai.ErrInvalidArgument)
	require.EqualError(t, err, `ai: generate: no model, and prompt "billing" has none`)
}
