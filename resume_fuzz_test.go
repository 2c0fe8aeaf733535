package ai_test

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/holdpoint/ai"
)

// run is one start of a tool: where its request stands, and its ref.
type run struct {
	path, ref string
	depth     int
}

// arena is a fixed set of tools that note each start: one that asks, one plain,
// one that fails, one that takes a response only, one under a longer name, and
// one that hosts two conversations.
type arena struct {
	set   *ai.ToolSet
	fresh string // the refs that models of this resumption make begin with it

	mu   sync.Mutex
	runs []run
}

func newArena(t testing.TB) *arena {
	t.Helper()
	a := &arena{fresh: "fresh" + rand.Text()}
	amount := json.RawMessage(`{"type":"object","properties":{"Amount":{"type":"integer"}}}`)
	tool := func(def *ai.ToolDefinition, fn ai.RawFunc) ai.Tool {
		return newRaw(t, def, func(ctx context.Context, call *ai.ToolCall) (*ai.ToolResult, error) {
			a.add(at(call.Path, call.Ref))
			return fn(ctx, call)
		})
	}
	asks := func(_ context.Context, call *ai.ToolCall) (*ai.ToolResult, error) {
		if !call.Resumed() {
			return nil, call.InterruptWithState("sure?", 1)
		}
		if string(call.Input) == `{"Amount":-1}` {
			return nil, errors.New("no money")
		}
		return &ai.ToolResult{Output: json.RawMessage(`"done"`)}, nil
	}
	a.set = newSet(t,
		tool(&ai.ToolDefinition{Name: "pay", InputSchema: amount}, asks),
		tool(&ai.ToolDefinition{Name: "work-orders/order_part"}, asks),
		tool(&ai.ToolDefinition{Name: "getWeather"}, func(context.Context, *ai.ToolCall) (*ai.ToolResult, error) {
			return &ai.ToolResult{
				Output: json.RawMessage("0"), Content: ai.Parts{&ai.TextPart{Text: "sunny"}}, Metadata: ai.Metadata{"cost": json.RawMessage("1")},
			}, nil
		}),
		tool(&ai.ToolDefinition{Name: "flaky"}, func(context.Context, *ai.ToolCall) (*ai.ToolResult, error) {
			return nil, errors.New("down")
		}),
		tool(&ai.ToolDefinition{Name: "ask", NotRestartable: true}, func(_ context.Context, call *ai.ToolCall) (*ai.ToolResult, error) {
			return nil, call.Interrupt(nil)
		}),
		tool(&ai.ToolDefinition{Name: "host"}, a.host))
	return a
}

// host holds two conversations, and those a host of their own where this one is
// at the top.
func (a *arena) host(ctx context.Context, call *ai.ToolCall) (*ai.ToolResult, error) {
	calls := ai.Parts{wish("pay", a.fresh+"p", `{"Amount":1}`), wish("getWeather", a.fresh+"w", "")}
	if len(call.Path) == 0 {
		calls[1] = wish("host", a.fresh+"h", "")
	}
	model := agent(&diary{}, "", calls...)
	var errs []error
	for _, name := range []string{"a", "b"} {
		_, err := call.Generate(ctx, name, nil, &ai.GenerateOptions{Model: model, Prompt: "go", Tools: a.set})
		errs = append(errs, err)
	}
	return &ai.ToolResult{}, errors.Join(errs...)
}

func at(path ai.Path, ref string) run { return run{fmt.Sprintf("%q", path), ref, len(path)} }

func (a *arena) add(r run) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.runs = append(a.runs, r)
}

// take is what ran since it was last called.
func (a *arena) take() []run {
	a.mu.Lock()
	defer a.mu.Unlock()
	runs := a.runs
	a.runs = nil
	return runs
}

// permits says which calls may run: those that an answer names, those marked as
// not started, and the hosts above them. Where refs can't tell calls apart, it
// counts by depth.
type permits struct {
	exact bool
	named map[run]int
}

func permitted(m *ai.Message, answers *ai.Answers) *permits {
	p := &permits{exact: true, named: map[run]int{}}
	p.checkRefs(m)
	p.walk(m, nil)
	for _, r := range answers.Respond {
		if path, ok := pathOf(r.Metadata); ok {
			p.hosts(path)
		}
	}
	for _, r := range answers.Restart {
		if path, ok := pathOf(r.Metadata); ok {
			p.hosts(path)
			p.allow(path, r.ToolRequest.Ref)
		}
	}
	return p
}

func pathOf(md ai.Metadata) (ai.Path, bool) {
	var path ai.Path
	_, err := md.Decode("path", &path)
	return path, err == nil
}

func (p *permits) allow(path ai.Path, ref string) { p.named[p.key(at(path, ref))]++ }

func (p *permits) key(r run) run {
	if p.exact {
		return r
	}
	return run{depth: r.depth}
}

func (p *permits) hosts(path ai.Path) {
	for i := range path {
		p.allow(path[:i], path[i].Ref)
	}
}

// walk allows what is marked as not started, at every depth.
func (p *permits) walk(m *ai.Message, path ai.Path) {
	for _, req := range m.ToolRequests() {
		if _, settled := req.Metadata["pendingOutput"]; settled {
			continue
		}
		if string(req.Metadata["notStarted"]) == "true" {
			p.hosts(path)
			p.allow(path, req.ToolRequest.Ref)
		}
		for name, last := range pausedIn(req) {
			p.walk(last, append(path[:len(path):len(path)], ai.PathStep{Ref: req.ToolRequest.Ref, Branch: name}))
		}
	}
}

