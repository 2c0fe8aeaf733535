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

var errTooMany = errors.New("429 too many requests")

func TestGenerateErrorsBeforeTheFirstReplyArePlain(t *testing.T) {
	t.Parallel()
	hi := []*ai.Message{userSays("hi")}
	m := ai.ModelFunc(func(context.Context, *ai.ModelRequest, func(*ai.Chunk) error) (*ai.ModelResponse, error) {
		return nil, errors.New("the model was asked")
	})
	for name, tt := range map[string]struct {
		opts *ai.GenerateOptions
		kind error
		want string
	}{
		"no options":          {nil, ai.ErrInvalidArgument, "ai: generate: no options"},
		"no model":            {&ai.GenerateOptions{Prompt: "hi"}, ai.ErrInvalidArgument, "ai: generate: no model"},
		"no message":          {&ai.GenerateOptions{Model: m}, ai.ErrInvalidArgument, "ai: generate: there is neither a message nor a prompt"},
		"a system alone":      {&ai.GenerateOptions{Model: m, System: "s"}, ai.ErrInvalidArgument, "ai: generate: there is neither a message nor a prompt"},
		"negative MaxTurns":   {&ai.GenerateOptions{Model: m, Prompt: "hi", MaxTurns: -1}, ai.ErrInvalidArgument, "ai: generate: MaxTurns is -1; it must not be negative"},
		"a nil message":       {&ai.GenerateOptions{Model: m, Messages: []*ai.Message{userSays("hi"), nil}}, ai.ErrInvalidArgument, "ai: generate: message 1 is nil"},
		"an unknown role":     {&ai.GenerateOptions{Model: m, Messages: []*ai.Message{ai.TextMessage("assistant", "hi")}}, ai.ErrInvalidArgument, `ai: generate: message 0 is of role "assistant"; it must be system, user, model or tool`},
		"no role":             {&ai.GenerateOptions{Model: m, Messages: []*ai.Message{{}}}, ai.ErrInvalidArgument, `ai: generate: message 0 is of role ""; it must be system, user, model or tool`},
		"a nil part":          {&ai.GenerateOptions{Model: m, Messages: []*ai.Message{modelSays(nil)}}, ai.ErrInvalidArgument, "ai: generate: message 0: part 0 of its content is nil"},
		"a nil request":       {&ai.GenerateOptions{Model: m, Messages: []*ai.Message{modelSays((*ai.ToolRequestPart)(nil))}}, ai.ErrInvalidArgument, "ai: generate: message 0: part 0 of its content is nil"},
		"prompt with answers": {&ai.GenerateOptions{Model: m, Messages: hi, Prompt: "p", Resume: &ai.Answers{}}, ai.ErrInvalidArgument, "ai: generate: a prompt can't be given with answers: resume first"},
		"nothing to resume":   {&ai.GenerateOptions{Model: m, Messages: hi, Resume: &ai.Answers{}}, ai.ErrFailedPrecondition, `ai: there is nothing to resume: the last message is of role "user"`},
		"nothing open": {
			&ai.GenerateOptions{Model: m, Messages: []*ai.Message{modelSays(&ai.TextPart{Text: "hi"})}, Resume: &ai.Answers{}},
			ai.ErrFailedPrecondition, "ai: there is nothing to resume: the message has no open tool request",
		},
		"an answer is missing": {
			&ai.GenerateOptions{Model: m, Messages: []*ai.Message{modelSays(pay("1", 5))}, Resume: &ai.Answers{}},
			ai.ErrInvalidArgument, "ai: not every open tool request is answered; open are: pay#1",
		},
		"the model's own error": {&ai.GenerateOptions{Model: m, Prompt: "hi"}, nil, "ai: model: the model was asked"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			resp, err := ai.Generate(t.Context(), &newLoopTools().Registry, tt.opts)
			require.Nil(t, resp)
			requirePlain(t, err)
			require.EqualError(t, err, tt.want)
			if tt.kind != nil {
				require.ErrorIs(t, err, tt.kind)
			}
		})
	}
}

