package ai_test

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/holdpoint/ai"
)

// Whoever approves a call sees what it will run with, and what was done to the
// arguments that the model sent.
func ExampleInterrupt() {
	ctx := context.Background()
	var r ai.Registry
	definePay(&r)
	tools, err := r.AllTools(ctx)
	if err != nil {
		panic(err)
	}
	said := ai.NewToolRequest("pay", "a", "```json\n{\"to\":\"bob\",\"amount\":\"500\"}\n```")
	res, err := ai.Resolve(ctx, tools, &ai.Message{Role: ai.RoleModel, Content: ai.Parts{said}}, nil)
	if err != nil {
		panic(err)
	}
	question := res.Interrupts()[0]
	fmt.Println(string(question.Effective))
	for _, c := range question.Changes {
		fmt.Printf("%s: %q became %s\n", c.Rule, c.Path, c.To)
	}
	// Output:
	// {"to":"bob","amount":500}
	// fence: "" became {"to":"bob","amount":"500"}
	// number: "amount" became 500
}

// What an adapter does with a tool that asks for strict sampling.
func ExampleStrictSchema() {
	schema := json.RawMessage(`{"type":"object","properties":{"city":{"type":"string"},"days":{"type":"integer"}},"required":["city"]}`)
	strict, blockers := ai.StrictSchema(schema)
	fmt.Println(string(strict), len(blockers))

	_, blockers = ai.StrictSchema(json.RawMessage(`{"type":"object","properties":{"tags":{"type":"array","uniqueItems":true,"items":{"type":"string"}}}}`))
	fmt.Println(blockers)
	// Output:
	// {"type":"object","properties":{"city":{"type":"string"},"days":{"type":["integer","null"]}},"required":["city","days"],"additionalProperties":false} 0
	// [uniqueItems at #/properties/tags]
}
