package coerce_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/holdpoint/ai/internal/coerce"
)

func TestStrict(t *testing.T) {
	t.Parallel()
	// object is a closed object of one property.
	object := func(key, schema string) string {
		return `{"type":"object","properties":{"` + key + `":` + schema + `},"required":["` + key + `"],"additionalProperties":false}`
	}
	tests := []struct{ name, schema, want string }{
		{"no arguments", `{"type":"object"}`, `{"type":"object","properties":{},"required":[],"additionalProperties":false}`},
		{"order of keys", `{"properties":{"b":{"type":"string"},"a":{"type":"null"}},"required":["b"],"type":"object"}`,
			`{"properties":{"b":{"type":"string"},"a":{"type":"null"}},"type":"object","required":["b","a"],"additionalProperties":false}`},
		{"optional", `{"type":"object","properties":{"a":{"type":"string","description":"x"}}}`, object("a", `{"type":["string","null"],"description":"x"}`)},
		{"optional, types", `{"type":"object","properties":{"a":{"type":["string","integer"]}}}`, object("a", `{"type":["string","integer","null"]}`)},
		{"optional, null already", `{"type":"object","properties":{"a":{"type":["string","null"]}}}`, object("a", `{"type":["string","null"]}`)},
		{"optional enum", `{"type":"object","properties":{"a":{"enum":["x","y"]}}}`, object("a", `{"type":["string","null"],"enum":["x","y",null]}`)},
		{"optional enum of kinds", `{"type":"object","properties":{"a":{"enum":["x",1,2]}}}`, object("a", `{"type":["string","number","null"],"enum":["x",1,2,null]}`)},
		{"optional const", `{"type":"object","properties":{"a":{"const":"x"}}}`, object("a", `{"type":["string","null"],"enum":["x",null]}`)},
		{"optional union", `{"type":"object","properties":{"a":{"anyOf":[{"type":"string"},{"type":"integer"}]}}}`,
			object("a", `{"anyOf":[{"type":"string"},{"type":"integer"},{"type":"null"}]}`)},
		{"optional union with null", `{"type":"object","properties":{"a":{"anyOf":[{"type":"string"},{"type":"null"}]}}}`,
			object("a", `{"anyOf":[{"type":"string"},{"type":"null"}]}`)},
		{"optional union and type", `{"type":"object","properties":{"a":{"type":"string","anyOf":[{"type":"string"}]}}}`,
			object("a", `{"anyOf":[{"type":"string","anyOf":[{"type":"string"}]},{"type":"null"}]}`)},
		{"allOf of one", `{"type":"object","properties":{"a":{"allOf":[{"type":"string"}]}},"required":["a"]}`, object("a", `{"anyOf":[{"type":"string"}]}`)},
		{"optional object", `{"type":"object","properties":{"a":{"type":"object","properties":{"b":{"type":"integer"}}}}}`,
			object("a", `{"type":["object","null"],"properties":{"b":{"type":["integer","null"]}},"required":["b"],"additionalProperties":false}`)},
		{"items", `{"type":"object","properties":{"a":{"type":"array","minItems":1,"items":{"properties":{"b":{"type":"integer"}},"required":["b"]}}},"required":["a"]}`,
			object("a", `{"type":"array","minItems":1,"items":`+object("b", `{"type":"integer"}`)+`}`)},
		{"what says nothing", `{"$schema":"https://json-schema.org/draft/2020-12/schema","$id":"x","type":"object","properties":{"a":{"type":"string","default":"x",` +
			`"examples":["y"],"x-order":1,"minLength":0,"title":"A"}},"required":["a"]}`, object("a", `{"type":"string","title":"A"}`)},
		{"keywords as names", `{"type":"object","properties":{"default":{"type":"integer"}},"required":["default"]}`, object("default", `{"type":"integer"}`)},
		{"digits", `{"type":"object","properties":{"a":{"type":"number","maximum":1.50}},"required":["a"]}`, object("a", `{"type":"number","maximum":1.50}`)},
		{"format", `{"type":"object","properties":{"a":{"type":"string","format":"date-time","pattern":"^2"}},"required":["a"]}`,
			object("a", `{"type":"string","format":"date-time","pattern":"^2"}`)},
		{"references", `{"type":"object","properties":{"a":{"$ref":"#/$defs/n","description":"x"},"b":{"$ref":"#/$defs/n"},"c":{"$ref":"#"}},"required":["a"],` +
			`"$defs":{"n":{"type":"object","properties":{"m":{"type":"integer"}}}}}`,
			`{"type":"object","properties":{"a":{"anyOf":[{"$ref":"#/$defs/n"}],"description":"x"},"b":{"anyOf":[{"$ref":"#/$defs/n"},{"type":"null"}]},` +
				`"c":{"anyOf":[{"$ref":"#"},{"type":"null"}]}},"$defs":{"n":` + object("m", `{"type":["integer","null"]}`) +
				`},"required":["a","b","c"],"additionalProperties":false}`},
		{"reference to null", `{"type":"object","properties":{"a":{"$ref":"#/$defs/n"}},"$defs":{"n":{"type":["null","integer"]}}}`,
			`{"type":"object","properties":{"a":{"$ref":"#/$defs/n"}},"$defs":{"n":{"type":["null","integer"]}},"required":["a"],"additionalProperties":false}`},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			strict, blockers := coerce.Strict(json.RawMessage(test.schema))
			require.Empty(t, blockers)
			require.Equal(t, test.want, string(strict))
			compile(t, string(strict))
			again, blockers := coerce.Strict(strict)
			require.Empty(t, blockers)
			require.Equal(t, test.want, string(again), "a strict schema is left alone")
		})
	}
}

