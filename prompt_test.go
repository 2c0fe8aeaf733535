package ai_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/holdpoint/ai"
	"github.com/holdpoint/ai/aitest"
)

// office is a reception with prompts to hand over to, and a tool that asks.
type office struct {
	ai.Registry
	diary
}

func newOffice(prompts ...*ai.Prompt) *office {
	o := &office{}
	ai.DefineTool(&o.Registry, "pay", "Pays.", func(_ context.Context, call *ai.ToolCall, in payIn) (string, error) {
		if !call.Resumed() {
			return "", call.Interrupt(payAsk{in.Amount})
		}
		o.add("pay %d", in.Amount)
		return "paid", nil
	})
	for _, p := range prompts {
		ai.DefinePrompt(&o.Registry, p)
	}
	return o
}

// turn resolves calls of a model message with all of the office's tools.
func (o *office) turn(t *testing.T, requests ...ai.Part) (*ai.Resolution, error) {
	t.Helper()
	set, err := o.AllTools(t.Context())
	require.NoError(t, err)
	return ai.Resolve(t.Context(), set, modelSays(requests...), nil)
}

func (o *office) resume(t *testing.T, m *ai.Message, answers *ai.Answers) (*ai.Resolution, error) {
	t.Helper()
	set, err := o.AllTools(t.Context())
	require.NoError(t, err)
	return resume(t, set, aitest.Reload(t, m), answers, nil)
}

func TestPromptDefinition(t *testing.T) {
	t.Parallel()
	p := renders("desks/billing", "hi")
	p.Description, p.InputSchema = "For money.", json.RawMessage(`{"type":"object","required":["why"]}`)
	made, err := ai.NewPrompt(p)
	require.NoError(t, err)
	p.Name, p.Description = "other", "other"
	require.JSONEq(t, `{"name":"desks/billing","description":"For money.","inputSchema":{"type":"object","required":["why"]}}`, jsonOf(t, made.Definition()))
	require.Same(t, made.Definition(), made.Definition())
	require.True(t, made.Definition().ReadOnly, "handing over changes nothing outside the conversation")

	p.InputSchema = json.RawMessage(`{"type":"string"}`)
	_, err = ai.NewPrompt(p)
	require.ErrorIs(t, err, ai.ErrInvalidArgument)
	require.ErrorContains(t, err, `"other"`)
}

func TestTransfer(t *testing.T) {
	t.Parallel()
	o := newOffice(&ai.Prompt{Name: "desks/billing", Render: func(_ context.Context, input json.RawMessage) ([]*ai.Message, error) {
		return []*ai.Message{
			{Role: ai.RoleSystem, Content: ai.Parts{&ai.TextPart{Text: "You bill: " + string(input)}}, Metadata: ai.Metadata{"version": json.RawMessage(`3`), "transfer": json.RawMessage(`"elsewhere"`)}},
			userSays("an example"),
		}, nil
	}})
	res, err := o.turn(t, wish("billing", "1", `{"why":"<rent>"}`))
	require.NoError(t, err)
	require.Equal(t, `{"role":"tool","content":[{"toolResponse":{"name":"billing","ref":"1","output":"transferred to desks/billing"}}]}`, jsonOf(t, res.Tool))
	require.Equal(t, "desks/billing", res.Transfer.Prompt)
	require.Len(t, res.Transfer.Messages, 2)

	m := aitest.NewModel(t, aitest.ToolRequests(wish("billing", "1", `{"why":"<rent>"}`)), aitest.Text("done"))
	resp, err := ai.Generate(t.Context(), &o.Registry, &ai.GenerateOptions{Model: m, System: "You receive.", Prompt: "hello"})
	require.NoError(t, err)
	require.Equal(t, []string{
		`system You bill: {"why":"<rent>"}`, "user an example", "user hello", "model billing#1?",
		`tool billing#1="transferred to desks/billing"`, "model done",
	}, outline(resp.Messages))
	require.JSONEq(t, `{"preamble":true,"transfer":"desks/billing","version":3}`, jsonOf(t, resp.Messages[0].Metadata))
	require.JSONEq(t, `{"preamble":true,"transfer":"desks/billing"}`, jsonOf(t, resp.Messages[1].Metadata))
	require.Equal(t, outline(resp.Messages)[:5], outline(m.Requests()[1].Messages), "the model goes on under the new instructions")
	require.Equal(t, "You receive.", m.Requests()[0].Messages[0].Text())
}

