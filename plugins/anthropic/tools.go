package anthropic

import (
	"encoding/json"

	"github.com/holdpoint/ai"
	"github.com/holdpoint/ai/internal/adapter"
)

// strictBudget is what the API allows of strict sampling in one request.
type strictBudget struct {
	tools  int // tools sampled strictly
	unions int // places in their schemas that take more than one type
}

func newStrictBudget() *strictBudget { return &strictBudget{tools: 20, unions: 16} }

// take takes the schema out of what is left, or reports that it does not fit.
func (s *strictBudget) take(unions int) bool {
	if s.tools < 1 || s.unions < unions {
		return false
	}
	s.tools, s.unions = s.tools-1, s.unions-unions
	return true
}

// tool is a tool as the API is told of it.
func (s *strictBudget) tool(def *ai.ToolDefinition) (block, error) {
	if def == nil {
		return nil, adapter.Invalid("ai: anthropic: a tool definition is nil")
	}
	extra, err := own(def.Metadata)
	if err != nil {
		return nil, &placedError{"ai: anthropic: tool " + def.Name + ": ", err}
	}
	b := block{"name": encode(def.Name)}
	description := def.Description
	strict, err := s.strict(def)
	switch {
	case err != nil:
		return nil, err
	case strict != nil:
		b["input_schema"], b["strict"] = strict, json.RawMessage("true")
	default:
		schema, note := plainSchema(def.InputSchema)
		b["input_schema"] = schema
		description = joined(description, note)
	}
	if description != "" {
		b["description"] = encode(description)
	}
	return b.merge(extra), nil
}

// strict is the schema for strict sampling. Nil means that the tool is sampled
// freely.
func (s *strictBudget) strict(def *ai.ToolDefinition) (json.RawMessage, error) {
	abilities := adapter.Abilities{Provider: provider, Strict: true}
	sampled, err := abilities.Sample(def)
	if err != nil || !sampled.Strict {
		return nil, err
	}
	required := def.Sampling.Strict == ai.StrictRequire
	l := &limiter{}
	schema := l.schema(sampled.Schema)
	if isRecursive(schema) {
		if required {
			return nil, adapter.Invalid("ai: tool %q requires strict sampling, which %s does not do with a recursive schema", def.Name, provider)
		}
		return nil, nil
	}
	if !s.take(l.unions) && !required {
		return nil, nil
	}
	return schema, nil
}

// joined puts a note behind a text.
func joined(text, note string) string {
	if text == "" || note == "" {
		return text + note
	}
	return text + "\n\n" + note
}
