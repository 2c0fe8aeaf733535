package session_test

import (
	"context"
	"fmt"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/holdpoint/ai"
	"github.com/holdpoint/ai/aitest"
	"github.com/holdpoint/ai/session"
)

// meter is a store that counts what is appended.
type meter struct {
	session.MemoryStore
	mu             sync.Mutex
	appends, bytes int
}

func (m *meter) Append(ctx context.Context, id string, at session.Revision, b *session.Batch) (*session.Receipt, error) {
	m.mu.Lock()
	m.appends++
	for _, e := range b.Entries {
		m.bytes += len(e)
	}
	m.mu.Unlock()
	return m.MemoryStore.Append(ctx, id, at, b)
}

// take returns what was appended since the last time.
func (m *meter) take() (appends, bytes int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	appends, bytes, m.appends, m.bytes = m.appends, m.bytes, 0, 0
	return appends, bytes
}

// A pause and its resumption cost few appends: four with the model calls around
// them, three where the same turn pauses again.
func TestAppendsOfAPause(t *testing.T) {
	t.Parallel()
	store := &meter{}
	d := newDesk(t, func(m *session.Manager) {
		m.Store = store
		m.Options.Model = script(pays("a"), pays("b"), pays("c"), aitest.Text("done"))
	})
	store.take()
	result := d.decide(t, &session.Decision{Verdict: session.Approve})
	appends, _ := store.take()
	require.LessOrEqual(t, appends, 4)
	require.Len(t, result.Pending, 1)

	store = &meter{}
	d = newDesk(t, func(m *session.Manager) {
		m.Store = store
		m.Registry = &ai.Registry{}
		ai.DefineTool(m.Registry, "again", "Asks and asks.", func(_ context.Context, call *ai.ToolCall, _ struct{}) (string, error) {
			return "", call.Interrupt(nil)
		})
		m.Options.Turn.Middleware = nil
		m.Options.Model = script(aitest.ToolRequests(aitest.Request("again", "a", nil)))
	})
	store.take()
	result = d.decide(t, &session.Decision{Verdict: session.Approve})
	appends, _ = store.take()
	require.LessOrEqual(t, appends, 3)
	require.Len(t, result.Pending, 1)
}

// A turn writes what is new: turn 200 no more than turn 2.
func TestBytesOfATurn(t *testing.T) {
	t.Parallel()
	store := &meter{}
	const turns = 200
	w := &world{}
	m := &session.Manager{Store: store, Registry: &ai.Registry{}, Options: ai.GenerateOptions{
		Model: ai.ModelFunc(func(_ context.Context, req *ai.ModelRequest, _ func(*ai.Chunk) error) (*ai.ModelResponse, error) {
			reply := pays("bob")
			if req.Messages[len(req.Messages)-1].Role == ai.RoleTool {
				reply = aitest.Text("Paid as you wanted.")
			}
			return &ai.ModelResponse{Message: &ai.Message{Role: ai.RoleModel, Content: reply.Content}}, nil
		}),
	}}
	payTool(w, m.Registry, "pay", nil)
	var sizes []int
	for range turns {
		_, err := m.Generate(t.Context(), "s", &session.Input{Prompt: "Pay bob."})
		require.NoError(t, err)
		_, bytes := store.take()
		sizes = append(sizes, bytes)
	}
	require.LessOrEqual(t, sizes[turns-1]*2, sizes[1]*3)
}

// hosting makes an agent whose tool hosts a conversation, so many levels deep, at the
// bottom of which is a payment.
func hosting(w *world, r *ai.Registry, levels int) ai.Model {
	if levels == 0 {
		payTool(w, r, "pay", nil)
		return script(pays("bob"), aitest.Text("done"))
	}
	inner := &ai.Registry{}
	model := hosting(w, inner, levels-1)
	ai.DefineTool(r, "delegate", "Delegates.", func(ctx context.Context, call *ai.ToolCall, _ struct{}) (string, error) {
		opts := &ai.GenerateOptions{Model: model, Prompt: "go"}
		if levels == 1 {
			opts.Turn = gated(ai.ResolveOptions{})
		}
		_, err := call.Generate(ctx, "b", inner, opts)
		return "ok", err
	})
	return script(aitest.ToolRequests(aitest.Request("delegate", fmt.Sprint("l", levels), nil)), aitest.Text("done"))
}

// Conversations inside calls cost what their messages do: nothing is written once for
// each level.
func TestBytesOfNestedConversations(t *testing.T) {
	t.Parallel()
	var before int
	for levels := range 5 {
		store := &meter{}
		w := &world{}
		m := &session.Manager{Store: store, Registry: &ai.Registry{}}
		m.Options.Model = hosting(w, m.Registry, levels)
		if levels == 0 {
			m.Options.Turn = gated(ai.ResolveOptions{})
		}
		result, err := m.Generate(t.Context(), "s", &session.Input{Prompt: "go"})
		require.NoError(t, err)
		require.Len(t, result.Pending, 1)
		require.Len(t, result.Pending[0].Path, levels)
		result = finish(t, m, "s", approve)
		require.Len(t, w.paid, 1)
		require.Equal(t, "done", result.Response.Text())
		_, bytes := store.take()
		t.Logf("%d levels: %d bytes", levels, bytes)
		if levels > 1 {
			require.LessOrEqual(t, bytes-before, before, "a level adds no more than a level")
		}
		before = bytes
	}
}
