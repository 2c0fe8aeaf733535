package aitest_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/holdpoint/ai"
	"github.com/holdpoint/ai/aitest"
)

func ask(text string) *ai.ModelRequest {
	return &ai.ModelRequest{Messages: []*ai.Message{ai.TextMessage(ai.RoleUser, text)}}
}

func TestModelGivesItsRepliesInOrder(t *testing.T) {
	t.Parallel()
	tooMany := errors.New("429 too many requests")
	m := aitest.NewModel(t,
		aitest.Text("one"),
		aitest.ToolRequests(aitest.Request("pay", "1", map[string]any{"to": "<b>"}), aitest.Request("look", "", nil)),
		aitest.Fail(tooMany),
		&aitest.Reply{
			Content:      ai.Parts{&ai.ReasoningPart{Reasoning: "hm"}},
			FinishReason: ai.FinishLength, FinishMessage: "too long", Usage: ai.Usage{InputTokens: 3},
		},
	)
	resp, err := m.Generate(t.Context(), ask("a"), nil)
	require.NoError(t, err)
	require.Equal(t, &ai.ModelResponse{Message: ai.TextMessage(ai.RoleModel, "one"), FinishReason: ai.FinishStop}, resp)

	resp, err = m.Generate(t.Context(), ask("b"), nil)
	require.NoError(t, err)
	require.Equal(t, ai.Parts{
		&ai.ToolRequestPart{ToolRequest: ai.ToolRequest{Name: "pay", Ref: "1", Input: json.RawMessage(`{"to":"<b>"}`)}},
		&ai.ToolRequestPart{ToolRequest: ai.ToolRequest{Name: "look"}},
	}, resp.Message.Content)

	_, err = m.Generate(t.Context(), ask("c"), nil)
	require.ErrorIs(t, err, tooMany)

	resp, err = m.Generate(t.Context(), ask("d"), nil)
	require.NoError(t, err)
	require.Equal(t, ai.FinishLength, resp.FinishReason)
	require.Equal(t, "too long", resp.FinishMessage)
	require.Equal(t, ai.Usage{InputTokens: 3}, resp.Usage)
}

func TestModelAnswersByFunction(t *testing.T) {
	t.Parallel()
	m := aitest.NewModelFunc(t, func(_ context.Context, req *ai.ModelRequest) *aitest.Reply {
		text := req.Messages[0].Text()
		req.Messages[0].Content = nil // its own copy
		return aitest.Text("you said " + text)
	})
	req := ask("hi")
	resp, err := m.Generate(t.Context(), req, nil)
	require.NoError(t, err)
	require.Equal(t, "you said hi", resp.Message.Text())
	require.Equal(t, "hi", req.Messages[0].Text())
	require.Equal(t, "hi", m.Requests()[0].Messages[0].Text())
}

