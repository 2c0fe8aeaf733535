package ai_test

import (
	"context"
	"encoding/json"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/holdpoint/ai"
)

type (
	stamped struct {
		ID string `json:"id"`
	}
	forecast struct {
		stamped
		City   string          `json:"city" jsonschema:"description=The city\\, in English,minLength=1,example=Paris"`
		Unit   string          `json:"unit,omitempty" jsonschema:"enum=celsius,enum=fahrenheit"`
		Mail   string          `json:"mail,omitzero" jsonschema:"format=email"`
		Days   int             `json:"days" jsonschema:"minimum=1,maximum=14"`
		Level  uint8           `json:"level"`
		Wind   *bool           `json:"wind"`
		At     time.Time       `json:"at"`
		Tags   map[string]bool `json:"tags,omitempty"`
		Raw    json.RawMessage `json:"raw,omitempty"`
		Photo  []byte          `json:"photo,omitempty"`
		Hidden string          `json:"-"`
	}
	folder struct {
		Name string    `json:"name"`
		Sub  []*folder `json:"sub,omitempty"`
	}
)

// schemas are those of a tool from In to Out, as its definition has them.
func schemas[In, Out any](t *testing.T) (in, out string) {
	t.Helper()
	tool, err := ai.NewTool(&ai.ToolDefinition{Name: "probe"}, func(context.Context, *ai.ToolCall, In) (out Out, err error) {
		return out, nil
	})
	require.NoError(t, err)
	return string(tool.Definition().InputSchema), string(tool.Definition().OutputSchema)
}

func TestSchemasAreInferredFromTypes(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		schemas func(*testing.T) (in, out string)
		in, out string
	}{
		"no input, a list": {schemas[struct{}, []string],
			`{"type":"object","properties":{},"additionalProperties":false}`,
			`{"type":["array","null"],"items":{"type":"string"}}`},
		"maps": {schemas[map[string]bool, map[string]*string],
			`{"type":"object","additionalProperties":{"type":"boolean"}}`,
			`{"type":["object","null"],"additionalProperties":{"type":["string","null"]}}`},
		"any":    {schemas[any, any], `{"type":"object"}`, `{}`},
		"raw":    {schemas[json.RawMessage, json.RawMessage], `{"type":"object"}`, `{}`},
		"a time": {schemas[struct{}, time.Time], `{"type":"object","properties":{},"additionalProperties":false}`, `{"type":"string","format":"date-time"}`},
		"pointers": {schemas[*stamped, *stamped],
			`{"type":"object","properties":{"id":{"type":"string"}},"required":["id"],"additionalProperties":false}`,
			`{"type":["object","null"],"properties":{"id":{"type":"string"}},"required":["id"],"additionalProperties":false}`},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			in, out := test.schemas(t)
			require.JSONEq(t, test.in, in)
			require.JSONEq(t, test.out, out)
		})
	}
}

// objectSchema is the schema of an object.
type objectSchema struct {
	Type                 string                     `json:"type"`
	Properties           map[string]json.RawMessage `json:"properties"`
	Required             []string                   `json:"required"`
	AdditionalProperties bool                       `json:"additionalProperties"`
	Defs                 map[string]json.RawMessage `json:"$defs"`
}

func readSchema(t *testing.T, schema string) objectSchema {
	t.Helper()
	s := objectSchema{AdditionalProperties: true}
	require.NoError(t, json.Unmarshal([]byte(schema), &s))
	return s
}

func TestSchemasOfFields(t *testing.T) {
	t.Parallel()
	in, _ := schemas[forecast, string](t)
	s := readSchema(t, in)
	require.Equal(t, "object", s.Type)
	require.False(t, s.AdditionalProperties)
	require.Equal(t, []string{"id", "city", "days", "level", "at"}, s.Required, "not what may be left out, and no pointers")
	want := map[string]string{
		"id":    `{"type":"string"}`,
		"city":  `{"type":"string","description":"The city, in English","minLength":1,"examples":["Paris"]}`,
		"unit":  `{"type":"string","enum":["celsius","fahrenheit"]}`,
		"mail":  `{"type":"string","format":"email"}`,
		"days":  `{"type":"integer","minimum":1,"maximum":14}`,
		"level": `{"type":"integer","minimum":0,"maximum":255}`,
		"wind":  `{"type":"boolean"}`,
		"at":    `{"type":"string","format":"date-time"}`,
		"tags":  `{"type":"object","additionalProperties":{"type":"boolean"}}`,
		"raw":   `true`,
	}
	require.Contains(t, string(s.Properties["photo"]), "base64")
	delete(s.Properties, "photo")
	require.Len(t, s.Properties, len(want), "what is embedded is promoted, what is hidden left out")
	for name, schema := range want {
		require.JSONEq(t, schema, string(s.Properties[name]), name)
	}
}

