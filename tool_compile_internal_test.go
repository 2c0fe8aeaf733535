package ai

import (
	"context"
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"
)

// literal is a tool of a type of the user's own, which can't be compared.
type literal struct {
	def  *ToolDefinition
	tags []string
}

func (l literal) Definition() *ToolDefinition { return l.def }

func (l literal) Call(context.Context, *ToolCall) (*ToolResult, error) { return &ToolResult{}, nil }

type offering struct {
	name  string
	tools []Tool
}

func (o *offering) Name() string                          { return o.name }
func (o *offering) Tools(context.Context) ([]Tool, error) { return o.tools, nil }

func schemasIn(t *testing.T, s *ToolSet, err error) map[string]*compiledSchemas {
	t.Helper()
	require.NoError(t, err)
	found := make(map[string]*compiledSchemas)
	for name, o := range s.byFull {
		found[name] = o.schemas
	}
	return found
}

func numbered(context.Context, *ToolCall, struct{ N int }) (string, error) { return "", nil }

// What a constructor compiled is used wherever the tool goes.
func TestSchemasAreCompiledWhenTheToolIsMade(t *testing.T) {
	t.Parallel()
	typed, err := NewTool(&ToolDefinition{Name: "typed"}, numbered)
	require.NoError(t, err)
	raw, err := NewRawTool(&ToolDefinition{Name: "raw", InputSchema: json.RawMessage(`{"type":"object"}`)}, nilFunc)
	require.NoError(t, err)
	prompt, err := NewPrompt(&Prompt{Name: "prompt", Render: func(context.Context, json.RawMessage) ([]*Message, error) { return nil, nil }})
	require.NoError(t, err)
	made := map[string]*compiledSchemas{"typed": typed.def.compiled, "raw": raw.def.compiled, "prompt": prompt.definition.compiled}

	for range 2 {
		var r Registry
		require.NoError(t, r.Register(typed, raw, prompt))
		for range 2 {
			set, err := r.AllTools(t.Context())
			requireSameSchemas(t, made, schemasIn(t, set, err))
		}
		set, err := NewToolSet(prompt, raw, typed)
		requireSameSchemas(t, made, schemasIn(t, set, err))
	}
	copied := *typed.Definition()
	again, err := NewTool(&copied, numbered)
	require.NoError(t, err)
	require.Same(t, typed.def.compiled, again.def.compiled)
}

func nilFunc(context.Context, *ToolCall) (*ToolResult, error) { return &ToolResult{}, nil }

func requireSameSchemas(t *testing.T, want, got map[string]*compiledSchemas) {
	t.Helper()
	require.Len(t, got, len(want))
	for name := range want {
		require.NotNil(t, got[name])
		require.Same(t, want[name], got[name], name)
	}
}

// A definition that was copied and changed is compiled again, and checked again.
func TestChangedCopiesOfDefinitions(t *testing.T) {
	t.Parallel()
	typed, err := NewTool(&ToolDefinition{Name: "typed"}, numbered)
	require.NoError(t, err)
	changed := *typed.Definition()
	changed.InputSchema = json.RawMessage(`{"type":"object","required":["other"]}`)
	set, err := NewToolSet(literal{def: &changed})
	require.NotSame(t, typed.def.compiled, schemasIn(t, set, err)["typed"])
	_, err = set.Check(&ToolRequestPart{ToolRequest: ToolRequest{Name: "typed", Input: json.RawMessage(`{"N":1}`)}})
	require.ErrorContains(t, err, "other")

	changed = *typed.Definition()
	changed.OutputSchema = json.RawMessage(`{"type":"no type"}`)
	_, err = NewToolSet(literal{def: &changed})
	require.ErrorContains(t, err, `tool "typed": output schema`)

	changed = *typed.Definition()
	changed.Name = "not//valid"
	_, err = NewToolSet(literal{def: &changed})
	require.ErrorContains(t, err, `"not//valid"`)
}

// A provider's definition is compiled when it is first seen, whatever tool is
// around it, and again only when there is a new one.
func TestSchemasOfProvidersAreCompiledOnce(t *testing.T) {
	t.Parallel()
	first, second := &ToolDefinition{Name: "first"}, &ToolDefinition{Name: "second"}
	a := &offering{"a", []Tool{literal{first, nil}, literal{second, nil}}}
	other := &ToolDefinition{Name: "other"}
	var r Registry
	require.NoError(t, r.AddProvider(a))
	require.NoError(t, r.AddProvider(&offering{"b", []Tool{literal{other, nil}}}))
	set, err := r.AllTools(t.Context())
	seen := schemasIn(t, set, err)

	set, err = r.AllTools(t.Context())
	requireSameSchemas(t, seen, schemasIn(t, set, err))
	set, err = r.Tools(t.Context(), "second", "first", "other")
	requireSameSchemas(t, seen, schemasIn(t, set, err))

	renewed := &ToolDefinition{Name: "second"}
	a.tools = []Tool{literal{first, []string{"another one"}}, literal{renewed, nil}}
	set, err = r.AllTools(t.Context())
	now := schemasIn(t, set, err)
	require.Same(t, seen["first"], now["first"])
	require.Same(t, seen["other"], now["other"])
	require.NotSame(t, seen["second"], now["second"])
	require.Equal(t, []string{"another one"}, set.byFull["first"].tool.(literal).tags, "the tool is the one on offer now")
	require.Len(t, r.offered["a"], 2, "what is no longer offered is forgotten")
}