func TestStrictBlockers(t *testing.T) {
	t.Parallel()
	property := func(schema string) string { return `{"type":"object","properties":{"a/b":` + schema + `}}` }
	tests := []struct {
		schema   string
		blockers []string
	}{
		{``, []string{"no object at #"}},
		{`true`, []string{"no object at #"}},
		{`{"type":"string"}`, []string{"no type object at #"}},
		{`{"type":["object","null"]}`, []string{"no type object at #"}},
		{`{"type":"object","anyOf":[{"type":"object","properties":{}}]}`, []string{"anyOf at #"}},
		{`{"$ref":"#/$defs/a","$defs":{"a":{"type":"object"}}}`, []string{`$ref "#/$defs/a" at #`, "no properties at #/$defs/a", "no type object at #"}},
		{`{"type":"object","additionalProperties":true}`, []string{"additionalProperties at #"}},
		{`{"type":"object","required":["x"]}`, []string{`required "x" at #`}},
		{property(`{"type":"object"}`), []string{"no properties at #/properties/a~1b"}},
		{property(`{"type":"object","additionalProperties":{"type":"string"}}`), []string{"additionalProperties at #/properties/a~1b"}},
		{property(`{"type":"object","patternProperties":{},"minProperties":1,"additionalProperties":false}`),
			[]string{"patternProperties at #/properties/a~1b", "minProperties at #/properties/a~1b"}},
		{property(`true`), []string{"no object at #/properties/a~1b"}},
		{property(`{}`), []string{"no type at #/properties/a~1b"}},
		{property(`{"type":"array"}`), []string{"no items at #/properties/a~1b"}},
		{property(`{"type":"array","items":[{"type":"string"}]}`), []string{"no object at #/properties/a~1b/items"}},
		{property(`{"type":"array","items":{"type":"string","minLength":1},"uniqueItems":true}`),
			[]string{"minLength at #/properties/a~1b/items", "uniqueItems at #/properties/a~1b"}},
		{property(`{"anyOf":[{"type":"string","maxLength":1},{"type":"string","format":"uri"}]}`),
			[]string{"maxLength at #/properties/a~1b/anyOf/0", `format "uri" at #/properties/a~1b/anyOf/1`}},
		{property(`{"allOf":[{"type":"string"},{"type":"string"}]}`), []string{"allOf at #/properties/a~1b"}},
		{property(`{"type":"string","oneOf":[],"not":{},"if":{},"then":{},"else":{}}`), []string{
			"oneOf at #/properties/a~1b", "not at #/properties/a~1b", "if at #/properties/a~1b", "then at #/properties/a~1b", "else at #/properties/a~1b",
		}},
		{property(`{"$ref":"other.json"}`), []string{`$ref "other.json" at #/properties/a~1b`}},
		{property(`{"$ref":"#/properties/a~1b"}`), []string{`$ref "#/properties/a~1b" at #/properties/a~1b`}},
		{property(`{"$ref":"#/$defs/gone"}`), []string{`$ref "#/$defs/gone" at #/properties/a~1b`}},
		{property(`{"$ref":"#","type":"object","properties":{}}`), []string{"type beside $ref at #/properties/a~1b", "properties beside $ref at #/properties/a~1b"}},
		{property(`{"type":"integer","maximum":9,"exclusiveMaximum":true}`), []string{"exclusiveMaximum at #/properties/a~1b"}},
		{property(`{"$id":"x","type":"string"}`), []string{"$id at #/properties/a~1b"}},
		{property(`{"type":"string","type":"integer"}`), []string{"no object at #"}},
	}
	for _, test := range tests {
		t.Run(test.schema, func(t *testing.T) {
			t.Parallel()
			_, blockers := coerce.Strict(json.RawMessage(test.schema))
			require.Equal(t, test.blockers, blockers)
		})
	}
}

