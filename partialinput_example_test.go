package ai_test

import (
	"context"
	"fmt"

	"github.com/holdpoint/ai"
)

// The arguments of a call can be shown while the model still writes them. This
// reader follows one text in them and counts what else is there.
func ExamplePartialInput() {
	var tools ai.Registry
	ai.DefineTool(&tools, "write", "Write a file.", func(context.Context, *ai.ToolCall, struct {
		Path  string
		Tags  []string
		Text  string
		Pages int
	}) (string, error) {
		return "written", nil
	})
	model := cutUp("write", `{"Path":"haiku.txt","Tags":["moon","frog"],"Text":"An old silent pond…","Pages":1}`, 16)

	shown := 0
	for chunk, err := range ai.Stream(context.Background(), &tools, &ai.GenerateOptions{Model: model, Prompt: "Write a haiku."}) {
		if err != nil {
			panic(err)
		}
		event := chunk.Tool
		if event == nil {
			continue
		}
		switch event.Kind {
		case ai.ToolStart:
			fmt.Println("start", event.Name)
		case ai.ToolDelta:
			text, _ := event.Value.Field("Text").Text()
			fmt.Printf("%d tags, text + %q\n", event.Value.Field("Tags").Len(), text[shown:])
			shown = len(text)
		case ai.ToolEnd:
			fmt.Println("end", event.Value.Keys())
		}
	}
	// Output:
	// start write
	// 0 tags, text + ""
	// 1 tags, text + ""
	// 2 tags, text + ""
	// 2 tags, text + "An old silent"
	// 2 tags, text + " pond…"
	// 2 tags, text + ""
	// end [Path Tags Text Pages]
}

// Decode reads all that has come: what has not is left out.
func ExamplePartialInput_Decode() {
	var tools ai.Registry
	model := cutUp("travel", `{"from":"Rome","to":"Oslo","seats":[4,12]}`, 19)
	for chunk, err := range ai.Stream(context.Background(), &tools, &ai.GenerateOptions{
		Model: model, Prompt: "Book.", ReturnToolRequests: true,
	}) {
		if err != nil {
			panic(err)
		}
		if chunk.Tool == nil || chunk.Tool.Kind != ai.ToolDelta {
			continue
		}
		var trip struct {
			From, To string
			Seats    []int
		}
		if err := chunk.Tool.Value.Decode(&trip); err != nil {
			panic(err)
		}
		fmt.Printf("%+v\n", trip)
	}
	// Output:
	// {From:Rome To: Seats:[]}
	// {From:Rome To:Oslo Seats:[4]}
	// {From:Rome To:Oslo Seats:[4 12]}
}
