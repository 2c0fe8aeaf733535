package fit_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/holdpoint/ai/internal/fit"
)

func TestDeclined(t *testing.T) {
	t.Parallel()
	for _, schema := range []string{
		`{"allOf":[{"type":"string"},{"minLength":1}]}`, `{"not":{}}`, `{"if":true,"then":false}`, `{"then":false}`,
		`{"patternProperties":{"a":true}}`, `{"propertyNames":{}}`, `{"dependentRequired":{}}`, `{"dependentSchemas":{}}`, `{"dependencies":{}}`,
		`{"unevaluatedProperties":false}`, `{"unevaluatedItems":false}`, `{"contains":{}}`, `{"minContains":1}`, `{"uniqueItems":true}`,
		`{"prefixItems":[true]}`, `{"items":[true]}`, `{"additionalItems":false}`, `{"contentSchema":true}`, `{"$vocabulary":{}}`,
		`{"$id":"https://example.com/a"}`, `{"$anchor":"a"}`, `{"$dynamicAnchor":"a"}`, `{"$dynamicRef":"#a"}`, `{"$recursiveRef":"#"}`, `{"id":"a"}`,
		`{"$schema":"http://json-schema.org/draft-04/schema#"}`, `{"$schema":"http://json-schema.org/draft-06/schema#"}`,
		`{"$schema":"https://json-schema.org/draft/2019-09/schema"}`, `{"$schema":"https://example.com/mine"}`, `{"$schema":1}`,
		`{"properties":{"a":{"not":{}}}}`, `{"additionalProperties":{"not":{}}}`, `{"items":{"not":{}}}`, `{"unknown":1}`,

		// Several kinds at once in a union, or more than the union.
		`{"anyOf":[{"type":"string"},{"minLength":1}]}`, `{"anyOf":[{"type":"integer"},{"type":"number"}]}`, `{"anyOf":[]}`,
		`{"anyOf":[{"type":"string"},{"type":"null"}],"type":"string"}`, `{"anyOf":[{"type":"null"},{"anyOf":[{"type":"string"},{"type":"array"}]}]}`,
		`{"anyOf":[{"$ref":"#"},{"type":"null"}]}`, `{"anyOf":[{"type":"string"},{"type":"null"}],"oneOf":[{"type":"string"},{"type":"null"}]}`,

		// References.
		`{"$ref":"#"}`, `{"$ref":"#/$defs/a","$defs":{"a":{"$ref":"#/$defs/b"},"b":{"$ref":"#/$defs/a"}}}`, `{"$ref":"#/$defs/none"}`, `{"$ref":"#none"}`,
		`{"$ref":"other.json"}`, `{"$ref":"#/$defs/a","type":"string","$defs":{"a":true}}`, `{"$ref":"#/$defs/a%zz","$defs":{"a":true}}`,
		`{"$ref":"#/$defs/a/properties/b","$defs":{"a":{"$id":"https://example.com/a","properties":{"b":{"type":"string"}}}}}`,
		`{"$schema":"http://json-schema.org/draft-07/schema#","$ref":"#/definitions/a","minimum":1,"definitions":{"a":true}}`,
		`{"$ref":"#/examples/9","examples":[1]}`, `{"$ref":"#/title","title":"a"}`, `{"$ref":1}`,

		// Malformed or inexact values.
		`1`, `null`, `"x"`, `[]`, `{"type":"text"}`, `{"type":[]}`, `{"type":["string","string"]}`, `{"type":1}`, `{"enum":1}`, `{"enum":[[]]}`, `{"enum":[{}]}`,
		`{"const":[]}`, `{"enum":[123456789012345678901]}`, `{"enum":["a"],"const":"a"}`, `{"minimum":"1"}`, `{"minimum":1e5000}`, `{"exclusiveMinimum":true}`,
		`{"multipleOf":0}`, `{"multipleOf":-1}`, `{"minLength":-1}`, `{"minLength":1.5}`, `{"maxLength":99999999999}`, `{"minItems":"1"}`, `{"pattern":"("}`,
		`{"pattern":"(?=a)"}`, `{"required":"a"}`, `{"required":[1]}`, `{"required":["a","a"]}`, `{"properties":[]}`, `{"properties":{"a":1}}`,
	} {
		_, ok := fit.Compile(parse(t, schema), nil)
		require.False(t, ok, schema)
	}
}

func TestDeclinedFormats(t *testing.T) {
	t.Parallel()
	for _, format := range []string{"email", "uri", "regex", "ipv4", "made-up", ""} {
		doc := parse(t, `{"properties":{"a":{"format":"`+format+`"}}}`)
		_, ok := fit.Compile(doc, &fit.Options{AssertFormat: true})
		require.False(t, ok, format)
		_, ok = fit.Compile(doc, nil)
		require.True(t, ok, format)
	}
	_, ok := fit.Compile(parse(t, `{"$schema":"http://json-schema.org/draft-07/schema#","format":"email"}`), nil)
	require.False(t, ok, "draft-07 always asserts formats")
}

func TestOnlyDecodedDocuments(t *testing.T) {
	t.Parallel()
	for _, doc := range []any{
		map[string]any{"minimum": 1}, map[string]any{"minimum": 1.5}, map[string]any{"type": []string{"null"}}, map[string]string{"type": "null"},
	} {
		_, ok := fit.Compile(doc, nil)
		require.False(t, ok, "%#v", doc)
	}
}

// TestManyProperties crosses from comparing to a map, and each word of a set.
func TestManyProperties(t *testing.T) {
	t.Parallel()
	for _, n := range []int{1, 16, 17, 64, 65, 128, 200, 256} {
		names := make([]string, n)
		members := make([]string, n)
		for i := range n {
			names[i] = fmt.Sprintf(`"p%d"`, i)
			members[i] = fmt.Sprintf(`"p%d":%d`, i, i)
		}
		all := "{" + strings.Join(members, ",") + "}"
		required := `"required":[` + strings.Join(names, ",") + `]`
		last := fmt.Sprintf(`"p%d":`, n-1)
		fc := fitCase{
			schema: `{"properties":{` + strings.Join(names, ":true,") + `:{"type":"integer"}},` + required + `}`,
			fits:   []string{all},
			bad:    []string{"{" + strings.Join(members[1:], ",") + "}", "{" + strings.Join(members[:n-1], ",") + "}", strings.Replace(all, last, last+"0.", 1)},
			asks:   []string{all[:len(all)-1] + "," + last + "0}", all[:len(all)-1] + `,"P0":0}`},
		}
		if n == 1 {
			fc.bad = fc.bad[:2]
		}
		fc.run(t, nil)
	}
	var sb strings.Builder
	for i := range 257 {
		fmt.Fprintf(&sb, `,"p%d"`, i)
	}
	_, ok := fit.Compile(parse(t, `{"required":[`+sb.String()[1:]+`]}`), nil)
	require.False(t, ok)
}

// The Program must not see later changes of the document.
func TestDocumentIsNotKept(t *testing.T) {
	t.Parallel()
	doc := parse(t, `{"enum":["a"],"required":["b"]}`).(map[string]any)
	p, ok := fit.Compile(doc, nil)
	require.True(t, ok)
	doc["enum"].([]any)[0] = "z"
	delete(doc, "enum")
	require.True(t, p.Fits([]byte(`"a"`)))
	require.False(t, p.Fits([]byte(`"z"`)))
}
