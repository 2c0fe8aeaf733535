package ai_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/holdpoint/ai"
	"github.com/holdpoint/ai/aitest"
)

// setOf is a set of tools that say which one they are.
func setOf(t testing.TB, fulls ...string) *ai.ToolSet {
	t.Helper()
	tools := make([]ai.Tool, len(fulls))
	for i, full := range fulls {
		tools[i] = newRaw(t, &ai.ToolDefinition{Name: full}, sayName)
	}
	return newSet(t, tools...)
}

// recorded is a request that a set of an earlier day has looked up.
func recorded(name, original string) *ai.ToolRequestPart {
	req := wish(name, "1", "{}")
	req.Metadata = ai.Metadata{"originalName": json.RawMessage(original)}
	return req
}

func TestToolSetFinds(t *testing.T) {
	t.Parallel()
	set := setOf(t, "now", "bank/pay", "a/x", "b/x", "geo.locate")
	found := map[*ai.ToolRequestPart]string{
		wish("now", "1", ""): "now", wish("pay", "1", ""): "bank/pay", wish("a__x", "1", ""): "a/x", wish("geo_locate", "1", ""): "geo.locate",
		wish("bank/pay", "1", ""): "bank/pay", wish("b/x", "1", ""): "b/x", wish("geo.locate", "1", ""): "geo.locate",
		recorded("pay", `"bank/pay"`): "bank/pay", recorded("bank__pay", `"bank/pay"`): "bank/pay", recorded("bank/pay", `"bank/pay"`): "bank/pay",
		recorded("x", `"a/x"`): "a/x", recorded("a__x", `"a/x"`): "a/x", recorded("a__x_1653a068", `"a/x"`): "a/x", recorded("now", `"now"`): "now",
		recorded("locate", `"locate"`): "", recorded("geo.locate", `"geo.locate"`): "geo.locate",
	}
	for req, full := range found {
		res, err := ai.Resolve(t.Context(), set, modelSays(req), nil)
		if full == "" {
			require.ErrorIs(t, err, ai.ErrNotFound, "%+v", req)
			continue
		}
		require.NoError(t, err, "%+v", req)
		require.Equal(t, []string{`"` + full + `"`}, outputsOf(t, res.Tool), "%+v", req)
		_, err = set.Check(req)
		require.NoError(t, err)
	}
}

func TestToolSetFindsNothingElse(t *testing.T) {
	t.Parallel()
	set := setOf(t, "now", "bank/pay", "a/x", "b/x", "geo.locate")
	for _, name := range []string{
		"", "x", "bank__pay", "Now", "NOW", "pay ", "/tool/now", "/tool.v2/now", "/tool/bank/pay", "/bank/pay", "bank/pay/", "locate", "geo", "c/pay",
		"a__x_1653a068", "bank_pay", "b__x/x",
	} {
		requireNotOffered(t, set, wish(name, "1", ""), name)
	}
	// What is on record is what counts, not a tool that has the name today.
	requireNotOffered(t, set, recorded("now", `"later/now"`), "later/now")
	requireNotOffered(t, set, recorded("pay", `"post/pay"`), "post/pay")
	requireNotOffered(t, nil, wish("now", "1", ""), "now")
	requireNotOffered(t, newSet(t), wish("now", "1", ""), "now")
}

func requireNotOffered(t *testing.T, set *ai.ToolSet, req *ai.ToolRequestPart, name string) {
	t.Helper()
	_, err := set.Check(req)
	require.ErrorIs(t, err, ai.ErrNotFound, req.ToolRequest.Name)
	require.ErrorContains(t, err, `"`+name+`"`)
	_, err = ai.Resolve(t.Context(), set, modelSays(req), nil)
	turn, m := failed(t, err)
	require.Equal(t, ai.FailedLookup, turn.Calls[0].Kind)
	require.False(t, turn.Calls[0].MayHaveActed)
	require.ErrorIs(t, err, ai.ErrNotFound)
	_, err = resume(t, set, m, restarts(yes(t, m.ToolRequests()[0])), nil)
	require.ErrorIs(t, err, ai.ErrNotFound, "a resumption finds what a first run finds")
}

func TestForgedOriginalNamesAreRefused(t *testing.T) {
	t.Parallel()
	set := setOf(t, "now", "bank/pay", "a/x", "b/x")
	for _, req := range []*ai.ToolRequestPart{
		recorded("now", `"bank/pay"`), recorded("a__x", `"b/x"`), recorded("pay", `"now"`), recorded("pay", `""`), recorded("pay", `7`),
		recorded("pay", `null`), recorded("pay", `["bank/pay"]`), recorded("x", `"bank/pay"`), recorded("bank_pay", `"bank/pay"`),
		recorded("a__x_00000000", `"a/x"`), recorded("", `"bank/pay"`),
	} {
		_, err := set.Check(req)
		require.ErrorIs(t, err, ai.ErrInvalidArgument, "%+v", req)
		require.ErrorContains(t, err, "originalName")
		require.ErrorContains(t, err, req.ToolRequest.Name+"#1")
		_, err = ai.Resolve(t.Context(), set, modelSays(req), nil)
		require.ErrorIs(t, err, ai.ErrInvalidArgument)
	}
	ran := false
	var r ai.Registry
	ai.DefineTool(&r, "bank/pay", "", func(context.Context, *ai.ToolCall, any) (any, error) { ran = true; return nil, nil })
	ai.DefineTool(&r, "now", "", noop[any, any])
	all, err := r.AllTools(t.Context())
	require.NoError(t, err)
	req := recorded("now", `"bank/pay"`)
	_, err = ai.Resolve(t.Context(), all, modelSays(req), nil)
	require.ErrorIs(t, err, ai.ErrInvalidArgument)
	req.Metadata["interrupt"] = json.RawMessage(`true`)
	_, err = resume(t, all, modelSays(req), restarts(yes(t, req)), nil)
	require.ErrorIs(t, err, ai.ErrInvalidArgument)
	require.False(t, ran)
}

