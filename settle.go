package ai

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
)

// settle hands over the outcome of an attempt, unless the call was given up.
func (t *turn) settle(ctx context.Context, s *slot, end *Settlement) {
	prior := s.phase.Swap(phaseDone)
	if prior > phaseDone {
		t.journalLate(ctx, s, end)
		return
	}
	s.ran = prior == phaseStarted
	s.takeInput()
	t.close(ctx, s, &s.call, end)
}

// giveUp settles a call that did not return in time as failed and, where it may
// have acted, in doubt. Its goroutine is left behind.
func (t *turn) giveUp(ctx context.Context, s *slot, kind FailureKind, cause error) {
	failed := s.failed(kind, cause)
	call := &ToolCall{Name: s.call.Name, Ref: s.ref, Path: s.call.Path, Definition: s.call.Definition, state: &s.state}
	switch {
	case s.phase.CompareAndSwap(phaseStarted, phaseAbandoned):
		failed.MayHaveActed = mayAct(s.offer.def)
		failed.InDoubt = failed.MayHaveActed
		s.ran = true
		s.takeInput()
		call = &s.call
	case s.phase.CompareAndSwap(phaseIdle, phaseDropped):
	default:
		return // it has just returned
	}
	t.gaveUp.Store(true)
	if s.givenUp != nil {
		defer close(s.givenUp)
	}
	end := &Settlement{Err: failed}
	t.appeal(ctx, end)
	t.close(ctx, s, call, end)
}

// close accepts the outcome that counts, journals it and frees the call's place,
// whatever the journal does.
func (t *turn) close(ctx context.Context, s *slot, call *ToolCall, end *Settlement) {
	defer s.group.release()
	s.accept(end)
	if t.opts.Journal == nil {
		return
	}
	err := errGoexit // unless it returns
	defer func() {
		if err != nil {
			s.journal = s.failed(FailedJournal, fmt.Errorf("its outcome could not be recorded: %w", err))
		}
	}()
	err = t.journalEnd(ctx, s, call, end)
}

var errGoexit = errors.New("runtime.Goexit was called")

// crash turns what ended a function without a return into an error. A nil value
// means that the goroutine was ended by runtime.Goexit.
func crash(v any) error {
	if v == nil {
		v = errGoexit
	}
	var it *InterruptError
	var said *ModelError
	if err, ok := v.(error); ok && (errors.As(err, &it) || errors.As(err, &said)) {
		v = err.Error() // to panic is neither to ask nor to answer
	}
	return &PanicError{Value: v, Stack: debug.Stack()}
}

// rescue turns a panic into the error of the call. It is to be deferred.
func rescue(s *slot, result **ToolResult, err *error) {
	if v := recover(); v != nil {
		*result, *err = nil, &stepError{FailedPanic, crash(v), s}
	}
}

// guarded runs code of the caller whose panic must not cost what the turn knows.
func guarded(run func() error) (err error) {
	defer func() {
		if v := recover(); v != nil {
			err = crash(v)
		}
	}()
	return run()
}

// stepError says at which step a call failed.
type stepError struct {
	kind  FailureKind
	err   error
	owner *slot // the call; calls further in have steps of their own
}

func (e *stepError) Error() string { return e.err.Error() }
func (e *stepError) Unwrap() error { return e.err }

func mayAct(def *ToolDefinition) bool { return !def.ReadOnly && !def.Idempotent }

// asModelError finds what a call has to say to the model. Where something else
// failed beside it, or the journal did, the call has failed.
func asModelError(err error) *ModelError {
	for err != nil {
		if said, ok := err.(*ModelError); ok {
			return said
		}
		if step, ok := err.(*stepError); ok && step.kind == FailedJournal {
			return nil
		}
		err = errors.Unwrap(err) // which stops at joined errors
	}
	return nil
}

// failed is a failure of the call. It holds no interrupt, since nobody may take
// one for an error.
func (s *slot) failed(kind FailureKind, err error) *CallError {
	kept := withoutInterrupts(err)
	if kept == nil {
		kept = errors.New(err.Error())
	}
	return &CallError{Name: s.call.Name, Ref: s.ref, Path: s.call.Path, Kind: kind, Err: kept}
}

// callError describes why a call failed and what is known of its effect.
func (t *turn) callError(ctx context.Context, s *slot, err error) *CallError {
	failed := s.failed(FailedTool, err)
	cut := errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded)
	var step *stepError
	if errors.As(err, &step) && step.owner == s {
		failed.Kind = step.kind
		cut = cut || step.kind == FailedTimeout
		if err == error(step) {
			failed.Err = step.err
		}
	}
	if (failed.Kind == FailedTool || failed.Kind == FailedTimeout) && ctx.Err() != nil && (cut || errors.Is(err, context.Cause(ctx))) {
		failed.Kind, cut = FailedCanceled, true
	}
	if s.started() && failed.Kind != FailedJournal && !errors.Is(err, ErrNotDone) {
		failed.MayHaveActed = mayAct(s.offer.def)
		failed.InDoubt = failed.MayHaveActed && (cut || failed.Kind == FailedPanic)
	}
	if innerDoubt(err) {
		failed.MayHaveActed, failed.InDoubt = true, true
	}
	return failed
}

// started reports whether the tool was started.
func (s *slot) started() bool {
	phase := s.phase.Load()
	return phase == phaseStarted || phase == phaseAbandoned
}

// innerDoubt reports whether an error holds the failure of a call in doubt. That
// of a host that passes it on is in doubt then, whatever the host is by itself.
func innerDoubt(err error) bool {
	if failed, ok := err.(*CallError); ok && failed.InDoubt {
		return true
	}
	switch e := err.(type) {
	case interface{ Unwrap() []error }:
		for _, part := range e.Unwrap() {
			if innerDoubt(part) {
				return true
			}
		}
	case interface{ Unwrap() error }:
		return innerDoubt(e.Unwrap())
	}
	return false
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
