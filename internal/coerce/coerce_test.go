package coerce_test

import (
	"encoding/json"
	"strconv"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/stretchr/testify/require"

	"github.com/holdpoint/ai/internal/coerce"
)

// compile compiles a schema of draft 2020-12, or of the draft that it names.
func compile(tb testing.TB, schema string) *jsonschema.Schema {
	tb.Helper()
	doc, err := jsonschema.UnmarshalJSON(strings.NewReader(schema))
	require.NoError(tb, err, schema)
	c := jsonschema.NewCompiler()
	require.NoError(tb, c.AddResource("tool:///schema", doc))
	sch, err := c.Compile("tool:///schema")
	require.NoError(tb, err, schema)
	return sch
}

// A coerceCase says what becomes of data under a schema. An empty want is a
// refusal; "as sent" is what fits. Changes are written "path: from -> to (rule)".
type coerceCase struct {
	schema  string
	data    string
	want    string
	changes []string
}

const asSent = "as sent"

func (c *coerceCase) run(t *testing.T) {
	t.Helper()
	out, changes, ok := coerce.Coerce(compile(t, c.schema), json.RawMessage(c.data), &coerce.Options{ToolName: "T"})
	switch c.want {
	case "":
		require.False(t, ok, "%s under %s became %s", c.data, c.schema, out)
		require.Nil(t, out)
		require.Nil(t, changes)
		return
	case asSent:
		require.True(t, ok, "%s under %s", c.data, c.schema)
		require.Equal(t, c.data, string(out))
		require.Empty(t, changes)
		return
	}
	require.True(t, ok, "%s under %s", c.data, c.schema)
	require.Equal(t, c.want, string(out), "%s under %s", c.data, c.schema)
	require.Equal(t, c.changes, texts(changes))
}

func texts(changes []coerce.Change) []string {
	list := make([]string, len(changes))
	for i, c := range changes {
		to := "absent"
		if c.To != nil {
			to = string(c.To)
		}
		list[i] = c.Path + ": " + string(c.From) + " -> " + to + " (" + c.Rule + ")"
	}
	return list
}

func runCases(t *testing.T, cases []coerceCase) {
	t.Helper()
	for _, c := range cases {
		t.Run(c.schema+" "+c.data, func(t *testing.T) {
			t.Parallel()
			c.run(t)
		})
	}
}

// property is the schema of an object with the optional property v.
func property(schema string) string { return `{"type":"object","properties":{"v":` + schema + `}}` }

// one is a case of one property and at most one change, given without the
// object around it.
func one(schema, from, to, rule string) coerceCase {
	c := coerceCase{schema: property(schema), data: `{"v":` + from + `}`, want: to}
	if to != "" && to != asSent {
		c.want = `{"v":` + to + `}`
		c.changes = []string{"v: " + from + " -> " + to + " (" + rule + ")"}
	}
	return c
}

const (
	integer = `{"type":"integer"}`
	number  = `{"type":"number"}`
	boolean = `{"type":"boolean"}`
	text    = `{"type":"string"}`
	strs    = `{"type":"array","items":{"type":"string"}}`
)

func TestCoerceScalars(t *testing.T) {
	t.Parallel()
	runCases(t, []coerceCase{
		one(integer, `"42"`, `42`, "number"),
		one(integer, `" 42 "`, `42`, "number"),
		one(integer, `"1e3"`, `1e3`, "number"),
		one(integer, `"3.0"`, `3.0`, "number"),
		one(number, `"-1.50E+2"`, `-1.50E+2`, "number"),
		one(number, `"12345678901234567890.10"`, `12345678901234567890.10`, "number"),
		one(integer, `3.0`, asSent, ""),
		one(integer, `2512292042121000001`, asSent, ""),
		one(integer, `3.5`, "", ""),
		one(integer, `"3.5"`, "", ""),
		one(integer, `""`, "", ""),
		one(integer, `" "`, "", ""),
		one(integer, `"0x10"`, "", ""),
		one(number, `"Infinity"`, "", ""),
		one(number, `"NaN"`, "", ""),
		one(integer, `"1,000"`, "", ""),
		one(integer, `"12n"`, "", ""),
		one(integer, `"+1"`, "", ""),
		one(integer, `"007"`, "", ""),
		one(integer, `"1e9999"`, "", ""),
		one(integer, `true`, "", ""),
		one(integer, `[1]`, "", ""),
		one(`{"type":"integer","maximum":9}`, `"10"`, "", ""),
		one(`{"type":"integer","maximum":9}`, `"9"`, `9`, "number"),

		one(boolean, `"true"`, `true`, "boolean"),
		one(boolean, `"FALSE"`, `false`, "boolean"),
		one(boolean, `" True "`, `true`, "boolean"),
		one(boolean, `1`, "", ""),
		one(boolean, `"1"`, "", ""),
		one(boolean, `"yes"`, "", ""),
		one(boolean, `""`, "", ""),

		one(text, `42`, `"42"`, "string"),
		one(text, `1.50`, `"1.50"`, "string"),
		one(text, `true`, `"true"`, "string"),
		one(text, `{}`, "", ""),
		one(text, `["a"]`, "", ""),
		one(`{"type":"string","maxLength":1}`, `42`, "", ""),
		one(text, `"true"`, asSent, ""),

		one(`{"enum":["1","2"]}`, `1`, `"1"`, "string"),
		one(`{"enum":[1,2]}`, `"1"`, `1`, "number"),
		one(`{"enum":[1,"1"]}`, `"1"`, asSent, ""),
		one(`{"const":true}`, `"true"`, `true`, "boolean"),
		one(`{"const":"1"}`, `1.0`, "", ""),
		one(`{"enum":["red","green"]}`, `"Red"`, "", ""),
		one(`{"enum":[null]}`, `"null"`, "", ""),
	})
}

