package ai_test

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/holdpoint/ai"
)

// Payment is the input of the tool in the examples of resumption.
type Payment struct {
	To     string `json:"to"`
	Amount int    `json:"amount"`
}

// definePay makes a tool that asks before it acts.
func definePay(r *ai.Registry) *ai.TypedTool[Payment, string] {
	return ai.DefineTool(r, "pay", "Pay somebody.",
		func(_ context.Context, call *ai.ToolCall, in Payment) (string, error) {
			if !call.Resumed() {
				return "", call.Interrupt(map[string]string{"question": fmt.Sprintf("Pay %s %d?", in.To, in.Amount)})
			}
			return fmt.Sprintf("paid %s %d", in.To, in.Amount), nil
		})
}

// wantsToPay is what a model said.
func wantsToPay() *ai.Message {
	return &ai.Message{Role: ai.RoleModel, Content: ai.Parts{&ai.ToolRequestPart{
		ToolRequest: ai.ToolRequest{Name: "pay", Ref: "a", Input: json.RawMessage(`{"to":"bob","amount":500}`)},
	}}}
}

func ExampleResume() {
	ctx := context.Background()
	var r ai.Registry
	definePay(&r)
	tools, err := r.AllTools(ctx)
	if err != nil {
		panic(err)
	}
	res, err := ai.Resolve(ctx, tools, wantsToPay(), nil)
	if err != nil {
		panic(err)
	}
	stored, err := json.Marshal(res.Model) // in a file, a database, a browser
	if err != nil {
		panic(err)
	}

	// A week later, in another process:
	var paused ai.Message
	if err := json.Unmarshal(stored, &paused); err != nil {
		panic(err)
	}
	questions, err := paused.Interrupts()
	if err != nil {
		panic(err)
	}
	fmt.Println(string(questions[0].Data))
	yes, err := ai.Restart(questions[0].Request, nil)
	if err != nil {
		panic(err)
	}
	res, err = ai.Resume(ctx, tools, &paused, &ai.Answers{Restart: []*ai.ToolRequestPart{yes}}, nil)
	if err != nil {
		panic(err)
	}
	fmt.Println(res.Tool.Content[0].(*ai.ToolResponsePart).ForModel().Text)
	// Output:
	// {"question":"Pay bob 500?"}
	// paid bob 500
}

func ExampleTypedTool_Restart() {
	ctx := context.Background()
	var r ai.Registry
	pay := definePay(&r)
	tools, err := r.AllTools(ctx)
	if err != nil {
		panic(err)
	}
	res, err := ai.Resolve(ctx, tools, wantsToPay(), nil)
	if err != nil {
		panic(err)
	}
	// Yes, but less. The model is told so.
	answer, err := pay.Restart(res.Interrupts()[0].Request, &ai.RestartOptions[Payment]{
		Resumed:  map[string]string{"by": "amy"},
		NewInput: &Payment{To: "bob", Amount: 20},
	})
	if err != nil {
		panic(err)
	}
	res, err = ai.Resume(ctx, tools, res.Model, &ai.Answers{Restart: []*ai.ToolRequestPart{answer}}, nil)
	if err != nil {
		panic(err)
	}
	fmt.Println(res.Tool.Content[0].(*ai.ToolResponsePart).ForModel().Text)
	// Output:
	// Note: the arguments were changed before the call ran; it ran with {"to":"bob","amount":20}.
	// paid bob 20
}

func ExampleDeny() {
	ctx := context.Background()
	var r ai.Registry
	definePay(&r)
	tools, err := r.AllTools(ctx)
	if err != nil {
		panic(err)
	}
	res, err := ai.Resolve(ctx, tools, wantsToPay(), nil)
	if err != nil {
		panic(err)
	}
	denial, err := ai.Deny(res.Interrupts()[0].Request, "too much")
	if err != nil {
		panic(err)
	}
	// A denial works without any tool, so also after the tool is gone.
	res, err = ai.Resume(ctx, nil, res.Model, &ai.Answers{Respond: []*ai.ToolResponsePart{denial}}, nil)
	if err != nil {
		panic(err)
	}
	told := res.Tool.Content[0].(*ai.ToolResponsePart).ForModel()
	fmt.Println(told.Text, told.IsError)
	// Output: Denied: too much true
}

// A tool that leaves its work to a conversation with another model. What that
// conversation asks is asked outside, and the answer finds its way back.
func ExampleToolCall_Generate() {
	ctx := context.Background()
	var treasury, front ai.Registry
	definePay(&treasury)
	treasurer := ai.ModelFunc(func(_ context.Context, req *ai.ModelRequest, _ func(*ai.Chunk) error) (*ai.ModelResponse, error) {
		last := req.Messages[len(req.Messages)-1]
		if last.Role == ai.RoleUser {
			return &ai.ModelResponse{Message: wantsToPay()}, nil
		}
		done := "The treasurer " + last.Content[0].(*ai.ToolResponsePart).ForModel().Text + "."
		return &ai.ModelResponse{Message: ai.TextMessage(ai.RoleModel, done)}, nil
	})
	ai.DefineTool(&front, "delegate", "Hand a task to the treasurer.",
		func(ctx context.Context, call *ai.ToolCall, in struct{ Task string }) (string, error) {
			resp, err := call.Generate(ctx, "treasurer", &treasury, &ai.GenerateOptions{Model: treasurer, Prompt: in.Task})
			if err != nil {
				return "", err // a question is passed on like an error
			}
			return resp.Text(), nil
		})
	tools, err := front.AllTools(ctx)
	if err != nil {
		panic(err)
	}
	res, err := ai.Resolve(ctx, tools, &ai.Message{Role: ai.RoleModel, Content: ai.Parts{&ai.ToolRequestPart{
		ToolRequest: ai.ToolRequest{Name: "delegate", Ref: "d", Input: json.RawMessage(`{"Task":"Pay bob."}`)},
	}}}, nil)
	if err != nil {
		panic(err)
	}
	question := res.Interrupts()[0]
	fmt.Println(question.Path, string(question.Data))

	yes, err := ai.Restart(question.Request, nil)
	if err != nil {
		panic(err)
	}
	res, err = ai.Resume(ctx, tools, res.Model, &ai.Answers{Restart: []*ai.ToolRequestPart{yes}}, nil)
	if err != nil {
		panic(err)
	}
	fmt.Println(res.Tool.Content[0].(*ai.ToolResponsePart).ForModel().Text)
	// Output:
	// d/treasurer {"question":"Pay bob 500?"}
	// The treasurer paid bob 500.
}
