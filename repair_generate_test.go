package ai_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/holdpoint/ai"
	"github.com/holdpoint/ai/aitest"
)

func TestGenerateRepairsAPause(t *testing.T) {
	t.Parallel()
	tools := newLoopTools()
	m := aitest.NewModel(t, aitest.ToolRequests(look("1", "Rome"), pay("2", 5)), aitest.Text("never mind"))
	paused, err := ai.Generate(t.Context(), &tools.Registry, &ai.GenerateOptions{Model: m, Prompt: "pay"})
	require.NoError(t, err)
	resp, err := ai.Generate(t.Context(), &tools.Registry, &ai.GenerateOptions{
		Model: m, Messages: aitest.Reload(t, paused.Messages), Prompt: "Forget it.", Repair: true,
	})
	require.NoError(t, err)
	require.Equal(t, []string{
		"user pay", "model look#1?", "model pay#2?", `tool look#1="sunny in Rome"`, "tool pay#2=" + saysNotRun, "user Forget it.", "model never mind",
	}, outline(resp.Messages))
	require.Zero(t, tools.paid.Load())
	told := resp.Messages[2].Content[1].(*ai.ToolResponsePart).ForModel()
	require.True(t, told.IsError)
}

// With answers the last message is what they are about; holes before it are
// closed all the same.
func TestGenerateRepairsBeforeWhatIsResumed(t *testing.T) {
	t.Parallel()
	tools := newLoopTools()
	paused, err := ai.Generate(t.Context(), &tools.Registry, &ai.GenerateOptions{
		Model: aitest.NewModel(t, aitest.ToolRequests(pay("1", 5))), Prompt: "pay",
	})
	require.NoError(t, err)
	holed := append([]*ai.Message{modelSays(look("0", "Rome"))}, paused.Messages...)
	opts := &ai.GenerateOptions{Model: aitest.NewModel(t, aitest.Text("done")), Messages: holed, Resume: aitest.Approve(t, paused)}
	_, err = ai.Generate(t.Context(), &tools.Registry, opts)
	require.ErrorIs(t, err, ai.ErrFailedPrecondition)
	require.Zero(t, tools.paid.Load())

	opts.Repair = true
	resp, err := ai.Generate(t.Context(), &tools.Registry, opts)
	require.NoError(t, err)
	require.Equal(t, []string{
		"model look#0?", "tool look#0=" + saysUnknown, "user pay", "model pay#1?", `tool pay#1="paid 5"`, "model done",
	}, outline(resp.Messages))
}