func TestTransferReplacesTheLastOne(t *testing.T) {
	t.Parallel()
	o := newOffice(renders("billing", "You bill."), renders("complaints", "You listen."))
	m := aitest.NewModel(t, aitest.ToolRequests(wish("billing", "1", "")), aitest.ToolRequests(wish("complaints", "2", "")), aitest.Text("well"))
	resp, err := ai.Generate(t.Context(), &o.Registry, &ai.GenerateOptions{Model: m, System: "You receive.", Prompt: "hello"})
	require.NoError(t, err)
	require.Equal(t, []string{
		"system You listen.", "user hello", "model billing#1?", `tool billing#1="transferred to billing"`,
		"model complaints#2?", `tool complaints#2="transferred to complaints"`, "model well",
	}, outline(resp.Messages))
	require.JSONEq(t, `{"preamble":true,"transfer":"complaints"}`, jsonOf(t, resp.Messages[0].Metadata))

	// Another conversation later, back again, over a history that was JSON.
	m = aitest.NewModel(t, aitest.ToolRequests(wish("billing", "3", "")), aitest.Text("fine"))
	resp, err = ai.Generate(t.Context(), &o.Registry, &ai.GenerateOptions{Model: m, System: "You receive.", Messages: aitest.Reload(t, resp.Messages), Prompt: "money"})
	require.NoError(t, err)
	require.Equal(t, []string{"system You bill.", "user hello"}, outline(resp.Messages)[:2])
	require.Equal(t, "You listen.", m.Requests()[0].Messages[0].Text(), "the caller's instructions do not come back")
}

// A transfer beside a question waits until the turn is complete.
func TestTransferBesideAnInterrupt(t *testing.T) {
	t.Parallel()
	for name, requests := range map[string][]ai.Part{
		"transfer first": {wish("billing", "b", ""), wish("pay", "1", `{"amount":1}`), wish("pay", "2", `{"amount":2}`)},
		"transfer last":  {wish("pay", "1", `{"amount":1}`), wish("pay", "2", `{"amount":2}`), wish("billing", "b", "")},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o := newOffice(renders("billing", "You bill."))
			var wishes []*ai.ToolRequestPart
			for _, p := range requests {
				wishes = append(wishes, p.(*ai.ToolRequestPart))
			}
			reception := aitest.NewModel(t, aitest.ToolRequests(wishes...))
			paused, err := ai.Generate(t.Context(), &o.Registry, &ai.GenerateOptions{Model: reception, System: "You receive.", Prompt: "go"})
			require.NoError(t, err)
			require.Len(t, paused.Interrupts(), 2)
			require.Equal(t, "system You receive.", outline(paused.Messages)[0], "nothing is handed over yet")

			partly, err := ai.Generate(t.Context(), &o.Registry, &ai.GenerateOptions{
				Model: aitest.NewModel(t), Messages: aitest.Reload(t, paused.Messages),
				Resume: restarts(yes(t, paused.Interrupts()[0].Request)), Turn: ai.ResolveOptions{Partial: true},
			})
			require.NoError(t, err)
			require.Equal(t, "system You receive.", outline(partly.Messages)[0])

			m := aitest.NewModel(t, aitest.Text("done"))
			resp, err := ai.Generate(t.Context(), &o.Registry, &ai.GenerateOptions{
				Model: m, Messages: aitest.Reload(t, partly.Messages), Resume: aitest.Deny(t, partly, "too much"),
			})
			require.NoError(t, err)
			lines := outline(resp.Messages)
			require.Equal(t, "system You bill.", lines[0])
			require.NotContains(t, lines, "system You receive.")
			require.Subset(t, lines, []string{`tool billing#b="transferred to billing"`, `tool pay#1="paid"`, `tool pay#2="Denied: too much"`})
			require.Equal(t, "You bill.", m.Requests()[0].Messages[0].Text())
			require.NotContains(t, jsonOf(t, resp.Messages[1:]), "You bill", "the kept instructions go with the pause")
			require.Equal(t, []string{"pay 1"}, o.take())
		})
	}
}

