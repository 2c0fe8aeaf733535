package ai_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/holdpoint/ai"
	"github.com/holdpoint/ai/aitest"
)

const sampledSchema = `{"type":"object","properties":{
	"q":{"type":"string"},
	"limit":{"type":"integer"},
	"until":{"type":["string","null"]},
	"filter":{"type":"object","properties":{"tag":{"type":"string"}},"additionalProperties":false}
},"required":["q"],"additionalProperties":false}`

// A strict form is what was asked for: null for what may be absent is taken
// back without a word, and null that the schema takes stays.
func TestStrictSamplingFoldsNulls(t *testing.T) {
	t.Parallel()
	const sent = `{"q":"x","limit":null,"until":null,"filter":{"tag":null}}`
	const want = `{"q":"x","until":null,"filter":{}}`
	for _, strict := range []ai.StrictSampling{ai.StrictPrefer, ai.StrictRequire} {
		var got []received
		def := &ai.ToolDefinition{Name: "find", InputSchema: json.RawMessage(sampledSchema), Sampling: &ai.Sampling{Strict: strict}}
		set := newSet(t, catcher(t, def, &got))
		res, err := resolve(t, set, nil, wish("find", "a", sent))
		finished(t, res, err)
		require.Len(t, got, 1)
		require.Equal(t, want, string(got[0].input))
		require.Empty(t, got[0].changes)
		req := requestOf(t, aitest.Reload(t, res.Model), "a")
		require.NotContains(t, req.Metadata, "changes")
		require.JSONEq(t, want, string(req.Metadata["effectiveInput"]))
	}
	var got []received
	def := &ai.ToolDefinition{Name: "find", InputSchema: json.RawMessage(sampledSchema)}
	res, err := resolve(t, newSet(t, catcher(t, def, &got)), nil, wish("find", "a", sent))
	finished(t, res, err)
	require.Equal(t, want, string(got[0].input))
	require.Len(t, got[0].changes, 2, "without sampling it is a repair")
}

// The model is given what the definition asks for.
func TestSamplingReachesTheModel(t *testing.T) {
	t.Parallel()
	var r ai.Registry
	var got []received
	grammar := &ai.Sampling{Grammar: &ai.Grammar{Syntax: ai.GrammarRegex, Definition: "[0-9]+"}}
	one := json.RawMessage(`{"type":"object","properties":{"text":{"type":"string"}},"required":["text"]}`)
	require.NoError(t, r.Register(
		catcher(t, &ai.ToolDefinition{Name: "a.b", InputSchema: one, Sampling: grammar}, &got),
		catcher(t, &ai.ToolDefinition{Name: "find", InputSchema: json.RawMessage(sampledSchema), Sampling: &ai.Sampling{Strict: ai.StrictRequire}}, &got),
	))
	m := aitest.NewModel(t, aitest.Text("done"))
	_, err := ai.Generate(t.Context(), &r, &ai.GenerateOptions{Model: m, Prompt: "go"})
	require.NoError(t, err)
	offered := m.Requests()[0].Tools
	require.Len(t, offered, 2)
	require.JSONEq(t, `{"grammar":{"syntax":"regex","definition":"[0-9]+"}}`, jsonOf(t, offered[0].Sampling))
	require.JSONEq(t, `{"strict":"require"}`, jsonOf(t, offered[1].Sampling))
}

func TestSamplingThatCannotBeAskedFor(t *testing.T) {
	t.Parallel()
	const open = `{"type":"object","properties":{"tags":{"type":"array","items":{"type":"string"},"uniqueItems":true}}}`
	const one = `{"type":"object","properties":{"text":{"type":"string"}},"required":["text"]}`
	lark := &ai.Grammar{Syntax: ai.GrammarLark, Definition: "start: /x/"}
	for name, test := range map[string]struct {
		schema   string
		sampling ai.Sampling
		want     string
	}{
		"degree":             {one, ai.Sampling{Strict: "always"}, `strict sampling must be "prefer" or "require", not "always"`},
		"blocked":            {open, ai.Sampling{Strict: ai.StrictRequire}, "its schema can't be made strict: uniqueItems at #/properties/tags"},
		"both":               {one, ai.Sampling{Strict: ai.StrictPrefer, Grammar: lark}, "both strict sampling and a grammar"},
		"syntax":             {one, ai.Sampling{Grammar: &ai.Grammar{Syntax: "ebnf", Definition: "x"}}, `must be "lark" or "regex", not "ebnf"`},
		"empty":              {one, ai.Sampling{Grammar: &ai.Grammar{Syntax: ai.GrammarLark}}, "its grammar is empty"},
		"no schema":          {``, ai.Sampling{Grammar: lark}, "exactly one property"},
		"optional":           {`{"properties":{"text":{"type":"string"}}}`, ai.Sampling{Grammar: lark}, "exactly one property"},
		"number":             {`{"properties":{"n":{"type":"number"}},"required":["n"]}`, ai.Sampling{Grammar: lark}, "exactly one property"},
		"two":                {`{"properties":{"a":{"type":"string"},"b":{"type":"string"}},"required":["a"]}`, ai.Sampling{Grammar: lark}, "exactly one property"},
		"required elsewhere": {`{"properties":{"a":{"type":"string"}},"required":["b"]}`, ai.Sampling{Grammar: lark}, "exactly one property"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			def := &ai.ToolDefinition{Name: "tool", Sampling: &test.sampling}
			if test.schema != "" {
				def.InputSchema = json.RawMessage(test.schema)
			}
			_, err := ai.NewRawTool(def, noCall)
			require.ErrorIs(t, err, ai.ErrInvalidArgument)
			require.ErrorContains(t, err, `ai: tool "tool"`)
			require.ErrorContains(t, err, test.want)
		})
	}
	_, err := ai.NewRawTool(&ai.ToolDefinition{Name: "tool", InputSchema: json.RawMessage(open), Sampling: &ai.Sampling{Strict: ai.StrictPrefer}}, noCall)
	require.NoError(t, err, "prefer is a wish")
	_, err = ai.NewRawTool(&ai.ToolDefinition{Name: "tool", InputSchema: json.RawMessage(one), Sampling: &ai.Sampling{Grammar: lark}}, noCall)
	require.NoError(t, err)
}

// Sampling that is changed in a copied definition is checked like any other.
func TestSamplingOfACopiedDefinition(t *testing.T) {
	t.Parallel()
	def := *newRaw(t, &ai.ToolDefinition{Name: "tool"}, noCall).Definition()
	def.Sampling = &ai.Sampling{Strict: "always"}
	_, err := ai.NewRawTool(&def, noCall)
	require.ErrorIs(t, err, ai.ErrInvalidArgument)
}

func TestStrictSchema(t *testing.T) {
	t.Parallel()
	strict, blockers := ai.StrictSchema(json.RawMessage(sampledSchema))
	require.Empty(t, blockers)
	require.JSONEq(t, `{"type":"object","properties":{
		"q":{"type":"string"},
		"limit":{"type":["integer","null"]},
		"until":{"type":["string","null"]},
		"filter":{"type":["object","null"],"properties":{"tag":{"type":["string","null"]}},"required":["tag"],"additionalProperties":false}
	},"required":["q","limit","until","filter"],"additionalProperties":false}`, string(strict))

	_, blockers = ai.StrictSchema(json.RawMessage(`{"type":"object","properties":{"m":{"type":"object","additionalProperties":{"type":"string"}},"t":{"type":"array","uniqueItems":true,"items":{"type":"string"}}}}`))
	require.Equal(t, []string{"additionalProperties at #/properties/m", "uniqueItems at #/properties/t"}, blockers)
}