func TestModelFailsItsTest(t *testing.T) {
	t.Parallel()
	call := func(m *aitest.Model, req *ai.ModelRequest) { _, _ = m.Generate(context.Background(), req, nil) }
	open := &ai.ModelRequest{Messages: []*ai.Message{
		{Role: ai.RoleModel, Content: ai.Parts{aitest.Request("pay", "1", nil)}},
	}}
	answered := &ai.ModelRequest{Messages: []*ai.Message{
		open.Messages[0],
		{Role: ai.RoleTool, Content: ai.Parts{&ai.ToolResponsePart{ToolResponse: ai.ToolResponse{Name: "pay", Ref: "1", Output: json.RawMessage("7")}}}},
	}}
	tests := map[string]struct {
		test func(tb *fakeTB)
		want []string
	}{
		"unexpected request": {
			func(tb *fakeTB) { m := aitest.NewModel(tb, aitest.Text("a")); call(m, ask("x")); call(m, ask("y")) },
			[]string{`aitest: unexpected request 2, which ends with user "y": the script has 1`},
		},
		"unexpected request after a tool": {
			func(tb *fakeTB) { call(aitest.NewModel(tb), answered) },
			[]string{`aitest: unexpected request 1, which ends with tool "pay: 7": the script has 0`},
		},
		"the function has no reply": {
			func(tb *fakeTB) {
				call(aitest.NewModelFunc(tb, func(context.Context, *ai.ModelRequest) *aitest.Reply { return nil }), ask("x"))
			},
			[]string{`aitest: unexpected request 1, which ends with user "x": the function has no reply to it`},
		},
		"unused replies": {
			func(tb *fakeTB) {
				call(aitest.NewModel(tb, aitest.Text("a"), aitest.Text("b"), aitest.Text("c")), ask("x"))
			},
			[]string{"aitest: 2 of 3 replies were not asked for"},
		},
		"unused replies of a test that has failed": {
			func(tb *fakeTB) { aitest.NewModel(tb, aitest.Text("a")); tb.Errorf("for another reason") },
			[]string{"for another reason"},
		},
		"unused replies of a skipped test": {
			func(tb *fakeTB) { aitest.NewModel(tb, aitest.Text("a")); tb.skipped = true },
			nil,
		},
		"a request that no provider takes": {
			func(tb *fakeTB) { call(aitest.NewModel(tb, aitest.Text("a")), open) },
			[]string{"aitest: request 1 has a history that no provider takes:\n\tmessage 0 (model): request \"pay\"#\"1\" has no response"},
		},
		"a nil reply":         {func(tb *fakeTB) { aitest.NewModel(tb, aitest.Text("a"), nil) }, []string{"aitest: reply 2 is nil"}},
		"a nil function":      {func(tb *fakeTB) { aitest.NewModelFunc(tb, nil) }, []string{"aitest: the model has no function"}},
		"all as it should be": {func(tb *fakeTB) { call(aitest.NewModel(tb, aitest.Text("a")), ask("x")) }, nil},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			require.Equal(t, tt.want, runFake(t, tt.test))
		})
	}
}

// A run that goes on when its test is over must not bring down the process.
func TestModelIsSilentAfterItsTest(t *testing.T) {
	t.Parallel()
	var m *aitest.Model
	require.Empty(t, runFake(t, func(tb *fakeTB) { m = aitest.NewModel(tb) }))
	_, err := m.Generate(t.Context(), ask("late"), nil)
	require.ErrorContains(t, err, "unexpected request 1")
}

func TestModelUnexpectedRequestEndsTheRun(t *testing.T) {
	t.Parallel()
	var err error
	failures := runFake(t, func(tb *fakeTB) {
		_, err = ai.Generate(t.Context(), nil, &ai.GenerateOptions{Model: aitest.NewModel(tb), Prompt: "hi"})
	})
	require.ErrorContains(t, err, "unexpected request 1")
	require.Len(t, failures, 1)
}

func TestModelKeepsWhatItWasAsked(t *testing.T) {
	t.Parallel()
	m := aitest.NewModel(t, aitest.Text("a"), aitest.Text("b"))
	req := &ai.ModelRequest{
		Messages: []*ai.Message{{
			Role: ai.RoleUser, Content: ai.Parts{
				&ai.TextPart{Text: "t", Metadata: ai.Metadata{"k": json.RawMessage("1")}},
				&ai.MediaPart{Media: ai.Media{URL: "u"}},
				&ai.ReasoningPart{Reasoning: "r"},
				&ai.DataPart{Data: json.RawMessage("[ 1 ]")},
				&ai.CustomPart{Custom: json.RawMessage("2")},
				&ai.ResourcePart{Resource: ai.Resource{URI: "u"}},
				&ai.UnknownPart{JSON: json.RawMessage(`{"new":3}`)},
			},
			Metadata: ai.Metadata{"m": json.RawMessage("true")},
		}, {
			Role: ai.RoleModel, Content: ai.Parts{aitest.Request("pay", "1", json.RawMessage(`{"a": 1}`))},
		}, {
			Role: ai.RoleTool, Content: ai.Parts{&ai.ToolResponsePart{ToolResponse: ai.ToolResponse{
				Name: "pay", Ref: "1", Output: json.RawMessage("4"), Content: ai.Parts{&ai.TextPart{Text: "in"}},
			}}},
		}},
		Tools:      []*ai.ToolDefinition{{Name: "pay", InputSchema: json.RawMessage("{}"), Metadata: ai.Metadata{"d": json.RawMessage("5")}}},
		ToolChoice: ai.ToolChoiceRequired,
		Config:     "warm",
	}
	_, err := m.Generate(t.Context(), req, nil)
	require.NoError(t, err)
	before := m.Requests()
	require.Equal(t, []*ai.ModelRequest{req}, before)

	spoil(req)
	_, err = m.Generate(t.Context(), ask("next"), nil)
	require.NoError(t, err)
	require.Equal(t, before[0], m.Requests()[0], "the record is not the caller's")
	require.Len(t, before, 1)
	spoil(before[0])
	require.NotEqual(t, before[0], m.Requests()[0], "what Requests gave is not the record")
}

