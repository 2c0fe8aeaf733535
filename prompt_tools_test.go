package ai_test

import (
	"context"
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/holdpoint/ai"
	"github.com/holdpoint/ai/aitest"
)

// handed is a conversation that was handed to a prompt.
func handed(t *testing.T, r *ai.Registry, name string) []*ai.Message {
	t.Helper()
	m := aitest.NewModel(t, aitest.ToolRequests(wish(name, "1", "")), aitest.Text("yes?"))
	resp, err := ai.Generate(t.Context(), r, &ai.GenerateOptions{Model: m, Prompt: "hello"})
	require.NoError(t, err)
	return aitest.Reload(t, resp.Messages)
}

func TestToolsOfAPrompt(t *testing.T) {
	t.Parallel()
	tests := map[string]struct{ tools, offered []string }{
		"all of the registry": {nil, []string{"pay", "x", "y", "desk", "other", "left"}},
		"none":                {[]string{}, nil},
		"some, by any name":   {[]string{"y", "/tool/a/x", "/dynamic-action-provider/mcp", "/prompt/other"}, []string{"y", "x", "left", "other"}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := registryOf(t, named(t, "pay", "a/x", "b/y")...)
			desk := renders("desks/desk", "You are the desk.")
			desk.Tools = test.tools
			ai.DefinePrompt(r, desk)
			ai.DefinePrompt(r, renders("desks/other", "You are another."))
			require.NoError(t, r.AddProvider(&shelf{name: "mcp", tools: named(t, "mcp/left")}))

			m := aitest.NewModel(t, aitest.ToolRequests(wish("desk", "1", "")), aitest.Text("yes?"), aitest.Text("again?"))
			set, err := r.Tools(t.Context(), "/prompt/desk", "pay")
			require.NoError(t, err)
			resp, err := ai.Generate(t.Context(), r, &ai.GenerateOptions{Model: m, Prompt: "hello", Tools: set})
			require.NoError(t, err)
			_, err = ai.Generate(t.Context(), r, &ai.GenerateOptions{Model: m, Messages: aitest.Reload(t, resp.Messages), Prompt: "hm", Tools: set})
			require.NoError(t, err)
			require.Equal(t, []string{"desk", "pay"}, toolNames(m.Requests()[0]))
			require.Equal(t, test.offered, toolNames(m.Requests()[1]))
			require.Equal(t, test.offered, toolNames(m.Requests()[2]), "a later call takes them from the prompt too")
		})
	}
}

// After a transfer, what is not the prompt's can't be called.
func TestToolsOfAPromptAreTheOnlyOnes(t *testing.T) {
	t.Parallel()
	ran := false
	var r ai.Registry
	ai.DefineTool(&r, "bank/pay", "", func(context.Context, *ai.ToolCall, any) (any, error) { ran = true; return nil, nil })
	desk := renders("desk", "You are the desk.")
	desk.Tools = []string{}
	ai.DefinePrompt(&r, desk)
	set, err := r.AllTools(t.Context())
	require.NoError(t, err)
	m := aitest.NewModel(t, aitest.ToolRequests(wish("desk", "1", "")), aitest.ToolRequests(wish("pay", "2", "")))
	_, err = ai.Generate(t.Context(), &r, &ai.GenerateOptions{Model: m, Prompt: "hello", Tools: set})
	require.ErrorIs(t, err, ai.ErrNotFound)
	require.ErrorContains(t, err, "pay#2")
	require.False(t, ran)
}

func TestPromptWithToolsThatAreNotThere(t *testing.T) {
	t.Parallel()
	var r ai.Registry
	desk := renders("desk", "You are the desk.")
	desk.Tools = []string{"later"}
	ai.DefinePrompt(&r, desk)
	_, err := ai.Generate(t.Context(), &r, &ai.GenerateOptions{Model: aitest.NewModel(t, aitest.ToolRequests(wish("desk", "1", ""))), Prompt: "hello"})
	require.ErrorIs(t, err, ai.ErrNotFound)
	require.ErrorContains(t, err, `"later"`)
	history := requireHistory(t, err)

	// The tool is there after the next deploy, and the conversation goes on.
	require.NoError(t, r.Register(named(t, "later")...))
	m := aitest.NewModel(t, aitest.Text("yes?"))
	_, err = ai.Generate(t.Context(), &r, &ai.GenerateOptions{Model: m, Messages: aitest.Reload(t, history)})
	require.NoError(t, err)
	require.Equal(t, "You are the desk.", m.Requests()[0].Messages[0].Text())
	require.Equal(t, []string{"later"}, toolNames(m.Requests()[0]))
}