// Nobody can say which of two transfers was meant.
func TestTwoTransfersInOneTurn(t *testing.T) {
	t.Parallel()
	o := newOffice(renders("billing", "You bill."), renders("complaints", "You listen."))
	ai.DefineTool(&o.Registry, "note", "Notes.", func(context.Context, *ai.ToolCall, any) (string, error) {
		o.add("note")
		return "noted", nil
	})
	_, err := o.turn(t, wish("billing", "1", ""), wish("note", "2", ""), wish("complaints", "3", ""), wish("pay", "4", `{"amount":4}`))
	turn, m := failed(t, err)
	require.Len(t, turn.Calls, 2)
	for i, label := range []string{"billing#1", "complaints#3"} {
		require.Equal(t, ai.FailedTransfer, turn.Calls[i].Kind)
		require.ErrorIs(t, turn.Calls[i], ai.ErrFailedPrecondition)
		require.ErrorContains(t, turn.Calls[i], label)
		require.False(t, turn.Calls[i].MayHaveActed)
	}
	require.Len(t, turn.Interrupts(), 1, "what asked beside them waits")
	require.Len(t, turn.Open(), 3)

	// Nothing is lost: one is chosen, the other refused, the rest is as it was.
	res, err := o.resume(t, m, &ai.Answers{
		Restart: []*ai.ToolRequestPart{yes(t, m.ToolRequests()[2]), yes(t, m.ToolRequests()[3])},
		Respond: []*ai.ToolResponsePart{no(t, m.ToolRequests()[0], "one at a time")},
	})
	require.NoError(t, err)
	require.Equal(t, []string{`"Denied: one at a time"`, `"noted"`, `"transferred to complaints"`, `"paid"`}, outputsOf(t, res.Tool))
	require.Equal(t, "complaints", res.Transfer.Prompt)
	require.Equal(t, []string{"note", "pay 4"}, o.take(), "the note was written once")

	// Choosing both is the same mistake again.
	_, err = o.resume(t, m, restarts(yes(t, m.ToolRequests()[0]), yes(t, m.ToolRequests()[2]), yes(t, m.ToolRequests()[3])))
	turn, _ = failed(t, err)
	require.Len(t, turn.Calls, 2)
}

// One transfer was kept over a pause, the other comes with the resumption: the
// one that came first stands.
func TestSecondTransferAfterAPause(t *testing.T) {
	t.Parallel()
	o := newOffice(renders("billing", "You bill."), renders("complaints", "You listen."))
	require.NoError(t, o.Use(&ai.Middleware{Name: "gate", Wrap: func(ctx context.Context, call *ai.ToolCall, next ai.Next) (*ai.ToolResult, error) {
		if call.Name == "complaints" && !call.Resumed() {
			return nil, call.Interrupt("really?")
		}
		return next(ctx)
	}}))
	res, err := o.turn(t, wish("billing", "1", ""), wish("complaints", "2", ""))
	require.NoError(t, err)
	require.Nil(t, res.Transfer)
	require.Len(t, res.Interrupts(), 1)

	_, err = o.resume(t, res.Model, restarts(yes(t, res.Interrupts()[0].Request)))
	turn, m := failed(t, err)
	require.Len(t, turn.Calls, 1)
	require.Equal(t, "complaints", turn.Calls[0].Name)
	done, err := o.resume(t, m, responds(no(t, m.ToolRequests()[1], "no")))
	require.NoError(t, err)
	require.Equal(t, "billing", done.Transfer.Prompt)
	require.Equal(t, []string{`"transferred to billing"`, `"Denied: no"`}, outputsOf(t, done.Tool))
}

