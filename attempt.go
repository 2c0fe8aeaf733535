package ai

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"runtime/debug"
	"sync/atomic"
	"time"
)

// attempt takes one call from its arguments to its outcome. It never panics.
func (t *turn) attempt(ctx context.Context, s *slot) {
	end := &Settlement{}
	returned := false
	defer func() {
		if !returned {
			t.conclude(ctx, s, end, t.callError(ctx, s, crash(recover())))
		}
		t.settle(ctx, s, end)
	}()
	t.perform(ctx, s, end)
	returned = true
}

// crash turns what ended a function without a return into an error. A nil value
// means that the goroutine was ended by runtime.Goexit.
func crash(v any) error {
	if v == nil {
		return &PanicError{Value: errors.New("runtime.Goexit was called"), Stack: debug.Stack()}
	}
	return &PanicError{Value: v, Stack: debug.Stack()}
}

// perform does the steps before and after the middleware.
func (t *turn) perform(ctx context.Context, s *slot, end *Settlement) {
	result, err := t.prepared(ctx, s)
	if err == nil && result == nil {
		err = fmt.Errorf("ai: tool %q returned neither a result nor an error", s.call.Name)
	}
	if err == nil && result.Outcome == OutcomeSuccess {
		if bad := s.offer.checkOutput(result.Output); bad != nil {
			err = &stepError{FailedOutput, bad}
		}
	}
	if err == nil {
		end.Result = result
		return
	}
	if end.Interrupt, err = asInterrupt(err); end.Interrupt != nil {
		return
	}
	t.conclude(ctx, s, end, t.callError(ctx, s, err))
}

// conclude decides who pays for a failed call. It is the caller unless the
// policy sends the error to the model, which it can't for a call in doubt.
func (t *turn) conclude(ctx context.Context, s *slot, end *Settlement, failed *CallError) {
	policy := t.opts.OnError
	if policy == nil {
		policy = reportArguments
	}
	if !failed.InDoubt && failed.Kind != FailedJournal && policy(ctx, failed) {
		end.Result = ErrorResult(failed.modelText())
		return
	}
	end.Err = failed
}

// prepared finds the tool, checks and rewrites the arguments, and calls the
// chain with them.
func (t *turn) prepared(ctx context.Context, s *slot) (*ToolResult, error) {
	if s.lookup != nil {
		return nil, &stepError{FailedLookup, s.lookup}
	}
	if err := t.arguments(ctx, s); err != nil {
		return nil, err
	}
	return t.next(ctx, s, 0)
}

// arguments sets the call's input: what is on record as it is, anything else
// checked, rewritten and checked again.
func (t *turn) arguments(ctx context.Context, s *slot) error {
	if s.marks.argumentsError != nil && s.input == nil {
		return &stepError{FailedArguments, s.offer.malformed(s.ref, s.marks.argumentsError)}
	}
	input := s.input
	if input == nil {
		input = inputOf(&s.part.ToolRequest)
	}
	if err := s.offer.checkInput(s.ref, input); err != nil {
		if !json.Valid(input) {
			s.malformed = &argumentsError{Text: string(input), Problem: describe(nil)}
		}
		return &stepError{FailedArguments, err}
	}
	s.call.Input = input
	if s.recorded {
		return nil
	}
	return t.rewrite(ctx, s)
}

// rewrite runs the rewrite hooks, outermost first, and checks what they made.
func (t *turn) rewrite(ctx context.Context, s *slot) error {
	for _, m := range t.chain {
		if m.Rewrite == nil {
			continue
		}
		changed, err := m.Rewrite(ctx, s.call.view(m.Name))
		if it := (*InterruptError)(nil); errors.As(err, &it) {
			return fmt.Errorf("ai: middleware %q asked in Rewrite; only Wrap may ask", m.Name)
		}
		if err != nil {
			return err
		}
		if changed == nil {
			continue
		}
		if err := s.offer.checkInput(s.ref, changed); err != nil {
			// The model can't mend what a hook has done, so this is no argument error.
			return &kindError{ErrNotDone, fmt.Errorf("ai: middleware %q rewrote the arguments: %w", m.Name, err)}
		}
		s.call.Input = changed
	}
	return nil
}

// next runs the chain from middleware i on, and the tool at its end.
func (t *turn) next(ctx context.Context, s *slot, i int) (*ToolResult, error) {
	for i < len(t.chain) && t.chain[i].Wrap == nil {
		i++
	}
	if i == len(t.chain) {
		return t.invoke(ctx, s)
	}
	m := t.chain[i]
	var used atomic.Bool
	return m.Wrap(ctx, s.call.view(m.Name), func(ctx context.Context) (*ToolResult, error) {
		if used.Swap(true) && !s.offer.def.Idempotent {
			return nil, preconditionf("ai: middleware %q called next twice for tool request %s, whose tool is not idempotent",
				m.Name, label(s.call.Name, s.ref))
		}
		return t.next(ctx, s, i+1)
	})
}

