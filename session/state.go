package session

import (
	"errors"
	"fmt"
	"time"

	"github.com/holdpoint/ai"
)

// state is what a log says: the sum of its entries. It changes only by entries
// that are in the log.
type state struct {
	id       string
	revision Revision
	top      *conversation
	askings  map[string]*asking // by pending id, decided ones included
	claim    *claimEntry        // nil while nobody runs the session
	owners   []string           // of all claims, in order
	newer    error              // why nothing may be appended
	seen     map[string]bool    // the batches that are in it, since it was read
}

func newState(id string) *state {
	return &state{id: id, top: &conversation{}, askings: make(map[string]*asking), seen: make(map[string]bool)}
}

// take adds what a log holds behind the state's own revision.
func (s *state) take(log *Log) error {
	for _, b := range log.Batches {
		if err := s.takeBatch(b); err != nil {
			return err
		}
	}
	s.revision = log.Revision
	return nil
}

func (s *state) takeBatch(b *StoredBatch) error {
	s.seen[b.ID] = true
	for i, data := range b.Entries {
		e, err := decodeEntry(data)
		if err != nil {
			if errors.Is(err, ErrNewerFormat) {
				s.newer = err
				return nil
			}
			return fmt.Errorf("session %q: entry %d: %w", s.id, b.First+uint64(i), err)
		}
		if err := s.apply(e); err != nil {
			return fmt.Errorf("session %q: entry %d, %s: %w", s.id, b.First+uint64(i), e.Kind, err)
		}
	}
	return nil
}

// apply adds one entry.
func (s *state) apply(e *entry) error {
	switch e.Kind {
	case kindInput:
		return s.top.add(e.Messages)
	case kindSaid:
		return s.said(e)
	case kindStarted, kindOutcome:
		return s.called(e)
	case kindPaused:
		return s.paused(e)
	case kindDecided:
		return s.decided(e)
	case kindClaimed:
		s.claim, s.owners = e.Claim, append(s.owners, e.Claim.Owner)
	case kindReleased:
		s.claim = nil
	}
	return nil
}

func (s *state) said(e *entry) error {
	conv, err := s.top.find(e.Path)
	if err != nil {
		return err
	}
	if e.Reply == nil {
		return conv.add(e.Messages)
	}
	if len(e.Messages) != 1 {
		return fmt.Errorf("%w: a reply has %d messages", ErrCorrupt, len(e.Messages))
	}
	return conv.hear(e.Messages[0], e.Reply)
}

// called takes the start or the outcome of a call. An outcome that comes late
// counts only while nothing else has been heard of the call.
func (s *state) called(e *entry) error {
	conv, err := s.top.find(e.Path)
	if err != nil {
		return err
	}
	c := conv.call(e.Call.Ref)
	if c == nil {
		if e.Kind == kindOutcome {
			return nil // a fact about a turn that has gone on without it
		}
		return fmt.Errorf("%w: no open call has ref %q", ErrCorrupt, e.Call.Ref)
	}
	if e.Kind == kindStarted {
		c.start(e.Call, e.At)
		return nil
	}
	if c.settled() || e.Call.Attempt < c.attempts && e.Call.Attempt > 0 {
		return nil
	}
	c.end(e.Call)
	return nil
}

func (c *call) start(e *callEntry, at time.Time) {
	if c.attempts == 0 {
		c.first = at
	}
	c.take(e)
	c.attempts, c.running, c.changed = e.Attempt, true, 0
}

func (c *call) end(e *callEntry) {
	c.take(e)
	c.running = false
	var by string
	if _, _ = c.part.Metadata.Decode(keyInterruptedBy, &by); by == byJournal {
		c.changed++
	}
}

// take is what every entry about a call does: what was asked about it is over.
func (c *call) take(e *callEntry) {
	c.generation = c.nextGeneration()
	c.asked = nil
	part := *c.part
	part.Metadata = e.State
	c.part, c.tool, c.touched = &part, e.Name, true
	if e.Definition != "" {
		c.digest, c.definition = e.Digest, e.Definition
	}
}

// byJournal is who asks where the log does.
const byJournal = "journal"

// nextGeneration counts the edit that is about to be carried out.
func (c *call) nextGeneration() int {
	if d := c.decision(); d != nil && d.Verdict == Edit {
		return c.generation + 1
	}
	return c.generation
}

// decision is what somebody decided about the call and has not been carried out.
func (c *call) decision() *Decision {
	if c.asked == nil {
		return nil
	}
	return c.asked.decision
}

func (s *state) paused(e *entry) error {
	for _, a := range e.Asked {
		conv, err := s.top.find(a.Path)
		if err != nil {
			return err
		}
		c := conv.call(a.Ref)
		if c == nil {
			return fmt.Errorf("%w: asking %q is about no open call", ErrCorrupt, a.ID)
		}
		a.at = e.At
		c.asked, s.askings[a.ID] = a, a
	}
	return nil
}

func (s *state) decided(e *entry) error {
	a := s.askings[e.Decision.Pending]
	if a == nil {
		return fmt.Errorf("%w: a decision is about asking %q, which is not there", ErrCorrupt, e.Decision.Pending)
	}
	if a.decision == nil {
		a.decision, a.decidedAt = e.Decision, e.At
	}
	return nil
}

// ownedBy reports whether the claim on record is that of a run.
func (s *state) ownedBy(owner string) bool { return s.claim != nil && s.claim.Owner == owner }

// leaves lists the calls that have no result.
func (s *state) leaves() []*call { return s.top.leaves() }

// flags say where the session stands.
func (s *state) flags() Flags {
	f := Flags{Running: s.claim != nil}
	for _, c := range s.leaves() {
		if c.asked == nil || c.asked.decision != nil {
			continue
		}
		f.Pending = true
		if d := c.asked.AnswerBefore; !d.IsZero() && (f.Due.IsZero() || d.Before(f.Due)) {
			f.Due = d
		}
	}
	f.Runnable = s.unfinished()
	return f
}

// unfinished reports whether there is something to run that nobody has to be
// asked about.
func (s *state) unfinished() bool {
	v := s.top
	if len(v.messages) == 0 {
		return false
	}
	if v.open() {
		for _, c := range s.leaves() {
			if c.runnable() {
				return true
			}
		}
		return false
	}
	_, done := v.finished()
	return !done
}

// runnable reports whether a call without a result can go on: it has not
// started, was cut short, or somebody has decided about it. One that was cut short
// may turn out to be in doubt, which running it finds out.
func (c *call) runnable() bool {
	_, waits := c.part.Metadata[keyNotStarted]
	return !c.touched || waits || c.running || c.decision() != nil
}

// path of the call's own conversation.
func (c *call) path() ai.Path { return c.conv.path }
