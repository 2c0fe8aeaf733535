package ai_test

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/holdpoint/ai"
	"github.com/holdpoint/ai/aitest"
)

// shelf is a provider whose tools are put on it and taken away.
type shelf struct {
	name string

	mu    sync.Mutex
	tools []ai.Tool
	err   error
}

func (s *shelf) Name() string { return s.name }

func (s *shelf) Tools(context.Context) ([]ai.Tool, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.tools), s.err
}

func (s *shelf) put(tools ...ai.Tool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.tools, s.err = tools, nil
}

func (s *shelf) fail(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.err = err
}

var errRefused = errors.New("connection refused")

// asking is a tool of a provider that asks before it acts, with its own schema
// and result.
func asking(t testing.TB, name, schema, result string) ai.Tool {
	t.Helper()
	return newRaw(t, &ai.ToolDefinition{Name: name, InputSchema: []byte(schema)}, func(_ context.Context, call *ai.ToolCall) (*ai.ToolResult, error) {
		if !call.Resumed() {
			return nil, call.Interrupt("sure?")
		}
		return &ai.ToolResult{Output: []byte(result)}, nil
	})
}

const anyObject = `{"type":"object"}`

// site is a conversation that waits at a call of a provider's tool.
type site struct {
	ai.Registry
	shop   *shelf
	paused *ai.Response
}

func newSite(t *testing.T) *site {
	t.Helper()
	s := &site{shop: &shelf{name: "shop"}}
	require.NoError(t, s.Register(asking(t, "bank/pay", anyObject, `"paid"`)))
	require.NoError(t, s.AddProvider(s.shop))
	s.shop.put(asking(t, "shop/order", anyObject, `"ordered"`))
	s.paused = s.ask(t, "order")
	return s
}

// ask is a new conversation that pauses at calls of these tools.
func (s *site) ask(t *testing.T, names ...string) *ai.Response {
	t.Helper()
	var requests []*ai.ToolRequestPart
	for _, name := range names {
		requests = append(requests, wish(name, name, `{"part":"belt"}`))
	}
	m := aitest.NewModel(t, aitest.ToolRequests(requests...))
	resp, err := ai.Generate(t.Context(), &s.Registry, &ai.GenerateOptions{Model: m, Prompt: "go"})
	require.NoError(t, err)
	require.Equal(t, ai.FinishInterrupted, resp.FinishReason)
	return aitest.Reload(t, resp)
}

// resume answers a paused conversation, with a model that says "bye" when it is asked.
func (s *site) resume(t *testing.T, answers *ai.Answers, opts *ai.ResolveOptions, replies ...*aitest.Reply) (*ai.Response, error) {
	t.Helper()
	o := &ai.GenerateOptions{Model: aitest.NewModel(t, replies...), Messages: s.paused.Messages, Resume: answers}
	if opts != nil {
		o.Turn = *opts
	}
	before := jsonOf(t, s.paused.Messages)
	defer func() { require.Equal(t, before, jsonOf(t, s.paused.Messages)) }()
	return ai.Generate(t.Context(), &s.Registry, o)
}

func (s *site) yes(t *testing.T) *ai.Answers { return aitest.Approve(t, s.paused) }
func (s *site) no(t *testing.T) *ai.Answers  { return aitest.Deny(t, s.paused, "not now") }

func TestToolsThatComeAndGo(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.shop.put()
	_, err := s.resume(t, s.yes(t), nil)
	requirePlain(t, err)
	require.ErrorIs(t, err, ai.ErrNotFound)
	require.ErrorContains(t, err, `"shop/order"`, "the text names the tool, not only what the model called it")
	require.ErrorContains(t, err, "order#order")

	resp, err := s.resume(t, s.no(t), nil, aitest.Text("bye"))
	require.NoError(t, err, "denying works without the tool")
	require.Equal(t, "bye", resp.Text())

	s.shop.put(asking(t, "other", anyObject, `1`), asking(t, "shop/order", anyObject, `"ordered again"`))
	resp, err = s.resume(t, s.yes(t), nil, aitest.Text("bye"))
	require.NoError(t, err, "the pause was left intact, and a tool that is back is found again")
	require.Contains(t, outline(resp.Messages), `tool order#order="ordered again"`)
}

// A tool that moved to another place is another tool.
func TestToolsThatMove(t *testing.T) {
	t.Parallel()
	for name, tool := range map[string]string{"bare": "order", "elsewhere": "store/order", "deeper": "shop/shop/order"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newSite(t)
			s.shop.put(asking(t, tool, anyObject, `"wrong"`))
			_, err := s.resume(t, s.yes(t), nil)
			require.ErrorIs(t, err, ai.ErrNotFound)
			require.ErrorContains(t, err, `"shop/order"`)
		})
	}
	t.Run("joined by another of its name", func(t *testing.T) {
		t.Parallel()
		s := newSite(t)
		s.shop.put(asking(t, "order", anyObject, `"wrong"`), asking(t, "shop/order", anyObject, `"right"`), asking(t, "a/order", anyObject, `"wrong"`))
		resp, err := s.resume(t, s.yes(t), nil, aitest.Text("bye"))
		require.NoError(t, err)
		require.Contains(t, outline(resp.Messages), `tool order#order="right"`)
	})
}

