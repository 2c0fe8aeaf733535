package ai

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// bomb is a schema that checks a value twice as often at each level of it.
const bomb = `{"anyOf":[{"type":"array","items":{"$ref":"#"},"minItems":2},{"type":"array","items":{"$ref":"#"},"maxItems":0},{"type":"array","items":{"$ref":"#"},"minItems":1,"maxItems":1},{"type":"string"}]}`

// doubling is a schema of so many definitions, each of which leads to the next
// in two ways.
func doubling(n int) string {
	var b strings.Builder
	b.WriteString(`{"$ref":"#/$defs/d0","$defs":{`)
	for i := range n {
		fmt.Fprintf(&b, `"d%d":{"anyOf":[{"$ref":"#/$defs/d%d"},{"$ref":"#/$defs/d%d"}]},`, i, i+1, i+1)
	}
	fmt.Fprintf(&b, `"d%d":{"type":"string"}}}`, n)
	return b.String()
}

func nested(n int, value string) string {
	return strings.Repeat("[", n) + value + strings.Repeat("]", n)
}

// However a schema and a value are made, to check the one against the other
// comes to an end. Without bounds most of these would run for years.
func TestHostileChecksEnd(t *testing.T) {
	t.Parallel()
	strings100k := `["` + strings.Repeat(`x","`, 100_000) + `x"]`
	tests := []struct{ name, schema, data, fault string }{
		{"deeper than JSON is read", `{"items":{"$ref":"#"}}`, nested(100_000, "1"), "malformed JSON"},
		{"deep", `{"items":{"$ref":"#"},"type":"array"}`, nested(9_000, "1"), "nested 9000 levels deep"},
		{"deep and branching", bomb, nested(5_000, "1"), "too costly to check"},
		{"branching", bomb, nested(80, "1"), "too costly to check"},
		{"branching and short", bomb, nested(3, `"x"`), ""},
		{"ways through a schema", doubling(60), `1`, "too costly to check"},
		{"few ways through a schema", doubling(8), `"x"`, ""},
		{"refers to itself", `{"$ref":"#"}`, `1`, "refer to itself"},
		{"refers to itself in a circle", `{"$ref":"#/$defs/a","$defs":{"a":{"$ref":"#/$defs/b"},"b":{"$ref":"#/$defs/a"}}}`, `1`, "refer to itself"},
		{"union of itself", `{"anyOf":[{"$ref":"#"},{"$ref":"#"}]}`, nested(50, "1"), "alternatives"},
		{"union of itself, further in", `{"anyOf":[{"items":{"$ref":"#"}},{"items":{"$ref":"#"}}],"type":"array"}`, nested(50, "1"), "too costly to check"},
		{"exclusion of itself", `{"not":{"$ref":"#"}}`, `1`, ""},
		{"large array", `{"items":{"type":"integer"}}`, "[" + strings.Repeat("1,", 1_000_000) + "1]", ""},
		{"large array with one fault", `{"items":{"type":"integer"}}`, "[" + strings.Repeat("1,", 1_000_000) + "1.5]", "1000000: expected an integer"},
		{"large array of faults", `{"items":{"type":"integer"}}`, "[" + strings.Repeat("1.5,", 200_000) + "1]", "expected an integer"},
		{"large array of different items", `{"uniqueItems":true}`, strings100k, "items that all differ"},
		{"nested quantifiers", `{"pattern":"^(((a+)+)+)+$"}`, `"` + strings.Repeat("a", 100_000) + `!"`, "a string matching"},
		{"overlapping alternatives", `{"pattern":"^(a|a|aa|a?)*b$"}`, `"` + strings.Repeat("a", 100_000) + `"`, "a string matching"},
		{"nested quantifiers for keys", `{"patternProperties":{"^((a+)+)+$":{"type":"string"}},"additionalProperties":false}`, `{"` + strings.Repeat("a", 100_000) + `!":1}`, "unknown property"},
		{"large enumeration", `{"items":{"enum":["` + strings.Join(manyWords(100_000), `","`) + `"]}}`, `["word99999","x"]`, "one of"},
		{"large enumeration and many values", `{"items":{"enum":["` + strings.Join(manyWords(100_000), `","`) + `"]}}`, strings100k, "too costly to check"},
		{"large enumeration of numbers", `{"items":{"enum":[` + strings.Repeat("1,", 20_000) + `1]}}`, "[" + strings.Repeat("2,", 20_000) + "2]", "too costly to check"},
		{"key twice", bomb, `["x",{"a":` + nested(80, "1") + `,"a":1}]`, "alternatives"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			s, err := compileSchema(json.RawMessage(test.schema), false)
			require.NoError(t, err)
			faults := s.check(json.RawMessage(test.data))
			if test.fault == "" {
				require.Empty(t, faults)
				return
			}
			require.NotEmpty(t, faults)
			require.LessOrEqual(t, len(faults), maxFaults)
			require.Contains(t, faults[0].String(), test.fault)
		})
	}
}

func manyWords(n int) []string {
	words := make([]string, n)
	for i := range words {
		words[i] = fmt.Sprint("word", i)
	}
	return words
}

// What is not out of proportion is not refused, however large.
func TestLargeValuesAreChecked(t *testing.T) {
	t.Parallel()
	tree := `{"type":"object","properties":{"name":{"type":"string"},"kids":{"type":"array","items":{"$ref":"#"}}},"required":["name"],"minProperties":1,"if":{"required":["kids"]},"then":{"minProperties":2}}`
	wide := `{"name":"a","kids":[` + strings.Repeat(`{"name":"b","kids":[]},`, 20_000) + `{"name":"c"}]}`
	deep := strings.Repeat(`{"name":"a","kids":[`, 2_000) + strings.Repeat(`]}`, 2_000)
	expression := `{"$ref":"#/$defs/e","$defs":{"e":{"oneOf":[{"type":"integer"},{"type":"object","properties":{"add":{"type":"array","items":{"$ref":"#/$defs/e"}}},"required":["add"]},{"type":"object","properties":{"mul":{"type":"array","items":{"$ref":"#/$defs/e"}}},"required":["mul"]}]}}}`
	sum := `{"add":[` + strings.Repeat(`{"mul":[1,{"add":[2,3]}]},`, 5_000) + `1]}`
	for _, test := range []struct{ name, schema, data string }{{"wide", tree, wide}, {"deep", tree, deep}, {"expression", expression, sum}} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			s, err := compileSchema(json.RawMessage(test.schema), false)
			require.NoError(t, err)
			require.False(t, s.cheap)
			require.Empty(t, s.check(json.RawMessage(test.data)))
		})
	}
}
