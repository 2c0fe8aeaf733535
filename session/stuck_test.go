package session_test

import (
	"context"
	"encoding/json"
	"errors"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"github.com/holdpoint/ai"
	"github.com/holdpoint/ai/aitest"
	"github.com/holdpoint/ai/session"
)

// A host that, once resumed, no longer comes to the conversation that was answered
// is run once for the answer, not for ever.
func TestHostThatLeavesItsConversation(t *testing.T) {
	t.Parallel()
	var entered atomic.Int32
	inner := &ai.Registry{}
	w := &world{}
	payTool(w, inner, "pay", nil)
	m := &session.Manager{Store: &session.MemoryStore{}, Registry: &ai.Registry{}, Options: ai.GenerateOptions{
		Model: script(aitest.ToolRequests(aitest.Request("host", "h", nil)), aitest.Text("done")),
	}}
	ai.DefineTool(m.Registry, "host", "Hosts, once.", func(ctx context.Context, call *ai.ToolCall, _ struct{}) (string, error) {
		if entered.Add(1) > 1 {
			return "", call.Interrupt("something else")
		}
		_, err := call.Generate(ctx, "b", inner, &ai.GenerateOptions{Model: script(pays("bob")), Prompt: "go", Turn: gated(ai.ResolveOptions{})})
		return "", err
	})
	result, err := m.Generate(t.Context(), "s", &session.Input{Prompt: "go"})
	require.NoError(t, err)
	require.NoError(t, m.Decide(t.Context(), "s", approve(result.Pending[0])))
	_, err = m.Run(t.Context(), "s")
	require.NoError(t, err)
	require.EqualValues(t, 2, entered.Load())
	require.Empty(t, w.paid)
}

// outage is a store that writes nothing while it is out.
type outage struct {
	session.MemoryStore
	out atomic.Bool
}

func (o *outage) Append(ctx context.Context, id string, at session.Revision, b *session.Batch) (*session.Receipt, error) {
	if o.out.Load() {
		return nil, errors.New("no space left")
	}
	return o.MemoryStore.Append(ctx, id, at, b)
}

// An outcome that could not be saved is handed out, and is a fact once it is saved.
func TestOutcomeThatCouldNotBeSaved(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		store := &outage{}
		w := &world{}
		m := &session.Manager{Store: store, Registry: &ai.Registry{}, Options: ai.GenerateOptions{Model: script(pays("bob"), aitest.Text("done"))}}
		ai.DefineTool(m.Registry, "pay", "Pays.", func(_ context.Context, call *ai.ToolCall, in payment) (string, error) {
			store.out.Store(true)
			w.act(call.Key(), in)
			return "paid", nil
		})
		_, err := m.Generate(t.Context(), "s", &session.Input{Prompt: "go"})
		var lost *session.StoreError
		require.ErrorAs(t, err, &lost)
		require.Equal(t, "s", lost.Session)
		require.Len(t, lost.Entries, 1)
		store.out.Store(false)
		require.NoError(t, m.Save(t.Context(), lost))
		require.NoError(t, m.Save(t.Context(), lost), "twice does no harm")
		result, err := m.Run(t.Context(), "s")
		require.NoError(t, err)
		require.Equal(t, "done", result.Response.Text())
		require.Len(t, w.paid, 1)
	})
}

func TestSealOfASession(t *testing.T) {
	t.Parallel()
	m := &session.Manager{Store: &session.MemoryStore{}, Options: ai.GenerateOptions{Turn: ai.ResolveOptions{Seal: &ai.Seal{}}}}
	_, err := m.Generate(t.Context(), "s", &session.Input{Prompt: "go"})
	require.ErrorContains(t, err, "seal")
}

// A log of a newer release is read, and nothing is written to it.
func TestNewerFormat(t *testing.T) {
	t.Parallel()
	d := newDesk(t, nil)
	log, err := d.Store.Read(t.Context(), "s", session.Revision{})
	require.NoError(t, err)
	newer := &session.Batch{ID: "newer", Entries: []json.RawMessage{json.RawMessage(`{"v":99,"kind":"voted"}`)}}
	_, err = d.Store.Append(t.Context(), "s", log.Revision, newer)
	require.NoError(t, err)
	result, err := d.Load(t.Context(), "s")
	require.NoError(t, err)
	require.Len(t, result.Pending, 1)
	require.ErrorIs(t, d.Decide(t.Context(), "s", approve(d.pending)), session.ErrNewerFormat)
	_, err = d.Run(t.Context(), "s")
	require.ErrorIs(t, err, session.ErrNewerFormat)
	require.Empty(t, d.w.paid)
}
