package ai_test

import (
	"context"
	"errors"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/holdpoint/ai"
	"github.com/holdpoint/ai/aitest"
)

func TestGenerateRefusesOpenRequests(t *testing.T) {
	t.Parallel()
	answered := []*ai.Message{modelSays(pay("1", 5)), toolSays(response("pay", "1", "7"))}
	for name, tt := range map[string]struct {
		messages []*ai.Message
		want     string
	}{
		"at the end": {
			[]*ai.Message{userSays("a"), modelSays(pay("1", 5), look("2", "Rome"))},
			"ai: tool requests of the last message have no response: pay#1, look#2; answer them with Resume or close them with Repair",
		},
		"in the middle": {
			[]*ai.Message{modelSays(pay("1", 5)), userSays("a")},
			"ai: tool requests of message 0 have no response in the message behind it: pay#1; answer them with Resume or close them with Repair",
		},
		"one of two": {
			[]*ai.Message{modelSays(pay("1", 5), pay("2", 6)), toolSays(response("pay", "1", "7"))},
			"ai: tool requests of message 0 have no response in the message behind it: pay#2; answer them with Resume or close them with Repair",
		},
		"answered under another name": {
			[]*ai.Message{modelSays(pay("1", 5)), toolSays(response("look", "1", "7"))},
			"ai: tool requests of message 0 have no response in the message behind it: pay#1; answer them with Resume or close them with Repair",
		},
		"answered twice": {
			append(answered[:1:1], toolSays(response("pay", "1", "7"), response("pay", "1", "8"))),
			"ai: tool responses of message 1 answer no open tool request of the message before it: pay#1; Repair mends that",
		},
		"answered too late": {
			append(answered[:1:1], userSays("a"), answered[1]),
			"ai: tool requests of message 0 have no response in the message behind it: pay#1; answer them with Resume or close them with Repair",
		},
		"answered in two messages": {
			[]*ai.Message{modelSays(pay("1", 5), pay("2", 6)), toolSays(response("pay", "1", "7")), toolSays(response("pay", "2", "8"))},
			"ai: tool requests of message 0 have no response in the message behind it: pay#2; answer them with Resume or close them with Repair",
		},
		"a start that was cut off": {
			append(answered[1:2:2], userSays("a")),
			"ai: tool responses of message 0 answer no open tool request of the message before it: pay#1; Repair mends that",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			opts := &ai.GenerateOptions{Model: aitest.NewModel(t), System: "s", Messages: tt.messages}
			_, err := ai.Generate(t.Context(), &newLoopTools().Registry, opts)
			requirePlain(t, err)
			require.ErrorIs(t, err, ai.ErrFailedPrecondition)
			require.EqualError(t, err, tt.want)

			opts.Prompt = "go on"
			_, err = ai.Generate(t.Context(), &newLoopTools().Registry, opts)
			require.ErrorIs(t, err, ai.ErrFailedPrecondition, "a prompt behind it mends nothing")

			opts.Repair, opts.Model = true, aitest.NewModel(t, aitest.Text("done"))
			_, err = ai.Generate(t.Context(), &newLoopTools().Registry, opts)
			require.NoError(t, err)
		})
	}
}

// Results that stand in the model message count only where the turn can still
// be finished.
func TestGenerateRefusesSettledCallsBehindWhichTheConversationWentOn(t *testing.T) {
	t.Parallel()
	settled := pay("1", 5)
	settled.Metadata = ai.Metadata{"pendingOutput": mustJSON(t, "paid 5")}
	for _, opts := range []*ai.GenerateOptions{
		{Messages: []*ai.Message{modelSays(settled)}, Prompt: "go on"},
		{Messages: []*ai.Message{modelSays(settled), userSays("go on")}},
	} {
		opts.Model = aitest.NewModel(t)
		_, err := ai.Generate(t.Context(), &newLoopTools().Registry, opts)
		require.ErrorIs(t, err, ai.ErrFailedPrecondition)
		require.ErrorContains(t, err, "pay#1")
	}
}

// Requests that can't be told apart need as many responses as they are.
func TestGenerateCountsResponses(t *testing.T) {
	t.Parallel()
	ask := modelSays(pay("", 5), pay("", 6))
	answer := response("pay", "", "7")
	for n, kind := range []error{ai.ErrFailedPrecondition, ai.ErrFailedPrecondition, nil, ai.ErrFailedPrecondition} {
		m := streamsAndSays(nil, ai.Parts{&ai.TextPart{Text: "done"}})
		messages := []*ai.Message{ask, toolSays(slices.Repeat(ai.Parts{answer}, n)...)}
		_, err := ai.Generate(t.Context(), nil, &ai.GenerateOptions{Model: m, Messages: messages})
		require.ErrorIs(t, err, kind, "%d responses", n)
	}
}

