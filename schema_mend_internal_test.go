package ai

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"
)

const (
	inDraft4 = `"$schema":"http://json-schema.org/draft-04/schema#",`
	inDraft6 = `"$schema":"http://json-schema.org/draft-06/schema#",`
	inDraft7 = `"$schema":"http://json-schema.org/draft-07/schema#",`
	in2019   = `"$schema":"https://json-schema.org/draft/2019-09/schema",`
	in2020   = `"$schema":"https://json-schema.org/draft/2020-12/schema",`
)

func TestBrokenPlaces(t *testing.T) {
	t.Parallel()
	tests := []struct{ name, schema, data, fault string }{
		{"reference to nothing", `{"properties":{"a":{"$ref":"#/$defs/nope"}}}`, `{"a":1}`, `a: expected a value that fits the schema here, which refers to #/$defs/nope: not found, got number 1`},
		{"as a whole", `{"$ref":"#/nope"}`, `1`, `expected a value that fits the schema here, which refers to #/nope: not found, got number 1`},
		{"anchor", `{"items":{"$ref":"#nope"},"$defs":{"a":{"$anchor":"a"}}}`, `[1]`, `0: expected a value that fits the schema here, which refers to #nope: not found, got number 1`},
		{"dynamic reference", `{"items":{"$dynamicRef":"#nope"}}`, `[1]`, `0: expected a value that fits the schema here, which refers to #nope: not found, got number 1`},
		{"recursive reference", `{` + in2019 + `"items":{"$recursiveRef":"other.json"}}`, `[1]`, `0: expected a value that fits the schema here, which refers to other.json: outside of this schema, got number 1`},
		{"file", `{"items":{"$ref":"file:///etc/hostname"}}`, `[1]`, `0: expected a value that fits the schema here, which refers to file:///etc/hostname: outside of this schema, got number 1`},
		{"network", `{"items":{"$ref":"https://example.com/s.json#/a"}}`, `[1]`, `0: expected a value that fits the schema here, which refers to https://example.com/s.json#/a: outside of this schema, got number 1`},
		{"no reference", `{"items":{"$ref":"%%"}}`, `[1]`, `0: expected a value that fits the schema here, which refers to %%: not a reference, got number 1`},
		{"no schema", `{"items":{"$ref":"#/a"},"a":[1]}`, `[1]`, `0: expected a value that fits the schema here, which refers to #/a: not a schema, got number 1`},
		{"bad pointer", `{"items":{"$ref":"#/a~2b"},"a~2b":{}}`, `[1]`, `0: expected a value that fits the schema here, which refers to #/a~2b: not found, got number 1`},
		{"pattern", `{"items":{"pattern":"^(?!x)"}}`, `["y"]`, `0: expected a value that fits the schema here, whose pattern ^(?!x) is not supported, got string "y"`},
		{"pattern of properties", `{"items":{"patternProperties":{"^(?=x)":{},"y":{}}}}`, `[{}]`, `0: expected a value that fits the schema here, whose pattern for properties, ^(?=x), is not supported, got object {}`},
		{"pattern of names", `{"items":{"propertyNames":{"pattern":"(?!x)"}}}`, `[{"k":1}]`, `0: expected property names that are a value that fits the schema here, whose pattern (?!x) is not supported, got property name "k"`},
		{"escaped place", `{"properties":{"a/b~ %é":{"$ref":"#/nope"}}}`, `{"a/b~ %é":1}`, `a/b~ %é: expected a value that fits the schema here, which refers to #/nope: not found, got number 1`},
		{"through a reference", `{"items":{"$ref":"#/$defs/a"},"$defs":{"a":{"$ref":"#/nope"}}}`, `[1]`, `0: expected a value that fits the schema here, which refers to #/nope: not found, got number 1`},
		{"in a place that only a reference leads to", `{"items":{"$ref":"#/x/a"},"x":{"a":{"$ref":"#/nope"}}}`, `[1]`, `0: expected a value that fits the schema here, which refers to #/nope: not found, got number 1`},
		{"whatever else is asked", `{"items":{"type":"string","const":"a","enum":["b"],"minLength":9,"pattern":"(?!x)"}}`, `[1]`, `0: expected a value that fits the schema here, whose pattern (?!x) is not supported, got number 1`},
		{"draft 4", `{` + inDraft4 + `"items":{"$ref":"#/nope"}}`, `["x"]`, `0: expected a value that fits the schema here, which refers to #/nope: not found, got string "x"`},
		{"draft 4 with numbers", `{` + inDraft4 + `"items":{"$ref":"#/nope"}}`, `[1e999]`, `0: expected a value that fits the schema here, which refers to #/nope: not found, got number 1e999`},
		{"the closest alternative is another", `{"anyOf":[{"$ref":"#/nope"},{"type":"object","required":["a"]}]}`, `{}`, `expected one of 2 alternatives (closest is 2: missing property "a"), got object {}`},
		{"not", `{"items":{"not":{"$ref":"#/nope"}}}`, `[1]`, `0: expected a value that fits the schema here, part of which is a schema which refers to #/nope: not found, got number 1`},
		{"not, far away", `{"items":{"not":{"$ref":"#/$defs/a"}},"$defs":{"a":{"properties":{"b":{"pattern":"(?!x)"}}}}}`, `[1]`, `0: expected a value that fits the schema here, part of which is a schema whose pattern (?!x) is not supported, got number 1`},
		{"if", `{"items":{"if":{"$ref":"#/nope"},"else":true}}`, `[1]`, `0: expected a value that fits the schema here, part of which is a schema which refers to #/nope: not found, got number 1`},
		{"at most so many", `{"items":{"contains":{"$ref":"#/nope"},"minContains":0,"maxContains":0}}`, `[[1]]`, `0: expected a value that fits the schema here, part of which is a schema which refers to #/nope: not found, got array [1]`},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			s, err := compileSchema(json.RawMessage(test.schema), false)
			require.NoError(t, err)
			require.False(t, s.certain(json.RawMessage(test.data)))
			faults := s.check(json.RawMessage(test.data))
			require.Len(t, faults, 1)
			require.Equal(t, test.fault, faults[0].String())
		})
	}
}

