package session_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/holdpoint/ai"
	"github.com/holdpoint/ai/aitest"
	"github.com/holdpoint/ai/session"
)

// desk is a session that has stopped at one gated payment.
type desk struct {
	*session.Manager
	w       *world
	pending *session.Pending
}

func newDesk(t *testing.T, change func(m *session.Manager)) *desk {
	t.Helper()
	d := &desk{w: &world{}}
	d.Manager = &session.Manager{Store: &session.MemoryStore{}, Registry: &ai.Registry{}, Options: ai.GenerateOptions{
		Model: script(pays("bob"), aitest.Text("done")), Turn: gated(ai.ResolveOptions{}),
	}}
	payTool(d.w, d.Registry, "pay", nil)
	if change != nil {
		change(d.Manager)
	}
	result, err := d.Generate(t.Context(), "s", &session.Input{Prompt: "go"})
	require.NoError(t, err)
	require.Len(t, result.Pending, 1)
	d.pending = result.Pending[0]
	return d
}

// decide keeps a decision and carries it out.
func (d *desk) decide(t *testing.T, decision *session.Decision) *session.Result {
	t.Helper()
	decision.Pending = d.pending.ID
	require.NoError(t, d.Decide(t.Context(), "s", decision))
	result, err := d.Run(t.Context(), "s")
	require.NoError(t, err)
	return result
}

// told is what the model is told of the first call.
func told(t *testing.T, r *session.Result) *ai.ToolOutput {
	t.Helper()
	for _, m := range r.Response.Messages {
		if m.Role == ai.RoleTool {
			return m.Content[0].(*ai.ToolResponsePart).ForModel()
		}
	}
	t.Fatal("there is no tool message")
	return nil
}

func TestVerdicts(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		decision session.Decision
		paid     []payment
		told     string
		isError  bool
	}{
		"approve": {session.Decision{Verdict: session.Approve}, []payment{{"bob", 1}}, "paid bob", false},
		"edit": {
			session.Decision{Verdict: session.Edit, Input: json.RawMessage(`{"to":"eve","amount":7}`)}, []payment{{"eve", 7}},
			"Note: the arguments were changed before the call ran; it ran with {\"to\":\"eve\",\"amount\":7}.\npaid eve", false,
		},
		"deny":     {session.Decision{Verdict: session.Deny, Reason: "too much"}, nil, "Denied: too much", true},
		"respond":  {session.Decision{Verdict: session.Respond, Output: json.RawMessage(`"by hand"`)}, nil, "Denied.", true},
		"nonsense": {session.Decision{Verdict: "aprove"}, nil, "Denied.", true},
		"nothing":  {session.Decision{}, nil, "Denied.", true},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := newDesk(t, nil)
			result := d.decide(t, &tt.decision)
			require.Equal(t, "done", result.Response.Text())
			require.Equal(t, tt.paid, d.w.paid)
			out := told(t, result)
			require.Equal(t, tt.told, out.Text)
			require.Equal(t, tt.isError, out.IsError)
			aitest.CheckHistory(t, result.Response.Messages)
		})
	}
}

// askingDesk has stopped at a tool that asks itself.
func askingDesk(t *testing.T, def *ai.ToolDefinition) *desk {
	t.Helper()
	return newDesk(t, func(m *session.Manager) {
		m.Registry, m.Options.Turn = &ai.Registry{}, ai.ResolveOptions{}
		def.Name = "pay"
		tool, err := ai.NewTool(def, func(_ context.Context, call *ai.ToolCall, in payment) (string, error) {
			if !call.Resumed() {
				return "", call.Interrupt("sure?")
			}
			return "paid by the tool", nil
		})
		require.NoError(t, err)
		require.NoError(t, m.Registry.Register(tool))
	})
}

// A tool's own question takes a result, which has to fit.
func TestRespond(t *testing.T) {
	t.Parallel()
	for _, def := range []*ai.ToolDefinition{{}, {NotRestartable: true}} {
		d := askingDesk(t, def)
		wrong := &session.Decision{Pending: d.pending.ID, Verdict: session.Respond, Output: json.RawMessage(`5`)}
		require.ErrorIs(t, d.Decide(t.Context(), "s", wrong), ai.ErrInvalidArgument)
		result := d.decide(t, &session.Decision{Verdict: session.Respond, Output: json.RawMessage(`"by hand"`)})
		require.Equal(t, "by hand", told(t, result).Text)
	}
}

