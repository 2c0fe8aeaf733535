package aitest_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/holdpoint/ai"
	"github.com/holdpoint/ai/aitest"
)

// order is a tool that asks before it orders.
func order(_ context.Context, call *ai.ToolCall, in struct{ Item string }) (string, error) {
	if !call.Resumed() {
		return "", call.Interrupt("Order " + in.Item + "?")
	}
	return "ordered " + in.Item, nil
}

// testOrder is a test of an agent: the model asks for an order, a person in
// another process says yes, and the model is told what came of it.
func testOrder(t testing.TB) {
	var tools ai.Registry
	ai.DefineTool(&tools, "order", "Order an item.", order)
	model := aitest.NewModel(t,
		aitest.ToolRequests(aitest.Request("order", "1", map[string]string{"Item": "tea"})),
		aitest.Text("Done."),
	)
	opts := &ai.GenerateOptions{Model: model, Prompt: "We are out of tea."}
	paused, err := ai.Generate(context.Background(), &tools, opts)
	if err != nil {
		t.Fatal(err)
	}
	fmt.Printf("asks: %s\n", paused.Interrupts()[0].Data)

	opts = &ai.GenerateOptions{
		Model: model, Messages: aitest.Reload(t, paused.Messages), Resume: aitest.Approve(t, paused),
	}
	resp, err := ai.Generate(context.Background(), &tools, opts)
	if err != nil {
		t.Fatal(err)
	}
	aitest.CheckHistory(t, resp.Messages)
	told := model.Requests()[1].Messages[2].Content[0].(*ai.ToolResponsePart)
	fmt.Printf("tells the model: %s\n", told.ForModel().Text)
	fmt.Printf("the model: %s\n", resp.Text())
}

func Example() {
	for _, failure := range runExample(testOrder) {
		fmt.Println(failure)
	}
	// Output:
	// asks: "Order tea?"
	// tells the model: ordered tea
	// the model: Done.
}

func ExampleCall() {
	tool, err := ai.NewTool(&ai.ToolDefinition{Name: "order"}, order)
	if err != nil {
		panic(err)
	}
	ctx, input := context.Background(), map[string]string{"Item": "tea"}
	asked, err := aitest.Call(ctx, tool, input, nil)
	if err != nil {
		panic(err)
	}
	fmt.Printf("asks: %s\n", asked.Interrupt.Data)
	done, err := aitest.Call(ctx, tool, input, &aitest.CallOptions{Resumed: true, State: asked.State})
	if err != nil {
		panic(err)
	}
	fmt.Printf("gives: %s\n", done.Response.ToolResponse.Output)
	// Output:
	// asks: "Order tea?"
	// gives: "ordered tea"
}

// A script that does not fit fails the test: here the model is asked once more
// than it has replies.
func ExampleNewModel() {
	failures := runExample(func(t testing.TB) {
		model := aitest.NewModel(t, aitest.Text("Hello!"))
		for range 2 {
			resp, err := ai.Generate(context.Background(), nil, &ai.GenerateOptions{Model: model, Prompt: "Hi."})
			if err == nil {
				fmt.Println(resp.Text())
			}
		}
	})
	fmt.Println(failures)
	// Output:
	// Hello!
	// [aitest: unexpected request 2, which ends with user "Hi.": the script has 1]
}
