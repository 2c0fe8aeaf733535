package ai_test

import (
	"context"
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/holdpoint/ai"
	"github.com/holdpoint/ai/aitest"
)

func TestGeneratePassesTheRequestOn(t *testing.T) {
	t.Parallel()
	type config struct{ Temperature float64 }
	tools := newLoopTools()
	m := aitest.NewModel(t, aitest.ToolRequests(look("1", "Rome")), aitest.Text("done"))
	set, err := tools.Tools(t.Context(), "pay", "look")
	require.NoError(t, err)
	cfg := &config{0.5}
	_, err = ai.Generate(t.Context(), &tools.Registry, &ai.GenerateOptions{
		Model: m, System: "Be brief.", Prompt: "hi", Tools: set, ToolChoice: ai.ToolChoiceRequired, Config: cfg,
	})
	require.NoError(t, err)
	for _, req := range m.Requests() {
		require.Equal(t, ai.ToolChoiceRequired, req.ToolChoice)
		require.Same(t, cfg, req.Config)
		require.Equal(t, "Be brief.", req.Messages[0].Text())
		require.Equal(t, ai.RoleSystem, req.Messages[0].Role)
		require.Len(t, req.Tools, 2)
		require.Equal(t, "pay", req.Tools[0].Name)
		require.Equal(t, "look", req.Tools[1].Name)
		require.NotEmpty(t, req.Tools[1].InputSchema)
	}
}

