package coerce_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/holdpoint/ai/internal/coerce"
)

// nest puts value inside itself n times, as "…" in around says.
func nest(around string, n int, value string) string {
	before, after, _ := strings.Cut(around, "…")
	return strings.Repeat(before, n) + value + strings.Repeat(after, n)
}

// expression is a schema of which the validator follows all branches at each
// level, so that its time doubles with each one.
const expression = `{"$ref":"#/$defs/e","$defs":{"e":{"anyOf":[
	{"type":"object","properties":{"and":{"$ref":"#/$defs/e"},"k":{"const":"and"}},"required":["and","k"]},
	{"type":"object","properties":{"and":{"$ref":"#/$defs/e"},"k":{"const":"or"}},"required":["and","k"]},
	{"type":"integer"}]}}}`

func TestCoerceHostileData(t *testing.T) {
	t.Parallel()
	chain := `{"type":"object","properties":{"sub":{"type":"array","items":{"$ref":"#"}},"n":{"type":"integer"}}}`
	texts := `{"n":"1"}`
	for range 12 {
		quoted, err := json.Marshal(texts)
		require.NoError(t, err)
		texts = `{"a":` + string(quoted) + `}`
	}
	matrix := `{"$defs":{"m":{"type":"array","items":{"$ref":"#/$defs/m"}}},"properties":{"a":{"$ref":"#/$defs/m"}}}`
	tests := map[string]struct {
		schema, data string
		ok           bool
	}{
		"all branches lead on":            {expression, nest(`{"k":"or","and":…}`, 8, `"1"`), true},
		"too many ways to be sure":        {expression, nest(`{"k":"or","and":…}`, 60, `"1"`), false},
		"too many ways, no reading":       {expression, nest(`{"k":"or","and":…}`, 60, `"x"`), false},
		"lone values in lone values":      {chain, nest(`{"sub":…}`, 60, `{"n":"1"}`), true},
		"large in many lone values":       {chain, nest(`{"sub":…}`, 190, `{"n":"1","x":"`+strings.Repeat("x", 1<<20)+`"}`), false},
		"nested as deep as it may be":     {chain, nest(`{"sub":[…]}`, 99, `{"n":"1"}`), true},
		"nested deeper":                   {chain, nest(`{"sub":[…]}`, 100, `{"n":"1"}`), false},
		"nested far deeper":               {chain, nest(`{"sub":[…]}`, 5000, `{"n":"1"}`), false},
		"JSON in JSON in JSON":            {`{"type":"object","properties":{"a":{"$ref":"#"},"n":{"type":"integer"}}}`, texts, true},
		"arrays of arrays without end":    {matrix, `{"a":1}`, false},
		"a number that is far too long":   {`{"properties":{"a":{"type":"integer"}}}`, `{"a":"` + strings.Repeat("9", 1001) + `"}`, false},
		"a number that would be huge":     {`{"properties":{"a":{"type":"integer"}}}`, `{"a":"1","b":1e999999999}`, false},
		"a text that would be huge":       {`{"properties":{"a":{"type":"integer"}}}`, `{"a":"1e999999999"}`, false},
		"a schema that refers to itself":  {`{"$ref":"#/$defs/a","$defs":{"a":{"$ref":"#/$defs/b"},"b":{"$ref":"#/$defs/a"}}}`, `{"a":"1"}`, false},
		"a union that refers to itself":   {`{"anyOf":[{"$ref":"#"},{"type":"object","properties":{"a":{"type":"integer"}}}]}`, `{"a":"1"}`, true},
		"many faults":                     {`{"properties":{"a":{"items":{"type":"integer"}}}}`, `{"a":[` + strings.Repeat(`"1",`, 100_000) + `"1"]}`, true},
		"many faults and one too many":    {`{"properties":{"a":{"items":{"type":"integer"}}}}`, `{"a":[` + strings.Repeat(`"1",`, 100_000) + `"x"]}`, false},
		"much JSON in a string":           {`{"properties":{"a":{"type":"array","items":{"type":"integer"}}}}`, `{"a":"[` + strings.Repeat(`1,`, 1_500_000) + `1]"}`, true},
		"many keys that nobody asked for": {`{"properties":{"a":{"type":"integer"}}}`, `{` + manyKeys(100_000) + `"a":"1"}`, true},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			out, changes, ok := coerce.Coerce(compile(t, test.schema), json.RawMessage(test.data), nil)
			require.Equal(t, test.ok, ok, "%.200s %v", out, len(changes))
		})
	}
}

func manyKeys(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, `"key%d":1,`, i)
	}
	return b.String()
}

func TestAffordable(t *testing.T) {
	t.Parallel()
	sch := compile(t, expression)
	require.True(t, coerce.Affordable(sch, []byte(nest(`{"k":"or","and":…}`, 10, `1`))))
	require.False(t, coerce.Affordable(sch, []byte(nest(`{"k":"or","and":…}`, 60, `1`))))
	require.False(t, coerce.Affordable(sch, []byte(`{"k":`)))
	flat := compile(t, property(`{"type":"array","items":{"type":"integer"}}`))
	require.True(t, coerce.Affordable(flat, []byte(`{"v":[`+strings.Repeat("1,", 1_000_000)+`1]}`)))
}