func TestGenerateLaterErrorsHoldTheHistory(t *testing.T) {
	t.Parallel()
	tools := newLoopTools()
	m := aitest.NewModel(t,
		&aitest.Reply{Content: ai.Parts{look("1", "Rome")}, Usage: ai.Usage{InputTokens: 7}},
		aitest.Fail(errTooMany),
		aitest.Text("done"),
	)
	resp, err := ai.Generate(t.Context(), &tools.Registry, &ai.GenerateOptions{Model: m, System: "s", Prompt: "go"})
	require.Nil(t, resp)
	require.ErrorIs(t, err, errTooMany)
	require.EqualError(t, err, "ai: model: 429 too many requests")
	var failed *ai.GenerateError
	require.ErrorAs(t, err, &failed)
	require.Equal(t, ai.Usage{InputTokens: 7}, failed.Usage)
	require.Equal(t, []string{"system s", "user go", "model look#1?", `tool look#1="sunny in Rome"`}, outline(failed.Messages))

	resp, err = ai.Generate(t.Context(), &tools.Registry, &ai.GenerateOptions{Model: m, Messages: aitest.Reload(t, failed.Messages)})
	require.NoError(t, err)
	require.Equal(t, "done", resp.Text())
	require.EqualValues(t, 1, tools.looked.Load())
}

func TestGenerateErrorAfterAResumptionHoldsItsResults(t *testing.T) {
	t.Parallel()
	tools := newLoopTools()
	m := aitest.NewModel(t, aitest.ToolRequests(pay("1", 5)), aitest.Fail(errTooMany), aitest.Text("done"))
	paused, err := ai.Generate(t.Context(), &tools.Registry, &ai.GenerateOptions{Model: m, Prompt: "pay"})
	require.NoError(t, err)
	_, err = ai.Generate(t.Context(), &tools.Registry, &ai.GenerateOptions{Model: m, Messages: paused.Messages, Resume: aitest.Approve(t, paused)})
	require.ErrorIs(t, err, errTooMany)
	history := requireHistory(t, err)
	require.Equal(t, []string{"user pay", "model pay#1?", `tool pay#1="paid 5"`}, outline(history))
	_, err = ai.Generate(t.Context(), &tools.Registry, &ai.GenerateOptions{Model: m, Messages: history})
	require.NoError(t, err)
	require.EqualValues(t, 1, tools.paid.Load(), "the payment is not made again")
}

func TestGenerateFailingTurn(t *testing.T) {
	t.Parallel()
	tools := newLoopTools()
	m := aitest.NewModel(t,
		aitest.ToolRequests(look("1", "Rome"), aitest.Request("print", "2", nil), pay("3", 5)),
		aitest.Text("done"),
	)
	_, err := ai.Generate(t.Context(), &tools.Registry, &ai.GenerateOptions{Model: m, Prompt: "go"})
	require.ErrorIs(t, err, errBroken)
	require.EqualError(t, err, "ai: tool request print#2: the printer is on fire")
	var turn *ai.TurnError
	require.ErrorAs(t, err, &turn)
	history := requireHistory(t, err)
	require.Same(t, turn.Model, history[1])
	require.Len(t, turn.Open(), 2)
	require.Len(t, turn.Interrupts(), 1)

	answers := &ai.Answers{}
	for _, req := range turn.Open() {
		answers.Restart = append(answers.Restart, must(ai.Restart(req, nil)))
	}
	// It fails once more: what has settled meanwhile is kept again.
	_, err = ai.Generate(t.Context(), &tools.Registry, &ai.GenerateOptions{
		Model: m, Messages: aitest.Reload(t, history), Resume: aitest.Reload(t, answers),
	})
	require.ErrorIs(t, err, errBroken)
	history = requireHistory(t, err)

	tools.broken.Store(false)
	answers.Restart = answers.Restart[:1]
	resp, err := ai.Generate(t.Context(), &tools.Registry, &ai.GenerateOptions{Model: m, Messages: history, Resume: answers})
	require.NoError(t, err)
	require.Equal(t, []string{
		"user go", "model look#1?", "model print#2?", "model pay#3?",
		`tool look#1="sunny in Rome"`, `tool print#2="printed"`, `tool pay#3="paid 5"`, "model done",
	}, outline(resp.Messages))
	require.EqualValues(t, 1, tools.looked.Load())
	require.EqualValues(t, 1, tools.paid.Load())
	require.EqualValues(t, 3, tools.failed.Load())
}