func TestGenerateToolsOnOffer(t *testing.T) {
	t.Parallel()
	none, err := ai.NewToolSet()
	require.NoError(t, err)
	tools := newLoopTools()
	ai.DefineTool(&tools.Registry, "work/order", "Order.", func(context.Context, *ai.ToolCall, struct{}) (string, error) { return "ordered", nil })
	for name, tt := range map[string]struct {
		registry *ai.Registry
		tools    *ai.ToolSet
		want     []string
	}{
		"all of the registry": {&tools.Registry, nil, []string{"look", "pay", "print", "order"}},
		"a set without tools": {&tools.Registry, none, nil},
		"no registry":         {nil, nil, nil},
		"an empty registry":   {&ai.Registry{}, nil, nil},
		"a set, no registry":  {nil, must(tools.Tools(t.Context(), "pay")), []string{"pay"}},
		"a full name":         {&tools.Registry, must(tools.Tools(t.Context(), "work/order")), []string{"order"}},
		"a short name":        {&tools.Registry, must(tools.Tools(t.Context(), "order")), []string{"order"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m := aitest.NewModel(t, aitest.Text("done"))
			_, err := ai.Generate(t.Context(), tt.registry, &ai.GenerateOptions{Model: m, Prompt: "hi", Tools: tt.tools})
			require.NoError(t, err)
			var names []string
			for _, def := range m.Requests()[0].Tools {
				names = append(names, def.Name)
			}
			require.Equal(t, tt.want, names)
		})
	}
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

func TestGenerateSystem(t *testing.T) {
	t.Parallel()
	old := ai.TextMessage(ai.RoleSystem, "old")
	for name, tt := range map[string]struct {
		system   string
		messages []*ai.Message
		want     []string
	}{
		"none":                      {"", []*ai.Message{userSays("a")}, []string{"user a"}},
		"new":                       {"new", []*ai.Message{userSays("a")}, []string{"system new", "user a"}},
		"kept":                      {"", []*ai.Message{old, userSays("a")}, []string{"system old", "user a"}},
		"replaced":                  {"new", []*ai.Message{old, userSays("a")}, []string{"system new", "user a"}},
		"a later one is left alone": {"new", []*ai.Message{old, userSays("a"), old}, []string{"system new", "user a", "system old"}},
		"alone":                     {"new", []*ai.Message{old}, []string{"system new"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m := aitest.NewModel(t, aitest.Text("done"))
			resp, err := ai.Generate(t.Context(), nil, &ai.GenerateOptions{Model: m, System: tt.system, Messages: tt.messages})
			require.NoError(t, err)
			require.Equal(t, tt.want, outline(m.Requests()[0].Messages))
			require.Equal(t, append(tt.want, "model done"), outline(resp.Messages))
		})
	}
}

func TestGenerateSystemWhenResumed(t *testing.T) {
	t.Parallel()
	tools := newLoopTools()
	m := aitest.NewModel(t, aitest.ToolRequests(pay("1", 5)), aitest.Text("done"))
	paused, err := ai.Generate(t.Context(), &tools.Registry, &ai.GenerateOptions{Model: m, System: "old", Prompt: "pay"})
	require.NoError(t, err)
	require.Equal(t, "system old", outline(paused.Messages)[0], "resp.Messages begins with the system message")
	_, err = ai.Generate(t.Context(), &tools.Registry, &ai.GenerateOptions{
		Model: m, System: "new", Messages: paused.Messages, Resume: aitest.Approve(t, paused),
	})
	require.NoError(t, err)
	require.Equal(t, []string{"system new", "user pay", "model pay#1?", `tool pay#1="paid 5"`}, outline(m.Requests()[1].Messages))
}

func TestGenerateFinishReasons(t *testing.T) {
	t.Parallel()
	for said, want := range map[ai.FinishReason]ai.FinishReason{
		ai.FinishStop: ai.FinishStop, ai.FinishLength: ai.FinishLength, ai.FinishBlocked: ai.FinishBlocked,
		ai.FinishAborted: ai.FinishAborted, ai.FinishOther: ai.FinishOther, ai.FinishUnknown: ai.FinishUnknown,
		"": ai.FinishUnknown,
	} {
		t.Run("said "+string(said), func(t *testing.T) {
			t.Parallel()
			m := ai.ModelFunc(func(context.Context, *ai.ModelRequest, func(*ai.Chunk) error) (*ai.ModelResponse, error) {
				return &ai.ModelResponse{Message: modelSays(&ai.TextPart{Text: "a"}), FinishReason: said, FinishMessage: "because"}, nil
			})
			resp, err := ai.Generate(t.Context(), nil, &ai.GenerateOptions{Model: m, Prompt: "hi"})
			require.NoError(t, err)
			require.Equal(t, want, resp.FinishReason)
			require.Equal(t, "because", resp.FinishMessage)
		})
	}
}

// A message that was cut off may hold calls that were cut off: none is run, all
// go back to the model.
func TestGenerateLengthRunsNoCall(t *testing.T) {
	t.Parallel()
	tools := newLoopTools()
	m := aitest.NewModel(t,
		&aitest.Reply{FinishReason: ai.FinishLength, Content: ai.Parts{
			look("1", "Rome"), pay("2", 5), aitest.Request("look", "", json.RawMessage(`{"City":"Ro`)), aitest.Request("gone", "4", nil),
			aitest.Request("look", "5", json.RawMessage(`["Rome"]`)),
		}},
		aitest.ToolRequests(look("1", "Rome")),
		aitest.Text("done"),
	)
	resp, err := ai.Generate(t.Context(), &tools.Registry, &ai.GenerateOptions{Model: m, Prompt: "go", MaxTurns: 2})
	require.NoError(t, err)
	require.Equal(t, "done", resp.Text())
	require.EqualValues(t, 1, tools.looked.Load(), "in the second turn")
	require.Zero(t, tools.paid.Load())
	aitest.CheckHistory(t, aitest.Reload(t, resp.Messages))

	requests := resp.Messages[1].ToolRequests()
	require.JSONEq(t, `{}`, string(requests[2].ToolRequest.Input))
	require.JSONEq(t, `{"text":"{\"City\":\"Ro","problem":"text that is not JSON"}`, string(requests[2].Metadata["argumentsError"]))
	require.JSONEq(t, `{}`, string(requests[4].ToolRequest.Input))
	require.JSONEq(t, `{"text":"[\"Rome\"]","problem":"an array"}`, string(requests[4].Metadata["argumentsError"]))
	require.Len(t, resp.Messages[2].Content, 5)
	for i, p := range resp.Messages[2].Content {
		told := p.(*ai.ToolResponsePart)
		require.Equal(t, requests[i].ToolRequest.Ref, told.ToolResponse.Ref)
		require.True(t, told.ForModel().IsError)
		require.Contains(t, told.ForModel().Text, "was not run")
		require.Contains(t, told.ForModel().Text, "Send it again")
	}
}

func TestGenerateBlockedRunsNoCall(t *testing.T) {
	t.Parallel()
	for _, reason := range []ai.FinishReason{ai.FinishBlocked, ai.FinishAborted} {
		t.Run(string(reason), func(t *testing.T) {
			t.Parallel()
			tools := newLoopTools()
			m := aitest.NewModel(t, &aitest.Reply{
				FinishReason: reason, FinishMessage: "unsafe", Content: ai.Parts{&ai.TextPart{Text: "I"}, look("1", "Rome")},
			})
			resp, err := ai.Generate(t.Context(), &tools.Registry, &ai.GenerateOptions{Model: m, Prompt: "go"})
			require.NoError(t, err)
			require.Equal(t, reason, resp.FinishReason)
			require.Equal(t, "unsafe", resp.FinishMessage)
			require.Equal(t, "I", resp.Text())
			require.Zero(t, tools.looked.Load())
			aitest.CheckHistory(t, resp.Messages)
			require.True(t, resp.Messages[2].Content[0].(*ai.ToolResponsePart).ForModel().IsError)
		})
	}
}
