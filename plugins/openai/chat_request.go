package openai

import (
	"encoding/json"
	"strings"

	"github.com/holdpoint/ai"
	"github.com/holdpoint/ai/internal/adapter"
)

// body makes the request.
func (c *ChatConfig) body(name string, req *ai.ModelRequest, tools *toolKit) (object, error) {
	body, err := params(c.Params, name, "messages", "tools", "tool_choice")
	if err != nil {
		return nil, err
	}
	w := &chatWriter{tools: tools, reasoning: c.SendReasoning}
	if err := walk(req.Messages, w); err != nil {
		return nil, err
	}
	if len(w.messages) == 0 {
		return nil, adapter.Invalid("ai: openai: there is no message to send")
	}
	body["messages"] = w.messages
	if list := tools.chat(); len(list) > 0 {
		body["tools"] = list
	}
	return body, choose(body, req, len(tools.defs))
}

// chat lists the tools as chat completions take them.
func (k *toolKit) chat() []object {
	var list []object
	for i, s := range k.sampled {
		if s.Grammar == nil {
			list = append(list, object{"type": "function", "function": k.function(i)})
			continue
		}
		custom := k.customTool(i)
		custom["format"] = object{"type": "grammar", "grammar": object{
			"syntax": string(s.Grammar.Syntax), "definition": s.Grammar.Definition,
		}}
		list = append(list, object{"type": "custom", "custom": custom})
	}
	return list
}

// chatWriter writes a history as chat messages.
type chatWriter struct {
	tools     *toolKit
	reasoning bool // send it back
	messages  []object
}

func (w *chatWriter) say(role ai.Role, parts ai.Parts) error {
	content, err := chatContent(parts)
	if err != nil || len(content) == 0 {
		return err
	}
	if role == ai.RoleSystem {
		for _, c := range content {
			if c["type"] != "text" {
				return adapter.Invalid("ai: a system message takes text only")
			}
		}
	}
	w.messages = append(w.messages, object{"role": string(role), "content": simple(content)})
	return nil
}

// simple is content as a string where it is one text, which every server takes.
func simple(content []object) any {
	if len(content) == 1 && content[0]["type"] == "text" {
		return content[0]["text"]
	}
	return content
}

// chatContent turns parts into content. What is a model's own way of working is left
// out.
func chatContent(parts ai.Parts) ([]object, error) {
	var content []object
	for i, p := range parts {
		switch p := p.(type) {
		case *ai.TextPart:
			if p.Text != "" {
				content = append(content, object{"type": "text", "text": p.Text})
			}
		case *ai.MediaPart:
			media, err := chatMedia(&p.Media)
			if err != nil {
				return nil, err
			}
			content = append(content, media)
		case *ai.DataPart:
			content = append(content, object{"type": "text", "text": string(p.Data)})
		case *ai.ReasoningPart, *ai.CustomPart, *ai.UnknownPart:
		default:
			return nil, unsupported(i, p)
		}
	}
	return content, nil
}

func (w *chatWriter) model(m *ai.Message, calls []*pending) error {
	var text strings.Builder
	msg := object{"role": "assistant"}
	for i, p := range m.Content {
		switch p := p.(type) {
		case *ai.TextPart:
			text.WriteString(p.Text)
		case *ai.ReasoningPart:
			w.reason(msg, p)
		case *ai.DataPart:
			text.Write(p.Data)
		case *ai.ToolRequestPart, *ai.CustomPart, *ai.UnknownPart:
		default:
			return unsupported(i, p)
		}
	}
	if text.Len() > 0 {
		msg["content"] = text.String()
	}
	var list []object
	for _, c := range calls {
		list = append(list, w.call(c))
	}
	if len(list) > 0 {
		msg["tool_calls"] = list
	}
	if text.Len() == 0 && len(list) == 0 {
		return nil // a message that says nothing is refused
	}
	w.messages = append(w.messages, msg)
	return nil
}

// reason adds the reasoning in the form in which it came.
func (w *chatWriter) reason(msg object, p *ai.ReasoningPart) {
	if !w.reasoning {
		return
	}
	var kept struct {
		Field   string          `json:"field"`
		Details json.RawMessage `json:"reasoning_details"`
	}
	found, err := p.Metadata.Decode(provider, &kept)
	if !found || err != nil {
		return // another provider's
	}
	if kept.Field != "" {
		before, _ := msg[kept.Field].(string)
		msg[kept.Field] = before + p.Reasoning
	}
	if kept.Details != nil {
		msg["reasoning_details"] = kept.Details
	}
}

func (w *chatWriter) call(c *pending) object {
	r := &c.part.ToolRequest
	if text, ok := w.tools.customText(r); ok {
		return object{"id": c.id, "type": "custom", "custom": object{"name": r.Name, "input": text}}
	}
	arguments := string(r.Input)
	if arguments == "" || arguments == "null" {
		arguments = "{}"
	}
	return object{"id": c.id, "type": "function", "function": object{"name": r.Name, "arguments": arguments}}
}

// results writes the results of a turn, and behind all of them what they hold beside
// text, since a tool message takes no media.
func (w *chatWriter) results(calls []*pending) error {
	var beside []object
	for _, c := range calls {
		out := c.done.ForModel()
		content, err := chatContent(out.Content)
		if err != nil {
			return adapter.Invalid("ai: result %s: %w", c.label(), err)
		}
		text := told(out)
		if text == "null" && len(content) > 0 {
			text = ""
		}
		var media []object
		for _, part := range content {
			if part["type"] == "text" {
				text = strings.TrimPrefix(text+"\n"+part["text"].(string), "\n")
				continue
			}
			media = append(media, part)
		}
		if len(media) > 0 {
			beside = append(append(beside, object{"type": "text", "text": "The result of " + c.part.ToolRequest.Name + " came with this:"}), media...)
			if text == "" {
				text = "See the message below."
			}
		}
		w.messages = append(w.messages, object{"role": "tool", "tool_call_id": c.id, "content": text})
	}
	if len(beside) > 0 {
		w.messages = append(w.messages, object{"role": "user", "content": beside})
	}
	return nil
}
