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

// twoQuestions is a pause in which both offices ask.
func twoQuestions(t *testing.T, d *desk) (*ai.ToolSet, *ai.Message) {
	t.Helper()
	set := company(t, d)
	m := pause(t, set, nil, wish("boss", "b", "{}"))
	require.Equal(t, []string{
		"boss runs", "clerk b/left runs", "clerk b/right runs", "left begins", "left office begins",
		"look l", "look l", "right begins", "right office begins",
	}, d.sorted())
	return set, m
}

const (
	leftLeaf  = "b/left/c/office"
	rightLeaf = "b/right/c/office"
	bothPaid  = `"left: office: paid 1, 1; right: office: paid 2, 1"`
)

// Two levels and two branches deep, each process knowing nothing but JSON: the
// questions at the bottom are listed with the way to them, and nothing else.
func TestNestedQuestionsAreListed(t *testing.T) {
	t.Parallel()
	_, m := twoQuestions(t, newDesk(t))
	list, err := m.Interrupts()
	require.NoError(t, err)
	require.Len(t, list, 2)
	for i, path := range []string{leftLeaf, rightLeaf} {
		it := list[i]
		require.Equal(t, path, it.Path.String())
		require.Equal(t, "pay", it.Request.ToolRequest.Name)
		require.Equal(t, "p", it.Request.ToolRequest.Ref)
		require.JSONEq(t, jsonOf(t, map[string]int{"confirm": i + 1}), string(it.Data))
		require.JSONEq(t, jsonOf(t, map[string]int{"amount": i + 1}), string(it.Effective))
		require.JSONEq(t, jsonOf(t, it.Path), string(it.Request.Metadata["path"]))
	}
	require.Equal(t, `[["b","left"],["c","office"]]`, jsonOf(t, list[0].Path))
	require.JSONEq(t, "true", string(requestOf(t, m, "b").Metadata["interrupt"]))
	require.Equal(t, list[0].Path, aitest.Reload(t, list[0].Path))
}

// Answered in one go: the hosts run again, what is inside them does not, but for
// what was waiting.
func TestNestedQuestionsAnsweredAtOnce(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	set, m := twoQuestions(t, d)
	list, err := m.Interrupts()
	require.NoError(t, err)
	res, err := resume(t, set, m, restarts(yes(t, list[1].Request), yes(t, list[0].Request)), nil)
	require.NoError(t, err)
	require.Equal(t, []string{bothPaid}, outputsOf(t, res.Tool))
	require.Equal(t, []string{
		"boss runs", "clerk b/left runs", "clerk b/right runs", "left ends", "left office ends",
		"pay p 1", "pay p 2", "right ends", "right office ends",
	}, d.sorted())
	require.JSONEq(t, `{"resolvedInterrupt":true}`, jsonOf(t, requestOf(t, res.Model, "b").Metadata))
}

// Answered one by one, in either order: what has finished stays finished.
func TestNestedQuestionsAnsweredOneByOne(t *testing.T) {
	t.Parallel()
	for _, order := range [][]string{{leftLeaf, rightLeaf}, {rightLeaf, leftLeaf}} {
		t.Run(order[0], func(t *testing.T) {
			t.Parallel()
			d := newDesk(t)
			set, m := twoQuestions(t, d)
			list, err := m.Interrupts()
			require.NoError(t, err)
			first := leafAt(t, requestsOf(list), order[0])

			_, err = resume(t, set, m, restarts(yes(t, first)), nil)
			require.ErrorIs(t, err, ai.ErrInvalidArgument)
			require.ErrorContains(t, err, "not every open tool request is answered; open are: pay#p in "+leftLeaf+", pay#p in "+rightLeaf)
			require.Empty(t, d.take())

			res, err := resume(t, set, m, restarts(yes(t, first)), &ai.ResolveOptions{Partial: true})
			require.NoError(t, err)
			require.Nil(t, res.Tool)
			side, other := strings.Split(order[0], "/")[1], strings.Split(order[1], "/")[1]
			require.Equal(t, expected("boss runs", "clerk b/"+side+" runs", side+" office ends", side+" ends", paid(side)), d.sorted())
			m = aitest.Reload(t, res.Model)
			list, err = m.Interrupts()
			require.NoError(t, err)
			require.Len(t, list, 1)
			require.Equal(t, order[1], list[0].Path.String())

			res, err = resume(t, set, m, restarts(yes(t, list[0].Request)), nil)
			require.NoError(t, err)
			require.Equal(t, expected("boss runs", "clerk b/"+other+" runs", other+" office ends", other+" ends", paid(other)), d.sorted())
			require.Equal(t, []string{bothPaid}, outputsOf(t, res.Tool))
		})
	}
}

