package ai_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/holdpoint/ai"
	"github.com/holdpoint/ai/aitest"
)

// traced is middleware that notes when it is entered and left.
func traced(name string, d *diary) *ai.Middleware {
	return &ai.Middleware{
		Name: name,
		Rewrite: func(_ context.Context, call *ai.ToolCall) (json.RawMessage, error) {
			d.add("%s rewrites %s", name, call.Input)
			return json.RawMessage(`{"by":"` + name + `"}`), nil
		},
		Wrap: func(ctx context.Context, call *ai.ToolCall, next ai.Next) (*ai.ToolResult, error) {
			d.add("%s before %s", name, call.Input)
			res, err := next(ctx)
			d.add("%s after", name)
			return res, err
		},
	}
}

// The registry's comes first, then the request's; the first is outermost. All
// rewrites run before any wrap.
func TestMiddlewareChain(t *testing.T) {
	t.Parallel()
	var d diary
	var r ai.Registry
	require.NoError(t, r.Register(noting(t, &d)))
	require.NoError(t, r.Use(traced("r1", &d), traced("r2", &d)))
	set, err := r.AllTools(t.Context())
	require.NoError(t, err)
	opts := &ai.ResolveOptions{Middleware: []*ai.Middleware{traced("q1", &d), traced("q2", &d)}}
	for range 2 { // the chain is made anew for each turn
		res, err := resolve(t, set, opts, wish("look", "a", `{"n":1}`))
		finished(t, res, err)
		require.Equal(t, []string{
			`r1 rewrites {"n":1}`, `r2 rewrites {"by":"r1"}`, `q1 rewrites {"by":"r2"}`, `q2 rewrites {"by":"q1"}`,
			`r1 before {"by":"q2"}`, `r2 before {"by":"q2"}`, `q1 before {"by":"q2"}`, `q2 before {"by":"q2"}`,
			`look a {"by":"q2"}`, "q2 after", "q1 after", "r2 after", "r1 after",
		}, d.take())
		require.JSONEq(t, `{"effectiveInput":{"by":"q2"}}`, jsonOf(t, requestOf(t, res.Model, "a").Metadata))
		require.JSONEq(t, `{"n":1}`, string(requestOf(t, res.Model, "a").ToolRequest.Input), "what the model said stays")
		require.Nil(t, responseOf(t, res.Tool, "a").Metadata)
	}
}

// Answers find the asker by its name, so names are unique in the whole chain.
func TestMiddlewareNames(t *testing.T) {
	t.Parallel()
	var d diary
	var r ai.Registry
	require.NoError(t, r.Register(noting(t, &d)))
	require.NoError(t, r.Use(&ai.Middleware{Name: "a"}, &ai.Middleware{Name: "b"}))
	for name, bad := range map[string]*ai.Middleware{
		"is nil": nil, "needs a name other than \"\"": {}, `needs a name other than "tool"`: {Name: "tool"}, `two middlewares are named "a"`: {Name: "a"},
	} {
		err := r.Use(&ai.Middleware{Name: "c"}, bad)
		require.ErrorIs(t, err, ai.ErrInvalidArgument)
		require.ErrorContains(t, err, name)
		set, err := r.AllTools(t.Context())
		require.NoError(t, err)
		_, err = resolve(t, set, &ai.ResolveOptions{Middleware: []*ai.Middleware{bad}}, wish("look", "a", ""))
		require.ErrorIs(t, err, ai.ErrInvalidArgument)
		require.ErrorContains(t, err, name)
	}
	set, err := r.AllTools(t.Context())
	require.NoError(t, err)
	res, err := resolve(t, set, &ai.ResolveOptions{Middleware: []*ai.Middleware{{Name: "c"}}}, wish("look", "a", ""))
	finished(t, res, err)
}

