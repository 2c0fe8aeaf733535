package ai_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/holdpoint/ai"
	"github.com/holdpoint/ai/aitest"
)

// requireNoInterrupt makes sure that nobody takes a question for an error.
func requireNoInterrupt(t *testing.T, err error) {
	t.Helper()
	var it *ai.InterruptError
	require.NotErrorAs(t, err, &it)
	require.False(t, holdsInterrupt(err))
}

// holdsInterrupt walks the tree itself: errors.As may be stopped on the way.
func holdsInterrupt(err error) bool {
	switch e := err.(type) {
	case *ai.InterruptError:
		return true
	case interface{ Unwrap() []error }:
		for _, part := range e.Unwrap() {
			if holdsInterrupt(part) {
				return true
			}
		}
	case interface{ Unwrap() error }:
		return holdsInterrupt(e.Unwrap())
	}
	return false
}

// A tool's own error is found through the turn's, by errors.Is and errors.As.
func TestToolErrorIsFound(t *testing.T) {
	t.Parallel()
	set := newSet(t, fails(t, "print", fmt.Errorf("page 3: %w", errBroken)))
	_, err := resolve(t, set, nil, wish("print", "a", `{}`))
	require.ErrorIs(t, err, errBroken)
	require.EqualError(t, err, "ai: tool request print#a: page 3: the printer is on fire")
	call := onlyCall(t, err)
	var found *ai.CallError
	require.ErrorAs(t, err, &found)
	require.Same(t, call, found)
	require.Equal(t, &ai.CallError{Name: "print", Ref: "a", Kind: ai.FailedTool, MayHaveActed: true, Err: call.Err}, call)
}

// Several failures are listed in request order, whichever came first.
func TestFailuresAreInRequestOrder(t *testing.T) {
	t.Parallel()
	const n = 6
	done := make([]chan struct{}, n+1)
	errs := make([]error, n)
	for i := range done {
		done[i] = make(chan struct{})
	}
	close(done[n])
	tool, err := ai.NewTool(&ai.ToolDefinition{Name: "count"}, func(_ context.Context, _ *ai.ToolCall, in struct{ I int }) (int, error) {
		<-done[in.I+1]
		defer close(done[in.I])
		if in.I%2 == 1 {
			return in.I, nil
		}
		errs[in.I] = fmt.Errorf("number %d", in.I)
		return 0, errs[in.I]
	})
	require.NoError(t, err)
	var parts []ai.Part
	for i := range n {
		parts = append(parts, wish("count", fmt.Sprint("c", i), fmt.Sprintf(`{"I":%d}`, i)))
	}
	_, err = resolve(t, newSet(t, tool), nil, parts...)
	turn, m := failed(t, err)
	require.EqualError(t, err, "ai: 3 tool requests failed: tool request count#c0: number 0; "+
		"tool request count#c2: number 2; tool request count#c4: number 4")
	require.Len(t, turn.Calls, 3)
	for i, call := range turn.Calls {
		require.Equal(t, fmt.Sprint("c", 2*i), call.Ref)
		require.ErrorIs(t, err, errs[2*i])
	}
	require.Equal(t, "3", string(requestOf(t, m, "c3").Metadata["pendingOutput"]))
}

// A panic in any call is an error with the stack of where it happened, and costs
// the siblings nothing.
func TestPanics(t *testing.T) {
	t.Parallel()
	for name, ctx := range map[string]context.Context{"cancelable": t.Context(), "inline": context.Background()} {
		for _, refs := range []string{"p", "p.", ".p", ".p.", "pp", ".pp."} {
			t.Run(name+" "+refs, func(t *testing.T) {
				t.Parallel()
				set := newSet(t, raw(t, "p", panicAttack), gives(t, "ok", "1"))
				var parts []ai.Part
				for i, r := range refs {
					parts = append(parts, wish(map[rune]string{'p': "p", '.': "ok"}[r], fmt.Sprint(i), ""))
				}
				_, err := resolveIn(t, ctx, set, nil, parts...)
				turn, m := failed(t, err)
				require.Len(t, turn.Calls, strings.Count(refs, "p"))
				for _, call := range turn.Calls {
					require.Equal(t, ai.FailedPanic, call.Kind)
					require.True(t, call.InDoubt, "nobody knows how far it came")
					var panicked *ai.PanicError
					require.ErrorAs(t, call, &panicked)
					require.ErrorIs(t, panicked, errBroken)
					require.Contains(t, string(panicked.Stack), "panicAttack")
				}
				for i, r := range refs {
					md := requestOf(t, m, fmt.Sprint(i)).Metadata
					require.Equal(t, r == '.', string(md["pendingOutput"]) == "1")
				}
			})
		}
	}
}

