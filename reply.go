package ai

import (
	"context"
	"fmt"
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
		ToolChoice: g.opts.ToolChoice, Config: g.opts.Config,
	}
	refs := &refMinter{}
	reply, err := g.ask(ctx, req, refs)
	if err != nil {
		return nil, fmt.Errorf("ai: model: %w", err)
	}
	if reply, err = checked(reply); err != nil {
		return nil, err
	}
	reply.Message = refs.apply(reply.Message)
	g.messages = append(g.messages, reply.Message)
	g.grown = true
	g.usage.add(reply.Usage)
	if g.emit != nil && !refs.streamed {
		if err := g.emit(&Chunk{Role: RoleModel, Index: g.index, Content: reply.Message.Content}); err != nil {
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
		return g.opts.Model.Generate(ctx, req, nil)
	}
	return g.opts.Model.Generate(ctx, req, func(c *Chunk) error {
		if c == nil {
			return nil
		}
		refs.streamed = true
		return g.emit(&Chunk{Role: RoleModel, Index: g.index, Content: refs.mint(c.Content)})
	})
}

// checked makes sure that a reply can be worked on. It returns a copy.
func checked(reply *ModelResponse) (*ModelResponse, error) {
	if reply == nil || reply.Message == nil {
		return nil, fmt.Errorf("ai: model: it returned neither a message nor an error")
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
func refuse(model *Message, notice string) (*Resolution, error) {
	t, err := newTurn(nil, model, nil)
	if err != nil {
		return nil, err
	}
	for i := range t.slots {
		s := &t.slots[i]
		s.readArguments()
		if !isJSONObject(inputOf(&s.part.ToolRequest)) {
			s.malformed = &argumentsError{Text: string(s.part.ToolRequest.Input), Problem: describe(s.part.ToolRequest.Input)}
			s.takeInput()
		}
		s.acceptResult(ErrorResult(notice))
	}
	return t.finish()
}

// refMinter gives refs to streamed tool requests that have none, or one that is
// taken, and the same refs to the requests of the whole reply.
type refMinter struct {
	streamed bool
	seen     map[string]bool
	refs     []string // of the streamed requests, in order
	minted   bool
}

// mint returns the parts with refs; what it changes it copies.
func (m *refMinter) mint(parts Parts) Parts {
	out := parts
	for i, p := range parts {
		req, ok := p.(*ToolRequestPart)
		if !ok || req.ToolRequest.Partial {
			continue
		}
		ref := req.ToolRequest.Ref
		if ref == "" || m.seen[ref] {
			ref, m.minted = newRef(), true
			out = replacePart(out, parts, i, req, ref)
		}
		if m.seen == nil {
			m.seen = make(map[string]bool)
		}
		m.seen[ref] = true
		m.refs = append(m.refs, ref)
	}
	return out
}

// replacePart sets the ref of one request in a copy of the parts.
func replacePart(out, parts Parts, i int, req *ToolRequestPart, ref string) Parts {
	if len(out) > 0 && &out[0] == &parts[0] {
		out = append(Parts(nil), parts...)
	}
	c := *req
	c.ToolRequest.Ref = ref
	out[i] = &c
	return out
}

// apply gives the requests of the whole reply the refs they were streamed with.
func (m *refMinter) apply(reply *Message) *Message {
	if !m.minted {
		return reply
	}
	out, n := reply.Content, 0
	for i, p := range reply.Content {
		req, ok := p.(*ToolRequestPart)
		if !ok || n == len(m.refs) {
			continue
		}
		if ref := m.refs[n]; ref != req.ToolRequest.Ref {
			out = replacePart(out, reply.Content, i, req, ref)
		}
		n++
	}
	c := *reply
	c.Content = out
	return &c
}
