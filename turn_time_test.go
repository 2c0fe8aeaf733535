package ai_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"runtime/debug"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/holdpoint/ai"
	"github.com/holdpoint/ai/aitest"
)

// sleeper is a tool that sleeps, ends early with its context where it is told
// to, and answers or fails after that.
type sleeper struct {
	def      ai.ToolDefinition
	sleep    time.Duration
	stubborn bool  // takes no notice of its context
	quiet    error // what it returns when its context ends; nil means the context's error
}

func (s sleeper) tool(t *testing.T) ai.Tool {
	t.Helper()
	if s.def.Name == "" {
		s.def.Name = "sleep"
	}
	return newRaw(t, &s.def, func(ctx context.Context, _ *ai.ToolCall) (*ai.ToolResult, error) {
		timer := time.NewTimer(s.sleep)
		defer timer.Stop()
		done := ctx.Done()
		if s.stubborn {
			done = nil
		}
		select {
		case <-timer.C:
			return &ai.ToolResult{Output: json.RawMessage(`"slept"`)}, nil
		case <-done:
			if s.quiet != nil {
				return nil, s.quiet
			}
			return nil, ctx.Err()
		}
	})
}

// A call has the timeout of its definition, else that of the options, and is in
// doubt once it is cut short, whatever words the tool has for that.
func TestTimeout(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		tool    sleeper
		timeout time.Duration
		takes   time.Duration
		kind    ai.FailureKind
		inDoubt bool
	}{
		"in time":          {sleeper{sleep: time.Second}, 2 * time.Second, time.Second, "", false},
		"none":             {sleeper{sleep: time.Hour}, 0, time.Hour, "", false},
		"options":          {sleeper{sleep: time.Hour}, time.Second, time.Second, ai.FailedTimeout, true},
		"definition":       {sleeper{sleep: time.Hour, def: ai.ToolDefinition{Timeout: 3 * time.Second}}, time.Second, 3 * time.Second, ai.FailedTimeout, true},
		"definition alone": {sleeper{sleep: time.Hour, def: ai.ToolDefinition{Timeout: 3 * time.Second}}, 0, 3 * time.Second, ai.FailedTimeout, true},
		"other words":      {sleeper{sleep: time.Hour, quiet: errBroken}, time.Second, time.Second, ai.FailedTimeout, true},
		"not done":         {sleeper{sleep: time.Hour, quiet: fmt.Errorf("nothing sent: %w", ai.ErrNotDone)}, time.Second, time.Second, ai.FailedTimeout, false},
		"read only":        {sleeper{sleep: time.Hour, def: ai.ToolDefinition{ReadOnly: true}}, time.Second, time.Second, ai.FailedTimeout, false},
		"idempotent":       {sleeper{sleep: time.Hour, def: ai.ToolDefinition{Idempotent: true}}, time.Second, time.Second, ai.FailedTimeout, false},
		"late but there":   {sleeper{sleep: 1500 * time.Millisecond, stubborn: true}, time.Second, 1500 * time.Millisecond, "", false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				start := time.Now()
				res, err := resolve(t, newSet(t, test.tool.tool(t)), &ai.ResolveOptions{Timeout: test.timeout}, wish("sleep", "a", ""))
				require.Equal(t, test.takes, time.Since(start))
				if test.kind == "" {
					finished(t, res, err)
					return
				}
				call := onlyCall(t, err)
				require.Equal(t, test.kind, call.Kind)
				require.Equal(t, test.inDoubt, call.InDoubt)
				require.Equal(t, test.inDoubt, call.MayHaveActed)
				if test.tool.quiet == nil {
					require.ErrorIs(t, err, context.DeadlineExceeded)
				} else {
					require.ErrorIs(t, err, test.tool.quiet)
				}
			})
		})
	}
}

// A deadline of the tool's own is no timeout of the call, but as much in doubt.
func TestDeadlineOfTheToolsOwn(t *testing.T) {
	t.Parallel()
	set := newSet(t, fails(t, "post", fmt.Errorf("post: %w", context.DeadlineExceeded)))
	_, err := resolve(t, set, &ai.ResolveOptions{Timeout: time.Hour}, wish("post", "a", ""))
	call := onlyCall(t, err)
	require.Equal(t, ai.FailedTool, call.Kind)
	require.True(t, call.InDoubt)
}

