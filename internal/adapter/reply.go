// Package adapter is what the model adapters under plugins share: collecting a
// reply while it is streamed, reading media, telling errors apart, and deciding
// on strict sampling.
package adapter

import (
	"fmt"
	"strings"

	"github.com/holdpoint/ai"
)

// Reply collects the reply of a model and passes its pieces on as they come.
// Parts stand in the order in which they first appeared. It belongs to one
// goroutine; the zero value collects without passing on.
type Reply struct {
	// Emit gets each piece. Nil means that nobody streams.
	Emit func(*ai.Chunk) error

	pieces []piece
	calls  int
}

// piece is a part of the reply, perhaps unfinished.
type piece interface {
	part() ai.Part // nil where there is nothing to say
}

// Block is text or reasoning that grows. An empty one without metadata leaves
// no part.
type Block struct {
	// Metadata goes with the part. It may be set until the reply is taken.
	Metadata ai.Metadata

	reply     *Reply
	text      strings.Builder
	reasoning bool
}

// Text begins a text block.
func (r *Reply) Text() *Block { return r.block(false) }

// Reasoning begins a block of reasoning.
func (r *Reply) Reasoning() *Block { return r.block(true) }

func (r *Reply) block(reasoning bool) *Block {
	b := &Block{reply: r, reasoning: reasoning}
	r.pieces = append(r.pieces, b)
	return b
}

// AddText appends text to the block that ends the reply, or to a new one. It is
// for providers that do not number their blocks.
func (r *Reply) AddText(text string) error { return r.last(false).Add(text) }

// AddReasoning does the same for reasoning.
func (r *Reply) AddReasoning(text string) error { return r.last(true).Add(text) }

func (r *Reply) last(reasoning bool) *Block {
	if n := len(r.pieces); n > 0 {
		if b, ok := r.pieces[n-1].(*Block); ok && b.reasoning == reasoning {
			return b
		}
	}
	return r.block(reasoning)
}

// Add appends to the block.
func (b *Block) Add(text string) error {
	if text == "" {
		return nil
	}
	b.text.WriteString(text)
	return b.reply.emit(&ai.Chunk{Content: ai.Parts{b.made(text, nil)}})
}

// Len is how much text there is so far, in bytes.
func (b *Block) Len() int { return b.text.Len() }

func (b *Block) made(text string, md ai.Metadata) ai.Part {
	if b.reasoning {
		return &ai.ReasoningPart{Reasoning: text, Metadata: md}
	}
	return &ai.TextPart{Text: text, Metadata: md}
}

func (b *Block) part() ai.Part {
	if b.text.Len() == 0 && len(b.Metadata) == 0 {
		return nil
	}
	return b.made(b.text.String(), b.Metadata)
}

// whole is a part that came in one piece.
type whole struct{ ai.Part }

func (w whole) part() ai.Part { return w.Part }

// Add appends a part that is neither text nor a tool request.
func (r *Reply) Add(part ai.Part) error {
	r.pieces = append(r.pieces, whole{part})
	return r.emit(&ai.Chunk{Content: ai.Parts{part}})
}

// Call is a tool request whose arguments grow. Its methods are called in the
// order Start, Add, End; Start and End by whoever knows first.
type Call struct {
	// Ref and Name are set as they become known.
	Ref, Name string
	// Metadata goes with the request. It may be set until the end.
	Metadata ai.Metadata

	reply     *Reply
	index     int
	arguments strings.Builder
	ended     bool
}

// Call begins a tool request. Ref and name may be empty for now.
func (r *Reply) Call(ref, name string) (*Call, error) {
	c := &Call{Ref: ref, Name: name, reply: r, index: r.calls}
	r.calls++
	r.pieces = append(r.pieces, c)
	return c, c.event(ai.ToolStart, "", nil)
}

// Add appends a piece of the arguments' text.
func (c *Call) Add(arguments string) error {
	if arguments == "" {
		return nil
	}
	if c.ended {
		return fmt.Errorf("ai: more arguments for tool request %q came after their end", c.Name)
	}
	c.arguments.WriteString(arguments)
	return c.event(ai.ToolDelta, arguments, nil)
}

// Arguments is the text so far.
func (c *Call) Arguments() string { return c.arguments.String() }

// End says that the arguments are complete. The second time does nothing.
func (c *Call) End() error {
	if c.ended {
		return nil
	}
	c.ended = true
	if c.reply.Emit == nil {
		return nil
	}
	return c.event(ai.ToolEnd, "", ai.Parts{c.part()})
}

func (c *Call) event(kind ai.ToolEventKind, delta string, content ai.Parts) error {
	return c.reply.emit(&ai.Chunk{Content: content, Tool: &ai.ToolEvent{
		Kind: kind, Index: c.index, Ref: c.Ref, Name: c.Name, Delta: delta,
	}})
}

func (c *Call) part() ai.Part {
	req := ai.NewToolRequest(c.Name, c.Ref, c.arguments.String())
	for key, value := range c.Metadata {
		if req.Metadata == nil {
			req.Metadata = ai.Metadata{}
		}
		req.Metadata[key] = value
	}
	return req
}

func (r *Reply) emit(c *ai.Chunk) error {
	if r.Emit == nil {
		return nil
	}
	c.Role = ai.RoleModel
	return r.Emit(c)
}

// Calls is how many tool requests there are.
func (r *Reply) Calls() int { return r.calls }

// EndCalls ends every request that has not ended, in their order: for providers
// that say so only by ending the message.
func (r *Reply) EndCalls() error {
	for _, p := range r.pieces {
		if c, ok := p.(*Call); ok {
			if err := c.End(); err != nil {
				return err
			}
		}
	}
	return nil
}

// Message is the reply as collected so far.
func (r *Reply) Message() *ai.Message {
	m := &ai.Message{Role: ai.RoleModel}
	for _, p := range r.pieces {
		if part := p.part(); part != nil {
			m.Content = append(m.Content, part)
		}
	}
	return m
}