func TestGenerateDoesNotChangeItsMessages(t *testing.T) {
	t.Parallel()
	tools := newLoopTools()
	paused, err := ai.Generate(t.Context(), &tools.Registry, &ai.GenerateOptions{
		Model: aitest.NewModel(t, aitest.ToolRequests(look("1", "Rome"), pay("2", 5))), System: "s", Prompt: "pay",
	})
	require.NoError(t, err)
	opts := func(m ai.Model) *ai.GenerateOptions {
		return &ai.GenerateOptions{Model: m, System: "other", Messages: paused.Messages}
	}
	for name, run := range map[string]func(t *testing.T) error{
		"resumed": func(t *testing.T) error {
			o := opts(aitest.NewModel(t, aitest.ToolRequests(look("", "Oslo")), aitest.Text("done")))
			o.Resume = aitest.Approve(t, paused)
			_, err := ai.Generate(t.Context(), &tools.Registry, o)
			return err
		},
		"paused again": func(t *testing.T) error {
			o := opts(aitest.NewModel(t))
			o.Resume, o.Turn.Partial = &ai.Answers{}, true
			_, err := ai.Generate(t.Context(), &tools.Registry, o)
			return err
		},
		"repaired": func(t *testing.T) error {
			o := opts(aitest.NewModel(t, aitest.Text("done")))
			o.Repair, o.Prompt = true, "go on"
			_, err := ai.Generate(t.Context(), &tools.Registry, o)
			return err
		},
		"failed": func(t *testing.T) error {
			o := opts(aitest.NewModel(t, aitest.ToolRequests(aitest.Request("print", "1", nil))))
			o.Resume = aitest.Approve(t, paused)
			_, err := ai.Generate(t.Context(), &tools.Registry, o)
			if !errors.Is(err, errBroken) {
				return err
			}
			return nil
		},
	} {
		t.Run(name, func(t *testing.T) {
			before, first := mustJSONText(t, paused.Messages), paused.Messages[0]
			require.NoError(t, run(t))
			require.Equal(t, before, mustJSONText(t, paused.Messages))
			require.Same(t, first, paused.Messages[0])
		})
	}
}

// Two calls that start from one slice with room behind it, and appends to what
// they return, must not write into each other.
func TestGenerateDoesNotShareItsLists(t *testing.T) {
	t.Parallel()
	base := make([]*ai.Message, 1, 16)
	base[0] = userSays("hi")
	room := base[:cap(base)]
	one, err := ai.Generate(t.Context(), nil, &ai.GenerateOptions{Model: aitest.NewModel(t, aitest.Text("one")), Messages: base})
	require.NoError(t, err)
	two, err := ai.Generate(t.Context(), nil, &ai.GenerateOptions{Model: aitest.NewModel(t, aitest.Text("two")), Messages: base})
	require.NoError(t, err)
	for _, m := range room[1:] {
		require.Nil(t, m, "the room behind the caller's list is the caller's")
	}
	left := append(one.Messages, userSays("left"))
	right := append(one.Messages, userSays("right"))
	require.Equal(t, []string{"user hi", "model one", "user left"}, outline(left))
	require.Equal(t, []string{"user hi", "model one", "user right"}, outline(right))
	require.Equal(t, []string{"user hi", "model two"}, outline(two.Messages))
	one.Messages[0] = nil
	require.NotNil(t, base[0])
}

// A model that breaks the rules of Model harms its own request only.
func TestGenerateModelThatAppendsToItsRequest(t *testing.T) {
	t.Parallel()
	var appended [][]*ai.Message
	m := ai.ModelFunc(func(_ context.Context, req *ai.ModelRequest, _ func(*ai.Chunk) error) (*ai.ModelResponse, error) {
		appended = append(appended, append(req.Messages, userSays("appended")))
		if len(appended) == 1 {
			return &ai.ModelResponse{Message: modelSays(look("1", "Rome"))}, nil
		}
		return &ai.ModelResponse{Message: modelSays(&ai.TextPart{Text: "done"})}, nil
	})
	resp, err := ai.Generate(t.Context(), &newLoopTools().Registry, &ai.GenerateOptions{Model: m, Prompt: "go"})
	require.NoError(t, err)
	require.Equal(t, []string{"user go", "model look#1?", `tool look#1="sunny in Rome"`, "model done"}, outline(resp.Messages))
	require.Equal(t, []string{"user go", "user appended"}, outline(appended[0]), "and its list is its own")
}

// A model may return a message that it keeps: what is recorded of its calls
// goes into a copy.
func TestGenerateDoesNotChangeWhatTheModelReturned(t *testing.T) {
	t.Parallel()
	said := modelSays(pay("", 5), pay("", 6))
	before := mustJSONText(t, said)
	m := ai.ModelFunc(func(context.Context, *ai.ModelRequest, func(*ai.Chunk) error) (*ai.ModelResponse, error) {
		return &ai.ModelResponse{Message: said}, nil
	})
	paused, err := ai.Generate(t.Context(), &newLoopTools().Registry, &ai.GenerateOptions{Model: m, Prompt: "go"})
	require.NoError(t, err)
	require.Len(t, paused.Interrupts(), 2)
	require.Equal(t, before, mustJSONText(t, said))
}
