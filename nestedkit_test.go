package ai_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/holdpoint/ai"
)

// agent is a model without memory: it asks for these calls, and once they are
// answered it says what came of them.
func agent(d *diary, name string, calls ...ai.Part) ai.Model {
	return ai.ModelFunc(func(_ context.Context, req *ai.ModelRequest, _ func(*ai.Chunk) error) (*ai.ModelResponse, error) {
		last := req.Messages[len(req.Messages)-1]
		if last.Role != ai.RoleTool {
			d.add("%s begins", name)
			return &ai.ModelResponse{Message: modelSays(calls...), FinishReason: ai.FinishStop}, nil
		}
		d.add("%s ends", name)
		var said []string
		for _, p := range last.Content {
			said = append(said, p.(*ai.ToolResponsePart).ForModel().Text)
		}
		return &ai.ModelResponse{Message: ai.TextMessage(ai.RoleModel, strings.Join(said, ", ")), FinishReason: ai.FinishStop}, nil
	})
}

// branch is an inner conversation of a host.
type branch struct {
	name  string
	model ai.Model
	tools *ai.ToolSet
	turn  ai.ResolveOptions
}

// run holds the conversation, and returns what it ends with.
func (b *branch) run(ctx context.Context, call *ai.ToolCall) (string, error) {
	resp, err := call.Generate(ctx, b.name, nil, &ai.GenerateOptions{Model: b.model, Prompt: "go", Tools: b.tools, Turn: b.turn})
	if err != nil {
		return "", err
	}
	return b.name + ": " + resp.Text(), nil
}

// runAll holds conversations side by side.
func runAll(ctx context.Context, call *ai.ToolCall, branches []branch) (*ai.ToolResult, error) {
	said, errs := make([]string, len(branches)), make([]error, len(branches))
	var wg sync.WaitGroup
	for i := range branches {
		wg.Go(func() { said[i], errs[i] = branches[i].run(ctx, call) })
	}
	wg.Wait()
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	data, err := json.Marshal(strings.Join(said, "; "))
	return &ai.ToolResult{Output: data}, err
}

// runEach holds conversations one after the other, the next once the last has
// ended.
func runEach(ctx context.Context, call *ai.ToolCall, branches []branch) (*ai.ToolResult, error) {
	var said []string
	for i := range branches {
		text, err := branches[i].run(ctx, call)
		if err != nil {
			return nil, fmt.Errorf("branch %s: %w", branches[i].name, err)
		}
		said = append(said, text)
	}
	data, err := json.Marshal(strings.Join(said, "; "))
	return &ai.ToolResult{Output: data}, err
}

type runner func(ctx context.Context, call *ai.ToolCall, branches []branch) (*ai.ToolResult, error)

// hostOf is a tool that hosts these conversations.
func hostOf(t testing.TB, d *diary, name string, run runner, branches ...branch) ai.Tool {
	t.Helper()
	return newRaw(t, &ai.ToolDefinition{Name: name}, func(ctx context.Context, call *ai.ToolCall) (*ai.ToolResult, error) {
		d.add("%s runs", strings.TrimSpace(name+" "+call.Path.String()))
		return run(ctx, call, branches)
	})
}

// company is a desk under two levels of hosts: boss holds the conversations left
// and right, in each of which a clerk holds one in which something is paid.
func company(t testing.TB, d *desk) *ai.ToolSet {
	t.Helper()
	var halls []branch
	for i, side := range []string{"left", "right"} {
		pay := wish("pay", "p", fmt.Sprintf(`{"amount":%d}`, i+1))
		clerk := hostOf(t, &d.diary, "clerk", runAll, branch{name: "office", model: agent(&d.diary, side+" office", pay), tools: d.set})
		halls = append(halls, branch{name: side, model: agent(&d.diary, side, wish("clerk", "c", ""), wish("look", "l", `{"give":1}`)),
			tools: newSet(t, clerk, d.look)})
	}
	return newSet(t, hostOf(t, &d.diary, "boss", runAll, halls...))
}

// leafAt is the open request at the end of a path, as Interrupts or Open list it.
func leafAt(t testing.TB, list []*ai.ToolRequestPart, path string) *ai.ToolRequestPart {
	t.Helper()
	var paths []string
	for _, req := range list {
		var p ai.Path
		_, err := req.Metadata.Decode("path", &p)
		require.NoError(t, err)
		if p.String() == path {
			return req
		}
		paths = append(paths, p.String())
	}
	require.FailNow(t, "no open request", "in %q, only in %q", path, paths)
	return nil
}

// requestsOf are the requests of interrupts.
func requestsOf(list []*ai.Interrupt) []*ai.ToolRequestPart {
	var reqs []*ai.ToolRequestPart
	for _, it := range list {
		reqs = append(reqs, it.Request)
	}
	return reqs
}
