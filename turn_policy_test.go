package ai_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"runtime"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/holdpoint/ai"
	"github.com/holdpoint/ai/aitest"
)

// declared is a tool that fails in a way and declares something about itself.
func declared(t *testing.T, def ai.ToolDefinition, fail func() error) ai.Tool {
	t.Helper()
	def.Name = "tool"
	return newRaw(t, &def, func(context.Context, *ai.ToolCall) (*ai.ToolResult, error) { return nil, fail() })
}

// What is known of a call's effect follows from its error and from what its tool
// declares; ReportErrors sends all to the model but calls in doubt.
func TestEffectOfFailures(t *testing.T) {
	t.Parallel()
	plain := func() error { return errBroken }
	cut := func() error { return fmt.Errorf("post: %w", context.DeadlineExceeded) }
	none := func() error { return fmt.Errorf("post: %w: %w", context.Canceled, ai.ErrNotDone) }
	crash := func() error { panic("half way") }
	harmless := func() error { panic(fmt.Errorf("at once: %w", ai.ErrNotDone)) }
	for name, test := range map[string]struct {
		def            ai.ToolDefinition
		fail           func() error
		acted, inDoubt bool
	}{
		"error":                {ai.ToolDefinition{}, plain, true, false},
		"cut":                  {ai.ToolDefinition{}, cut, true, true},
		"panic":                {ai.ToolDefinition{}, crash, true, true},
		"not done":             {ai.ToolDefinition{}, none, false, false},
		"panic, not done":      {ai.ToolDefinition{}, harmless, false, false},
		"read only":            {ai.ToolDefinition{ReadOnly: true}, plain, false, false},
		"read only, cut":       {ai.ToolDefinition{ReadOnly: true}, cut, false, false},
		"read only, panic":     {ai.ToolDefinition{ReadOnly: true}, crash, false, false},
		"idempotent, cut":      {ai.ToolDefinition{Idempotent: true}, cut, false, false},
		"idempotent, panic":    {ai.ToolDefinition{Idempotent: true}, crash, false, false},
		"idempotent, not done": {ai.ToolDefinition{Idempotent: true}, none, false, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			set := newSet(t, declared(t, test.def, test.fail))
			_, err := resolve(t, set, nil, wish("tool", "a", ""))
			call := onlyCall(t, err)
			require.Equal(t, test.acted, call.MayHaveActed)
			require.Equal(t, test.inDoubt, call.InDoubt)
			_, m := failed(t, err)
			var mark struct{ MayHaveActed, InDoubt bool }
			_, err = requestOf(t, m, "a").Metadata.Decode("failure", &mark)
			require.NoError(t, err)
			require.Equal(t, test.acted, mark.MayHaveActed)
			require.Equal(t, test.inDoubt, mark.InDoubt)

			res, err := resolve(t, set, &ai.ResolveOptions{OnError: ai.ReportErrors}, wish("tool", "a", ""))
			if test.inDoubt {
				require.Equal(t, call.Kind, onlyCall(t, err).Kind)
				return
			}
			finished(t, res, err)
			require.True(t, responseOf(t, res.Tool, "a").ForModel().IsError)
		})
	}
}

// A policy sees each failure and decides for it alone. What it sends to the
// model settles like any error result.
func TestOnErrorDecidesByCall(t *testing.T) {
	t.Parallel()
	set := newSet(t, fails(t, "weather", errBroken), fails(t, "bank", io.ErrUnexpectedEOF), asks(t, "ask", nil, "1"))
	var d diary
	opts := &ai.ResolveOptions{OnError: func(ctx context.Context, err *ai.CallError) bool {
		d.add("%s %s %s %v", err.Name, err.Ref, err.Kind, ctx.Err())
		return errors.Is(err, errBroken) || err.Kind == ai.FailedLookup
	}}
	parts := []ai.Part{wish("weather", "1", ""), wish("bank", "2", ""), wish("nobody", "3", ""), wish("ask", "4", "")}
	_, err := resolve(t, set, opts, parts...)
	require.Equal(t, "2", onlyCall(t, err).Ref)
	require.Equal(t, []string{"bank 2 tool <nil>", "nobody 3 lookup <nil>", "weather 1 tool <nil>"}, d.sorted())
	_, m := failed(t, err)
	require.JSONEq(t, `{"pendingOutput":"the printer is on fire","pendingMetadata":{"isError":true}}`, jsonOf(t, requestOf(t, m, "1").Metadata))
	require.Contains(t, requestOf(t, m, "2").Metadata, "failure")

	res, err := resolve(t, set, opts, parts[0], parts[2])
	finished(t, res, err)
	require.Equal(t, "the printer is on fire", responseOf(t, res.Tool, "1").ForModel().Text)
}

