package ai_test

import (
	"context"
	"encoding/json"
	"runtime"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/holdpoint/ai"
)

// The start is journaled innermost, when all middleware has let the call through,
// the outcome when all of it has seen that.
func TestJournalOrder(t *testing.T) {
	t.Parallel()
	var book ledgerBook
	note := func(name string) *ai.Middleware {
		return &ai.Middleware{Name: name,
			Rewrite: func(context.Context, *ai.ToolCall) (json.RawMessage, error) {
				book.add("%s rewrites", name)
				return nil, nil
			},
			Wrap: func(ctx context.Context, _ *ai.ToolCall, next ai.Next) (*ai.ToolResult, error) {
				book.add("%s before", name)
				defer book.add("%s after", name)
				return next(ctx)
			}}
	}
	set := newSet(t, raw(t, "look", func(_ context.Context, call *ai.ToolCall) (*ai.ToolResult, error) {
		book.add("look %s", call.Ref)
		return &ai.ToolResult{Output: json.RawMessage("1")}, nil
	}))
	opts := &ai.ResolveOptions{Journal: &book, Middleware: []*ai.Middleware{note("outer"), note("inner")}}
	res, err := resolve(t, set, opts, wish("look", "a", ""))
	finished(t, res, err)
	require.Equal(t, []string{"outer rewrites", "inner rewrites", "outer before", "inner before", "started a", "look a",
		"inner after", "outer after", "settled a: result 1"}, book.take())
}

// Every attempt has an end in the journal; only what the tool itself was to do
// has a start.
func TestJournalOfEveryEnd(t *testing.T) {
	t.Parallel()
	refuse := &ai.Middleware{Name: "refuse", Wrap: func(ctx context.Context, call *ai.ToolCall, next ai.Next) (*ai.ToolResult, error) {
		switch call.Ref {
		case "denied":
			return ai.DeniedResult("no"), nil
		case "gated":
			return nil, call.Interrupt("may it?")
		case "error":
			return nil, errBroken
		}
		return next(ctx)
	}}
	set := newSet(t, gives(t, "look", "1"), asks(t, "ask", "sure?", "1"), fails(t, "print", errBroken), raw(t, "p", panicAttack))
	for _, test := range []struct {
		name, ref, input string
		want             []string
	}{
		{"look", "ok", "{}", []string{"started ok", "settled ok: result 1"}},
		{"look", "denied", "{}", []string{`settled denied: result "Denied: no"`}},
		{"look", "gated", "{}", []string{`settled gated: interrupt "may it?"`}},
		{"look", "error", "{}", []string{"settled error: error tool"}},
		{"look", "misfit", "[]", []string{`settled misfit: result "The arguments of look do not fit: expected a JSON object, got an array (at byte 1)"`}},
		{"nobody", "lost", "{}", []string{"settled lost: error lookup"}},
		{"ask", "asks", "{}", []string{"started asks", `settled asks: interrupt "sure?"`}},
		{"print", "fails", "{}", []string{"started fails", "settled fails: error tool"}},
		{"p", "panics", "{}", []string{"started panics", "settled panics: error panic, in doubt"}},
	} {
		t.Run(test.ref, func(t *testing.T) {
			t.Parallel()
			var book ledgerBook
			opts := &ai.ResolveOptions{Journal: &book, Middleware: []*ai.Middleware{refuse}}
			_, _ = resolve(t, set, opts, wish(test.name, test.ref, test.input))
			require.Equal(t, test.want, book.take())
			end := book.ends[0]
			set := 0
			for _, is := range []bool{end.Result != nil, end.Interrupt != nil, end.Err != nil} {
				if is {
					set++
				}
			}
			require.Equal(t, 1, set)
			require.False(t, end.Late)
		})
	}
}

// The journal gets the call as the tool gets it.
func TestJournalSeesTheCall(t *testing.T) {
	t.Parallel()
	var book ledgerBook
	var keys []string
	see := func(call *ai.ToolCall) {
		require.Equal(t, "work-orders/order", call.Name)
		require.Equal(t, "a", call.Ref)
		require.JSONEq(t, `{"n":2}`, string(call.Input))
		require.Equal(t, "work-orders/order", call.Definition.Name)
		keys = append(keys, call.Key())
	}
	book.started = func(_ context.Context, call *ai.ToolCall) error { see(call); return nil }
	book.settled = func(_ context.Context, call *ai.ToolCall, _ *ai.Settlement) error { see(call); return nil }
	set := newSet(t, raw(t, "work-orders/order", func(_ context.Context, call *ai.ToolCall) (*ai.ToolResult, error) {
		see(call)
		return &ai.ToolResult{}, nil
	}))
	hook := &ai.Middleware{Name: "hook", Rewrite: func(context.Context, *ai.ToolCall) (json.RawMessage, error) { return json.RawMessage(`{"n":2}`), nil }}
	res, err := resolve(t, set, &ai.ResolveOptions{Journal: &book, Middleware: []*ai.Middleware{hook}}, wish("order", "a", `{"n":1}`))
	finished(t, res, err)
	require.Len(t, keys, 3)
	require.Equal(t, keys[0], keys[1])
	require.Equal(t, keys[0], keys[2])
}

