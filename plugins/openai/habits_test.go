package openai_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/holdpoint/ai"
	"github.com/holdpoint/ai/internal/wiretest"
	"github.com/holdpoint/ai/plugins/openai"
)

// Compatible servers have habits of their own. What they mean is read all the same.
func TestHabitsInStreams(t *testing.T) {
	t.Parallel()
	delta := func(calls string) string {
		return `data: {"choices":[{"index":0,"delta":{"tool_calls":[` + calls + `]}}]}` + "\n\n"
	}
	end := `data: {"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}` + "\n\ndata: [DONE]\n\n"
	two := []string{`a {"x":1}`, `b {"x":2}`}
	for name, tt := range map[string]struct {
		events string
		want   []string
	}{
		"arguments as an object": {delta(`{"index":0,"id":"1","function":{"name":"a","arguments":{"x":1}}}`) + end, two[:1]},
		"index jumps": {delta(`{"index":0,"id":"1","function":{"name":"a","arguments":"{\"x\":1}"}}`) +
			delta(`{"index":5,"id":"2","function":{"name":"b","arguments":"{\"x\":2}"}}`) + end, two},
		"one index for all": {delta(`{"index":0,"id":"1","function":{"name":"a","arguments":"{\"x\":1}"}}`) +
			delta(`{"index":0,"id":"2","function":{"name":"b","arguments":"{\"x\":2}"}}`) + end, two},
		"one index and no ids": {delta(`{"index":0,"function":{"name":"a","arguments":"{\"x\":1}"}}`) +
			delta(`{"index":0,"function":{"name":"b","arguments":"{\"x\":2}"}}`) + end, two},
		"neither index nor id": {delta(`{"function":{"name":"a","arguments":"{\"x\":1}"}}`) +
			delta(`{"function":{"name":"b","arguments":"{\"x\":2}"}}`) + end, two},
		"interleaved": {delta(`{"index":0,"id":"1","function":{"name":"a","arguments":"{\"x\""}},{"index":1,"id":"2","function":{"name":"b","arguments":"{\"x\":"}}`) +
			delta(`{"index":0,"function":{"arguments":":1}"}}`) + delta(`{"index":1,"function":{"arguments":"2}"}}`) + end, two},
		"name in each piece": {delta(`{"index":0,"id":"1","function":{"name":"a","arguments":"{\"x\""}}`) +
			delta(`{"index":0,"id":"1","function":{"name":"a","arguments":":1}"}}`) + delta(`{"index":0,"id":"1","function":{"name":"a","arguments":""}}`) + end, two[:1]},
		"id that comes late": {delta(`{"index":0,"function":{"name":"a","arguments":"{\"x\":1"}}`) +
			delta(`{"index":0,"id":"1","function":{"arguments":"}"}}`) + end, two[:1]},
		"no finish reason": {delta(`{"index":0,"id":"1","function":{"name":"a","arguments":"{\"x\":1}"}}`) + "data: [DONE]\n\n", two[:1]},
		"no arguments":     {delta(`{"index":0,"id":"1","function":{"name":"a"}}`) + end, []string{"a {}"}},
		"null arguments":   {delta(`{"index":0,"id":"1","function":{"name":"a","arguments":null}}`) + end, []string{"a {}"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := serve(t, wiretest.Answer("", tt.events))
			resp, err := w.chat(nil).Generate(t.Context(), ask("go"), discard)
			require.NoError(t, err)
			var got []string
			for _, r := range resp.Message.ToolRequests() {
				got = append(got, r.ToolRequest.Name+" "+string(r.ToolRequest.Input))
			}
			require.Equal(t, tt.want, got)
			require.Equal(t, ai.FinishStop, resp.FinishReason)
		})
	}
}