func TestCoerceNull(t *testing.T) {
	t.Parallel()
	dropped := []string{"v: null -> absent (null)"}
	runCases(t, []coerceCase{
		{property(text), `{"v":null}`, `{}`, dropped},
		{property(text), `{"a":1,"v":null,"b":2}`, `{"a":1,"b":2}`, dropped},
		{`{"properties":{"v":{"$ref":"#/$defs/n"}},"$defs":{"n":{"type":"integer"}}}`, `{"v":null}`, `{}`, dropped},
		{property(`{"anyOf":[{"type":"string"},{"type":"integer"}]}`), `{"v":null}`, `{}`, dropped},
		{property(`{"enum":["a"]}`), `{"v":null}`, `{}`, dropped},
		{property(strs), `{"v":null}`, `{}`, dropped},
		{property(`false`), `{"v":null}`, `{}`, dropped},
		{property(`{"type":["string","null"]}`), `{"v":null}`, asSent, nil},
		{property(`{}`), `{"v":null}`, asSent, nil},
		{`{"properties":{"v":{"$ref":"#/$defs/n"}},"$defs":{"n":{"type":["integer","null"]}}}`, `{"v":null}`, asSent, nil},
		{`{"properties":{"v":{"type":"string"}},"required":["v"]}`, `{"v":null}`, "", nil},
		{`{"properties":{"v":{"type":"string"}},"allOf":[{"required":["v"]}]}`, `{"v":null}`, "", nil},
		{`{"properties":{"v":{"type":"string"}},"minProperties":1}`, `{"v":null}`, "", nil},
		{`{"additionalProperties":{"type":"string"}}`, `{"v":null}`, "", nil},
		{`{"patternProperties":{"v":{"type":"string"}}}`, `{"v":null}`, "", nil},
		{property(strs), `{"v":[null]}`, "", nil},
		{property(property(text)), `{"v":{"v":null}}`, `{"v":{}}`, []string{"v.v: null -> absent (null)"}},
		{`{"properties":{"v":{"type":"string","default":"x"}}}`, `{"v":null}`, `{}`, dropped},
		{`{"allOf":[{"properties":{"v":{"type":"string"}}}]}`, `{"v":null}`, `{}`, dropped},
	})
}

func TestCoerceText(t *testing.T) {
	t.Parallel()
	object := property(integer)
	runCases(t, []coerceCase{
		one(strs, `"[\"a\",\"b\"]"`, `["a","b"]`, "json-text"),
		one(strs, `" [ ] "`, `[ ]`, "json-text"),
		one(object, `"{\"v\":1}"`, `{"v":1}`, "json-text"),
		{property(object), `{"v":"{\"v\":\"1\"}"}`, `{"v":{"v":1}}`, []string{
			`v: "{\"v\":\"1\"}" -> {"v":"1"} (json-text)`, `v.v: "1" -> 1 (number)`,
		}},
		{property(strs), `{"v":"[1]"}`, `{"v":["1"]}`, []string{`v: "[1]" -> [1] (json-text)`, `v.0: 1 -> "1" (string)`}},
		one(`{"anyOf":[{"type":"string"},`+strs+`]}`, `"[\"a\"]"`, asSent, ""),
		one(`{"anyOf":[{"type":"string","maxLength":2},`+strs+`]}`, `"[\"a\"]"`, "", ""),
		one(`{"type":["string","array"],"maxLength":2}`, `"[1]"`, "", ""),
		one(strs, `"[\"a\",\"b\""`, "", ""),
		one(strs, `"[a, b]"`, "", ""),
		one(strs, `"[]{}"`, "", ""),
		one(object, `"{\"v\":1,\"v\":2}"`, "", ""),
		one(object, `"[1]"`, "", ""),
		one(object, `"1"`, "", ""),
		one(integer, `"[1]"`, "", ""),
		one(`{"type":["array","object"]}`, `"{}"`, `{}`, "json-text"),
	})
}