// A start that can't be recorded is no start: the tool does not run, whatever
// middleware makes of the error.
func TestStartThatIsNotRecorded(t *testing.T) {
	t.Parallel()
	wrap := func(ctx context.Context, _ *ai.ToolCall, next ai.Next) (*ai.ToolResult, error) {
		if _, err := next(ctx); err != nil {
			return nil, errBroken // hides what it was
		}
		return nil, nil
	}
	for name, test := range map[string]struct {
		started func(context.Context, *ai.ToolCall) error
		chain   []*ai.Middleware
		kind    ai.FailureKind
	}{
		"error":  {func(context.Context, *ai.ToolCall) error { return errBroken }, nil, ai.FailedJournal},
		"panic":  {func(context.Context, *ai.ToolCall) error { panic(errBroken) }, nil, ai.FailedJournal},
		"Goexit": {func(context.Context, *ai.ToolCall) error { runtime.Goexit(); return nil }, nil, ai.FailedPanic},
		"hidden": {func(context.Context, *ai.ToolCall) error { return errBroken }, []*ai.Middleware{{Name: "m", Wrap: wrap}}, ai.FailedTool},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var d diary
			book := ledgerBook{started: test.started}
			_, err := resolve(t, newSet(t, noting(t, &d)), &ai.ResolveOptions{Journal: &book, Middleware: test.chain}, wish("look", "a", ""))
			call := onlyCall(t, err)
			require.Equal(t, test.kind, call.Kind)
			require.False(t, call.MayHaveActed)
			require.Empty(t, d.take())
			require.Equal(t, []string{"started a", "settled a: error " + string(test.kind)}, book.take())
			if test.kind == ai.FailedJournal {
				require.ErrorIs(t, err, errBroken)
				require.ErrorContains(t, err, "tool request look#a: its start could not be recorded: ")
				opts := &ai.ResolveOptions{Journal: &ledgerBook{started: test.started}, OnError: ai.ReportErrors}
				_, err = resolve(t, newSet(t, noting(t, &d)), opts, wish("look", "a", ""))
				require.Equal(t, test.kind, onlyCall(t, err).Kind, "it is never the model's")
			}
		})
	}
}

// An outcome that can't be recorded fails the turn, and is not lost.
func TestOutcomeThatIsNotRecorded(t *testing.T) {
	t.Parallel()
	for name, settled := range map[string]func(context.Context, *ai.ToolCall, *ai.Settlement) error{
		"error":  func(context.Context, *ai.ToolCall, *ai.Settlement) error { return errBroken },
		"panic":  func(context.Context, *ai.ToolCall, *ai.Settlement) error { panic(errBroken) },
		"Goexit": func(context.Context, *ai.ToolCall, *ai.Settlement) error { runtime.Goexit(); return nil },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			set := newSet(t, gives(t, "look", "1"), asks(t, "ask", nil, "1"), fails(t, "print", context.Canceled))
			_, err := resolve(t, set, &ai.ResolveOptions{Journal: &ledgerBook{settled: settled}, OnError: ai.ReportErrors},
				wish("look", "a", ""), wish("ask", "b", ""), wish("print", "c", ""))
			turn, m := failed(t, err)
			var kinds []string
			for _, call := range turn.Calls {
				kinds = append(kinds, call.Ref+" "+string(call.Kind))
			}
			require.Equal(t, []string{"a journal", "b journal", "c tool", "c journal"}, kinds)
			require.ErrorContains(t, err, "look#a: its outcome could not be recorded: ")
			require.Equal(t, "1", string(requestOf(t, m, "a").Metadata["pendingOutput"]))
			require.Len(t, turn.Interrupts(), 1)
			require.Contains(t, requestOf(t, m, "c").Metadata, "failure")
		})
	}
}

