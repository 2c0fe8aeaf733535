package session

import (
	"crypto/rand"
	"encoding/json"
	"fmt"
	"maps"
	"time"

	"github.com/holdpoint/ai"
)

const keyPath = "path"

// startable reports whether anything can be run now: the model owes a reply, or a
// call can be started.
func (s *state) startable() bool {
	if len(s.top.messages) == 0 {
		return false
	}
	if !s.top.open() {
		_, done := s.top.finished()
		return !done
	}
	for _, c := range s.leaves() {
		if c.starts() {
			return true
		}
	}
	return false
}

// starts reports whether a call without a result is started by the next step.
func (c *call) starts() bool {
	_, waits := c.part.Metadata[keyNotStarted]
	return !c.touched || waits || c.reentrant() || c.again()
}

// again reports whether a call that was started before is started again: somebody
// said so, or it has provably not acted, or doing so is harmless by declaration.
func (c *call) again() bool {
	if c.asked != nil {
		d := c.asked.decision
		return d != nil && (d.Verdict == Approve || d.Verdict == Edit || d.Verdict == Respond)
	}
	acted, _, failed := c.failure()
	return failed && !acted
}

// answers are what is to be carried out now, as package ai takes it.
func (s *state) answers() (*ai.Answers, error) {
	answers := &ai.Answers{}
	for _, c := range s.leaves() {
		if !c.again() || c.reentrant() {
			continue
		}
		if err := c.answer(answers); err != nil {
			return nil, err
		}
	}
	return answers, nil
}

// answer adds what was decided about one call.
func (c *call) answer(answers *ai.Answers) error {
	request, err := c.addressed()
	if err != nil {
		return err
	}
	d := c.decision()
	if d != nil && d.Verdict == Respond {
		response, err := ai.Respond(request, d.Output)
		if err == nil {
			answers.Respond = append(answers.Respond, response)
		}
		return err
	}
	opts := &ai.RestartOptions[json.RawMessage]{}
	if d != nil && c.asked.Reason == ReasonInterrupt && d.Data != nil {
		opts.Resumed = d.Data
	}
	if d != nil && d.Verdict == Edit {
		opts.NewInput = &d.Input
	}
	restart, err := ai.Restart(request, opts)
	if err == nil {
		answers.Restart = append(answers.Restart, restart)
	}
	return err
}

// addressed is the request with the path to its conversation, which answers take
// from there.
func (c *call) addressed() (*ai.ToolRequestPart, error) {
	if len(c.path()) == 0 {
		return c.part, nil
	}
	part := *c.part
	part.Metadata = maps.Clone(c.part.Metadata)
	return &part, part.Metadata.Set(keyPath, c.path())
}

// settleDecided writes the outcomes of calls that are not to run: denials, and what
// came about without anybody. No tool is needed for that.
func (r *run) settleDecided() error {
	var settled []*entry
	now := time.Now()
	err := r.w.view(func(s *state) error {
		for _, c := range s.leaves() {
			result := c.refused(now)
			if result == nil {
				continue
			}
			e, err := c.settle(result)
			if err != nil {
				return err
			}
			settled = append(settled, e)
		}
		return nil
	})
	if err != nil {
		return err
	}
	return r.w.later(settled...)
}

// refused is the result of a call that is not to run, or nil.
func (c *call) refused(now time.Time) *ai.ToolResult {
	if c.asked == nil {
		return nil
	}
	past := func(deadline time.Time) bool { return !deadline.IsZero() && now.After(deadline) }
	switch d := c.asked.decision; {
	case d == nil && past(c.asked.AnswerBefore):
		return c.refusal(&Decision{Verdict: Expired})
	case d == nil || d.Verdict == Respond:
		return nil
	case d.Verdict == Approve || d.Verdict == Edit:
		if past(c.asked.StartBefore) {
			return ai.OutcomeResult(ai.OutcomeExpired, "It was approved, but too late to start it. The call did not run.")
		}
		return nil
	default:
		return c.refusal(d)
	}
}

// refusal is the result of a call that a decision settles without running it. Of
// one that may have acted nobody can say that it did not happen.
func (c *call) refusal(d *Decision) *ai.ToolResult {
	if acted, _, failed := c.failure(); failed && acted {
		return ai.OutcomeResult(ai.OutcomeUnknown, unknownText(d))
	}
	switch d.Verdict {
	case Expired:
		return ai.OutcomeResult(ai.OutcomeExpired, "Nobody answered in time. The call did not run.")
	case Superseded:
		return ai.OutcomeResult(ai.OutcomeSuperseded, "The user went on without an answer. The call did not run.")
	}
	return ai.DeniedResult(d.Reason)
}

func unknownText(d *Decision) string {
	text := "Nobody knows whether this call took effect. It may have happened: do not repeat it."
	if d.Reason != "" {
		text += " " + d.Reason
	}
	return text
}

// settle is the entry of an outcome that comes without running the call.
func (c *call) settle(result *ai.ToolResult) (*entry, error) {
	part, err := ai.Settle(c.part, result)
	if err != nil {
		return nil, err
	}
	return &entry{Kind: kindOutcome, Path: c.path(), Call: &callEntry{
		Ref: part.ToolRequest.Ref, Name: c.name(), State: part.Metadata, Outcome: ending(result.Outcome),
	}}, nil
}

// name is the full name as far as it is known.
func (c *call) name() string {
	if c.tool != "" {
		return c.tool
	}
	return c.part.ToolRequest.Name
}

// supersede is what new input settles: all that is open in the session's own
// conversation, and with it everything inside.
func (s *state) supersede(in *Input) ([]*entry, error) {
	if !s.top.open() {
		return nil, nil
	}
	if !in.Supersede {
		return nil, fmt.Errorf("%w: session %q waits for answers, so it takes no new input", ErrPaused, s.id)
	}
	var list []*entry
	for _, c := range s.top.calls {
		if c.settled() {
			continue
		}
		result := c.refusal(&Decision{Verdict: Superseded})
		for _, leaf := range c.leaves() {
			if acted, _, failed := leaf.failure(); failed && acted {
				result = ai.OutcomeResult(ai.OutcomeUnknown, unknownText(&Decision{}))
			}
		}
		e, err := c.settle(result)
		if err != nil {
			return nil, err
		}
		list = append(list, e)
	}
	return list, nil
}

// ask makes the questions about calls that nobody is asked about yet.
func (r *run) ask(s *state) (list []*asking, err error) {
	defer func() {
		if v := recover(); v != nil {
			list, err = nil, fmt.Errorf("session: Deadlines panicked: %v", v)
		}
	}()
	for _, c := range s.leaves() {
		reason := c.reason()
		if reason == "" || c.asked != nil || c.reentrant() {
			continue
		}
		a := &asking{
			ID: "ask_" + rand.Text(), Path: c.path(), Ref: c.part.ToolRequest.Ref, Reason: reason, Digest: c.digest,
		}
		if reason == ReasonInDoubt && c.running {
			a.Owner = r.claim.Before()
		}
		if r.m.Deadlines != nil && reason != ReasonInDoubt {
			shown := *c
			shown.asked = a
			a.AnswerBefore, a.StartBefore = r.m.Deadlines(s.pending(&shown))
		}
		list = append(list, a)
	}
	return list, nil
}

func notFound(id string) error { return fmt.Errorf("%w: session %q", ErrNotFound, id) }

func conflictf(format string, args ...any) error {
	return fmt.Errorf("%w: %w", ErrConflict, fmt.Errorf(format, args...))
}
