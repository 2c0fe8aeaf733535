package anthropic_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/holdpoint/ai"
	"github.com/holdpoint/ai/aitest"
)

type order struct {
	Part  string `json:"part"`
	Count int    `json:"count,omitempty"`
}

// orderTool asks before it orders.
func orderTool(r *ai.Registry) {
	ai.DefineTool(r, "shop/order", "Orders a part.", func(_ context.Context, call *ai.ToolCall, in order) (string, error) {
		if !call.Resumed() {
			return "", call.Interrupt("order " + in.Part + "?")
		}
		return "ordered " + in.Part, nil
	})
}

// A conversation that pauses, is stored, and goes on makes requests that the API
// takes, whatever was answered and however the replies were cut.
func TestPausedConversations(t *testing.T) {
	t.Parallel()
	answers := map[string]func(testing.TB, *ai.Response) *ai.Answers{
		"approved": aitest.Approve,
		"denied":   func(t testing.TB, r *ai.Response) *ai.Answers { return aitest.Deny(t, r, "too dear") },
	}
	for name, decide := range answers {
		for _, ref := range []string{"toolu_%d", "", "same", "a.b:%d"} {
			for piece := range 4 {
				t.Run(fmt.Sprintf("%s %q %d", name, ref, piece), func(t *testing.T) {
					t.Parallel()
					pauseAndGoOn(t, ref, piece, decide)
				})
			}
		}
	}
}

func pauseAndGoOn(t *testing.T, ref string, piece int, decide func(testing.TB, *ai.Response) *ai.Answers) {
	t.Helper()
	var r ai.Registry
	orderTool(&r)
	call := func(n int, arguments string) aitest.WireCall {
		id := ref
		if ref != "" && ref != "same" {
			id = fmt.Sprintf(ref, n)
		}
		return aitest.WireCall{Ref: id, Name: "order", Arguments: arguments}
	}
	w := modelKit().Open(t,
		&aitest.WireReply{Reasoning: "hm", Text: "I order.", Piece: piece, Calls: []aitest.WireCall{
			call(1, `{"part":"Schräubchen"}`), call(2, `{"part":`), call(3, `{"part":7}`),
		}},
		&aitest.WireReply{Text: "Done.", Piece: piece},
	)
	opts := &ai.GenerateOptions{Model: w.Model, Prompt: "order"}
	var resp *ai.Response
	for c, err := range ai.Stream(t.Context(), &r, opts) {
		require.NoError(t, err)
		resp = c.Response
	}
	require.Equal(t, ai.FinishInterrupted, resp.FinishReason)
	resp, err := ai.Generate(t.Context(), &r, &ai.GenerateOptions{
		Model: w.Model, Messages: aitest.Reload(t, resp.Messages), Resume: decide(t, resp),
	})
	require.NoError(t, err)
	require.Equal(t, "Done.", resp.Text())
	require.Len(t, w.Requests(), 2)
	for _, body := range w.Requests() {
		w.Check(t, body)
	}
}

// A call that was cut by the length of the reply is sent back as one without
// arguments, with an error for a result.
func TestCallsThatWereCut(t *testing.T) {
	t.Parallel()
	var r ai.Registry
	orderTool(&r)
	w := modelKit().Open(t,
		&aitest.WireReply{FinishReason: ai.FinishLength, Calls: []aitest.WireCall{{Ref: "1", Name: "order", Arguments: `{"part":"scr`}}},
		&aitest.WireReply{Text: "I give up."},
	)
	var resp *ai.Response
	for c, err := range ai.Stream(t.Context(), &r, &ai.GenerateOptions{Model: w.Model, Prompt: "order"}) {
		require.NoError(t, err)
		resp = c.Response
	}
	require.Equal(t, "I give up.", resp.Text())
	w.Check(t, w.Requests()[1])
	require.Contains(t, string(w.Requests()[1]), `"is_error":true`)
}