// After that a sequential turn starts nothing more.
func TestSequentialStopsWhereTheJournalFails(t *testing.T) {
	t.Parallel()
	var d diary
	book := ledgerBook{settled: func(context.Context, *ai.ToolCall, *ai.Settlement) error { return errBroken }}
	_, err := resolve(t, newSet(t, noting(t, &d)), &ai.ResolveOptions{Sequential: true, Journal: &book}, wish("look", "a", ""), wish("look", "b", ""))
	require.Equal(t, "a", onlyCall(t, err).Ref)
	require.Equal(t, []string{"look a {}"}, d.take())
}

// The outcome is recorded under a context that has not ended with the turn's, but
// has its values.
func TestOutcomeIsRecordedAfterTheEnd(t *testing.T) {
	t.Parallel()
	type key struct{}
	ctx, cancel := context.WithCancel(context.WithValue(t.Context(), key{}, "tenant 7"))
	set := newSet(t, raw(t, "tool", func(ctx context.Context, _ *ai.ToolCall) (*ai.ToolResult, error) {
		cancel()
		return nil, ctx.Err()
	}))
	var book ledgerBook
	book.settled = func(ctx context.Context, _ *ai.ToolCall, _ *ai.Settlement) error {
		require.NoError(t, ctx.Err())
		require.Equal(t, "tenant 7", ctx.Value(key{}))
		return nil
	}
	_, err := resolveIn(t, ctx, set, &ai.ResolveOptions{Journal: &book}, wish("tool", "a", ""))
	require.Equal(t, ai.FailedCanceled, onlyCall(t, err).Kind)
	require.Len(t, book.ends, 1)
}

// A call that is given up before its tool was started has not acted, is left for
// the resumption, and does not start after all.
func TestGivenUpBeforeTheStart(t *testing.T) {
	t.Parallel()
	slow := func(ctx context.Context, _ *ai.ToolCall) (json.RawMessage, error) {
		time.Sleep(time.Minute)
		return json.RawMessage(`{"n":2}`), nil
	}
	for name, test := range map[string]struct {
		rewrite func(context.Context, *ai.ToolCall) (json.RawMessage, error)
		started func(context.Context, *ai.ToolCall) error
		lines   []string
		late    string
	}{
		"in a hook": {slow, nil, []string{"settled a: error canceled"}, "settled a: late error canceled"},
		"in the journal": {nil, func(context.Context, *ai.ToolCall) error { time.Sleep(time.Minute); return nil },
			[]string{"started a", "settled a: error canceled"}, "settled a: late error canceled"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithTimeout(t.Context(), time.Second)
				defer cancel()
				var d diary
				book := ledgerBook{started: test.started}
				opts := &ai.ResolveOptions{Journal: &book, OnError: ai.ReportErrors, Middleware: []*ai.Middleware{{Name: "m", Rewrite: test.rewrite}}}
				_, err := resolveIn(t, ctx, newSet(t, noting(t, &d)), opts, wish("look", "a", `{"n":1}`))
				call := onlyCall(t, err)
				require.Equal(t, ai.FailedCanceled, call.Kind)
				require.False(t, call.MayHaveActed)
				_, m := failed(t, err)
				require.JSONEq(t, `{"notStarted":true}`, jsonOf(t, requestOf(t, m, "a").Metadata))
				require.Equal(t, test.lines, book.take())

				time.Sleep(time.Hour)
				synctest.Wait()
				require.Equal(t, []string{test.late}, book.take())
				require.False(t, book.ends[1].Err.MayHaveActed)
				require.Empty(t, d.take())
			})
		})
	}
}

// The end of a call that was given up, and what it gives later, do not overlap
// in the journal.
func TestLateOutcomeIsRecordedAfterTheFirst(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var book ledgerBook
		book.settled = func(_ context.Context, _ *ai.ToolCall, end *ai.Settlement) error {
			time.Sleep(time.Minute)
			book.add("recorded, late: %v", end.Late)
			return nil
		}
		set := newSet(t, sleeper{sleep: 10 * time.Second, stubborn: true}.tool(t))
		_, err := resolve(t, set, &ai.ResolveOptions{Journal: &book, Timeout: time.Second}, wish("sleep", "a", ""))
		require.Equal(t, ai.FailedTimeout, onlyCall(t, err).Kind)
		time.Sleep(time.Hour)
		require.Equal(t, []string{"started a", "settled a: error timeout, in doubt", "recorded, late: false",
			`settled a: late result "slept"`, "recorded, late: true"}, book.take())
	})
}
