package ai

import (
	"bytes"
	"encoding/json"
	"maps"
)

// takeInput records what a call ran with, where it is not what the model sent,
// and always where it is new: a later attempt must not fall back to older input.
func (s *slot) takeInput() {
	if !s.ready {
		return
	}
	s.final = true
	s.dirty = s.inputMarks(&s.marks) || s.dirty
}

// inputMarks writes that into marks, and reports whether there is anything to say.
func (s *slot) inputMarks(m *marks) bool {
	same := m.effectiveInput == nil && !s.edited && len(s.call.Changes) == 0
	if same && bytes.Equal(s.call.Input, inputOf(&s.part.ToolRequest)) {
		return false
	}
	m.effectiveInput, m.changes = s.call.Input, s.call.Changes
	return true
}

// accept takes over the outcome of a call. It is called once, by whoever moved
// the call's phase to its end.
func (s *slot) accept(end *Settlement) {
	s.takeName()
	switch {
	case end.Result != nil:
		s.acceptResult(end.Result)
	case end.Interrupt != nil:
		s.acceptInterrupt(end.Interrupt)
	default:
		s.acceptFailure(end.Err)
	}
}

// takeName records the full name of the tool, where the model used another.
func (s *slot) takeName() {
	if s.offer == nil || s.offer.def.Name == s.part.ToolRequest.Name {
		return
	}
	s.marks.originalName, s.dirty = s.offer.def.Name, true
}

func (s *slot) acceptResult(r *ToolResult) {
	req := s.part.ToolRequest
	req.Ref = s.ref
	part, err := r.part(&req)
	if err != nil {
		failed := s.failed(FailedOutput, err)
		failed.MayHaveActed = s.ran && mayAct(s.offer.def)
		s.acceptFailure(failed)
		return
	}
	if s.original != nil {
		if part.Metadata == nil {
			part.Metadata = Metadata{}
		}
		part.Metadata[keyReplacedInput] = s.original
		part.Metadata[keyEffectiveInput] = s.call.Input
	}
	s.transfer = r.Transfer
	s.take(part)
}

// take settles the slot with a response.
func (s *slot) take(part *ToolResponsePart) {
	s.status, s.response = isSettled, part
	s.dirty = s.dirty || len(s.part.Metadata) > 0
	s.marks.settle()
}

func (s *slot) acceptInterrupt(it *InterruptError) {
	s.status, s.dirty = isAsking, true
	s.marks.failure, s.marks.notStarted, s.marks.resolvedInterrupt = nil, false, nil
	s.marks.interrupt, s.marks.interruptedBy, s.marks.interruptState = it.Data, it.asker, it.State
	s.marks.answered = s.state.answered
	if !it.inner {
		// Its earlier answer is used up; those of the other askers are not.
		s.marks.answered = maps.Clone(s.state.answered)
		asker := it.asker
		if asker == "" {
			asker = toolAsker
		}
		delete(s.marks.answered, asker)
	}
	s.keep()
}

func (s *slot) acceptFailure(failed *CallError) {
	s.err = failed
	if failed.Kind == FailedCanceled && !s.ran || s.edited && !s.final {
		s.wait()
		return
	}
	s.status, s.dirty = isFailed, true
	s.marks.resolve()
	s.marks.failure = &failure{
		Kind: failed.Kind, Text: failed.safeText(), MayHaveActed: failed.MayHaveActed, InDoubt: failed.InDoubt,
	}
	s.marks.answered = s.state.answered
	s.keep()
}

// keep records what the next attempt needs.
func (s *slot) keep() { s.keepIn(&s.marks) }

func (s *slot) keepIn(m *marks) {
	m.callKey = s.call.Key()
	m.inner = s.state.inner.export()
	m.replacedInput = s.original
}

// finish makes the outcome of the turn from that of its calls.
func (t *turn) finish() (*Resolution, error) {
	transfer := t.oneTransfer()
	var failed []*CallError
	open := false
	for i := range t.slots {
		s := &t.slots[i]
		for _, err := range []*CallError{s.err, s.journal} {
			if err != nil {
				failed = append(failed, err)
			}
		}
		open = open || s.status != isSettled
	}
	model, err := t.revise(open || failed != nil)
	if err != nil {
		return nil, err
	}
	switch {
	case failed != nil:
		return nil, &TurnError{Model: model, Calls: failed}
	case open || len(t.slots) == 0:
		return &Resolution{Model: model}, nil
	}
	f := &struct { // one piece of memory for what comes out together
		res  Resolution
		tool Message
	}{res: Resolution{Model: model, Transfer: transfer}}
	t.writeToolMessage(&f.tool)
	f.res.Tool = &f.tool
	return &f.res, nil
}

