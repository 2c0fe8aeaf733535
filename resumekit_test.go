package ai_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/holdpoint/ai"
	"github.com/holdpoint/ai/aitest"
)

type (
	payIn struct {
		Amount int `json:"amount"`
	}
	payAsk struct {
		Confirm int `json:"confirm"`
	}
	askIn struct {
		Question string `json:"question"`
	}
)

// desk is tools that write into a diary: pay asks before it acts, look does
// not, ask takes a response only, and flaky fails while it is broken.
type desk struct {
	diary
	set    *ai.ToolSet
	look   ai.Tool
	flaky  ai.Tool
	pay    *ai.TypedTool[payIn, string]
	ask    *ai.TypedTool[askIn, int]
	broken atomic.Bool
}

func newDesk(t testing.TB) *desk {
	t.Helper()
	d := &desk{}
	var r ai.Registry
	d.pay = ai.DefineTool(&r, "pay", "Pay an amount.", func(_ context.Context, call *ai.ToolCall, in payIn) (string, error) {
		if !call.Resumed() {
			return "", call.Interrupt(payAsk{in.Amount})
		}
		d.add("pay %s %d", call.Ref, in.Amount)
		return fmt.Sprintf("paid %d", in.Amount), nil
	})
	d.look = ai.DefineTool(&r, "look", "Look something up.", func(_ context.Context, call *ai.ToolCall, in map[string]any) (any, error) {
		d.add("look %s", call.Ref)
		return in["give"], nil
	})
	d.ask = ai.DefineInterrupt[askIn, int](&r, "ask", "Ask the user.", nil)
	d.flaky = ai.DefineTool(&r, "flaky", "Pay without asking, if it works.", func(_ context.Context, call *ai.ToolCall, in payIn) (string, error) {
		d.add("flaky %s %d", call.Ref, in.Amount)
		if d.broken.Load() {
			return "", errors.New("the line is down")
		}
		return fmt.Sprintf("paid %d", in.Amount), nil
	})
	set, err := r.AllTools(context.Background())
	require.NoError(t, err)
	d.set = set
	return d
}

// pause resolves a message whose calls ask, and returns what another process
// reads of the pause.
func pause(t testing.TB, set *ai.ToolSet, opts *ai.ResolveOptions, parts ...ai.Part) *ai.Message {
	t.Helper()
	res, err := ai.Resolve(t.Context(), set, modelSays(parts...), opts)
	require.NoError(t, err)
	require.Nil(t, res.Tool, "the turn was to pause")
	return aitest.Reload(t, res.Model)
}

// resume is ai.Resume with answers that came as JSON.
func resume(t testing.TB, set *ai.ToolSet, m *ai.Message, a *ai.Answers, opts *ai.ResolveOptions) (*ai.Resolution, error) {
	t.Helper()
	before := jsonOf(t, m)
	res, err := ai.Resume(t.Context(), set, m, aitest.Reload(t, a), opts)
	require.Equal(t, before, jsonOf(t, m), "the message passed in was changed")
	return res, err
}

// failed resumes or resolves into a *ai.TurnError and returns its message as
// another process reads it.
func failed(t testing.TB, err error) (*ai.TurnError, *ai.Message) {
	t.Helper()
	var turn *ai.TurnError
	require.ErrorAs(t, err, &turn)
	return turn, aitest.Reload(t, turn.Model)
}

func yes(t testing.TB, req *ai.ToolRequestPart) *ai.ToolRequestPart {
	t.Helper()
	p, err := ai.Restart(req, nil)
	require.NoError(t, err)
	return p
}

func edit(t testing.TB, req *ai.ToolRequestPart, input string) *ai.ToolRequestPart {
	t.Helper()
	raw := json.RawMessage(input)
	p, err := ai.Restart(req, &ai.RestartOptions[json.RawMessage]{NewInput: &raw})
	require.NoError(t, err)
	return p
}

func say(t testing.TB, req *ai.ToolRequestPart, output any) *ai.ToolResponsePart {
	t.Helper()
	p, err := ai.Respond(req, output)
	require.NoError(t, err)
	return p
}

func no(t testing.TB, req *ai.ToolRequestPart, reason string) *ai.ToolResponsePart {
	t.Helper()
	p, err := ai.Deny(req, reason)
	require.NoError(t, err)
	return p
}

func restarts(list ...*ai.ToolRequestPart) *ai.Answers  { return &ai.Answers{Restart: list} }
func responds(list ...*ai.ToolResponsePart) *ai.Answers { return &ai.Answers{Respond: list} }

// newSet is ai.NewToolSet for tools that fit together.
func newSet(t testing.TB, tools ...ai.Tool) *ai.ToolSet {
	t.Helper()
	set, err := ai.NewToolSet(tools...)
	require.NoError(t, err)
	return set
}

// newRaw is ai.NewRawTool for definitions that are right.
func newRaw(t testing.TB, def *ai.ToolDefinition, fn ai.RawFunc) *ai.RawTool {
	t.Helper()
	tool, err := ai.NewRawTool(def, fn)
	require.NoError(t, err)
	return tool
}

// wish is a tool request as a model makes it. Empty input is absent.
func wish(name, ref, input string) *ai.ToolRequestPart {
	p := &ai.ToolRequestPart{ToolRequest: ai.ToolRequest{Name: name, Ref: ref}}
	if input != "" {
		p.ToolRequest.Input = json.RawMessage(input)
	}
	return p
}

// jsonOf is v as JSON text.
func jsonOf(t testing.TB, v any) string {
	t.Helper()
	data, err := json.Marshal(v)
	require.NoError(t, err)
	return string(data)
}

// requestOf is the tool request with the ref.
func requestOf(t testing.TB, m *ai.Message, ref string) *ai.ToolRequestPart {
	t.Helper()
	for _, p := range m.ToolRequests() {
		if p.ToolRequest.Ref == ref {
			return p
		}
	}
	require.FailNow(t, "no tool request", "ref %q", ref)
	return nil
}

// outputsOf are the outputs of a tool message, in order.
func outputsOf(t testing.TB, m *ai.Message) []string {
	t.Helper()
	require.NotNil(t, m, "there is no tool message")
	var list []string
	for _, p := range m.Content {
		r, ok := p.(*ai.ToolResponsePart)
		require.True(t, ok)
		list = append(list, string(r.ToolResponse.Output))
	}
	return list
}

// diary records what happened, from any goroutine.
type diary struct {
	mu    sync.Mutex
	lines []string
}

func (d *diary) add(format string, args ...any) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.lines = append(d.lines, fmt.Sprintf(format, args...))
}

// take is what was added since it was last called, in order.
func (d *diary) take() []string {
	d.mu.Lock()
	defer d.mu.Unlock()
	lines := d.lines
	d.lines = nil
	return lines
}

// sorted is take for things that happen side by side.
func (d *diary) sorted() []string {
	lines := d.take()
	slices.Sort(lines)
	return lines
}
