package ai_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/holdpoint/ai"
)

// A turn with a call that stops to ask: the revised message holds all there is
// to know, and goes anywhere as JSON until somebody answers.
func ExampleResolve() {
	ctx := context.Background()
	var tools ai.Registry
	ai.DefineTool(&tools, "balance", "Balance of an account.",
		func(context.Context, *ai.ToolCall, struct{ Account string }) (int, error) { return 120, nil })
	ai.DefineTool(&tools, "pay", "Pay somebody.",
		func(_ context.Context, call *ai.ToolCall, in struct {
			To     string
			Amount int
		}) (string, error) {
			if !call.Resumed() {
				return "", call.Interrupt(map[string]string{"question": fmt.Sprintf("Pay %d to %s?", in.Amount, in.To)})
			}
			return fmt.Sprintf("paid %d to %s", in.Amount, in.To), nil
		})
	set, err := tools.AllTools(ctx)
	if err != nil {
		panic(err)
	}

	var said ai.Message
	if err := json.Unmarshal([]byte(`{"role":"model","content":[
		{"toolRequest":{"name":"balance","ref":"1","input":{"Account":"main"}}},
		{"toolRequest":{"name":"pay","ref":"2","input":{"To":"bob","Amount":20}}}]}`), &said); err != nil {
		panic(err)
	}
	turn, err := ai.Resolve(ctx, set, &said, nil)
	if err != nil {
		panic(err)
	}
	fmt.Println("finished:", turn.Tool != nil)
	question := turn.Interrupts()[0]
	fmt.Println(string(question.Data))

	yes, err := ai.Restart(question.Request, nil)
	if err != nil {
		panic(err)
	}
	turn, err = ai.Resume(ctx, set, turn.Model, &ai.Answers{Restart: []*ai.ToolRequestPart{yes}}, nil)
	if err != nil {
		panic(err)
	}
	for _, p := range turn.Tool.Content {
		fmt.Println(string(p.(*ai.ToolResponsePart).ToolResponse.Output))
	}
	// Output:
	// finished: false
	// {"question":"Pay 20 to bob?"}
	// 120
	// "paid 20 to bob"
}

// Middleware around every call: one that changes arguments before anything
// else happens, and one that refuses.
func ExampleMiddleware() {
	ctx := context.Background()
	var files ai.Registry
	ai.DefineTool(&files, "delete", "Delete a file.",
		func(_ context.Context, _ *ai.ToolCall, in struct{ Path string }) (string, error) {
			return "deleted " + in.Path, nil
		})
	rooted := &ai.Middleware{
		Name: "rooted",
		Rewrite: func(_ context.Context, call *ai.ToolCall) (json.RawMessage, error) {
			var in struct{ Path string }
			if err := json.Unmarshal(call.Input, &in); err != nil {
				return nil, err
			}
			in.Path = "/srv/" + strings.TrimPrefix(in.Path, "/")
			return json.Marshal(in)
		},
	}
	keeper := &ai.Middleware{
		Name: "keeper",
		Wrap: func(ctx context.Context, call *ai.ToolCall, next ai.Next) (*ai.ToolResult, error) {
			if strings.Contains(string(call.Input), "/srv/keep/") {
				return ai.DeniedResult("this folder stays"), nil
			}
			return next(ctx)
		},
	}
	if err := files.Use(rooted, keeper); err != nil {
		panic(err)
	}
	set, err := files.AllTools(ctx)
	if err != nil {
		panic(err)
	}
	turn, err := ai.Resolve(ctx, set, &ai.Message{Role: ai.RoleModel, Content: ai.Parts{
		&ai.ToolRequestPart{ToolRequest: ai.ToolRequest{Name: "delete", Ref: "1", Input: json.RawMessage(`{"Path":"tmp/a"}`)}},
		&ai.ToolRequestPart{ToolRequest: ai.ToolRequest{Name: "delete", Ref: "2", Input: json.RawMessage(`{"Path":"keep/b"}`)}},
	}}, nil)
	if err != nil {
		panic(err)
	}
	for _, p := range turn.Tool.Content {
		fmt.Println(p.(*ai.ToolResponsePart).ForModel().Text)
	}
	// Output:
	// deleted /srv/tmp/a
	// Denied: this folder stays
}

// With ReportErrors the model is told of errors, and the turn goes on, unless
// nobody knows whether a call has had its effect.
func ExampleReportErrors() {
	ctx := context.Background()
	var tools ai.Registry
	ai.DefineTool(&tools, "weather", "Weather of a city.",
		func(context.Context, *ai.ToolCall, struct{ City string }) (string, error) {
			return "", errors.New("no such city")
		})
	ai.DefineTool(&tools, "pay", "Pay somebody.",
		func(context.Context, *ai.ToolCall, struct{}) (string, error) {
			return "", fmt.Errorf("no answer from the bank: %w", context.DeadlineExceeded)
		})
	set, err := tools.AllTools(ctx)
	if err != nil {
		panic(err)
	}
	opts := &ai.ResolveOptions{OnError: ai.ReportErrors}
	weather := &ai.ToolRequestPart{ToolRequest: ai.ToolRequest{Name: "weather", Ref: "1", Input: json.RawMessage(`{"City":"Atlantis"}`)}}
	pay := &ai.ToolRequestPart{ToolRequest: ai.ToolRequest{Name: "pay", Ref: "2"}}

	turn, err := ai.Resolve(ctx, set, &ai.Message{Role: ai.RoleModel, Content: ai.Parts{weather}}, opts)
	if err != nil {
		panic(err)
	}
	told := turn.Tool.Content[0].(*ai.ToolResponsePart).ForModel()
	fmt.Println(told.IsError, told.Text)

	_, err = ai.Resolve(ctx, set, &ai.Message{Role: ai.RoleModel, Content: ai.Parts{weather, pay}}, opts)
	var failed *ai.TurnError
	if errors.As(err, &failed) {
		fmt.Println(failed.Calls[0].Name, "in doubt:", failed.Calls[0].InDoubt)
	}
	// Output:
	// true no such city
	// pay in doubt: true
}
