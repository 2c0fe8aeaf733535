package ai_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/holdpoint/ai"
	"github.com/holdpoint/ai/aitest"
)

var errBroken = errors.New("the printer is on fire")

// loopTools are tools that give, ask and fail, and count how often they ran.
type loopTools struct {
	ai.Registry
	looked, paid, failed atomic.Int64
	broken               atomic.Bool // print fails; set at first
}

func newLoopTools() *loopTools {
	l := &loopTools{}
	l.broken.Store(true)
	ai.DefineTool(&l.Registry, "look", "Look at a city.", func(_ context.Context, _ *ai.ToolCall, in cityInput) (string, error) {
		l.looked.Add(1)
		return "sunny in " + in.City, nil
	})
	ai.DefineTool(&l.Registry, "pay", "Pay an amount.", func(_ context.Context, call *ai.ToolCall, in amountInput) (string, error) {
		if !call.Resumed() {
			return "", call.Interrupt(confirmation{"confirm"})
		}
		l.paid.Add(1)
		return fmt.Sprint("paid ", in.Amount), nil
	})
	ai.DefineTool(&l.Registry, "print", "Print.", func(context.Context, *ai.ToolCall, struct{}) (string, error) {
		l.failed.Add(1)
		if l.broken.Load() {
			return "", errBroken
		}
		return "printed", nil
	})
	return l
}

// look and pay are requests for those tools.
func look(ref, city string) *ai.ToolRequestPart {
	return aitest.Request("look", ref, map[string]string{"City": city})
}

func pay(ref string, amount int) *ai.ToolRequestPart {
	return aitest.Request("pay", ref, map[string]int{"Amount": amount})
}

func modelSays(parts ...ai.Part) *ai.Message {
	return &ai.Message{Role: ai.RoleModel, Content: parts}
}

// response is a tool response as a history holds it.
func response(name, ref, output string) *ai.ToolResponsePart {
	return &ai.ToolResponsePart{ToolResponse: ai.ToolResponse{Name: name, Ref: ref, Output: json.RawMessage(output)}}
}

func toolSays(parts ...ai.Part) *ai.Message {
	return &ai.Message{Role: ai.RoleTool, Content: parts}
}

func userSays(text string) *ai.Message { return ai.TextMessage(ai.RoleUser, text) }

// outline gives a line for each part of a history: who says it, and what.
func outline(messages []*ai.Message) []string {
	var lines []string
	for _, m := range messages {
		for _, p := range m.Content {
			line := string(m.Role) + " "
			switch p := p.(type) {
			case *ai.TextPart:
				line += p.Text
			case *ai.ToolRequestPart:
				line += fmt.Sprintf("%s#%s?", p.ToolRequest.Name, p.ToolRequest.Ref)
			case *ai.ToolResponsePart:
				line += fmt.Sprintf("%s#%s=%s", p.ToolResponse.Name, p.ToolResponse.Ref, p.ToolResponse.Output)
			default:
				line += fmt.Sprintf("%T", p)
			}
			lines = append(lines, line)
		}
	}
	return lines
}

// requireHistory takes the history of a GenerateError out of an error.
func requireHistory(t *testing.T, err error) []*ai.Message {
	t.Helper()
	var failed *ai.GenerateError
	require.ErrorAs(t, err, &failed)
	mustJSON(t, failed.Messages)
	return failed.Messages
}

// requirePlain makes sure that an error holds no history.
func requirePlain(t *testing.T, err error) {
	t.Helper()
	require.Error(t, err)
	var failed *ai.GenerateError
	require.NotErrorAs(t, err, &failed)
}

// printJSON prints a value over several lines, for examples.
func printJSON(v any) {
	data, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		panic(err)
	}
	fmt.Println(string(data))
}