func panicAttack(context.Context, *ai.ToolCall) (*ai.ToolResult, error) { panic(errBroken) }

// A panic is what it is, whatever is passed to it: with an interrupt, a
// cancellation or nil as its value it is still no question and no cancellation.
func TestPanicValues(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		value any
		text  string
	}{
		"text":          {"oh no", "panic: oh no"},
		"nil":           {nil, "panic called with nil argument"},
		"interrupt":     {&ai.InterruptError{Data: json.RawMessage("1")}, "panic: ai: the call is interrupted"},
		"wrapped":       {fmt.Errorf("so: %w", &ai.InterruptError{Data: json.RawMessage("1")}), "panic: so: ai: the call is interrupted"},
		"for the model": {&ai.ModelError{Text: "so sorry"}, "panic: so sorry"},
		"cancellation":  {context.Canceled, "panic: context canceled"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			tool := raw(t, "p", func(context.Context, *ai.ToolCall) (*ai.ToolResult, error) { panic(test.value) })
			wrap := &ai.Middleware{Name: "m", Wrap: func(context.Context, *ai.ToolCall, ai.Next) (*ai.ToolResult, error) { panic(test.value) }}
			rewrite := &ai.Middleware{Name: "m", Rewrite: func(context.Context, *ai.ToolCall) (json.RawMessage, error) { panic(test.value) }}
			for _, chain := range [][]*ai.Middleware{nil, {wrap}, {rewrite}} {
				_, err := resolve(t, newSet(t, tool), &ai.ResolveOptions{Middleware: chain}, wish("p", "a", ""))
				call := onlyCall(t, err)
				require.Equal(t, ai.FailedPanic, call.Kind)
				require.Equal(t, chain == nil, call.InDoubt, "middleware panicked before the tool was started")
				var panicked *ai.PanicError
				require.ErrorAs(t, err, &panicked)
				require.NotEmpty(t, panicked.Stack)
				require.ErrorContains(t, err, test.text)
				requireNoInterrupt(t, err)
			}
		})
	}
}

// All kinds of ends in one turn: nothing is lost, and resuming answers what is open.
func TestFailuresResultsAndInterruptsTogether(t *testing.T) {
	t.Parallel()
	broken := true
	set := newSet(t, gives(t, "look", `"seen"`), asks(t, "ask", "sure?", `"asked"`), raw(t, "print",
		func(context.Context, *ai.ToolCall) (*ai.ToolResult, error) {
			if broken {
				return nil, errBroken
			}
			return &ai.ToolResult{Output: json.RawMessage(`"printed"`)}, nil
		}))
	_, err := resolve(t, set, nil, wish("look", "1", ""), wish("ask", "2", ""), wish("print", "3", ""), wish("look", "4", `7`), wish("nobody", "5", ""))
	turn, m := failed(t, err)
	require.Len(t, turn.Calls, 2)
	require.Len(t, turn.Interrupts(), 1)
	require.Equal(t, "2", turn.Interrupts()[0].Request.ToolRequest.Ref)
	require.Equal(t, []string{"2", "3", "5"}, refsOf(&ai.Message{Content: partsOf(turn.Open())}))
	requireNoInterrupt(t, err)
	require.Equal(t, `"seen"`, string(requestOf(t, m, "1").Metadata["pendingOutput"]))
	require.Contains(t, string(requestOf(t, m, "4").Metadata["pendingMetadata"]), "isError")
	require.JSONEq(t, `{"kind":"lookup","text":"the tool is not available","mayHaveActed":false}`, string(requestOf(t, m, "5").Metadata["failure"]))

	broken = false
	res, err := resume(t, set, m, &ai.Answers{
		Restart: restarts(yes(t, requestOf(t, m, "2")), yes(t, requestOf(t, m, "3"))).Restart,
		Respond: responds(no(t, requestOf(t, m, "5"), "gone")).Respond,
	}, nil)
	finished(t, res, err)
	require.Equal(t, []string{`"seen"`, `"asked"`, `"printed"`}, outputsOf(t, res.Tool)[:3])
	require.Equal(t, `"Denied: gone"`, outputsOf(t, res.Tool)[4])
}