func TestSchemasOfTypesThatContainThemselves(t *testing.T) {
	t.Parallel()
	in, _ := schemas[folder, string](t)
	s := readSchema(t, in)
	require.Equal(t, "object", s.Type, "a provider sees an object at the top")
	require.JSONEq(t, `{"type":"array","items":{"$ref":"#/$defs/folder"}}`, string(s.Properties["sub"]))
	require.Contains(t, s.Defs, "folder")

	tool, err := ai.NewTool(&ai.ToolDefinition{Name: "count"}, func(_ context.Context, _ *ai.ToolCall, in folder) (int, error) {
		return len(in.Sub[0].Sub), nil
	})
	require.NoError(t, err)
	res, err := ai.Resolve(t.Context(), newSet(t, tool), modelSays(
		wish("count", "1", `{"name":"a","sub":[{"name":"b","sub":[{"name":"c"},{"name":"d"}]}]}`),
		wish("count", "2", `{"name":"a","sub":[{"name":"b","sub":[{"nome":"c"}]}]}`),
	), nil)
	require.NoError(t, err)
	require.Equal(t, `2`, outputsOf(t, res.Tool)[0])
	require.Contains(t, outputsOf(t, res.Tool)[1], `sub.0.sub.0: missing property \"name\"`)
}

// What fits an inferred schema reaches the function, and nothing else does.
func TestInferredSchemasHold(t *testing.T) {
	t.Parallel()
	tool, err := ai.NewTool(&ai.ToolDefinition{Name: "probe"}, func(_ context.Context, _ *ai.ToolCall, in forecast) (forecast, error) {
		return in, nil
	})
	require.NoError(t, err)
	set := newSet(t, tool)
	const whole = `{"id":"7","city":"Paris","unit":"celsius","mail":"a@b.example","days":14,"level":255,"wind":true,` +
		`"at":"2026-01-02T03:04:05Z","tags":{"wet":true},"raw":{"n":1},"photo":"aGk="}`
	tests := map[string]struct{ input, fault string }{
		"all":             {whole, ""},
		"the least":       {`{"id":"","city":"x","days":1,"level":0,"at":"2026-01-02T03:04:05+01:00"}`, ""},
		"a field missing": {`{"id":"","city":"x","days":1,"at":"2026-01-02T03:04:05Z"}`, "level"},
		"a field too many": {
			`{"id":"","city":"x","days":1,"level":0,"at":"2026-01-02T03:04:05Z","hidden":"x"}`, "hidden"},
		"too great":       {`{"id":"","city":"x","days":15,"level":0,"at":"2026-01-02T03:04:05Z"}`, "days"},
		"out of the type": {`{"id":"","city":"x","days":1,"level":256,"at":"2026-01-02T03:04:05Z"}`, "level"},
		"too short":       {`{"id":"","city":"","days":1,"level":0,"at":"2026-01-02T03:04:05Z"}`, "city"},
		"not in the list": {`{"id":"","city":"x","unit":"kelvin","days":1,"level":0,"at":"2026-01-02T03:04:05Z"}`, "unit"},
		"no such day":     {`{"id":"","city":"x","days":1,"level":0,"at":"2026-02-30T03:04:05Z"}`, "at"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			res, err := ai.Resolve(t.Context(), set, modelSays(wish("probe", "1", test.input)), nil)
			require.NoError(t, err)
			answer, ok := res.Tool.Content[0].(*ai.ToolResponsePart)
			require.True(t, ok)
			if test.fault != "" {
				require.JSONEq(t, `true`, string(answer.Metadata["isError"]))
				require.Contains(t, string(answer.ToolResponse.Output), test.fault)
				return
			}
			require.JSONEq(t, test.input, mustOmitNulls(t, answer.ToolResponse.Output))
		})
	}
}