func expected(lines ...string) []string {
	d := diary{lines: lines}
	return d.sorted()
}

func paid(side string) string {
	if side == "left" {
		return "pay p 1"
	}
	return "pay p 2"
}

// The same through Generate: paths are in the questions of the response, and
// the whole history comes back from a client as JSON.
func TestNestedQuestionsThroughGenerate(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	opts := &ai.GenerateOptions{
		Model: agent(&d.diary, "top", wish("boss", "b", ""), wish("pay", "p", `{"amount":9}`)),
		Tools: newSet(t, hostOf(t, &d.diary, "boss", runAll, branch{name: "in", model: agent(&d.diary, "in", wish("pay", "p", `{"amount":1}`)), tools: d.set}), d.pay),
	}
	opts.Prompt = "go"
	resp, err := ai.Generate(t.Context(), nil, opts)
	require.NoError(t, err)
	list := resp.Interrupts()
	require.Len(t, list, 2)
	require.Equal(t, "b/in", list[0].Path.String())
	require.Empty(t, list[1].Path)

	opts.Prompt, opts.Messages = "", aitest.Reload(t, resp.Messages)
	opts.Resume = &ai.Answers{Restart: restarts(yes(t, list[0].Request)).Restart, Respond: responds(no(t, list[1].Request, "no")).Respond}
	resp, err = ai.Generate(t.Context(), nil, opts)
	require.NoError(t, err)
	require.Equal(t, "in: paid 1, Denied: no", resp.Text())
}

// A host that holds one conversation after the other never holds the first
// again, whatever became of it, and gets the same response each time.
func TestFinishedBranchIsReplayed(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	var first []*ai.Response
	second := branch{name: "second", model: agent(&d.diary, "second", wish("pay", "p", `{"amount":2}`)), tools: d.set}
	host := newRaw(t, &ai.ToolDefinition{Name: "host"}, func(ctx context.Context, call *ai.ToolCall) (*ai.ToolResult, error) {
		resp, err := call.Generate(ctx, "first", nil, &ai.GenerateOptions{
			Model: agent(&d.diary, "first", wish("look", "l", `{"give":7}`)), Prompt: "go", System: "be brief", Tools: d.set,
		})
		if err != nil {
			return nil, err
		}
		first = append(first, resp)
		return runEach(ctx, call, []branch{second})
	})
	set := newSet(t, host)
	m := pause(t, set, nil, wish("host", "h", ""))
	require.Equal(t, []string{"first begins", "look l", "first ends", "second begins"}, d.take())
	list, err := m.Interrupts()
	require.NoError(t, err)
	res, err := resume(t, set, m, restarts(yes(t, list[0].Request)), nil)
	require.NoError(t, err)
	require.Equal(t, []string{"pay p 2", "second ends"}, d.take())
	require.Equal(t, []string{`"second: paid 2"`}, outputsOf(t, res.Tool))
	require.Len(t, first, 2)
	first[0].Usage = ai.Usage{}
	require.JSONEq(t, jsonOf(t, first[0]), jsonOf(t, first[1]))
	require.Equal(t, "7", first[1].Text())
	require.Equal(t, ai.FinishStop, first[1].FinishReason)
}

// What is on record wins over what the host says the second time, so a host may
// be deployed anew under a waiting conversation.
func TestTheRecordWinsOverTheHost(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	prompt := "old"
	var sent [][]*ai.Message
	inner := agent(&d.diary, "in", wish("pay", "p", `{"amount":1}`))
	model := ai.ModelFunc(func(ctx context.Context, req *ai.ModelRequest, emit func(*ai.Chunk) error) (*ai.ModelResponse, error) {
		sent = append(sent, req.Messages)
		return inner.Generate(ctx, req, emit)
	})
	host := newRaw(t, &ai.ToolDefinition{Name: "host"}, func(ctx context.Context, call *ai.ToolCall) (*ai.ToolResult, error) {
		resp, err := call.Generate(ctx, "b", nil, &ai.GenerateOptions{
			Model: model, System: prompt + " system", Prompt: prompt, Tools: d.set, Messages: []*ai.Message{userSays(prompt + " message")},
		})
		if err != nil {
			return nil, err
		}
		return &ai.ToolResult{Output: json.RawMessage(jsonOf(t, resp.Text()))}, nil
	})
	set := newSet(t, host)
	m := pause(t, set, nil, wish("host", "h", ""))
	prompt = "new"
	list, err := m.Interrupts()
	require.NoError(t, err)
	res, err := resume(t, set, m, restarts(yes(t, list[0].Request)), nil)
	require.NoError(t, err)
	require.Equal(t, []string{`"paid 1"`}, outputsOf(t, res.Tool))
	require.Equal(t, []string{"system old system", "user old message", "user old", "model pay#p?", `tool pay#p="paid 1"`}, outline(sent[1]))
}