// spoil changes everything in place that a caller could.
func spoil(req *ai.ModelRequest) {
	wreck := func(data json.RawMessage) {
		for i := range data {
			data[i] = 'x'
		}
	}
	for _, m := range req.Messages {
		for _, p := range m.Content {
			switch p := p.(type) {
			case *ai.TextPart:
				p.Text, p.Metadata["k"] = "spoilt", nil
			case *ai.DataPart:
				wreck(p.Data)
			case *ai.CustomPart:
				wreck(p.Custom)
			case *ai.UnknownPart:
				wreck(p.JSON)
			case *ai.MediaPart:
				p.Media.URL = "spoilt"
			case *ai.ReasoningPart:
				p.Reasoning = "spoilt"
			case *ai.ResourcePart:
				p.Resource.URI = "spoilt"
			case *ai.ToolRequestPart:
				wreck(p.ToolRequest.Input)
			case *ai.ToolResponsePart:
				wreck(p.ToolResponse.Output)
				p.ToolResponse.Content[0].(*ai.TextPart).Text = "spoilt"
			}
		}
		m.Role, m.Content[0] = "spoilt", nil
		if m.Metadata != nil {
			wreck(m.Metadata["m"])
		}
	}
	wreck(req.Tools[0].InputSchema)
	wreck(req.Tools[0].Metadata["d"])
	req.Messages[0], req.Tools[0].Name = nil, "spoilt"
}

func TestModelRepliesAreNotShared(t *testing.T) {
	t.Parallel()
	reply := aitest.ToolRequests(aitest.Request("pay", "1", map[string]int{"n": 1}))
	m := aitest.NewModel(t, reply, reply)
	first, err := m.Generate(t.Context(), ask("a"), nil)
	require.NoError(t, err)
	first.Message.ToolRequests()[0].ToolRequest.Name = "spoilt"
	second, err := m.Generate(t.Context(), ask("b"), nil)
	require.NoError(t, err)
	require.Equal(t, "pay", second.Message.ToolRequests()[0].ToolRequest.Name)
}

func TestModelStreams(t *testing.T) {
	t.Parallel()
	signed := &ai.TextPart{Text: "kept whole", Metadata: ai.Metadata{"signature": json.RawMessage(`"s"`)}}
	partial := aitest.Request("pay", "1", nil)
	partial.ToolRequest.Partial = true
	m := aitest.NewModel(t, &aitest.Reply{Content: ai.Parts{&ai.TextPart{Text: "I pay  now"}, signed, partial, &ai.TextPart{}}})
	var chunks []*ai.Chunk
	resp, err := m.Generate(t.Context(), ask("a"), func(c *ai.Chunk) error {
		chunks = append(chunks, c)
		return nil
	})
	require.NoError(t, err)
	require.Len(t, resp.Message.Content, 4, "the response is whole")
	var want []*ai.Chunk
	for _, p := range []ai.Part{&ai.TextPart{Text: "I "}, &ai.TextPart{Text: "pay "}, &ai.TextPart{Text: " "}, &ai.TextPart{Text: "now"}, signed, partial} {
		want = append(want, &ai.Chunk{Role: ai.RoleModel, Content: ai.Parts{p}})
	}
	require.Equal(t, want, chunks)
}

