package openai

import (
	"encoding/json"

	"github.com/holdpoint/ai"
	"github.com/holdpoint/ai/internal/adapter"
)

// body makes the request.
func (c *ResponsesConfig) body(name string, req *ai.ModelRequest, tools *toolKit) (object, error) {
	body, err := params(c.Params, name, "input", "tool_choice")
	if err != nil {
		return nil, err
	}
	if _, ok := body["store"]; !ok {
		body["store"] = false
	}
	if _, ok := body["include"]; !ok {
		body["include"] = []string{"reasoning.encrypted_content"}
	}
	w := &inputWriter{tools: tools}
	if err := walk(req.Messages, w); err != nil {
		return nil, err
	}
	if len(w.items) == 0 {
		return nil, adapter.Invalid("ai: openai: there is no message to send")
	}
	body["input"] = w.items
	list := tools.responses()
	if raw, ok := body["tools"].(json.RawMessage); ok {
		var more []any
		if json.Unmarshal(raw, &more) == nil {
			list = append(list, more...)
		}
	}
	if len(list) > 0 {
		body["tools"] = list
	}
	return body, choose(body, req, len(list))
}

// responses lists the tools as the responses API takes them.
func (k *toolKit) responses() []any {
	var list []any
	for i, s := range k.sampled {
		if s.Grammar != nil {
			custom := k.customTool(i)
			custom["type"] = "custom"
			custom["format"] = object{"type": "grammar", "syntax": string(s.Grammar.Syntax), "definition": s.Grammar.Definition}
			list = append(list, custom)
			continue
		}
		f := k.function(i)
		f["type"], f["strict"] = "function", s.Strict
		list = append(list, f)
	}
	return list
}

// inputWriter writes a history as input items.
type inputWriter struct {
	tools *toolKit
	items []any
}

func (w *inputWriter) say(role ai.Role, parts ai.Parts) error {
	content, err := inputContent(parts)
	if err != nil || len(content) == 0 {
		return err
	}
	if role == ai.RoleSystem {
		for _, c := range content {
			if c["type"] != "input_text" {
				return adapter.Invalid("ai: a system message takes text only")
			}
		}
	}
	w.items = append(w.items, object{"role": string(role), "content": simpleInput(content)})
	return nil
}

// simpleInput is content as a string where it is one text.
func simpleInput(content []object) any {
	if len(content) == 1 && content[0]["type"] == "input_text" {
		return content[0]["text"]
	}
	return content
}

func inputContent(parts ai.Parts) ([]object, error) {
	var content []object
	for i, p := range parts {
		switch p := p.(type) {
		case *ai.TextPart:
			if p.Text != "" {
				content = append(content, object{"type": "input_text", "text": p.Text})
			}
		case *ai.MediaPart:
			media, err := responsesMedia(&p.Media)
			if err != nil {
				return nil, err
			}
			content = append(content, media)
		case *ai.DataPart:
			content = append(content, object{"type": "input_text", "text": string(p.Data)})
		case *ai.ReasoningPart, *ai.CustomPart, *ai.UnknownPart:
		default:
			return nil, unsupported(i, p)
		}
	}
	return content, nil
}

// model writes a model message in the order in which its items came.
func (w *inputWriter) model(m *ai.Message, calls []*pending) error {
	for i, p := range m.Content {
		switch p := p.(type) {
		case *ai.TextPart:
			if p.Text != "" {
				w.items = append(w.items, object{"role": "assistant", "content": p.Text})
			}
		case *ai.DataPart:
			w.items = append(w.items, object{"role": "assistant", "content": string(p.Data)})
		case *ai.ReasoningPart:
			w.kept(p.Metadata)
		case *ai.CustomPart:
			w.kept(p.Metadata)
		case *ai.ToolRequestPart:
			w.items = append(w.items, w.call(calls[0]))
			calls = calls[1:]
		case *ai.UnknownPart:
		default:
			return unsupported(i, p)
		}
	}
	return nil
}

// kept sends an item of this provider back as it came. Another provider's is left out.
func (w *inputWriter) kept(md ai.Metadata) {
	var kept struct {
		Item json.RawMessage `json:"item"`
	}
	if found, err := md.Decode(provider, &kept); found && err == nil && kept.Item != nil {
		w.items = append(w.items, kept.Item)
	}
}

func (w *inputWriter) call(c *pending) object {
	r := &c.part.ToolRequest
	if text, ok := w.tools.customText(r); ok {
		return object{"type": "custom_tool_call", "call_id": c.id, "name": r.Name, "input": text}
	}
	arguments := string(r.Input)
	if arguments == "" || arguments == "null" {
		arguments = "{}"
	}
	return object{"type": "function_call", "call_id": c.id, "name": r.Name, "arguments": arguments}
}

func (w *inputWriter) results(calls []*pending) error {
	for _, c := range calls {
		kind := "function_call_output"
		if _, ok := w.tools.customText(&c.part.ToolRequest); ok {
			kind = "custom_tool_call_output"
		}
		out := c.done.ForModel()
		content, err := inputContent(out.Content)
		if err != nil {
			return adapter.Invalid("ai: result %s: %w", c.label(), err)
		}
		item := object{"type": kind, "call_id": c.id, "output": told(out)}
		if len(content) > 0 {
			if string(out.Output) != "null" {
				content = append([]object{{"type": "input_text", "text": told(out)}}, content...)
			}
			item["output"] = content
		}
		w.items = append(w.items, item)
	}
	return nil
}
