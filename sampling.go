package ai

import (
	"encoding/json"

	"github.com/holdpoint/ai/internal/coerce"
)

// Sampling asks a provider to constrain what the model can write as the
// arguments of a tool. At most one of the two is set.
type Sampling struct {
	// Strict asks for arguments that are sampled to fit the schema. Empty means no.
	Strict StrictSampling `json:"strict,omitempty"`
	// Grammar asks for arguments of which the one required property, a string,
	// is sampled to match it. Nil means none.
	Grammar *Grammar `json:"grammar,omitempty"`
}

// StrictSampling says how much a tool depends on strict sampling.
type StrictSampling string

// The degrees of strict sampling.
const (
	// StrictPrefer: where the provider has it and the schema allows it.
	StrictPrefer StrictSampling = "prefer"
	// StrictRequire: anything else is an error of the adapter.
	StrictRequire StrictSampling = "require"
)

// Grammar is a grammar for the one string of a tool's arguments.
type Grammar struct {
	// Syntax is how the definition is written.
	Syntax GrammarSyntax `json:"syntax"`
	// Definition is the grammar.
	Definition string `json:"definition"`
}

// GrammarSyntax is how a grammar is written.
type GrammarSyntax string

// The syntaxes of grammars.
const (
	GrammarLark  GrammarSyntax = "lark"
	GrammarRegex GrammarSyntax = "regex"
)

func (s *Sampling) strict() bool { return s != nil && s.Strict != "" }

// check makes sure that the sampling can be asked for at all.
func (s *Sampling) check(def *ToolDefinition) error {
	if s == nil {
		return nil
	}
	switch s.Strict {
	case "", StrictPrefer, StrictRequire:
	default:
		return invalidf("ai: tool %q: strict sampling must be %q or %q, not %q", def.Name, StrictPrefer, StrictRequire, s.Strict)
	}
	if s.Strict == StrictRequire {
		if _, blockers := StrictSchema(def.InputSchema); len(blockers) > 0 {
			return invalidf("ai: tool %q requires strict sampling, but its schema can't be made strict: %s", def.Name, blockers[0])
		}
	}
	if s.Grammar == nil {
		return nil
	}
	if s.Strict != "" {
		return invalidf("ai: tool %q asks for both strict sampling and a grammar", def.Name)
	}
	return s.Grammar.check(def)
}

func (g *Grammar) check(def *ToolDefinition) error {
	if g.Syntax != GrammarLark && g.Syntax != GrammarRegex {
		return invalidf("ai: tool %q: the syntax of a grammar must be %q or %q, not %q", def.Name, GrammarLark, GrammarRegex, g.Syntax)
	}
	if g.Definition == "" {
		return invalidf("ai: tool %q: its grammar is empty", def.Name)
	}
	var shape struct {
		Properties map[string]struct {
			Type any `json:"type"`
		} `json:"properties"`
		Required []string `json:"required"`
	}
	if json.Unmarshal(def.InputSchema, &shape) != nil || len(shape.Required) != 1 || len(shape.Properties) != 1 ||
		shape.Properties[shape.Required[0]].Type != "string" {
		return invalidf("ai: tool %q: a grammar needs a schema with exactly one property, required and of type string", def.Name)
	}
	return nil
}

// StrictSchema is for model adapters: the schema as strict sampling needs it,
// every property required, optional ones nullable, objects closed. Blockers name
// what such sampling does not take, as "KEYWORD at PLACE"; the schema can be used
// only where there are none. Arguments that come back with null for absent are
// folded back before they are checked.
func StrictSchema(schema json.RawMessage) (strict json.RawMessage, blockers []string) {
	return coerce.Strict(schema)
}
