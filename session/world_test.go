package session_test

import (
	"context"
	"encoding/json"
	"fmt"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/holdpoint/ai"
	"github.com/holdpoint/ai/aitest"
	"github.com/holdpoint/ai/session"
)

// world is what tools act on. It counts what each call did, by its key.
type world struct {
	mu     sync.Mutex
	starts map[string]int
	paid   []payment
}

func (w *world) act(key string, p payment) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.starts == nil {
		w.starts = make(map[string]int)
	}
	w.starts[key]++
	w.paid = append(w.paid, p)
}

// script is a model that answers by how many tool messages there are: any process
// can go on with it.
func script(replies ...*aitest.Reply) ai.Model {
	return ai.ModelFunc(func(_ context.Context, req *ai.ModelRequest, _ func(*ai.Chunk) error) (*ai.ModelResponse, error) {
		n := 0
		for _, m := range req.Messages {
			if m.Role == ai.RoleTool {
				n++
			}
		}
		if n >= len(replies) {
			return nil, fmt.Errorf("no reply %d", n)
		}
		data, err := json.Marshal(&ai.Message{Role: ai.RoleModel, Content: replies[n].Content})
		if err != nil {
			return nil, err
		}
		message := &ai.Message{}
		if err := json.Unmarshal(data, message); err != nil {
			return nil, err
		}
		return &ai.ModelResponse{Message: message, FinishReason: ai.FinishStop}, nil
	})
}

// scenario is an agent and what a user says to it.
type scenario struct {
	manager func(w *world, store session.Store) *session.Manager
	paid    int // how often money moves
}

func payTool(w *world, r *ai.Registry, name string, def func(*ai.ToolDefinition)) {
	d := &ai.ToolDefinition{Name: name, Description: "Pays."}
	if def != nil {
		def(d)
	}
	tool, err := ai.NewTool(d, func(_ context.Context, call *ai.ToolCall, in payment) (string, error) {
		w.act(call.Key(), in)
		return "paid " + in.To, nil
	})
	if err != nil {
		panic(err)
	}
	if err := r.Register(tool); err != nil {
		panic(err)
	}
}

func gated(turn ai.ResolveOptions) ai.ResolveOptions {
	turn.Middleware = append(turn.Middleware, gate())
	return turn
}

func approve(p *session.Pending) *session.Decision {
	return &session.Decision{Pending: p.ID, Verdict: session.Approve, By: "ann", Digest: p.Digest}
}

func pays(names ...string) *aitest.Reply {
	var list []*ai.ToolRequestPart
	for i, name := range names {
		list = append(list, aitest.Request("pay", fmt.Sprintf("call_%d", i), payment{name, i + 1}))
	}
	return aitest.ToolRequests(list...)
}

var scenarios = map[string]scenario{
	"one after the other": {
		paid: 3,
		manager: func(w *world, store session.Store) *session.Manager {
			m := &session.Manager{Store: store, Registry: &ai.Registry{}, Options: ai.GenerateOptions{
				Model: script(pays("a"), pays("b", "c"), aitest.Text("done")),
				Turn:  gated(ai.ResolveOptions{Limit: 1}),
			}}
			payTool(w, m.Registry, "pay", nil)
			return m
		},
	},
	"two conversations inside": {
		paid: 4,
		manager: func(w *world, store session.Store) *session.Manager {
			inner := &ai.Registry{}
			payTool(w, inner, "pay", nil)
			m := &session.Manager{Store: store, Registry: &ai.Registry{}, Options: ai.GenerateOptions{
				Model: script(aitest.ToolRequests(aitest.Request("both", "h", map[string]any{})), aitest.Text("done")),
				Turn:  ai.ResolveOptions{Limit: 1},
			}}
			ai.DefineTool(m.Registry, "both", "Runs two.", func(ctx context.Context, call *ai.ToolCall, _ struct{}) (string, error) {
				var failed error
				for _, branch := range []string{"x", "y"} {
					_, err := call.Generate(ctx, branch, inner, &ai.GenerateOptions{
						Model: script(pays(branch+"1"), pays(branch+"2"), aitest.Text("paid")), Prompt: "Pay twice.",
						Turn: gated(ai.ResolveOptions{}),
					})
					if err != nil && failed == nil {
						failed = err
					}
				}
				return "both", failed
			})
			return m
		},
	},
}

// finish goes on with a session until it is done, deciding as the scenario does.
func finish(t *testing.T, m *session.Manager, id string, decide func(*session.Pending) *session.Decision) *session.Result {
	t.Helper()
	for range 20 {
		result, err := m.Run(t.Context(), id)
		require.NoError(t, err)
		if len(result.Pending) == 0 {
			return result
		}
		for _, p := range result.Pending {
			require.NoError(t, m.Decide(t.Context(), id, decide(p)))
		}
	}
	t.Fatal("the session does not come to its end")
	return nil
}
