package anthropic

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/holdpoint/ai"
	"github.com/holdpoint/ai/internal/adapter"
)

// collector makes one reply of what the API sends, over all the requests that it
// took. It belongs to one goroutine.
type collector struct {
	reply adapter.Reply

	open   map[int]*growing // the blocks that have not ended
	unsure []*adapter.Call  // those whose arguments may have been cut off
	id     string
	ending ending
	last   usage    // of this answer
	before ai.Usage // of the answers before
}

// growing is a content block that has not ended.
type growing struct {
	kind      string
	members   block // those that the part does not say itself
	body      *adapter.Block
	call      *adapter.Call
	arguments strings.Builder // of a tool of the provider
	citations []json.RawMessage
	signature strings.Builder
}

// event takes one event of a stream. Those of an unknown type are passed over.
func (c *collector) event(e *event) error {
	switch e.Type {
	case "message_start":
		return c.start(&e.Message)
	case "content_block_start":
		return c.startBlock(e.Index, e.ContentBlock)
	case "content_block_delta":
		return c.grow(e)
	case "content_block_stop":
		return c.stopBlock(e.Index)
	case "message_delta":
		c.end(&e.Delta.ending)
		c.last.update(&e.Usage)
	}
	return nil
}

// start begins an answer, which may be there whole.
func (c *collector) start(a *answer) error {
	c.before, c.last = c.usage(), a.Usage
	c.id = a.ID
	c.end(&ending{Container: a.Container})
	for i, raw := range a.Content {
		if err := c.startBlock(i, raw); err != nil {
			return err
		}
		if err := c.stopBlock(i); err != nil {
			return err
		}
	}
	return nil
}

// end takes what is said of how the answer ended. The container stays as long as
// no other is named.
func (c *collector) end(e *ending) {
	container := c.ending.Container
	c.ending = *e
	if isNone(e.Container) {
		c.ending.Container = container
	}
}

func (c *collector) startBlock(index int, raw json.RawMessage) error {
	if err := c.stopBlock(index); err != nil {
		return err
	}
	b := block{}
	if err := json.Unmarshal(raw, &b); err != nil {
		return garbled(err)
	}
	if b == nil {
		return garbled(errors.New("it is null"))
	}
	g := &growing{kind: b.kind(), members: b}
	if c.open == nil {
		c.open = map[int]*growing{}
	}
	c.open[index] = g
	switch g.kind {
	case "text":
		g.body, g.members = c.reply.Text(), b.without("type", "text", "citations")
		g.citations = elements(b["citations"])
		return g.body.Add(text(b["text"]))
	case "thinking":
		g.body, g.members = c.reply.Reasoning(), b.without("type", "thinking", "signature")
		g.signature.WriteString(text(b["signature"]))
		return g.body.Add(text(b["thinking"]))
	case "redacted_thinking":
		g.body, g.members = c.reply.Reasoning(), b.without("type")
	case "tool_use":
		call, err := c.reply.Call(text(b["id"]), text(b["name"]))
		g.call = call
		return err
	}
	return nil
}

// grow adds a delta to a block. One for a block that is not there says nothing.
func (c *collector) grow(e *event) error {
	g, d := c.open[e.Index], &e.Delta
	switch {
	case g == nil:
		return nil
	case d.Type == "input_json_delta" && g.call != nil:
		return g.call.Add(d.PartialJSON)
	case d.Type == "input_json_delta":
		g.arguments.WriteString(d.PartialJSON)
	case g.body == nil:
		return g.extend(e.data)
	case d.Type == "text_delta":
		return g.body.Add(d.Text)
	case d.Type == "thinking_delta":
		return g.body.Add(d.Thinking)
	case d.Type == "signature_delta":
		g.signature.WriteString(d.Signature)
	case d.Type == "citations_delta":
		g.citations = append(g.citations, d.Citation)
	}
	return nil
}

// extend adds the delta of an event to a block that is kept whole: text grows,
// anything else is replaced.
func (g *growing) extend(data []byte) error {
	var e struct {
		Delta block `json:"delta"`
	}
	if err := json.Unmarshal(data, &e); err != nil {
		return garbled(err)
	}
	for key, value := range e.Delta.without("type") {
		if before := text(g.members[key]); before != "" && value[0] == '"' {
			value = encode(before + text(value))
		}
		g.members[key] = value
	}
	return nil
}

// stopBlock ends a block, if there is one.
func (c *collector) stopBlock(index int) error {
	g := c.open[index]
	if g == nil {
		return nil
	}
	delete(c.open, index)
	switch {
	case g.call != nil:
		return c.endCall(g)
	case g.body == nil:
		return c.reply.Add(g.whole())
	}
	if g.signature.Len() > 0 {
		g.members["signature"] = encode(g.signature.String())
	}
	if len(g.citations) > 0 {
		g.members["citations"] = encode(g.citations)
	}
	g.body.Metadata = g.members.metadata()
	return nil
}

// endCall completes a tool call. Its input comes in deltas, or stands in the
// block already, with some servers as text; no input at all is an empty one.
// What is no JSON may have been cut off, which the end of the message tells.
func (c *collector) endCall(g *growing) error {
	g.call.Metadata = g.members.without("type", "id", "name", "input").metadata()
	if g.call.Arguments() == "" {
		input := string(g.members["input"])
		if isNone(g.members["input"]) {
			input = "{}"
		} else if input[0] == '"' {
			input = text(g.members["input"])
		}
		if err := g.call.Add(input); err != nil {
			return err
		}
	}
	if json.Valid([]byte(g.call.Arguments())) {
		return g.call.End()
	}
	c.unsure = append(c.unsure, g.call)
	return nil
}

// whole is a block that no part has a form for.
func (g *growing) whole() *ai.CustomPart {
	if input := json.RawMessage(g.arguments.String()); json.Valid(input) {
		g.members["input"] = input
	}
	return &ai.CustomPart{Custom: encode(g.members), Metadata: ai.Metadata{provider: json.RawMessage("{}")}}
}

// garbled is the failure of a provider whose blocks can't be read.
func garbled(err error) error {
	return &ai.ProviderError{Provider: provider, Kind: ai.ErrUnavailable, Err: fmt.Errorf("a content block can't be read: %w", err)}
}

// finish ends the answer, and what of it was left open. A call that was cut off
// has no end.
func (c *collector) finish() error {
	for _, index := range slices.Sorted(maps.Keys(c.open)) {
		if err := c.stopBlock(index); err != nil {
			return err
		}
	}
	for _, call := range c.unsure {
		if reason, _ := c.ending.reason(); reason == ai.FinishLength || reason == ai.FinishBlocked {
			continue
		}
		if err := call.End(); err != nil {
			return err
		}
	}
	c.unsure = nil
	return nil
}

// isNone reports whether a value is absent or null.
func isNone(raw json.RawMessage) bool { return len(raw) == 0 || string(raw) == "null" }
