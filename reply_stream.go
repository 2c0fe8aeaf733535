package ai

import (
	"fmt"

	"github.com/holdpoint/ai/internal/partialjson"
)

// replyStream passes the pieces of one reply on to the reader, in one shape
// whatever the model's: each tool request has its ref, and its events.
type replyStream struct {
	emit  func(*Chunk) error // nil when nobody streams
	index int                // of the message
	begun bool               // something was passed on
	err   error              // the first failure; nothing is passed on behind it
	list  callList
	found []*streamedCall // by position among the requests of the whole reply
}

// pass takes a chunk of the adapter, which it does not change.
func (s *replyStream) pass(c *Chunk) error {
	if s.err == nil {
		s.err = s.take(c)
	}
	return s.err
}

func (s *replyStream) take(c *Chunk) error {
	if c == nil {
		return nil
	}
	if err := checkParts(c.Content); err != nil {
		return fmt.Errorf("ai: a chunk can't be used: %w", err)
	}
	if c.Tool != nil {
		return s.takeEvent(c.Tool, c.Content)
	}
	for _, p := range c.Content {
		if err := s.takePart(p); err != nil {
			return err
		}
	}
	return nil
}

// takePart passes content on, and makes events of a request that comes whole.
func (s *replyStream) takePart(p Part) error {
	req, ok := p.(*ToolRequestPart)
	if !ok {
		return s.send(&Chunk{Content: Parts{p}})
	}
	if req.ToolRequest.Partial {
		return s.send(&Chunk{Content: Parts{keptArguments(req)}})
	}
	c := s.list.add(req.ToolRequest.Ref, req.ToolRequest.Name)
	if err := s.start(c); err != nil {
		return err
	}
	return s.end(c, req)
}

// takeEvent passes an event on, with what it lacks.
func (s *replyStream) takeEvent(e *ToolEvent, content Parts) error {
	req, err := s.checkEvent(e, content)
	if err != nil {
		return fmt.Errorf("ai: event %q of tool request %d can't be used: %w", e.Kind, e.Index, err)
	}
	if e.Kind == ToolStart {
		s.list.add(e.Ref, e.Name)
	}
	c := s.list.calls[e.Index]
	c.learn(e.Ref, e.Name)
	if e.Kind == ToolStart {
		err = s.start(c)
	}
	if err == nil {
		err = s.delta(c, e.Delta)
	}
	if err == nil && e.Kind == ToolEnd {
		err = s.end(c, req)
	}
	return err
}

// checkEvent makes sure that an event is in its place. The request is that of
// an end.
func (s *replyStream) checkEvent(e *ToolEvent, content Parts) (*ToolRequestPart, error) {
	next := len(s.list.calls)
	switch e.Kind {
	case ToolStart:
		if e.Index != next {
			return nil, fmt.Errorf("the next request to start is %d", next)
		}
	case ToolDelta, ToolEnd:
		c := s.list.at(e.Index)
		if c == nil {
			return nil, fmt.Errorf("it was not started")
		}
		if c.ended {
			return nil, fmt.Errorf("it has ended")
		}
	default:
		return nil, fmt.Errorf("a model sends %s, %s and %s", ToolStart, ToolDelta, ToolEnd)
	}
	if e.Kind != ToolEnd {
		if len(content) > 0 {
			return nil, fmt.Errorf("its chunk has content")
		}
		return nil, nil
	}
	if len(content) == 1 {
		if req, ok := content[0].(*ToolRequestPart); ok && !req.ToolRequest.Partial {
			return req, nil
		}
	}
	return nil, fmt.Errorf("the content of its chunk must be the whole request and nothing else")
}

// learn takes ref and name where they were not known. The ref that the reader
// was told stays.
func (c *streamedCall) learn(ref, name string) {
	if c.sent == "" {
		c.sent = ref
	}
	if name != "" {
		c.name = name
	}
}

func (s *replyStream) start(c *streamedCall) error {
	c.started = true
	return s.tell(c, ToolStart, "", nil)
}

func (s *replyStream) delta(c *streamedCall, text string) error {
	if text == "" {
		return nil
	}
	if c.arguments == nil {
		c.arguments = &partialjson.Parser{}
	}
	_ = c.arguments.Feed(text) // a fault ends the view of the arguments, not the stream
	return s.tell(c, ToolDelta, text, nil)
}

// end tells of the whole request, and before that of its arguments where
// none of them were streamed.
func (s *replyStream) end(c *streamedCall, req *ToolRequestPart) error {
	c.learn(req.ToolRequest.Ref, req.ToolRequest.Name)
	if c.arguments == nil {
		if err := s.delta(c, sentArguments(req)); err != nil {
			return err
		}
	}
	if c.arguments != nil {
		_ = c.arguments.End()
	}
	c.ended = true
	return s.tell(c, ToolEnd, "", Parts{keptArguments(withRef(req, c.ref))})
}

// sentArguments is the text of the arguments as the model sent it.
func sentArguments(req *ToolRequestPart) string {
	var sent argumentsError
	if found, err := req.Metadata.Decode(keyArgumentsError, &sent); found && err == nil {
		return sent.Text
	}
	return string(req.ToolRequest.Input)
}

// tell passes on an event. What it consists of is made in one piece, since there
// are many.
func (s *replyStream) tell(c *streamedCall, kind ToolEventKind, delta string, content Parts) error {
	var piece struct {
		chunk Chunk
		event ToolEvent
		value PartialInput
	}
	piece.event = ToolEvent{Kind: kind, Index: c.index, Ref: c.ref, Name: c.name, Delta: delta}
	if c.arguments != nil {
		piece.value.value = c.arguments.Value()
		piece.event.Value = piece.value.shown()
	}
	piece.chunk = Chunk{Content: content, Tool: &piece.event}
	return s.send(&piece.chunk)
}

func (s *replyStream) send(c *Chunk) error {
	s.begun = true
	c.Role, c.Index = RoleModel, s.index
	return s.emit(c)
}

// final gives a request of the whole reply the ref it was streamed with, and one
// that was not streamed a ref of its own.
func (s *replyStream) final(req *ToolRequestPart) *ToolRequestPart {
	if s.emit == nil || req.ToolRequest.Partial {
		return withRef(req, s.list.unique(req.ToolRequest.Ref))
	}
	c := s.list.find(&req.ToolRequest)
	s.found = append(s.found, c)
	return withRef(req, c.ref)
}

// finish passes on what the model has not streamed: all of it, or requests that
// are missing or have not ended. One that the provider cut off does not end.
func (s *replyStream) finish(reply *ModelResponse) error {
	if s.emit == nil {
		return nil
	}
	silent := !s.begun
	for _, p := range reply.Message.Content {
		var err error
		if req, ok := p.(*ToolRequestPart); ok && !req.ToolRequest.Partial {
			c := s.found[0]
			s.found = s.found[1:]
			err = s.finishCall(c, req, unfit(reply.FinishReason) != "")
		} else if silent {
			err = s.takePart(p)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (s *replyStream) finishCall(c *streamedCall, req *ToolRequestPart, cut bool) error {
	if c.ended || c.started && cut {
		return nil
	}
	if !c.started {
		if err := s.start(c); err != nil {
			return err
		}
	}
	return s.end(c, req)
}