// What goes to the model of a panic are our words: the value may hold anything.
func TestPanicsAreReportedInOurWords(t *testing.T) {
	t.Parallel()
	set := newSet(t, declared(t, ai.ToolDefinition{ReadOnly: true}, func() error { panic("s3cret") }))
	res, err := resolve(t, set, &ai.ResolveOptions{OnError: ai.ReportErrors}, wish("tool", "a", ""))
	finished(t, res, err)
	require.Equal(t, "the tool failed unexpectedly", responseOf(t, res.Tool, "a").ForModel().Text)
}

// A failure in the history is told in our words: it travels, and the tool's own
// may hold secrets.
func TestFailureMetadataHoldsNoTextOfTheTool(t *testing.T) {
	t.Parallel()
	secret := errors.New("s3cret")
	for name, tool := range map[string]ai.Tool{
		"error":  declared(t, ai.ToolDefinition{}, func() error { return secret }),
		"panic":  declared(t, ai.ToolDefinition{}, func() error { panic(secret) }),
		"output": newRaw(t, &ai.ToolDefinition{Name: "tool", OutputSchema: json.RawMessage(`{"type":"integer"}`)}, secretOutput),
		"cut":    declared(t, ai.ToolDefinition{}, func() error { return fmt.Errorf("%w %w", secret, context.Canceled) }),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := resolve(t, newSet(t, tool), nil, wish("tool", "a", ""))
			require.ErrorContains(t, err, "s3cret", "the caller gets it all")
			_, m := failed(t, err)
			require.NotContains(t, jsonOf(t, m), "s3cret")
			require.NotContains(t, requestOf(t, m, "a").Metadata, "pendingOutput")
		})
	}
}

func secretOutput(context.Context, *ai.ToolCall) (*ai.ToolResult, error) {
	return &ai.ToolResult{Output: json.RawMessage(`"s3cret"`)}, nil
}

// A policy that panics costs nothing but itself: the call's error is kept.
func TestPolicyThatPanics(t *testing.T) {
	t.Parallel()
	for name, end := range map[string]func(){"panic": func() { panic("no policy") }, "Goexit": runtime.Goexit} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			set := newSet(t, fails(t, "print", errBroken), gives(t, "look", "1"))
			opts := &ai.ResolveOptions{OnError: func(context.Context, *ai.CallError) bool {
				end()
				return true
			}}
			_, err := resolve(t, set, opts, wish("print", "a", ""), wish("look", "b", ""))
			call := onlyCall(t, err)
			require.Equal(t, ai.FailedTool, call.Kind)
			require.ErrorIs(t, err, errBroken)
			var panicked *ai.PanicError
			require.Equal(t, name == "panic", errors.As(err, &panicked))
			_, m := failed(t, err)
			require.Equal(t, "1", string(requestOf(t, m, "b").Metadata["pendingOutput"]))
		})
	}
}