// checkRefs gives up telling calls apart where a message holds a ref twice.
func (p *permits) checkRefs(m *ai.Message) {
	seen := map[string]bool{"": true}
	for _, req := range m.ToolRequests() {
		ref := req.ToolRequest.Ref
		p.exact = p.exact && !seen[ref]
		seen[ref] = true
		for _, last := range pausedIn(req) {
			p.checkRefs(last)
		}
	}
}

// pausedIn are the last messages of the conversations that a request hosts.
func pausedIn(req *ai.ToolRequestPart) map[string]*ai.Message {
	var inner map[string]struct{ Messages []*ai.Message }
	if _, err := req.Metadata.Decode("inner", &inner); err != nil {
		return nil
	}
	last := map[string]*ai.Message{}
	for name, c := range inner {
		if n := len(c.Messages); n > 0 && c.Messages[n-1] != nil {
			last[name] = c.Messages[n-1]
		}
	}
	return last
}

// check resumes a message and makes sure that nothing ran that was not to run,
// and that what comes out can be gone on from.
func (a *arena) check(t testing.TB, m *ai.Message, answers *ai.Answers, opts *ai.ResolveOptions) error {
	t.Helper()
	allowed, before := permitted(m, withoutNils(answers)), jsonOf(t, m)
	res, err := ai.Resume(t.Context(), a.set, m, answers, opts)
	require.Equal(t, before, jsonOf(t, m), "the message passed in was changed")
	runs := a.take()
	seen := map[run]bool{}
	for _, r := range runs {
		require.False(t, seen[r], "%v ran twice", r)
		seen[r] = true
		if strings.Contains(r.path+r.ref, a.fresh) {
			continue // a model asked for it in this very resumption
		}
		key := allowed.key(r)
		require.Positive(t, allowed.named[key], "%v ran, and no answer names it", r)
		if !allowed.exact {
			allowed.named[key]--
		}
	}
	var turn *ai.TurnError
	switch {
	case err == nil:
		a.checkResolution(t, res)
	case errors.As(err, &turn):
		a.checkOpen(t, turn.Model)
		require.NotErrorAs(t, err, new(*ai.InterruptError))
		require.NotEmpty(t, turn.Calls)
		turn.Open()
	default:
		require.Empty(t, runs, "%v, and yet something ran", err)
		require.True(t, errors.Is(err, ai.ErrInvalidArgument) || errors.Is(err, ai.ErrNotFound) || errors.Is(err, ai.ErrFailedPrecondition), "%v", err)
		require.True(t, strings.HasPrefix(err.Error(), "ai: "), err.Error())
	}
	return err
}

func (a *arena) checkResolution(t testing.TB, res *ai.Resolution) {
	t.Helper()
	if res.Tool == nil {
		a.checkOpen(t, res.Model)
		return
	}
	_, m := jsonOf(t, res.Model), decode[*ai.Message](t, jsonOf(t, res.Tool))
	asked := res.Model.ToolRequests()
	require.Len(t, m.Content, len(asked))
	for i, p := range m.Content {
		r := p.(*ai.ToolResponsePart).ToolResponse
		require.Equal(t, asked[i].ToolRequest.Name, r.Name)
		require.Equal(t, asked[i].ToolRequest.Ref, r.Ref)
		require.NotContains(t, asked[i].Metadata, "pendingOutput")
	}
}

// checkOpen makes sure that a pause can be read elsewhere, and denied.
func (a *arena) checkOpen(t testing.TB, m *ai.Message) {
	t.Helper()
	read := decode[*ai.Message](t, jsonOf(t, m))
	_, err := read.Interrupts()
	require.NoError(t, err)
	denials := &ai.Answers{}
	for _, req := range read.ToolRequests() {
		if _, settled := req.Metadata["pendingOutput"]; !settled {
			denials.Respond = append(denials.Respond, no(t, req, "enough"))
		}
	}
	if len(denials.Respond) == 0 {
		return // all is settled, but the turn failed over something else
	}
	for _, d := range denials.Respond {
		delete(d.Metadata, "path")
	}
	res, err := ai.Resume(t.Context(), nil, read, denials, nil)
	require.NoError(t, err)
	a.checkResolution(t, res)
	require.Empty(t, a.take())
}

func withoutNils(answers *ai.Answers) *ai.Answers {
	c := &ai.Answers{}
	if answers == nil {
		return c
	}
	for _, r := range answers.Respond {
		if r != nil {
			c.Respond = append(c.Respond, r)
		}
	}
	for _, r := range answers.Restart {
		if r != nil {
			c.Restart = append(c.Restart, r)
		}
	}
	return c
}

// FuzzResume resumes arbitrary histories with arbitrary answers.
func FuzzResume(f *testing.F) {
	for _, seed := range resumeSeeds(f) {
		for flags := range byte(8) {
			f.Add([]byte(seed.message), []byte(seed.answers), flags)
		}
	}
	a := newArena(f)
	f.Fuzz(func(t *testing.T, message, answers []byte, flags byte) {
		var m ai.Message
		var given *ai.Answers
		if json.Unmarshal(message, &m) != nil || json.Unmarshal(answers, &given) != nil {
			return
		}
		opts := &ai.ResolveOptions{Partial: flags&1 != 0, Sequential: flags&2 != 0}
		if flags&4 != 0 {
			opts.OnError = ai.ReportErrors
		}
		_ = a.check(t, &m, given, opts)
	})
}