func TestBrokenPlacesLeaveTheRest(t *testing.T) {
	t.Parallel()
	tests := []struct{ name, schema, fits, not string }{
		{"other properties", `{"properties":{"a":{"$ref":"#/nope"},"b":{"type":"string"}}}`, `{"b":"x"}`, `{"b":1}`},
		{"other alternatives", `{"anyOf":[{"$ref":"#/nope"},{"type":"string"}]}`, `"x"`, `1`},
		{"what is inside", `{"properties":{"a":{"$ref":"#/nope","properties":{"c":{"type":"integer"}}},"b":{"$ref":"#/properties/a/properties/c"}}}`, `{"b":1}`, `{"b":"x"}`},
		{"a definition beside", `{"items":{"$ref":"#/$defs/a"},"$defs":{"a":{"type":"integer"},"b":{"$ref":"#/nope"}}}`, `[1]`, `["x"]`},
		{"a name that is a keyword", `{"properties":{"a":{"$ref":"#/nope"},"$ref":{"type":"string"},"pattern":{"const":"(?!x)"}}}`, `{"$ref":"#/nope","pattern":"(?!x)"}`, `{"$ref":1}`},
		{"values that look like schemas", `{"properties":{"a":{"$ref":"#/nope"},"b":{"const":{"$ref":"#/nope"}}}}`, `{"b":{"$ref":"#/nope"}}`, `{"b":{"$ref":"#/b"}}`},
		{"by id", `{"$id":"https://example.com/a","properties":{"a":{"$ref":"#/nope"},"b":{"$ref":"b#/x"}},"$defs":{"b":{"$id":"b","x":{"type":"integer"}}}}`, `{"b":1}`, `{"b":"x"}`},
		{"by the made-up address", `{"$id":"https://example.com/a","properties":{"a":{"$ref":"#/nope"},"b":{"$ref":"https://example.com/a#/$defs/b"}},"$defs":{"b":{"type":"integer"}}}`, `{"b":1}`, `{"b":"x"}`},
		{"by anchor", `{"properties":{"a":{"$ref":"#/nope"},"b":{"$ref":"#b"}},"$defs":{"b":{"$anchor":"b","type":"integer"}}}`, `{"b":1}`, `{"b":"x"}`},
		{"by dynamic anchor", `{"$dynamicAnchor":"n","properties":{"a":{"$ref":"#/nope"},"b":{"$dynamicRef":"#n"},"c":{"type":"integer"}}}`, `{"b":{"c":1}}`, `{"b":{"c":"x"}}`},
		{"by a draft's schema", `{"properties":{"a":{"$ref":"#/nope"},"b":{"$ref":"http://json-schema.org/draft-07/schema#"}}}`, `{"b":{"type":"string"}}`, `{"b":{"type":"strin"}}`},
		{"by URN", `{"$id":"urn:example:a","properties":{"a":{"$ref":"#/nope"},"b":{"$ref":"#/$defs/b"},"c":{"$ref":"urn:example:a#c"}},"$defs":{"b":{"type":"integer"},"c":{"$anchor":"c"}}}`, `{"b":1,"c":1}`, `{"b":"x"}`},
		{"itself", `{"properties":{"a":{"$ref":"#/nope"},"b":{"$ref":"#"}}}`, `{"b":{"b":{}}}`, `{"b":{"a":1}}`},
		{"draft 4 id", `{` + inDraft4 + `"id":"http://example.com/a","properties":{"a":{"$ref":"nope"},"b":{"$ref":"#b"},"c":{"$ref":"c"}},"definitions":{"b":{"id":"#b","type":"integer"},"c":{"id":"c","type":"integer"}}}`, `{"b":1,"c":1}`, `{"c":"x"}`},
		{"draft 4 pattern", `{` + inDraft4 + `"properties":{"a":{"pattern":"(?!x)"},"b":{"type":"integer"}}}`, `{"b":1}`, `{"a":1e999}`},
		{"draft 6", `{` + inDraft6 + `"properties":{"a":{"$ref":"#/nope"},"b":{"const":1}}}`, `{"b":1}`, `{"a":1}`},
		{"draft 7 ignores what is beside a reference", `{` + inDraft7 + `"properties":{"a":{"$ref":"#/definitions/b","pattern":"(?!x)","$id":"#a"}},"definitions":{"b":{"type":"string"}}}`, `{"a":"x"}`, `{"a":1}`},
		{"draft 7, an id beside a broken reference", `{` + inDraft7 + `"properties":{"a":{"$ref":"#/nope","$id":"x"},"b":{"$ref":"x"}},"definitions":{"b":{"$id":"x","type":"integer"}}}`, `{"b":1}`, `{"b":"x"}`},
		{"draft 2019 has no dynamic references", `{` + in2019 + `"properties":{"a":{"$ref":"#/nope"},"b":{"$dynamicRef":"#nope"}}}`, `{"b":1}`, `{"a":1}`},
		{"if that is known", `{"properties":{"a":{"$ref":"#/nope"}},"if":{"required":["b"]},"then":{"required":["c"]}}`, `{"b":1,"c":1}`, `{"b":1}`},
		{"repetition beyond what Go takes", `{"properties":{"a":{"pattern":"^x{1,5000}$"},"b":{"pattern":"^x{1,50}$"}}}`, `{"b":"x"}`, `{"b":""}`},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			s, err := compileSchema(json.RawMessage(test.schema), false)
			require.NoError(t, err)
			require.Empty(t, s.check(json.RawMessage(test.fits)))
			require.NotEmpty(t, s.check(json.RawMessage(test.not)))
			require.False(t, s.certain(json.RawMessage(test.not)))
		})
	}
}

