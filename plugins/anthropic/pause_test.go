package anthropic_test

import (
	"encoding/json"
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/holdpoint/ai"
	"github.com/holdpoint/ai/internal/wiretest"
	"github.com/holdpoint/ai/plugins/anthropic"
)

// The two parts of a turn that the provider paused.
func pausedTurn(t *testing.T) []http.HandlerFunc {
	return []http.HandlerFunc{fixtureIn(t, "pauses", "pause_1"), fixtureIn(t, "pauses", "pause_2")}
}

func TestPausedTurnsAreGoneOnWith(t *testing.T) {
	t.Parallel()
	for name, emit := range map[string]func(*ai.Chunk) error{"whole": nil, "streamed": discard} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := serve(t, pausedTurn(t)...)
			resp, err := w.model(nil).Generate(t.Context(), ask("search"), emit)
			require.NoError(t, err)
			require.JSONEq(t, read(t, "pauses", "paused.want"), toJSON(t, resp))
			require.Len(t, w.Sent(), 2)
			check(t, w.Sent()[1])
			var sent struct {
				Container string
				Messages  []struct {
					Role    string
					Content []json.RawMessage
				}
			}
			require.NoError(t, json.Unmarshal(w.Sent()[1], &sent))
			require.Equal(t, "container_1", sent.Container)
			require.Len(t, sent.Messages, 2)
			require.Equal(t, "assistant", sent.Messages[1].Role)
			require.Len(t, sent.Messages[1].Content, 2)
			require.JSONEq(t, `{"type":"server_tool_use","id":"srvtoolu_1","name":"web_search","input":{"query":"a"}}`, string(sent.Messages[1].Content[1]))
		})
	}
}

// The chunks of all parts are those of one message.
func TestPausedTurnsStreamOn(t *testing.T) {
	t.Parallel()
	w := serve(t, pausedTurn(t)...)
	var text string
	_, err := w.model(nil).Generate(t.Context(), ask("search"), func(c *ai.Chunk) error {
		for _, p := range c.Content {
			if p, ok := p.(*ai.TextPart); ok {
				text += p.Text
			}
		}
		return nil
	})
	require.NoError(t, err)
	require.Equal(t, "Searching.Found it.", text)
}

func TestPausesAreBounded(t *testing.T) {
	t.Parallel()
	for maxPauses, want := range map[int]int{-1: 1, 0: 11, 1: 2, 3: 4} {
		var answers []http.HandlerFunc
		for range 12 {
			answers = append(answers, fixtureIn(t, "pauses", "pause_1"))
		}
		w := serve(t, answers...)
		resp, err := w.model(&anthropic.Config{MaxPauses: maxPauses}).Generate(t.Context(), ask("search"), nil)
		require.NoError(t, err)
		require.Equal(t, ai.FinishOther, resp.FinishReason)
		require.Equal(t, "the provider paused the turn", resp.FinishMessage)
		require.Len(t, w.Sent(), want)
		require.Equal(t, 10*want, resp.Usage.InputTokens)
	}
}

// A reply that is still paused is gone on with by sending it.
func TestPausedReplyIsSentAgain(t *testing.T) {
	t.Parallel()
	w := serve(t, pausedTurn(t)...)
	m, req := w.model(&anthropic.Config{MaxPauses: -1}), ask("search")
	resp, err := m.Generate(t.Context(), req, nil)
	require.NoError(t, err)
	req.Messages = append(req.Messages, resp.Message)
	resp, err = m.Generate(t.Context(), req, nil)
	require.NoError(t, err)
	require.Equal(t, "Found it.", resp.Message.Text())
	check(t, w.Sent()[1])
}

// A failure on the way is one of the whole reply.
func TestPausedTurnsThatFail(t *testing.T) {
	t.Parallel()
	w := serve(t, fixtureIn(t, "pauses", "pause_1"), wiretest.Status(529, nil, errorBody("overloaded_error", "Overloaded")))
	resp, err := w.model(nil).Generate(t.Context(), ask("search"), nil)
	require.Nil(t, resp)
	require.ErrorIs(t, err, ai.ErrOverloaded)
}