// A prompt that is in no registry is found in the set it was offered in.
func TestPromptThatIsNotRegistered(t *testing.T) {
	t.Parallel()
	desk, err := ai.NewPrompt(renders("desk", "You are the desk."))
	require.NoError(t, err)
	set := newSet(t, desk)
	m := aitest.NewModel(t, aitest.ToolRequests(wish("desk", "1", "")), aitest.Text("yes?"), aitest.Text("again?"))
	resp, err := ai.Generate(t.Context(), nil, &ai.GenerateOptions{Model: m, Prompt: "hello", Tools: set})
	require.NoError(t, err)
	_, err = ai.Generate(t.Context(), nil, &ai.GenerateOptions{Model: m, Messages: aitest.Reload(t, resp.Messages), Prompt: "hm", Tools: set})
	require.NoError(t, err)
	_, err = ai.Generate(t.Context(), nil, &ai.GenerateOptions{Model: m, Messages: resp.Messages, Prompt: "hm"})
	require.ErrorIs(t, err, ai.ErrNotFound)
	require.ErrorContains(t, err, `"desk"`)
}

// A history names a prompt by its full name: no other one steps in.
func TestPromptThatIsGone(t *testing.T) {
	t.Parallel()
	var before ai.Registry
	ai.DefinePrompt(&before, renders("desk", "You are the desk."))
	history := handed(t, &before, "desk")

	var after ai.Registry
	ai.DefinePrompt(&after, renders("secret/desk", "You are somebody else."))
	ai.DefineTool(&after, "desk", "A tool by that name.", noop[any, any])
	m := aitest.NewModel(t)
	_, err := ai.Generate(t.Context(), &after, &ai.GenerateOptions{Model: m, Messages: history, Prompt: "hm"})
	requirePlain(t, err)
	require.ErrorIs(t, err, ai.ErrNotFound)
	require.EqualError(t, err, `ai: the conversation was handed to prompt "desk": no prompt is named "desk"`)
}

func TestPromptOfAProvider(t *testing.T) {
	t.Parallel()
	desk, err := ai.NewPrompt(renders("mcp/desk", "You are the desk."))
	require.NoError(t, err)
	mcp := &shelf{name: "mcp", tools: []ai.Tool{desk}}
	var r ai.Registry
	require.NoError(t, r.AddProvider(mcp))
	history := handed(t, &r, "desk")
	require.Equal(t, "You are the desk.", history[0].Text())

	mcp.fail(errRefused)
	_, err = ai.Generate(t.Context(), &r, &ai.GenerateOptions{Model: aitest.NewModel(t), Messages: history, Prompt: "hm"})
	requirePlain(t, err)
	requireDown(t, err, "mcp/desk", "mcp")
	mcp.put(desk)
	_, err = ai.Generate(t.Context(), &r, &ai.GenerateOptions{Model: aitest.NewModel(t, aitest.Text("yes?")), Messages: history, Prompt: "hm"})
	require.NoError(t, err)
}

// Who is in charge must be clear from the history, or nobody is.
func TestPreamblesThatSayNonsense(t *testing.T) {
	t.Parallel()
	var r ai.Registry
	ai.DefinePrompt(&r, renders("desk", "You are the desk."))
	for _, nonsense := range []string{`""`, `7`, `null`, `["desk"]`, `{"prompt":"desk"}`} {
		history := handed(t, &r, "desk")
		history[0].Metadata["transfer"] = json.RawMessage(nonsense)
		_, err := ai.Generate(t.Context(), &r, &ai.GenerateOptions{Model: aitest.NewModel(t), Messages: history, Prompt: "hm", System: "Mine."})
		requirePlain(t, err)
		require.ErrorIs(t, err, ai.ErrInvalidArgument, nonsense)
		require.ErrorContains(t, err, `"transfer"`)
	}
	// A preamble of somebody else's hands nothing over.
	history := []*ai.Message{ai.TextMessage(ai.RoleSystem, "Theirs."), userSays("hello")}
	history[0].Metadata = ai.Metadata{"preamble": json.RawMessage(`true`)}
	m := aitest.NewModel(t, aitest.Text("yes?"))
	_, err := ai.Generate(t.Context(), &r, &ai.GenerateOptions{Model: m, Messages: history, System: "Mine."})
	require.NoError(t, err)
	require.Equal(t, "Mine.", m.Requests()[0].Messages[0].Text())
	require.Len(t, m.Requests()[0].Messages, 2)
}

