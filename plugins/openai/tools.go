package openai

import (
	"encoding/json"
	"strings"

	"github.com/holdpoint/ai"
	"github.com/holdpoint/ai/internal/adapter"
)

var abilities = adapter.Abilities{
	Provider: provider, Strict: true, Grammars: []ai.GrammarSyntax{ai.GrammarLark, ai.GrammarRegex},
}

// toolKit is the tools of a request, and which of them are custom tools, whose one
// argument is sampled by a grammar.
type toolKit struct {
	sampled []*adapter.Sampled
	defs    []*ai.ToolDefinition
	custom  map[string]string // the property, by the tool's name
}

func newToolKit(defs []*ai.ToolDefinition) (*toolKit, error) {
	k := &toolKit{custom: make(map[string]string)}
	for _, def := range defs {
		if def == nil {
			return nil, adapter.Invalid("ai: openai: a tool definition is nil")
		}
		s, err := abilities.Sample(def)
		if err != nil {
			return nil, err
		}
		if s.Grammar != nil {
			k.custom[def.Name] = soleProperty(def.InputSchema)
		}
		k.sampled, k.defs = append(k.sampled, s), append(k.defs, def)
	}
	return k, nil
}

// soleProperty is the one property of the arguments of a tool with a grammar.
func soleProperty(schema json.RawMessage) string {
	var s struct {
		Required []string `json:"required"`
	}
	if json.Unmarshal(schema, &s) != nil || len(s.Required) != 1 {
		return "input" // which no definition of package ai comes to
	}
	return s.Required[0]
}

// parameters is a schema as the API takes it: always an object.
func parameters(schema json.RawMessage) any {
	var top map[string]json.RawMessage
	if json.Unmarshal(schema, &top) != nil || len(top) == 0 {
		return object{"type": "object", "properties": object{}}
	}
	if _, ok := top["properties"]; ok && string(top["type"]) == `"object"` {
		return schema
	}
	top["type"] = json.RawMessage(`"object"`)
	if _, ok := top["properties"]; !ok {
		top["properties"] = json.RawMessage(`{}`)
	}
	return top
}

// function describes a tool as a function.
func (k *toolKit) function(i int) object {
	def, s := k.defs[i], k.sampled[i]
	f := object{"name": def.Name, "parameters": parameters(s.Schema)}
	if def.Description != "" {
		f["description"] = def.Description
	}
	if s.Strict {
		f["strict"] = true
	}
	return f
}

// grammar describes a tool as a custom tool, without its format.
func (k *toolKit) customTool(i int) object {
	f := object{"name": k.defs[i].Name}
	if d := k.defs[i].Description; d != "" {
		f["description"] = d
	}
	return f
}

// customText is the text of a call of a custom tool: the one string of its arguments.
func (k *toolKit) customText(req *ai.ToolRequest) (string, bool) {
	property, ok := k.custom[req.Name]
	if !ok {
		return "", false
	}
	var input map[string]string
	if json.Unmarshal(req.Input, &input) != nil {
		return "", false
	}
	return input[property], true
}

// customCall turns the text of a custom tool into arguments, piece by piece.
type customCall struct {
	call     *adapter.Call
	property string
	begun    bool
}

func (c *customCall) add(text string) error {
	piece := strings.TrimSuffix(strings.TrimPrefix(string(encode(text)), `"`), `"`)
	if !c.begun {
		c.begun = true
		piece = "{" + string(encode(c.property)) + `:"` + piece
	}
	return c.call.Add(piece)
}

func (c *customCall) end() error {
	if !c.begun {
		if err := c.add(""); err != nil {
			return err
		}
	}
	if err := c.call.Add(`"}`); err != nil {
		return err
	}
	return c.call.End()
}
