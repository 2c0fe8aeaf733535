package ai_test

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/holdpoint/ai"
)

// payInput is what the model of the examples has to say to pay.
type payInput struct {
	To     string `json:"to"`
	Amount int    `json:"amount"`
}

// banker stands for a model: it asks for one payment, and then says what came
// of it. With Stream, it streams.
func banker(_ context.Context, req *ai.ModelRequest, emit func(*ai.Chunk) error) (*ai.ModelResponse, error) {
	reply := ai.TextMessage(ai.RoleModel, "What can I do for you?")
	switch last := req.Messages[len(req.Messages)-1]; {
	case last.Role == ai.RoleTool:
		told := last.Content[0].(*ai.ToolResponsePart).ForModel()
		reply = ai.TextMessage(ai.RoleModel, "The bank says: "+told.Text)
	case last.Text() == "Pay Bob 20.":
		reply.Content = ai.Parts{&ai.ToolRequestPart{ToolRequest: ai.ToolRequest{
			Name: "pay", Ref: "call_1", Input: json.RawMessage(`{"to":"Bob","amount":20}`),
		}}}
	}
	if emit != nil {
		for _, part := range reply.Content {
			if err := emit(&ai.Chunk{Role: ai.RoleModel, Content: ai.Parts{part}}); err != nil {
				return nil, err
			}
		}
	}
	return &ai.ModelResponse{Message: reply, FinishReason: ai.FinishStop}, nil
}

// bank has a tool that asks before it pays.
func bank() *ai.Registry {
	var tools ai.Registry
	ai.DefineTool(&tools, "pay", "Pay somebody.", func(_ context.Context, call *ai.ToolCall, in payInput) (string, error) {
		if !call.Resumed() {
			return "", call.Interrupt(fmt.Sprintf("Pay %s %d?", in.To, in.Amount))
		}
		if err := call.Emit(&ai.TextPart{Text: "asking the bank"}); err != nil {
			return "", err
		}
		return fmt.Sprintf("paid %s %d", in.To, in.Amount), nil
	})
	return &tools
}

// A conversation pauses as often as a call asks, and goes on with the answers.
func ExampleGenerate() {
	ctx, tools, model := context.Background(), bank(), ai.ModelFunc(banker)

	resp, err := ai.Generate(ctx, tools, &ai.GenerateOptions{Model: model, Prompt: "Pay Bob 20."})
	for err == nil && resp.FinishReason == ai.FinishInterrupted {
		answers := &ai.Answers{}
		for _, question := range resp.Interrupts() {
			fmt.Printf("%s yes\n", question.Data)
			yes, err := ai.Restart(question.Request, nil)
			if err != nil {
				panic(err)
			}
			answers.Restart = append(answers.Restart, yes)
		}
		// resp.Messages is JSON: this may be another process, next week.
		resp, err = ai.Generate(ctx, tools, &ai.GenerateOptions{Model: model, Messages: resp.Messages, Resume: answers})
	}
	if err != nil {
		panic(err)
	}
	fmt.Println(resp.Text())
	// Output:
	// "Pay Bob 20?" yes
	// The bank says: paid Bob 20
}

// The last chunk has the response, with the questions in it; all before it is
// provisional. A resumption streams what the tools return.
func ExampleStream() {
	opts := &ai.GenerateOptions{Model: ai.ModelFunc(banker), Prompt: "Pay Bob 20."}
	tools := bank()
	for opts != nil {
		var resp *ai.Response
		for chunk, err := range ai.Stream(context.Background(), tools, opts) {
			if err != nil {
				panic(err)
			}
			for _, part := range chunk.Content {
				switch p := part.(type) {
				case *ai.TextPart:
					fmt.Printf("%d %s: %s\n", chunk.Index, chunk.Role, p.Text)
				case *ai.ToolRequestPart:
					fmt.Printf("%d %s: %s %s\n", chunk.Index, chunk.Role, p.ToolRequest.Name, p.ToolRequest.Input)
				case *ai.ToolResponsePart:
					progress := &ai.Message{Content: p.ToolResponse.Content}
					fmt.Printf("%d %s: %s%s\n", chunk.Index, chunk.Role, progress.Text(), p.ToolResponse.Output)
				}
			}
			resp = chunk.Response
		}
		opts = nil
		for _, question := range resp.Interrupts() {
			fmt.Printf("? %s\n", question.Data)
			yes, err := ai.Restart(question.Request, nil)
			if err != nil {
				panic(err)
			}
			opts = &ai.GenerateOptions{
				Model: ai.ModelFunc(banker), Messages: resp.Messages, Resume: &ai.Answers{Restart: []*ai.ToolRequestPart{yes}},
			}
		}
	}
	// Output:
	// 0 model: pay {"to":"Bob","amount":20}
	// ? "Pay Bob 20?"
	// 0 tool: asking the bank
	// 0 tool: "paid Bob 20"
	// 1 model: The bank says: paid Bob 20
}

// The user changes the subject while a question is open. Repair closes it, and
// the model is told that the call was not run.
func ExampleRepair() {
	ctx, tools, model := context.Background(), bank(), ai.ModelFunc(banker)
	paused, err := ai.Generate(ctx, tools, &ai.GenerateOptions{Model: model, Prompt: "Pay Bob 20."})
	if err != nil {
		panic(err)
	}
	_, err = ai.Generate(ctx, tools, &ai.GenerateOptions{Model: model, Messages: paused.Messages, Prompt: "Hello?"})
	fmt.Println(err)

	messages := ai.Repair(paused.Messages)
	fmt.Println(messages[2].Role, messages[2].Content[0].(*ai.ToolResponsePart).ForModel().Text)

	// The option does the same.
	resp, err := ai.Generate(ctx, tools, &ai.GenerateOptions{
		Model: model, Messages: paused.Messages, Prompt: "Hello?", Repair: true,
	})
	if err != nil {
		panic(err)
	}
	fmt.Println(resp.Text())
	// Output:
	// ai: tool requests of the last message have no response: pay#call_1; answer them with Resume or close them with Repair
	// tool This call was not run.
	// What can I do for you?
}