func TestSchemasThatAreWrongInThemselvesAreErrors(t *testing.T) {
	t.Parallel()
	tests := []struct{ name, schema, want string }{
		{"unknown type", `{"properties":{"a":{"type":"strin","$ref":"#/nope"}}}`, `does not compile: #/properties/a/type: `},
		{"enumeration", `{"properties":{"a":{"enum":5,"$ref":"#/nope"}}}`, `does not compile: #/properties/a/enum: `},
		{"elsewhere", `{"properties":{"a":{"$ref":"#/nope"},"b":{"minLength":-1}}}`, `does not compile: #/properties/b/minLength: `},
		{"reference of another type", `{"properties":{"a":{"$ref":5},"b":{"$ref":"#/nope"}}}`, `does not compile: #/properties/a/$ref: `},
		{"two of one id", `{"properties":{"a":{"$id":"x"},"b":{"$id":"x"},"c":{"$ref":"#/nope"}}}`, `duplicate id`},
		{"unknown draft", `{"$schema":"https://example.com/draft","properties":{"c":{"$ref":"#/nope"}}}`, `a schema may not refer to other documents`},
		{"no schema", `[{"$ref":"#/nope"}]`, `expected a boolean or an object`},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			s, err := compileSchema(json.RawMessage(test.schema), false)
			require.ErrorContains(t, err, test.want)
			require.Nil(t, s)
		})
	}
}