func TestGenerateModelPanics(t *testing.T) {
	t.Parallel()
	cause := errors.New("nil map")
	var rounds int
	m := ai.ModelFunc(func(_ context.Context, req *ai.ModelRequest, _ func(*ai.Chunk) error) (*ai.ModelResponse, error) {
		if rounds++; rounds == 2 {
			return &ai.ModelResponse{Message: modelSays(look("1", "Rome"))}, nil
		}
		panic(cause)
	})
	var panicked *ai.PanicError
	_, err := ai.Generate(t.Context(), &newLoopTools().Registry, &ai.GenerateOptions{Model: m, Prompt: "go"})
	requirePlain(t, err)
	require.EqualError(t, err, "ai: model: panic: nil map")
	require.ErrorAs(t, err, &panicked)
	require.ErrorIs(t, err, cause)
	require.Contains(t, string(panicked.Stack), "TestGenerateModelPanics")

	_, err = ai.Generate(t.Context(), &newLoopTools().Registry, &ai.GenerateOptions{Model: m, Prompt: "go"})
	require.ErrorIs(t, err, cause)
	require.Len(t, requireHistory(t, err), 3, "what had happened before is not lost")
}

func TestGenerateRepliesThatCanNotBeUsed(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		reply *ai.ModelResponse
		want  string
	}{
		"none":          {nil, "ai: model: it returned neither a message nor an error"},
		"no message":    {&ai.ModelResponse{}, "ai: model: it returned neither a message nor an error"},
		"another role":  {&ai.ModelResponse{Message: userSays("hi")}, `ai: model: its reply is of role "user" instead of "model"`},
		"a nil part":    {&ai.ModelResponse{Message: modelSays(&ai.TextPart{}, nil)}, "ai: model: its reply can't be used: part 1 of its content is nil"},
		"a nil request": {&ai.ModelResponse{Message: modelSays((*ai.ToolRequestPart)(nil))}, "ai: model: its reply can't be used: part 0 of its content is nil"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m := ai.ModelFunc(func(context.Context, *ai.ModelRequest, func(*ai.Chunk) error) (*ai.ModelResponse, error) {
				return tt.reply, nil
			})
			_, err := ai.Generate(t.Context(), &newLoopTools().Registry, &ai.GenerateOptions{Model: m, Prompt: "go"})
			requirePlain(t, err)
			require.EqualError(t, err, tt.want)
		})
	}
}

func TestGenerateReplyWithoutRole(t *testing.T) {
	t.Parallel()
	said := &ai.Message{Content: ai.Parts{&ai.TextPart{Text: "hi"}}}
	m := ai.ModelFunc(func(context.Context, *ai.ModelRequest, func(*ai.Chunk) error) (*ai.ModelResponse, error) {
		return &ai.ModelResponse{Message: said}, nil
	})
	resp, err := ai.Generate(t.Context(), nil, &ai.GenerateOptions{Model: m, Prompt: "go"})
	require.NoError(t, err)
	require.Equal(t, ai.RoleModel, resp.Message.Role)
	require.Empty(t, said.Role, "the model's own message is not changed")
}

func TestGenerateArgumentsThatAreNoJSONDoNotSpoilTheHistory(t *testing.T) {
	t.Parallel()
	reply := aitest.ToolRequests(aitest.Request("look", "1", json.RawMessage(`{"City": "Ro`)))
	for name, tt := range map[string]struct {
		max  int
		want error
	}{"aborted": {1, ai.ErrAborted}, "canceled": {2, context.Canceled}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			rounds := 0
			m := ai.ModelFunc(func(ctx context.Context, req *ai.ModelRequest, _ func(*ai.Chunk) error) (*ai.ModelResponse, error) {
				if rounds++; rounds == 2 && tt.max == 2 {
					cancel()
				}
				return &ai.ModelResponse{Message: modelSays(reply.Content...)}, nil
			})
			_, err := ai.Generate(ctx, &newLoopTools().Registry, &ai.GenerateOptions{Model: m, Prompt: "go", MaxTurns: tt.max})
			require.ErrorIs(t, err, tt.want)
			history := requireHistory(t, err)
			require.Len(t, history, 4)
			req := history[3].ToolRequests()[0]
			require.JSONEq(t, `{}`, string(req.ToolRequest.Input))
			require.JSONEq(t, `{"text":"{\"City\": \"Ro","problem":"text that is not JSON"}`, string(req.Metadata["argumentsError"]))
			aitest.Reload(t, history)
		})
	}
}
