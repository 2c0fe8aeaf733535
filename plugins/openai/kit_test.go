package openai_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/holdpoint/ai"
	"github.com/holdpoint/ai/aitest"
	"github.com/holdpoint/ai/internal/wiretest"
	"github.com/holdpoint/ai/plugins/openai"
)

// kit is an adapter for the tests that all adapters pass.
func kit(open func(w *wire) ai.Model, check func(t testing.TB, body []byte), as scripted) *aitest.ModelKit {
	return &aitest.ModelKit{Open: func(t testing.TB, replies ...*aitest.WireReply) *aitest.WireModel {
		t.Helper()
		answers := make([]http.HandlerFunc, len(replies))
		for i, r := range replies {
			s := as
			s.WireReply = r
			answers[i] = s.serve()
		}
		w := serve(t, answers...)
		return &aitest.WireModel{Model: open(w), Requests: w.Sent, Check: check, Wait: w.Wait}
	}}
}

func TestChatModel(t *testing.T) {
	t.Parallel()
	k := kit(func(w *wire) ai.Model { return w.chat(nil) }, checkChat, scripted{
		mark: `"delta":{"`, events: chatEvents, message: chatMessage,
	})
	k.Skip = map[string]string{"reasoning_sent_back": "chat completions have no place for it, unless a server wants it: see TestSendReasoning"}
	aitest.TestModel(t, k)
}

func TestResponsesModel(t *testing.T) {
	t.Parallel()
	k := kit(func(w *wire) ai.Model { return openai.NewResponses("gpt-test", w.options(nil)) }, checkResponses, scripted{
		mark: `.delta"`, events: responseEvents, message: func(s *scripted) string { return toText(s.envelope("completed", true)) },
	})
	aitest.TestModel(t, k)
}

// scripted is a reply of a script on this wire.
type scripted struct {
	*aitest.WireReply
	mark    string // what a piece of a stream has in it
	events  func(s *scripted) []string
	message func(s *scripted) string
}

func (s *scripted) serve() http.HandlerFunc {
	script := &wiretest.Script{
		Reply: s.WireReply, Error: `{"error":{"message":"as asked","type":"some_error","param":null,"code":null}}`,
		Message: func() string { return s.message(s) }, Events: func() []string { return s.events(s) },
		IsPiece: func(event string) bool { return strings.Contains(event, s.mark) },
	}
	return script.Serve
}

// data is an event of a stream.
func data(v any) string { return fmt.Sprintf("data: %s\n\n", toText(v)) }

func toText(v any) string {
	text, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return string(text)
}

func (s *scripted) finish() any {
	switch s.FinishReason {
	case ai.FinishLength:
		return "length"
	case ai.FinishBlocked:
		return "content_filter"
	case ai.FinishOther:
		return "something_else"
	case ai.FinishUnknown:
		return nil
	}
	if len(s.Calls) > 0 {
		return "tool_calls"
	}
	return "stop"
}

func (s *scripted) chatUsage() any {
	u := s.WireReply.Usage
	if u == (ai.Usage{}) {
		return nil
	}
	return map[string]any{
		"prompt_tokens": u.InputTokens, "completion_tokens": u.OutputTokens, "total_tokens": u.InputTokens + u.OutputTokens,
		"prompt_tokens_details":     map[string]any{"cached_tokens": u.CachedInputTokens},
		"completion_tokens_details": map[string]any{"reasoning_tokens": u.ReasoningTokens},
	}
}

// chatEvents are those of the reply as a stream of chat completions.
func chatEvents(s *scripted) []string {
	delta := func(d map[string]any, finish any) string {
		return data(map[string]any{"id": "c", "object": "chat.completion.chunk", "choices": []any{
			map[string]any{"index": 0, "delta": d, "finish_reason": finish},
		}})
	}
	events := []string{": keep-alive\n\n", data(map[string]any{"choices": []any{}, "usage": nil})}
	for _, p := range wiretest.Pieces(s.Reasoning, s.Piece) {
		events = append(events, delta(map[string]any{"reasoning_content": p}, nil))
	}
	for _, p := range wiretest.Pieces(s.Text, s.Piece) {
		events = append(events, delta(map[string]any{"content": p}, nil))
	}
	for i, c := range s.Calls {
		first := map[string]any{"name": c.Name, "arguments": ""}
		events = append(events, delta(map[string]any{"tool_calls": []any{map[string]any{"index": i, "id": c.Ref, "type": "function", "function": first}}}, nil))
		for _, p := range wiretest.Pieces(c.Arguments, s.Piece) {
			piece := map[string]any{"index": i, "function": map[string]any{"arguments": p}}
			events = append(events, delta(map[string]any{"tool_calls": []any{piece}}, nil))
		}
	}
	events = append(events, delta(map[string]any{}, s.finish()))
	if u := s.chatUsage(); u != nil {
		events = append(events, data(map[string]any{"choices": []any{}, "usage": u}))
	}
	return append(events, "data: [DONE]\n\n")
}

