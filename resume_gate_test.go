package ai_test

import (
	"context"
	"encoding/json"
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/holdpoint/ai"
	"github.com/holdpoint/ai/aitest"
)

// gate is middleware that asks unless it was answered, or skip says not to.
func gate(name string, d *diary, skip func() bool) *ai.Middleware {
	return &ai.Middleware{Name: name, Wrap: func(ctx context.Context, call *ai.ToolCall, next ai.Next) (*ai.ToolResult, error) {
		if skip != nil && skip() {
			return next(ctx)
		}
		if !call.Resumed() {
			return nil, call.InterruptWithState("ask of "+name, "state of "+name)
		}
		var by struct{ By string }
		var state string
		if err := errors.Join(call.DecodeResumed(&by), call.DecodeState(&state)); err != nil {
			return nil, err
		}
		d.add("%s passed by %s, %s", name, by.By, state)
		return next(ctx)
	}}
}

// asker is a tool that asks once, itself.
func asker(t *testing.T, d *diary) ai.Tool {
	t.Helper()
	return newRaw(t, &ai.ToolDefinition{Name: "tool"}, func(_ context.Context, call *ai.ToolCall) (*ai.ToolResult, error) {
		if !call.Resumed() {
			return nil, call.InterruptWithState("ask of tool", "state of tool")
		}
		var by struct{ By string }
		var state string
		if err := errors.Join(call.DecodeResumed(&by), call.DecodeState(&state)); err != nil {
			return nil, err
		}
		d.add("tool ran by %s, %s", by.By, state)
		return &ai.ToolResult{Output: json.RawMessage("1")}, nil
	})
}

// as restarts a call in somebody's name.
func as(t *testing.T, by string, req *ai.ToolRequestPart) *ai.Answers {
	t.Helper()
	p, err := ai.Restart(req, &ai.RestartOptions[json.RawMessage]{Resumed: map[string]string{"by": by}})
	require.NoError(t, err)
	return restarts(p)
}

// Gates and tool ask in any order, each once; every answer reaches the one who
// asked, with the state it left, and no one else.
func TestGatesAndToolAskInAnyOrder(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		skip []int // how many attempts the gate lets pass unasked, per gate
		want []string
	}{
		"gates first": {[]int{0, 0}, []string{"outer", "inner", "tool"}},
		"tool first":  {[]int{1, 2}, []string{"tool", "outer", "inner"}},
		"inner first": {[]int{1, 0}, []string{"inner", "outer", "tool"}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var d diary
			attempt := 0
			after := func(n int) func() bool { return func() bool { return attempt <= n } }
			opts := &ai.ResolveOptions{Middleware: []*ai.Middleware{
				gate("outer", &d, after(tt.skip[0])), gate("inner", &d, after(tt.skip[1])),
			}}
			set := newSet(t, asker(t, &d))
			attempt = 1
			m := pause(t, set, opts, wish("tool", "a", `{}`))
			for i, who := range tt.want {
				list, err := m.Interrupts()
				require.NoError(t, err)
				require.Len(t, list, 1)
				require.Equal(t, `"ask of `+who+`"`, string(list[0].Data))
				if who == "tool" {
					who = ""
				}
				require.Equal(t, who, list[0].By)
				attempt++
				d.take()
				res, err := resume(t, set, m, as(t, "p"+tt.want[i], list[0].Request), opts)
				require.NoError(t, err)
				m = aitest.Reload(t, res.Model)
				if i < len(tt.want)-1 {
					require.Nil(t, res.Tool)
					continue
				}
				require.NotNil(t, res.Tool)
				require.Equal(t, []string{
					"outer passed by pouter, state of outer", "inner passed by pinner, state of inner", "tool ran by ptool, state of tool",
				}, d.take())
			}
			for _, key := range []string{"answered", "interruptState", "interrupt", "callKey"} {
				require.NotContains(t, requestOf(t, m, "a").Metadata, key)
			}
		})
	}
}

// A retry after a failure replays the answers given before it; it takes none of
// its own, in whatever way it is made.
func TestRetryReplaysAnswers(t *testing.T) {
	t.Parallel()
	var d diary
	broken := true
	tool := newRaw(t, &ai.ToolDefinition{Name: "tool"}, func(context.Context, *ai.ToolCall) (*ai.ToolResult, error) {
		d.add("ran")
		if broken {
			return nil, errors.New("down")
		}
		return &ai.ToolResult{}, nil
	})
	set := newSet(t, tool)
	opts := &ai.ResolveOptions{Middleware: []*ai.Middleware{gate("gate", &d, nil)}}
	m := pause(t, set, opts, wish("tool", "a", `{}`))
	_, err := resume(t, set, m, as(t, "amy", requestOf(t, m, "a")), opts)
	turn, m := failed(t, err)
	require.Equal(t, []string{"gate passed by amy, state of gate", "ran"}, d.take())
	require.Empty(t, turn.Interrupts())
	req := turn.Open()[0]

	_, err = ai.Restart(req, &ai.RestartOptions[json.RawMessage]{Resumed: map[string]string{"by": "bob"}})
	require.ErrorIs(t, err, ai.ErrInvalidArgument)
	require.ErrorContains(t, err, "tool#a did not ask, so it takes no resume data")
	forged := yes(t, req)
	forged.Metadata["resumed"] = json.RawMessage(`{"by":"bob"}`)
	_, err = resume(t, set, m, restarts(forged), opts)
	require.ErrorIs(t, err, ai.ErrInvalidArgument)
	require.ErrorContains(t, err, "tool#a: the call did not ask, so it takes no resume data")
	require.Empty(t, d.take())

	// Genkit's clients write `true` on every restart; that is no data.
	plain := yes(t, req)
	plain.Metadata["resumed"] = json.RawMessage("true")
	_, err = resume(t, set, m, restarts(plain), opts)
	_, m = failed(t, err)
	broken = false
	res, err := resume(t, set, m, restarts(yes(t, requestOf(t, m, "a"))), opts)
	require.NoError(t, err)
	require.NotNil(t, res.Tool)
	require.Equal(t, []string{
		"gate passed by amy, state of gate", "ran", "gate passed by amy, state of gate", "ran",
	}, d.take())
}