// oneTransfer returns the transfer of the turn. Where several calls transfer,
// those of this run fail: nobody can say which one was meant.
func (t *turn) oneTransfer() *Transfer {
	var transfer *Transfer
	n := 0
	for i := range t.slots {
		if s := &t.slots[i]; s.transfer != nil {
			transfer = s.transfer
			n++
		}
	}
	if n < 2 {
		return transfer
	}
	for i := range t.slots {
		s := &t.slots[i]
		if s.transfer == nil || s.pending {
			continue
		}
		failed := s.failed(FailedTransfer, preconditionf("ai: %d tool requests of one turn hand the conversation over; only one may", n))
		failed.MayHaveActed = s.ran && mayAct(s.offer.def)
		s.acceptFailure(failed)
		s.response, s.transfer = nil, nil
	}
	return nil
}

// revise writes the marks into the model message. A message in which nothing
// changed is returned as it is; a changed one is a copy.
func (t *turn) revise(unfinished bool) (*Message, error) {
	var content Parts
	for i := range t.slots {
		s := &t.slots[i]
		if unfinished && s.status == isSettled {
			s.marks.hold(s.response)
			s.dirty = true
		} else if s.marks.pending {
			s.marks.forgetPending()
			s.dirty = true
		}
		if !s.dirty && s.broken() == nil {
			continue
		}
		part, err := s.written(&s.marks)
		if err != nil {
			return nil, err
		}
		if content == nil {
			content = append(Parts(nil), t.message.Content...)
		}
		content[s.at] = part
	}
	if content == nil {
		return t.message, nil
	}
	m := *t.message
	m.Content = content
	return &m, nil
}

// written is the request with these marks in its metadata.
func (s *slot) written(m *marks) (*ToolRequestPart, error) {
	shown := *m
	if broken := s.broken(); broken != nil {
		shown.argumentsError = broken
	}
	part, err := shown.write(s.part)
	if err != nil {
		return nil, err
	}
	part.ToolRequest.Ref = s.ref
	if shown.argumentsError != nil {
		part.ToolRequest.Input = emptyJSON
	}
	return part, nil
}

// broken describes arguments that no one could read: the message would not encode.
func (s *slot) broken() *argumentsError {
	input := inputOf(&s.part.ToolRequest)
	if s.final && !s.unread || s.marks.argumentsError != nil || json.Valid(input) {
		return nil
	}
	return &argumentsError{Text: string(input), Problem: describe(nil)}
}

// hold keeps the response of a settled call in the model message, for as long
// as the turn is unfinished.
func (m *marks) hold(response *ToolResponsePart) {
	m.pending, m.pendingOutput = true, response.ToolResponse.Output
	m.pendingContent, m.pendingMetadata = response.ToolResponse.Content, nil
	if m.pendingOutput == nil {
		m.pendingOutput = json.RawMessage("null")
	}
	for k, v := range response.Metadata {
		if k == keySource {
			continue
		}
		if m.pendingMetadata == nil {
			m.pendingMetadata = Metadata{}
		}
		m.pendingMetadata[k] = v
	}
}

// restore takes a response out of the model message again.
func (s *slot) restore() error {
	md := Metadata{keySource: encodeString("pending")}
	maps.Copy(md, s.marks.pendingMetadata)
	s.status, s.pending = isSettled, true
	if _, err := md.Decode(keyTransfer, &s.transfer); err != nil {
		return invalidf("ai: metadata %q of tool request %s must name a prompt and its messages%s", keyTransfer, s.part.label(), detail(err))
	}
	if t := s.transfer; t != nil && t.incomplete() {
		return invalidf("ai: metadata %q of tool request %s must name a prompt and its messages", keyTransfer, s.part.label())
	}
	s.response = &ToolResponsePart{Metadata: md, ToolResponse: ToolResponse{
		Name: s.part.ToolRequest.Name, Ref: s.ref,
		Output: s.marks.pendingOutput, Content: s.marks.pendingContent,
	}}
	return nil
}

// writeToolMessage makes the tool message of a finished turn, in request order.
func (t *turn) writeToolMessage(m *Message) {
	m.Role, m.Content = RoleTool, make(Parts, len(t.slots))
	for i := range t.slots {
		s := &t.slots[i]
		if s.transfer != nil {
			delete(s.response.Metadata, keyTransfer)
			if len(s.response.Metadata) == 0 {
				s.response.Metadata = nil
			}
		}
		m.Content[i] = s.response
	}
	if t.resumed != nil {
		m.Metadata = Metadata{keyResumed: t.resumed}
	}
}
