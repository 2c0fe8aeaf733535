package ai_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/holdpoint/ai"
	"github.com/holdpoint/ai/aitest"
)

// A call that fails far inside: the error at the top says which, lists it among
// what is open, and an answer with its path runs that call alone.
func TestNestedFailureIsRetriedByPath(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.broken.Store(true)
	deep := hostOf(t, &d.diary, "deep", runAll, branch{name: "b", tools: d.set,
		model: agent(&d.diary, "deep b", wish("flaky", "f", `{"amount":1}`), wish("pay", "p", `{"amount":2}`), wish("look", "l", ""))})
	set := newSet(t, hostOf(t, &d.diary, "host", runAll, branch{name: "a", model: agent(&d.diary, "host a", wish("deep", "x", "")), tools: newSet(t, deep)}))

	_, err := ai.Resolve(t.Context(), set, modelSays(wish("host", "h", "")), nil)
	require.ErrorContains(t, err, "the line is down")
	turn, m := failed(t, err)
	require.Len(t, turn.Calls, 1)
	require.Equal(t, "host", turn.Calls[0].Name)
	require.False(t, errors.Is(err, &ai.InterruptError{}))
	require.NotErrorAs(t, err, new(*ai.InterruptError), "a question is no error")
	require.Len(t, turn.Open(), 2)
	require.Len(t, turn.Interrupts(), 1)
	require.Equal(t, "h/a/x/b", turn.Interrupts()[0].Path.String())
	require.Equal(t, []string{"flaky", "pay"}, []string{turn.Open()[0].ToolRequest.Name, turn.Open()[1].ToolRequest.Name})
	d.take()

	open := turn.Open()
	_, err = resume(t, set, m, restarts(yes(t, open[0]), yes(t, open[1])), nil)
	turn, m = failed(t, err)
	require.Equal(t, []string{"deep h/a runs", "flaky f 1", "host runs", "pay p 2"}, d.sorted())
	require.Len(t, turn.Open(), 1)

	d.broken.Store(false)
	res, err := resume(t, set, m, restarts(yes(t, turn.Open()[0])), nil)
	require.NoError(t, err)
	require.Equal(t, []string{`"a: b: paid 1, paid 2, null"`}, outputsOf(t, res.Tool))
	require.Equal(t, []string{"deep b ends", "deep h/a runs", "flaky f 1", "host a ends", "host runs"}, d.sorted())
}

// Inside a host, a failure can be answered or denied like anywhere, and the
// answers can come one by one.
func TestNestedFailureIsAnswered(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.broken.Store(true)
	set := newSet(t, hostOf(t, &d.diary, "host", runAll, branch{name: "a", tools: d.set,
		model: agent(&d.diary, "a", wish("flaky", "f", `{"amount":1}`), wish("flaky", "g", `{"amount":2}`))}))
	_, err := ai.Resolve(t.Context(), set, modelSays(wish("host", "h", "")), nil)
	turn, m := failed(t, err)
	d.take()
	res, err := resume(t, set, m, responds(no(t, turn.Open()[0], "no")), &ai.ResolveOptions{Partial: true})
	require.NoError(t, err)
	require.Empty(t, res.Interrupts(), "what failed does not ask")
	m = aitest.Reload(t, res.Model)
	res, err = resume(t, set, m, responds(say(t, turn.Open()[1], "by hand")), nil)
	require.NoError(t, err)
	require.Equal(t, []string{`"a: Denied: no, by hand"`}, outputsOf(t, res.Tool))
	require.Equal(t, []string{"host runs", "host runs", "a ends"}, d.take())
}

// One conversation asks, the other fails: the host has failed, and both wait.
func TestOneBranchAsksTheOtherFails(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.broken.Store(true)
	set := newSet(t, hostOf(t, &d.diary, "host", runAll,
		branch{name: "a", tools: d.set, model: agent(&d.diary, "a", wish("pay", "p", `{"amount":1}`))},
		branch{name: "b", tools: d.set, model: agent(&d.diary, "b", wish("flaky", "f", `{"amount":2}`))}))
	_, err := ai.Resolve(t.Context(), set, modelSays(wish("host", "h", "")), nil)
	require.EqualError(t, err, "ai: tool request host#h: tool request flaky#f: the line is down")
	require.NotErrorAs(t, err, new(*ai.InterruptError))
	turn, m := failed(t, err)
	require.Len(t, turn.Open(), 2)
	require.Equal(t, "h/a", turn.Interrupts()[0].Path.String())
	d.take()

	res, err := resume(t, set, m, restarts(yes(t, turn.Open()[0])), &ai.ResolveOptions{Partial: true})
	require.NoError(t, err)
	require.Equal(t, []string{"a ends", "host runs", "pay p 1"}, d.sorted(), "b was not answered, so it did not run")
	m = aitest.Reload(t, res.Model)
	d.broken.Store(false)
	res, err = resume(t, set, m, restarts(yes(t, turn.Open()[1])), nil)
	require.NoError(t, err)
	require.Equal(t, []string{`"a: paid 1; b: paid 2"`}, outputsOf(t, res.Tool))
}