// chatMessage is the reply in one piece.
func chatMessage(s *scripted) string {
	m := map[string]any{"role": "assistant", "content": nil}
	if s.Text != "" {
		m["content"] = s.Text
	}
	if s.Reasoning != "" {
		m["reasoning_content"] = s.Reasoning
	}
	var calls []any
	for _, c := range s.Calls {
		calls = append(calls, map[string]any{"id": c.Ref, "type": "function", "function": map[string]any{"name": c.Name, "arguments": c.Arguments}})
	}
	if calls != nil {
		m["tool_calls"] = calls
	}
	reply := map[string]any{"id": "c", "object": "chat.completion", "choices": []any{
		map[string]any{"index": 0, "message": m, "finish_reason": s.finish()},
	}}
	if u := s.chatUsage(); u != nil {
		reply["usage"] = u
	}
	return toText(reply)
}

// items are the output of a response.
func (s *scripted) items() []map[string]any {
	var list []map[string]any
	if s.Reasoning != "" || s.Signature != "" {
		summary := []any{}
		if s.Reasoning != "" {
			summary = append(summary, map[string]any{"type": "summary_text", "text": s.Reasoning})
		}
		list = append(list, map[string]any{"id": "rs_1", "type": "reasoning", "summary": summary, "encrypted_content": s.Signature})
	}
	if s.Text != "" {
		list = append(list, map[string]any{"id": "msg_1", "type": "message", "role": "assistant", "status": "completed", "content": []any{
			map[string]any{"type": "output_text", "text": s.Text, "annotations": []any{}},
		}})
	}
	for i, c := range s.Calls {
		list = append(list, map[string]any{
			"id": fmt.Sprint("fc_", i), "type": "function_call", "call_id": c.Ref, "name": c.Name, "arguments": c.Arguments, "status": "completed",
		})
	}
	return list
}

// envelope is the response as a whole.
func (s *scripted) envelope(status string, whole bool) map[string]any {
	r := map[string]any{"id": "resp_1", "object": "response", "status": status, "error": nil, "incomplete_details": nil, "output": []any{}}
	if whole {
		r["output"] = s.items()
	}
	reason := map[ai.FinishReason]string{
		ai.FinishLength: "max_output_tokens", ai.FinishBlocked: "content_filter", ai.FinishOther: "something_else",
	}[s.FinishReason]
	if reason != "" {
		r["status"], r["incomplete_details"] = "incomplete", map[string]any{"reason": reason}
	}
	if u := s.WireReply.Usage; u != (ai.Usage{}) {
		r["usage"] = map[string]any{
			"input_tokens": u.InputTokens, "output_tokens": u.OutputTokens, "total_tokens": u.InputTokens + u.OutputTokens,
			"input_tokens_details":  map[string]any{"cached_tokens": u.CachedInputTokens},
			"output_tokens_details": map[string]any{"reasoning_tokens": u.ReasoningTokens},
		}
	}
	return r
}

// responseEvents are those of the response as a stream.
func responseEvents(s *scripted) []string {
	named := func(kind string, members map[string]any) string {
		members["type"] = kind
		return "event: " + kind + "\n" + data(members)
	}
	events := []string{named("response.created", map[string]any{"response": s.envelope("in_progress", false)})}
	for i, item := range s.items() {
		begun := map[string]any{"id": item["id"], "type": item["type"], "role": item["role"], "call_id": item["call_id"], "name": item["name"], "status": "in_progress"}
		events = append(events, named("response.output_item.added", map[string]any{"output_index": i, "item": begun}))
		kind, text := "response.output_text.delta", s.Text
		switch item["type"] {
		case "reasoning":
			kind, text = "response.reasoning_summary_text.delta", s.Reasoning
		case "function_call":
			kind, text = "response.function_call_arguments.delta", item["arguments"].(string)
		}
		for _, p := range wiretest.Pieces(text, s.Piece) {
			events = append(events, named(kind, map[string]any{"output_index": i, "delta": p}))
		}
		events = append(events, named("response.output_item.done", map[string]any{"output_index": i, "item": item}))
	}
	end := s.envelope("completed", true)
	return append(events, named("response."+end["status"].(string), map[string]any{"response": end}))
}
