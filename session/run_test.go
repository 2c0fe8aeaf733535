package session_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/holdpoint/ai"
	"github.com/holdpoint/ai/aitest"
	"github.com/holdpoint/ai/session"
)

func TestStreamEndsWithTheResult(t *testing.T) {
	t.Parallel()
	m := &session.Manager{Store: &session.MemoryStore{}, Options: ai.GenerateOptions{Model: aitest.NewModel(t, aitest.Text("one two"))}}
	var text string
	var result *session.Result
	for piece, err := range m.Stream(t.Context(), "s", &session.Input{Prompt: "count"}) {
		require.NoError(t, err)
		require.Nil(t, result, "the result is last")
		if result = piece.Result; result != nil {
			continue
		}
		for _, p := range piece.Chunk.Content {
			text += p.(*ai.TextPart).Text
		}
	}
	require.Equal(t, "one two", text)
	require.Equal(t, "one two", result.Response.Text())
}

// Whoever leaves a stream leaves a session that goes on.
func TestStreamThatIsLeft(t *testing.T) {
	t.Parallel()
	m := &session.Manager{Store: &session.MemoryStore{}, Options: ai.GenerateOptions{Model: script(aitest.Text("one two"))}}
	m.Options.Model = aitest.NewModel(t, aitest.Text("one two"), aitest.Text("one two"))
	for _, err := range m.Stream(t.Context(), "s", &session.Input{Prompt: "count"}) {
		require.NoError(t, err)
		break
	}
	result, err := m.Run(t.Context(), "s")
	require.NoError(t, err)
	require.Equal(t, "one two", result.Response.Text())
}

// A model that fails leaves the input in the log: the next run calls it again.
func TestModelThatFails(t *testing.T) {
	t.Parallel()
	broken := errors.New("overloaded")
	m := &session.Manager{Store: &session.MemoryStore{}, Options: ai.GenerateOptions{
		Model: aitest.NewModel(t, aitest.Fail(broken), aitest.Text("hello")),
	}}
	_, err := m.Generate(t.Context(), "s", &session.Input{Prompt: "hi"})
	require.ErrorIs(t, err, broken)
	ran := 0
	for id, err := range m.Recover(t.Context()) {
		require.NoError(t, err)
		require.Equal(t, "s", id)
		ran++
	}
	require.Equal(t, 1, ran)
	result, err := m.Load(t.Context(), "s")
	require.NoError(t, err)
	require.Equal(t, "hello", result.Response.Text())
	require.Len(t, result.Response.Messages, 2, "the input stands there once")
}

// failing makes an agent with a tool that fails in this way, the first time.
func failing(t *testing.T, def ai.ToolDefinition, fail error) (*session.Manager, *atomic.Int32, *[]string) {
	t.Helper()
	var calls atomic.Int32
	var keys []string
	def.Name = "act"
	tool, err := ai.NewTool(&def, func(_ context.Context, call *ai.ToolCall, _ struct{}) (string, error) {
		keys = append(keys, fmt.Sprint(call.Key(), " ", call.Attempt()))
		if calls.Add(1) == 1 {
			return "", fail
		}
		return "acted", nil
	})
	require.NoError(t, err)
	m := &session.Manager{Store: &session.MemoryStore{}, Registry: &ai.Registry{}, Options: ai.GenerateOptions{
		Model: script(aitest.ToolRequests(aitest.Request("act", "a", nil)), aitest.Text("done")),
	}}
	require.NoError(t, m.Registry.Register(tool))
	return m, &calls, &keys
}

// A call that failed and may have acted runs again only when a person says so.
func TestCallThatFailed(t *testing.T) {
	t.Parallel()
	broken := errors.New("no route")
	m, calls, _ := failing(t, ai.ToolDefinition{}, broken)
	_, err := m.Generate(t.Context(), "s", &session.Input{Prompt: "go"})
	require.ErrorIs(t, err, broken)
	result, err := m.Run(t.Context(), "s")
	require.NoError(t, err)
	require.EqualValues(t, 1, calls.Load(), "nobody has said so")
	require.Len(t, result.Pending, 1)
	require.Equal(t, session.ReasonFailed, result.Pending[0].Reason)
	require.NoError(t, m.Decide(t.Context(), "s", approve(result.Pending[0])))
	result, err = m.Run(t.Context(), "s")
	require.NoError(t, err)
	require.Equal(t, "done", result.Response.Text())
	require.EqualValues(t, 2, calls.Load())
}

