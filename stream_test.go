package ai_test

import (
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/holdpoint/ai"
	"github.com/holdpoint/ai/aitest"
)

// collect reads a stream to its end: the chunks, the response of the last one,
// and the error. It checks what holds for every stream.
func collect(t *testing.T, stream iter.Seq2[*ai.Chunk, error]) (chunks []*ai.Chunk, resp *ai.Response, failure error) {
	t.Helper()
	for c, err := range stream {
		require.Nil(t, resp, "nothing comes behind the response")
		require.NoError(t, failure, "nothing comes behind an error")
		if err != nil {
			require.Nil(t, c)
			failure = err
			continue
		}
		if resp = c.Response; resp != nil {
			require.Equal(t, &ai.Chunk{Response: resp}, c, "the last chunk has nothing else")
			continue
		}
		mustJSON(t, c)
		chunks = append(chunks, c)
	}
	require.True(t, (resp == nil) != (failure == nil), "a stream ends with a response or an error")
	return chunks, resp, failure
}

// chunkLines gives a line for each part of each chunk: index, who speaks, what.
func chunkLines(chunks []*ai.Chunk) []string {
	var list []string
	for _, c := range chunks {
		for _, line := range outline([]*ai.Message{{Role: c.Role, Content: c.Content}}) {
			list = append(list, fmt.Sprint(c.Index, " ", line))
		}
	}
	return list
}

func TestStreamRounds(t *testing.T) {
	t.Parallel()
	replies := []*aitest.Reply{
		{Content: ai.Parts{&ai.TextPart{Text: "Let me see."}, look("1", "Rome"), look("2", "Oslo")}, Usage: ai.Usage{InputTokens: 1}},
		{Content: ai.Parts{look("3", "Bonn")}, FinishReason: ai.FinishLength},
		{Content: ai.Parts{&ai.TextPart{Text: "All sunny."}}, Usage: ai.Usage{InputTokens: 2}},
	}
	opts := ai.GenerateOptions{System: "s", Prompt: "go"}
	opts.Model = aitest.NewModel(t, replies...)
	chunks, resp, err := collect(t, ai.Stream(t.Context(), &newLoopTools().Registry, &opts))
	require.NoError(t, err)
	require.Equal(t, []string{
		"0 model Let ", "0 model me ", "0 model see.", "0 model look#1?", "0 model look#2?",
		`1 tool look#1="sunny in Rome"`, `1 tool look#2="sunny in Oslo"`,
		"2 model look#3?",
		`3 tool look#3="This call was not run: the message was cut off at the length limit, so it may be incomplete. Send it again."`,
		"4 model All ", "4 model sunny.",
	}, chunkLines(chunks))

	opts.Model = aitest.NewModel(t, replies...)
	want, err := ai.Generate(t.Context(), &newLoopTools().Registry, &opts)
	require.NoError(t, err)
	require.Equal(t, mustJSONText(t, want), mustJSONText(t, resp), "the response is that of Generate")
}

func TestStreamInterruptsStandInTheLastChunkOnly(t *testing.T) {
	t.Parallel()
	m := aitest.NewModel(t, aitest.ToolRequests(look("1", "Rome"), pay("2", 5)))
	chunks, resp, err := collect(t, ai.Stream(t.Context(), &newLoopTools().Registry, &ai.GenerateOptions{Model: m, Prompt: "pay"}))
	require.NoError(t, err)
	require.Equal(t, []string{"0 model look#1?", "0 model pay#2?"}, chunkLines(chunks), "no tool message while a call is open")
	for _, req := range streamedRequests(chunks) {
		require.Empty(t, req.Metadata)
	}
	require.Equal(t, ai.FinishInterrupted, resp.FinishReason)
	require.Len(t, resp.Interrupts(), 1)
	require.JSONEq(t, `{"why":"confirm"}`, string(resp.Interrupts()[0].Data))
}

// Genkit JS: "streams a generated tool message when resumed".
func TestStreamToolMessageWhenResumed(t *testing.T) {
	t.Parallel()
	tools := newLoopTools()
	m := aitest.NewModel(t, aitest.ToolRequests(look("1", "Rome"), pay("2", 5), pay("3", 6)), aitest.Text("done"))
	paused, err := ai.Generate(t.Context(), &tools.Registry, &ai.GenerateOptions{Model: m, Prompt: "pay"})
	require.NoError(t, err)
	answers := aitest.Approve(t, paused)
	answers.Respond = append(answers.Respond, must(ai.Deny(paused.Interrupts()[1].Request, "too much")))
	answers.Restart = answers.Restart[:1]
	chunks, resp, err := collect(t, ai.Stream(t.Context(), &tools.Registry, &ai.GenerateOptions{
		Model: m, Messages: aitest.Reload(t, paused.Messages), Resume: answers,
	}))
	require.NoError(t, err)
	require.Equal(t, []string{
		`0 tool look#1="sunny in Rome"`, `0 tool pay#2="paid 5"`, `0 tool pay#3="Denied: too much"`, "1 model done",
	}, chunkLines(chunks))
	require.Equal(t, "done", resp.Text())
}

