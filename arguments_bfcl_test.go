package ai_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/holdpoint/ai"
	"github.com/holdpoint/ai/aitest"
)

// bfclMisfits are the calls that don't fit the schema they come with, and what
// the model is told of them. Those that fit once they are coerced have no text.
var bfclMisfits = map[string]string{
	"parallel_88":                  `missing property "initial_velocity"`,
	"parallel_multiple_94":         `elements.0: expected an integer, got string "apple"`,
	"simple_python_200":            `missing property "fuel_efficiency"`,
	"live_simple_106-63-0":         `missing property "auto_loan_payment_start"`,
	"live_simple_112-68-0":         `missing property "acc_routing_start"`,
	"live_multiple_68-29-0":        `missing property "port"`,
	"live_multiple_114-44-1":       `missing property "port"`,
	"live_multiple_144-56-0":       `missing property "perPage"`,
	"live_multiple_152-58-6":       `metrics: expected one of "temperature", "humidity", "co2", "battery", "noise" or "pm2.5", got array ["temperature","humidity"]`,
	"live_multiple_552-153-1":      `is_unisex: expected a string, got boolean true`,
	"live_multiple_596-158-2":      "", // number_of_rooms: 1 becomes the member "1"
	"live_multiple_750-169-5":      `genre: expected one of "World", "Fantasy", "Offbeat", "Mystery", "Musical", `,
	"live_multiple_756-169-11":     `genre: expected one of "World", "Fantasy", "Offbeat", "Mystery", "Musical", `,
	"live_multiple_834-178-9":      `missing property "track"`,
	"live_multiple_906-186-3":      `missing property "number_of_adults"`,
	"live_multiple_964-207-0":      `missing property "statement"`,
	"live_multiple_1038-265-0":     "", // start_date: null is left out
	"live_parallel_multiple_2-2-0": `command: expected one of "거실, 에어컨, 실행"`,
}

// Real tool lists, registered and offered as they are: each call reaches its
// tool under the name that the model saw, with exactly the arguments given.
func TestRealToolLists(t *testing.T) {
	t.Parallel()
	cases := readBFCL(t)
	var fit, told, coerced atomic.Int64
	t.Run("cases", func(t *testing.T) {
		for _, c := range cases {
			t.Run(c.ID, func(t *testing.T) {
				t.Parallel()
				got, answers := c.generate(t)
				if want, ok := bfclMisfits[c.ID]; ok {
					c.checkMisfits(t, got, answers, want, &fit, &told, &coerced)
					return
				}
				for i, call := range c.Calls {
					requireAsGiven(t, got[fmt.Sprint(i)], call)
				}
				fit.Add(int64(len(c.Calls)))
			})
		}
	})
	require.EqualValues(t, 1551, fit.Load())
	require.EqualValues(t, len(bfclMisfits), told.Load()+coerced.Load())
	t.Logf("%d calls fit, %d end in an error that the model reads, %d are coerced", fit.Load(), told.Load(), coerced.Load())
}

func requireAsGiven(t *testing.T, got *received, call *bfclCall) {
	t.Helper()
	require.NotNil(t, got, "the tool did not run")
	require.Equal(t, call.Name, got.name)
	require.Equal(t, exactly(t, call.Arguments), exactly(t, got.input))
	require.Empty(t, got.changes)
}

// generate has a model make the calls of a case. It returns what the tools got
// and the answers that the model read, by the number of the call.
func (c *bfclCase) generate(t *testing.T) (map[string]*received, *ai.Message) {
	t.Helper()
	var mu sync.Mutex
	got := make(map[string]*received)
	var r ai.Registry
	for _, tool := range c.Tools {
		require.NoError(t, r.Register(newRaw(t, tool.definition(), func(_ context.Context, call *ai.ToolCall) (*ai.ToolResult, error) {
			mu.Lock()
			defer mu.Unlock()
			got[call.Ref] = &received{call.Name, call.Ref, call.Input, call.Changes}
			return &ai.ToolResult{Output: []byte(`"done"`)}, nil
		})))
	}
	model := aitest.NewModelFunc(t, func(_ context.Context, req *ai.ModelRequest) *aitest.Reply {
		if len(req.Messages) > 1 {
			return aitest.Text("done")
		}
		return &aitest.Reply{Content: c.requests(t, req.Tools)}
	})
	resp, err := ai.Generate(t.Context(), &r, &ai.GenerateOptions{Model: model, Prompt: "go"})
	require.NoError(t, err)
	require.Len(t, resp.Messages, 4)
	return got, resp.Messages[2]
}

// requests are the calls of a case under the names that the model is given.
func (c *bfclCase) requests(t *testing.T, offered []*ai.ToolDefinition) ai.Parts {
	t.Helper()
	names := make(map[string]string)
	for _, def := range offered {
		original := def.Name
		_, err := def.Metadata.Decode("originalName", &original)
		require.NoError(t, err)
		names[original] = def.Name
	}
	require.Len(t, names, len(c.Tools), "every tool is on offer")
	var parts ai.Parts
	for i, call := range c.Calls {
		require.NotEmpty(t, names[call.Name])
		parts = append(parts, ai.NewToolRequest(names[call.Name], fmt.Sprint(i), string(call.Arguments)))
	}
	return parts
}

// checkMisfits checks a case one of whose calls does not fit its schema.
func (c *bfclCase) checkMisfits(t *testing.T, got map[string]*received, answers *ai.Message, want string, fit, told, coerced *atomic.Int64) {
	t.Helper()
	misfits := 0
	for i, call := range c.Calls {
		ref := fmt.Sprint(i)
		if c.tool(t, call).fits(t, call.Arguments) {
			requireAsGiven(t, got[ref], call)
			fit.Add(1)
			continue
		}
		misfits++
		answer := responseOf(t, answers, ref).ForModel()
		if want == "" {
			require.False(t, answer.IsError, answer.Text)
			require.NotEmpty(t, got[ref].changes)
			require.Equal(t, exactly(t, got[ref].input), exactly(t, replay(t, call.Arguments, got[ref].changes)))
			coerced.Add(1)
			continue
		}
		require.True(t, answer.IsError)
		require.Nil(t, got[ref], "the tool ran")
		text, ok := strings.CutPrefix(answer.Text, "The arguments of "+call.Name+" do not fit:")
		require.True(t, ok, answer.Text)
		require.Contains(t, text, want)
		told.Add(1)
	}
	require.Equal(t, 1, misfits)
}