// A model that fails in an inner conversation: a retry of the host goes on with
// what that conversation had come to.
func TestInnerModelFails(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	for name, tt := range map[string]struct {
		fails int // at which call
		again []string
	}{
		"at first":            {1, []string{"host runs", "a begins", "look l", "a ends"}},
		"after its calls ran": {2, []string{"host runs", "a ends"}},
	} {
		t.Run(name, func(t *testing.T) {
			calls := 0
			inner := agent(&d.diary, "a", wish("look", "l", `{"give":3}`))
			model := ai.ModelFunc(func(ctx context.Context, req *ai.ModelRequest, emit func(*ai.Chunk) error) (*ai.ModelResponse, error) {
				if calls++; calls == tt.fails {
					return nil, errors.New("too many requests")
				}
				return inner.Generate(ctx, req, emit)
			})
			set := newSet(t, hostOf(t, &d.diary, "host", runAll, branch{name: "a", model: model, tools: d.set}))
			_, err := ai.Resolve(t.Context(), set, modelSays(wish("host", "h", "")), nil)
			require.ErrorContains(t, err, "too many requests")
			turn, m := failed(t, err)
			require.Len(t, turn.Open(), 1)
			require.Equal(t, "host", turn.Open()[0].ToolRequest.Name, "nothing inside is open, so the host is")
			d.take()
			res, err := resume(t, set, m, restarts(yes(t, turn.Open()[0])), nil)
			require.NoError(t, err)
			require.Equal(t, []string{`"a: 3"`}, outputsOf(t, res.Tool))
			require.Equal(t, tt.again, d.take())
		})
	}
}

// A host that fails by itself after its conversations ended: a retry replays them.
func TestHostFailsAfterItsConversations(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	broken := true
	host := newRaw(t, &ai.ToolDefinition{Name: "host"}, func(ctx context.Context, call *ai.ToolCall) (*ai.ToolResult, error) {
		result, err := runAll(ctx, call, []branch{
			{name: "a", model: agent(&d.diary, "a", wish("pay", "p", `{"amount":1}`)), tools: d.set},
			{name: "b", model: agent(&d.diary, "b", wish("look", "l", `{"give":2}`)), tools: d.set},
		})
		if err == nil && broken {
			return nil, errors.New("the host is down")
		}
		return result, err
	})
	set := newSet(t, host)
	m := pause(t, set, nil, wish("host", "h", ""))
	list, err := m.Interrupts()
	require.NoError(t, err)
	_, err = resume(t, set, m, restarts(yes(t, list[0].Request)), nil)
	turn, m := failed(t, err)
	d.take()
	broken = false
	res, err := resume(t, set, m, restarts(yes(t, turn.Open()[0])), nil)
	require.NoError(t, err)
	require.Empty(t, d.take())
	require.Equal(t, []string{`"a: paid 1; b: 2"`}, outputsOf(t, res.Tool))
}

// New input makes the host another call: what it held under the old input is
// not taken for it.
func TestEditedHostStartsItsConversationsAnew(t *testing.T) {
	t.Parallel()
	var d diary
	broken := true
	host := newRaw(t, &ai.ToolDefinition{Name: "host"}, func(ctx context.Context, call *ai.ToolCall) (*ai.ToolResult, error) {
		var in struct{ Topic string }
		require.NoError(t, json.Unmarshal(call.Input, &in))
		look := newRaw(t, &ai.ToolDefinition{Name: "look"}, func(context.Context, *ai.ToolCall) (*ai.ToolResult, error) {
			d.add("look at %s", in.Topic)
			return &ai.ToolResult{Output: json.RawMessage(jsonOf(t, in.Topic))}, nil
		})
		result, err := runAll(ctx, call, []branch{{name: "a", model: agent(&d, "a", wish("look", "l", "")), tools: newSet(t, look)}})
		if broken {
			return nil, errors.New("the host is down")
		}
		return result, err
	})
	set := newSet(t, host)
	_, err := ai.Resolve(t.Context(), set, modelSays(wish("host", "h", `{"topic":"bread"}`)), nil)
	turn, m := failed(t, err)
	broken = false
	res, err := resume(t, set, m, restarts(edit(t, turn.Open()[0], `{"topic":"wine"}`)), nil)
	require.NoError(t, err)
	require.Equal(t, []string{"a begins", "look at bread", "a ends", "a begins", "look at wine", "a ends"}, d.take())
	require.Equal(t, []string{`"a: wine"`}, outputsOf(t, res.Tool))
}