func TestResponseOnly(t *testing.T) {
	t.Parallel()
	d := askingDesk(t, &ai.ToolDefinition{NotRestartable: true})
	err := d.Decide(t.Context(), "s", &session.Decision{Pending: d.pending.ID, Verdict: session.Approve})
	require.ErrorIs(t, err, ai.ErrInvalidArgument)
	require.ErrorContains(t, err, "takes a response only")
}

// What does not fit is an error to whoever decides, and decides nothing.
func TestDecisionThatDoesNotFit(t *testing.T) {
	t.Parallel()
	refused := errors.New("not yours to decide")
	tests := map[string]struct {
		decision session.Decision
		want     error
		text     string
	}{
		"edited input": {session.Decision{Verdict: session.Edit, Input: json.RawMessage(`{"to":"eve"}`)}, ai.ErrInvalidArgument, "amount"},
		"no input":     {session.Decision{Verdict: session.Edit}, ai.ErrInvalidArgument, "must be a JSON object"},
		"data":         {session.Decision{Verdict: session.Approve, Data: json.RawMessage(`5`)}, ai.ErrInvalidArgument, "JSON object"},
		"not allowed":  {session.Decision{Verdict: session.Approve, By: "eve"}, refused, "not yours"},
		"old digest":   {session.Decision{Verdict: session.Approve, Digest: "other"}, session.ErrConflict, "changed"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := newDesk(t, func(m *session.Manager) {
				m.CanDecide = func(_ context.Context, _ *session.Pending, d *session.Decision) error {
					if d.By == "eve" {
						return refused
					}
					return nil
				}
			})
			tt.decision.Pending = d.pending.ID
			err := d.Decide(t.Context(), "s", &tt.decision)
			require.ErrorIs(t, err, tt.want)
			require.ErrorContains(t, err, tt.text)
			now, err := d.Load(t.Context(), "s")
			require.NoError(t, err)
			require.Len(t, now.Pending, 1)
			require.Equal(t, d.pending.ID, now.Pending[0].ID)
		})
	}
}

func TestDecideUnknown(t *testing.T) {
	t.Parallel()
	d := newDesk(t, nil)
	require.ErrorIs(t, d.Decide(t.Context(), "s", &session.Decision{Pending: "no"}), session.ErrNotFound)
	require.ErrorIs(t, d.Decide(t.Context(), "other", &session.Decision{Pending: d.pending.ID}), session.ErrNotFound)
	require.ErrorIs(t, d.Decide(t.Context(), "s", nil), ai.ErrInvalidArgument)
	twice := &session.Decision{Pending: d.pending.ID, Verdict: session.Approve}
	require.ErrorIs(t, d.Decide(t.Context(), "s", twice, twice), ai.ErrInvalidArgument)
}

// Of many who answer at once, and then run, one wins, and the call runs once.
func TestManySubmissions(t *testing.T) {
	t.Parallel()
	d := newDesk(t, nil)
	var won atomic.Int32
	var all sync.WaitGroup
	for i := range 100 {
		all.Go(func() {
			err := d.Decide(t.Context(), "s", &session.Decision{Pending: d.pending.ID, Verdict: session.Approve, By: fmt.Sprint(i)})
			if err == nil {
				won.Add(1)
			} else if !errors.Is(err, session.ErrConflict) {
				t.Errorf("unexpected: %v", err)
			}
			if _, err := d.Run(t.Context(), "s"); err != nil && !errors.Is(err, session.ErrBusy) {
				t.Errorf("unexpected: %v", err)
			}
		})
	}
	all.Wait()
	require.EqualValues(t, 1, won.Load())
	finish(t, d.Manager, "s", approve)
	require.Equal(t, []payment{{"bob", 1}}, d.w.paid)
}

