package anthropic_test

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/holdpoint/ai"
	"github.com/holdpoint/ai/aitest"
)

// modelKit is this adapter for the tests that all adapters pass.
func modelKit() *aitest.ModelKit {
	return &aitest.ModelKit{Open: func(t testing.TB, replies ...*aitest.WireReply) *aitest.WireModel {
		t.Helper()
		answers := make([]http.HandlerFunc, len(replies))
		for i, r := range replies {
			answers[i] = (&scripted{r}).serve
		}
		w := serve(t, answers...)
		return &aitest.WireModel{Model: w.model(nil), Requests: w.sent, Check: check, Wait: w.busy.Wait}
	}}
}

func TestModel(t *testing.T) {
	t.Parallel()
	aitest.TestModel(t, modelKit())
}

// scripted is a reply of a script on this wire.
type scripted struct{ *aitest.WireReply }

func (s *scripted) serve(w http.ResponseWriter, r *http.Request) {
	switch {
	case s.Status != 0:
		s.serveError(w, r)
	case isStream(r):
		w.Header().Set("Content-Type", "text/event-stream")
		s.serveParts(w, r, s.events())
	default:
		w.Header().Set("Content-Type", "application/json")
		s.serveParts(w, r, []string{s.message()})
	}
}

func (s *scripted) serveError(w http.ResponseWriter, r *http.Request) {
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
	header := http.Header{}
	if s.RetryAfter != 0 {
		header.Set("Retry-After", strconv.FormatFloat(s.RetryAfter.Seconds(), 'f', -1, 64))
	}
	status(s.Status, header, errorBody(kind, "as asked"))(w, r)
}

// serveParts sends a reply. The last piece of its content is the one that a cut
// or a held reply does not send whole.
func (s *scripted) serveParts(w http.ResponseWriter, r *http.Request, parts []string) {
	last := len(parts)
	if s.Cut || s.Hold {
		last = lastPiece(parts)
	}
	_, _ = io.WriteString(w, strings.Join(parts[:last], ""))
	switch {
	case s.Cut:
		_, _ = io.WriteString(w, parts[last][:len(parts[last])/2])
		_ = http.NewResponseController(w).Flush()
		panic(http.ErrAbortHandler)
	case s.Hold:
		_ = http.NewResponseController(w).Flush()
		<-r.Context().Done()
	}
}

// lastPiece is the last delta, or the only part of a reply in one piece.
func lastPiece(parts []string) int {
	for i := len(parts) - 1; i > 0; i-- {
		if strings.HasPrefix(parts[i], "event: content_block_delta") {
			return i
		}
	}
	return 0
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
		b.grow("thinking_delta", "thinking", s.pieces(s.Reasoning))
		b.grow("signature_delta", "signature", []string{s.signature()})
		list = append(list, b)
	}
	if s.Text != "" {
		b := &wireBlock{
			whole: map[string]any{"type": "text", "text": s.Text, "citations": nil},
			start: map[string]any{"type": "text", "text": "", "citations": nil},
		}
		b.grow("text_delta", "text", s.pieces(s.Text))
		list = append(list, b)
	}
	for i, c := range s.Calls {
		b := &wireBlock{
			whole: map[string]any{"type": "tool_use", "id": c.Ref, "name": c.Name, "input": fmt.Sprintf("arguments %d", i)},
			start: map[string]any{"type": "tool_use", "id": c.Ref, "name": c.Name, "input": map[string]any{}},
		}
		b.grow("input_json_delta", "partial_json", s.pieces(c.Arguments))
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

// pieces cuts a text. The wire is JSON, so no character is cut.
func (s *scripted) pieces(text string) []string {
	var list []string
	for s.Piece > 0 && len(text) > s.Piece {
		n := s.Piece
		for !utf8.RuneStart(text[n]) {
			n++
			if n == len(text) {
				break
			}
		}
		list, text = append(list, text[:n]), text[n:]
		if text == "" {
			return list
		}
	}
	return append(list, text)
}
