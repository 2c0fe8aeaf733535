package session

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/holdpoint/ai"
)

// Decide keeps decisions about open askings of a session, all of them or none. It
// starts nothing: Run carries them out. It needs no claim, so it works while the
// session runs.
//
// Everything is checked before anything is kept. An asking that is not there is
// ErrNotFound; one that was decided, is over, or is no longer what was shown is a
// *ConflictError; one whose deadline has passed is ErrTooLate; input or output that
// does not fit is an error of package ai. The same decision, by its ID, sent again
// succeeds.
func (m *Manager) Decide(ctx context.Context, id string, decisions ...*Decision) error {
	if m.Store == nil {
		return m.check()
	}
	s, err := load(ctx, m.Store, id)
	if err != nil {
		return err
	}
	if s.revision.N == 0 {
		return notFound(id)
	}
	kept := make([]*Decision, 0, len(decisions))
	for i, d := range decisions {
		if d == nil {
			return fmt.Errorf("%w: session: decision %d is nil", ai.ErrInvalidArgument, i)
		}
		if slices.ContainsFunc(kept, func(k *Decision) bool { return k.Pending == d.Pending }) {
			return fmt.Errorf("%w: session: asking %s is decided twice", ai.ErrInvalidArgument, d.Pending)
		}
		k, err := m.admissible(ctx, s, d)
		if err != nil {
			return err
		}
		kept = append(kept, k)
	}
	return m.keep(ctx, s, kept)
}

// admissible checks a decision, and makes what is kept of it.
func (m *Manager) admissible(ctx context.Context, s *state, d *Decision) (*Decision, error) {
	c, err := s.asking(d)
	if err != nil {
		return nil, err
	}
	k := *d
	if k.ID == "" {
		k.ID = "decision_" + rand.Text()
	}
	if c == nil {
		return &k, nil // it is there already
	}
	p := s.pending(c)
	if !p.takes(k.Verdict) {
		// Nobody may get a yes by writing nonsense.
		k = Decision{ID: k.ID, Pending: k.Pending, By: k.By, Verdict: Deny, Reason: k.Reason}
	}
	if m.CanDecide != nil {
		if err := m.CanDecide(ctx, p, &k); err != nil {
			return nil, err
		}
	}
	return &k, m.fits(ctx, c, &k)
}

// asking finds the call that a decision is about. It is nil where the very same
// decision is on record.
func (s *state) asking(d *Decision) (*call, error) {
	a := s.askings[d.Pending]
	if a == nil {
		return nil, fmt.Errorf("%w: session %q has no asking %q", ErrNotFound, s.id, d.Pending)
	}
	if a.decision != nil {
		if d.ID != "" && a.decision.ID == d.ID {
			return nil, nil
		}
		return nil, &ConflictError{Pending: d.Pending, Won: a.decision}
	}
	for _, c := range s.leaves() {
		if c.asked != a {
			continue
		}
		if d.Digest != "" && d.Digest != a.Digest {
			return nil, &ConflictError{Pending: d.Pending, Now: s.pending(c)}
		}
		return c, nil
	}
	return nil, &ConflictError{Pending: d.Pending}
}

// takes reports whether an asking can be answered that way. What middleware asks is
// whether the call may run: nobody may put a result in its place.
func (p *Pending) takes(v Verdict) bool {
	switch v {
	case Deny, Approve:
		return true
	case Respond:
		return p.By == ""
	case Edit:
		return p.Reason != ReasonInDoubt
	}
	return false
}

// fits checks a decision against the tool of the call, as far as that is known
// here: the tools of a conversation inside a call are known when it resumes.
func (m *Manager) fits(ctx context.Context, c *call, d *Decision) error {
	if d.Verdict == Deny {
		return nil
	}
	if d.Verdict == Approve && c.asked.Owner == OwnerSilent && !d.Override {
		return fmt.Errorf("%w: session: call %s may still be running, since its owner is only silent; to run it again takes Override",
			ai.ErrFailedPrecondition, c.part.ToolRequest.Ref)
	}
	if d.Data != nil && !isObject(d.Data) {
		return fmt.Errorf("%w: session: the data of a decision must be a JSON object", ai.ErrInvalidArgument)
	}
	if len(c.path()) > 0 {
		return nil
	}
	tools, err := m.toolSet(ctx)
	if err != nil {
		return err
	}
	if d.Verdict == Respond {
		return tools.CheckOutput(c.part, d.Output)
	}
	return c.checkInput(tools, d)
}

// checkInput checks what would run against today's schema.
func (c *call) checkInput(tools *ai.ToolSet, d *Decision) error {
	request := *c.part
	if d.Verdict == Edit {
		request.Metadata = ai.Metadata{}
		if name := c.part.Metadata[keyOriginalName]; name != nil {
			request.Metadata[keyOriginalName] = name
		}
		if !isObject(d.Input) {
			return fmt.Errorf("%w: session: the input of an edit must be a JSON object", ai.ErrInvalidArgument)
		}
		request.ToolRequest.Input = d.Input
	}
	if _, err := tools.Check(&request); err != nil {
		return err
	}
	_, asks := c.part.Metadata[keyInterrupt]
	_, gated := c.part.Metadata[keyInterruptedBy]
	if !asks || gated {
		return nil
	}
	tool, err := tools.Find(&request)
	if err == nil && tool.Definition().NotRestartable {
		err = fmt.Errorf("%w: session: tool %q takes a response only", ai.ErrInvalidArgument, tool.Definition().Name)
	}
	return err
}

const keyOriginalName = "originalName"

func isObject(data json.RawMessage) bool {
	var members map[string]json.RawMessage
	return json.Unmarshal(data, &members) == nil && members != nil
}

// keep appends decisions. Whoever is first wins.
func (m *Manager) keep(ctx context.Context, s *state, decisions []*Decision) error {
	w := &committer{store: m.Store, state: s}
	next := &commit{}
	next.admit = func(now *state) error {
		next.entries, next.notAfter = nil, time.Time{}
		for _, d := range decisions {
			c, err := now.asking(d)
			if err != nil {
				return err
			}
			if c == nil {
				continue
			}
			if by := c.asked.AnswerBefore; !by.IsZero() && (next.notAfter.IsZero() || by.Before(next.notAfter)) {
				next.notAfter = by
			}
			next.entries = append(next.entries, &entry{Kind: kindDecided, Decision: d})
		}
		if len(next.entries) == 0 {
			return errNothing
		}
		return nil
	}
	err := w.append(ctx, next)
	if errors.Is(err, errNothing) {
		return nil
	}
	return err
}

// errNothing: there is nothing to write.
var errNothing = errors.New("session: nothing to write")
