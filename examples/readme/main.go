package main

import (
	"context"
	"fmt"

	"github.com/holdpoint/ai"
)

func main() {
	ctx, tools, model := context.Background(), &ai.Registry{}, ai.ModelFunc(standIn)
	ai.DefineTool(tools, "pay", "Pays somebody.", func(_ context.Context, call *ai.ToolCall, in struct{ Payee, Amount string }) (string, error) {
		if !call.Resumed() {
			return "", call.Interrupt("Pay " + in.Payee + " " + in.Amount + "?")
		}
		return "paid", nil
	})
	resp, err := ai.Generate(ctx, tools, &ai.GenerateOptions{Model: model, Prompt: "Pay Bob 20."})
	for err == nil && resp.FinishReason == ai.FinishInterrupted {
		answers := &ai.Answers{}
		for _, it := range resp.Interrupts() {
			word := ""
			fmt.Printf("%s [y/n] ", it.Data)
			if fmt.Scanln(&word); word == "y" {
				yes, _ := ai.Restart(it.Request, nil)
				answers.Restart = append(answers.Restart, yes)
			} else {
				no, _ := ai.Deny(it.Request, "the user said no")
				answers.Respond = append(answers.Respond, no)
			}
		}
		resp, err = ai.Generate(ctx, tools, &ai.GenerateOptions{Model: model, Messages: resp.Messages, Resume: answers})
	}
	if err != nil {
		panic(err)
	}
	fmt.Println(resp.Text())
}

func standIn(_ context.Context, req *ai.ModelRequest, _ func(*ai.Chunk) error) (*ai.ModelResponse, error) {
	call := ai.ToolRequest{Name: "pay", Input: []byte(`{"Payee": "Bob", "Amount": "20"}`)}
	reply := &ai.Message{Role: ai.RoleModel, Content: ai.Parts{&ai.ToolRequestPart{ToolRequest: call}}}
	if last := req.Messages[len(req.Messages)-1]; last.Role == ai.RoleTool {
		reply = ai.TextMessage(ai.RoleModel, "The bank says: "+last.Content[0].(*ai.ToolResponsePart).ForModel().Text)
	}
	return &ai.ModelResponse{Message: reply}, nil
}
