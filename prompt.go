package ai

import (
	"context"
	"encoding/json"
	"slices"
)

// Prompt is a tool whose call hands the conversation over: to other
// instructions, other tools, another model. The request is answered
// `transferred to NAME`, the rendered messages take the place of the old
// instructions at the head of the history, marked `preamble` and `transfer`, and
// every later Generate over that history, resumptions too, takes instructions,
// tools and model from the prompt of that name. Register it like any tool; it
// must not be changed afterwards.
type Prompt struct {
	// Name is the full name, as a tool's.
	Name string
	// Description tells the model when to hand over.
	Description string
	// InputSchema is the JSON schema of the arguments that Render gets. Empty takes
	// any object.
	InputSchema json.RawMessage
	// Render makes the new instructions from the arguments: at least one message,
	// a system message first where there is one.
	Render func(ctx context.Context, input json.RawMessage) ([]*Message, error)
	// Tools are the names of the tools to offer, as Registry.Tools takes them. Nil
	// means all of the registry that Generate is given; empty means none.
	Tools []string
	// Model answers from now on. Nil leaves the caller's.
	Model Model
	// Config goes to the model. Nil leaves the caller's.
	Config any

	definition *ToolDefinition
}

// Transfer hands the conversation to a prompt.
type Transfer struct {
	// Prompt is the full name of the prompt.
	Prompt string `json:"prompt"`
	// Messages are the new instructions.
	Messages []*Message `json:"messages"`
}

// NewPrompt checks the prompt and makes its definition. The prompt is copied.
// Its name, like a tool's, must be valid; Render must be set; the schema, where
// there is one, must compile.
func NewPrompt(p *Prompt) (*Prompt, error) {
	if p == nil {
		return nil, invalidf("ai: the prompt is nil")
	}
	if p.Render == nil {
		return nil, invalidf("ai: prompt %q has no Render function", p.Name)
	}
	c := *p
	c.definition = &ToolDefinition{
		Name: p.Name, Description: p.Description, InputSchema: p.InputSchema, ReadOnly: true,
	}
	var err error
	if c.definition.compiled, err = c.definition.compile(); err != nil {
		return nil, err
	}
	return &c, nil
}

// DefinePrompt makes a prompt and registers it. It panics where NewPrompt or
// Register would return an error.
func DefinePrompt(r *Registry, p *Prompt) *Prompt {
	c, err := NewPrompt(p)
	if err == nil {
		err = r.Register(c)
	}
	if err != nil {
		panic(err)
	}
	return c
}

// Definition returns the prompt's definition as a tool; nil for a Prompt that
// NewPrompt did not make.
func (p *Prompt) Definition() *ToolDefinition {
	if p == nil {
		return nil
	}
	return p.definition
}

// Call renders the prompt and hands over.
func (p *Prompt) Call(ctx context.Context, call *ToolCall) (*ToolResult, error) {
	messages, err := p.Render(ctx, call.Input)
	if err != nil {
		return nil, err
	}
	if len(messages) == 0 || slices.Contains(messages, nil) {
		return nil, invalidf("ai: prompt %q rendered no messages, or a nil one", p.Name)
	}
	return &ToolResult{
		Output:   encodeString("transferred to " + p.Name),
		Transfer: &Transfer{Prompt: p.Name, Messages: messages},
	}, nil
}

// transferredTo is the name of the prompt that the history was handed to, or "".
// A preamble without a name is somebody else's and hands nothing over.
func transferredTo(messages []*Message) (string, error) {
	for _, m := range messages {
		if !isPreamble(m) {
			continue
		}
		var name string
		found, err := m.Metadata.Decode(keyTransfer, &name)
		if found && (err != nil || name == "") {
			return "", invalidf("ai: metadata %q of a preamble must be the name of a prompt, not %s", keyTransfer, bounded(m.Metadata[keyTransfer]))
		}
		if found {
			return name, nil
		}
	}
	return "", nil
}

// prompt finds a prompt by its full name and by nothing else: the name comes
// from a history, and another prompt must not step in for one that is gone.
func (r *Registry) prompt(ctx context.Context, name string) (*Prompt, error) {
	s := r.snapshot(ctx)
	for _, e := range s.entries {
		if p, ok := e.tool.(*Prompt); ok && e.def.Name == name {
			return p, nil
		}
	}
	if len(s.down) > 0 {
		return nil, &unavailableError{wanted: []string{name}, down: s.down}
	}
	return nil, notFoundf("ai: no prompt is named %q", name)
}

func isPreamble(m *Message) bool { return m != nil && string(m.Metadata[keyPreamble]) == "true" }

// handOver puts the preamble of a transfer where the old instructions were.
func handOver(messages []*Message, t *Transfer) []*Message {
	next := make([]*Message, 0, len(messages)+len(t.Messages))
	for _, m := range t.Messages {
		c := *m
		c.Metadata = Metadata{keyPreamble: jsonTrue, keyTransfer: encodeString(t.Prompt)}
		for k, v := range m.Metadata {
			if k != keyPreamble && k != keyTransfer {
				c.Metadata[k] = v
			}
		}
		next = append(next, &c)
	}
	for i, m := range messages {
		if isPreamble(m) || i == 0 && m.Role == RoleSystem {
			continue
		}
		next = append(next, m)
	}
	return next
}

// adopt takes model and tools from a prompt.
func (g *generation) adopt(ctx context.Context, name string) error {
	p, err := g.findPrompt(ctx, name)
	if err != nil {
		return err
	}
	// What the prompt leaves open is the caller's, not that of an earlier prompt:
	// a later Generate would not know that one.
	g.model, g.config = g.opts.Model, g.opts.Config
	if p.Model != nil {
		g.model = p.Model
	}
	if p.Config != nil {
		g.config = p.Config
	}
	if g.model == nil {
		return invalidf("ai: generate: no model, and prompt %q has none", name)
	}
	if p.Tools == nil {
		g.tools, err = g.registry.AllTools(ctx)
	} else {
		g.tools, err = g.registry.Tools(ctx, p.Tools...)
	}
	return err
}

func (g *generation) findPrompt(ctx context.Context, name string) (*Prompt, error) {
	for _, set := range []*ToolSet{g.tools, g.opts.Tools} {
		if set == nil || set.byFull[name] == nil {
			continue
		}
		if p, ok := set.byFull[name].tool.(*Prompt); ok {
			return p, nil
		}
	}
	p, err := g.registry.prompt(ctx, name)
	if err != nil {
		return nil, placef(err, "ai: the conversation was handed to prompt %q: ", name)
	}
	return p, nil
}