func TestCoerceLone(t *testing.T) {
	t.Parallel()
	objects := `{"type":"array","items":` + property(integer) + `}`
	matrix := `{"type":"array","items":{"type":"array","items":{"type":"integer"}}}`
	runCases(t, []coerceCase{
		one(strs, `"a"`, `["a"]`, "lone-value"),
		one(strs, `""`, `[""]`, "lone-value"),
		one(objects, `{"v":1}`, `[{"v":1}]`, "lone-value"),
		{property(strs), `{"v":5}`, `{"v":["5"]}`, []string{`v: 5 -> [5] (lone-value)`, `v.0: 5 -> "5" (string)`}},
		{property(objects), `{"v":"{\"v\":\"1\"}"}`, `{"v":[{"v":1}]}`, []string{
			`v: "{\"v\":\"1\"}" -> ["{\"v\":\"1\"}"] (lone-value)`,
			`v.0: "{\"v\":\"1\"}" -> {"v":"1"} (json-text)`, `v.0.v: "1" -> 1 (number)`,
		}},
		one(strs, `"{\"a\":1}"`, `["{\"a\":1}"]`, "lone-value"),
		one(`{"type":"array","prefixItems":[{"type":"string"}]}`, `"a"`, "", ""),
		one(`{"type":"array","prefixItems":[{"type":"string"}],"items":{"type":"string"}}`, `"a"`, "", ""),
		one(`{"type":"array"}`, `"a"`, "", ""),
		one(`{"items":{"type":"string"},"not":{"type":"string"}}`, `"a"`, "", ""),
		one(`{"type":"array","items":{"type":"string"},"minItems":2}`, `"a"`, "", ""),
		one(`{"type":["array","integer"],"items":{"type":"string"},"maximum":3}`, `"a"`, `["a"]`, "lone-value"),
		{property(`{"type":"array","items":{"type":["string","null"]}}`), `{"v":null}`, `{}`, []string{"v: null -> absent (null)"}},
		{`{"properties":{"v":{"type":"array","items":{"type":["string","null"]}}},"required":["v"]}`, `{"v":null}`, "", nil},
		one(matrix, `5`, "", ""),
		{property(matrix), `{"v":[5]}`, `{"v":[[5]]}`, []string{`v.0: 5 -> [5] (lone-value)`}},
		{property(matrix), `{"v":[[1],2]}`, `{"v":[[1],[2]]}`, []string{`v.1: 2 -> [2] (lone-value)`}},
		one(matrix, `[1,2]`, "", ""), // [[1],[2]] or [[1,2]]
		one(`{"items":{"type":"array","items":{"type":"integer"}}}`, `[1,2]`, "", ""),
		one(matrix, `"[1,2]"`, "", ""),
		{property(strs), `{"v":["a",1,true]}`, `{"v":["a","1","true"]}`, []string{`v.1: 1 -> "1" (string)`, `v.2: true -> "true" (string)`}},
	})
}

func TestCoerceEnvelope(t *testing.T) {
	t.Parallel()
	path := `{"type":"object","properties":{"path":{"type":"string"}},"required":["path"]}`
	unwrapped := func(from string) []string { return []string{": " + from + ` -> {"path":"x"} (envelope)`} }
	runCases(t, []coerceCase{
		{path, `{"arguments":{"path":"x"}}`, `{"path":"x"}`, unwrapped(`{"arguments":{"path":"x"}}`)},
		{path, `{"name":"T","arguments":{"path":"x"}}`, `{"path":"x"}`, unwrapped(`{"name":"T","arguments":{"path":"x"}}`)},
		{path, `{"arguments":{"path":1}}`, `{"path":"1"}`, []string{`: {"arguments":{"path":1}} -> {"path":1} (envelope)`, `path: 1 -> "1" (string)`}},
		{path, `{"name":"U","arguments":{"path":"x"}}`, "", nil},
		{path, `{"tool":"T","arguments":{"path":"x"}}`, "", nil},
		{path, `{"name":"T","id":1,"arguments":{"path":"x"}}`, "", nil},
		{path, `{"name":"T"}`, "", nil},
		{path, `{"arguments":"{\"path\":\"x\"}"}`, "", nil},
		{path, `{"arguments":{"arguments":{"path":"x"}}}`, "", nil},
		{path, `{"parameters":{"path":"x"}}`, "", nil},
		{path, `{"path":"y","arguments":{"path":"x"}}`, asSent, nil},
		{property(path), `{"v":{"arguments":{"path":"x"}}}`, "", nil},
		{property(text), `{"arguments":{"v":"x"}}`, asSent, nil},
		{`{"properties":{"arguments":{"type":"object"},"path":{"type":"string"}},"required":["path"]}`, `{"arguments":{"path":"x"}}`, "", nil},
		{`{"properties":{"name":{"type":"string"},"path":{"type":"string"}},"required":["path"]}`, `{"name":"T","arguments":{"path":"x"}}`, "", nil},
		{`{"required":["path"],"allOf":[{"$ref":"#/$defs/a"}],"$defs":{"a":{"properties":{"arguments":{}}}}}`, `{"arguments":{"path":"x"}}`, "", nil},
		{`{"required":["path"],"anyOf":[{"required":["arguments"]},{}]}`, `{"arguments":{"path":"x"}}`, "", nil},
		{`{"required":["path"],"patternProperties":{"^arg":{}}}`, `{"arguments":{"path":"x"}}`, "", nil},
	})
	_, _, ok := coerce.Coerce(compile(t, path), json.RawMessage(`{"name":"","arguments":{"path":"x"}}`), nil)
	require.False(t, ok, "no name is the name of a tool")
}

