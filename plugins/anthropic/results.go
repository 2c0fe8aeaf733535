package anthropic

import (
	"encoding/json"
	"fmt"

	"github.com/holdpoint/ai"
	"github.com/holdpoint/ai/internal/adapter"
)

// call is a tool call of the last assistant message.
type call struct {
	name, ref string
	id        string          // as it is sent
	toolset   json.RawMessage // the toolset it belongs to, to be said of its result too
	result    block           // nil while it is open
}

// label names the call in errors.
func (c *call) label() string {
	if c.ref == "" {
		return c.name
	}
	return c.name + "#" + c.ref
}

// ids are the ids of tool calls in use.
type ids map[string]bool

// assign is the id to send for a ref: the ref itself where the API takes it and
// no call before has it, else one that is made of the ref and of how many calls
// there were, the same on every run.
func (ids ids) assign(ref string) string {
	id := sendable(ref)
	if id == "" {
		id = fmt.Sprintf("call_%d", len(ids)+1)
	}
	for unique, n := id, 2; ; n++ {
		if !ids[unique] {
			ids[unique] = true
			return unique
		}
		unique = fmt.Sprintf("%s_%d", id, n)
	}
}

// readResults takes the tool responses of a tool message as the results of calls.
// What else the message holds stands behind them.
func (c *conversation) readResults(m *ai.Message) error {
	var results []block
	for i, p := range m.Content {
		place := fmt.Sprintf("part %d: ", i)
		resp, ok := p.(*ai.ToolResponsePart)
		if !ok {
			b, err := userBlock(p)
			if err != nil {
				return &placedError{place, err}
			}
			if b != nil {
				c.beside = append(c.beside, b)
			}
			continue
		}
		result, err := c.result(resp)
		if err != nil {
			return &placedError{place, err}
		}
		results = append(results, result)
	}
	return cacheAt(results, m.Metadata)
}

// result settles the call that a response answers.
func (c *conversation) result(p *ai.ToolResponsePart) (block, error) {
	if p == nil {
		return nil, adapter.Invalid("it is nil")
	}
	answered := &call{name: p.ToolResponse.Name, ref: p.ToolResponse.Ref}
	for _, call := range c.calls {
		if call.result != nil || call.name != answered.name || call.ref != answered.ref {
			continue
		}
		b, err := c.resultBlock(call, p)
		call.result = b
		return b, err
	}
	return nil, adapter.Invalid("tool response %s answers no open call of the message before it", answered.label())
}

func (c *conversation) resultBlock(call *call, p *ai.ToolResponsePart) (block, error) {
	extra, err := own(p.Metadata)
	if err != nil {
		return nil, err
	}
	out := p.ForModel()
	b := block{"type": encode("tool_result"), "tool_use_id": encode(call.id)}
	if call.toolset != nil {
		b["toolset_name"] = call.toolset
	}
	content, err := c.resultContent(call, out)
	if err != nil {
		return nil, err
	}
	if out.IsError {
		b["is_error"] = json.RawMessage("true")
	}
	if len(content) > 0 {
		b["content"] = encode(content)
	}
	return b.merge(extra), nil
}

// resultContent is what a result holds. A result that is an error holds text
// only, as the API wants it, and always some; the rest stands behind the results.
func (c *conversation) resultContent(call *call, out *ai.ToolOutput) ([]block, error) {
	var content, aside []block
	isNull := string(out.Output) == "null"
	if !isBlank(out.Text) && !(isNull && len(out.Content) > 0) {
		content = append(content, textBlock(out.Text))
	}
	for i, p := range out.Content {
		b, err := userBlock(p)
		switch {
		case err != nil:
			return nil, &placedError{fmt.Sprintf("result %s, part %d: ", call.label(), i), err}
		case b == nil:
		case out.IsError && b.kind() != "text":
			aside = append(aside, b)
		default:
			content = append(content, b)
		}
	}
	if out.IsError && len(content) == 0 {
		content = append(content, textBlock("The tool failed and did not say why."))
	}
	c.put(aside, "The result of "+call.name+" came with this:")
	return content, nil
}

// put leaves blocks for the next user message, behind the results, with a remark
// on where they come from.
func (c *conversation) put(blocks []block, remark string) {
	if len(blocks) > 0 {
		c.beside = append(append(c.beside, textBlock(remark)), blocks...)
	}
}

// settle ends an assistant message: its results, in the order of its calls, and
// what else was waiting begin the user message behind it.
func (c *conversation) settle() error {
	var blocks []block
	for _, call := range c.calls {
		if call.result == nil {
			return adapter.Precondition("tool request %s has no response", call.label())
		}
		blocks = append(blocks, call.result)
	}
	c.add(roleUser, append(blocks, c.beside...))
	c.calls, c.beside = nil, nil
	return nil
}
