package session

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/holdpoint/ai"
)

// Metadata keys of tool requests that the log has to know of. They are those of
// package ai.
const (
	keyInterrupt     = "interrupt"
	keyInterruptedBy = "interruptedBy"
	keyPendingOutput = "pendingOutput"
	keyEffective     = "effectiveInput"
	keyChanges       = "changes"
	keyFailure       = "failure"
	keyNotStarted    = "notStarted"
	keyInner         = "inner"
)

// conversation is one conversation as the log has it: the session's own, or one
// inside a call.
type conversation struct {
	path     ai.Path
	messages []*ai.Message // those of finished turns, and the last message as the model wrote it
	reply    *replyEntry   // what the model said beside the last reply
	replies  int           // how many there were: calls are named by that
	calls    []*call       // of the last message, while its turn is open; in request order
}

// call is a tool request of an open turn, and what the log says of it.
type call struct {
	conv     *conversation
	at       int                 // position in the message's content
	part     *ai.ToolRequestPart // with its latest state, without the conversations inside
	tool     string              // the full name, once it is known
	children map[string]*conversation

	attempts   int       // starts on record
	first      time.Time // of the first start
	running    bool      // started, and no outcome on record
	touched    bool      // there is an entry about it
	generation int       // how often the arguments were edited
	changed    int       // how often it turned out to be something else than was decided on
	digest     string    // of what runs or would run
	definition string    // of the tool, then
	asked      *asking   // what somebody is asked about it; nil where nobody is
}

func (c *call) settled() bool {
	_, ok := c.part.Metadata[keyPendingOutput]
	return ok
}

// child finds the conversation of a branch, and makes it where it is new.
func (c *call) child(branch string) *conversation {
	if conv := c.children[branch]; conv != nil {
		return conv
	}
	if c.children == nil {
		c.children = make(map[string]*conversation)
	}
	step := ai.PathStep{Ref: c.part.ToolRequest.Ref, Branch: branch}
	conv := &conversation{path: append(slices.Clone(c.conv.path), step)}
	c.children[branch] = conv
	return conv
}

// branches lists the conversations inside, by name.
func (c *call) branches() []string { return slices.Sorted(maps.Keys(c.children)) }

// find follows a path from this conversation to one inside it.
func (v *conversation) find(path ai.Path) (*conversation, error) {
	for i, step := range path {
		host := v.call(step.Ref)
		if host == nil {
			return nil, fmt.Errorf("%w: path %s leads nowhere", ErrCorrupt, path[:i+1])
		}
		v = host.child(step.Branch)
	}
	return v, nil
}

// call finds an open turn's call by its ref.
func (v *conversation) call(ref string) *call {
	for _, c := range v.calls {
		if c.part.ToolRequest.Ref == ref {
			return c
		}
	}
	return nil
}

// add appends messages, closing the turn before them.
func (v *conversation) add(messages []*ai.Message) error {
	if err := v.close(); err != nil {
		return err
	}
	v.messages = append(v.messages, messages...)
	v.reply = nil
	return nil
}

// hear appends a reply, whose calls are open from now on.
func (v *conversation) hear(message *ai.Message, reply *replyEntry) error {
	if err := v.add([]*ai.Message{message}); err != nil {
		return err
	}
	v.reply = reply
	v.replies++
	for i, p := range message.Content {
		if req, ok := p.(*ai.ToolRequestPart); ok {
			v.calls = append(v.calls, &call{conv: v, at: i, part: req})
		}
	}
	return nil
}

// open reports whether a call of the last message has no result.
func (v *conversation) open() bool {
	return slices.ContainsFunc(v.calls, func(c *call) bool { return !c.settled() })
}

// close replaces the open turn, all of whose calls are settled, by the messages
// that came of it.
func (v *conversation) close() error {
	if len(v.calls) == 0 {
		return nil
	}
	messages, err := v.render()
	if err != nil {
		return err
	}
	if messages, err = ai.CloseTurn(messages); err != nil {
		return fmt.Errorf("%w: a message follows an open turn: %w", ErrCorrupt, err)
	}
	v.messages, v.calls = messages, nil
	return nil
}

// finished reports whether the conversation has come to its end, and why.
func (v *conversation) finished() (ai.FinishReason, bool) {
	switch {
	case v.reply == nil || v.open():
		return "", false
	case len(v.calls) == 0:
		return v.reply.FinishReason, true
	}
	refused := v.reply.FinishReason == ai.FinishBlocked || v.reply.FinishReason == ai.FinishAborted
	return v.reply.FinishReason, refused
}

// render makes the messages as package ai takes them: the calls of the last one
// carry their state, and the conversations inside them.
func (v *conversation) render() ([]*ai.Message, error) {
	messages := slices.Clone(v.messages)
	if len(v.calls) == 0 {
		return messages, nil
	}
	last := *messages[len(messages)-1]
	last.Content = slices.Clone(last.Content)
	for _, c := range v.calls {
		part, err := c.render()
		if err != nil {
			return nil, err
		}
		last.Content[c.at] = part
	}
	messages[len(messages)-1] = &last
	return messages, nil
}

// inner is a conversation inside a call, on the wire.
type inner struct {
	Messages      []*ai.Message   `json:"messages"`
	FinishReason  ai.FinishReason `json:"finishReason,omitempty"`
	FinishMessage string          `json:"finishMessage,omitempty"`
}

func (c *call) render() (*ai.ToolRequestPart, error) {
	part := *c.part
	part.Metadata = maps.Clone(c.part.Metadata)
	if c.settled() {
		return &part, nil
	}
	if part.Metadata == nil {
		part.Metadata = ai.Metadata{}
	}
	if !c.touched || c.reentrant() {
		delete(part.Metadata, keyFailure)
		part.Metadata[keyNotStarted] = json.RawMessage("true")
	}
	record := make(map[string]*inner, len(c.children))
	for _, branch := range c.branches() {
		conv := c.children[branch]
		messages, err := conv.render()
		if err != nil {
			return nil, err
		}
		in := &inner{Messages: messages}
		if reason, done := conv.finished(); done {
			in.FinishReason, in.FinishMessage = reason, conv.reply.FinishMessage
		}
		record[branch] = in
	}
	if len(record) == 0 {
		return &part, nil
	}
	return &part, part.Metadata.Set(keyInner, record)
}

// reentrant reports whether the call was cut short while it hosted conversations
// and none of them waits for anybody. Its own code may run again: what it hosts is
// taken from the log.
func (c *call) reentrant() bool {
	return c.running && len(c.children) > 0 && len(c.leaves()) == 0
}

// leaves lists the open calls of the conversations inside, all the way down.
func (c *call) leaves() []*call {
	var list []*call
	for _, branch := range c.branches() {
		list = append(list, c.children[branch].leaves()...)
	}
	return list
}

// leaves lists the calls that have no result, in request order. A call that hosts
// conversations in which some are open is not among them.
func (v *conversation) leaves() []*call {
	var list []*call
	for _, c := range v.calls {
		if c.settled() {
			continue
		}
		if inside := c.leaves(); len(inside) > 0 {
			list = append(list, inside...)
			continue
		}
		list = append(list, c)
	}
	return list
}