// What a hook makes of the arguments is validated, is what the tool gets and the
// approver is shown, and is recorded beside what the model sent.
func TestRewrite(t *testing.T) {
	t.Parallel()
	double := &ai.Middleware{Name: "double", Rewrite: func(_ context.Context, call *ai.ToolCall) (json.RawMessage, error) {
		var in payIn
		if err := json.Unmarshal(call.Input, &in); err != nil {
			return nil, err
		}
		return json.Marshal(payIn{2 * in.Amount})
	}}
	d := newDesk(t)
	opts := &ai.ResolveOptions{Middleware: []*ai.Middleware{double}}
	m := pause(t, d.set, opts, wish("pay", "a", `{"amount":5}`))
	list, err := m.Interrupts()
	require.NoError(t, err)
	require.JSONEq(t, `{"confirm":10}`, string(list[0].Data))
	require.JSONEq(t, `{"amount":10}`, string(list[0].Effective))
	require.JSONEq(t, `{"amount":5}`, string(list[0].Request.ToolRequest.Input))

	res, err := resume(t, d.set, m, restarts(yes(t, list[0].Request)), opts)
	finished(t, res, err)
	require.Equal(t, []string{"pay a 10"}, d.take(), "what was approved runs, rewritten once")
	require.Equal(t, "paid 10", responseOf(t, res.Tool, "a").ForModel().Text)
}

// A hook that changes nothing leaves nothing behind.
func TestRewriteThatChangesNothing(t *testing.T) {
	t.Parallel()
	var d diary
	for _, hook := range []func(context.Context, *ai.ToolCall) (json.RawMessage, error){
		func(context.Context, *ai.ToolCall) (json.RawMessage, error) { return nil, nil },
		func(_ context.Context, call *ai.ToolCall) (json.RawMessage, error) { return call.Input, nil },
		func(_ context.Context, call *ai.ToolCall) (json.RawMessage, error) {
			call.Input = json.RawMessage(`{"n":2}`) // a view, so this is lost
			return nil, nil
		},
	} {
		opts := &ai.ResolveOptions{Middleware: []*ai.Middleware{{Name: "m", Rewrite: hook}}}
		m := modelSays(wish("look", "a", `{"n":1}`))
		res, err := ai.Resolve(t.Context(), newSet(t, noting(t, &d)), m, opts)
		finished(t, res, err)
		require.Same(t, m, res.Model)
		require.Equal(t, []string{`look a {"n":1}`}, d.take())
	}
}

// A hook that fails is the caller's, not the model's to mend: the tool does not
// run, and a retry runs the whole chain on what the model sent.
func TestRewriteThatFails(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		hook func(call *ai.ToolCall) (json.RawMessage, error)
		want string
	}{
		"error":   {func(*ai.ToolCall) (json.RawMessage, error) { return nil, errBroken }, "the printer is on fire"},
		"misfit":  {func(*ai.ToolCall) (json.RawMessage, error) { return json.RawMessage(`{"amount":"x"}`), nil }, `middleware "hook" rewrote the arguments: arguments of pay#a do not fit`},
		"no JSON": {func(*ai.ToolCall) (json.RawMessage, error) { return json.RawMessage(`{`), nil }, `middleware "hook" rewrote the arguments`},
		"array":   {func(*ai.ToolCall) (json.RawMessage, error) { return json.RawMessage(`[1]`), nil }, `middleware "hook" rewrote the arguments`},
		"asks":    {func(call *ai.ToolCall) (json.RawMessage, error) { return nil, call.Interrupt("may I?") }, `middleware "hook" asked in Rewrite; only Wrap may ask`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var d diary
			broken := true
			first := &ai.Middleware{Name: "first", Rewrite: func(_ context.Context, call *ai.ToolCall) (json.RawMessage, error) {
				d.add("first %s", call.Input)
				return json.RawMessage(`{"amount":2}`), nil
			}}
			hook := &ai.Middleware{Name: "hook", Rewrite: func(_ context.Context, call *ai.ToolCall) (json.RawMessage, error) {
				d.add("hook %s", call.Input)
				if broken {
					return test.hook(call)
				}
				return json.RawMessage(`{"amount":3}`), nil
			}}
			set := newSet(t, typedPay(t, &d))
			opts := &ai.ResolveOptions{Middleware: []*ai.Middleware{first, hook}}
			_, err := resolve(t, set, opts, wish("pay", "a", `{"amount":1}`))
			require.ErrorContains(t, err, test.want)
			call := onlyCall(t, err)
			require.Equal(t, ai.FailedTool, call.Kind)
			require.False(t, call.MayHaveActed)
			_, m := failed(t, err)
			require.NotContains(t, requestOf(t, m, "a").Metadata, "effectiveInput", "half of the hooks is no result of the hooks")

			broken = false
			res, err := resume(t, set, m, restarts(yes(t, requestOf(t, m, "a"))), opts)
			finished(t, res, err)
			tried := []string{`first {"amount":1}`, `hook {"amount":2}`}
			require.Equal(t, append(append(tried, tried...), "pay a 3"), d.take())
		})
	}
}

