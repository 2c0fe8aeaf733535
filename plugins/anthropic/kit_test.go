package anthropic_test

import (
	"cmp"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/holdpoint/ai"
	"github.com/holdpoint/ai/aitest"
	"github.com/holdpoint/ai/internal/wiretest"
)

// modelKit is this adapter for the tests that all adapters pass.
func modelKit() *aitest.ModelKit {
	return &aitest.ModelKit{Open: func(t testing.TB, replies ...*aitest.WireReply) *aitest.WireModel {
		t.Helper()
		answers := make([]http.HandlerFunc, len(replies))
		for i, r := range replies {
			answers[i] = (&scripted{r}).serve()
		}
		w := serve(t, answers...)
		return &aitest.WireModel{Model: w.model(nil), Requests: w.Sent, Check: check, Wait: w.Wait}
	}}
}

func TestModel(t *testing.T) {
	t.Parallel()
	aitest.TestModel(t, modelKit())
}

// scripted is a reply of a script on this wire.
type scripted struct{ *aitest.WireReply }

func (s *scripted) serve() http.HandlerFunc {
	kind, ok := map[int]string{
		400: "invalid_request_error", 401: "authentication_error", 403: "permission_error", 404: "not_found_error",
		413: "request_too_large", 429: "rate_limit_error", 500: "api_error", 504: "timeout_error", 529: "overloaded_error",
	}[s.Status]
	if !ok {
		kind = "api_error"
		if s.Status < 500 {
			kind = "invalid_request_error"
		}
	}
	script := &wiretest.Script{
		Reply: s.WireReply, Error: errorBody(kind, "as asked"), Message: s.message, Events: s.events,
		IsPiece: func(event string) bool { return strings.HasPrefix(event, "event: content_block_delta") },
	}
	return script.Serve
}

// events are those of the reply as a stream.
func (s *scripted) events() []string {
	events := []string{
		event("message_start", map[string]any{"message": s.envelope([]any{}, nil)}),
		event("ping", map[string]any{}),
	}
	for i, b := range s.blocks() {
		events = append(events, event("content_block_start", map[string]any{"index": i, "content_block": b.start}))
		for _, d := range b.deltas {
			events = append(events, event("content_block_delta", map[string]any{"index": i, "delta": d}))
		}
		events = append(events, event("content_block_stop", map[string]any{"index": i}))
	}
	end := map[string]any{"delta": map[string]any{"stop_reason": s.stopReason(), "stop_sequence": nil}}
	if u := s.usage(); u != nil {
		end["usage"] = u
	}
	return append(events, event("message_delta", end), event("message_stop", map[string]any{}))
}

func event(kind string, data map[string]any) string {
	data["type"] = kind
	return fmt.Sprintf("event: %s\ndata: %s\n\n", kind, toText(data))
}

// message is the reply in one piece. Arguments keep their space, which an encoder
// would take.
func (s *scripted) message() string {
	content := []any{}
	var arguments []string
	for _, b := range s.blocks() {
		content = append(content, b.whole)
	}
	for i, c := range s.Calls {
		arguments = append(arguments, toText(fmt.Sprintf("arguments %d", i)), input(c.Arguments))
	}
	return strings.NewReplacer(arguments...).Replace(toText(s.envelope(content, s.stopReason())))
}

func toText(v any) string {
	text, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return string(text)
}

func (s *scripted) envelope(content, stopReason any) map[string]any {
	m := map[string]any{
		"id": "msg_1", "type": "message", "role": "assistant", "model": "claude-test", "content": content,
		"stop_reason": stopReason, "stop_sequence": nil,
	}
	if u := s.usage(); u != nil {
		m["usage"] = u
	}
	return m
}

func (s *scripted) usage() map[string]any {
	u := s.WireReply.Usage
	if u == (ai.Usage{}) {
		return nil
	}
	return map[string]any{
		"input_tokens": u.InputTokens - u.CachedInputTokens, "cache_read_input_tokens": u.CachedInputTokens,
		"cache_creation_input_tokens": 0, "output_tokens": u.OutputTokens,
		"output_tokens_details": map[string]any{"thinking_tokens": u.ReasoningTokens},
	}
}

func (s *scripted) stopReason() any {
	switch s.FinishReason {
	case ai.FinishLength:
		return "max_tokens"
	case ai.FinishBlocked:
		return "refusal"
	case ai.FinishOther:
		return "something_else"
	case ai.FinishUnknown:
		return nil
	}
	if len(s.Calls) > 0 {
		return "tool_use"
	}
	return "end_turn"
}

// signature is that of the thinking, which on this wire always has one.
func (s *scripted) signature() string { return cmp.Or(s.Signature, "c2ln") }

// wireBlock is a content block: whole, or as it begins and grows.
type wireBlock struct {
	whole, start map[string]any
	deltas       []map[string]any
}

func (s *scripted) blocks() []*wireBlock {
	var list []*wireBlock
	if s.Reasoning != "" {
		b := &wireBlock{
			whole: map[string]any{"type": "thinking", "thinking": s.Reasoning, "signature": s.signature()},
			start: map[string]any{"type": "thinking", "thinking": "", "signature": ""},
		}
		b.grow("thinking_delta", "thinking", wiretest.Pieces(s.Reasoning, s.Piece))
		b.grow("signature_delta", "signature", []string{s.signature()})
		list = append(list, b)
	}
	if s.Text != "" {
		b := &wireBlock{
			whole: map[string]any{"type": "text", "text": s.Text, "citations": nil},
			start: map[string]any{"type": "text", "text": "", "citations": nil},
		}
		b.grow("text_delta", "text", wiretest.Pieces(s.Text, s.Piece))
		list = append(list, b)
	}
	for i, c := range s.Calls {
		b := &wireBlock{
			whole: map[string]any{"type": "tool_use", "id": c.Ref, "name": c.Name, "input": fmt.Sprintf("arguments %d", i)},
			start: map[string]any{"type": "tool_use", "id": c.Ref, "name": c.Name, "input": map[string]any{}},
		}
		b.grow("input_json_delta", "partial_json", wiretest.Pieces(c.Arguments, s.Piece))
		list = append(list, b)
	}
	return list
}

func (b *wireBlock) grow(kind, key string, pieces []string) {
	for _, p := range pieces {
		b.deltas = append(b.deltas, map[string]any{"type": kind, key: p})
	}
}

// input is what arguments are in one piece: a value where they are JSON, else
// their text.
func input(arguments string) string {
	switch {
	case arguments == "":
		return "{}"
	case json.Valid([]byte(arguments)):
		return arguments
	}
	return toText(arguments)
}
