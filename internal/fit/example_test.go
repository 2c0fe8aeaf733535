package fit_test

import (
	"fmt"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/holdpoint/ai/internal/fit"
)

func ExampleCompile() {
	doc, _ := jsonschema.UnmarshalJSON(strings.NewReader(`{
		"type": "object",
		"properties": {"city": {"type": "string"}, "days": {"type": "integer", "minimum": 1}},
		"required": ["city"],
		"additionalProperties": false
	}`))
	p, ok := fit.Compile(doc, nil)
	fmt.Println("decided:", ok)
	for _, text := range []string{`{"city":"Paris","days":3}`, `{"city":"Paris","days":0}`, `{"city":"Paris","city":"Rome"}`} {
		fmt.Println(text, p.Fits([]byte(text)))
	}
	// Output:
	// decided: true
	// {"city":"Paris","days":3} true
	// {"city":"Paris","days":0} false
	// {"city":"Paris","city":"Rome"} false
}
