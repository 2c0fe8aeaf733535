package ai

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync/atomic"
	"time"
)

// attempt takes one call from its arguments to its outcome. It never panics.
func (t *turn) attempt(ctx context.Context, s *slot) {
	end := &s.end
	defer t.settle(ctx, s, end)
	returned := false
	defer func() {
		if v := recover(); !returned && end.Err == nil {
			t.conclude(ctx, s, end, &stepError{FailedPanic, crash(v), s})
		}
	}()
	t.perform(ctx, s, end)
	returned = true
}

// perform does the steps before and after the middleware.
func (t *turn) perform(ctx context.Context, s *slot, end *Settlement) {
	result, err := t.prepared(ctx, s)
	if err == nil {
		if err = s.checkResult(result); err == nil {
			end.Result = result
			return
		}
	}
	if end.Interrupt, err = asInterrupt(err); end.Interrupt != nil {
		return
	}
	if said := asModelError(err); said != nil {
		end.Result = ErrorResult(said.Text)
		return
	}
	t.conclude(ctx, s, end, err)
}

// checkResult makes sure that a result fits the tool's schema, where it is held
// to it, and can be kept in a history.
func (s *slot) checkResult(r *ToolResult) error {
	var err error
	if r.Outcome == OutcomeSuccess {
		err = s.offer.checkOutput(r.Output)
	}
	if err == nil {
		err = r.check()
	}
	if err != nil {
		return &stepError{FailedOutput, err, s}
	}
	return nil
}

// conclude ends a call with a failure. That of a call which was given up before
// is for the journal alone.
func (t *turn) conclude(ctx context.Context, s *slot, end *Settlement, err error) {
	end.Err = t.callError(ctx, s, err)
	if s.phase.Load() < phaseDone {
		t.appeal(ctx, end)
	}
}

// appeal decides who pays for a failed call. It is the caller unless the policy
// sends the error to the model, which it can't where the caller ended the call,
// or where nobody knows what the call has done.
func (t *turn) appeal(ctx context.Context, end *Settlement) {
	failed := end.Err
	if failed.InDoubt || failed.Kind == FailedJournal || failed.Kind == FailedCanceled {
		return
	}
	policy := t.opts.OnError
	if policy == nil {
		policy = reportArguments
	}
	report := false
	err := guarded(func() error {
		report = policy(ctx, failed)
		return nil
	})
	switch {
	case err != nil:
		failed.Err = fmt.Errorf("%w (then the error policy failed: %w)", failed.Err, err)
	case report:
		end.Err, end.Result = nil, ErrorResult(failed.modelText())
	}
}

// prepared finds the tool, checks and rewrites the arguments, and calls the
// chain with them.
func (t *turn) prepared(ctx context.Context, s *slot) (*ToolResult, error) {
	if s.lookup != nil {
		return nil, &stepError{FailedLookup, s.lookup, s}
	}
	if err := t.arguments(ctx, s); err != nil {
		return nil, err
	}
	return t.next(ctx, s, 0)
}

// arguments sets the call's input: what is on record as it is, anything else
// checked, rewritten and checked again.
func (t *turn) arguments(ctx context.Context, s *slot) error {
	a, err := s.fitted()
	if err != nil {
		return &stepError{FailedArguments, err, s}
	}
	s.call.Input, s.call.Changes = a.input, a.changes
	if !s.recorded {
		if s.call.Input, err = t.rewrite(ctx, s, a.input); err != nil {
			return err
		}
	}
	s.ready = true
	return nil
}

// fitted is what the call is to run with, made to fit the schema unless it went
// through that before.
func (s *slot) fitted() (arguments, error) {
	if s.recorded {
		return arguments{s.input, s.marks.changes}, s.offer.checkInput(s.ref, s.input)
	}
	if s.edited {
		return s.offer.fit(s.ref, arguments{input: s.input})
	}
	sent, input := s.marks.argumentsError, inputOf(&s.part.ToolRequest)
	if sent == nil && s.offer.plain(input) && !s.offer.def.FillDefaults {
		return arguments{input: input}, nil // nearly always
	}
	if sent == nil && !json.Valid(input) {
		sent, s.unread = &argumentsError{Text: string(input), Problem: describe(input)}, true
	}
	a, err := s.offer.read(&s.part.ToolRequest, sent)
	if err != nil {
		return a, err
	}
	return s.offer.fit(s.ref, a)
}

