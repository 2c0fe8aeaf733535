package ai_test

import (
	"context"
	"encoding/json"
	"maps"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/holdpoint/ai"
	"github.com/holdpoint/ai/aitest"
)

// streamsAndSays is a model that streams some parts, each in a chunk, and
// returns others.
func streamsAndSays(streamed, said ai.Parts) ai.Model {
	return ai.ModelFunc(func(_ context.Context, req *ai.ModelRequest, emit func(*ai.Chunk) error) (*ai.ModelResponse, error) {
		if len(req.Messages) > 1 {
			return &ai.ModelResponse{Message: modelSays(&ai.TextPart{Text: "done"})}, nil
		}
		for _, p := range streamed {
			if err := emit(&ai.Chunk{Content: ai.Parts{p}}); err != nil {
				return nil, err
			}
		}
		return &ai.ModelResponse{Message: modelSays(said...)}, nil
	})
}

// streamedRequests lists the tool requests among chunks.
func streamedRequests(chunks []*ai.Chunk) []*ai.ToolRequestPart {
	var list []*ai.ToolRequestPart
	for _, c := range chunks {
		list = append(list, (&ai.Message{Content: c.Content}).ToolRequests()...)
	}
	return list
}

// What a reader was shown of a call, its result and its place in the response
// belong together by its ref, whatever the model sent.
func TestStreamRefs(t *testing.T) {
	t.Parallel()
	none := func(city string) ai.Part { return look("", city) }
	text := &ai.TextPart{Text: "a"}
	for name, tt := range map[string]struct{ streamed, said ai.Parts }{
		"none":                    {ai.Parts{none("Rome"), none("Oslo")}, ai.Parts{none("Rome"), none("Oslo")}},
		"the same":                {ai.Parts{look("x", "Rome"), look("x", "Oslo")}, ai.Parts{look("x", "Rome"), look("x", "Oslo")}},
		"each its own":            {ai.Parts{look("x", "Rome"), look("y", "Oslo")}, ai.Parts{look("x", "Rome"), look("y", "Oslo")}},
		"in another order":        {ai.Parts{look("x", "Rome"), text, look("y", "Oslo")}, ai.Parts{text, look("y", "Oslo"), look("x", "Rome")}},
		"told at the end":         {ai.Parts{none("Rome"), none("Oslo")}, ai.Parts{look("x", "Rome"), look("y", "Oslo")}},
		"one missing":             {ai.Parts{look("x", "Rome"), none("Oslo")}, ai.Parts{look("x", "Rome"), none("Oslo")}},
		"not streamed":            {nil, ai.Parts{none("Rome"), look("x", "Oslo"), look("x", "Bonn")}},
		"some streamed":           {ai.Parts{look("x", "Rome")}, ai.Parts{look("x", "Rome"), none("Oslo"), look("x", "Bonn")}},
		"streamed twice by error": {ai.Parts{look("x", "Rome"), look("x", "Rome")}, ai.Parts{look("x", "Rome")}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			tools := newLoopTools()
			chunks, resp, err := collect(t, ai.Stream(t.Context(), &tools.Registry, &ai.GenerateOptions{Model: streamsAndSays(tt.streamed, tt.said), Prompt: "go"}))
			require.NoError(t, err)
			refs := map[string]string{} // by city
			for _, req := range resp.Messages[1].ToolRequests() {
				require.NotEmpty(t, req.ToolRequest.Ref)
				refs[cityOf(t, req)] = req.ToolRequest.Ref
			}
			require.Len(t, slices.Compact(sortedValues(refs)), len(refs), "refs differ")
			seen := map[string]bool{}
			for _, req := range streamedRequests(chunks) {
				if city := cityOf(t, req); !seen[city] {
					require.Equal(t, refs[city], req.ToolRequest.Ref, city)
					seen[city] = true
				}
			}
			aitest.CheckHistory(t, resp.Messages)
			require.EqualValues(t, len(modelSays(tt.said...).ToolRequests()), tools.looked.Load())
		})
	}
}

func cityOf(t *testing.T, req *ai.ToolRequestPart) string {
	t.Helper()
	var in cityInput
	require.NoError(t, json.Unmarshal(req.ToolRequest.Input, &in))
	return in.City
}

func sortedValues(m map[string]string) []string { return slices.Sorted(maps.Values(m)) }

// A mangled request must not keep a server from encoding the chunk it is in.
func TestStreamArgumentsThatAreNoJSON(t *testing.T) {
	t.Parallel()
	mangled := &ai.ToolRequestPart{ToolRequest: ai.ToolRequest{Name: "look", Ref: "1", Input: json.RawMessage(`{"City":`)}, Metadata: ai.Metadata{"mine": json.RawMessage(`1`)}}
	for name, streamed := range map[string]ai.Parts{"streamed": {mangled}, "not streamed": nil} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			chunks, resp, err := collect(t, ai.Stream(t.Context(), &newLoopTools().Registry, &ai.GenerateOptions{
				Model: streamsAndSays(streamed, ai.Parts{mangled}), Prompt: "go",
			}))
			require.NoError(t, err)
			shown := streamedRequests(chunks)
			require.Len(t, shown, 1)
			require.JSONEq(t, `{}`, string(shown[0].ToolRequest.Input))
			require.JSONEq(t, `{"text":"{\"City\":","problem":"text that is not JSON"}`, string(shown[0].Metadata["argumentsError"]))
			mustJSON(t, resp.Messages)
			require.Equal(t, `1`, string(shown[0].Metadata["mine"]))
			require.Equal(t, `{"City":`, string(mangled.ToolRequest.Input), "the model's own part is not changed")
			require.Len(t, mangled.Metadata, 1)
		})
	}
}

func TestStreamChunkWithANilPart(t *testing.T) {
	t.Parallel()
	_, _, err := collect(t, ai.Stream(t.Context(), nil, &ai.GenerateOptions{
		Model: streamsAndSays(ai.Parts{nil}, ai.Parts{&ai.TextPart{}}), Prompt: "go",
	}))
	requirePlain(t, err)
	require.EqualError(t, err, "ai: model: a chunk can't be used: part 0 of its content is nil")
}