// Nobody is Resumed in a retry of a call that never asked.
func TestRetryIsNotResumed(t *testing.T) {
	t.Parallel()
	var d diary
	broken := true
	tool := newRaw(t, &ai.ToolDefinition{Name: "tool"}, func(_ context.Context, call *ai.ToolCall) (*ai.ToolResult, error) {
		d.add("resumed %v", call.Resumed())
		if broken {
			return nil, errors.New("down")
		}
		return nil, call.Interrupt(nil)
	})
	set := newSet(t, tool)
	_, err := ai.Resolve(t.Context(), set, modelSays(wish("tool", "a", `{}`)), nil)
	_, m := failed(t, err)
	broken = false
	res, err := resume(t, set, m, restarts(yes(t, requestOf(t, m, "a"))), nil)
	require.NoError(t, err)
	require.Len(t, res.Interrupts(), 1)
	require.NotContains(t, requestOf(t, res.Model, "a").Metadata, "failure", "it waits now")
	require.Equal(t, []string{"resumed false", "resumed false"}, d.take())
}

// A call without any mark, as a history has it whose turn never began, counts
// as open and can be retried, answered or denied.
func TestUnmarkedRequestIsOpen(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	m := modelSays(wish("flaky", "a", `{"amount":1}`), wish("look", "b", ""), wish("flaky", "c", `{"amount":3}`))
	res, err := resume(t, d.set, m, &ai.Answers{
		Restart: restarts(yes(t, requestOf(t, m, "a"))).Restart,
		Respond: responds(say(t, requestOf(t, m, "b"), "seen"), no(t, requestOf(t, m, "c"), "no")).Respond,
	}, nil)
	require.NoError(t, err)
	require.Equal(t, []string{`"paid 1"`, `"seen"`, `"Denied: no"`}, outputsOf(t, res.Tool))
	require.Equal(t, []string{"flaky a 1"}, d.take())
}

// What the model's arguments got wrong is the model's to mend, on a retry too;
// an edit mends it here.
func TestRetryOfArgumentsThatDoNotFit(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	stop := &ai.ResolveOptions{OnError: func(context.Context, *ai.CallError) bool { return false }}
	for name, input := range map[string]string{"misfit": `{"amount":"lots"}`, "no object": `"lots"`} {
		t.Run(name, func(t *testing.T) {
			_, err := ai.Resolve(t.Context(), d.set, modelSays(wish("flaky", "a", input)), stop)
			_, m := failed(t, err)
			res, err := resume(t, d.set, m, restarts(yes(t, requestOf(t, m, "a"))), nil)
			require.NoError(t, err)
			require.True(t, res.Tool.Content[0].(*ai.ToolResponsePart).ForModel().IsError)
			require.Empty(t, d.take())

			res, err = resume(t, d.set, m, restarts(edit(t, requestOf(t, m, "a"), `{"amount":2}`)), nil)
			require.NoError(t, err)
			require.Equal(t, []string{`"paid 2"`}, outputsOf(t, res.Tool))
			require.Equal(t, []string{"flaky a 2"}, d.take())
		})
	}
}

// A tool that takes a response only can't be restarted once it asks, but the
// question of a gate before it is answered with a restart like any other.
func TestGateBeforeAToolThatTakesAResponseOnly(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	opts := &ai.ResolveOptions{Middleware: []*ai.Middleware{gate("gate", &d.diary, nil)}}
	m := pause(t, d.set, opts, wish("ask", "a", `{"question":"?"}`))
	gated := requestOf(t, m, "a")
	_, err := d.ask.Restart(gated, nil)
	require.NoError(t, err)
	res, err := resume(t, d.set, m, as(t, "amy", gated), opts)
	require.NoError(t, err)
	require.Nil(t, res.Tool)
	m = aitest.Reload(t, res.Model)

	asking := requestOf(t, m, "a")
	_, err = d.ask.Restart(asking, nil)
	require.ErrorContains(t, err, "ask#a can't be restarted: its tool takes a response only")
	_, err = resume(t, d.set, m, restarts(yes(t, asking)), opts)
	require.ErrorIs(t, err, ai.ErrInvalidArgument)
	require.ErrorContains(t, err, "ask#a can't be restarted: its tool takes a response only")

	answer, err := d.ask.Respond(asking, 4)
	require.NoError(t, err)
	res, err = resume(t, d.set, m, responds(answer), opts)
	require.NoError(t, err)
	require.Equal(t, []string{"4"}, outputsOf(t, res.Tool))
}
