package ai

import (
	"context"
	"fmt"
	"maps"
	"slices"
)

// callModel asks the model and adds its reply to the history.
func (g *generation) callModel(ctx context.Context) (*ModelResponse, error) {
	if err := g.tools.available(); err != nil {
		return nil, err
	}
	if ctx.Err() != nil {
		return nil, fmt.Errorf("ai: the model was not called: %w", context.Cause(ctx))
	}
	req := &ModelRequest{
		Messages: g.messages[:len(g.messages):len(g.messages)], Tools: g.tools.Definitions(),
		ToolChoice: g.opts.ToolChoice, Config: g.config,
	}
	refs := &refMinter{}
	reply, err := g.ask(ctx, req, refs)
	if err != nil {
		return nil, placef(err, "ai: model: ")
	}
	if reply, err = checked(reply); err != nil {
		return nil, err
	}
	reply.Message = withRequests(reply.Message, refs.final)
	g.messages = append(g.messages, reply.Message)
	g.grown = true
	g.usage.add(reply.Usage)
	if err := g.journal(ctx, []*Message{withRequests(reply.Message, keptArguments)}, reply); err != nil {
		return nil, err
	}
	if g.emit != nil && !refs.streamed {
		content := withRequests(reply.Message, keptArguments).Content
		if err := g.emit(&Chunk{Role: RoleModel, Index: g.index, Content: content}); err != nil {
			return nil, err
		}
	}
	g.index++
	return reply, nil
}

// ask calls the model. A panic of the adapter must not cost the history.
func (g *generation) ask(ctx context.Context, req *ModelRequest, refs *refMinter) (reply *ModelResponse, err error) {
	defer func() {
		if v := recover(); v != nil {
			reply, err = nil, crash(v)
		}
	}()
	if g.emit == nil {
		return g.model.Generate(ctx, req, nil)
	}
	return g.model.Generate(ctx, req, func(c *Chunk) error {
		if c == nil || len(c.Content) == 0 {
			return nil
		}
		if err := checkParts(c.Content); err != nil {
			return fmt.Errorf("ai: a chunk can't be used: %w", err)
		}
		refs.streamed = true
		content := mapRequests(mapRequests(c.Content, refs.first), keptArguments)
		return g.emit(&Chunk{Role: RoleModel, Index: g.index, Content: content})
	})
}

// checked makes sure that a reply can be worked on. It returns a copy.
func checked(reply *ModelResponse) (*ModelResponse, error) {
	if reply == nil || reply.Message == nil {
		return nil, fmt.Errorf("ai: model: it returned neither a message nor an error")
	}
	if err := checkParts(reply.Message.Content); err != nil {
		return nil, fmt.Errorf("ai: model: its reply can't be used: %w", err)
	}
	r := *reply
	if r.FinishReason == "" {
		r.FinishReason = FinishUnknown
	}
	switch r.Message.Role {
	case RoleModel:
	case "":
		m := *r.Message
		m.Role = RoleModel
		r.Message = &m
	default:
		return nil, fmt.Errorf("ai: model: its reply is of role %q instead of %q", r.Message.Role, RoleModel)
	}
	return &r, nil
}

// unfit says why none of the calls of a reply may run, or "".
func unfit(reason FinishReason) string {
	switch reason {
	case FinishLength:
		return "This call was not run: the message was cut off at the length limit, so it may be incomplete. Send it again."
	case FinishBlocked, FinishAborted:
		return "This call was not run: the message it stands in was blocked."
	}
	return ""
}

// refuse answers every call of a message with an error, without running it.
func (g *generation) refuse(ctx context.Context, model *Message, notice string) (*Resolution, error) {
	t, err := newTurn(g.tools, model, g.turnOptions())
	if err != nil {
		return nil, err
	}
	for i := range t.slots {
		s := &t.slots[i]
		s.readArguments()
		s.acceptResult(ErrorResult(notice))
	}
	if err := t.journalUnrun(ctx); err != nil {
		return nil, err
	}
	return t.finish()
}

