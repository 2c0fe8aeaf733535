package anthropic_test

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/holdpoint/ai"
)

// recursive is a schema of a tree.
const recursive = `{"type":"object","properties":{"root":{"$ref":"#/$defs/node"}},"required":["root"],
	"$defs":{"node":{"type":"object","properties":{"next":{"anyOf":[{"$ref":"#/$defs/node"},{"type":"null"}]}},"required":["next"],"additionalProperties":false}}}`

// sentTools returns the tools that are sent for definitions.
func sentTools(t testing.TB, defs ...*ai.ToolDefinition) []json.RawMessage {
	t.Helper()
	w, req := serve(t, fixture(t, "text")), ask("hi")
	req.Tools = defs
	_, err := w.model(nil).Generate(t.Context(), req, nil)
	require.NoError(t, err)
	check(t, w.Sent()[0])
	var b struct{ Tools []json.RawMessage }
	require.NoError(t, json.Unmarshal(w.Sent()[0], &b))
	return b.Tools
}

func TestSchemasOfTools(t *testing.T) {
	t.Parallel()
	const must = "The arguments must also fit this JSON schema: "
	tests := map[string]struct{ schema, want string }{
		"none":            {``, `{"name":"f","input_schema":{"type":"object"}}`},
		"anything":        {`true`, `{"name":"f","input_schema":{"type":"object"}}`},
		"of no type":      {`{"properties":{"b":{},"a":{}}}`, `{"name":"f","input_schema":{"properties":{"b":{},"a":{}},"type":"object"}}`},
		"of two types":    {`{"type":["object","null"]}`, `{"name":"f","input_schema":{"type":"object"}}`},
		"a choice inside": {`{"type":"object","properties":{"a":{"oneOf":[{"type":"string"}]}}}`, `{"name":"f","input_schema":{"type":"object","properties":{"a":{"oneOf":[{"type":"string"}]}}}}`},
		"a choice at the root": {
			`{"type":"object","properties":{"a":{"type":"string"}},"anyOf":[{"required":["a"]},{"properties":{"a":{},"b":{"type":"integer"}},"required":["b"]}]}`,
			`{"name":"f","input_schema":{"type":"object","properties":{"a":{"type":"string"},"b":{"type":"integer"}}},
			"description":` + quote(must+`{"anyOf":[{"required":["a"]},{"properties":{"a":{},"b":{"type":"integer"}},"required":["b"]}]}`) + `}`,
		},
		"shared schemas to choose from": {
			`{"oneOf":[{"$ref":"#/$defs/x~1y"},{"$ref":"#/nowhere"},true],"$defs":{"x/y":{"properties":{"c":{"type":"null"}}}}}`,
			`{"name":"f","input_schema":{"type":"object","properties":{"c":{"type":"null"}},"$defs":{"x/y":{"properties":{"c":{"type":"null"}}}}},
			"description":` + quote(must+`{"oneOf":[{"$ref":"#/$defs/x~1y"},{"$ref":"#/nowhere"},true]}`) + `}`,
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			tools := sentTools(t, &ai.ToolDefinition{Name: "f", InputSchema: json.RawMessage(tt.schema)})
			require.JSONEq(t, tt.want, string(tools[0]))
		})
	}
}

func quote(s string) string {
	data, _ := json.Marshal(s)
	return string(data)
}

// A model writes properties in the order of the schema.
func TestSchemasKeepTheirOrder(t *testing.T) {
	t.Parallel()
	tools := sentTools(t, &ai.ToolDefinition{Name: "f", InputSchema: json.RawMessage(`{"properties":{"z":{},"b":{}},"anyOf":[{"properties":{"y":{},"a":{}}}]}`)})
	require.Contains(t, string(tools[0]), `"properties":{"z":{},"b":{},"y":{},"a":{}}`)
}

func strictTool(name, schema string, strict ai.StrictSampling) *ai.ToolDefinition {
	return &ai.ToolDefinition{Name: name, InputSchema: json.RawMessage(schema), Sampling: &ai.Sampling{Strict: strict}}
}

