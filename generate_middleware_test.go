package ai_test

import (
	"context"
	"encoding/json"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/holdpoint/ai"
	"github.com/holdpoint/ai/aitest"
)

// journey records who was entered and left.
type journey struct {
	mu    sync.Mutex
	steps []string
}

func (j *journey) add(step string) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.steps = append(j.steps, step)
}

// wrap is middleware that only records.
func (j *journey) wrap(name string) *ai.Middleware {
	return &ai.Middleware{Name: name, Wrap: func(ctx context.Context, _ *ai.ToolCall, next ai.Next) (*ai.ToolResult, error) {
		j.add("> " + name)
		defer j.add("< " + name)
		return next(ctx)
	}}
}

// model wraps a model as users do: a model is a function, and so is what
// stands around it.
func (j *journey) model(name string, inner ai.Model) ai.Model {
	return ai.ModelFunc(func(ctx context.Context, req *ai.ModelRequest, emit func(*ai.Chunk) error) (*ai.ModelResponse, error) {
		j.add("> " + name)
		defer j.add("< " + name)
		return inner.Generate(ctx, req, emit)
	})
}

// Genkit JS: middleware runs in the order generate, model, tool.
func TestGenerateMiddlewareOrder(t *testing.T) {
	t.Parallel()
	var j journey
	tools := newLoopTools()
	require.NoError(t, tools.Use(j.wrap("registry 1"), j.wrap("registry 2")))
	script := aitest.NewModel(t, aitest.ToolRequests(look("1", "Rome")), aitest.Text("done"))
	opts := &ai.GenerateOptions{
		Model: j.model("outer model", j.model("inner model", script)), Prompt: "go",
		Turn: ai.ResolveOptions{Middleware: []*ai.Middleware{j.wrap("request 1"), j.wrap("request 2")}},
	}
	j.add("> generate")
	_, err := ai.Generate(t.Context(), &tools.Registry, opts)
	j.add("< generate")
	require.NoError(t, err)
	require.Equal(t, []string{
		"> generate",
		"> outer model", "> inner model", "< inner model", "< outer model",
		"> registry 1", "> registry 2", "> request 1", "> request 2",
		"< request 2", "< request 1", "< registry 2", "< registry 1",
		"> outer model", "> inner model", "< inner model", "< outer model",
		"< generate",
	}, j.steps)
}

// askingGate is middleware that asks about every call, and keeps what it was answered.
func askingGate(got *json.RawMessage) *ai.Middleware {
	return &ai.Middleware{Name: "gate", Wrap: func(ctx context.Context, call *ai.ToolCall, next ai.Next) (*ai.ToolResult, error) {
		if !call.Resumed() {
			return nil, call.InterruptWithState("allow "+call.Name+"?", 7)
		}
		var state int
		if err := call.DecodeState(&state); err != nil || state != 7 {
			return nil, err
		}
		if err := call.DecodeResumed(got); err != nil {
			return nil, err
		}
		return next(ctx)
	}}
}

// Genkit JS: an interrupt from middleware, and restart metadata that reaches
// the hook.
func TestGenerateMiddlewareInterruptsAndIsResumed(t *testing.T) {
	t.Parallel()
	var got json.RawMessage
	tools := newLoopTools()
	ran := 0
	ai.DefineTool(&tools.Registry, "order", "Order.", func(_ context.Context, call *ai.ToolCall, _ struct{}) (bool, error) {
		ran++
		return call.Resumed(), nil
	})
	require.NoError(t, tools.Use(askingGate(&got)))
	m := aitest.NewModel(t, aitest.ToolRequests(aitest.Request("order", "1", nil)), aitest.Text("done"))
	paused, err := ai.Generate(t.Context(), &tools.Registry, &ai.GenerateOptions{Model: m, Prompt: "order"})
	require.NoError(t, err)
	require.Zero(t, ran)
	it := paused.Interrupts()[0]
	require.Equal(t, "gate", it.By)
	require.Equal(t, `"allow order?"`, string(it.Data))

	answers := aitest.Answer(t, paused, func(it *ai.Interrupt) (ai.Part, error) {
		return ai.Restart(it.Request, &ai.RestartOptions[json.RawMessage]{Resumed: map[string]string{"by": "amy"}})
	})
	resp, err := ai.Generate(t.Context(), &tools.Registry, &ai.GenerateOptions{
		Model: m, Messages: aitest.Reload(t, paused.Messages), Resume: aitest.Reload(t, answers),
	})
	require.NoError(t, err)
	require.JSONEq(t, `{"by":"amy"}`, string(got))
	require.Equal(t, 1, ran)
	require.Equal(t, "tool order#1=false", outline(resp.Messages)[2], "the answer is the gate's; the tool never asked")
}

func TestGenerateMiddlewareAndToolBothAsk(t *testing.T) {
	t.Parallel()
	var got json.RawMessage
	tools := newLoopTools()
	m := aitest.NewModel(t, aitest.ToolRequests(pay("1", 5)), aitest.Text("done"))
	opts := &ai.GenerateOptions{Model: m, Prompt: "pay", Turn: ai.ResolveOptions{Middleware: []*ai.Middleware{askingGate(&got)}}}
	var asked []string
	resp, err := ai.Generate(t.Context(), &tools.Registry, opts)
	for err == nil && resp.FinishReason == ai.FinishInterrupted {
		asked = append(asked, resp.Interrupts()[0].By)
		resp, err = ai.Generate(t.Context(), &tools.Registry, &ai.GenerateOptions{
			Model: m, Messages: aitest.Reload(t, resp.Messages), Resume: aitest.Approve(t, resp), Turn: opts.Turn,
		})
	}
	require.NoError(t, err)
	require.Equal(t, []string{"gate", ""}, asked, "each asks once")
	require.EqualValues(t, 1, tools.paid.Load())
}