func partsOf(requests []*ai.ToolRequestPart) ai.Parts {
	var parts ai.Parts
	for _, p := range requests {
		parts = append(parts, p)
	}
	return parts
}

// An interrupt is found however it is wrapped; beside a real error it is none,
// and only the error is left.
func TestInterruptsAndErrors(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		mix  func(it error) error
		asks bool
	}{
		"plain":           {func(it error) error { return it }, true},
		"wrapped":         {func(it error) error { return fmt.Errorf("in the middle: %w", it) }, true},
		"joined alone":    {func(it error) error { return errors.Join(nil, it) }, true},
		"two questions":   {func(it error) error { return errors.Join(it, fmt.Errorf("and %w", it)) }, true},
		"beside an error": {func(it error) error { return errors.Join(it, errBroken) }, false},
		"before an error": {func(it error) error { return fmt.Errorf("%w, but %w", it, errBroken) }, false},
		"deep":            {func(it error) error { return fmt.Errorf("so: %w", errors.Join(errBroken, fmt.Errorf("then: %w", it))) }, false},
		"in a call error": {func(it error) error { return errors.Join(&ai.CallError{Name: "x", Err: it}, errBroken) }, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			set := newSet(t, raw(t, "tool", func(_ context.Context, call *ai.ToolCall) (*ai.ToolResult, error) {
				return nil, test.mix(call.Interrupt("why"))
			}))
			res, err := resolve(t, set, nil, wish("tool", "a", ""))
			if test.asks {
				require.NoError(t, err)
				require.Equal(t, `"why"`, string(res.Interrupts()[0].Data))
				return
			}
			require.ErrorIs(t, err, errBroken)
			turn, _ := failed(t, err)
			require.Empty(t, turn.Interrupts())
			requireNoInterrupt(t, err)
		})
	}
}

// Nor does one get into the tree by any other way.
func TestNoInterruptAmongErrors(t *testing.T) {
	t.Parallel()
	it := &ai.InterruptError{Data: json.RawMessage("1")}
	set := newSet(t, gives(t, "look", "1"))
	for name, opts := range map[string]*ai.ResolveOptions{
		"rewrite": {Middleware: []*ai.Middleware{{Name: "m", Rewrite: func(_ context.Context, call *ai.ToolCall) (json.RawMessage, error) {
			return nil, call.Interrupt("may I?")
		}}}},
		"settled": {Journal: &ledgerBook{settled: func(context.Context, *ai.ToolCall, *ai.Settlement) error { return it }}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := resolve(t, set, opts, wish("look", "a", ""))
			turn, m := failed(t, err)
			require.Empty(t, turn.Interrupts())
			require.NotContains(t, requestOf(t, m, "a").Metadata, "interrupt")
			requireNoInterrupt(t, err)
		})
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	stop := raw(t, "stop", func(ctx context.Context, _ *ai.ToolCall) (*ai.ToolResult, error) {
		cancel(it)
		return nil, context.Cause(ctx)
	})
	_, err := resolveIn(t, ctx, newSet(t, stop), &ai.ResolveOptions{Limit: 1}, wish("stop", "a", ""), wish("stop", "b", ""))
	require.NotNil(t, aitest.Reload(t, err.(*ai.TurnError).Model))
	requireNoInterrupt(t, err)
}