// What only the inner tools can tell is checked when the conversation resumes,
// before any of them runs; the host fails, and the pause inside is as it was.
func TestInnerAnswersThatDoNotFit(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	set := newSet(t, hostOf(t, &d.diary, "host", runAll, branch{name: "a", tools: d.set,
		model: agent(&d.diary, "a", wish("ask", "q", `{"question":"?"}`), wish("pay", "p", `{"amount":1}`))}))
	m := pause(t, set, nil, wish("host", "h", ""))
	list, err := m.Interrupts()
	require.NoError(t, err)
	q, p := list[0].Request, list[1].Request
	for name, answers := range map[string]*ai.Answers{
		"response misfit": {Respond: responds(say(t, q, "four")).Respond, Restart: restarts(yes(t, p)).Restart},
		"edit misfit":     {Respond: responds(say(t, q, 4)).Respond, Restart: restarts(edit(t, p, `{"amount":"x"}`)).Restart},
		"not restartable": restarts(yes(t, q), yes(t, p)),
	} {
		d.take()
		_, err = resume(t, set, m, answers, nil)
		require.ErrorIs(t, err, ai.ErrInvalidArgument, name)
		turn, after := failed(t, err)
		require.Equal(t, []string{"host runs"}, d.take(), name)
		require.Len(t, turn.Open(), 2, name)
		res, err := resume(t, set, after, &ai.Answers{Respond: responds(say(t, turn.Open()[0], 4)).Respond, Restart: restarts(yes(t, turn.Open()[1])).Restart}, nil)
		require.NoError(t, err, name)
		require.Equal(t, []string{`"a: 4, paid 1"`}, outputsOf(t, res.Tool))
	}
}

// A branch is used once per run of the host, and needs a name.
func TestBranchNames(t *testing.T) {
	t.Parallel()
	for name, branches := range map[string][]string{"is used twice": {"a", "a"}, "needs a branch name": {""}} {
		var d diary
		var inner []branch
		for _, b := range branches {
			inner = append(inner, branch{name: b, model: agent(&d, "a")})
		}
		_, err := ai.Resolve(t.Context(), newSet(t, hostOf(t, &d, "host", runEach, inner...)), modelSays(wish("host", "h", "")), nil)
		require.ErrorIs(t, err, ai.ErrInvalidArgument)
		require.ErrorContains(t, err, "host#h")
		require.ErrorContains(t, err, name)
	}
}

// Middleware may run an idempotent host twice. The second run goes on from what
// the first one came to.
func TestIdempotentHostIsRunAgain(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	again := &ai.Middleware{Name: "again", Wrap: func(ctx context.Context, _ *ai.ToolCall, next ai.Next) (*ai.ToolResult, error) {
		if result, err := next(ctx); err == nil || !strings.Contains(err.Error(), "down") {
			return result, err
		}
		return next(ctx)
	}}
	runs := 0
	host := newRaw(t, &ai.ToolDefinition{Name: "host", Idempotent: true}, func(ctx context.Context, call *ai.ToolCall) (*ai.ToolResult, error) {
		result, err := runEach(ctx, call, []branch{{name: "a", model: agent(&d.diary, "a", wish("pay", "p", `{"amount":1}`)), tools: d.set}})
		if runs++; err == nil && runs == 2 {
			return nil, errors.New("down")
		}
		return result, err
	})
	set, opts := newSet(t, host), &ai.ResolveOptions{Middleware: []*ai.Middleware{again}}
	m := pause(t, set, opts, wish("host", "h", ""))
	list, err := m.Interrupts()
	require.NoError(t, err)
	res, err := resume(t, set, m, restarts(yes(t, list[0].Request)), opts)
	require.NoError(t, err)
	require.Equal(t, []string{`"a: paid 1"`}, outputsOf(t, res.Tool))
	require.Equal(t, []string{"a begins", "pay p 1", "a ends"}, d.take())
}

// The same where the inner conversation itself failed: the answers were for
// where it stood before, and nothing is run again without one.
func TestIdempotentHostDoesNotUseAnswersTwice(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.broken.Store(true)
	again := &ai.Middleware{Name: "again", Wrap: func(ctx context.Context, _ *ai.ToolCall, next ai.Next) (*ai.ToolResult, error) {
		if result, err := next(ctx); err == nil || !strings.Contains(err.Error(), "down") {
			return result, err
		}
		return next(ctx)
	}}
	host := newRaw(t, &ai.ToolDefinition{Name: "host", Idempotent: true}, func(ctx context.Context, call *ai.ToolCall) (*ai.ToolResult, error) {
		return runEach(ctx, call, []branch{{name: "a", model: agent(&d.diary, "a", wish("flaky", "f", `{"amount":1}`)), tools: d.set}})
	})
	set, opts := newSet(t, host), &ai.ResolveOptions{Middleware: []*ai.Middleware{again}}
	m := pause(t, set, opts, wish("host", "h", ""))
	require.Equal(t, []string{"a begins", "flaky f 1"}, d.take())
	leaf := leafAt(t, (&ai.TurnError{Model: m}).Open(), "h/a")
	res, err := resume(t, set, m, restarts(yes(t, leaf)), opts)
	require.NoError(t, err)
	require.Nil(t, res.Tool)
	require.Equal(t, []string{"flaky f 1"}, d.take())
}