func TestGenerateMiddlewareSeesReplacedInput(t *testing.T) {
	t.Parallel()
	tools := newLoopTools()
	var seen []string
	watch := &ai.Middleware{
		Name: "watch",
		Rewrite: func(_ context.Context, call *ai.ToolCall) (json.RawMessage, error) {
			seen = append(seen, "rewrite "+string(call.Input))
			return nil, nil
		},
		Wrap: func(ctx context.Context, call *ai.ToolCall, next ai.Next) (*ai.ToolResult, error) {
			seen = append(seen, "wrap "+string(call.Input))
			return next(ctx)
		},
	}
	turn := ai.ResolveOptions{Middleware: []*ai.Middleware{watch}}
	m := aitest.NewModel(t, aitest.ToolRequests(pay("1", 5)), aitest.Text("done"))
	paused, err := ai.Generate(t.Context(), &tools.Registry, &ai.GenerateOptions{Model: m, Prompt: "pay", Turn: turn})
	require.NoError(t, err)
	less := json.RawMessage(`{"Amount":3}`)
	answers := aitest.Answer(t, paused, func(it *ai.Interrupt) (ai.Part, error) {
		return ai.Restart(it.Request, &ai.RestartOptions[json.RawMessage]{NewInput: &less})
	})
	resp, err := ai.Generate(t.Context(), &tools.Registry, &ai.GenerateOptions{Model: m, Messages: paused.Messages, Resume: answers, Turn: turn})
	require.NoError(t, err)
	require.Equal(t, []string{`rewrite {"Amount":5}`, `wrap {"Amount":5}`, `rewrite {"Amount":3}`, `wrap {"Amount":3}`}, seen)
	require.Equal(t, `tool pay#1="paid 3"`, outline(resp.Messages)[2])
	require.JSONEq(t, `{"Amount":5}`, string(resp.Messages[1].ToolRequests()[0].ToolRequest.Input), "what the model said stays")
}

// Genkit JS: "interrupts tool execution".
func TestGenerateInterruptsToolExecution(t *testing.T) {
	t.Parallel()
	tools := newLoopTools()
	m := aitest.NewModel(t, &aitest.Reply{Content: ai.Parts{&ai.TextPart{Text: "I pay."}, look("1", "Rome"), pay("2", 5), pay("3", 6)}})
	paused, err := ai.Generate(t.Context(), &tools.Registry, &ai.GenerateOptions{Model: m, Prompt: "pay"})
	require.NoError(t, err)
	require.Equal(t, ai.FinishInterrupted, paused.FinishReason)
	parts := paused.Message.Content
	require.Equal(t, "I pay.", paused.Text())
	require.JSONEq(t, `{"pendingOutput":"sunny in Rome"}`, mustJSONText(t, parts[1].(*ai.ToolRequestPart).Metadata))
	for i, it := range paused.Interrupts() {
		require.JSONEq(t, `{"why":"confirm"}`, string(it.Request.Metadata["interrupt"]))
		require.Same(t, parts[2+i], it.Request)
		require.Equal(t, string(it.Request.ToolRequest.Input), string(it.Effective))
	}
	require.Len(t, paused.Interrupts(), 2)
	require.Zero(t, tools.paid.Load())
}

// Genkit Go: dynamic tools. They are in no registry, and nothing else can be called.
func TestGenerateDynamicTools(t *testing.T) {
	t.Parallel()
	tools := newLoopTools()
	raw := must(ai.NewRawTool(&ai.ToolDefinition{Name: "echo"}, func(_ context.Context, call *ai.ToolCall) (*ai.ToolResult, error) {
		return &ai.ToolResult{Output: call.Input}, nil
	}))
	typed := must(ai.NewTool(&ai.ToolDefinition{Name: "temporary/ask"}, func(_ context.Context, call *ai.ToolCall, in amountInput) (int, error) {
		if !call.Resumed() {
			return 0, call.Interrupt(nil)
		}
		return in.Amount, nil
	}))
	set := must(ai.NewToolSet(raw, typed))
	for name, registry := range map[string]*ai.Registry{"no registry": nil, "beside a registry": &tools.Registry} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m := aitest.NewModel(t,
				aitest.ToolRequests(aitest.Request("echo", "1", amountInput{1}), aitest.Request("ask", "2", amountInput{2})),
				aitest.ToolRequests(look("3", "Rome")),
			)
			paused, err := ai.Generate(t.Context(), registry, &ai.GenerateOptions{Model: m, Prompt: "go", Tools: set})
			require.NoError(t, err)
			require.Equal(t, []string{"echo", "ask"}, toolNames(m.Requests()[0]))
			_, err = ai.Generate(t.Context(), registry, &ai.GenerateOptions{
				Model: m, Messages: paused.Messages, Resume: aitest.Approve(t, paused), Tools: set,
			})
			require.ErrorIs(t, err, ai.ErrNotFound, "look is in the registry, but was not offered")
			require.ErrorContains(t, err, `"look"`)
			require.Equal(t, []string{
				"user go", "model echo#1?", "model ask#2?", `tool echo#1={"Amount":1}`, "tool ask#2=2", "model look#3?",
			}, outline(requireHistory(t, err)))
		})
	}
	require.Zero(t, tools.looked.Load())
}