// A call that takes no notice of its context is given up after the grace period:
// failed, and in doubt where it may act. What it returns later goes to the
// journal, and nowhere else.
func TestGivenUp(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		opts    ai.ResolveOptions
		def     ai.ToolDefinition
		cancel  time.Duration // 0 means never
		takes   time.Duration
		kind    ai.FailureKind
		inDoubt bool
	}{
		"timeout":          {ai.ResolveOptions{Timeout: 5 * time.Second}, ai.ToolDefinition{}, 0, 6 * time.Second, ai.FailedTimeout, true},
		"timeout, grace":   {ai.ResolveOptions{Timeout: 5 * time.Second, Grace: time.Minute}, ai.ToolDefinition{}, 0, 65 * time.Second, ai.FailedTimeout, true},
		"canceled":         {ai.ResolveOptions{}, ai.ToolDefinition{}, 3 * time.Second, 4 * time.Second, ai.FailedCanceled, true},
		"canceled, grace":  {ai.ResolveOptions{Grace: time.Millisecond}, ai.ToolDefinition{}, 3 * time.Second, 3001 * time.Millisecond, ai.FailedCanceled, true},
		"canceled, timed":  {ai.ResolveOptions{Timeout: 10 * time.Second}, ai.ToolDefinition{}, 3 * time.Second, 4 * time.Second, ai.FailedCanceled, true},
		"harmless":         {ai.ResolveOptions{Timeout: 5 * time.Second}, ai.ToolDefinition{ReadOnly: true}, 0, 6 * time.Second, ai.FailedTimeout, false},
		"idempotent":       {ai.ResolveOptions{Timeout: 5 * time.Second}, ai.ToolDefinition{Idempotent: true}, 0, 6 * time.Second, ai.FailedTimeout, false},
		"reported, if not": {ai.ResolveOptions{Timeout: 5 * time.Second, OnError: ai.ReportErrors}, ai.ToolDefinition{}, 0, 6 * time.Second, ai.FailedTimeout, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				ctx := t.Context()
				if test.cancel > 0 {
					var cancel context.CancelFunc
					ctx, cancel = context.WithTimeout(ctx, test.cancel)
					defer cancel()
				}
				var book ledgerBook
				test.opts.Journal = &book
				test.opts.Middleware = []*ai.Middleware{{Name: "hook", Rewrite: func(_ context.Context, call *ai.ToolCall) (json.RawMessage, error) {
					if call.Ref == "b" {
						return nil, nil
					}
					return json.RawMessage(`{"n":2}`), nil
				}}}
				set := newSet(t, sleeper{def: test.def, sleep: time.Hour, stubborn: true}.tool(t), gives(t, "look", "1"))
				start := time.Now()
				_, err := resolveIn(t, ctx, set, &test.opts, wish("sleep", "a", `{"n":1}`), wish("look", "b", ""))
				require.Equal(t, test.takes, time.Since(start))
				call := onlyCall(t, err)
				require.Equal(t, test.kind, call.Kind)
				require.Equal(t, test.inDoubt, call.InDoubt)
				require.ErrorIs(t, err, context.DeadlineExceeded)
				_, m := failed(t, err)
				require.Equal(t, "1", string(requestOf(t, m, "b").Metadata["pendingOutput"]))
				require.Equal(t, `{"n":2}`, string(requestOf(t, m, "a").Metadata["effectiveInput"]), "what it runs with")
				before := jsonOf(t, err.(*ai.TurnError).Model)
				require.NotContains(t, strings.Join(book.take(), ";"), "late")

				time.Sleep(time.Hour)
				synctest.Wait()
				require.Equal(t, []string{`settled a: late result "slept"`}, book.take())
				require.Equal(t, before, jsonOf(t, err.(*ai.TurnError).Model))
			})
		})
	}
}

// One that can't have acted may be reported like any other error.
func TestGivenUpAndReported(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		set := newSet(t, sleeper{def: ai.ToolDefinition{ReadOnly: true}, sleep: time.Hour, stubborn: true}.tool(t))
		res, err := resolve(t, set, &ai.ResolveOptions{Timeout: time.Second, OnError: ai.ReportErrors}, wish("sleep", "a", ""))
		finished(t, res, err)
		require.Equal(t, "did not return within 1s: context deadline exceeded", responseOf(t, res.Tool, "a").ForModel().Text)
		time.Sleep(time.Hour)
	})
}

