package ai_test

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/holdpoint/ai"
)

// wireCase is a history that Genkit wrote. See testdata/wire.
type wireCase struct {
	Producer      string          `json:"producer"`
	Case          string          `json:"case"`
	Reply         ai.Parts        `json:"reply"`
	FinishReason  string          `json:"finishReason"`
	History       json.RawMessage `json:"history"`
	Resume        *ai.Answers     `json:"resume"`
	Next          json.RawMessage `json:"next"`
	ProducerError string          `json:"producerError"`
}

// The tools that the producers ran.
type (
	cityInput     struct{ City string }
	tempOutput    struct{ TempC int }
	amountInput   struct{ Amount int }
	questionInput struct{ Question string }
	partInput     struct {
		Part string `json:"part"`
	}
	confirmation struct {
		Why string `json:"why"`
	}
)

func wireTools(t *testing.T, producer string) *ai.Registry {
	t.Helper()
	var r ai.Registry
	ai.DefineTool(&r, "getWeather", "Weather of a city.",
		func(context.Context, *ai.ToolCall, cityInput) (tempOutput, error) { return tempOutput{21}, nil })
	ai.DefineTool(&r, "pay", "Pay an amount.",
		func(_ context.Context, call *ai.ToolCall, in amountInput) (string, error) {
			if !call.Resumed() {
				return "", call.Interrupt(confirmation{"confirm"})
			}
			if strings.Contains(producer, "js") {
				return "paid " + string(mustJSON(t, in.Amount)), nil
			}
			return "paid", nil
		})
	ai.DefineInterrupt[questionInput, int](&r, "ask", "Ask the user.", nil)
	ai.DefineMultipartTool(&r, "chart", "Draw a chart.",
		func(context.Context, *ai.ToolCall, map[string]any) (*ai.MultipartResult[string], error) {
			return &ai.MultipartResult[string]{Output: "drawn", Content: ai.Parts{
				&ai.MediaPart{Media: ai.Media{ContentType: "image/png", URL: "data:image/png;base64,AA=="}},
			}}, nil
		})
	for name, value := range map[string]any{"zero": 0, "empty": "", "no": false} {
		ai.DefineTool(&r, name, "A falsy result.",
			func(context.Context, *ai.ToolCall, map[string]any) (any, error) { return value, nil })
	}
	ai.DefineTool(&r, "work-orders/order_part", "Order a part.",
		func(_ context.Context, call *ai.ToolCall, _ partInput) (string, error) {
			if !call.Resumed() {
				return "", call.Interrupt("CONFIRM_ORDER")
			}
			return "OrderedPart", nil
		})
	return &r
}

func mustJSON(t *testing.T, v any) json.RawMessage {
	t.Helper()
	data, err := json.Marshal(v)
	require.NoError(t, err)
	return data
}

// TestWire replays every history: the model says what it said there, our pause
// must be theirs, and from their pause our resumption must send the model what
// theirs did.
func TestWire(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("testdata/wire/*.json")
	require.NoError(t, err)
	require.Len(t, files, 14)
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".json"), func(t *testing.T) {
			t.Parallel()
			data, err := os.ReadFile(file)
			require.NoError(t, err)
			var c wireCase
			require.NoError(t, json.Unmarshal(data, &c))
			t.Run("pause", func(t *testing.T) { replayPause(t, &c) })
			if c.Resume != nil {
				t.Run("resume", func(t *testing.T) { replayResume(t, &c) })
			}
		})
	}
}

func replayPause(t *testing.T, c *wireCase) {
	model := ai.ModelFunc(func(_ context.Context, req *ai.ModelRequest, _ func(*ai.Chunk) error) (*ai.ModelResponse, error) {
		if len(req.Messages) > 1 {
			return &ai.ModelResponse{Message: ai.TextMessage(ai.RoleModel, "done"), FinishReason: ai.FinishStop}, nil
		}
		return &ai.ModelResponse{Message: &ai.Message{Role: ai.RoleModel, Content: c.Reply}, FinishReason: ai.FinishStop}, nil
	})
	resp, err := ai.Generate(t.Context(), wireTools(t, c.Producer), &ai.GenerateOptions{Model: model, Prompt: "hi"})
	require.NoError(t, err)
	require.Equal(t, c.FinishReason, string(resp.FinishReason))
	requireWire(t, c.History, mustJSON(t, resp.Messages))
}

func replayResume(t *testing.T, c *wireCase) {
	var history []*ai.Message
	require.NoError(t, json.Unmarshal(c.History, &history))
	var sent []*ai.Message
	model := ai.ModelFunc(func(_ context.Context, req *ai.ModelRequest, _ func(*ai.Chunk) error) (*ai.ModelResponse, error) {
		sent = req.Messages
		return &ai.ModelResponse{Message: ai.TextMessage(ai.RoleModel, "done")}, nil
	})
	_, err := ai.Generate(t.Context(), wireTools(t, c.Producer),
		&ai.GenerateOptions{Model: model, Messages: history, Resume: c.Resume})
	switch {
	case c.Producer == "genkit js 1.33.0" && c.Case == "no-refs":
		// Two calls of one name without refs: nobody can say which answer is whose.
		// The producer ran the first one twice.
		require.ErrorIs(t, err, ai.ErrInvalidArgument)
		require.ErrorContains(t, err, "fits several open tool requests")
		return
	case c.ProducerError != "":
		// The producer takes 0, "" and false for no result and fails. Ours keeps them.
		require.NoError(t, err)
		var outputs []string
		for _, p := range sent[len(sent)-1].Content {
			outputs = append(outputs, string(p.(*ai.ToolResponsePart).ToolResponse.Output))
		}
		require.Equal(t, []string{"0", `""`, "false", "0"}, outputs)
		return
	}
	require.NoError(t, err)
	requireWire(t, c.Next, mustJSON(t, sent))
}

// requireWire compares histories as JSON values, but for empty metadata, refs
// that one side minted, keys that only we write, and the order of responses.
func requireWire(t *testing.T, want, got json.RawMessage) {
	t.Helper()
	require.Equal(t, normalWire(t, want), normalWire(t, got))
}

var ourKeys = []string{
	"originalName", "callKey", "effectiveInput", "interruptedBy", "pendingMetadata", "pendingContent", "replacedInput",
}

func normalWire(t *testing.T, data json.RawMessage) []map[string]any {
	t.Helper()
	var messages []map[string]any
	require.NoError(t, json.Unmarshal(data, &messages))
	place := map[string]int{}
	for _, m := range messages {
		content := m["content"].([]any)
		ordered := make([]any, len(content))
		for i, p := range content {
			part := p.(map[string]any)
			at := i
			if req, ok := part["toolRequest"].(map[string]any); ok {
				ref, _ := req["ref"].(string)
				place[ref] = len(place)
				if len(ref) > 20 || ref == "" {
					delete(req, "ref")
				}
			}
			if resp, ok := part["toolResponse"].(map[string]any); ok {
				ref, _ := resp["ref"].(string)
				if n, known := place[ref]; known {
					at = n
				}
				if len(ref) > 20 || ref == "" {
					delete(resp, "ref")
				}
			}
			if md, ok := part["metadata"].(map[string]any); ok {
				for _, key := range ourKeys {
					delete(md, key)
				}
				if len(md) == 0 {
					delete(part, "metadata")
				}
			}
			ordered[at] = part
		}
		m["content"] = ordered
	}
	return messages
}
