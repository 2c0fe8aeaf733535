package ai

import (
	"crypto/rand"
	"encoding/json"
	"sync"
)

// ToolCall is plain data about one call of a tool, for the tool and for the
// middleware around it. It is not a context. The methods are safe for
// concurrent use; a ToolCall made by hand, as a test of a tool may do, stands for
// a first call that nobody streams.
type ToolCall struct {
	// Name is the full name of the tool.
	Name string
	// Ref is the ref of the tool request.
	Ref string
	// Path leads to the conversation that asked for the call. Empty at the top.
	Path Path
	// Input is the arguments the tool gets, a JSON object. It must not be changed
	// in place; rewrite hooks return a new one.
	Input json.RawMessage
	// Changes are what was done to the model's arguments, or to edited ones, to make
	// them fit the schema. They do not tell of rewrite hooks.
	Changes []Change
	// Definition is the tool's own definition.
	Definition *ToolDefinition

	asker string // whose questions and answers this view is about
	state *callState
}

// callState is what the views of one call share.
type callState struct {
	request  string // the tool's name as the model used it
	index    int    // of the request among those of its message
	answered map[string]answer
	original json.RawMessage // the input before an edit; nil without one
	retried  bool            // it failed before, or was not heard of again
	earlier  func(*ToolCall) Outcome
	emit     func(*Chunk) error
	inner    innerCalls

	mu      sync.Mutex
	key     string
	attempt int // 0 counts as 1
}

// view is the call as one asker sees it.
func (c *ToolCall) view(asker string) *ToolCall {
	v := *c
	v.asker = asker
	return &v
}

// Interrupt stops the call to ask: return the error it gives. Data says what
// the question is, for whoever answers; it must encode as JSON. Nil, and any
// value that is false to JavaScript, is written as true.
func (c *ToolCall) Interrupt(data any) error { return c.InterruptWithState(data, nil) }

// InterruptWithState is Interrupt with a state for the asker alone, which finds
// it again with DecodeState. It stands in the history, but no model is sent it.
func (c *ToolCall) InterruptWithState(data, state any) error {
	e := &InterruptError{Data: jsonTrue, asker: c.asker}
	if data != nil {
		encoded, err := encode(data)
		if err != nil {
			return invalidf("ai: interrupt data of tool %q: %w", c.Name, err)
		}
		if truthy(encoded) {
			e.Data = encoded
		}
	}
	if state != nil {
		encoded, err := encode(state)
		if err != nil {
			return invalidf("ai: interrupt state of tool %q: %w", c.Name, err)
		}
		e.State = encoded
	}
	return e
}

// Resumed reports whether the question of this asker, the tool or the
// middleware that holds this call, was answered with a restart.
func (c *ToolCall) Resumed() bool {
	_, ok := c.answer()
	return ok
}

func (c *ToolCall) answer() (answer, bool) {
	if c.state == nil {
		return answer{}, false
	}
	name := c.asker
	if name == "" {
		name = toolAsker
	}
	a, ok := c.state.answered[name]
	return a, ok
}

// DecodeResumed decodes the data of the restart into v: an object, or true.
// It is ErrFailedPrecondition where Resumed is false.
func (c *ToolCall) DecodeResumed(v any) error {
	a, ok := c.answer()
	if !ok {
		return preconditionf("ai: tool request %s was not resumed", label(c.Name, c.Ref))
	}
	return decodeAs("resume data", c, a.Resumed, v)
}

// DecodeState decodes the state that this asker left with its question.
// It is ErrFailedPrecondition where there is none.
func (c *ToolCall) DecodeState(v any) error {
	a, ok := c.answer()
	if !ok || a.State == nil {
		return preconditionf("ai: tool request %s has no state", label(c.Name, c.Ref))
	}
	return decodeAs("state", c, a.State, v)
}

// DecodeOriginalInput decodes the input that the restart replaced.
// It is ErrFailedPrecondition where the input was not edited.
func (c *ToolCall) DecodeOriginalInput(v any) error {
	if c.state == nil || c.state.original == nil {
		return preconditionf("ai: the input of tool request %s was not replaced", label(c.Name, c.Ref))
	}
	return decodeAs("original input", c, c.state.original, v)
}

func decodeAs(what string, c *ToolCall, data json.RawMessage, v any) error {
	if err := decodeNumbers(data, v); err != nil {
		return invalidf("ai: %s of tool request %s: %w", what, label(c.Name, c.Ref), err)
	}
	return nil
}

// Key is the idempotency key of the call: the same on every attempt, another
// one once the input is edited. It is empty in a ToolCall made by hand.
func (c *ToolCall) Key() string {
	if c.state == nil {
		return ""
	}
	c.state.mu.Lock()
	defer c.state.mu.Unlock()
	if c.state.key == "" {
		c.state.key = rand.Text()
	}
	return c.state.key
}

// Attempt is which start of the call this is, counted from 1, where a session
// counts them; else it is 1. A tool that may run twice can refuse an attempt older
// than one it has seen.
func (c *ToolCall) Attempt() int {
	if c.state == nil {
		return 1
	}
	return max(c.state.attempt, 1)
}

// Emit sends progress to whoever streams: a chunk of role tool with an event of
// kind ToolProgress, which holds a tool response with these parts as content and
// `partial` in its metadata. It returns once the reader has the chunk, before
// anything that the call does later can be seen in the stream, and does nothing
// where nobody streams. Its error, once the reader has gone or the call was given
// up, is a reason to stop.
func (c *ToolCall) Emit(parts ...Part) error {
	if c.state == nil || c.state.emit == nil {
		return nil
	}
	return c.state.emit(&Chunk{
		Role: RoleTool,
		Content: Parts{&ToolResponsePart{
			ToolResponse: ToolResponse{Name: c.state.request, Ref: c.Ref, Content: parts},
			Metadata:     Metadata{keyPartial: jsonTrue},
		}},
		Tool: &ToolEvent{Kind: ToolProgress, Index: c.state.index, Ref: c.Ref, Name: c.state.request},
	})
}
