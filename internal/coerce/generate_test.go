package coerce_test

import (
	"bytes"
	"encoding/json"
	"math/rand/v2"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/stretchr/testify/require"
)

// dice are choices read from the bytes of a fuzzer. When they run out, all
// further ones are the first.
type dice struct{ data []byte }

func (d *dice) pick(n int) int {
	if len(d.data) == 0 {
		return 0
	}
	v := int(d.data[0]) % n
	d.data = d.data[1:]
	return v
}

func (d *dice) of(list ...string) string { return list[d.pick(len(list))] }

// maker makes schemas and values, as JSON texts.
type maker struct {
	dice
	draft string
}

// schemas of the four drafts that differ in what concerns this package.
func (m *maker) document() string {
	m.draft = m.of("", "http://json-schema.org/draft-07/schema#", "https://json-schema.org/draft/2019-09/schema", "http://json-schema.org/draft-04/schema#")
	head := ""
	if m.draft != "" {
		head = `"$schema":"` + m.draft + `",`
	}
	if m.pick(4) == 3 {
		head += `"$dynamicAnchor":"t","$recursiveAnchor":true,`
	}
	defs := `"$defs":{"a":` + m.schema(2) + `,"b":` + m.schema(2) + `}`
	return "{" + head + defs + "," + m.keywords(4) + "}"
}

func (m *maker) schema(depth int) string {
	if depth == 0 {
		return "{" + m.scalar() + "}"
	}
	switch m.pick(14) {
	case 0:
		if m.draft == "http://json-schema.org/draft-04/schema#" {
			return "{}"
		}
		return m.of("true", "false", "{}")
	case 1, 2:
		return `{"$ref":"` + m.of("#/$defs/a", "#/$defs/b", "#") + `"}`
	case 3:
		return `{"$ref":"` + m.of("#/$defs/a", "#/$defs/b", "#") + `",` + m.keywords(depth-1) + "}"
	case 4:
		switch m.draft {
		case "":
			return `{"$dynamicRef":"` + m.of("#", "#/$defs/a") + `"}`
		case "https://json-schema.org/draft/2019-09/schema":
			return `{"$recursiveRef":"#"}`
		}
	}
	return "{" + m.keywords(depth) + "}"
}

// keywords makes the members of a schema.
func (m *maker) keywords(depth int) string {
	sub := func() string { return m.schema(depth - 1) }
	if depth <= 0 {
		return m.scalar()
	}
	switch m.pick(9) {
	case 0, 1:
		return m.object(sub)
	case 2, 3:
		return m.array(sub)
	case 4:
		return `"` + m.of("anyOf", "oneOf", "allOf") + `":[` + sub() + "," + sub() + "]"
	case 5:
		return `"anyOf":[` + sub() + "," + sub() + "," + sub() + `],"type":["object","array","string","integer"]`
	case 6:
		return m.of(`"not":`+sub(), `"if":`+sub()+`,"then":`+sub()+`,"else":`+sub())
	default:
		return m.scalar()
	}
}

func (m *maker) object(sub func() string) string {
	text := `"properties":{"a":` + sub() + `,"b":` + sub() + `}`
	if m.pick(3) > 0 {
		text += `,"type":` + m.of(`"object"`, `["object","null"]`, `["object","string"]`)
	}
	for range m.pick(3) {
		switch m.pick(8) {
		case 0:
			text += `,"required":["a"]`
		case 1:
			text += `,"additionalProperties":` + m.of("false", "{"+m.scalar()+"}")
		case 2:
			text += `,"patternProperties":{"b|c":` + sub() + `}`
		case 3:
			text += `,"unevaluatedProperties":` + m.of("false", "{"+m.scalar()+"}")
		case 4:
			text += `,"dependentSchemas":{"a":` + sub() + `}`
		case 5:
			text += m.of(`,"minProperties":2`, `,"maxProperties":1`)
		case 6:
			text += `,"dependencies":{"a":` + m.of(`["b"]`, sub()) + `}`
		case 7:
			text += m.of(`,"propertyNames":{"maxLength":1}`, `,"dependentRequired":{"b":["a"]}`)
		}
	}
	return text
}