// A response or a denial of the host settles it and all beneath it; nothing of
// that runs any more.
func TestAnsweringTheHostSettlesAllBeneath(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	_, m := twoQuestions(t, d)
	host := requestOf(t, m, "b")
	for name, tt := range map[string]struct {
		answers *ai.Answers
		want    string
		set     *ai.ToolSet
	}{
		"response": {responds(say(t, host, "by hand")), `"by hand"`, company(t, d)},
		"denial":   {responds(no(t, host, "no")), `"Denied: no"`, nil},
	} {
		res, err := resume(t, tt.set, m, tt.answers, nil)
		require.NoError(t, err, name)
		require.Equal(t, []string{tt.want}, outputsOf(t, res.Tool))
		require.NotContains(t, requestOf(t, res.Model, "b").Metadata, "inner")
		require.Empty(t, d.take())
	}
}

// Answers below the top are matched before anything runs, like those at the top.
func TestNestedAnswersAreCheckedFirst(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	set, m := twoQuestions(t, d)
	list, err := m.Interrupts()
	require.NoError(t, err)
	left, right := list[0].Request, list[1].Request
	at := func(req *ai.ToolRequestPart, path string) *ai.ToolRequestPart {
		c := *yes(t, req)
		c.Metadata = ai.Metadata{}
		if path != "" {
			c.Metadata["path"] = json.RawMessage(path)
		}
		return &c
	}
	host, clerk := requestOf(t, m, "b"), wish("clerk", "c", "")
	tests := map[string]struct {
		answers *ai.Answers
		want    string
	}{
		"a restart of the host": {restarts(at(host, ""), yes(t, left), yes(t, right)),
			"restart for boss#b: the call hosts a paused conversation; answer what is open in it: pay#p in " + leftLeaf + ", pay#p in " + rightLeaf},
		"a restart of the host further in": {restarts(at(clerk, `[["b","left"]]`), yes(t, right)),
			"restart for clerk#c: the call hosts a paused conversation; answer what is open in it: pay#p in " + leftLeaf},
		"no path": {restarts(at(left, ""), yes(t, right)), "restart for pay#p fits no open tool request; open are: pay#p in " + leftLeaf},
		"half a path": {restarts(at(left, `[["b","left"]]`), yes(t, right)),
			`in the conversation "left" of tool request boss#b: restart for pay#p fits no open tool request; open are: pay#p in ` + leftLeaf},
		"another branch": {restarts(at(left, `[["b","middle"],["c","office"]]`), yes(t, right)),
			"restart for pay#p: path b/middle/c/office leads to no paused conversation; open are: pay#p in " + leftLeaf},
		"another host": {restarts(at(left, `[["x","left"],["c","office"]]`), yes(t, right)), "path x/left/c/office leads to no paused conversation"},
		"too long": {restarts(at(left, `[["b","left"],["c","office"],["p","x"]]`), yes(t, right)),
			"path p/x leads to no paused conversation"},
		"a settled call": {restarts(yes(t, left), yes(t, right), at(wish("look", "l", ""), `[["b","left"]]`)),
			"restart for look#l: that tool request already has a result"},
		"twice":    {restarts(yes(t, left), yes(t, right), yes(t, left)), "restart for pay#p: tool request pay#p is answered twice"},
		"and both": {&ai.Answers{Respond: responds(say(t, host, 1)).Respond, Restart: restarts(yes(t, left)).Restart}, "tool request boss#b is answered, and so is a call of a conversation it hosts"},
		"resume data": {restarts(yes(t, left), &ai.ToolRequestPart{ToolRequest: right.ToolRequest, Metadata: ai.Metadata{
			"path": right.Metadata["path"], "resumed": json.RawMessage("1")}}), "resume data must be a JSON object or true, not 1"},
		"a denial with a bad reason of a host": {&ai.Answers{Respond: []*ai.ToolResponsePart{{ToolResponse: ai.ToolResponse{Name: "boss", Ref: "b"},
			Metadata: ai.Metadata{"outcome": json.RawMessage(`"denied"`), "reason": json.RawMessage("1")}}}}, `metadata "reason"`},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			for _, partial := range []bool{false, true} {
				_, err := resume(t, set, m, tt.answers, &ai.ResolveOptions{Partial: partial})
				require.ErrorIs(t, err, ai.ErrInvalidArgument)
				require.ErrorContains(t, err, tt.want)
				require.Empty(t, d.take())
			}
		})
	}
	res, err := resume(t, set, m, restarts(yes(t, left), yes(t, right)), nil)
	require.NoError(t, err)
	require.Equal(t, []string{bothPaid}, outputsOf(t, res.Tool))
}