// One that has provably not acted, or may run twice by declaration, needs nobody.
func TestCallThatMayRunAgain(t *testing.T) {
	t.Parallel()
	broken := errors.New("no route")
	for name, tt := range map[string]struct {
		def  ai.ToolDefinition
		fail error
	}{
		"not done":   {ai.ToolDefinition{}, fmt.Errorf("%w: %w", broken, ai.ErrNotDone)},
		"read only":  {ai.ToolDefinition{ReadOnly: true}, broken},
		"idempotent": {ai.ToolDefinition{Idempotent: true}, broken},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m, calls, keys := failing(t, tt.def, tt.fail)
			_, err := m.Generate(t.Context(), "s", &session.Input{Prompt: "go"})
			require.ErrorIs(t, err, broken)
			result, err := m.Run(t.Context(), "s")
			require.NoError(t, err)
			require.Equal(t, "done", result.Response.Text())
			require.EqualValues(t, 2, calls.Load())
			var first, second string
			var one, two int
			_, err = fmt.Sscan((*keys)[0], &first, &one)
			require.NoError(t, err)
			_, err = fmt.Sscan((*keys)[1], &second, &two)
			require.NoError(t, err)
			require.Equal(t, first, second, "the key is the call's")
			require.Equal(t, []int{1, 2}, []int{one, two})
		})
	}
}

// A call that was given up is in doubt. What it brings later is taken as a fact, and
// the question is over.
func TestLateOutcome(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		m := &session.Manager{Store: &session.MemoryStore{}, Registry: &ai.Registry{}, Options: ai.GenerateOptions{
			Model: script(aitest.ToolRequests(aitest.Request("slow", "a", nil)), aitest.Text("done")),
			Turn:  ai.ResolveOptions{Timeout: time.Minute},
		}}
		ai.DefineTool(m.Registry, "slow", "Does not look at its context.", func(context.Context, *ai.ToolCall, struct{}) (string, error) {
			time.Sleep(time.Hour)
			return "acted", nil
		})
		_, err := m.Generate(t.Context(), "s", &session.Input{Prompt: "go"})
		require.ErrorIs(t, err, context.DeadlineExceeded)
		result, err := m.Load(t.Context(), "s")
		require.NoError(t, err)
		require.Len(t, result.Pending, 1)
		require.Equal(t, session.ReasonInDoubt, result.Pending[0].Reason)
		edited := &session.Decision{Pending: result.Pending[0].ID, Verdict: session.Respond, Output: json.RawMessage(`"as told"`)}
		time.Sleep(2 * time.Hour)
		require.ErrorIs(t, m.Decide(t.Context(), "s", edited), session.ErrConflict, "it has ended by itself")
		result, err = m.Run(t.Context(), "s")
		require.NoError(t, err)
		require.Equal(t, "done", result.Response.Text())
		require.Equal(t, "acted", told(t, result).Text)
	})
}

// Of a call in doubt that nobody wants again, the model is told that nobody knows.
func TestDoubtThatIsLeft(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		m := &session.Manager{Store: &session.MemoryStore{}, Registry: &ai.Registry{}, Options: ai.GenerateOptions{
			Model: script(aitest.ToolRequests(aitest.Request("hang", "a", nil)), aitest.Text("done")),
			Turn:  ai.ResolveOptions{Timeout: time.Minute},
		}}
		release := make(chan struct{})
		defer close(release)
		ai.DefineTool(m.Registry, "hang", "Hangs.", func(context.Context, *ai.ToolCall, struct{}) (string, error) {
			<-release
			return "", errors.New("gone")
		})
		_, err := m.Generate(t.Context(), "s", &session.Input{Prompt: "go"})
		require.Error(t, err)
		result, err := m.Load(t.Context(), "s")
		require.NoError(t, err)
		p := result.Pending[0]
		edit := &session.Decision{Pending: p.ID, Verdict: session.Edit, Input: json.RawMessage(`{}`)}
		require.NoError(t, m.Decide(t.Context(), "s", edit), "an edit is no answer to a doubt: it is a no")
		result, err = m.Run(t.Context(), "s")
		require.NoError(t, err)
		require.Contains(t, told(t, result).Text, "It may have happened")
		require.True(t, told(t, result).IsError)
	})
}

// Answers may come one by one. The model is not called before all are there.
func TestPartialAnswers(t *testing.T) {
	t.Parallel()
	d := newDeskOf(t, "a", "b", "c")
	for i, p := range d.open {
		require.NoError(t, d.Decide(t.Context(), "s", approve(p)))
		result, err := d.Run(t.Context(), "s")
		require.NoError(t, err)
		require.Len(t, result.Pending, 2-i)
		require.Len(t, d.w.paid, i+1)
		require.Equal(t, i == 2, result.Response.Text() == "done")
	}
}

