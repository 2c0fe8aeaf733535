package anthropic_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/holdpoint/ai"
)

// generate runs one request against the answer of a fixture. A nil emit does not
// stream.
func generate(t *testing.T, name string, emit func(*ai.Chunk) error) *ai.ModelResponse {
	t.Helper()
	w := serve(t, fixture(t, name))
	resp, err := w.model(nil).Generate(t.Context(), ask("hi"), emit)
	require.NoError(t, err)
	return resp
}

func TestReplies(t *testing.T) {
	t.Parallel()
	for _, name := range names(t, "replies", ".sse") {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			want := read(t, "replies", name+".want")
			require.JSONEq(t, want, toJSON(t, generate(t, name, discard)), "streamed")
			if read(t, "replies", name+".json") != "" {
				require.JSONEq(t, want, toJSON(t, generate(t, name, nil)), "whole")
			}
		})
	}
}

// What the API said goes back to it as it came.
func TestRepliesGoBackUnchanged(t *testing.T) {
	t.Parallel()
	for _, name := range names(t, "replies", ".json") {
		if name == "other_server" || name == "empty" {
			continue // thinking that is not signed; nothing to send
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := serve(t, fixture(t, name), fixture(t, "text"))
			req := ask("hi")
			resp, err := w.model(nil).Generate(t.Context(), req, discard)
			require.NoError(t, err)
			req.Messages = append(req.Messages, resp.Message, results(resp.Message))
			_, err = w.model(nil).Generate(t.Context(), req, nil)
			require.NoError(t, err)
			check(t, w.Sent()[1])
			var came, went struct {
				Content  any
				Messages []struct{ Content any }
			}
			require.NoError(t, json.Unmarshal([]byte(read(t, "replies", name+".json")), &came))
			require.NoError(t, json.Unmarshal(w.Sent()[1], &went))
			require.Equal(t, withoutNull(came.Content), withoutNull(went.Messages[1].Content))
		})
	}
}

// results answers the calls of a message, or goes on where it has none.
func results(m *ai.Message) *ai.Message {
	if len(m.ToolRequests()) == 0 {
		return ai.TextMessage(ai.RoleUser, "go on")
	}
	answer := &ai.Message{Role: ai.RoleTool}
	for _, r := range m.ToolRequests() {
		answer.Content = append(answer.Content, &ai.ToolResponsePart{ToolResponse: ai.ToolResponse{
			Name: r.ToolRequest.Name, Ref: r.ToolRequest.Ref, Output: json.RawMessage(`"ok"`),
		}})
	}
	return answer
}

// withoutNull leaves out members that say nothing.
func withoutNull(v any) any {
	switch v := v.(type) {
	case []any:
		for i := range v {
			v[i] = withoutNull(v[i])
		}
	case map[string]any:
		for key := range v {
			if v[key] = withoutNull(v[key]); v[key] == nil {
				delete(v, key)
			}
		}
	}
	return v
}

// The container of a turn is named again while the turn goes on, not after it.
func TestContainerGoesOnWithItsTurn(t *testing.T) {
	t.Parallel()
	w := serve(t, fixture(t, "code_execution"), fixture(t, "text"), fixture(t, "text"))
	m, req := w.model(nil), ask("hi")
	resp, err := m.Generate(t.Context(), req, nil)
	require.NoError(t, err)
	req.Messages = append(req.Messages, resp.Message, results(resp.Message))
	resp, err = m.Generate(t.Context(), req, nil)
	require.NoError(t, err)
	req.Messages = append(req.Messages, resp.Message, ai.TextMessage(ai.RoleUser, "thanks"))
	_, err = m.Generate(t.Context(), req, nil)
	require.NoError(t, err)
	containers := make([]string, 3)
	for i, sent := range w.Sent() {
		var b struct{ Container string }
		require.NoError(t, json.Unmarshal(sent, &b))
		containers[i] = b.Container
	}
	require.Equal(t, []string{"", "container_011CPR5CNjB747bTd36fQLFk", ""}, containers)
}