func TestToolsWhoseSchemaChanges(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.shop.put(asking(t, "shop/order", `{"type":"object","required":["count"]}`, `"ordered"`))
	_, err := s.resume(t, s.yes(t), nil)
	requirePlain(t, err)
	var fault *ai.ArgumentError
	require.ErrorAs(t, err, &fault)
	require.ErrorContains(t, err, "count")
	require.ErrorContains(t, err, "shop/order")

	it := s.paused.Interrupts()[0]
	resp, err := s.resume(t, restarts(edit(t, it.Request, `{"count":2}`)), nil, aitest.Text("bye"))
	require.NoError(t, err)
	require.Contains(t, outline(resp.Messages), `tool order#order="ordered"`)
}

// A provider that is down is an error where one of its tools is to run or a
// model is to be called, and nowhere else.
func TestProviderDown(t *testing.T) {
	t.Parallel()
	t.Run("nothing runs", func(t *testing.T) {
		t.Parallel()
		s := newSite(t)
		s.shop.fail(errRefused)
		_, err := s.resume(t, s.yes(t), nil)
		requirePlain(t, err)
		requireDown(t, err, "shop/order", "shop")
		s.shop.put(asking(t, "shop/order", anyObject, `"ordered"`))
		resp, err := s.resume(t, s.yes(t), nil, aitest.Text("bye"))
		require.NoError(t, err)
		require.Equal(t, "bye", resp.Text())
	})
	t.Run("denying works, the model waits", func(t *testing.T) {
		t.Parallel()
		s := newSite(t)
		s.shop.fail(errRefused)
		_, err := s.resume(t, s.no(t), nil)
		requireDown(t, err, "shop")
		history := requireHistory(t, err)
		require.Equal(t, `tool order#order="Denied: not now"`, outline(history)[2])
		s.shop.put()
		resp, err := ai.Generate(t.Context(), &s.Registry, &ai.GenerateOptions{Model: aitest.NewModel(t, aitest.Text("bye")), Messages: history})
		require.NoError(t, err)
		require.Equal(t, "bye", resp.Text())
	})
	t.Run("without a model call there is no error", func(t *testing.T) {
		t.Parallel()
		s := newSite(t)
		s.paused = s.ask(t, "order", "pay")
		s.shop.fail(errRefused)
		resp, err := s.resume(t, restarts(yes(t, s.paused.Interrupts()[1].Request)), &ai.ResolveOptions{Partial: true})
		require.NoError(t, err)
		require.Len(t, resp.Interrupts(), 1)
		require.Contains(t, jsonOf(t, resp.Message), `"pendingOutput":"paid"`)
		resp, err = s.resume(t, responds(no(t, s.paused.Interrupts()[0].Request, "no")), &ai.ResolveOptions{Partial: true})
		require.NoError(t, err)
		require.Len(t, resp.Interrupts(), 1)
	})
	t.Run("the tools of others run", func(t *testing.T) {
		t.Parallel()
		s := newSite(t)
		s.paused = s.ask(t, "pay")
		s.shop.fail(errRefused)
		_, err := s.resume(t, s.yes(t), nil)
		requireDown(t, err, "shop")
		require.Equal(t, `tool pay#pay="paid"`, outline(requireHistory(t, err))[2])
	})
	t.Run("sets without it do not mind", func(t *testing.T) {
		t.Parallel()
		s := newSite(t)
		s.shop.fail(errRefused)
		set, err := s.Tools(t.Context(), "pay")
		require.NoError(t, err)
		m := aitest.NewModel(t, aitest.Text("hi"))
		_, err = ai.Generate(t.Context(), &s.Registry, &ai.GenerateOptions{Model: m, Prompt: "go", Tools: set})
		require.NoError(t, err)
		_, err = ai.Generate(t.Context(), &s.Registry, &ai.GenerateOptions{Model: m, Prompt: "go"})
		requirePlain(t, err)
		requireDown(t, err, "shop")
	})
}

// requireDown checks that an error says what is missing and why.
func requireDown(t *testing.T, err error, names ...string) {
	t.Helper()
	require.ErrorIs(t, err, ai.ErrNotFound)
	require.ErrorIs(t, err, errRefused)
	require.ErrorContains(t, err, "connection refused")
	for _, name := range names {
		require.ErrorContains(t, err, `"`+name+`"`)
	}
}