func TestStreamProgress(t *testing.T) {
	t.Parallel()
	var r ai.Registry
	ai.DefineTool(&r, "work/dig", "Dig.", func(_ context.Context, call *ai.ToolCall, _ struct{}) (string, error) {
		for i := range 2 {
			if err := call.Emit(&ai.TextPart{Text: fmt.Sprint(i, " m")}); err != nil {
				return "", err
			}
		}
		if !call.Resumed() {
			return "", call.Interrupt("deeper?")
		}
		return "dug", nil
	})
	var also []*ai.Chunk
	opts := &ai.GenerateOptions{Prompt: "dig"}
	opts.Turn.Emit = func(c *ai.Chunk) error { also = append(also, c); return nil }
	m := aitest.NewModel(t, aitest.ToolRequests(aitest.Request("dig", "1", nil)), aitest.Text("done"))
	opts.Model = m
	chunks, paused, err := collect(t, ai.Stream(t.Context(), &r, opts))
	require.NoError(t, err)
	requireProgress(t, 1, chunks[2:], also)

	also = nil
	opts = &ai.GenerateOptions{Model: m, Messages: paused.Messages, Resume: aitest.Approve(t, paused), Turn: opts.Turn}
	chunks, _, err = collect(t, ai.Stream(t.Context(), &r, opts))
	require.NoError(t, err)
	require.Equal(t, []string{`0 tool dig#1="dug"`, "1 model done"}, chunkLines(chunks[2:]))
	requireProgress(t, 0, chunks[:2], also)
}

// requireProgress checks the two progress chunks of the call dig#1.
func requireProgress(t *testing.T, index int, chunks, also []*ai.Chunk) {
	t.Helper()
	require.Equal(t, also, chunks)
	require.Len(t, chunks, 2)
	for i, c := range chunks {
		require.Equal(t, ai.RoleTool, c.Role)
		require.Equal(t, index, c.Index, "that of the tool message")
		p := c.Content[0].(*ai.ToolResponsePart)
		require.Equal(t, "dig", p.ToolResponse.Name, "the name the model used")
		require.Equal(t, "1", p.ToolResponse.Ref)
		require.Nil(t, p.ToolResponse.Output)
		require.Equal(t, ai.Metadata{"partial": json.RawMessage("true")}, p.Metadata)
		require.Equal(t, ai.Parts{&ai.TextPart{Text: fmt.Sprint(i, " m")}}, p.ToolResponse.Content)
	}
}

func TestStreamModelThatDoesNotStream(t *testing.T) {
	t.Parallel()
	for name, extra := range map[string][]*ai.Chunk{"nothing": nil, "what holds nothing": {nil, {}, {Role: ai.RoleModel}}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			replies := []*ai.Message{
				modelSays(&ai.TextPart{Text: "Let me see."}, look("", "Rome"), look("", "Oslo")), modelSays(&ai.TextPart{Text: "All sunny."}),
			}
			m := ai.ModelFunc(func(_ context.Context, _ *ai.ModelRequest, emit func(*ai.Chunk) error) (*ai.ModelResponse, error) {
				for _, c := range extra {
					if err := emit(c); err != nil {
						return nil, err
					}
				}
				said := replies[0]
				replies = replies[1:]
				return &ai.ModelResponse{Message: said}, nil
			})
			chunks, resp, err := collect(t, ai.Stream(t.Context(), &newLoopTools().Registry, &ai.GenerateOptions{Model: m, Prompt: "go"}))
			require.NoError(t, err)
			shown := make([]*ai.Message, 3)
			for i := range shown {
				shown[i] = &ai.Message{}
			}
			for _, c := range chunks {
				shown[c.Index].Role = c.Role
				shown[c.Index].Content = append(shown[c.Index].Content, c.Content...)
			}
			require.Equal(t, outline(resp.Messages[1:]), outline(shown))
			require.Equal(t, []string{"start", `delta {"City":"Rome"}`, "end", "start", `delta {"City":"Oslo"}`, "end"}, eventWords(chunks))
		})
	}
}