// refMinter gives refs to tool requests of one reply that have none, or one that
// is taken: as they are streamed, and the same ones in the whole reply.
type refMinter struct {
	streamed bool            // any content was
	taken    map[string]bool // refs of the requests seen so far
	requests []streamedRequest
}

// streamedRequest is a request as the model streamed it, and the ref it got.
type streamedRequest struct {
	name, sent, ref string
	matched         bool // with a request of the whole reply
}

// first gives a streamed request its ref.
func (m *refMinter) first(req *ToolRequestPart) *ToolRequestPart {
	if req.ToolRequest.Partial {
		return req
	}
	named := m.named(req)
	m.requests = append(m.requests, streamedRequest{
		name: req.ToolRequest.Name, sent: req.ToolRequest.Ref, ref: named.ToolRequest.Ref,
	})
	return named
}

// final gives a request of the whole reply the ref it was streamed with, and
// one that was not streamed a ref of its own.
func (m *refMinter) final(req *ToolRequestPart) *ToolRequestPart {
	s := m.match(func(s *streamedRequest) bool { return s.sent == req.ToolRequest.Ref && s.name == req.ToolRequest.Name })
	if s == nil {
		s = m.match(func(s *streamedRequest) bool { return s.name == req.ToolRequest.Name })
	}
	if s == nil {
		return m.named(req)
	}
	s.matched = true
	return withRef(req, s.ref)
}

func (m *refMinter) match(fits func(*streamedRequest) bool) *streamedRequest {
	for i := range m.requests {
		if s := &m.requests[i]; !s.matched && fits(s) {
			return s
		}
	}
	return nil
}

// named is the request with a ref that no other request of the reply has.
func (m *refMinter) named(req *ToolRequestPart) *ToolRequestPart {
	ref := req.ToolRequest.Ref
	if ref == "" || m.taken[ref] {
		ref = newRef()
	}
	if m.taken == nil {
		m.taken = make(map[string]bool)
	}
	m.taken[ref] = true
	return withRef(req, ref)
}

func withRef(req *ToolRequestPart, ref string) *ToolRequestPart {
	if req.ToolRequest.Ref == ref {
		return req
	}
	c := *req
	c.ToolRequest.Ref = ref
	return &c
}

// keptArguments moves arguments that are no JSON object into the metadata, so
// that the message encodes and any provider takes it.
func keptArguments(req *ToolRequestPart) *ToolRequestPart {
	input := inputOf(&req.ToolRequest)
	if isJSONObject(input) {
		return req
	}
	c := *req
	c.ToolRequest.Input = emptyJSON
	c.Metadata = maps.Clone(req.Metadata)
	if c.Metadata == nil {
		c.Metadata = Metadata{}
	}
	data, err := encode(&argumentsError{Text: string(input), Problem: describe(input)})
	if err != nil {
		panic(err) // two strings always encode
	}
	c.Metadata[keyArgumentsError] = data
	return &c
}

// withRequests returns the message with its tool requests replaced: itself
// where none changes, else a copy.
func withRequests(m *Message, replace func(*ToolRequestPart) *ToolRequestPart) *Message {
	content := mapRequests(m.Content, replace)
	if len(content) == 0 || &content[0] == &m.Content[0] {
		return m
	}
	c := *m
	c.Content = content
	return &c
}

// mapRequests replaces the tool requests among parts; what it changes it copies.
func mapRequests(parts Parts, replace func(*ToolRequestPart) *ToolRequestPart) Parts {
	out := parts
	for i, p := range parts {
		req, ok := p.(*ToolRequestPart)
		if !ok {
			continue
		}
		next := replace(req)
		if next == req {
			continue
		}
		if &out[0] == &parts[0] {
			out = slices.Clone(parts)
		}
		out[i] = next
	}
	return out
}
