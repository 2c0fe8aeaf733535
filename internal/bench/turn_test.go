package bench

import (
	"context"
	"encoding/json"
	"fmt"
	"sync"
	"testing"

	"github.com/cloudwego/eino/components/tool"
	"github.com/cloudwego/eino/components/tool/utils"
	"github.com/cloudwego/eino/compose"
	"github.com/cloudwego/eino/schema"
	"github.com/stretchr/testify/require"

	"github.com/holdpoint/ai"
)

type (
	weatherInput  struct{ City string }
	weatherOutput struct{ TempC int }
)

const (
	toolName  = "getWeather"
	arguments = `{"City":"Paris"}`
)

func weather(in weatherInput) weatherOutput { return weatherOutput{TempC: len(in.City)} }

// BenchmarkTurn runs n calls of one typed tool: the bare floor (decode, run side
// by side, encode), this library with arguments and outputs validated, and
// Eino's tools node, which validates neither.
func BenchmarkTurn(b *testing.B) {
	cancelable, cancel := context.WithCancel(context.Background())
	b.Cleanup(cancel)
	for _, n := range []int{1, 8, 64} {
		for _, kind := range []struct {
			name string
			ctx  context.Context
		}{{"background", context.Background()}, {"cancelable", cancelable}} {
			for _, of := range []struct {
				name string
				make func(testing.TB, context.Context, int) func() int
			}{{"floor", floorTurn}, {"holdpoint", holdpointTurn}, {"eino", einoTurn}} {
				b.Run(fmt.Sprintf("n=%d/ctx=%s/of=%s", n, kind.name, of.name), func(b *testing.B) {
					turn := of.make(b, kind.ctx, n)
					require.Equal(b, n, turn())
					b.ReportAllocs()
					for b.Loop() {
						turn()
					}
				})
			}
		}
	}
}

func TestTurnsAnswerEveryCall(t *testing.T) {
	t.Parallel()
	for name, make := range map[string]func(testing.TB, context.Context, int) func() int{
		"floor": floorTurn, "holdpoint": holdpointTurn, "eino": einoTurn,
	} {
		require.Equal(t, 8, make(t, t.Context(), 8)(), name)
	}
}

// floorTurn runs a single call inline where its context can't end, and of
// several all but one in goroutines.
func floorTurn(b testing.TB, ctx context.Context, n int) func() int {
	inline := ctx.Done() == nil
	return func() int {
		out := make([]json.RawMessage, n)
		one := func(i int) {
			var in weatherInput
			if err := json.Unmarshal([]byte(arguments), &in); err != nil {
				b.Error(err)
			}
			var err error
			if out[i], err = json.Marshal(weather(in)); err != nil {
				b.Error(err)
			}
		}
		var wg sync.WaitGroup
		for i := range n {
			if inline && i == n-1 {
				one(i)
				break
			}
			wg.Go(func() { one(i) })
		}
		wg.Wait()
		return len(out)
	}
}

func holdpointTurn(b testing.TB, ctx context.Context, n int) func() int {
	t, err := ai.NewTool(&ai.ToolDefinition{Name: toolName, Description: "Weather of a city."},
		func(_ context.Context, _ *ai.ToolCall, in weatherInput) (weatherOutput, error) {
			return weather(in), nil
		})
	require.NoError(b, err)
	set, err := ai.NewToolSet(t)
	require.NoError(b, err)
	m := &ai.Message{Role: ai.RoleModel}
	for i := range n {
		m.Content = append(m.Content, &ai.ToolRequestPart{ToolRequest: ai.ToolRequest{
			Name: toolName, Ref: fmt.Sprint("call_", i), Input: json.RawMessage(arguments),
		}})
	}
	return func() int {
		res, err := ai.Resolve(ctx, set, m, nil)
		if err != nil {
			b.Error(err)
			return 0
		}
		return len(res.Tool.Content)
	}
}

func einoTurn(b testing.TB, ctx context.Context, n int) func() int {
	t, err := utils.InferTool(toolName, "Weather of a city.",
		func(_ context.Context, in weatherInput) (weatherOutput, error) { return weather(in), nil })
	require.NoError(b, err)
	node, err := compose.NewToolNode(ctx, &compose.ToolsNodeConfig{Tools: []tool.BaseTool{t}})
	require.NoError(b, err)
	calls := make([]schema.ToolCall, n)
	for i := range calls {
		calls[i] = schema.ToolCall{ID: fmt.Sprint("call_", i), Function: schema.FunctionCall{Name: toolName, Arguments: arguments}}
	}
	m := schema.AssistantMessage("", calls)
	return func() int {
		out, err := node.Invoke(ctx, m)
		if err != nil {
			b.Error(err)
		}
		return len(out)
	}
}
