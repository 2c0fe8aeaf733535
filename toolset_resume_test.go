package ai_test

import (
	"context"
	"encoding/json"
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/holdpoint/ai"
	"github.com/holdpoint/ai/aitest"
)

// orderPart is a tool that asks, and whose result has everything a result can have.
func orderPart(t *testing.T, name string) ai.Tool {
	t.Helper()
	tool, err := ai.NewMultipartTool(&ai.ToolDefinition{Name: name}, func(_ context.Context, call *ai.ToolCall, in partInput) (*ai.MultipartResult[string], error) {
		if !call.Resumed() {
			return nil, call.Interrupt("CONFIRM_ORDER")
		}
		return &ai.MultipartResult[string]{
			Output:   call.Name + " ordered " + in.Part,
			Content:  ai.Parts{&ai.MediaPart{Media: ai.Media{ContentType: "image/png", URL: "data:image/png;base64,AA=="}}},
			Metadata: ai.Metadata{"invoice": json.RawMessage(`9007199254740993`)},
		}, nil
	})
	require.NoError(t, err)
	return tool
}

// A tool that is registered under a longer name than the model uses asks, and is
// found again by the answer, whatever else is on offer by then.
func TestNamespacedToolIsResumed(t *testing.T) {
	t.Parallel()
	const full = "work-orders/order_part"
	joined := map[string][]string{
		"alone": {full}, "with a bare one": {"order_part", full}, "with another": {"garage/order_part", full, "pay"},
		"with one of its derived name": {full, "garage/order_part", "work-orders__order_part"},
	}
	tests := map[string]struct {
		before []string
		called string
	}{
		"by its short name":   {[]string{full}, "order_part"},
		"by its full name":    {[]string{full}, full},
		"by its derived name": {[]string{full, "garage/order_part"}, "work-orders__order_part"},
		"by its hashed name":  {[]string{full, "garage/order_part", "work-orders__order_part"}, "work-orders__order_part_e6ba4ef0"},
	}
	setOf := func(t *testing.T, names []string) *ai.ToolSet {
		var tools []ai.Tool
		for _, name := range names {
			tools = append(tools, orderPart(t, name))
		}
		return newSet(t, tools...)
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			paused := pause(t, setOf(t, test.before), nil, wish(test.called, "call_1", `{"part":"belt"}`))
			req := paused.ToolRequests()[0]
			require.Equal(t, test.called, req.ToolRequest.Name, "what the model said stays")
			if test.called == full {
				require.NotContains(t, req.Metadata, "originalName")
			} else {
				require.JSONEq(t, `"`+full+`"`, string(req.Metadata["originalName"]))
			}
			for name, after := range joined {
				res, err := resume(t, setOf(t, after), paused, restarts(yes(t, req)), nil)
				require.NoError(t, err, name)
				require.JSONEq(t, `{"role":"tool","metadata":{"resumed":true},"content":[{
					"toolResponse":{"name":"`+test.called+`","ref":"call_1","output":"work-orders/order_part ordered belt",
						"content":[{"media":{"contentType":"image/png","url":"data:image/png;base64,AA=="}}]},
					"metadata":{"invoice":9007199254740993}}]}`, jsonOf(t, res.Tool), name)
				require.Contains(t, jsonOf(t, res.Tool), "9007199254740993")
			}
			_, err := resume(t, setOf(t, []string{"order_part", "garage/order_part"}), paused, restarts(yes(t, req)), nil)
			if test.called == full || test.called == "order_part" {
				require.ErrorContains(t, err, `"work-orders/order_part"`, "it is gone, and no other steps in")
			}
			require.ErrorIs(t, err, ai.ErrNotFound)
		})
	}
}

// The same through Generate, beside a call that has its result already.
func TestNamespacedToolIsResumedByGenerate(t *testing.T) {
	t.Parallel()
	r := registryOf(t, orderPart(t, "work-orders/order_part"))
	ai.DefineTool(r, "stock/count", "", func(context.Context, *ai.ToolCall, any) (int, error) { return 3, nil })
	m := aitest.NewModel(t, aitest.ToolRequests(wish("count", "1", ""), wish("order_part", "2", `{"part":"belt"}`)), aitest.Text("done"))
	resp, err := ai.Generate(t.Context(), r, &ai.GenerateOptions{Model: m, Prompt: "go"})
	require.NoError(t, err)
	require.Equal(t, ai.FinishInterrupted, resp.FinishReason)
	require.JSONEq(t, `"CONFIRM_ORDER"`, string(resp.Interrupts()[0].Data))
	resp, err = ai.Generate(t.Context(), r, &ai.GenerateOptions{Model: m, Messages: aitest.Reload(t, resp.Messages), Resume: aitest.Approve(t, resp)})
	require.NoError(t, err)
	require.Equal(t, []string{
		"user go", "model count#1?", "model order_part#2?", "tool count#1=3", `tool order_part#2="work-orders/order_part ordered belt"`, "model done",
	}, outline(resp.Messages))
	answer, ok := resp.Messages[2].Content[1].(*ai.ToolResponsePart)
	require.True(t, ok)
	require.Len(t, answer.ToolResponse.Content, 1)
	require.Equal(t, `9007199254740993`, string(answer.Metadata["invoice"]))
}

