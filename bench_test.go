package ai_test

import (
	"context"
	"encoding/json"
	"fmt"
	"sync"
	"testing"

	"github.com/holdpoint/ai"
)

// The tool of the benchmarks.
type (
	weatherInput  struct{ City string }
	weatherOutput struct{ TempC int }
)

func weather(_ context.Context, _ *ai.ToolCall, in weatherInput) (weatherOutput, error) {
	return weatherOutput{TempC: len(in.City)}, nil
}

func weatherSet(b *testing.B) *ai.ToolSet {
	b.Helper()
	var r ai.Registry
	ai.DefineTool(&r, "getWeather", "Weather of a city.", weather)
	set, err := r.AllTools(b.Context())
	if err != nil {
		b.Fatal(err)
	}
	return set
}

func weatherMessage(n int) *ai.Message {
	m := &ai.Message{Role: ai.RoleModel}
	for i := range n {
		m.Content = append(m.Content, &ai.ToolRequestPart{ToolRequest: ai.ToolRequest{
			Name: "getWeather", Ref: fmt.Sprint("call_", i), Input: json.RawMessage(`{"City":"Paris"}`),
		}})
	}
	return m
}

// bareFloor is the yardstick: a program that does nothing but decode each
// input, run the functions side by side and encode each output. One call runs
// inline; of several, all but one have a goroutine.
func bareFloor(ctx context.Context, m *ai.Message, inline bool) ([]json.RawMessage, error) {
	out := make([]json.RawMessage, len(m.Content))
	errs := make([]error, len(m.Content))
	one := func(i int) {
		var in weatherInput
		if errs[i] = json.Unmarshal(m.Content[i].(*ai.ToolRequestPart).ToolRequest.Input, &in); errs[i] != nil {
			return
		}
		var res weatherOutput
		if res, errs[i] = weather(ctx, nil, in); errs[i] != nil {
			return
		}
		out[i], errs[i] = json.Marshal(res)
	}
	var wg sync.WaitGroup
	for i := range m.Content {
		if inline && i == len(m.Content)-1 {
			one(i)
			break
		}
		wg.Go(func() { one(i) })
	}
	wg.Wait()
	for _, err := range errs {
		if err != nil {
			return nil, err
		}
	}
	return out, nil
}

// BenchmarkTurn compares a turn of n typed calls, arguments and outputs
// validated, with the bare floor of the same kind.
func BenchmarkTurn(b *testing.B) {
	cancelable, cancel := context.WithCancel(context.Background())
	b.Cleanup(cancel)
	for _, n := range []int{1, 8, 64} {
		m := weatherMessage(n)
		for _, kind := range []struct {
			name string
			ctx  context.Context
		}{{"background", context.Background()}, {"cancelable", cancelable}} {
			b.Run(fmt.Sprintf("n=%d/ctx=%s/of=floor", n, kind.name), func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					if _, err := bareFloor(kind.ctx, m, kind.ctx.Done() == nil); err != nil {
						b.Fatal(err)
					}
				}
			})
			b.Run(fmt.Sprintf("n=%d/ctx=%s/of=resolve", n, kind.name), func(b *testing.B) {
				set := weatherSet(b)
				b.ReportAllocs()
				for b.Loop() {
					res, err := ai.Resolve(kind.ctx, set, m, nil)
					if err != nil || res.Tool == nil {
						b.Fatal(res, err)
					}
				}
			})
		}
	}
}

// BenchmarkPauseRestart is a call that asks, and the restart that answers it.
func BenchmarkPauseRestart(b *testing.B) {
	var r ai.Registry
	pay := ai.DefineTool(&r, "pay", "Pay.", func(_ context.Context, call *ai.ToolCall, in amountInput) (string, error) {
		if !call.Resumed() {
			return "", call.Interrupt(confirmation{"confirm"})
		}
		return "paid", nil
	})
	set, err := r.AllTools(b.Context())
	if err != nil {
		b.Fatal(err)
	}
	m := &ai.Message{Role: ai.RoleModel, Content: ai.Parts{&ai.ToolRequestPart{ToolRequest: ai.ToolRequest{
		Name: "pay", Ref: "call_1", Input: json.RawMessage(`{"Amount":5}`),
	}}}}
	b.ReportAllocs()
	for b.Loop() {
		res, err := ai.Resolve(context.Background(), set, m, nil)
		if err != nil {
			b.Fatal(err)
		}
		answer, err := pay.Restart(res.Interrupts()[0].Request, nil)
		if err != nil {
			b.Fatal(err)
		}
		res, err = ai.Resume(context.Background(), set, res.Model, &ai.Answers{Restart: []*ai.ToolRequestPart{answer}}, nil)
		if err != nil || res.Tool == nil {
			b.Fatal(res, err)
		}
	}
}

// BenchmarkGenerate is a conversation with one round of n tool calls.
func BenchmarkGenerate(b *testing.B) {
	for _, n := range []int{1, 8, 64} {
		b.Run(fmt.Sprintf("n=%d", n), func(b *testing.B) {
			calls := weatherMessage(n)
			model := ai.ModelFunc(func(_ context.Context, req *ai.ModelRequest, _ func(*ai.Chunk) error) (*ai.ModelResponse, error) {
				if req.Messages[len(req.Messages)-1].Role == ai.RoleUser {
					return &ai.ModelResponse{Message: calls}, nil
				}
				return &ai.ModelResponse{Message: ai.TextMessage(ai.RoleModel, "done")}, nil
			})
			opts := &ai.GenerateOptions{Model: model, Prompt: "hi", Tools: weatherSet(b)}
			b.ReportAllocs()
			for b.Loop() {
				if _, err := ai.Generate(context.Background(), nil, opts); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
