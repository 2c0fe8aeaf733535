package ai

import (
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"strings"
)

// InterruptError is what ToolCall.Interrupt returns: a call that stopped on
// purpose, to ask. It is an error only because a typed result leaves no other
// slot; outside the tool it becomes an Interrupt.
type InterruptError struct {
	// Data is the question, never nil.
	Data json.RawMessage
	// State is for the asker alone. Nil without one.
	State json.RawMessage

	asker string // "" is the tool
	inner bool   // an inner conversation is paused
}

// Error says that the call waits.
func (e *InterruptError) Error() string { return "ai: the call is interrupted and waits for an answer" }

// DefineInterrupt makes and registers a tool that always asks: the answer is a
// response of type Out, and it can't be restarted. It panics where Register
// would return an error.
func DefineInterrupt[In, Out any](r *Registry, name, description string, opts *InterruptOptions[In]) *TypedTool[In, Out] {
	var asking InterruptOptions[In]
	if opts != nil {
		asking = *opts
	}
	def := &ToolDefinition{Name: name, Description: description, NotRestartable: true, ReadOnly: true}
	t, err := newTypedTool[In, Out](def, asking.call)
	if _, bad := encode(asking.Data); err == nil && bad != nil {
		err = invalidf("ai: tool %q: interrupt data: %w", name, bad)
	}
	return register(r, t, err)
}

// Path leads to an inner conversation: for each level, outermost first, the
// call that hosts it and its branch.
type Path []PathStep

// PathStep is one level of a Path. Its JSON form is [ref, branch].
type PathStep struct {
	// Ref is the ref of the call that hosts the conversation.
	Ref string
	// Branch is the name under which the call runs it.
	Branch string
}

// MarshalJSON encodes the step as [ref, branch].
func (s PathStep) MarshalJSON() ([]byte, error) { return encode([2]string{s.Ref, s.Branch}) }

// UnmarshalJSON decodes [ref, branch].
func (s *PathStep) UnmarshalJSON(data []byte) error {
	var pair []string
	if err := json.Unmarshal(data, &pair); err != nil || len(pair) != 2 {
		return invalidf("ai: a step of a path must be [ref, branch], not %s", data)
	}
	s.Ref, s.Branch = pair[0], pair[1]
	return nil
}

// maxHosts bounds how deep conversations may stand inside conversations. Each
// level of a history has to be read once more for each level above it.
const maxHosts = 32

// down is the path of a conversation one level below.
func (p Path) down(ref, branch string) (Path, error) {
	if len(p) == maxHosts {
		return nil, invalidf("ai: conversations are nested more than %d deep", maxHosts)
	}
	return append(slices.Clone(p), PathStep{Ref: ref, Branch: branch}), nil
}

// String joins the steps: ref/branch/ref/branch.
func (p Path) String() string {
	words := make([]string, 0, 2*len(p))
	for _, s := range p {
		words = append(words, s.Ref, s.Branch)
	}
	return strings.Join(words, "/")
}

// Interrupt is a call that waits for an answer.
type Interrupt struct {
	// Request is the tool request, as the model made it. Pass it to Respond,
	// Restart or Deny to make the answer.
	Request *ToolRequestPart
	// Data is what the call asked with. Never nil; true where it gave no data.
	Data json.RawMessage
	// Effective is the arguments the call would run with.
	Effective json.RawMessage
	// Changes are what was done to the arguments to make them fit the schema.
	Changes []Change
	// Path leads to the conversation the request stands in. Empty at the top.
	Path Path
	// By is the middleware that asked. Empty where the tool did.
	By string
}

// Interrupts lists the calls of a paused model message that wait for an answer,
// in request order, those of inner conversations in the place of their host.
// The error says what in the message's metadata can't be read.
func (m *Message) Interrupts() ([]*Interrupt, error) {
	var list []*Interrupt
	err := walkOpen(m, nil, func(o *openRequest) {
		if o.marks.interrupt == nil {
			return
		}
		it := &Interrupt{
			Request: o.addressed(), Data: o.marks.interrupt, Path: o.path,
			Effective: o.marks.effectiveInput, Changes: o.marks.changes, By: o.marks.interruptedBy,
		}
		if it.Effective == nil {
			it.Effective = inputOf(&o.part.ToolRequest)
		}
		list = append(list, it)
	})
	if err != nil {
		return nil, err
	}
	return list, nil
}