// What comes late is for the journal as it is: no policy makes it another thing.
func TestLateFailureIsNotReported(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var book ledgerBook
		set := newSet(t, newRaw(t, &ai.ToolDefinition{Name: "tool", ReadOnly: true}, func(context.Context, *ai.ToolCall) (*ai.ToolResult, error) {
			time.Sleep(time.Hour)
			return nil, errBroken
		}))
		opts := &ai.ResolveOptions{Journal: &book, Timeout: time.Second, OnError: ai.ReportErrors}
		res, err := resolve(t, set, opts, wish("tool", "a", ""))
		finished(t, res, err)
		book.take()
		time.Sleep(time.Hour)
		synctest.Wait()
		require.Equal(t, []string{"settled a: late error timeout"}, book.take())
		require.ErrorIs(t, book.ends[1].Err, errBroken)
	})
}

// Beside a call that was given up and may still run nothing more is started:
// neither what its place under a limit was for, nor what has to be alone.
func TestNothingStartsBesideACallGivenUp(t *testing.T) {
	t.Parallel()
	for name, opts := range map[string]*ai.ResolveOptions{
		"limit":      {Limit: 1, Timeout: time.Second},
		"exclusive":  {Timeout: time.Second},
		"sequential": {Sequential: true, Timeout: time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				var d diary
				alone := newRaw(t, &ai.ToolDefinition{Name: "alone", Exclusive: name == "exclusive"},
					func(context.Context, *ai.ToolCall) (*ai.ToolResult, error) {
						d.add("alone ran")
						return &ai.ToolResult{}, nil
					})
				set := newSet(t, alone, sleeper{sleep: time.Hour, stubborn: true}.tool(t))
				_, err := resolve(t, set, opts, wish("sleep", "a", ""), wish("alone", "b", ""))
				turn, m := failed(t, err)
				require.Empty(t, d.take())
				require.Equal(t, "a", turn.Calls[0].Ref)
				require.JSONEq(t, `{"notStarted":true}`, jsonOf(t, requestOf(t, m, "b").Metadata))
				time.Sleep(time.Hour)
				require.Empty(t, d.take())
			})
		})
	}
}

// A context that has ended starts nothing; the message is as it was.
func TestCanceledBefore(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(errBroken)
	var d diary
	var book ledgerBook
	note := &ai.Middleware{Name: "note", Rewrite: func(context.Context, *ai.ToolCall) (json.RawMessage, error) {
		d.add("rewrite")
		return nil, nil
	}}
	_, err := resolveIn(t, ctx, newSet(t, noting(t, &d)), &ai.ResolveOptions{Journal: &book, Middleware: []*ai.Middleware{note}}, wish("look", "a", ""))
	require.ErrorIs(t, err, errBroken)
	require.EqualError(t, err, "ai: nothing was started: the printer is on fire")
	var turn *ai.TurnError
	require.NotErrorAs(t, err, &turn)
	require.Empty(t, d.take())
	require.Empty(t, book.take())
}

// One that ends in the middle ends the calls that run; the rest is not started,
// and both can be resumed.
func TestCanceledInTheMiddle(t *testing.T) {
	t.Parallel()
	for name, opts := range map[string]ai.ResolveOptions{
		"limit": {Limit: 1}, "sequential": {Sequential: true}, "reported": {Limit: 1, OnError: ai.ReportErrors},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				cause := errors.New("the server goes down")
				ctx, cancel := context.WithCancelCause(t.Context())
				time.AfterFunc(time.Second, func() { cancel(cause) })
				var book ledgerBook
				opts.Journal = &book
				set := newSet(t, gives(t, "look", "1"), sleeper{sleep: time.Hour, def: ai.ToolDefinition{ReadOnly: true}}.tool(t))
				_, err := resolveIn(t, ctx, set, &opts, wish("look", "a", ""), wish("sleep", "b", ""), wish("look", "c", ""), wish("look", "d", `7`))
				turn, m := failed(t, err)
				require.Equal(t, []string{"started a", "settled a: result 1", "started b", "settled b: error canceled"}, book.take())
				require.ErrorIs(t, err, cause)
				for i, ref := range []string{"b", "c", "d"} {
					require.Equal(t, ref, turn.Calls[i].Ref)
					require.Equal(t, ai.FailedCanceled, turn.Calls[i].Kind)
					require.False(t, turn.Calls[i].MayHaveActed)
				}
				require.Equal(t, "1", string(requestOf(t, m, "a").Metadata["pendingOutput"]))
				require.Contains(t, requestOf(t, m, "b").Metadata, "failure")
				require.JSONEq(t, `{"notStarted":true}`, jsonOf(t, requestOf(t, m, "c").Metadata))
				require.Contains(t, requestOf(t, m, "d").Metadata, "notStarted")

				res, err := resume(t, set, m, responds(no(t, requestOf(t, m, "b"), "")), nil)
				finished(t, res, err)
				require.Equal(t, []string{"1", `"Denied."`, "1"}, outputsOf(t, res.Tool)[:3])
				require.True(t, responseOf(t, res.Tool, "d").ForModel().IsError)
			})
		})
	}
}

