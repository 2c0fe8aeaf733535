package ai_test

import (
	"context"
	"encoding/json"
	"errors"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/holdpoint/ai"
)

// counted is a tool that notes each run and fails the first time.
func counted(t *testing.T, def ai.ToolDefinition, d *diary) ai.Tool {
	t.Helper()
	def.Name = "tool"
	runs := 0
	return newRaw(t, &def, func(context.Context, *ai.ToolCall) (*ai.ToolResult, error) {
		runs++
		d.add("run %d", runs)
		if runs == 1 {
			return nil, errBroken
		}
		return &ai.ToolResult{Output: json.RawMessage(`"done"`)}, nil
	})
}

// retrying is middleware that tries a second time.
func retrying(ctx context.Context, _ *ai.ToolCall, next ai.Next) (*ai.ToolResult, error) {
	if res, err := next(ctx); err == nil {
		return res, nil
	}
	return next(ctx)
}

// next works once per attempt: running a call twice is not for middleware to
// decide, unless the tool declares that it does no harm.
func TestNextTwice(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		def  ai.ToolDefinition
		runs []string
	}{
		"plain":      {ai.ToolDefinition{}, []string{"run 1"}},
		"read only":  {ai.ToolDefinition{ReadOnly: true}, []string{"run 1"}},
		"idempotent": {ai.ToolDefinition{Idempotent: true}, []string{"run 1", "run 2"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var d diary
			opts := &ai.ResolveOptions{Middleware: []*ai.Middleware{{Name: "outer", Wrap: retrying}, {Name: "m"}}}
			res, err := resolve(t, newSet(t, counted(t, test.def, &d)), opts, wish("tool", "a", ""))
			require.Equal(t, test.runs, d.take())
			if test.def.Idempotent {
				finished(t, res, err)
				return
			}
			require.ErrorIs(t, err, ai.ErrFailedPrecondition)
			require.ErrorContains(t, err, `middleware "outer" called next twice for tool request tool#a, whose tool is not idempotent`)
			require.Equal(t, !test.def.ReadOnly, onlyCall(t, err).MayHaveActed)
		})
	}
}

// Every attempt of an idempotent call has the same key, and of each the journal
// is told.
func TestAttemptsOfAnIdempotentCall(t *testing.T) {
	t.Parallel()
	var d diary
	var book ledgerBook
	book.started = func(_ context.Context, call *ai.ToolCall) error {
		d.add("%s", call.Key())
		return nil
	}
	var runs diary
	set := newSet(t, counted(t, ai.ToolDefinition{Idempotent: true}, &runs))
	opts := &ai.ResolveOptions{Journal: &book, Middleware: []*ai.Middleware{{Name: "again", Wrap: retrying}}}
	res, err := resolve(t, set, opts, wish("tool", "a", ""))
	finished(t, res, err)
	keys := d.take()
	require.Len(t, keys, 2)
	require.Equal(t, keys[0], keys[1])
	require.NotEmpty(t, keys[0])
	require.Equal(t, []string{"started a", "started a", `settled a: result "done"`}, book.take())
}

// Nor does next start anything once its call is over.
func TestNextAfterTheCall(t *testing.T) {
	t.Parallel()
	for _, def := range []ai.ToolDefinition{{}, {Idempotent: true}} {
		var d diary
		var book ledgerBook
		var late ai.Next
		keep := &ai.Middleware{Name: "keep", Wrap: func(_ context.Context, _ *ai.ToolCall, next ai.Next) (*ai.ToolResult, error) {
			late = next
			return &ai.ToolResult{}, nil
		}}
		set := newSet(t, counted(t, def, &d))
		res, err := resolve(t, set, &ai.ResolveOptions{Journal: &book, Middleware: []*ai.Middleware{keep}}, wish("tool", "a", ""))
		finished(t, res, err)
		_, err = late(t.Context())
		require.ErrorIs(t, err, ai.ErrAborted)
		require.ErrorContains(t, err, "tool#a is over")
		require.Empty(t, d.take())
		require.Equal(t, []string{"settled a: result "}, book.take())
	}
}

// next may be called from a goroutine of the middleware's own, whose panics are
// errors there too.
func TestNextOnAnotherGoroutine(t *testing.T) {
	t.Parallel()
	aside := &ai.Middleware{Name: "aside", Wrap: func(ctx context.Context, _ *ai.ToolCall, next ai.Next) (res *ai.ToolResult, err error) {
		var wg sync.WaitGroup
		wg.Go(func() { res, err = next(ctx) })
		wg.Wait()
		return res, err
	}}
	_, err := resolve(t, newSet(t, raw(t, "tool", panicAttack)), &ai.ResolveOptions{Middleware: []*ai.Middleware{aside}}, wish("tool", "a", ""))
	call := onlyCall(t, err)
	require.Equal(t, ai.FailedPanic, call.Kind)
	require.True(t, call.InDoubt)
}