// Open lists every tool request of an unfinished model message that has no
// result: those that asked, failed, or never started. The order, the paths and
// the error are those of Interrupts.
func (m *Message) Open() ([]*ToolRequestPart, error) {
	var list []*ToolRequestPart
	err := walkOpen(m, nil, func(o *openRequest) { list = append(list, o.addressed()) })
	if err != nil {
		return nil, err
	}
	return list, nil
}

// interruptsOf is Interrupts for messages that this package wrote.
func interruptsOf(m *Message) []*Interrupt {
	if m == nil {
		return nil
	}
	list, err := m.Interrupts()
	if err != nil {
		panic(err) // we do not write what we can't read
	}
	return list
}

// openOf is Open for messages that this package wrote.
func openOf(m *Message) []*ToolRequestPart {
	if m == nil {
		return nil
	}
	list, err := m.Open()
	if err != nil {
		panic(err) // we do not write what we can't read
	}
	return list
}

// openRequest is a request without a result, where it stands.
type openRequest struct {
	part  *ToolRequestPart
	marks marks
	path  Path
}

// addressed is the request with its path in the metadata, from where the
// answers made of it take it.
func (o *openRequest) addressed() *ToolRequestPart {
	_, stray := o.part.Metadata[keyPath] // it would lead the answer elsewhere
	if len(o.path) == 0 && !stray {
		return o.part
	}
	c := *o.part
	c.Metadata = maps.Clone(o.part.Metadata)
	if c.Metadata == nil {
		c.Metadata = Metadata{}
	}
	delete(c.Metadata, keyPath)
	if len(o.path) > 0 {
		c.Metadata[keyPath] = o.path.encode()
	}
	return &c
}

func (p Path) encode() json.RawMessage {
	data, err := encode(p)
	if err != nil {
		panic(err) // a list of strings always encodes
	}
	return data
}

// walkOpen visits the open requests of a model message. A host whose inner
// conversations have open requests is visited through them, not itself.
func walkOpen(m *Message, path Path, visit func(*openRequest)) error {
	for _, p := range m.ToolRequests() {
		mk, err := readMarks(p)
		if err != nil {
			return err
		}
		if mk.pending {
			continue
		}
		found, err := walkInner(p, &mk, path, visit)
		if err != nil {
			return err
		}
		if !found {
			visit(&openRequest{part: p, marks: mk, path: path})
		}
	}
	return nil
}

// walkInner visits the open requests of the conversations that a call hosts, by
// branch name, and reports whether there are any.
func walkInner(p *ToolRequestPart, mk *marks, path Path, visit func(*openRequest)) (bool, error) {
	found := false
	for _, branch := range sortedKeys(mk.inner) {
		last := mk.inner[branch].pausedMessage()
		if last == nil {
			continue
		}
		down, err := path.down(p.ToolRequest.Ref, branch)
		if err != nil {
			return false, err
		}
		err = walkOpen(last, down, func(o *openRequest) {
			found = true
			visit(o)
		})
		if err != nil {
			return false, err
		}
	}
	return found, nil
}

// asInterrupt finds the interrupt in what a call returned. An error that holds
// real failures beside interrupts is a failure; what is left of it then holds
// no interrupt, since nobody may take one for an error.
func asInterrupt(err error) (*InterruptError, error) {
	var it *InterruptError
	if !errors.As(err, &it) {
		return nil, err
	}
	if rest := withoutInterrupts(err); rest != nil {
		return nil, rest
	}
	if !truthy(it.Data) || !json.Valid(it.Data) {
		c := *it // one that was not made by ToolCall.Interrupt
		c.Data = jsonTrue
		it = &c
	}
	if it.State != nil && !json.Valid(it.State) {
		c := *it
		c.State = nil
		it = &c
	}
	return it, nil
}

func withoutInterrupts(err error) error {
	var it *InterruptError
	if !errors.As(err, &it) {
		return err
	}
	switch e := err.(type) {
	case interface{ Unwrap() []error }:
		var rest []error
		for _, part := range e.Unwrap() {
			if kept := withoutInterrupts(part); kept != nil {
				rest = append(rest, kept)
			}
		}
		return errors.Join(rest...)
	case interface{ Unwrap() error }:
		return withoutInterrupts(e.Unwrap())
	}
	return nil
}
