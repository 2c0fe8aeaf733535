package session

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"sync"

	"github.com/holdpoint/ai"
	"github.com/holdpoint/ai/internal/digest"
)

// journal writes what a run of package ai tells it into the log. What another write
// follows at once goes with that: see quick.
type journal struct {
	w     *committer
	claim Claim

	mu   sync.Mutex
	live map[string]bool // calls of the session's own conversation that have not ended
	over bool            // the run is: what comes now comes late
}

// quick reports whether an entry can wait for the next write: only in the session's
// own conversation, where a write comes before the model is called again and before
// the session is let go, and only while no other call may take its time.
func (j *journal) quick(path ai.Path) bool {
	j.mu.Lock()
	defer j.mu.Unlock()
	return len(path) == 0 && len(j.live) == 0 && !j.over
}

// begin forgets calls that an earlier step never came to.
func (j *journal) begin() {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.live = make(map[string]bool)
}

// follow notes that a call has begun, or has ended.
func (j *journal) follow(tc *ai.ToolCall, begins bool) {
	j.mu.Lock()
	defer j.mu.Unlock()
	switch {
	case len(tc.Path) > 0:
	case begins:
		j.live[tc.Ref] = true
	default:
		delete(j.live, tc.Ref)
	}
}

// end says that the run is over.
func (j *journal) end() {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.over = true
}

// Said writes messages before anything is made of them.
func (j *journal) Said(ctx context.Context, path ai.Path, messages []*ai.Message, reply *ai.ModelResponse) error {
	e := &entry{Kind: kindSaid, Path: path, Messages: messages}
	if reply != nil {
		e.Reply = &replyEntry{FinishReason: reply.FinishReason, FinishMessage: reply.FinishMessage, Usage: reply.Usage}
	}
	if reply != nil && j.quick(path) {
		return j.w.later(e)
	}
	return j.w.appendFact(ctx, &commit{entries: []*entry{e}, owned: true})
}

// Started writes that a call is about to start. Where somebody decided about it,
// it is made sure that what will run is what was decided on.
func (j *journal) Started(ctx context.Context, tc *ai.ToolCall, request *ai.ToolRequestPart) error {
	if err := j.claim.Held(ctx); err != nil {
		return fmt.Errorf("%w: %w", errLost, err)
	}
	start := &commit{owned: true}
	err := j.w.view(func(s *state) error {
		if j.w.dead != nil {
			return j.w.dead
		}
		c, err := s.callOf(tc)
		if err != nil {
			return err
		}
		e := &callEntry{Ref: tc.Ref, Name: tc.Name, Attempt: tc.Attempt(), State: outside(request.Metadata)}
		s.bind(e, c, tc)
		if err := c.bound(tc, e); err != nil {
			return err
		}
		if c.asked != nil {
			start.notAfter = c.asked.StartBefore
		}
		start.entries = []*entry{{Kind: kindStarted, Path: tc.Path, Call: e}}
		return nil
	})
	if err != nil {
		return err
	}
	return j.w.append(ctx, start)
}

// Settled writes how an attempt ended, whoever has the claim by now.
func (j *journal) Settled(ctx context.Context, tc *ai.ToolCall, end *ai.Settlement) error {
	e := &callEntry{Ref: tc.Ref, Name: tc.Name, State: outside(end.Request.Metadata), Late: end.Late}
	e.Outcome, e.Text = describe(end)
	err := j.w.view(func(s *state) error {
		c, err := s.callOf(tc)
		if err != nil {
			return nil // the turn has gone on without the call; the fact is kept
		}
		if c.attempts >= tc.Attempt() {
			e.Attempt = tc.Attempt()
		}
		s.bind(e, c, tc)
		return nil
	})
	if err != nil {
		return err
	}
	if !end.Late {
		j.follow(tc, false)
	}
	outcome := &entry{Kind: kindOutcome, Path: tc.Path, Call: e}
	if !end.Late && j.quick(tc.Path) {
		return j.w.later(outcome)
	}
	return j.w.appendFact(ctx, &commit{entries: []*entry{outcome}})
}

