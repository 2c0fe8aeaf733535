package adapter

import (
	"encoding/json"

	"github.com/holdpoint/ai"
)

// Abilities is what a provider can do to constrain the arguments of a tool.
type Abilities struct {
	// Provider names it in errors.
	Provider string
	// Strict: it samples arguments to fit a strict schema.
	Strict bool
	// Grammars are the syntaxes it samples by.
	Grammars []ai.GrammarSyntax
}

// Sampled is how the arguments of a tool are to be sampled.
type Sampled struct {
	// Schema is the schema to send.
	Schema json.RawMessage
	// Strict says that Schema is in the strict form and is to be asked for as such.
	Strict bool
	// Grammar is the grammar to ask for. Nil means none.
	Grammar *ai.Grammar
}

// Sample decides how a tool is sampled. A tool that requires what the provider
// can't do is ErrInvalidArgument; one that prefers it is sampled freely.
func (a *Abilities) Sample(def *ai.ToolDefinition) (*Sampled, error) {
	plain := &Sampled{Schema: def.InputSchema}
	s := def.Sampling
	if s == nil {
		return plain, nil
	}
	if g := s.Grammar; g != nil {
		for _, syntax := range a.Grammars {
			if syntax == g.Syntax {
				return &Sampled{Schema: def.InputSchema, Grammar: g}, nil
			}
		}
		return nil, Invalid("ai: tool %q is sampled by a %s grammar, which %s does not do", def.Name, g.Syntax, a.Provider)
	}
	strict, blockers := ai.StrictSchema(def.InputSchema)
	switch {
	case s.Strict == "":
		return plain, nil
	case a.Strict && len(blockers) == 0:
		return &Sampled{Schema: strict, Strict: true}, nil
	case s.Strict == ai.StrictPrefer:
		return plain, nil
	case !a.Strict:
		return nil, Invalid("ai: tool %q requires strict sampling, which %s does not do", def.Name, a.Provider)
	}
	return nil, Invalid("ai: tool %q requires strict sampling, but its schema can't be made strict: %s", def.Name, blockers[0])
}