// A tool request is streamed as its events, the text that was sent cut into short
// pieces of whole characters.
func TestModelStreamsToolRequests(t *testing.T) {
	t.Parallel()
	pay := aitest.Request("pay", "1", map[string]string{"to": "Zoë Zöölöv"})
	mangled := ai.NewToolRequest("look", "", `{"city":`)
	none := aitest.Request("look", "2", nil)
	m := aitest.NewModel(t, &aitest.Reply{Content: ai.Parts{pay, &ai.TextPart{Text: "and"}, mangled, none}})
	var chunks []*ai.Chunk
	_, err := m.Generate(t.Context(), ask("a"), func(c *ai.Chunk) error {
		chunks = append(chunks, c)
		return nil
	})
	require.NoError(t, err)
	event := func(kind ai.ToolEventKind, index int, ref, name, delta string, content ...ai.Part) *ai.Chunk {
		return &ai.Chunk{Role: ai.RoleModel, Content: content, Tool: &ai.ToolEvent{Kind: kind, Index: index, Ref: ref, Name: name, Delta: delta}}
	}
	require.Equal(t, []*ai.Chunk{
		event(ai.ToolStart, 0, "1", "pay", ""),
		event(ai.ToolDelta, 0, "1", "pay", `{"to":"Z`),
		event(ai.ToolDelta, 0, "1", "pay", "oë Zöö"),
		event(ai.ToolDelta, 0, "1", "pay", `löv"}`),
		event(ai.ToolEnd, 0, "1", "pay", "", pay),
		{Role: ai.RoleModel, Content: ai.Parts{&ai.TextPart{Text: "and"}}},
		event(ai.ToolStart, 1, "", "look", ""),
		event(ai.ToolDelta, 1, "", "look", `{"city":`),
		event(ai.ToolEnd, 1, "", "look", "", mangled),
		event(ai.ToolStart, 2, "2", "look", ""),
		event(ai.ToolEnd, 2, "2", "look", "", none),
	}, chunks)
}

func TestModelStreamsThatEndEarly(t *testing.T) {
	t.Parallel()
	gone, broke := errors.New("gone"), errors.New("connection reset")
	reply := &aitest.Reply{Content: ai.Parts{&ai.TextPart{Text: "a b c"}}, Err: broke}
	m := aitest.NewModel(t, reply, reply, reply)
	n := 0
	_, err := m.Generate(t.Context(), ask("x"), func(*ai.Chunk) error { n++; return nil })
	require.ErrorIs(t, err, broke)
	require.Equal(t, 3, n, "what came before the error is sent")

	n = 0
	_, err = m.Generate(t.Context(), ask("x"), func(*ai.Chunk) error { n++; return gone })
	require.ErrorIs(t, err, gone)
	require.Equal(t, 1, n)

	ctx, cancel := context.WithCancel(t.Context())
	n = 0
	_, err = m.Generate(ctx, ask("x"), func(*ai.Chunk) error { n++; cancel(); return nil })
	require.ErrorIs(t, err, context.Canceled)
	require.Equal(t, 1, n)

	_, err = m.Generate(ctx, ask("x"), nil)
	require.ErrorIs(t, err, context.Canceled, "and no reply is used up")
	require.Len(t, m.Requests(), 3)
}

func TestModelConcurrent(t *testing.T) {
	t.Parallel()
	const n = 32
	var replies []*aitest.Reply
	for i := range n {
		replies = append(replies, aitest.Text(fmt.Sprint(i)))
	}
	m := aitest.NewModel(t, replies...)
	var mu sync.Mutex
	seen := map[string]bool{}
	var wg sync.WaitGroup
	for range n {
		wg.Go(func() {
			resp, err := m.Generate(context.Background(), ask("x"), nil)
			mu.Lock()
			defer mu.Unlock()
			if err == nil {
				seen[resp.Message.Text()] = true
			}
			_ = m.Requests()
		})
	}
	wg.Wait()
	require.Len(t, seen, n, "each reply is given once")
}

func TestRequestPanicsOnWhatDoesNotEncode(t *testing.T) {
	t.Parallel()
	require.PanicsWithValue(t, "aitest: input of tool request pay: json: unsupported type: func()",
		func() { aitest.Request("pay", "1", func() {}) })
}
