package coerce_test

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/holdpoint/ai/internal/coerce"
)

func ExampleCoerce() {
	doc, _ := jsonschema.UnmarshalJSON(strings.NewReader(`{
		"type": "object",
		"properties": {
			"max":  {"type": "integer"},
			"tags": {"type": "array", "items": {"type": "string"}},
			"note": {"type": "string"}
		}
	}`))
	c := jsonschema.NewCompiler()
	_ = c.AddResource("tool:///schema", doc)
	sch, _ := c.Compile("tool:///schema")

	out, changes, ok := coerce.Coerce(sch, json.RawMessage(`{"max":"200000","tags":"[\"a\",\"b\"]","note":null}`), nil)
	fmt.Println(string(out), ok)
	for _, c := range changes {
		fmt.Printf("%s: %s -> %s (%s)\n", c.Path, c.From, c.To, c.Rule)
	}
	_, _, ok = coerce.Coerce(sch, json.RawMessage(`{"max":"many"}`), nil)
	fmt.Println(ok)
	// Output:
	// {"max":200000,"tags":["a","b"]} true
	// note: null ->  (null)
	// max: "200000" -> 200000 (number)
	// tags: "[\"a\",\"b\"]" -> ["a","b"] (json-text)
	// false
}

func ExampleStrict() {
	schema := json.RawMessage(`{"type":"object","properties":{"city":{"type":"string"},"days":{"type":"integer"}},"required":["city"]}`)
	strict, blockers := coerce.Strict(schema)
	fmt.Println(string(strict), blockers)
	fmt.Println(string(coerce.Fold(schema, json.RawMessage(`{"city":"Paris","days":null}`))))

	_, blockers = coerce.Strict(json.RawMessage(`{"type":"object","properties":{"tags":{"type":"array","items":{"type":"string"},"uniqueItems":true}}}`))
	fmt.Println(blockers)
	// Output:
	// {"type":"object","properties":{"city":{"type":"string"},"days":{"type":["integer","null"]}},"required":["city","days"],"additionalProperties":false} []
	// {"city":"Paris"}
	// [uniqueItems at #/properties/tags]
}
