package ai_test

import (
	"context"
	"encoding/json"
	"fmt"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/holdpoint/ai"
)

// raw is a tool that takes any object.
func raw(t testing.TB, name string, fn ai.RawFunc) ai.Tool {
	t.Helper()
	return newRaw(t, &ai.ToolDefinition{Name: name}, fn)
}

// gives is a tool that always gives the same.
func gives(t testing.TB, name, output string) ai.Tool {
	t.Helper()
	return raw(t, name, func(context.Context, *ai.ToolCall) (*ai.ToolResult, error) {
		return &ai.ToolResult{Output: json.RawMessage(output)}, nil
	})
}

// fails is a tool that always fails.
func fails(t testing.TB, name string, err error) ai.Tool {
	t.Helper()
	return raw(t, name, func(context.Context, *ai.ToolCall) (*ai.ToolResult, error) { return nil, err })
}

// asks is a tool that asks until it is answered, and then gives its output.
func asks(t testing.TB, name string, data any, output string) ai.Tool {
	t.Helper()
	return raw(t, name, func(_ context.Context, call *ai.ToolCall) (*ai.ToolResult, error) {
		if !call.Resumed() {
			return nil, call.Interrupt(data)
		}
		return &ai.ToolResult{Output: json.RawMessage(output)}, nil
	})
}

// resolve resolves a message of these parts, which must be left as it is.
func resolve(t testing.TB, set *ai.ToolSet, opts *ai.ResolveOptions, parts ...ai.Part) (*ai.Resolution, error) {
	t.Helper()
	return resolveIn(t, t.Context(), set, opts, parts...)
}

func resolveIn(t testing.TB, ctx context.Context, set *ai.ToolSet, opts *ai.ResolveOptions, parts ...ai.Part) (*ai.Resolution, error) {
	t.Helper()
	m := modelSays(parts...)
	before := dump(m)
	res, err := ai.Resolve(ctx, set, m, opts)
	require.Equal(t, before, dump(m), "the message passed in was changed")
	return res, err
}

// dump is all that a message holds, which need not be valid JSON.
func dump(m *ai.Message) string {
	text := string(m.Role)
	for _, p := range m.Content {
		text += fmt.Sprintf("\n%p %+v", p, p)
	}
	return text
}

// finished is the resolution of a turn that went through.
func finished(t testing.TB, res *ai.Resolution, err error) *ai.Resolution {
	t.Helper()
	require.NoError(t, err)
	require.NotNil(t, res.Tool, "the turn is not finished")
	require.Empty(t, res.Interrupts())
	return res
}

// onlyCall is the failure of a turn in which one call failed.
func onlyCall(t testing.TB, err error) *ai.CallError {
	t.Helper()
	turn, _ := failed(t, err)
	require.Len(t, turn.Calls, 1)
	return turn.Calls[0]
}

// responseOf is the tool response with the ref.
func responseOf(t testing.TB, m *ai.Message, ref string) *ai.ToolResponsePart {
	t.Helper()
	require.NotNil(t, m, "there is no tool message")
	for _, p := range m.Content {
		if r, ok := p.(*ai.ToolResponsePart); ok && r.ToolResponse.Ref == ref {
			return r
		}
	}
	require.FailNow(t, "no tool response", "ref %q", ref)
	return nil
}

// stopOnAll is the policy that sends nothing to the model.
func stopOnAll(context.Context, *ai.CallError) bool { return false }

// ledgerBook is a journal that writes lines into a diary and fails on demand.
type ledgerBook struct {
	diary
	started func(ctx context.Context, call *ai.ToolCall) error
	settled func(ctx context.Context, call *ai.ToolCall, end *ai.Settlement) error

	mu   sync.Mutex
	ends []*ai.Settlement
}

func (b *ledgerBook) Said(context.Context, ai.Path, []*ai.Message, *ai.ModelResponse) error {
	return nil
}

func (b *ledgerBook) Started(ctx context.Context, call *ai.ToolCall, _ *ai.ToolRequestPart) error {
	b.add("started %s", call.Ref)
	if b.started != nil {
		return b.started(ctx, call)
	}
	return nil
}

func (b *ledgerBook) Settled(ctx context.Context, call *ai.ToolCall, end *ai.Settlement) error {
	b.add("settled %s: %s", call.Ref, endOf(end))
	b.mu.Lock()
	b.ends = append(b.ends, end)
	b.mu.Unlock()
	if b.settled != nil {
		return b.settled(ctx, call, end)
	}
	return nil
}

// endOf describes a settlement in few words.
func endOf(end *ai.Settlement) string {
	words := ""
	if end.Late {
		words = "late "
	}
	if end.Result != nil {
		words += "result " + string(end.Result.Output)
	}
	if end.Interrupt != nil {
		words += "interrupt " + string(end.Interrupt.Data)
	}
	if end.Err != nil {
		words += "error " + string(end.Err.Kind)
		if end.Err.InDoubt {
			words += ", in doubt"
		}
	}
	return words
}