func (m *maker) array(sub func() string) string {
	text := `"items":` + m.of(sub(), sub(), `{`+m.scalar()+`}`)
	switch {
	case m.draft == "" && m.pick(4) == 3:
		text += `,"prefixItems":[` + sub() + `]`
	case m.draft != "" && m.pick(4) == 3:
		text = `"items":[` + sub() + `],"additionalItems":` + m.of("false", "{"+m.scalar()+"}")
	}
	if m.pick(4) > 0 {
		text += `,"type":` + m.of(`"array"`, `["array","null"]`, `["array","integer"]`)
	}
	switch m.pick(8) {
	case 4:
		text += `,"uniqueItems":true`
	case 5:
		text += m.of(`,"minItems":2`, `,"maxItems":1`)
	case 6:
		text += `,"contains":` + sub() + m.of("", `,"minContains":0`, `,"maxContains":1`)
	case 7:
		text += `,"unevaluatedItems":` + m.of("false", "{"+m.scalar()+"}")
	}
	return text
}

func (m *maker) scalar() string {
	return m.of(
		`"type":"integer"`, `"type":"number"`, `"type":"boolean"`, `"type":"string"`, `"type":"null"`,
		`"type":["integer","boolean"]`, `"type":["string","null"]`, `"type":["string","integer"],"maxLength":1`,
		`"type":"integer","minimum":1,"maximum":9`, `"type":"number","exclusiveMaximum":2.5`, `"type":"integer","multipleOf":2`,
		`"type":"string","pattern":"^[a-z]+$"`, `"type":"string","minLength":2`, `"enum":["1","x",true]`, `"enum":[1,null,[1],{"a":1}]`,
		`"const":"1"`, `"const":1`, `"const":[1]`, `"type":"string","format":"ipv4"`, `"type":"array"`, `"type":"object"`, `"maximum":5`,
	)
}

// value makes a value of the kinds that are mistaken for each other.
func (m *maker) value(depth int) string {
	kinds := 5
	if depth == 0 {
		kinds = 3
	}
	switch m.pick(kinds) {
	case 3:
		return "[" + m.list(depth, func(int) string { return "" }) + "]"
	case 4:
		return "{" + m.list(depth, func(i int) string { return `"` + []string{"a", "b", "c"}[i] + `":` }) + "}"
	default:
		return m.of(
			`1`, `"1"`, `"true"`, `true`, `null`, `"x"`, `3.5`, `"3.5"`, `2.0`, `"2.0"`, `""`, `-12`, `12345678901234567890`,
			`"[1]"`, `"[\"1\",2]"`, `"{\"a\":1}"`, `"{\"a\":\"1\",\"b\":null}"`, `"\u005b1]"`, `"False"`, `"[1"`,
			`"1.2.3.4"`, `"é\ud800"`, `false`, `"\"1\""`,
		)
	}
}

func (m *maker) list(depth int, before func(i int) string) string {
	text := ""
	for i := range m.pick(4) {
		if i > 0 {
			text += m.of(",", " , ")
		}
		text += before(i) + m.value(depth-1)
	}
	return text
}

// generate makes a schema of the bytes; ok is false where it does not compile.
func generate(t *testing.T, data []byte) (sch *jsonschema.Schema, text string, ok bool) {
	t.Helper()
	text = (&maker{dice: dice{data}}).document()
	require.True(t, json.Valid([]byte(text)), text)
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader([]byte(text)))
	require.NoError(t, err)
	c := jsonschema.NewCompiler()
	require.NoError(t, c.AddResource("tool:///schema", doc))
	sch, err = c.Compile("tool:///schema")
	return sch, text, err == nil
}

func randomBytes(r *rand.Rand, n int) []byte {
	data := make([]byte, n)
	for i := range data {
		data[i] = byte(r.Uint32())
	}
	return data
}