func TestErrorsInStreams(t *testing.T) {
	t.Parallel()
	for events, want := range map[string]error{
		"data: {\"error\":{\"message\":\"slow\",\"code\":\"rate_limit_exceeded\"}}\n\n":                 ai.ErrRateLimited,
		"data: {\"error\":{\"message\":\"This model's maximum context length is 1\",\"code\":400}}\n\n": ai.ErrContextLength,
		"data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"hel\"}}]}\n\n":                       ai.ErrUnavailable,
		"data: {\n\n": ai.ErrUnavailable,
	} {
		w := serve(t, wiretest.Answer("", events))
		_, err := w.chat(nil).Generate(t.Context(), ask("go"), discard)
		require.ErrorIs(t, err, want, events)
		var failed *ai.ProviderError
		require.ErrorAs(t, err, &failed)
	}
}

// Reasoning comes in several fields, and goes back in the one it came in, where that
// is wanted.
func TestSendReasoning(t *testing.T) {
	t.Parallel()
	for _, field := range []string{"reasoning_content", "reasoning"} {
		reply := `{"choices":[{"message":{"content":"hi","` + field + `":"hmm"},"finish_reason":"stop"}]}`
		for _, send := range []bool{false, true} {
			w := serve(t, wiretest.Answer(reply, ""), wiretest.Answer(reply, ""))
			model := w.chat(&openai.ChatConfig{SendReasoning: send})
			first, err := model.Generate(t.Context(), ask("go"), nil)
			require.NoError(t, err)
			require.Equal(t, "hmm", first.Message.Content[0].(*ai.ReasoningPart).Reasoning)
			req := ask("go")
			req.Messages = append(req.Messages, first.Message, ai.TextMessage(ai.RoleUser, "on"))
			_, err = model.Generate(t.Context(), req, nil)
			require.NoError(t, err)
			require.Equal(t, send, strings.Contains(string(w.Sent()[1]), `"`+field+`":"hmm"`))
		}
	}
}

// A grammar makes a custom tool; its text is the one string of the arguments, both ways.
func TestGrammar(t *testing.T) {
	t.Parallel()
	def := &ai.ToolDefinition{
		Name: "query", InputSchema: []byte(`{"type":"object","properties":{"sql":{"type":"string"}},"required":["sql"]}`),
		Sampling: &ai.Sampling{Grammar: &ai.Grammar{Syntax: ai.GrammarLark, Definition: `start: "a"`}},
	}
	chat := `{"choices":[{"message":{"tool_calls":[{"id":"1","type":"custom","custom":{"name":"query","input":"say \"a\""}}]},"finish_reason":"tool_calls"}]}`
	responses := `{"status":"completed","output":[{"type":"custom_tool_call","call_id":"1","name":"query","input":"say \"a\""}]}`
	for name, open := range map[string]func() (*wire, ai.Model, func(t testing.TB, body []byte)){
		"chat": func() (*wire, ai.Model, func(t testing.TB, body []byte)) {
			w := serve(t, wiretest.Answer(chat, ""), wiretest.Answer(chat, ""))
			return w, w.chat(nil), checkChat
		},
		"responses": func() (*wire, ai.Model, func(t testing.TB, body []byte)) {
			w := serve(t, wiretest.Answer(responses, ""), wiretest.Answer(responses, ""))
			return w, openai.NewResponses("gpt-test", w.options(nil)), checkResponses
		},
	} {
		w, model, check := open()
		req := ask("go")
		req.Tools = []*ai.ToolDefinition{def}
		resp, err := model.Generate(t.Context(), req, nil)
		require.NoError(t, err, name)
		call := resp.Message.ToolRequests()[0]
		require.JSONEq(t, `{"sql":"say \"a\""}`, string(call.ToolRequest.Input), name)
		req.Messages = append(req.Messages, resp.Message, &ai.Message{Role: ai.RoleTool, Content: ai.Parts{
			&ai.ToolResponsePart{ToolResponse: ai.ToolResponse{Name: "query", Ref: "1", Output: []byte(`"ok"`)}},
		}})
		_, err = model.Generate(t.Context(), req, nil)
		require.NoError(t, err, name)
		for _, body := range w.Sent() {
			check(t, body)
		}
		require.Contains(t, string(w.Sent()[1]), `"input":"say \"a\""`, name)
	}
}