// deskOf is a session that has stopped at several payments.
type deskOf struct {
	*session.Manager
	w    *world
	open []*session.Pending
}

func newDeskOf(t *testing.T, names ...string) *deskOf {
	t.Helper()
	d := &deskOf{w: &world{}, Manager: &session.Manager{Store: &session.MemoryStore{}, Registry: &ai.Registry{}, Options: ai.GenerateOptions{
		Model: script(pays(names...), aitest.Text("done")), Turn: gated(ai.ResolveOptions{}),
	}}}
	payTool(d.w, d.Registry, "pay", nil)
	result, err := d.Generate(t.Context(), "s", &session.Input{Prompt: "go"})
	require.NoError(t, err)
	require.Len(t, result.Pending, len(names))
	d.open = result.Pending
	return d
}

// A session that is being run is busy; a decision can be made all the same, and is
// carried out before the session is let go.
func TestDecisionWhileItRuns(t *testing.T) {
	t.Parallel()
	d := newDeskOf(t, "a", "b")
	entered, release := make(chan struct{}), make(chan struct{})
	d.Registry = &ai.Registry{}
	ai.DefineTool(d.Registry, "pay", "Pays.", func(_ context.Context, call *ai.ToolCall, in payment) (string, error) {
		if in.To == "a" {
			close(entered)
			<-release
		}
		d.w.act(call.Key(), in)
		return "paid", nil
	})
	// The definition is the same but for its description, which no decision rests on.
	require.NoError(t, d.Decide(t.Context(), "s", approve(d.open[0])))
	done := make(chan *session.Result)
	go func() {
		result, err := d.Run(t.Context(), "s")
		if err != nil {
			t.Error(err)
		}
		done <- result
	}()
	<-entered
	_, err := d.Run(t.Context(), "s")
	require.ErrorIs(t, err, session.ErrBusy)
	require.ErrorIs(t, d.Delete(t.Context(), "s"), session.ErrBusy)
	require.NoError(t, d.Decide(t.Context(), "s", approve(d.open[1])))
	close(release)
	result := <-done
	require.Empty(t, result.Pending)
	require.Equal(t, "done", result.Response.Text())
	require.Len(t, d.w.paid, 2)
}

func TestDelete(t *testing.T) {
	t.Parallel()
	d := newDeskOf(t, "a")
	require.NoError(t, d.Delete(t.Context(), "s"))
	_, err := d.Run(t.Context(), "s")
	require.ErrorIs(t, err, session.ErrNotFound)
	require.ErrorIs(t, d.Decide(t.Context(), "s", approve(d.open[0])), session.ErrNotFound)
	_, err = d.Generate(t.Context(), "s", &session.Input{Prompt: "go"})
	require.NoError(t, err)
	err = d.Decide(t.Context(), "s", approve(d.open[0]))
	require.ErrorIs(t, err, session.ErrNotFound, "a session of the same id is another one")
}

func TestManagerThatIsSetUpWrong(t *testing.T) {
	t.Parallel()
	store := &session.MemoryStore{}
	for name, m := range map[string]*session.Manager{
		"no store":     {},
		"messages":     {Store: store, Options: ai.GenerateOptions{Messages: []*ai.Message{ai.TextMessage(ai.RoleUser, "hi")}}},
		"partial":      {Store: store, Options: ai.GenerateOptions{Turn: ai.ResolveOptions{Partial: true}}},
		"only a store": {Store: struct{ session.Store }{store}},
	} {
		_, err := m.Generate(t.Context(), "s", &session.Input{Prompt: "hi"})
		require.ErrorContains(t, err, "session: ", name)
	}
	m := &session.Manager{Store: store, Options: ai.GenerateOptions{Model: script(aitest.Text("x"))}}
	for _, id := range []string{"", "holdpoint:grants"} {
		_, err := m.Generate(t.Context(), id, &session.Input{Prompt: "hi"})
		require.ErrorIs(t, err, ai.ErrInvalidArgument)
	}
	for _, in := range []*session.Input{{}, {Messages: []*ai.Message{nil}}, {Messages: []*ai.Message{{Role: ai.RoleModel, Content: pays("a").Content}}}} {
		_, err := m.Generate(t.Context(), "s", in)
		require.ErrorIs(t, err, ai.ErrInvalidArgument)
	}
	_, err := m.Run(t.Context(), "none")
	require.ErrorIs(t, err, session.ErrNotFound)
}
