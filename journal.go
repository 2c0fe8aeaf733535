package ai

import (
	"context"
	"fmt"
	"slices"
)

// Journal is told what a conversation gains, before anything is made of it, for
// logs that have to survive a crash. Its methods are called from several
// goroutines at once.
//
//  1. Said is called with the messages that no call makes: with each reply of a
//     model before any of its calls runs, and with the opening of a conversation
//     inside a call before its model is called, where reply is nil. Path leads to
//     the conversation.
//  2. Started is called directly before the tool, inside all middleware. The
//     tool does not start unless it returns nil. The request is what an unfinished
//     turn would record of the call if nothing more were heard of it. It may stop
//     the call to ask: it returns what call.Interrupt gives it.
//  3. Settled is called after each attempt, started or not, and for each answer
//     that settles a call without one, with a context that does not end with the
//     turn's. The turn fails where it returns an error, but the outcome stays in
//     the message. A call that was recorded as started and whose context ended
//     before the tool was called has not acted: its error says so.
//  4. Settled is called again, with Late set, when a call that was given up ends
//     after all; for one call, the two do not overlap.
//
// A model message whose requests are replaced by the last ones that Started and
// Settled were given is one that Resume goes on from, at any moment.
type Journal interface {
	Said(ctx context.Context, path Path, messages []*Message, reply *ModelResponse) error
	Started(ctx context.Context, call *ToolCall, request *ToolRequestPart) error
	Settled(ctx context.Context, call *ToolCall, settlement *Settlement) error
}

// Settlement is how one attempt at a call ended; exactly one of Result,
// Interrupt and Err is set.
type Settlement struct {
	// Result is set when the call gave a result of any outcome.
	Result *ToolResult
	// Interrupt is set when the call stopped to ask.
	Interrupt *InterruptError
	// Err is set when the call failed.
	Err *CallError
	// Late is true when the call had been given up before it ended: the turn went
	// on without this.
	Late bool
	// Request is the tool request as an unfinished turn records it now, with the
	// state of the call in its metadata.
	Request *ToolRequestPart
}

// journalAsker is the name under which answers to the journal are kept.
const journalAsker = "journal"

// journal records what the conversation has gained.
func (g *generation) journal(ctx context.Context, messages []*Message, reply *ModelResponse) error {
	o := &g.opts.Turn
	if o.Journal == nil {
		return nil
	}
	err := guarded(func() error { return o.Journal.Said(ctx, o.path, messages, reply) })
	if err != nil {
		return placef(err, "ai: a message could not be recorded: ")
	}
	return nil
}

// journalStart records that the tool is about to start.
func (t *turn) journalStart(ctx context.Context, s *slot) error {
	request, err := s.unheard()
	if err == nil {
		err = guarded(func() error { return t.opts.Journal.Started(ctx, s.call.view(journalAsker), request) })
	}
	if it, _ := asInterrupt(err); it != nil || err == nil {
		return err
	}
	return &stepError{FailedJournal, fmt.Errorf("its start could not be recorded: %w", err), s}
}

// unheard is the request of a call that has started and has not ended. It works
// on the marks as they were, since whoever gives the call up writes new ones.
func (s *slot) unheard() (*ToolRequestPart, error) {
	m := *s.planned
	s.inputMarks(&m)
	if s.offer.def.Name != s.part.ToolRequest.Name {
		m.originalName = s.offer.def.Name
	}
	m.resolve()
	act := mayAct(s.offer.def)
	m.failure = &failure{Kind: FailedCanceled, Text: "the call was started and has not been heard of since", MayHaveActed: act, InDoubt: act}
	m.answered = s.state.answered
	s.keepIn(&m)
	return s.written(&m)
}

// current is the request as an unfinished turn records it now.
func (s *slot) current() (*ToolRequestPart, error) {
	m := s.marks
	if s.status == isSettled {
		m.hold(s.response)
	}
	return s.written(&m)
}

// journalEnd records an outcome, under a context that outlives the turn's.
func (t *turn) journalEnd(ctx context.Context, s *slot, call *ToolCall, end *Settlement) error {
	if t.opts.Journal == nil {
		return nil
	}
	var err error
	if end.Request, err = s.current(); err != nil {
		return err
	}
	return guarded(func() error {
		return t.opts.Journal.Settled(context.WithoutCancel(ctx), call, end)
	})
}

