package coerce_test

import (
	"strings"
	"testing"
)

func TestCoerceUnions(t *testing.T) {
	t.Parallel()
	numberOrList := `{"anyOf":[{"type":"array","items":{"type":"integer"}},{"type":"integer"}]}`
	branch := func(a, b string) string {
		return `{"type":"object","properties":{"a":{"type":"` + a + `"},"b":{"type":"` + b + `"}}}`
	}
	runCases(t, []coerceCase{
		one(`{"anyOf":[{"type":"integer"},{"type":"boolean"}]}`, `"true"`, `true`, "boolean"),
		one(`{"anyOf":[{"type":"integer"},{"type":"number"}]}`, `"1.5"`, `1.5`, "number"),
		one(`{"type":["integer","boolean","null"]}`, `"7"`, `7`, "number"),
		one(`{"type":["integer","string"]}`, `"7"`, asSent, ""),
		one(`{"oneOf":[{"type":"integer"},{"type":"string"}]}`, `true`, `"true"`, "string"),
		one(`{"oneOf":[{"type":"integer"},{"type":"number"}]}`, `"7"`, "", ""),
		one(`{"oneOf":[{"type":"integer"},{"type":"number"}]}`, `7`, "", ""),
		one(numberOrList, `"5"`, `5`, "number"),
		one(numberOrList, `"[5]"`, `[5]`, "json-text"),
		one(`{"anyOf":[{"type":"string"},{"type":"array","items":{"type":"string"}}]}`, `5`, `"5"`, "string"),
		{property(`{"anyOf":[` + branch("integer", "integer") + `,` + branch("boolean", "string") + `]}`),
			`{"v":{"a":"1","b":"2"}}`, `{"v":{"a":1,"b":2}}`, []string{`v.a: "1" -> 1 (number)`, `v.b: "2" -> 2 (number)`}},
		// The first branch changes b, the second changes a: nobody knows.
		one(`{"anyOf":[`+branch("string", "integer")+`,`+branch("integer", "string")+`]}`, `{"a":"1","b":"2"}`, "", ""),
		{property(`{"oneOf":[{"properties":{"k":{"const":"x"},"n":{"type":"integer"}},"required":["k"]},` +
			`{"properties":{"k":{"const":"y"},"n":{"type":"boolean"}},"required":["k"]}]}`),
			`{"v":{"k":"x","n":"1"}}`, `{"v":{"k":"x","n":1}}`, []string{`v.n: "1" -> 1 (number)`}},
		one(`{"allOf":[{"type":"integer"},{"maximum":9}]}`, `"9"`, `9`, "number"),
		one(`{"allOf":[{"type":"integer"},{"maximum":9}]}`, `"10"`, "", ""),
		one(`{"allOf":[{"type":"array"},{"items":{"type":"integer"}}]}`, `"[\"1\"]"`, `[1]`, "json-text").nested(`["1"]`, `v.0: "1" -> 1 (number)`),
		one(`{"allOf":[{"properties":{"a":{"type":"integer"}}},{"properties":{"b":{"type":"boolean"}}}]}`, `{"a":"1","b":"true"}`,
			`{"a":1,"b":true}`, "").only(`v.a: "1" -> 1 (number)`, `v.b: "true" -> true (boolean)`),
		one(`{"if":{"properties":{"k":{"const":1}}},"then":{"properties":{"n":{"type":"integer"}}},"else":{"properties":{"n":{"type":"boolean"}}}}`,
			`{"k":2,"n":"true"}`, `{"k":2,"n":true}`, "").only(`v.n: "true" -> true (boolean)`),
		one(`{"if":{"properties":{"k":{"const":1}}},"then":{"properties":{"n":{"type":"integer"}}}}`,
			`{"k":1,"n":"5"}`, `{"k":1,"n":5}`, "").only(`v.n: "5" -> 5 (number)`),
		one(`{"dependentSchemas":{"k":{"properties":{"n":{"type":"integer"}}}}}`, `{"k":1,"n":"5"}`, `{"k":1,"n":5}`, "").
			only(`v.n: "5" -> 5 (number)`),
		one(`{"not":{"type":"integer"},"type":["number","integer"]}`, `"5"`, "", ""),
		one(`{"type":"integer","not":{"const":5}}`, `"5"`, "", ""),
	})
}

// only replaces the changes of a case.
func (c coerceCase) only(changes ...string) coerceCase {
	c.changes = changes
	return c
}

// nested says what the value became before the changes inside it.
func (c coerceCase) nested(to string, changes ...string) coerceCase {
	from, rule, _ := strings.Cut(c.changes[0], " -> ")
	_, rule, _ = strings.Cut(rule, " (")
	c.changes = append([]string{from + " -> " + to + " (" + rule}, changes...)
	return c
}