// invoke starts the tool, unless the context has ended or the call was given up
// before it came to this.
func (t *turn) invoke(ctx context.Context, s *slot) (*ToolResult, error) {
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	if !s.phase.CompareAndSwap(phaseIdle, phaseStarted) && s.phase.Load() != phaseStarted {
		return nil, abortedf("ai: tool request %s was given up before it started", label(s.call.Name, s.ref))
	}
	if j := t.opts.Journal; j != nil {
		if err := j.Started(ctx, &s.call); err != nil {
			return nil, &stepError{FailedJournal, err}
		}
	}
	limit := t.timeout(s)
	if limit == 0 {
		return caught(ctx, s)
	}
	timed, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	giveUp := time.AfterFunc(limit+t.grace(), func() {
		t.giveUp(ctx, s, FailedTimeout, fmt.Errorf("did not return within %s: %w", limit, context.DeadlineExceeded))
	})
	defer giveUp.Stop()
	return caught(timed, s)
}

// caught calls the tool and turns a panic into an error, so that middleware
// sees it too.
func caught(ctx context.Context, s *slot) (result *ToolResult, err error) {
	defer func() {
		if v := recover(); v != nil {
			result, err = nil, crash(v)
		}
	}()
	return s.offer.tool.Call(ctx, &s.call)
}

// settle hands over the outcome of an attempt, unless the call was given up.
func (t *turn) settle(ctx context.Context, s *slot, end *Settlement) {
	prior := s.phase.Swap(phaseDone)
	if prior == phaseAbandoned {
		end.Late = true
		t.record(ctx, &s.call, end)
		return
	}
	s.ran = prior == phaseStarted
	s.takeInput()
	t.close(ctx, s, &s.call, end)
}

// close accepts the outcome that counts, journals it and frees the call's place.
func (t *turn) close(ctx context.Context, s *slot, call *ToolCall, end *Settlement) {
	s.accept(end)
	if err := t.record(ctx, call, end); err != nil {
		s.journal = &CallError{Name: s.call.Name, Ref: s.ref, Path: s.call.Path, Kind: FailedJournal, Err: err}
	}
	s.group.release()
}

// giveUp settles a call that did not return in time as failed and, where it may
// have acted, in doubt. Its goroutine is left behind.
func (t *turn) giveUp(ctx context.Context, s *slot, kind FailureKind, cause error) {
	failed := &CallError{Name: s.call.Name, Ref: s.ref, Path: s.call.Path, Kind: kind, Err: cause}
	call := &ToolCall{Name: s.call.Name, Ref: s.ref, Path: s.call.Path, Definition: s.call.Definition}
	switch {
	case s.phase.CompareAndSwap(phaseStarted, phaseAbandoned):
		failed.MayHaveActed = mayAct(s.offer.def)
		failed.InDoubt = failed.MayHaveActed
		s.ran = true
		s.takeInput()
		call = &s.call
	case s.phase.CompareAndSwap(phaseIdle, phaseAbandoned):
	default:
		return // it has just returned
	}
	t.gaveUp.Store(true)
	t.close(ctx, s, call, &Settlement{Err: failed})
}

// record journals an outcome, under a context that outlives the turn's.
func (t *turn) record(ctx context.Context, call *ToolCall, end *Settlement) error {
	if t.opts.Journal == nil {
		return nil
	}
	return t.opts.Journal.Settled(context.WithoutCancel(ctx), call, end)
}

// stepError says at which step a call failed.
type stepError struct {
	kind FailureKind
	err  error
}

func (e *stepError) Error() string { return e.err.Error() }
func (e *stepError) Unwrap() error { return e.err }

func mayAct(def *ToolDefinition) bool { return !def.ReadOnly && !def.Idempotent }

// callError describes why a call failed and what is known of its effect.
func (t *turn) callError(ctx context.Context, s *slot, err error) *CallError {
	failed := &CallError{Name: s.call.Name, Ref: s.ref, Path: s.call.Path, Kind: FailedTool, Err: err}
	cut := errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded)
	var step *stepError
	var panicked *PanicError
	switch {
	case errors.As(err, &step):
		failed.Kind, failed.Err = step.kind, step.err
	case errors.As(err, &panicked):
		failed.Kind = FailedPanic
	case ctx.Err() != nil && (cut || errors.Is(err, context.Cause(ctx))):
		failed.Kind, cut = FailedCanceled, true
	case errors.Is(err, context.DeadlineExceeded) && t.timeout(s) > 0:
		failed.Kind = FailedTimeout
	}
	if s.phase.Load() == phaseIdle || failed.Kind == FailedJournal || errors.Is(err, ErrNotDone) {
		return failed
	}
	failed.MayHaveActed = mayAct(s.offer.def)
	failed.InDoubt = failed.MayHaveActed && (cut || failed.Kind == FailedPanic)
	return failed
}

// modelText is what the model is told of the failure.
func (e *CallError) modelText() string {
	var args *ArgumentError
	switch {
	case e.Kind == FailedArguments && errors.As(e.Err, &args):
		return args.ModelText()
	case e.Kind == FailedPanic:
		return e.safeText()
	}
	return trimPrefix(e.Err.Error())
}

// canceledBefore is the error for a turn whose context ended before it began.
func canceledBefore(ctx context.Context) error {
	return fmt.Errorf("ai: nothing was started: %w", context.Cause(ctx))
}