// An edit whose hooks fail has not become the call's input, so it is not kept,
// and neither is the yes that came with it.
func TestEditThatCouldNotBeRewritten(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	broken := false
	hook := &ai.Middleware{Name: "hook", Rewrite: func(context.Context, *ai.ToolCall) (json.RawMessage, error) {
		if broken {
			return nil, errBroken
		}
		return nil, nil
	}}
	opts := &ai.ResolveOptions{Middleware: []*ai.Middleware{hook, gate("gate", &d.diary, nil)}}
	m := pause(t, d.set, opts, wish("pay", "a", `{"amount":500}`))
	broken = true
	_, err := resume(t, d.set, m, restarts(edit(t, requestOf(t, m, "a"), `{"amount":5}`)), opts)
	require.ErrorIs(t, err, errBroken)
	turn, after := failed(t, err)
	require.Len(t, turn.Interrupts(), 1, "the question stands")
	require.Equal(t, jsonOf(t, m), jsonOf(t, after), "the pause is as it was")
	require.Empty(t, d.take())
}

// Wrap may answer, refuse, fail, observe and change what comes out.
func TestWrap(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		wrap   func(ctx context.Context, call *ai.ToolCall, next ai.Next) (*ai.ToolResult, error)
		output string
		ran    bool
	}{
		"answers": {func(context.Context, *ai.ToolCall, ai.Next) (*ai.ToolResult, error) {
			return &ai.ToolResult{Output: json.RawMessage(`"cached"`)}, nil
		}, `"cached"`, false},
		"refuses": {func(context.Context, *ai.ToolCall, ai.Next) (*ai.ToolResult, error) {
			return ai.DeniedResult("not today"), nil
		}, `"Denied: not today"`, false},
		"observes": {func(ctx context.Context, _ *ai.ToolCall, next ai.Next) (*ai.ToolResult, error) { return next(ctx) }, `"seen"`, true},
		"changes": {func(ctx context.Context, _ *ai.ToolCall, next ai.Next) (*ai.ToolResult, error) {
			res, err := next(ctx)
			if err != nil {
				return nil, err
			}
			return &ai.ToolResult{Output: json.RawMessage(`"x` + string(res.Output[1:]))}, nil
		}, `"xseen"`, true},
		"can't change arguments": {func(ctx context.Context, call *ai.ToolCall, next ai.Next) (*ai.ToolResult, error) {
			call.Input, call.Ref = json.RawMessage(`{"n":666}`), "other"
			return next(ctx)
		}, `"seen"`, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var d diary
			m := modelSays(wish("look", "a", `{"n":1}`))
			res, err := ai.Resolve(t.Context(), newSet(t, noting(t, &d)), m, &ai.ResolveOptions{Middleware: []*ai.Middleware{{Name: "m", Wrap: test.wrap}}})
			finished(t, res, err)
			require.Same(t, m, res.Model)
			require.Equal(t, []string{test.output}, outputsOf(t, res.Tool))
			if test.ran {
				require.Equal(t, []string{`look a {"n":1}`}, d.take())
			}
			require.Empty(t, d.take())
		})
	}
}

