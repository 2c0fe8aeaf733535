package ai_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/holdpoint/ai"
)

// growing are arguments of about n bytes, and how a reader looks at what grows in them.
var growing = []struct {
	name string
	make func(n int) string
	look func(*ai.PartialInput) int
}{
	{
		"text",
		func(n int) string {
			return `{"path":"a.txt","text":"` + strings.Repeat("All work and no play. ", n/22) + `"}`
		},
		func(p *ai.PartialInput) int { text, _ := p.Field("text").Text(); return len(text) },
	},
	{
		"objects",
		func(n int) string {
			return `{"path":"a.txt","edits":[` + strings.Repeat(`{"line":12,"text":"abc","keep":true},`, n/37) + `{}]}`
		},
		func(p *ai.PartialInput) int {
			edits := p.Field("edits")
			text, _ := edits.Index(edits.Len() - 1).Field("text").Text()
			return edits.Len() + len(text)
		},
	},
}

// BenchmarkStreamedArguments reads arguments through Stream in deltas, one value
// in them read at each, and compares that with one json.Unmarshal of the whole,
// and with a stream of text in pieces of the same size.
func BenchmarkStreamedArguments(b *testing.B) {
	for _, load := range growing {
		for _, size := range []int{10_000, 100_000, 1_000_000, 10_000_000} {
			arguments := load.make(size)
			for _, delta := range []int{20, 1} {
				name := fmt.Sprintf("load=%s/size=%d/delta=%d", load.name, size, delta)
				b.Run(name+"/of=unmarshal", func(b *testing.B) {
					b.ReportAllocs()
					for b.Loop() {
						var v any
						if err := json.Unmarshal([]byte(arguments), &v); err != nil {
							b.Fatal(err)
						}
					}
				})
				for _, kind := range []string{"text", "events"} {
					b.Run(name+"/of="+kind, func(b *testing.B) { benchmarkStream(b, arguments, delta, kind == "events", load.look) })
				}
			}
		}
	}
}

func benchmarkStream(b *testing.B, arguments string, delta int, events bool, look func(*ai.PartialInput) int) {
	req := ai.NewToolRequest("look", "1", arguments)
	model := ai.ModelFunc(func(_ context.Context, _ *ai.ModelRequest, emit func(*ai.Chunk) error) (*ai.ModelResponse, error) {
		if err := emit(event(ai.ToolStart, 0, "1", "look", "")); err != nil {
			return nil, err
		}
		for rest := arguments; rest != ""; {
			piece := rest[:min(delta, len(rest))]
			rest = rest[len(piece):]
			c := &ai.Chunk{Tool: &ai.ToolEvent{Kind: ai.ToolDelta, Delta: piece}}
			if !events {
				c = &ai.Chunk{Content: ai.Parts{&ai.TextPart{Text: piece}}}
			}
			if err := emit(c); err != nil {
				return nil, err
			}
		}
		return says(req), emit(event(ai.ToolEnd, 0, "", "", "", req))
	})
	opts := &ai.GenerateOptions{Model: model, Prompt: "go", ReturnToolRequests: true}
	b.ReportAllocs()
	for b.Loop() {
		seen := 0
		for c, err := range ai.Stream(context.Background(), nil, opts) {
			if err != nil {
				b.Fatal(err)
			}
			if c.Tool != nil {
				seen += look(c.Tool.Value)
			}
		}
		if seen == 0 {
			b.Fatal("nothing was shown")
		}
	}
}