// Whatever a registry holds, a conversation has the tools of its set.
func TestOnlyToolsOfTheSetAreCalled(t *testing.T) {
	t.Parallel()
	var log diary
	var r ai.Registry
	for _, name := range []string{"bank/pay", "now", "pay"} {
		ai.DefineTool(&r, name, "", func(_ context.Context, call *ai.ToolCall, _ any) (string, error) {
			log.add("%s", call.Name)
			return "done", nil
		})
	}
	set, err := r.Tools(t.Context(), "now")
	require.NoError(t, err)
	for _, name := range []string{"pay", "bank__pay"} {
		m := aitest.NewModel(t, aitest.ToolRequests(wish("now", "1", ""), wish(name, "2", "")), aitest.Text("sorry"))
		resp, err := ai.Generate(t.Context(), &r, &ai.GenerateOptions{
			Model: m, Prompt: "go", Tools: set, Turn: ai.ResolveOptions{OnError: ai.ReportErrors},
		})
		require.NoError(t, err)
		require.Equal(t, "sorry", resp.Text())
		require.Equal(t, []string{"now"}, log.take(), name)
		require.Equal(t, []string{"now"}, toolNames(m.Requests()[0]))
	}
	// Nor by what a client puts into a history.
	req := recorded("pay", `"bank/pay"`)
	req.Metadata["interrupt"] = json.RawMessage(`true`)
	_, err = ai.Generate(t.Context(), &r, &ai.GenerateOptions{
		Model: aitest.NewModel(t), Messages: []*ai.Message{userSays("go"), modelSays(req)}, Tools: set, Resume: restarts(yes(t, req)),
	})
	require.ErrorIs(t, err, ai.ErrNotFound)
	require.Empty(t, log.take())
}

func TestToolsThatAreNotThereAreListed(t *testing.T) {
	t.Parallel()
	_, err := setOf(t, "b", "c/a").Check(wish("d", "1", ""))
	require.EqualError(t, err, `ai: tool "d" is not available; on offer: a, b`)
	var many []string
	for i := range 25 {
		many = append(many, strings.Repeat("t", i+1))
	}
	_, err = setOf(t, many...).Check(wish("d", "1", ""))
	require.ErrorContains(t, err, "tt, ttt")
	require.ErrorContains(t, err, " and 5 more")
}

func TestCheck(t *testing.T) {
	t.Parallel()
	ran := false
	var r ai.Registry
	ai.DefineTool(&r, "bank/pay", "", func(context.Context, *ai.ToolCall, amountInput) (any, error) { ran = true; return nil, nil })
	ai.DefineTool(&r, "now", "", noop[struct{}, any])
	set, err := r.AllTools(t.Context())
	require.NoError(t, err)

	input, err := set.Check(wish("pay", "1", `{"Amount":1.0}`))
	require.NoError(t, err)
	require.JSONEq(t, `{"Amount":1}`, string(input))
	for _, absent := range []string{"", "null", "{}"} {
		input, err = set.Check(wish("now", "1", absent))
		require.NoError(t, err)
		require.Equal(t, `{}`, string(input))
	}
	asked := wish("pay", "1", `{"Amount":1}`)
	asked.Metadata = ai.Metadata{"effectiveInput": json.RawMessage(`{"Amount":2}`), "interrupt": json.RawMessage(`true`)}
	input, err = set.Check(asked)
	require.NoError(t, err)
	require.JSONEq(t, `{"Amount":2}`, string(input), "what the tool would get")
	asked.Metadata["effectiveInput"] = json.RawMessage(`{"Amount":"much"}`)
	input, err = set.Check(asked)
	require.ErrorIs(t, err, ai.ErrInvalidArgument)
	require.Nil(t, input)

	for _, bad := range []string{`{"Amount":"five"}`, `{}`, `[]`, `{"Amount":1,"to":"bob"}`} {
		input, err = set.Check(wish("pay", "7", bad))
		var fault *ai.ArgumentError
		require.ErrorAs(t, err, &fault, bad)
		require.ErrorIs(t, err, ai.ErrInvalidArgument)
		require.Equal(t, []string{"bank/pay", "7", bad}, []string{fault.Tool, fault.Ref, string(fault.Arguments)})
		require.NotEmpty(t, fault.Faults)
		require.Nil(t, input)
	}
	unreadable := wish("pay", "1", `{}`)
	unreadable.Metadata = ai.Metadata{"argumentsError": json.RawMessage(`{"text":"{{","problem":"text that is not JSON"}`)}
	var fault *ai.ArgumentError
	_, err = set.Check(unreadable)
	require.ErrorAs(t, err, &fault)
	require.Equal(t, `"{{"`, string(fault.Arguments))

	partial := wish("pay", "1", `{"Amount":1}`)
	partial.ToolRequest.Partial = true
	unread := wish("pay", "1", `{"Amount":1}`)
	unread.Metadata = ai.Metadata{"failure": json.RawMessage(`7`)}
	for text, req := range map[string]*ai.ToolRequestPart{"no tool request": nil, "partial": partial, "failure": unread} {
		_, err = set.Check(req)
		require.ErrorIs(t, err, ai.ErrInvalidArgument)
		require.ErrorContains(t, err, text)
	}
	require.False(t, ran, "nothing is run")
}