// The context given to next is the tool's, values included. What it cuts short
// is in doubt, though the turn's own context lives.
func TestNextWithAContextOfItsOwn(t *testing.T) {
	t.Parallel()
	type key struct{}
	short := &ai.Middleware{Name: "short", Wrap: func(ctx context.Context, _ *ai.ToolCall, next ai.Next) (*ai.ToolResult, error) {
		ctx, cancel := context.WithCancel(ctx)
		defer cancel()
		return next(context.WithValue(ctx, key{}, cancel))
	}}
	set := newSet(t, raw(t, "tool", func(ctx context.Context, _ *ai.ToolCall) (*ai.ToolResult, error) {
		ctx.Value(key{}).(context.CancelFunc)()
		<-ctx.Done()
		return nil, errBroken
	}))
	_, err := resolve(t, set, &ai.ResolveOptions{Middleware: []*ai.Middleware{short}}, wish("tool", "a", ""))
	call := onlyCall(t, err)
	require.Equal(t, ai.FailedTimeout, call.Kind)
	require.True(t, call.InDoubt)
	require.ErrorIs(t, err, errBroken)
}

// A gate that asks is named, is shown with the arguments it would let through,
// and its question is the only one: the tool has not been reached.
func TestGateAsks(t *testing.T) {
	t.Parallel()
	var d diary
	set := newSet(t, noting(t, &d))
	opts := &ai.ResolveOptions{Middleware: []*ai.Middleware{
		{Name: "hook", Rewrite: func(context.Context, *ai.ToolCall) (json.RawMessage, error) { return json.RawMessage(`{"n":2}`), nil }},
		gate("gate", &d, nil),
	}}
	m := pause(t, set, opts, wish("look", "a", `{"n":1}`))
	require.Empty(t, d.take())
	req := requestOf(t, m, "a")
	key := req.Metadata["callKey"]
	require.NotEmpty(t, key)
	require.JSONEq(t, `{"interrupt":"ask of gate","interruptedBy":"gate","interruptState":"state of gate",
		"effectiveInput":{"n":2},"callKey":`+string(key)+`}`, jsonOf(t, req.Metadata))
	list, err := m.Interrupts()
	require.NoError(t, err)
	require.Equal(t, "gate", list[0].By)
	require.JSONEq(t, `{"n":2}`, string(list[0].Effective))

	res, err := resume(t, set, m, as(t, "amy", list[0].Request), opts)
	finished(t, res, err)
	require.Equal(t, []string{"gate passed by amy, state of gate", `look a {"n":2}`}, d.take())
	require.JSONEq(t, `{"effectiveInput":{"n":2},"interruptedBy":"gate","resolvedInterrupt":"ask of gate"}`, jsonOf(t, requestOf(t, res.Model, "a").Metadata))
}

// Resumed is about the asker that holds the call: an answer to one is no answer
// to another, and no state is seen by another.
func TestResumedIsPerAsker(t *testing.T) {
	t.Parallel()
	var d diary
	watch := func(name string) *ai.Middleware {
		return &ai.Middleware{Name: name, Wrap: func(ctx context.Context, call *ai.ToolCall, next ai.Next) (*ai.ToolResult, error) {
			var state string
			d.add("%s %v %v", name, call.Resumed(), call.DecodeState(&state) == nil)
			return next(ctx)
		}}
	}
	rewrites := &ai.Middleware{Name: "rewrites", Rewrite: func(_ context.Context, call *ai.ToolCall) (json.RawMessage, error) {
		d.add("rewrites %v", call.Resumed())
		return nil, nil
	}}
	set := newSet(t, raw(t, "tool", func(_ context.Context, call *ai.ToolCall) (*ai.ToolResult, error) {
		var data, state any
		require.ErrorIs(t, call.DecodeResumed(&data), ai.ErrFailedPrecondition)
		require.ErrorIs(t, call.DecodeState(&state), ai.ErrFailedPrecondition)
		d.add("tool %v", call.Resumed())
		return &ai.ToolResult{}, nil
	}))
	opts := &ai.ResolveOptions{Middleware: []*ai.Middleware{rewrites, watch("outer"), gate("gate", &d, nil), watch("inner")}}
	m := pause(t, set, opts, wish("tool", "a", ""))
	require.Equal(t, []string{"rewrites false", "outer false false"}, d.take())
	res, err := resume(t, set, m, as(t, "amy", requestOf(t, m, "a")), opts)
	finished(t, res, err)
	require.Equal(t, []string{"outer false false", "gate passed by amy, state of gate", "inner false false", "tool false"}, d.take())
}

// Middleware may pass on the tool's question, or put an end to it.
func TestWrapAndQuestions(t *testing.T) {
	t.Parallel()
	var asked *ai.InterruptError
	auto := false
	m := &ai.Middleware{Name: "m", Wrap: func(ctx context.Context, _ *ai.ToolCall, next ai.Next) (*ai.ToolResult, error) {
		res, err := next(ctx)
		if auto && errors.As(err, &asked) {
			return ai.DeniedResult("no questions at night"), nil
		}
		return res, err
	}}
	set := newSet(t, asks(t, "tool", "sure?", "1"))
	opts := &ai.ResolveOptions{Middleware: []*ai.Middleware{m}}
	res, err := resolve(t, set, opts, wish("tool", "a", ""))
	require.NoError(t, err)
	require.Empty(t, res.Interrupts()[0].By, "the tool asked, not the middleware")
	auto = true
	res, err = resolve(t, set, opts, wish("tool", "a", ""))
	finished(t, res, err)
	require.Equal(t, `"sure?"`, string(asked.Data))
	require.Equal(t, "Denied: no questions at night", responseOf(t, res.Tool, "a").ForModel().Text)
}