// journalLate records what came of a call that was given up. The turn is over:
// there is nobody to tell that it failed.
func (t *turn) journalLate(ctx context.Context, s *slot, end *Settlement) {
	if t.opts.Journal == nil {
		return
	}
	<-s.givenUp
	end.Late = true
	late := &slot{
		part: s.part, at: s.at, ref: s.ref, marks: *s.planned, offer: s.offer, original: s.original, edited: s.edited,
		call: s.call, state: callState{request: s.state.request, answered: s.state.answered, key: s.call.Key()},
		ran: true, ready: s.ready,
	}
	late.call.state = &late.state
	late.takeInput()
	late.accept(end)
	_ = t.journalEnd(ctx, late, &s.call, end)
}

// journalUnrun records the calls that are settled without running. Nothing has
// run yet, so an error leaves everything as it was.
func (t *turn) journalUnrun(ctx context.Context) error {
	if t.opts.Journal == nil {
		return nil
	}
	for i := range t.slots {
		s := &t.slots[i]
		if s.status != isSettled || s.pending {
			continue
		}
		call := &ToolCall{
			Name: s.fullName(), Ref: s.ref, Path: t.opts.path, Input: s.marks.effectiveInput,
			Changes: s.marks.changes, state: &s.state,
		}
		if call.Input == nil {
			call.Input = inputOf(&s.part.ToolRequest)
		}
		if err := t.journalEnd(ctx, s, call, &Settlement{Result: resultOf(s.response)}); err != nil {
			return fmt.Errorf("ai: the outcome of tool request %s could not be recorded: %w", s.part.label(), err)
		}
	}
	return nil
}

// resultOf is the result that a tool response was made of.
func resultOf(p *ToolResponsePart) *ToolResult {
	r := &ToolResult{Output: p.ToolResponse.Output, Content: p.ToolResponse.Content, Metadata: p.Metadata}
	// What can't be decoded was not written by a turn.
	_, _ = p.Metadata.Decode(keyOutcome, &r.Outcome)
	_, _ = p.Metadata.Decode(keyReason, &r.Reason)
	if r.Outcome == OutcomeSuccess && string(p.Metadata[keyIsError]) == "true" {
		r.Outcome = OutcomeFailed
	}
	return r
}

// fullName is the tool's name as far as it is known without a lookup.
func (s *slot) fullName() string {
	switch {
	case s.offer != nil:
		return s.offer.def.Name
	case s.marks.originalName != "":
		return s.marks.originalName
	}
	return s.part.ToolRequest.Name
}

// Settle is for logs: the tool request with a result on record, as an unfinished
// turn keeps it. It neither runs nor checks anything, so it works for a tool that
// is gone; the result is not held to an output schema.
func Settle(req *ToolRequestPart, result *ToolResult) (*ToolRequestPart, error) {
	if req == nil || result == nil {
		return nil, invalidf("ai: settle: there must be a tool request and a result")
	}
	mk, err := readMarks(req)
	if err != nil {
		return nil, err
	}
	if mk.pending {
		return nil, preconditionf("ai: tool request %s already has a result", req.label())
	}
	if err := result.check(); err != nil {
		return nil, placef(err, "ai: tool request %s: ", req.label())
	}
	s := &slot{part: req, ref: req.ToolRequest.Ref, marks: mk}
	s.readArguments()
	s.acceptResult(result)
	if s.err != nil {
		return nil, s.err
	}
	return s.current()
}

// CloseTurn is for logs: where each tool request of the last message has its
// result on record, it adds the tool message and, where a call handed the
// conversation over, the prompt's preamble, as Generate would. Nothing is run. A
// message with an open request, or one that asks for no tools, is
// ErrFailedPrecondition. The list that was passed is not changed.
func CloseTurn(messages []*Message) ([]*Message, error) {
	if len(messages) == 0 {
		return nil, preconditionf("ai: there is no turn to close: there is no message")
	}
	t, err := newTurn(nil, messages[len(messages)-1], nil)
	if err != nil {
		return nil, err
	}
	if len(t.slots) == 0 || t.anyOpen() {
		return nil, preconditionf("ai: there is no turn to close; open are: %s", t.listOpen())
	}
	for i := range t.slots {
		if err := t.slots[i].restore(); err != nil {
			return nil, err
		}
	}
	res, err := t.finish()
	if err != nil {
		return nil, err
	}
	closed := append(slices.Clone(messages[:len(messages)-1]), res.Model, res.Tool)
	if res.Transfer != nil {
		closed = handOver(closed, res.Transfer)
	}
	return closed, nil
}
