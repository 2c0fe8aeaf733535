package ai_test

import (
	"context"
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/holdpoint/ai"
	"github.com/holdpoint/ai/aitest"
)

func TestGenerateContextThatHasEnded(t *testing.T) {
	t.Parallel()
	tools := newLoopTools()
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := ai.Generate(ended, &tools.Registry, &ai.GenerateOptions{Model: aitest.NewModel(t), Prompt: "go"})
	requirePlain(t, err)
	require.ErrorIs(t, err, context.Canceled)
	require.EqualError(t, err, "ai: the model was not called: context canceled")

	m := aitest.NewModel(t, aitest.ToolRequests(pay("1", 5)), aitest.Text("done"))
	paused, err := ai.Generate(t.Context(), &tools.Registry, &ai.GenerateOptions{Model: m, Prompt: "pay"})
	require.NoError(t, err)
	resume := &ai.GenerateOptions{Model: m, Messages: paused.Messages, Resume: aitest.Approve(t, paused)}
	_, err = ai.Generate(ended, &tools.Registry, resume)
	requirePlain(t, err)
	require.ErrorIs(t, err, context.Canceled)
	require.Zero(t, tools.paid.Load())

	_, err = ai.Generate(t.Context(), &tools.Registry, resume)
	require.NoError(t, err, "the pause is as it was")
	require.EqualValues(t, 1, tools.paid.Load())
}

func TestGenerateContextEndsInTheTurn(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var r ai.Registry
	ai.DefineTool(&r, "stop", "Stop.", func(context.Context, *ai.ToolCall, struct{}) (string, error) {
		cancel()
		return "stopped", nil
	})
	m := aitest.NewModel(t, aitest.ToolRequests(aitest.Request("stop", "1", nil)), aitest.Text("done"))
	_, err := ai.Generate(ctx, &r, &ai.GenerateOptions{Model: m, Prompt: "go"})
	require.ErrorIs(t, err, context.Canceled)
	require.EqualError(t, err, "ai: the model was not called: context canceled")
	history := requireHistory(t, err)
	require.Equal(t, []string{"user go", "model stop#1?", `tool stop#1="stopped"`}, outline(history))

	_, err = ai.Generate(t.Context(), &r, &ai.GenerateOptions{Model: m, Messages: history})
	require.NoError(t, err)
}

func TestGenerateContextEndsInTheModel(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancelCause(t.Context())
	defer cancel(nil)
	cause := errors.New("the user left")
	tools := newLoopTools()
	m := ai.ModelFunc(func(ctx context.Context, _ *ai.ModelRequest, _ func(*ai.Chunk) error) (*ai.ModelResponse, error) {
		cancel(cause)
		return &ai.ModelResponse{Message: modelSays(look("1", "Rome"))}, nil
	})
	_, err := ai.Generate(ctx, &tools.Registry, &ai.GenerateOptions{Model: m, Prompt: "go"})
	require.ErrorIs(t, err, cause)
	require.EqualError(t, err, "ai: nothing was started: the user left")
	require.Equal(t, []string{"user go", "model look#1?"}, outline(requireHistory(t, err)))
	require.Zero(t, tools.looked.Load())
}

// Conversations that run side by side, as under an errgroup, end one another:
// the cause of the context is then the failure of another one, whose messages
// must not get into this one.
func TestGenerateContextEndedByAnotherConversation(t *testing.T) {
	t.Parallel()
	tools := newLoopTools()
	_, failure := ai.Generate(t.Context(), &tools.Registry, &ai.GenerateOptions{
		Model: aitest.NewModel(t, aitest.ToolRequests(aitest.Request("print", "other", nil))), Prompt: "other",
	})
	require.ErrorIs(t, failure, errBroken)

	ctx, cancel := context.WithCancelCause(t.Context())
	defer cancel(nil)
	m := ai.ModelFunc(func(ctx context.Context, _ *ai.ModelRequest, _ func(*ai.Chunk) error) (*ai.ModelResponse, error) {
		cancel(failure)
		return &ai.ModelResponse{Message: modelSays(look("1", "Rome"))}, nil
	})
	_, err := ai.Generate(ctx, &tools.Registry, &ai.GenerateOptions{Model: m, Prompt: "go"})
	require.ErrorIs(t, err, errBroken, "it says why it was ended")
	require.Equal(t, []string{"user go", "model look#1?"}, outline(requireHistory(t, err)))
}

// fickleProvider offers a tool, unless it is down.
type fickleProvider struct {
	err  error
	tool ai.Tool
}

func (*fickleProvider) Name() string { return "office" }

func (p *fickleProvider) Tools(context.Context) ([]ai.Tool, error) {
	if p.err != nil {
		return nil, p.err
	}
	return []ai.Tool{p.tool}, nil
}

func TestGenerateProviderDown(t *testing.T) {
	t.Parallel()
	tools, down := newLoopTools(), errors.New("connection refused")
	fax := must(ai.NewTool(&ai.ToolDefinition{Name: "office/fax"}, func(_ context.Context, call *ai.ToolCall, _ struct{}) (string, error) {
		if !call.Resumed() {
			return "", call.Interrupt(nil)
		}
		return "faxed", nil
	}))
	provider := &fickleProvider{tool: fax}
	require.NoError(t, tools.AddProvider(provider))
	m := aitest.NewModel(t, aitest.ToolRequests(aitest.Request("fax", "1", nil)), aitest.Text("done"))
	paused, err := ai.Generate(t.Context(), &tools.Registry, &ai.GenerateOptions{Model: m, Prompt: "fax it"})
	require.NoError(t, err)
	require.Equal(t, ai.FinishInterrupted, paused.FinishReason)

	provider.err = down
	_, err = ai.Generate(t.Context(), &tools.Registry, &ai.GenerateOptions{Model: m, Prompt: "again"})
	requirePlain(t, err)
	require.ErrorIs(t, err, down)
	require.ErrorIs(t, err, ai.ErrNotFound)
	require.ErrorContains(t, err, "office")

	_, err = ai.Generate(t.Context(), &tools.Registry, &ai.GenerateOptions{Model: m, Messages: paused.Messages, Resume: aitest.Approve(t, paused)})
	requirePlain(t, err)
	require.ErrorIs(t, err, ai.ErrNotFound, "its tool can't run, and the pause is as it was")
	require.ErrorContains(t, err, "fax")

	_, err = ai.Generate(t.Context(), &tools.Registry, &ai.GenerateOptions{Model: m, Messages: paused.Messages, Resume: aitest.Deny(t, paused, "later")})
	require.ErrorIs(t, err, down, "a denial needs no tool, but the model can't be asked without all of them")
	denied := requireHistory(t, err)
	require.Equal(t, []string{"user fax it", "model fax#1?", `tool fax#1="Denied: later"`}, outline(denied))

	resp, err := ai.Generate(t.Context(), &tools.Registry, &ai.GenerateOptions{Model: m, Messages: denied, Tools: must(tools.Tools(t.Context(), "look"))})
	require.NoError(t, err, "a set without its tools does not need it")
	require.Equal(t, "done", resp.Text())
}