func TestFold(t *testing.T) {
	t.Parallel()
	schema := `{"type":"object","properties":{
		"must":{"type":["string","null"]}, "may":{"type":"string"}, "null":{"type":["string","null"]}, "any":{},
		"ref":{"$ref":"#/$defs/p"}, "list":{"type":"array","items":{"$ref":"#/$defs/p"}}, "pair":{"prefixItems":[{"$ref":"#/$defs/p"}],"items":{"type":"null"}},
		"enum":{"enum":["a"]}, "const":{"const":null}, "open":{"type":"object","additionalProperties":{"$ref":"#/$defs/p"}},
		"union":{"anyOf":[{"$ref":"#/$defs/p"},{"type":"object","properties":{"k":{"const":"a"},"v":{"type":"integer"}},"required":["k"]},
			{"type":"object","properties":{"k":{"enum":["b","c"]},"v":{"type":["integer","null"]}},"required":["k"]},
			{"type":"array","items":{"$ref":"#/$defs/p"}},{"type":"null"}]},
		"all":{"allOf":[{"properties":{"x":{"type":"integer"}}},{"properties":{"y":{"type":"integer"}}}]},
		"loop":{"$ref":"#/$defs/loop"}
	},"required":["must"],"$defs":{
		"p":{"type":"object","properties":{"x":{"type":"number"},"y":{"type":"number"},"sub":{"$ref":"#/$defs/p"}},"required":["x"]},
		"loop":{"$ref":"#/$defs/loop"}}}`
	tests := []struct{ data, want string }{
		{`{"must":null,"may":null}`, `{"must":null}`},
		{`{ "must": null, "may" : "x" , "null":null, "any":null, "const":null }`, ""},
		{`{"enum":null,"may":null,"must":"a"}`, `{"must":"a"}`},
		{`{"unknown":null}`, ""},
		{`{"ref":{"x":1,"y":null,"sub":{"x":null,"y":null,"sub":null}}}`, `{"ref":{"x":1,"sub":{"x":null}}}`},
		{`{"list":[{"x":1,"y":2,"sub":null},{"x":1.50,"y":null,"sub":null}]}`, `{"list":[{"x":1,"y":2},{"x":1.50}]}`},
		{`{"pair":[{"x":1,"y":null},null]}`, `{"pair":[{"x":1},null]}`},
		{`{"open":{"a":{"x":1,"y":null}}}`, `{"open":{"a":{"x":1}}}`},
		{`{"union":{"x":1,"y":null,"sub":null}}`, `{"union":{"x":1}}`},
		{`{"union":{"k":"a","v":null}}`, `{"union":{"k":"a"}}`},
		{`{"union":{"k":"b","v":null}}`, ""},
		{`{"union":{"k":"z","v":null}}`, ""},
		{`{"union":[{"x":1,"y":null}]}`, `{"union":[{"x":1}]}`},
		{`{"union":null}`, ""},
		{`{"all":{"x":null,"y":null}}`, `{"all":{}}`},
		{`{"loop":{"x":null}}`, ""},
		{`{"may":null,"may":null}`, ""},
		{`{"may":null`, ""},
		{`null`, ""},
	}
	for _, test := range tests {
		t.Run(test.data, func(t *testing.T) {
			t.Parallel()
			want := test.want
			if want == "" {
				want = test.data
			}
			require.Equal(t, want, string(coerce.Fold(json.RawMessage(schema), json.RawMessage(test.data))))
		})
	}
	require.Equal(t, `{"a":null}`, string(coerce.Fold(nil, json.RawMessage(`{"a":null}`))))
}

// What a strict schema takes, folded, is what the schema before that takes.
func FuzzStrict(f *testing.F) {
	f.Add([]byte{1, 2, 3, 4, 5, 6}, []byte{7, 8, 9, 10})
	f.Add([]byte{0, 0, 3, 0, 0, 3, 1, 1, 1}, []byte{4, 3, 1, 2, 4, 4})
	f.Fuzz(func(t *testing.T, schema, data []byte) {
		sch, text, ok := generate(t, schema)
		if !ok || strings.Contains(text, `"format"`) { // which only some drafts check
			t.Skip()
		}
		strict, blockers := coerce.Strict(json.RawMessage(text))
		if len(blockers) > 0 {
			t.Skip()
		}
		strictSchema := compile(t, string(strict))
		m := maker{dice: dice{data}}
		for range 8 {
			value := fmt.Sprintf(`{"a":%s,"b":%s}`, m.value(2), m.value(2))
			if strictSchema.Validate(decode(t, value)) != nil {
				continue
			}
			folded := coerce.Fold(json.RawMessage(text), json.RawMessage(value))
			out, _, ok := coerce.Coerce(sch, folded, nil)
			require.True(t, ok, "%s under %s", folded, text)
			require.NoError(t, sch.Validate(decode(t, string(out))))
		}
	})
}
