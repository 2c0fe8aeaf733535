package main

import (
	"context"
	"fmt"
	"github.com/holdpoint/ai"
)

func main() {
	ctx, tools := context.Background(), &ai.Registry{}
	ai.DefineTool(tools, "pay", "Pays somebody.", func(_ context.Context, call *ai.ToolCall, in struct{ Payee, Amount string }) (string, error) {
		if !call.Resumed() {
			return "", call.Interrupt("Pay " + in.Payee + " " + in.Amount + "?")
		}
		return "paid", nil
	})
	model := ai.ModelFunc(func(_ context.Context, req *ai.ModelRequest, _ func(*ai.Chunk) error) (*ai.ModelResponse, error) {
		if last := req.Messages[len(req.Messages)-1]; last.Role == ai.RoleTool {
			return &ai.ModelResponse{Message: ai.TextMessage(ai.RoleModel, last.Content[0].(*ai.ToolResponsePart).ForModel().Text)}, nil
		}
		pay := &ai.ToolRequestPart{ToolRequest: ai.ToolRequest{Name: "pay", Input: []byte(`{"Payee": "Bob", "Amount": "20"}`)}}
		return &ai.ModelResponse{Message: &ai.Message{Role: ai.RoleModel, Content: ai.Parts{pay}}}, nil
	})
	resp, err := ai.Generate(ctx, tools, &ai.GenerateOptions{Model: model, Prompt: "Pay Bob 20."})
	for err == nil && resp.FinishReason == ai.FinishInterrupted {
		answers, word := &ai.Answers{}, ""
		for _, it := range resp.Interrupts() {
			fmt.Printf("%s [y/n] ", it.Data)
			if fmt.Scanln(&word); word == "y" {
				answers.Approve(it)
			} else {
				answers.Deny(it, "the user said no")
			}
		}
		resp, err = ai.Generate(ctx, tools, &ai.GenerateOptions{Model: model, Messages: resp.Messages, Resume: answers})
	}
	fmt.Println(resp.Text(), err)
}