// describe says for the audit how an attempt ended.
func describe(end *ai.Settlement) (ending, string) {
	switch {
	case end.Interrupt != nil:
		return endedAsking, ""
	case end.Err != nil && end.Err.InDoubt:
		return endedDoubt, end.Err.Error()
	case end.Err != nil:
		return endedFailed, end.Err.Error()
	case end.Result.Outcome == ai.OutcomeSuccess:
		return endedWell, ""
	}
	return ending(end.Result.Outcome), ""
}

// outside is the state of a request without the conversations inside it.
func outside(md ai.Metadata) ai.Metadata {
	if md[keyInner] == nil {
		return md
	}
	md = maps.Clone(md)
	delete(md, keyInner)
	return md
}

// identify gives a call its key and the number of its attempt.
func (j *journal) identify(tc *ai.ToolCall) (key string, attempt int) {
	j.follow(tc, true)
	_ = j.w.view(func(s *state) error {
		c, err := s.callOf(tc)
		if err != nil {
			return err // which the start of the call will report
		}
		key, attempt = s.key(c), c.attempts+1
		return nil
	})
	return key, attempt
}

// callOf finds the call in the log.
func (s *state) callOf(tc *ai.ToolCall) (*call, error) {
	conv, err := s.top.find(tc.Path)
	if err != nil {
		return nil, err
	}
	if c := conv.call(tc.Ref); c != nil {
		return c, nil
	}
	return nil, fmt.Errorf("session: no open call has ref %q", tc.Ref)
}

// key is the idempotency key of a call: the same for all attempts at it with
// these arguments, and of no other call.
func (s *state) key(c *call) string {
	words := append([]string{s.revision.Incarnation, fmt.Sprint(c.nextGeneration())}, s.place(c)...)
	return "key_" + digest.Of("holdpoint/key/1", words...)
}

// place names a call within its session: where it stands, on each level.
func (s *state) place(c *call) []string {
	var words []string
	v := s.top
	for _, step := range c.path() {
		host := v.call(step.Ref)
		words = append(words, fmt.Sprint(v.replies), fmt.Sprint(host.at), step.Branch)
		v = host.child(step.Branch)
	}
	return append(words, fmt.Sprint(v.replies), fmt.Sprint(c.at))
}

// bind notes what a call runs with: decisions are about that.
func (s *state) bind(e *callEntry, c *call, tc *ai.ToolCall) {
	if tc.Definition == nil {
		return // it does not run
	}
	e.Definition = tc.Definition.Digest()
	words := append([]string{s.id, s.revision.Incarnation, tc.Name, e.Definition, digest.JSON(tc.Input)}, s.place(c)...)
	e.Digest = digest.Of("holdpoint/decision/1", words...)
}

// question is what the log asks where something else would run than was decided on.
type question struct {
	Changed string          `json:"changed"`
	Input   json.RawMessage `json:"input"`
}

// maxChanged is how often a call may turn out to be something else than was
// decided on before it fails.
const maxChanged = 2

// bound makes sure that a call runs as it was decided on. Where it would not, it
// asks again.
func (c *call) bound(tc *ai.ToolCall, now *callEntry) error {
	d := c.decision()
	if d == nil {
		return nil
	}
	same := now.Digest == c.asked.Digest
	if d.Verdict == Edit {
		same = now.Definition == c.definition && digest.JSON(d.Input) == digest.JSON(tc.Input)
	}
	switch {
	case same:
		return nil
	case c.changed >= maxChanged:
		return fmt.Errorf("session: call %s of tool %q was decided on %d times, and each time something else would have run: now %s",
			tc.Ref, tc.Name, c.changed+1, tc.Input)
	}
	return tc.Interrupt(&question{
		Changed: "What would run now is not what was decided on: the tool or the arguments have changed since.",
		Input:   tc.Input,
	})
}