// Once the context has ended, not even hooks run for the calls that wait.
func TestCanceledBeforeItsTurnCame(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	var d diary
	hook := &ai.Middleware{Name: "hook", Rewrite: func(_ context.Context, call *ai.ToolCall) (json.RawMessage, error) {
		d.add("hook %s", call.Ref)
		return nil, nil
	}}
	set := newSet(t, raw(t, "stop", func(context.Context, *ai.ToolCall) (*ai.ToolResult, error) {
		cancel()
		return &ai.ToolResult{}, nil
	}))
	opts := &ai.ResolveOptions{Limit: 1, Middleware: []*ai.Middleware{hook}}
	_, err := resolveIn(t, ctx, set, opts, wish("stop", "a", ""), wish("stop", "b", ""))
	require.ErrorIs(t, err, context.Canceled)
	require.Equal(t, []string{"hook a"}, d.take())
}

// A call that a gate had let through is not started either once the context has
// ended, not even as an error for the model.
func TestCanceledBeforeTheToolStarts(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	var d diary
	stop := &ai.Middleware{
		Name:    "stop",
		Rewrite: func(context.Context, *ai.ToolCall) (json.RawMessage, error) { return json.RawMessage(`{"n":2}`), nil },
		Wrap: func(ctx context.Context, _ *ai.ToolCall, next ai.Next) (*ai.ToolResult, error) {
			cancel()
			return next(ctx)
		},
	}
	set := newSet(t, noting(t, &d))
	opts := &ai.ResolveOptions{OnError: ai.ReportErrors, Middleware: []*ai.Middleware{stop}}
	_, err := resolveIn(t, ctx, set, opts, wish("look", "a", `{"n":1}`))
	_, m := failed(t, err)
	require.Empty(t, d.take())
	require.JSONEq(t, `{"notStarted":true,"effectiveInput":{"n":2}}`, jsonOf(t, requestOf(t, m, "a").Metadata))

	res, err := resume(t, set, aitest.Reload(t, m), nil, nil)
	finished(t, res, err)
	require.Equal(t, []string{`look a {"n":2}`}, d.take())
}

// A call runs on the caller's goroutine only where nothing can cut it short, and
// of several only one.
func TestInline(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		ctx    context.Context
		opts   *ai.ResolveOptions
		calls  int
		inline int
	}{
		"one":         {context.Background(), nil, 1, 1},
		"of several":  {context.Background(), nil, 5, 1},
		"limit":       {context.Background(), &ai.ResolveOptions{Limit: 2}, 5, 1},
		"sequential":  {context.Background(), &ai.ResolveOptions{Sequential: true}, 5, 5},
		"cancelable":  {t.Context(), nil, 1, 0},
		"timeout":     {context.Background(), &ai.ResolveOptions{Timeout: time.Hour}, 1, 0},
		"all of that": {t.Context(), &ai.ResolveOptions{Timeout: time.Hour, Sequential: true}, 5, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var d diary
			set := newSet(t, raw(t, "where", func(context.Context, *ai.ToolCall) (*ai.ToolResult, error) {
				if strings.Contains(string(debug.Stack()), "ai_test.resolveIn(") {
					d.add("inline")
				}
				return &ai.ToolResult{}, nil
			}))
			var parts []ai.Part
			for i := range test.calls {
				parts = append(parts, wish("where", fmt.Sprint(i), ""))
			}
			res, err := resolveIn(t, test.ctx, set, test.opts, parts...)
			finished(t, res, err)
			require.Len(t, d.take(), test.inline)
		})
	}
}