func TestStrictSampling(t *testing.T) {
	t.Parallel()
	bounded := `{"type":"object","properties":{"n":{"type":"integer","minimum":1,"maximum":9,"description":"How many."},
		"list":{"type":"array","items":{"type":"number","multipleOf":0.5},"minItems":2,"maxItems":3},"any":{"type":"array","items":{"type":"string"},"minItems":1}},
		"required":["n","list","any"],"$defs":{"d":{"type":"object","properties":{"m":{"anyOf":[{"type":"number","exclusiveMaximum":1},{"type":"null"}]}},"required":["m"]}}}`
	tools := sentTools(t,
		strictTool("bounded", bounded, ai.StrictRequire),
		strictTool("optional", `{"type":"object","properties":{"a":{"type":"string"}}}`, ai.StrictPrefer),
		strictTool("tree", recursive, ai.StrictPrefer),
		strictTool("blocked", `{"type":"object","properties":{"a":{"type":"string","maxLength":3}},"required":["a"]}`, ai.StrictPrefer),
	)
	want := []string{
		`{"name":"bounded","strict":true,"input_schema":{"type":"object","properties":{"n":{"type":"integer","description":"How many.\n\n(minimum: 1, maximum: 9)"},
		"list":{"type":"array","items":{"type":"number","description":"(multipleOf: 0.5)"},"description":"(minItems: 2, maxItems: 3)"},"any":{"type":"array","items":{"type":"string"},"minItems":1}},
		"required":["n","list","any"],"additionalProperties":false,"$defs":{"d":{"type":"object","properties":{"m":{"anyOf":[{"type":"number","description":"(exclusiveMaximum: 1)"},{"type":"null"}]}},"required":["m"],"additionalProperties":false}}}}`,
		`{"name":"optional","strict":true,"input_schema":{"type":"object","properties":{"a":{"type":["string","null"]}},"required":["a"],"additionalProperties":false}}`,
		`{"name":"tree","input_schema":` + recursive + `}`,
		`{"name":"blocked","input_schema":{"type":"object","properties":{"a":{"type":"string","maxLength":3}},"required":["a"]}}`,
	}
	for i := range want {
		require.JSONEq(t, want[i], string(tools[i]))
	}
}

// The API takes so many strict tools in one request, and so many unions in them.
func TestStrictSamplingIsRationed(t *testing.T) {
	t.Parallel()
	const plain = `{"type":"object","properties":{"a":{"type":"string"}},"required":["a"]}`
	const union = `{"type":"object","properties":{"a":{"type":["string","null"]},"b":{"anyOf":[{"type":"string"},{"type":"null"}]}},"required":["a","b"]}`
	count := func(schema string, strict ai.StrictSampling, n int) (taken int) {
		var defs []*ai.ToolDefinition
		for i := range n {
			defs = append(defs, strictTool(fmt.Sprintf("f%d", i), schema, strict))
		}
		for _, tool := range sentTools(t, defs...) {
			var b struct{ Strict bool }
			require.NoError(t, json.Unmarshal(tool, &b))
			if b.Strict {
				taken++
			}
		}
		return taken
	}
	require.Equal(t, 20, count(plain, ai.StrictPrefer, 25))
	require.Equal(t, 8, count(union, ai.StrictPrefer, 10))
	require.Equal(t, 25, count(plain, ai.StrictRequire, 25), "for the API to refuse")
}

// References are followed once each, however often they are made.
func TestStrictSamplingFollowsManyReferences(t *testing.T) {
	t.Parallel()
	defs := `"d40":{"type":"string"}`
	for i := range 40 {
		ref := fmt.Sprintf(`{"$ref":"#/$defs/d%d"}`, i+1)
		defs += fmt.Sprintf(`,"d%d":{"type":"object","properties":{"a":%s,"b":%s},"required":["a","b"]}`, i, ref, ref)
	}
	tools := sentTools(t, strictTool("f", `{"type":"object","properties":{"a":{"$ref":"#/$defs/d0"}},"required":["a"],"$defs":{`+defs+`}}`, ai.StrictPrefer))
	require.Contains(t, string(tools[0]), `"strict":true`)
}