// A yes answers one asking: not the same tool's next call, though its ref is the same.
func TestYesIsForOneAsking(t *testing.T) {
	t.Parallel()
	d := newDesk(t, func(m *session.Manager) { m.Options.Model = script(pays("a"), pays("a"), aitest.Text("done")) })
	old := d.pending.ID
	result := d.decide(t, &session.Decision{ID: "one", Verdict: session.Approve})
	require.Len(t, result.Pending, 1)
	require.NotEqual(t, old, result.Pending[0].ID)
	err := d.Decide(t.Context(), "s", &session.Decision{ID: "two", Pending: old, Verdict: session.Approve})
	require.ErrorIs(t, err, session.ErrConflict)
	require.Len(t, d.w.paid, 1)
	d.pending = result.Pending[0]
	d.decide(t, &session.Decision{Verdict: session.Approve})
	require.Len(t, d.w.paid, 2)
	require.Len(t, d.w.starts, 2, "the keys differ")
}

func TestExpiry(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		deadlines := func(m *session.Manager) {
			m.Deadlines = func(*session.Pending) (time.Time, time.Time) {
				return time.Now().Add(time.Hour), time.Now().Add(2 * time.Hour)
			}
		}
		late := newDesk(t, deadlines)
		time.Sleep(61 * time.Minute)
		err := late.Decide(t.Context(), "s", &session.Decision{Pending: late.pending.ID, Verdict: session.Approve})
		require.ErrorIs(t, err, session.ErrTooLate)
		for id, err := range late.ExpireDue(t.Context()) {
			require.NoError(t, err)
			require.Equal(t, "s", id)
		}
		result, err := late.Load(t.Context(), "s")
		require.NoError(t, err)
		require.Equal(t, "done", result.Response.Text())
		require.Equal(t, "Nobody answered in time. The call did not run.", told(t, result).Text)
		require.Empty(t, late.w.paid)

		never := newDesk(t, deadlines)
		require.NoError(t, never.Decide(t.Context(), "s", &session.Decision{Pending: never.pending.ID, Verdict: session.Approve}))
		time.Sleep(3 * time.Hour)
		result, err = never.Run(t.Context(), "s")
		require.NoError(t, err)
		require.Equal(t, "It was approved, but too late to start it. The call did not run.", told(t, result).Text)
		require.Empty(t, never.w.paid)
	})
}

func TestSupersede(t *testing.T) {
	t.Parallel()
	d := newDesk(t, nil)
	_, err := d.Generate(t.Context(), "s", &session.Input{Prompt: "stop"})
	require.ErrorIs(t, err, session.ErrPaused)
	result, err := d.Generate(t.Context(), "s", &session.Input{Prompt: "stop", Supersede: true})
	require.NoError(t, err)
	require.Equal(t, "done", result.Response.Text())
	require.Equal(t, "The user went on without an answer. The call did not run.", told(t, result).Text)
	require.Empty(t, d.w.paid)
	err = d.Decide(t.Context(), "s", &session.Decision{Pending: d.pending.ID, Verdict: session.Approve})
	require.ErrorIs(t, err, session.ErrConflict)
}

// A tool that is gone can't run, and is named; denying needs no tool.
func TestToolThatIsGone(t *testing.T) {
	t.Parallel()
	d := newDesk(t, nil)
	d.Registry = &ai.Registry{}
	err := d.Decide(t.Context(), "s", &session.Decision{Pending: d.pending.ID, Verdict: session.Approve})
	require.ErrorIs(t, err, ai.ErrNotFound)
	require.ErrorContains(t, err, "pay")
	result := d.decide(t, &session.Decision{Verdict: session.Deny})
	require.Equal(t, "Denied.", told(t, result).Text)
}

// A yes is for the tool as it was. Where its definition has changed since, somebody
// is asked again before it runs.
func TestDefinitionThatHasChanged(t *testing.T) {
	t.Parallel()
	d := newDesk(t, nil)
	require.NoError(t, d.Decide(t.Context(), "s", approve(d.pending)))
	d.Registry = &ai.Registry{}
	payTool(d.w, d.Registry, "pay", func(def *ai.ToolDefinition) { def.Destructive = true })
	result, err := d.Run(t.Context(), "s")
	require.NoError(t, err)
	require.Empty(t, d.w.paid)
	require.Len(t, result.Pending, 1)
	require.Equal(t, "journal", result.Pending[0].By)
	require.NotEqual(t, d.pending.ID, result.Pending[0].ID)
	require.NotEqual(t, d.pending.Digest, result.Pending[0].Digest)
	d.pending = result.Pending[0]
	result = d.decide(t, &session.Decision{Verdict: session.Approve})
	require.Equal(t, "done", result.Response.Text())
	require.Equal(t, []payment{{"bob", 1}}, d.w.paid)
}