// runtime.Goexit, as t.FailNow calls it, is a failure of the call, in a tool and
// in everything around it.
func TestGoexit(t *testing.T) {
	t.Parallel()
	exit := func(context.Context, *ai.ToolCall) (*ai.ToolResult, error) {
		runtime.Goexit()
		return nil, nil
	}
	wrap := func(ctx context.Context, call *ai.ToolCall, _ ai.Next) (*ai.ToolResult, error) {
		return exit(ctx, call)
	}
	rewrite := func(ctx context.Context, call *ai.ToolCall) (json.RawMessage, error) {
		_, err := exit(ctx, call)
		return nil, err
	}
	for name, test := range map[string]struct {
		chain   []*ai.Middleware
		inDoubt bool
	}{
		"tool":    {nil, true},
		"wrap":    {[]*ai.Middleware{{Name: "m", Wrap: wrap}}, false},
		"rewrite": {[]*ai.Middleware{{Name: "m", Rewrite: rewrite}}, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var book ledgerBook
			set := newSet(t, raw(t, "exit", exit))
			_, err := resolve(t, set, &ai.ResolveOptions{Journal: &book, Middleware: test.chain}, wish("exit", "a", ""))
			call := onlyCall(t, err)
			require.Equal(t, ai.FailedPanic, call.Kind)
			require.Equal(t, test.inDoubt, call.InDoubt)
			require.ErrorContains(t, err, "runtime.Goexit was called")
			require.Len(t, book.ends, 1)
		})
	}
}

// A call that shares its caller's goroutine and ends it can't be turned into an
// error for anybody; its siblings are still waited for.
func TestGoexitOnTheCallersGoroutine(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var book ledgerBook
		set := newSet(t, raw(t, "sleep", func(context.Context, *ai.ToolCall) (*ai.ToolResult, error) {
			time.Sleep(time.Second)
			return &ai.ToolResult{}, nil
		}), raw(t, "exit", func(context.Context, *ai.ToolCall) (*ai.ToolResult, error) {
			runtime.Goexit()
			return nil, nil
		}))
		var wg sync.WaitGroup
		returned := false
		wg.Go(func() {
			_, _ = ai.Resolve(context.Background(), set, modelSays(wish("sleep", "a", ""), wish("exit", "b", "")), &ai.ResolveOptions{Journal: &book})
			returned = true
		})
		wg.Wait()
		require.False(t, returned)
		require.Equal(t, []string{"settled a: result ", "settled b: error panic, in doubt", "started a", "started b"}, book.sorted())
	})
}

// A host whose inner call is in doubt is in doubt itself: under ReportErrors its
// model would else be told of a plain error, and might do it again.
func TestDoubtOfAnInnerCall(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		inner   func() error
		inDoubt bool
	}{
		"in doubt": {func() error { panic("half way") }, true},
		"error":    {func() error { return errBroken }, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var inner ai.Registry
			require.NoError(t, inner.Register(declared(t, ai.ToolDefinition{}, test.inner)))
			wrap := &ai.Middleware{Name: "wrap", Wrap: func(ctx context.Context, _ *ai.ToolCall, next ai.Next) (*ai.ToolResult, error) {
				_, err := next(ctx)
				return nil, fmt.Errorf("inside: %w", err)
			}}
			host := newRaw(t, &ai.ToolDefinition{Name: "host", ReadOnly: true}, func(ctx context.Context, call *ai.ToolCall) (*ai.ToolResult, error) {
				model := aitest.NewModel(t, aitest.ToolRequests(wish("tool", "x", `{}`)))
				_, err := call.Generate(ctx, "b", &inner, &ai.GenerateOptions{
					Model: model, Prompt: "go", Turn: ai.ResolveOptions{Middleware: []*ai.Middleware{wrap}},
				})
				return nil, errors.Join(errors.New("the inner conversation failed"), err)
			})
			res, err := resolve(t, newSet(t, host), &ai.ResolveOptions{OnError: ai.ReportErrors}, wish("host", "a", ""))
			if !test.inDoubt {
				finished(t, res, err)
				return
			}
			call := onlyCall(t, err)
			require.Equal(t, ai.FailedTool, call.Kind, "it is not the host that panicked")
			require.True(t, call.InDoubt)
			require.True(t, call.MayHaveActed)
		})
	}
}
