package anthropic

import (
	"bytes"
	"encoding/json"
	"strings"
	"unicode"

	"github.com/holdpoint/ai"
	"github.com/holdpoint/ai/internal/adapter"
)

// systemBlock turns a part of a system message into a block. Nil means nothing.
func systemBlock(part ai.Part) (block, error) {
	if p, ok := part.(*ai.MediaPart); ok && p != nil {
		return nil, adapter.Invalid("media can't be sent in a system message")
	}
	return userBlock(part)
}

// userBlock turns a part of a user message, or of a result, into a block. Nil
// means that there is nothing to send.
func userBlock(part ai.Part) (block, error) {
	switch p := part.(type) {
	case *ai.TextPart:
		if p == nil {
			break
		}
		b, err := extend(textBlock(p.Text), p.Metadata)
		if bytes.HasPrefix(b["citations"], []byte("[")) {
			delete(b, "citations") // taken in what the assistant said only
		}
		return orNothing(b, err)
	case *ai.MediaPart:
		if p == nil {
			break
		}
		b, err := mediaBlock(&p.Media)
		if err != nil {
			return nil, err
		}
		return extend(b, p.Metadata)
	case *ai.ReasoningPart:
		return nil, nil
	}
	return plainBlock(part)
}

// assistantBlock turns a part of a model message into a block. Nil means that
// there is nothing to send here.
func (c *conversation) assistantBlock(part ai.Part) (block, error) {
	switch p := part.(type) {
	case *ai.TextPart:
		if p == nil {
			break
		}
		return orNothing(extend(textBlock(p.Text), p.Metadata))
	case *ai.MediaPart:
		b, err := userBlock(p)
		if err == nil {
			c.put([]block{b}, "Your last message came with this:")
		}
		return nil, err
	case *ai.ReasoningPart:
		if p == nil {
			break
		}
		return thinkingBlock(p)
	case *ai.ToolRequestPart:
		if p == nil {
			break
		}
		return c.callBlock(p)
	}
	return plainBlock(part)
}

// plainBlock turns a part that is treated alike in every message into a block.
func plainBlock(part ai.Part) (block, error) {
	switch p := part.(type) {
	case *ai.DataPart:
		if p != nil && (len(p.Data) == 0 || json.Valid(p.Data)) {
			data := p.Data
			if len(data) == 0 {
				data = json.RawMessage("null")
			}
			return extend(textBlock(string(data)), p.Metadata)
		}
	case *ai.ResourcePart:
		if p != nil {
			return extend(textBlock("Resource: "+p.Resource.URI), p.Metadata)
		}
	case *ai.CustomPart:
		if p != nil {
			return customBlock(p)
		}
	case *ai.UnknownPart:
		return nil, nil
	}
	return nil, adapter.Invalid("a %T can't be sent here", part)
}

func textBlock(s string) block {
	return block{"type": encode("text"), "text": encode(s)}
}

// extend adds what the metadata of a part holds for the block.
func extend(b block, md ai.Metadata) (block, error) {
	extra, err := own(md)
	if err != nil {
		return nil, err
	}
	return b.merge(extra), nil
}

// orNothing leaves out text that the API refuses: empty, or nothing but space.
func orNothing(b block, err error) (block, error) {
	if err != nil || isBlank(text(b["text"])) {
		return nil, err
	}
	return b, nil
}

func isBlank(s string) bool     { return strings.TrimSpace(s) == "" }
func trimRight(s string) string { return strings.TrimRightFunc(s, unicode.IsSpace) }

// thinkingBlock gives back thinking as it came. That of other providers, and
// what is not signed, is left out.
func thinkingBlock(p *ai.ReasoningPart) (block, error) {
	extra, err := own(p.Metadata)
	switch {
	case err != nil:
		return nil, err
	case extra["data"] != nil:
		return block{"type": encode("redacted_thinking")}.merge(extra), nil
	case text(extra["signature"]) != "":
		return block{"type": encode("thinking"), "thinking": encode(p.Reasoning)}.merge(extra), nil
	}
	return nil, nil
}

// customBlock is a block that this adapter has put into a part whole.
func customBlock(p *ai.CustomPart) (block, error) {
	extra, err := own(p.Metadata)
	if err != nil || extra == nil {
		return nil, err
	}
	var b block
	if json.Unmarshal(p.Custom, &b) != nil || b.kind() == "" {
		return nil, adapter.Invalid("a custom part of %q must hold a content block", provider)
	}
	return b.merge(extra), nil
}

// callBlock is a tool call, which from now on waits for its result.
func (c *conversation) callBlock(p *ai.ToolRequestPart) (block, error) {
	req := &p.ToolRequest
	call := &call{name: req.Name, ref: req.Ref, id: c.ids.assign(req.Ref)}
	input := req.Input
	if len(input) == 0 || string(bytes.TrimSpace(input)) == "null" {
		input = json.RawMessage("{}")
	}
	if !json.Valid(input) || bytes.TrimSpace(input)[0] != '{' {
		return nil, adapter.Invalid("the input of tool request %s is no JSON object", call.label())
	}
	extra, err := own(p.Metadata)
	if err != nil {
		return nil, err
	}
	call.toolset = extra["toolset_name"]
	c.calls = append(c.calls, call)
	name := nameOf(req.Name)
	c.named(name)
	b := block{"type": encode("tool_use"), "id": encode(call.id), "name": encode(name), "input": input}
	return b.merge(extra), nil
}

// nameOf is the name of a tool as it can be sent. One that the API does not take
// stands for no tool: a model has made it up.
func nameOf(name string) string {
	const most = 128
	name = sendable(name)
	if name == "" {
		return "unknown"
	}
	return name[:min(len(name), most)]
}

// sendable replaces what the API does not take in names and ids.
func sendable(s string) string {
	return strings.Map(func(r rune) rune {
		if r == '-' || r == '_' || '0' <= r && r <= '9' || 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' {
			return r
		}
		return '_'
	}, s)
}

// named notes that a tool of that name was called.
func (c *conversation) named(name string) {
	for _, def := range c.tools {
		if def.Name == name {
			return
		}
	}
	c.tools = append(c.tools, &ai.ToolDefinition{Name: name, Description: "No longer on offer."})
}