func TestSetsWithProvidersDown(t *testing.T) {
	t.Parallel()
	r := registryOf(t, named(t, "bank/pay")...)
	a, b := &shelf{name: "a", err: errRefused}, &shelf{name: "b", err: context.DeadlineExceeded}
	require.NoError(t, r.AddProvider(a))
	require.NoError(t, r.AddProvider(b))
	for _, name := range []string{"a/find", "/tool/find", "/dynamic-action-provider/a"} {
		_, err := r.Lookup(t.Context(), name)
		requireDown(t, err, "a")
	}
	_, err := r.Lookup(t.Context(), "/dynamic-action-provider/a")
	require.NotErrorIs(t, err, context.DeadlineExceeded, "the other one has nothing to do with it")
	_, err = r.Lookup(t.Context(), "pay")
	require.NoError(t, err)

	set, err := r.Tools(t.Context(), "find", "pay", "send", "/dynamic-action-provider/b")
	require.NoError(t, err)
	require.Equal(t, []string{"pay"}, offered(set))
	_, err = ai.Generate(t.Context(), r, &ai.GenerateOptions{Model: aitest.NewModel(t), Prompt: "go", Tools: set})
	requireDown(t, err, "find", "send", "a", "b")
	require.ErrorIs(t, err, context.DeadlineExceeded, "all causes are found")
	_, err = set.Check(wish("a/find", "1", ""))
	requireDown(t, err, "a/find", "a", "b")
}

// What breaks the rules makes a provider as good as down: the pauses of others
// go on, and what is offered is never one tool for another.
func TestProvidersThatBreakTheRules(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		tools []ai.Tool
		text  string
	}{
		"a nil tool":         {[]ai.Tool{nil}, "nil tool"},
		"a bad schema":       {[]ai.Tool{custom{&ai.ToolDefinition{Name: "s", InputSchema: []byte(`{"type":"x"}`)}}}, `tool "s"`},
		"a bad name":         {[]ai.Tool{custom{&ai.ToolDefinition{Name: "a//b"}}}, `"a//b"`},
		"no definition":      {[]ai.Tool{custom{}}, "no definition"},
		"a name twice":       {named(t, "s", "s"), `it offers tool "s" twice`},
		"a registered name":  {named(t, "s", "bank/pay"), `it offers tool "bank/pay", which is registered`},
		"the name of others": {named(t, "s", "shop/order"), `it offers tool "shop/order", and so does tool provider "shop"`},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newSite(t)
			s.paused = s.ask(t, "order", "pay")
			require.NoError(t, s.AddProvider(&shelf{name: "odd", tools: test.tools}))
			set, err := s.AllTools(t.Context())
			require.NoError(t, err)
			require.NotContains(t, offered(set), "s", "what it offers is not used")
			_, err = set.Check(wish("bank/pay", "1", ""))
			require.NoError(t, err, "a registered tool stays")
			_, err = s.Lookup(t.Context(), "s")
			require.ErrorIs(t, err, ai.ErrNotFound)
			require.ErrorContains(t, err, `"odd"`)
			require.ErrorContains(t, err, test.text)

			_, err = s.resume(t, s.no(t), nil)
			requireHistory(t, err)
			require.ErrorContains(t, err, test.text, "no model is called without it")
			_, err = s.resume(t, restarts(yes(t, s.paused.Interrupts()[1].Request)), &ai.ResolveOptions{Partial: true})
			require.NoError(t, err)
		})
	}
}

// Two servers with the same tools, each under its own name, are no clash; under
// one name neither of them runs.
func TestProvidersWithTheSameTools(t *testing.T) {
	t.Parallel()
	var r ai.Registry
	a, b := &shelf{name: "a"}, &shelf{name: "b"}
	require.NoError(t, r.AddProvider(a))
	require.NoError(t, r.AddProvider(b))
	a.put(asking(t, "a/find", anyObject, `"of a"`), asking(t, "a/list", anyObject, `0`))
	b.put(asking(t, "b/find", anyObject, `"of b"`))
	set, err := r.AllTools(t.Context())
	require.NoError(t, err)
	require.Equal(t, []string{"a__find", "list", "b__find"}, offered(set))
	m := pause(t, set, nil, wish("b__find", "1", ""), wish("a__find", "2", ""))

	a.put(asking(t, "same/find", anyObject, `"of a"`), asking(t, "a/list", anyObject, `0`))
	b.put(asking(t, "same/find", anyObject, `"of b"`), asking(t, "b/list", anyObject, `0`))
	set, err = r.AllTools(t.Context())
	require.NoError(t, err)
	require.Equal(t, []string{"list"}, offered(set))
	_, err = set.Check(wish("same/find", "1", ""))
	require.ErrorContains(t, err, `"b": it offers tool "same/find", and so does tool provider "a"`)

	// The first of them is gone: now there is one meaning left, and one only.
	a.put()
	b.put(asking(t, "b/find", anyObject, `"of b"`))
	set, err = r.AllTools(t.Context())
	require.NoError(t, err)
	require.Equal(t, []string{"find"}, offered(set))
	res, err := resume(t, set, m, &ai.Answers{
		Restart: []*ai.ToolRequestPart{yes(t, m.ToolRequests()[0])}, Respond: []*ai.ToolResponsePart{no(t, m.ToolRequests()[1], "gone")},
	}, nil)
	require.NoError(t, err)
	require.Equal(t, []string{`"of b"`, `"Denied: gone"`}, outputsOf(t, res.Tool))
}