func TestTransferThatFails(t *testing.T) {
	t.Parallel()
	boom := errors.New("no such template")
	renderings := map[string]struct {
		render func(context.Context, json.RawMessage) ([]*ai.Message, error)
		text   string
	}{
		"an error":      {func(context.Context, json.RawMessage) ([]*ai.Message, error) { return nil, boom }, "no such template"},
		"nothing":       {func(context.Context, json.RawMessage) ([]*ai.Message, error) { return nil, nil }, `prompt "billing" rendered no messages`},
		"a nil message": {func(context.Context, json.RawMessage) ([]*ai.Message, error) { return []*ai.Message{nil}, nil }, `prompt "billing" rendered no messages`},
		"an odd message": {func(context.Context, json.RawMessage) ([]*ai.Message, error) {
			return []*ai.Message{{Role: "narrator"}}, nil
		}, "billing#1"},
		"a panic": {func(context.Context, json.RawMessage) ([]*ai.Message, error) { panic(boom) }, "no such template"},
	}
	for name, test := range renderings {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			broken := true
			good := renders("billing", "You bill.").Render
			o := newOffice(&ai.Prompt{Name: "billing", Render: func(ctx context.Context, input json.RawMessage) ([]*ai.Message, error) {
				if broken {
					return test.render(ctx, input)
				}
				return good(ctx, input)
			}})
			m := aitest.NewModel(t, aitest.ToolRequests(wish("billing", "1", "")))
			_, err := ai.Generate(t.Context(), &o.Registry, &ai.GenerateOptions{Model: m, System: "You receive.", Prompt: "go"})
			require.ErrorContains(t, err, test.text)
			require.ErrorContains(t, err, "billing#1")
			turn, last := failed(t, err)
			require.False(t, turn.Calls[0].MayHaveActed)
			history := requireHistory(t, err)
			require.Equal(t, []string{"system You receive.", "user go", "model billing#1?"}, outline(history), "nothing is handed over")

			broken = false
			resp, err := ai.Generate(t.Context(), &o.Registry, &ai.GenerateOptions{
				Model: aitest.NewModel(t, aitest.Text("done")), Messages: aitest.Reload(t, history), Resume: restarts(yes(t, last.ToolRequests()[0])),
			})
			require.NoError(t, err)
			require.Equal(t, "system You bill.", outline(resp.Messages)[0])
		})
	}
}

func ExamplePrompt() {
	var tools ai.Registry
	ai.DefinePrompt(&tools, &ai.Prompt{
		Name:        "billing",
		Description: "Hands over to the billing desk.",
		Tools:       []string{}, // none
		Render: func(context.Context, json.RawMessage) ([]*ai.Message, error) {
			return []*ai.Message{ai.TextMessage(ai.RoleSystem, "You are the billing desk.")}, nil
		},
	})
	// A model that hands over at once, and then answers.
	model := ai.ModelFunc(func(_ context.Context, req *ai.ModelRequest, _ func(*ai.Chunk) error) (*ai.ModelResponse, error) {
		fmt.Printf("%q has %d tools\n", req.Messages[0].Text(), len(req.Tools))
		if len(req.Tools) == 0 {
			return &ai.ModelResponse{Message: ai.TextMessage(ai.RoleModel, "You owe us nothing.")}, nil
		}
		request := &ai.ToolRequestPart{ToolRequest: ai.ToolRequest{Name: "billing", Ref: "call_1"}}
		return &ai.ModelResponse{Message: &ai.Message{Role: ai.RoleModel, Content: ai.Parts{request}}}, nil
	})
	resp, err := ai.Generate(context.Background(), &tools, &ai.GenerateOptions{Model: model, System: "You are the reception.", Prompt: "What do I owe?"})
	if err != nil {
		panic(err)
	}
	fmt.Println(resp.Text())
	// Output:
	// "You are the reception." has 1 tools
	// "You are the billing desk." has 0 tools
	// You owe us nothing.
}