// mustOmitNulls drops the members of an object that are null.
func mustOmitNulls(t *testing.T, object json.RawMessage) string {
	t.Helper()
	var members map[string]json.RawMessage
	require.NoError(t, json.Unmarshal(object, &members))
	for key, value := range members {
		if string(value) == "null" {
			delete(members, key)
		}
	}
	return jsonOf(t, members)
}

func TestSchemasGivenAsJSON(t *testing.T) {
	t.Parallel()
	def := &ai.ToolDefinition{
		Name:         "order",
		InputSchema:  json.RawMessage(`{"type": "object", "properties": {"part": {"enum": ["belt"]}}}`),
		OutputSchema: json.RawMessage(`{"type": "string", "maxLength": 3}`),
	}
	tool, err := ai.NewTool(def, func(_ context.Context, _ *ai.ToolCall, in map[string]string) (string, error) { return in["out"], nil })
	require.NoError(t, err)
	require.Equal(t, string(def.InputSchema), string(tool.Definition().InputSchema), "a schema stays as it was written")
	require.Equal(t, string(def.OutputSchema), string(tool.Definition().OutputSchema))

	set := newSet(t, tool)
	res, err := ai.Resolve(t.Context(), set, modelSays(wish("order", "1", `{"part":"belt","out":"yes"}`), wish("order", "2", `{"part":"wheel"}`)), nil)
	require.NoError(t, err)
	require.Equal(t, `"yes"`, outputsOf(t, res.Tool)[0])
	require.Contains(t, outputsOf(t, res.Tool)[1], "part")

	_, err = ai.Resolve(t.Context(), set, modelSays(wish("order", "1", `{"out":"much too long"}`)), nil)
	turn, _ := failed(t, err)
	require.Equal(t, ai.FailedOutput, turn.Calls[0].Kind)
}

// One of the two schemas may be given and the other inferred.
func TestOneSchemaGiven(t *testing.T) {
	t.Parallel()
	tool, err := ai.NewTool(&ai.ToolDefinition{Name: "order", InputSchema: json.RawMessage(`{"type":"object"}`)},
		func(context.Context, *ai.ToolCall, partInput) (bool, error) { return true, nil })
	require.NoError(t, err)
	require.JSONEq(t, `{"type":"object"}`, string(tool.Definition().InputSchema))
	require.JSONEq(t, `{"type":"boolean"}`, string(tool.Definition().OutputSchema))

	// The inferred one of the two is held to the formats of its types all the same.
	type meeting struct {
		At time.Time `json:"at"`
	}
	at, err := ai.NewTool(&ai.ToolDefinition{Name: "meet", OutputSchema: json.RawMessage(`{}`)}, noop[meeting, any])
	require.NoError(t, err)
	_, err = newSet(t, at).Check(wish("meet", "1", `{"at":"2026-02-30T03:04:05Z"}`))
	var fault *ai.ArgumentError
	require.ErrorAs(t, err, &fault)
	require.ErrorContains(t, err, "at: ")
}

func ExampleDefineTool() {
	type order struct {
		Part  string `json:"part" jsonschema:"description=Number of the part"`
		Count int    `json:"count,omitempty" jsonschema:"minimum=1,default=1"`
	}
	var tools ai.Registry
	tool := ai.DefineTool(&tools, "order_part", "Orders a spare part.",
		func(_ context.Context, _ *ai.ToolCall, in order) (string, error) {
			return "ordered " + in.Part, nil
		})
	printJSON(tool.Definition().InputSchema)
	// Output:
	// {
	//   "type": "object",
	//   "properties": {
	//     "part": {
	//       "description": "Number of the part",
	//       "type": "string"
	//     },
	//     "count": {
	//       "type": "integer",
	//       "minimum": 1,
	//       "maximum": 9223372036854775807,
	//       "default": 1
	//     }
	//   },
	//   "required": [
	//     "part"
	//   ],
	//   "additionalProperties": false
	// }
}
