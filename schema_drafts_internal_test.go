package ai

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"
)

// A schema means what the draft says that its $schema names, and what 2020-12
// says where it names none.
func TestDrafts(t *testing.T) {
	t.Parallel()
	drafts := []string{inDraft4, inDraft6, inDraft7, in2019, in2020, ``}
	tests := []struct {
		name, schema, data string
		fits               string // by draft in the order above: yes, no, or error
	}{
		{"bound made exclusive", `"maximum":5,"exclusiveMaximum":true`, `5`, "neeeee"},
		{"lower bound made exclusive", `"minimum":5,"exclusiveMinimum":true`, `5`, "neeeee"},
		{"exclusive bound", `"exclusiveMinimum":5`, `5`, "ennnnn"},
		{"const", `"const":1`, `2`, "ynnnnn"},
		{"contains", `"contains":{"type":"string"}`, `[1]`, "ynnnnn"},
		{"names of properties", `"propertyNames":{"maxLength":1}`, `{"ab":1}`, "ynnnnn"},
		{"boolean as a schema", `"properties":{"a":false}`, `{"a":1}`, "ennnnn"},
		{"if and then", `"if":{"type":"string"},"then":{"minLength":2}`, `"x"`, "yynnnn"},
		{"list of items", `"items":[{"type":"string"}]`, `[1]`, "nnnnee"},
		{"beyond a list of items", `"items":[{}],"additionalItems":false`, `[1,2]`, "nnnnee"},
		{"first items", `"prefixItems":[{"type":"string"}]`, `[1]`, "yyyynn"},
		{"items after the first", `"prefixItems":[{}],"items":{"type":"string"}`, `[1,"x"]`, "nnnnyy"},
		{"dependencies", `"dependencies":{"a":["b"]}`, `{"a":1}`, "nnnnnn"},
		{"dependent schemas", `"dependentSchemas":{"a":{"required":["b"]}}`, `{"a":1}`, "yyynnn"},
		{"dependent properties", `"dependentRequired":{"a":["b"]}`, `{"a":1}`, "yyynnn"},
		{"at most so many", `"contains":{"const":1},"maxContains":1`, `[1,1]`, "yyynnn"},
		{"properties left over", `"allOf":[{"properties":{"a":{}}}],"unevaluatedProperties":false`, `{"b":1}`, "yyynnn"},
		{"beside a reference", `"items":{"$ref":"#/definitions/a","minLength":2},"definitions":{"a":{"type":"string"}}`, `["x"]`, "yyynnn"},
		{"recursive reference", `"items":{"$recursiveRef":"#"},"maxItems":1`, `[[1,2]]`, "yyynnn"},
		{"dynamic reference", `"$dynamicAnchor":"n","items":{"$dynamicRef":"#n"},"maxItems":1`, `[[1,2]]`, "yyyynn"},
		{"anchor", `"items":{"$ref":"#a"},"definitions":{"a":{"$anchor":"a","type":"string"}}`, `[1]`, "nnnnnn"},
		{"format", `"format":"ipv4"`, `"x"`, "nnnyyy"},
		{"integer with a fraction of zero", `"type":"integer"`, `1.0`, "yyyyyy"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			got := ""
			for _, draft := range drafts {
				got += verdict(draft, test.schema, test.data)
			}
			require.Equal(t, test.fits, got)
		})
	}
}

func verdict(draft, rest, data string) string {
	s, err := compileSchema(json.RawMessage(`{`+draft+rest+`}`), false)
	switch {
	case err != nil:
		return "e"
	case s.check(json.RawMessage(data)) != nil:
		return "n"
	}
	return "y"
}

// The target of a recursive reference is the outermost schema that lets itself
// be extended, that of an anchor the one that is named.
func TestReferencesThatMove(t *testing.T) {
	t.Parallel()
	s, err := compileSchema(json.RawMessage(`{`+in2019+`"$id":"https://example.com/strict","$recursiveAnchor":true,"$ref":"tree","unevaluatedProperties":false,
		"$defs":{"tree":{"$id":"tree","$recursiveAnchor":true,"properties":{"kids":{"items":{"$recursiveRef":"#"}}}}}}`), false)
	require.NoError(t, err)
	require.Empty(t, s.check(json.RawMessage(`{"kids":[{"kids":[]}]}`)))
	require.NotEmpty(t, s.check(json.RawMessage(`{"kids":[{"kid":[]}]}`)))

	s, err = compileSchema(json.RawMessage(`{`+inDraft4+`"items":{"$ref":"#a"},"definitions":{"a":{"id":"#a","type":"string"}}}`), false)
	require.NoError(t, err)
	require.Empty(t, s.check(json.RawMessage(`["x"]`)))
	require.NotEmpty(t, s.check(json.RawMessage(`[1]`)))
}
