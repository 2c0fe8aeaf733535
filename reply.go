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
	stream := &replyStream{emit: g.emit, index: g.index}
	reply, err := g.ask(ctx, req, stream)
	if err == nil {
		err = stream.err
	}
	if err != nil {
		return nil, placef(err, "ai: model: ")
	}
	if reply, err = checked(reply); err != nil {
		return nil, err
	}
	reply.Message = withRequests(reply.Message, stream.final)
	g.messages = append(g.messages, reply.Message)
	g.grown = true
	g.usage.add(reply.Usage)
	if err := g.journal(ctx, []*Message{withRequests(reply.Message, keptArguments)}, reply); err != nil {
		return nil, err
	}
	if err := stream.finish(reply); err != nil {
		return nil, err
	}
	g.index++
	return reply, nil
}

// ask calls the model. A panic of the adapter must not cost the history.
func (g *generation) ask(ctx context.Context, req *ModelRequest, stream *replyStream) (reply *ModelResponse, err error) {
	defer func() {
		if v := recover(); v != nil {
			reply, err = nil, crash(v)
		}
	}()
	if g.emit == nil {
		return g.model.Generate(ctx, req, nil)
	}
	return g.model.Generate(ctx, req, stream.pass)
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
