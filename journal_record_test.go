package ai_test

import (
	"context"
	"slices"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/holdpoint/ai"
	"github.com/holdpoint/ai/aitest"
)

// recorder keeps of each journal entry what Resume would go on from: the messages, and
// the last state of each request.
type recorder struct {
	mu       sync.Mutex
	messages []*ai.Message
	states   []*ai.Message // the last message, behind each entry
	ask      bool          // before the first start
}

func (r *recorder) Said(_ context.Context, path ai.Path, messages []*ai.Message, _ *ai.ModelResponse) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(path) == 0 {
		r.messages = append(r.messages, messages...)
		r.states = append(r.states, messages[len(messages)-1])
	}
	return nil
}

func (r *recorder) Started(_ context.Context, call *ai.ToolCall, request *ai.ToolRequestPart) error {
	if r.ask && !call.Resumed() {
		return call.Interrupt("really?")
	}
	r.replace(call, request)
	return nil
}

func (r *recorder) Settled(_ context.Context, call *ai.ToolCall, end *ai.Settlement) error {
	r.replace(call, end.Request)
	return nil
}

func (r *recorder) replace(call *ai.ToolCall, request *ai.ToolRequestPart) {
	r.mu.Lock()
	defer r.mu.Unlock()
	m := *r.states[len(r.states)-1]
	m.Content = slices.Clone(m.Content)
	for i, p := range m.Content {
		if req, ok := p.(*ai.ToolRequestPart); ok && req.ToolRequest.Ref == call.Ref {
			m.Content[i] = request
		}
	}
	r.states = append(r.states, &m)
}

// Whatever a journal has heard of so far is a message that can be resumed: what ended
// is not run again, and what started and was not heard of is in doubt.
func TestJournalAtEveryMoment(t *testing.T) {
	t.Parallel()
	acted := map[string]int{}
	var tools ai.Registry
	ai.DefineTool(&tools, "act", "Acts.", func(_ context.Context, call *ai.ToolCall, _ struct{}) (string, error) {
		acted[call.Ref]++
		return "acted", nil
	})
	r := &recorder{}
	_, err := ai.Generate(t.Context(), &tools, &ai.GenerateOptions{
		Prompt: "go", Turn: ai.ResolveOptions{Journal: r, Sequential: true},
		Model: aitest.NewModel(t, aitest.ToolRequests(aitest.Request("act", "a", nil), aitest.Request("act", "b", nil)), aitest.Text("done")),
	})
	require.NoError(t, err)
	require.Len(t, r.messages, 2, "both replies")
	require.Len(t, r.states, 6, "a reply, two starts, two ends, a reply")
	set, err := tools.AllTools(t.Context())
	require.NoError(t, err)
	for i, want := range []struct{ open, doubt []string }{
		{[]string{"a", "b"}, nil}, {[]string{"a", "b"}, []string{"a"}}, {[]string{"b"}, nil}, {[]string{"b"}, []string{"b"}},
	} {
		clear(acted)
		state := aitest.Reload(t, &ai.Response{Message: r.states[i], Messages: []*ai.Message{r.states[i]}}).Message
		open, err := state.Open()
		require.NoError(t, err)
		answers := &ai.Answers{}
		var refs, doubt []string
		for _, req := range open {
			refs = append(refs, req.ToolRequest.Ref)
			if req.Metadata["failure"] != nil {
				require.Contains(t, string(req.Metadata["failure"]), `"inDoubt":true`)
				doubt = append(doubt, req.ToolRequest.Ref)
			}
			again, err := ai.Restart(req, nil)
			require.NoError(t, err)
			answers.Restart = append(answers.Restart, again)
		}
		require.Equal(t, want.open, refs, i)
		require.Equal(t, want.doubt, doubt, i)
		res, err := ai.Resume(t.Context(), set, state, answers, &ai.ResolveOptions{Sequential: true})
		require.NoError(t, err)
		require.Len(t, res.Tool.Content, 2)
		require.Len(t, acted, len(want.open), "only what is open runs")
	}
	closed, err := ai.CloseTurn([]*ai.Message{r.states[4]})
	require.NoError(t, err)
	require.Len(t, closed[1].Content, 2)
	_, err = ai.CloseTurn([]*ai.Message{r.states[3]})
	require.ErrorIs(t, err, ai.ErrFailedPrecondition)
	require.ErrorContains(t, err, "act#b")
	_, err = ai.CloseTurn(nil)
	require.ErrorIs(t, err, ai.ErrFailedPrecondition)
}

// A journal that asks is answered like any asker, and then not in the way.
func TestJournalThatAsks(t *testing.T) {
	t.Parallel()
	var tools ai.Registry
	keys := []string{}
	ai.DefineTool(&tools, "act", "Acts.", func(_ context.Context, call *ai.ToolCall, _ struct{}) (string, error) {
		require.False(t, call.Resumed(), "the tool did not ask")
		require.Equal(t, 7, call.Attempt())
		keys = append(keys, call.Key())
		return "acted", nil
	})
	r := &recorder{ask: true}
	turn := ai.ResolveOptions{Journal: r, Identify: func(*ai.ToolCall) (string, int) { return "k", 7 }}
	model := aitest.NewModel(t, aitest.ToolRequests(aitest.Request("act", "a", nil)), aitest.Text("done"))
	resp, err := ai.Generate(t.Context(), &tools, &ai.GenerateOptions{Prompt: "go", Turn: turn, Model: model})
	require.NoError(t, err)
	require.Len(t, resp.Interrupts(), 1)
	require.Equal(t, "journal", resp.Interrupts()[0].By)
	require.Empty(t, keys)
	answers := &ai.Answers{}
	answers.Approve(resp.Interrupts()[0])
	resp, err = ai.Generate(t.Context(), &tools, &ai.GenerateOptions{Messages: aitest.Reload(t, resp).Messages, Resume: answers, Turn: turn, Model: model})
	require.NoError(t, err)
	require.Equal(t, "done", resp.Text())
	require.Equal(t, []string{"k"}, keys)
}

func TestSettle(t *testing.T) {
	t.Parallel()
	req := aitest.Request("gone", "a", map[string]any{"x": 1})
	denied, err := ai.Settle(req, ai.DeniedResult("no"))
	require.NoError(t, err)
	require.Empty(t, req.Metadata, "the request that was passed is not changed")
	_, err = ai.Settle(denied, ai.DeniedResult("no"))
	require.ErrorIs(t, err, ai.ErrFailedPrecondition)
	_, err = ai.Settle(nil, ai.DeniedResult("no"))
	require.ErrorIs(t, err, ai.ErrInvalidArgument)
	_, err = ai.Settle(req, nil)
	require.ErrorIs(t, err, ai.ErrInvalidArgument)
	_, err = ai.Settle(req, &ai.ToolResult{Output: []byte("{"), Outcome: ai.OutcomeUnknown})
	require.ErrorIs(t, err, ai.ErrInvalidArgument)
}