// A failing wrap is a failure of its call, which has not acted if it had not
// been started.
func TestWrapThatFails(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		wrap  func(ctx context.Context, call *ai.ToolCall, next ai.Next) (*ai.ToolResult, error)
		want  string
		acted bool
	}{
		"before": {func(context.Context, *ai.ToolCall, ai.Next) (*ai.ToolResult, error) { return nil, errBroken }, "the printer is on fire", false},
		"after": {func(ctx context.Context, _ *ai.ToolCall, next ai.Next) (*ai.ToolResult, error) {
			_, err := next(ctx)
			return nil, errors.Join(err, errBroken)
		}, "the printer is on fire", true},
		"nothing": {func(context.Context, *ai.ToolCall, ai.Next) (*ai.ToolResult, error) { return nil, nil },
			`middleware "m" returned neither a result nor an error`, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			opts := &ai.ResolveOptions{Middleware: []*ai.Middleware{{Name: "m", Wrap: test.wrap}}}
			_, err := resolve(t, newSet(t, gives(t, "look", "1")), opts, wish("look", "a", ""))
			call := onlyCall(t, err)
			require.Equal(t, ai.FailedTool, call.Kind)
			require.Equal(t, test.acted, call.MayHaveActed)
			require.False(t, call.InDoubt)
			require.ErrorContains(t, err, test.want)
		})
	}
}

// What middleware adds to an error does not hide what kind of failure it was.
func TestWrapSeesFailures(t *testing.T) {
	t.Parallel()
	for name, tool := range map[string]ai.Tool{
		"error":     fails(t, "tool", errBroken),
		"panic":     raw(t, "tool", panicAttack),
		"no result": raw(t, "tool", func(context.Context, *ai.ToolCall) (*ai.ToolResult, error) { return nil, nil }),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var seen error
			outer := &ai.Middleware{Name: "outer", Wrap: func(ctx context.Context, _ *ai.ToolCall, next ai.Next) (*ai.ToolResult, error) {
				res, err := next(ctx)
				require.Nil(t, res)
				seen = err
				return nil, fmt.Errorf("outer: %w", err)
			}}
			_, err := resolve(t, newSet(t, tool), &ai.ResolveOptions{Middleware: []*ai.Middleware{outer}}, wish("tool", "a", ""))
			call := onlyCall(t, err)
			require.ErrorContains(t, err, "tool#a: outer: ")
			require.ErrorIs(t, err, seen)
			require.Equal(t, name == "panic", call.Kind == ai.FailedPanic)
			require.Equal(t, name == "panic", call.InDoubt)
			require.Equal(t, name != "no result", errors.Is(seen, errBroken))
			var panicked *ai.PanicError
			require.Equal(t, name == "panic", errors.As(seen, &panicked))
		})
	}
}

// The middleware further out sees a panic of the one further in as an error.
func TestWrapSeesPanicsOfMiddleware(t *testing.T) {
	t.Parallel()
	outer := &ai.Middleware{Name: "outer", Wrap: func(ctx context.Context, _ *ai.ToolCall, next ai.Next) (*ai.ToolResult, error) {
		var panicked *ai.PanicError
		_, err := next(ctx)
		require.ErrorAs(t, err, &panicked)
		return ai.ErrorResult("it panicked"), nil
	}}
	inner := &ai.Middleware{Name: "inner", Wrap: func(ctx context.Context, call *ai.ToolCall, _ ai.Next) (*ai.ToolResult, error) {
		return panicAttack(ctx, call)
	}}
	opts := &ai.ResolveOptions{Middleware: []*ai.Middleware{outer, inner}}
	res, err := resolve(t, newSet(t, gives(t, "look", "1")), opts, wish("look", "a", ""))
	finished(t, res, err)
	require.Equal(t, "it panicked", responseOf(t, aitest.Reload(t, res.Tool), "a").ForModel().Text)
}