// A transfer that a client sends back with a paused turn is read with care.
func TestKeptTransfersThatSayNonsense(t *testing.T) {
	t.Parallel()
	o := newOffice(renders("billing", "You bill."))
	res, err := o.turn(t, wish("billing", "1", ""), wish("pay", "2", `{"amount":1}`))
	require.NoError(t, err)
	for _, nonsense := range []string{
		`7`, `{}`, `null`, `{"prompt":"billing"}`, `{"prompt":"","messages":[{"role":"system","content":[]}]}`, `{"prompt":"billing","messages":[null]}`,
		`{"prompt":"billing","messages":[{"role":"narrator","content":[]}]}`,
	} {
		m := aitest.Reload(t, res.Model)
		m.ToolRequests()[0].Metadata["pendingMetadata"] = json.RawMessage(`{"transfer":` + nonsense + `}`)
		_, err = o.resume(t, m, restarts(yes(t, m.ToolRequests()[1])))
		if nonsense == `null` {
			require.NoError(t, err)
			continue
		}
		require.ErrorIs(t, err, ai.ErrInvalidArgument, nonsense)
		require.ErrorContains(t, err, "billing#1")
	}
	require.Equal(t, []string{"pay 1"}, o.take())
}

// Any tool can hand over, not only a prompt.
func TestTransferOfATool(t *testing.T) {
	t.Parallel()
	var r ai.Registry
	ai.DefinePrompt(&r, renders("desk", "You are the desk."))
	for name, transfer := range map[string]*ai.Transfer{
		"route":      {Prompt: "desk", Messages: []*ai.Message{ai.TextMessage(ai.RoleSystem, "Routed.")}},
		"nowhere":    {Prompt: "no", Messages: []*ai.Message{ai.TextMessage(ai.RoleSystem, "Routed.")}},
		"nameless":   {Messages: []*ai.Message{ai.TextMessage(ai.RoleSystem, "Routed.")}},
		"wordless":   {Prompt: "desk"},
		"nil inside": {Prompt: "desk", Messages: []*ai.Message{nil}},
	} {
		require.NoError(t, r.Register(newRaw(t, &ai.ToolDefinition{Name: name}, func(context.Context, *ai.ToolCall) (*ai.ToolResult, error) {
			return &ai.ToolResult{Output: json.RawMessage(`"routed"`), Transfer: transfer}, nil
		})))
	}
	m := aitest.NewModel(t, aitest.ToolRequests(wish("route", "1", "")), aitest.Text("yes?"))
	resp, err := ai.Generate(t.Context(), &r, &ai.GenerateOptions{Model: m, Prompt: "hello"})
	require.NoError(t, err)
	require.Equal(t, []string{"system Routed.", "user hello", "model route#1?", `tool route#1="routed"`, "model yes?"}, outline(resp.Messages))

	set, err := r.AllTools(t.Context())
	require.NoError(t, err)
	for _, name := range []string{"nameless", "wordless", "nil_inside"} {
		_, err = ai.Resolve(t.Context(), set, modelSays(wish(name, "1", "")), nil)
		turn, _ := failed(t, err)
		require.Equal(t, ai.FailedOutput, turn.Calls[0].Kind, name)
		require.True(t, turn.Calls[0].MayHaveActed, "it ran")
	}
	// Two tools that are not read-only and hand over may both have acted.
	_, err = ai.Resolve(t.Context(), set, modelSays(wish("route", "1", ""), wish("nowhere", "2", "")), nil)
	turn, _ := failed(t, err)
	require.True(t, turn.Calls[0].MayHaveActed)
	require.True(t, turn.Calls[1].MayHaveActed)
}