// rewrite runs the rewrite hooks, outermost first, and checks what they made.
func (t *turn) rewrite(ctx context.Context, s *slot, input json.RawMessage) (json.RawMessage, error) {
	for _, m := range t.chain {
		if m.Rewrite == nil {
			continue
		}
		view := s.call.view(m.Name)
		view.Input = input
		changed, err := m.Rewrite(ctx, view)
		if it := (*InterruptError)(nil); errors.As(err, &it) {
			return nil, fmt.Errorf("ai: middleware %q asked in Rewrite; only Wrap may ask", m.Name)
		}
		if err != nil {
			return nil, err
		}
		if changed == nil {
			continue
		}
		if err := s.offer.checkInput(s.ref, changed); err != nil {
			// The model can't mend what a hook has done, so this is no argument error.
			return nil, placef(err, "ai: middleware %q rewrote the arguments: ", m.Name)
		}
		input = changed
	}
	return input, nil
}

// next runs the chain from middleware i on, and the tool at its end. Exactly one
// of the result and the error is nil, and a panic has become an error, so that
// the middleware further out sees it too.
func (t *turn) next(ctx context.Context, s *slot, i int) (result *ToolResult, err error) {
	for i < len(t.chain) && t.chain[i].Wrap == nil {
		i++
	}
	if i == len(t.chain) {
		return t.invoke(ctx, s)
	}
	m := t.chain[i]
	defer rescue(s, &result, &err)
	result, err = m.Wrap(ctx, s.call.view(m.Name), t.rest(s, i))
	if err == nil && result == nil {
		err = fmt.Errorf("ai: middleware %q returned neither a result nor an error", m.Name)
	}
	return result, err
}

// rest is what middleware i is given as next.
func (t *turn) rest(s *slot, i int) Next {
	m := t.chain[i]
	var used atomic.Bool
	return func(ctx context.Context) (*ToolResult, error) {
		if used.Swap(true) {
			if !s.offer.def.Idempotent {
				return nil, preconditionf("ai: middleware %q called next twice for tool request %s, whose tool is not idempotent",
					m.Name, label(s.call.Name, s.ref))
			}
			s.state.inner.again()
		}
		return t.next(ctx, s, i+1)
	}
}

// invoke starts the tool, unless the context has ended or the call was given up
// before it came to this.
func (t *turn) invoke(ctx context.Context, s *slot) (*ToolResult, error) {
	if err := s.barred(ctx); err != nil {
		return nil, err
	}
	if t.opts.Journal != nil {
		if err := t.journalStart(ctx, s); err != nil {
			return nil, err
		}
		if err := s.barred(ctx); err != nil {
			return nil, err // it ended while the start was being recorded
		}
	}
	if !s.start() {
		return nil, s.over()
	}
	limit := t.timeout(s)
	if limit == 0 {
		return s.callTool(ctx)
	}
	timed, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	giveUp := time.AfterFunc(limit+t.grace(), func() {
		t.giveUp(ctx, s, FailedTimeout, fmt.Errorf("did not return within %s: %w", limit, context.DeadlineExceeded))
	})
	defer giveUp.Stop()
	return s.callTool(timed)
}

// barred says why the tool may not start.
func (s *slot) barred(ctx context.Context) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if s.phase.Load() >= phaseDone {
		return s.over()
	}
	return nil
}

func (s *slot) over() error {
	return abortedf("ai: tool request %s is over: its tool was not started", label(s.call.Name, s.ref))
}

// start moves the call to its start. It is false once the call is over.
func (s *slot) start() bool {
	return s.phase.CompareAndSwap(phaseIdle, phaseStarted) || s.phase.Load() == phaseStarted
}

// callTool calls the tool under the context of this one run.
func (s *slot) callTool(ctx context.Context) (result *ToolResult, err error) {
	defer rescue(s, &result, &err)
	result, err = s.offer.tool.Call(ctx, &s.call)
	switch {
	case err != nil && ctx.Err() != nil:
		// Not every client says so in its error, but this is most likely why.
		return nil, &stepError{FailedTimeout, err, s}
	case err == nil && result == nil:
		return nil, fmt.Errorf("ai: tool %q returned neither a result nor an error", s.call.Name)
	}
	return result, err
}
