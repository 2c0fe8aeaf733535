package session_test

import (
	"context"
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/holdpoint/ai"
	"github.com/holdpoint/ai/aitest"
	"github.com/holdpoint/ai/session"
)

type payment struct {
	To     string `json:"to"`
	Amount int    `json:"amount"`
}

// bank is a registry with a tool that asks and then pays, and counts.
type bank struct {
	registry ai.Registry
	paid     []payment
	keys     []string
}

func newBank() *bank {
	b := &bank{}
	ai.DefineTool(&b.registry, "pay", "Pays.", func(_ context.Context, call *ai.ToolCall, in payment) (string, error) {
		b.paid = append(b.paid, in)
		b.keys = append(b.keys, call.Key())
		return "paid", nil
	})
	return b
}

// gate asks about every call.
func gate() *ai.Middleware {
	return &ai.Middleware{Name: "gate", Wrap: func(ctx context.Context, call *ai.ToolCall, next ai.Next) (*ai.ToolResult, error) {
		if !call.Resumed() {
			return nil, call.Interrupt(map[string]any{"about": call.Name})
		}
		return next(ctx)
	}}
}

func TestApprove(t *testing.T) {
	t.Parallel()
	b := newBank()
	model := aitest.NewModel(t,
		aitest.ToolRequests(aitest.Request("pay", "call_0", payment{"bob", 20})),
		aitest.Text("Done."),
	)
	store := &session.MemoryStore{}
	m := &session.Manager{Store: store, Registry: &b.registry, Options: ai.GenerateOptions{
		Model: model, System: "Be brief.", Turn: ai.ResolveOptions{Middleware: []*ai.Middleware{gate()}},
	}}
	ctx := t.Context()
	result, err := m.Generate(ctx, "s1", &session.Input{Prompt: "Pay bob 20."})
	require.NoError(t, err)
	require.Len(t, result.Pending, 1)
	require.Empty(t, b.paid)
	p := result.Pending[0]
	require.Equal(t, "pay", p.Tool)
	require.JSONEq(t, `{"to":"bob","amount":20}`, string(p.Effective))

	_, err = m.Generate(ctx, "s1", &session.Input{Prompt: "Hello?"})
	require.ErrorIs(t, err, session.ErrPaused)

	d := &session.Decision{ID: "click", Pending: p.ID, Verdict: session.Approve, By: "ann", Digest: p.Digest}
	require.NoError(t, m.Decide(ctx, "s1", d))
	require.NoError(t, m.Decide(ctx, "s1", d))
	err = m.Decide(ctx, "s1", &session.Decision{Pending: p.ID, Verdict: session.Deny, By: "eve"})
	var conflict *session.ConflictError
	require.ErrorAs(t, err, &conflict)
	require.Equal(t, "ann", conflict.Won.By)

	result, err = m.Run(ctx, "s1")
	require.NoError(t, err)
	require.Empty(t, result.Pending)
	require.Equal(t, "Done.", result.Response.Text())
	require.Equal(t, []payment{{"bob", 20}}, b.paid)
	aitest.CheckHistory(t, result.Response.Messages)

	again, err := m.Load(ctx, "s1")
	require.NoError(t, err)
	want, _ := json.Marshal(result.Response)
	got, _ := json.Marshal(again.Response)
	require.JSONEq(t, string(want), string(got))
	for r, err := range m.Audit(ctx, "s1") {
		require.NoError(t, err)
		line, _ := json.Marshal(r)
		t.Log(string(line))
	}
}