func TestCoerceKeys(t *testing.T) {
	t.Parallel()
	schema := `{"properties":{"path":{"type":"string"},"n":{"type":"integer"},"sub":{"properties":{"key":{"type":"integer"}}}}}`
	runCases(t, []coerceCase{
		{schema, `{"n":"1","n":"2"}`, "", nil},
		{schema, `{"n":1,"n":2}`, "", nil},
		{schema, `{"n":1,"\u006e":2}`, "", nil},
		{schema, `{"z":{"a":1,"a":1},"n":"1"}`, "", nil},
		{schema, `{"Path":"x","n":"1"}`, "", nil},
		{schema, `{"path":"x","PATH":"x","n":"1"}`, "", nil},
		{schema, `{"n":"1","sub":{"\u212aey":"1","key":"1"}}`, "", nil},
		{schema, `{"N":"1"}`, asSent, nil},
		{schema, `{ "z" : [ 1 , 2 ] , "n":"1", "a\u0062":{} }`, `{"z":[ 1 , 2 ],"n":1,"a\u0062":{}}`, []string{`n: "1" -> 1 (number)`}},
		{schema, `{"\u006e":"1"}`, `{"\u006e":1}`, []string{`n: "1" -> 1 (number)`}},
		{schema, `{"n":"1"`, "", nil},
		{schema, ``, "", nil},
		{schema, `{"n":"1"} x`, "", nil},
	})
	wide := `{"n":"1"`
	for i := range 40 {
		wide += `,"k` + strconv.Itoa(i) + `":1`
	}
	runCases(t, []coerceCase{
		{schema, wide + `}`, strings.Replace(wide, `"1"`, `1`, 1) + `}`, []string{`n: "1" -> 1 (number)`}},
		{schema, wide + `,"k7":1}`, "", nil},
	})
}

func TestCoerceFits(t *testing.T) {
	t.Parallel()
	sch := compile(t, property(integer))
	asked := []string{}
	fits := func(data []byte) bool {
		asked = append(asked, string(data))
		return string(data) == `{"v":1}`
	}
	opts := &coerce.Options{Fits: fits}
	for _, data := range []string{`{"v":1}`, `{"v":"1"}`, `{"v":2}`, `{"v":"2"}`} {
		out, _, ok := coerce.Coerce(sch, json.RawMessage(data), opts)
		require.True(t, ok)
		require.Equal(t, strings.ReplaceAll(strings.ReplaceAll(data, `"1"`, `1`), `"2"`, `2`), string(out))
	}
	require.Equal(t, []string{`{"v":1}`, `{"v":"1"}`, `{"v":1}`, `{"v":2}`, `{"v":2}`, `{"v":"2"}`, `{"v":2}`}, asked)
	_, _, ok := coerce.Coerce(sch, json.RawMessage(`{"v":"x"}`), opts)
	require.False(t, ok)
}

func TestCoerceKeepsData(t *testing.T) {
	t.Parallel()
	sch := compile(t, property(strs))
	for _, before := range []string{`{"v":[1,"a",true], "w":null}`, `{"v":"[1,2]"}`, `{"v":null}`, `{"v":5}`} {
		data := json.RawMessage(before)
		_, changes, ok := coerce.Coerce(sch, data, nil)
		require.True(t, ok)
		require.NotEmpty(t, changes)
		require.Equal(t, before, string(data))
	}
}
