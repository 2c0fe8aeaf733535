package aitest_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/holdpoint/ai"
	"github.com/holdpoint/ai/aitest"
)

// limitTool asks with a state, and says all it knows once it is resumed.
func limitTool(t *testing.T) *ai.TypedTool[payment, string] {
	t.Helper()
	def := &ai.ToolDefinition{Name: "bank/pay"}
	tool, err := ai.NewTool(def, func(_ context.Context, call *ai.ToolCall, in payment) (string, error) {
		switch {
		case in.Amount < 0:
			return "", errors.New("less than nothing")
		case !call.Resumed():
			return "", call.InterruptWithState(map[string]int{"limit": 10}, map[string]int{"step": 3})
		}
		var resumed struct{ By string }
		var state struct{ Step int }
		var original payment
		_ = call.DecodeResumed(&resumed)
		_ = call.DecodeState(&state)
		_ = call.DecodeOriginalInput(&original)
		return fmt.Sprintf("paid %d of %d, by %q, step %d", in.Amount, original.Amount, resumed.By, state.Step), nil
	})
	require.NoError(t, err)
	return tool
}

func TestCallAsksAndIsResumed(t *testing.T) {
	t.Parallel()
	out, err := aitest.Call(t.Context(), limitTool(t), payment{"bob", 20}, nil)
	require.NoError(t, err)
	require.Nil(t, out.Response)
	require.JSONEq(t, `{"limit":10}`, string(out.Interrupt.Data))
	require.JSONEq(t, `{"to":"bob","amount":20}`, string(out.Interrupt.Effective))
	require.JSONEq(t, `{"step":3}`, string(out.State))

	out, err = aitest.Call(t.Context(), limitTool(t), payment{"bob", 5}, &aitest.CallOptions{
		Resumed: map[string]string{"by": "amy"}, State: out.State, Original: payment{"bob", 20},
	})
	require.NoError(t, err)
	require.Nil(t, out.Interrupt)
	var said string
	require.NoError(t, json.Unmarshal(out.Response.ToolResponse.Output, &said))
	require.Equal(t, `paid 5 of 20, by "amy", step 3`, said)

	out, err = aitest.Call(t.Context(), limitTool(t), payment{"bob", 5}, &aitest.CallOptions{Resumed: true})
	require.NoError(t, err)
	require.Equal(t, `paid 5 of 0, by "", step 0`, out.Response.ForModel().Text)
}

func TestCallFails(t *testing.T) {
	t.Parallel()
	tool := limitTool(t)
	_, err := aitest.Call(t.Context(), tool, payment{"bob", -1}, nil)
	var failed *ai.CallError
	require.ErrorAs(t, err, &failed)
	require.Equal(t, ai.FailedTool, failed.Kind)
	require.EqualError(t, failed.Err, "less than nothing")

	for name, opts := range map[string]*aitest.CallOptions{"first": nil, "resumed": {Resumed: true}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := aitest.Call(t.Context(), tool, map[string]any{"to": 7}, opts)
			var misfit *ai.ArgumentError
			require.ErrorAs(t, err, &misfit)
			require.Equal(t, "bank/pay", misfit.Tool)
		})
	}
}

func TestCallWithoutInput(t *testing.T) {
	t.Parallel()
	tool, err := ai.NewRawTool(&ai.ToolDefinition{Name: "echo"}, func(_ context.Context, call *ai.ToolCall) (*ai.ToolResult, error) {
		return &ai.ToolResult{Output: call.Input}, nil
	})
	require.NoError(t, err)
	out, err := aitest.Call(t.Context(), tool, nil, nil)
	require.NoError(t, err)
	require.Equal(t, json.RawMessage("{}"), out.Response.ToolResponse.Output)
}

func TestCallRefuses(t *testing.T) {
	t.Parallel()
	tool := limitTool(t)
	canceled, cancel := context.WithCancel(t.Context())
	cancel()
	tests := map[string]struct {
		ctx   context.Context
		tool  ai.Tool
		input any
		opts  *aitest.CallOptions
		want  string
	}{
		"no tool":                  {tool: nil, want: "is nil"},
		"input that is no JSON":    {tool: tool, input: func() {}, want: "aitest: input: json: unsupported type: func()"},
		"state of a first call":    {tool: tool, opts: &aitest.CallOptions{State: 1}, want: "aitest: state and original input need Resumed: a first call has neither"},
		"original of a first":      {tool: tool, opts: &aitest.CallOptions{Original: 1}, want: "aitest: state and original input need Resumed: a first call has neither"},
		"original that is no JSON": {tool: tool, opts: &aitest.CallOptions{Resumed: true, Original: func() {}}, want: "aitest: input: json: unsupported type: func()"},
		"state that is no JSON":    {tool: tool, opts: &aitest.CallOptions{Resumed: true, State: func() {}}, want: "ai: metadata.interruptState does not encode as JSON: json: unsupported type: func()"},
		"resume data of no object": {tool: tool, opts: &aitest.CallOptions{Resumed: 7}, want: "ai: resume data of tool request pay#call_1 must be a JSON object, not 7"},
		"context that has ended":   {ctx: canceled, tool: tool, input: payment{"bob", 1}, want: "ai: nothing was started: context canceled"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ctx := tt.ctx
			if ctx == nil {
				ctx = t.Context()
			}
			out, err := aitest.Call(ctx, tt.tool, tt.input, tt.opts)
			require.ErrorContains(t, err, tt.want)
			require.Nil(t, out)
		})
	}
}