func TestCoerceApplicators(t *testing.T) {
	t.Parallel()
	seven := `"$schema":"http://json-schema.org/draft-07/schema#",`
	runCases(t, []coerceCase{
		one(`{"additionalProperties":{"type":"integer"}}`, `{"x":"1"}`, `{"x":1}`, "").only(`v.x: "1" -> 1 (number)`),
		one(`{"additionalProperties":false}`, `{"x":"1"}`, "", ""),
		one(`{"patternProperties":{"^x":{"type":"integer"}},"additionalProperties":{"type":"boolean"}}`, `{"x1":"1","y":"true"}`,
			`{"x1":1,"y":true}`, "").only(`v.x1: "1" -> 1 (number)`, `v.y: "true" -> true (boolean)`),
		one(`{"properties":{"x":{"type":"integer"}},"patternProperties":{"x":{"maximum":3}}}`, `{"x":"3"}`, `{"x":3}`, "").
			only(`v.x: "3" -> 3 (number)`),
		one(`{"properties":{"x":{"type":"integer"}},"patternProperties":{"x":{"maximum":3}}}`, `{"x":"4"}`, "", ""),
		one(`{"prefixItems":[{"type":"integer"}],"items":{"type":"boolean"}}`, `["1","true"]`, `[1,true]`, "").
			only(`v.0: "1" -> 1 (number)`, `v.1: "true" -> true (boolean)`),
		one(`{"type":"array","items":{"type":"integer"},"contains":{"const":2}}`, `["1","2"]`, `[1,2]`, "").
			only(`v.0: "1" -> 1 (number)`, `v.1: "2" -> 2 (number)`),
		one(`{"type":"array","items":{"type":"integer"},"uniqueItems":true}`, `["1",1]`, "", ""),
		one(`{"type":"array","items":{"type":"integer"},"maxItems":1}`, `["1",1]`, "", ""),
		one(`{"properties":{"x":{"type":"integer"}},"unevaluatedProperties":false}`, `{"x":"1"}`, `{"x":1}`, "").
			only(`v.x: "1" -> 1 (number)`),
		one(`{"properties":{"x":{"type":"integer"}},"unevaluatedProperties":false}`, `{"x":"1","y":2}`, "", ""),
		one(`{"propertyNames":{"maxLength":1},"properties":{"x":{"type":"integer"}}}`, `{"x":"1"}`, `{"x":1}`, "").
			only(`v.x: "1" -> 1 (number)`),
		one(`{"propertyNames":{"maxLength":1},"properties":{"x":{"type":"integer"}}}`, `{"x":"1","yy":1}`, "", ""),
		one(`{"dependentRequired":{"x":["y"]},"properties":{"x":{"type":"integer"}}}`, `{"x":"1"}`, "", ""),
		{`{` + seven + `"properties":{"v":{"items":[{"type":"integer"}],"additionalItems":{"type":"boolean"}}}}`, `{"v":["1","true"]}`,
			`{"v":[1,true]}`, []string{`v.0: "1" -> 1 (number)`, `v.1: "true" -> true (boolean)`}},
		{`{` + seven + `"properties":{"v":{"type":"array","items":[{"type":"integer"}]}}}`, `{"v":"1"}`, "", nil},
		{`{` + seven + `"properties":{"v":{"type":"array","items":{"type":"integer"}}}}`, `{"v":"1"}`, `{"v":[1]}`,
			[]string{`v: "1" -> ["1"] (lone-value)`, `v.0: "1" -> 1 (number)`}},
		{`{` + seven + `"definitions":{"n":{"type":"integer"}},"properties":{"v":{"$ref":"#/definitions/n","type":"string"}}}`, `{"v":"1"}`,
			`{"v":1}`, []string{`v: "1" -> 1 (number)`}},
		{`{` + seven + `"dependencies":{"v":{"properties":{"w":{"type":"integer"}}}}}`, `{"v":1,"w":"1"}`, `{"v":1,"w":1}`,
			[]string{`w: "1" -> 1 (number)`}},
		{`{"$ref":"#/$defs/t","$defs":{"t":{"properties":{"n":{"type":"integer"},"sub":{"type":"array","items":{"$ref":"#/$defs/t"}}}}}}`,
			`{"sub":[{"n":"1","sub":[{"n":"2"}]}]}`, `{"sub":[{"n":1,"sub":[{"n":2}]}]}`,
			[]string{`sub.0.n: "1" -> 1 (number)`, `sub.0.sub.0.n: "2" -> 2 (number)`}},
		{`{"$dynamicAnchor":"t","properties":{"n":{"type":"integer"},"sub":{"$dynamicRef":"#t"}}}`,
			`{"sub":{"n":"1"}}`, `{"sub":{"n":1}}`, []string{`sub.n: "1" -> 1 (number)`}},
		{`{"$schema":"https://json-schema.org/draft/2019-09/schema","$recursiveAnchor":true,"properties":{"n":{"type":"integer"},"sub":{"$recursiveRef":"#"}}}`,
			`{"sub":{"n":"1"}}`, `{"sub":{"n":1}}`, []string{`sub.n: "1" -> 1 (number)`}},
		{`{"$defs":{"t":{"$dynamicAnchor":"t","type":"integer"}},"properties":{"v":{"$dynamicRef":"#t"}}}`, `{"v":"1"}`, "", nil},
		{`{"$defs":{"t":{"$dynamicAnchor":"t","type":"integer"}},"properties":{"v":{"$dynamicRef":"#t"}}}`, `{"v":1}`, asSent, nil},
	})
}
