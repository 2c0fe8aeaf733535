package ai

import (
	"context"
	"encoding/json"
)

// Resume goes on with a model message that Resolve or Resume left unfinished:
// results on record are taken as they are, responses too, restarts run their
// call. The message is not changed.
//
// Everything is checked before anything runs, and an error then leaves the pause
// as it was. Each answer must match exactly one open request by name, ref and
// path, and each open request needs an answer unless opts.Partial is set; calls
// marked `notStarted` need none. What is wrong with the answers is
// ErrInvalidArgument, a message with nothing open ErrFailedPrecondition, a tool
// that is gone ErrNotFound; denying needs no tool. Nil answers answer nothing.
func Resume(ctx context.Context, tools *ToolSet, model *Message, answers *Answers, opts *ResolveOptions) (*Resolution, error) {
	g, err := newSealing(opts)
	if err != nil {
		return nil, err
	}
	if model, err = g.open(model); err != nil {
		return nil, err
	}
	t, err := newTurn(tools, model, opts)
	if err != nil {
		return nil, err
	}
	if !t.anyOpen() {
		return nil, nothingOpen()
	}
	t.sealing = g
	return g.closeTurn(t.resume(ctx, answers))
}

func (t *turn) anyOpen() bool {
	for i := range t.slots {
		if !t.slots[i].marks.pending {
			return true
		}
	}
	return false
}

func nothingOpen() error {
	return preconditionf("ai: there is nothing to resume: the message has no open tool request")
}

// resume is Resume without the check that anything is open.
func (t *turn) resume(ctx context.Context, answers *Answers) (*Resolution, error) {
	if answers == nil {
		answers = &Answers{}
	}
	if err := t.match(answers); err != nil {
		return nil, err
	}
	if err := t.complete(); err != nil {
		return nil, err
	}
	if err := t.admit(); err != nil {
		return nil, err
	}
	t.resumed = jsonTrue
	if len(answers.Metadata) > 0 {
		var err error
		if t.resumed, err = encode(answers.Metadata); err != nil {
			return nil, invalidf("ai: metadata of the answers: %w", err)
		}
	}
	if err := t.sealing.spend(ctx, answers); err != nil {
		return nil, err
	}
	if err := t.journalUnrun(ctx); err != nil {
		return nil, err
	}
	return t.execute(ctx)
}

// admit checks the answers against the tools and settles or plans each request.
// Nothing has run yet, so any error leaves the pause as it was.
func (t *turn) admit() error {
	held := false     // an earlier call stays open
	transferred := "" // the call that hands over, from an earlier run
	for i := range t.slots {
		s := &t.slots[i]
		var err error
		switch {
		case s.marks.pending:
			err = s.restore()
		case s.given != nil:
			err = t.admitResponse(s)
		case s.restart || s.reenter:
			err = t.admitRun(s)
		case s.marks.notStarted && !(held && t.opts.Sequential):
			s.plan()
		}
		if err != nil {
			return err
		}
		if s.transfer != nil && transferred != "" {
			return invalidf("ai: tool requests %s and %s both hand the conversation over; no turn leaves that behind", transferred, s.part.label())
		}
		if s.transfer != nil {
			transferred = s.part.label()
		}
		held = held || s.status == isOpen
	}
	return nil
}

// admitRun checks a call that is to run because of an answer.
func (t *turn) admitRun(s *slot) error {
	t.find(s)
	if s.lookup != nil {
		return placef(s.lookup, "ai: tool request %s: ", s.part.label())
	}
	if s.restart && s.marks.toolAsked() && s.offer.def.NotRestartable {
		return notRestartable(s.part)
	}
	s.plan()
	if s.input == nil {
		return nil // the model's own input: what is wrong with it is the model's to mend
	}
	_, err := s.fitted()
	return err
}

// plan fixes what the call is to run with: new input, what is on record of an
// earlier attempt, or what the model sent.
func (s *slot) plan() {
	s.status = isPlanned
	s.original = s.marks.replacedInput
	switch {
	case s.edited:
		s.original = s.marks.effectiveInput
		if s.original == nil {
			s.original = inputOf(&s.part.ToolRequest)
		}
	case s.marks.effectiveInput != nil:
		s.recorded, s.input = true, s.marks.effectiveInput
	case s.marks.interrupt != nil && s.marks.argumentsError == nil:
		s.recorded, s.input = true, inputOf(&s.part.ToolRequest)
	default:
		s.readArguments()
	}
}

// admitResponse settles a request with the response given for it. A denial
// needs no tool; the words the model reads are ours.
func (t *turn) admitResponse(s *slot) error {
	response := ToolResponse{
		Name: s.part.ToolRequest.Name, Ref: s.ref,
		Output: s.given.ToolResponse.Output, Content: s.given.ToolResponse.Content,
	}
	if s.denied {
		var reason string
		if _, err := s.given.Metadata.Decode(keyReason, &reason); err != nil {
			return invalidf("ai: metadata %q of the answer to tool request %s must be a string", keyReason, s.part.label())
		}
		p, err := DeniedResult(reason).part(&s.part.ToolRequest)
		if err != nil {
			return err
		}
		response.Output, response.Content = p.ToolResponse.Output, nil
		s.take(&ToolResponsePart{ToolResponse: response, Metadata: p.Metadata})
		return nil
	}
	t.find(s)
	if s.lookup != nil {
		return placef(s.lookup, "ai: tool request %s: ", s.part.label())
	}
	if response.Output == nil {
		response.Output = json.RawMessage("null")
	}
	if err := s.offer.checkResponse(response.Output); err != nil {
		return placef(err, "ai: response for %s: ", s.part.label())
	}
	s.takeName()
	said := s.given.Metadata[keyInterruptResponse]
	if said == nil {
		said = jsonTrue
	}
	s.take(&ToolResponsePart{ToolResponse: response, Metadata: Metadata{keyInterruptResponse: said}})
	return nil
}
