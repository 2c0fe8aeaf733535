package anthropic_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"

	sdk "github.com/anthropics/anthropic-sdk-go/v2"
	"github.com/anthropics/anthropic-sdk-go/v2/option"

	"github.com/holdpoint/ai"
	"github.com/holdpoint/ai/plugins/anthropic"
)

// provider stands for the API.
func provider() *httptest.Server {
	replies := []string{
		`{"id":"msg_1","role":"assistant","content":[{"type":"tool_use","id":"toolu_1","name":"stock","input":{"part":"M8"}}],"stop_reason":"tool_use"}`,
		`{"id":"msg_2","role":"assistant","content":[{"type":"text","text":"There are 12."}],"stop_reason":"end_turn"}`,
	}
	return httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, replies[0])
		replies = replies[1:]
	}))
}

func Example() {
	api := provider()
	defer api.Close()

	var tools ai.Registry
	type query struct {
		Part string `json:"part"`
	}
	ai.DefineTool(&tools, "stock", "How many of a part there are.",
		func(context.Context, *ai.ToolCall, query) (int, error) { return 12, nil })

	model := anthropic.New("claude-sonnet-5", &anthropic.Options{
		// Without these the SDK looks for a key in the environment.
		Client: []option.RequestOption{option.WithBaseURL(api.URL), option.WithAPIKey("key")},
	})
	resp, err := ai.Generate(context.Background(), &tools, &ai.GenerateOptions{
		Model:  model,
		Prompt: "How many M8 do we have?",
		Config: &anthropic.Config{
			Params: sdk.MessageNewParams{MaxTokens: 1000},
			Betas:  []string{"context-management-2025-06-27"},
		},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(resp.Text())
	// Output: There are 12.
}