// Every call of an unfinished turn keeps the tool it was about, run or not, so
// that a tool which takes over the short name later does not take over the call.
func TestOpenCallsKeepTheirTool(t *testing.T) {
	t.Parallel()
	tools := func(broken bool) []ai.Tool {
		return []ai.Tool{
			orderPart(t, "shop/order"),
			newRaw(t, &ai.ToolDefinition{Name: "shop/look"}, sayName),
			newRaw(t, &ai.ToolDefinition{Name: "shop/fail"}, func(ctx context.Context, call *ai.ToolCall) (*ai.ToolResult, error) {
				if broken {
					return nil, errors.New("broken")
				}
				return sayName(ctx, call)
			}),
		}
	}
	later := append(tools(false), named(t, "order", "look", "fail")...)
	requests := []ai.Part{wish("order", "1", `{"part":"belt"}`), wish("look", "2", ""), wish("fail", "3", "")}
	originals := func(m *ai.Message) []string {
		var names []string
		for _, req := range m.ToolRequests() {
			names = append(names, string(req.Metadata["originalName"]))
		}
		return names
	}
	all := []string{`"shop/order"`, `"shop/look"`, `"shop/fail"`}
	want := []string{`"shop/order ordered belt"`, `"shop/look"`, `"shop/fail"`}

	t.Run("side by side", func(t *testing.T) {
		t.Parallel()
		_, err := ai.Resolve(t.Context(), newSet(t, tools(true)...), modelSays(requests...), nil)
		_, m := failed(t, err)
		require.Equal(t, all, originals(m))
		res, err := resume(t, newSet(t, later...), m, restarts(yes(t, m.ToolRequests()[0]), yes(t, m.ToolRequests()[2])), nil)
		require.NoError(t, err)
		require.Equal(t, want, outputsOf(t, res.Tool))
	})
	t.Run("one after the other", func(t *testing.T) {
		t.Parallel()
		m := pause(t, newSet(t, tools(false)...), &ai.ResolveOptions{Sequential: true}, requests...)
		require.JSONEq(t, `true`, string(m.ToolRequests()[1].Metadata["notStarted"]))
		require.Equal(t, all, originals(m))
		res, err := resume(t, newSet(t, later...), m, restarts(yes(t, m.ToolRequests()[0])), nil)
		require.NoError(t, err)
		require.Equal(t, want, outputsOf(t, res.Tool))
	})
	t.Run("cancelled", func(t *testing.T) {
		t.Parallel()
		ctx, cancel := context.WithCancel(t.Context())
		stop := newRaw(t, &ai.ToolDefinition{Name: "shop/order", Exclusive: true, ReadOnly: true}, func(context.Context, *ai.ToolCall) (*ai.ToolResult, error) {
			cancel()
			return &ai.ToolResult{Output: json.RawMessage(`"stopped"`)}, nil
		})
		_, err := ai.Resolve(ctx, newSet(t, stop, tools(false)[1], tools(false)[2]), modelSays(requests...), nil)
		_, m := failed(t, err)
		require.JSONEq(t, `true`, string(m.ToolRequests()[1].Metadata["notStarted"]))
		require.Equal(t, all, originals(m))
		res, err := resume(t, newSet(t, later...), m, nil, nil)
		require.NoError(t, err)
		require.Equal(t, []string{`"stopped"`, `"shop/look"`, `"shop/fail"`}, outputsOf(t, res.Tool))
	})
}

// A typed tool answers its own calls, under whatever name a set offered it.
func TestTypedAnswersByAnyName(t *testing.T) {
	t.Parallel()
	tool, err := ai.NewTool(&ai.ToolDefinition{Name: "work-orders/order_part"}, noop[partInput, string])
	require.NoError(t, err)
	asked := func(req *ai.ToolRequestPart) *ai.ToolRequestPart {
		if req.Metadata == nil {
			req.Metadata = ai.Metadata{}
		}
		req.Metadata["interrupt"] = json.RawMessage(`true`)
		return req
	}
	for _, req := range []*ai.ToolRequestPart{
		wish("order_part", "1", ""), wish("work-orders/order_part", "1", ""), wish("work-orders__order_part", "1", ""),
		wish("work-orders__order_part_e6ba4ef0", "1", ""), recorded("order_part", `"work-orders/order_part"`),
	} {
		restart, err := tool.Restart(asked(req), nil)
		require.NoError(t, err)
		require.Equal(t, req.ToolRequest.Name, restart.ToolRequest.Name)
		_, err = tool.Respond(asked(req), "ordered")
		require.NoError(t, err)
	}
	for _, req := range []*ai.ToolRequestPart{
		nil, wish("order", "1", ""), wish("orders/order_part", "1", ""), recorded("order_part", `"garage/order_part"`), recorded("order_part", `7`),
	} {
		_, err := tool.Restart(req, nil)
		require.ErrorIs(t, err, ai.ErrInvalidArgument)
		_, err = tool.Respond(req, "ordered")
		require.ErrorIs(t, err, ai.ErrInvalidArgument)
	}
}

// Requests that are handed out unrun keep the full name of their tool: by then
// the short one may mean another.
func TestReturnedRequestsKeepTheFullName(t *testing.T) {
	t.Parallel()
	var r ai.Registry
	ai.DefineTool(&r, "work-orders/order_part", "Orders.", func(context.Context, *ai.ToolCall, struct{}) (string, error) { return "", nil })
	model := aitest.NewModel(t, aitest.ToolRequests(aitest.Request("order_part", "a", map[string]any{}), aitest.Request("nobody", "b", map[string]any{})))
	resp, err := ai.Generate(t.Context(), &r, &ai.GenerateOptions{Model: model, Prompt: "go", ReturnToolRequests: true})
	require.NoError(t, err)
	requests := resp.Message.ToolRequests()
	require.JSONEq(t, `"work-orders/order_part"`, string(requests[0].Metadata["originalName"]))
	require.Empty(t, requests[1].Metadata)
	require.Same(t, resp.Message, resp.Messages[len(resp.Messages)-1])
}
