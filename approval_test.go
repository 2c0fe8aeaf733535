package ai_test

import (
	"context"
	"encoding/json"
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/holdpoint/ai"
	"github.com/holdpoint/ai/aitest"
)

// shop is an agent whose tool orders parts, behind an approval.
type shop struct {
	registry ai.Registry
	approval ai.Approval
	ordered  []string
}

type part struct {
	Name string `json:"name"`
}

func newShop(t *testing.T) *shop {
	t.Helper()
	s := &shop{}
	ai.DefineTool(&s.registry, "parts/order", "Orders a part.", func(_ context.Context, _ *ai.ToolCall, in part) (string, error) {
		s.ordered = append(s.ordered, in.Name)
		return "ordered", nil
	})
	return s
}

func orders(names ...string) *aitest.Reply {
	var calls []*ai.ToolRequestPart
	for _, name := range names {
		calls = append(calls, aitest.Request("order", name, part{name}))
	}
	return aitest.ToolRequests(calls...)
}

func (s *shop) generate(t *testing.T, messages []*ai.Message, answers *ai.Answers, replies ...*aitest.Reply) (*ai.Response, error) {
	t.Helper()
	o := &ai.GenerateOptions{
		Model: aitest.NewModel(t, replies...), Messages: messages, Resume: answers,
		Turn: ai.ResolveOptions{Middleware: []*ai.Middleware{s.approval.Middleware()}},
	}
	if messages == nil {
		o.Prompt = "order"
	}
	return ai.Generate(t.Context(), &s.registry, o)
}

// asked runs the agent up to its question.
func (s *shop) asked(t *testing.T) *ai.Response {
	t.Helper()
	resp, err := s.generate(t, nil, nil, orders("pump"))
	require.NoError(t, err)
	require.Len(t, resp.Interrupts(), 1)
	return aitest.Reload(t, resp)
}

func restarted(t *testing.T, resp *ai.Response, opts *ai.RestartOptions[json.RawMessage]) *ai.Answers {
	t.Helper()
	p, err := ai.Restart(resp.Interrupts()[0].Request, opts)
	require.NoError(t, err)
	return &ai.Answers{Restart: []*ai.ToolRequestPart{p}}
}

func lastResult(t *testing.T, resp *ai.Response) *ai.ToolOutput {
	t.Helper()
	m := resp.Messages[len(resp.Messages)-2]
	return m.Content[0].(*ai.ToolResponsePart).ForModel()
}

func TestApprovalAsks(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	it := s.asked(t).Interrupts()[0]
	require.Equal(t, "approval", it.By)
	var about ai.ApprovalRequest
	require.NoError(t, json.Unmarshal(it.Data, &about))
	require.Equal(t, "parts/order", about.Tool)
	require.JSONEq(t, `{"name":"pump"}`, string(about.Input))
	require.NotEmpty(t, about.Digest)
	require.Empty(t, s.ordered)
}

// What is not a clear yes is a no.
func TestApprovalAnswers(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		resumed string
		yes     bool
		told    string
	}{
		"plain yes":       {`true`, true, "ordered"},
		"genkit js":       {`{"toolApproved":true}`, true, "ordered"},
		"genkit dart":     {`{"tool-approved":true}`, true, "ordered"},
		"both":            {`{"toolApproved":true,"tool-approved":true,"by":"ann"}`, true, "ordered"},
		"no":              {`{"toolApproved":false,"reason":"too dear"}`, false, "Denied: too dear"},
		"yes and no":      {`{"toolApproved":true,"tool-approved":false}`, false, "Denied: The answer was both yes and no."},
		"nothing":         {`{}`, false, "Denied: The answer was neither yes nor no."},
		"something else":  {`{"approved":true}`, false, "Denied: The answer was neither yes nor no."},
		"another case":    {`{"TOOLAPPROVED":true}`, false, "Denied: The answer was neither yes nor no."},
		"not a bool":      {`{"toolApproved":"true"}`, false, "Denied: The answer could not be understood."},
		"null":            {`{"toolApproved":null}`, false, "Denied: The answer was neither yes nor no."},
		"reason no text":  {`{"toolApproved":true,"reason":1}`, false, "Denied: The answer could not be understood."},
		"one as a number": {`{"toolApproved":1}`, false, "Denied: The answer could not be understood."},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newShop(t)
			resp := s.asked(t)
			answers := restarted(t, resp, &ai.RestartOptions[json.RawMessage]{Resumed: json.RawMessage(tt.resumed)})
			resp, err := s.generate(t, resp.Messages, answers, aitest.Text("done"))
			require.NoError(t, err)
			require.Equal(t, tt.yes, len(s.ordered) == 1)
			require.Equal(t, tt.told, lastResult(t, resp).Text)
		})
	}
}

// A yes is for what was shown. New arguments are asked about, whoever wrote them.
func TestApprovalIsForTheArguments(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	resp := s.asked(t)
	input := json.RawMessage(`{"name":"engine"}`)
	answers := restarted(t, resp, &ai.RestartOptions[json.RawMessage]{NewInput: &input})
	resp, err := s.generate(t, resp.Messages, answers)
	require.NoError(t, err)
	require.Empty(t, s.ordered)
	require.Len(t, resp.Interrupts(), 1)
	require.JSONEq(t, `{"name":"engine"}`, string(resp.Interrupts()[0].Effective))
	resp, err = s.generate(t, resp.Messages, restarted(t, resp, nil), aitest.Text("done"))
	require.NoError(t, err)
	require.Equal(t, []string{"engine"}, s.ordered)
	require.Equal(t, "done", resp.Text())
}

// The policy may turn a yes into a no when the call is resumed.
func TestApprovalPolicyOnResumption(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	resp := s.asked(t)
	s.approval.Policy = func(context.Context, *ai.ToolCall) (*ai.Ruling, error) {
		return &ai.Ruling{Verdict: ai.RuleDeny, Reason: "closed today"}, nil
	}
	resp, err := s.generate(t, resp.Messages, restarted(t, resp, nil), aitest.Text("done"))
	require.NoError(t, err)
	require.Empty(t, s.ordered)
	require.Equal(t, "Denied: closed today", lastResult(t, resp).Text)
}

// Where the policy fails, nothing is decided: the question stays.
func TestApprovalPolicyError(t *testing.T) {
	t.Parallel()
	broken := errors.New("no connection")
	for name, policy := range map[string]ai.ApprovalPolicy{
		"error":    func(context.Context, *ai.ToolCall) (*ai.Ruling, error) { return nil, broken },
		"nonsense": func(context.Context, *ai.ToolCall) (*ai.Ruling, error) { return &ai.Ruling{Verdict: "maybe"}, nil },
	} {
		s := newShop(t)
		s.approval.Policy = policy
		_, err := s.generate(t, nil, nil, orders("pump"))
		var failed *ai.TurnError
		require.ErrorAs(t, err, &failed, name)
		require.False(t, failed.Calls[0].MayHaveActed)
		require.Empty(t, s.ordered)
	}
}

// A call that was just denied is not asked about again, until the user speaks.
func TestApprovalOfADeniedCall(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	resp := s.asked(t)
	answers := &ai.Answers{}
	answers.Deny(resp.Interrupts()[0], "no")
	resp, err := s.generate(t, resp.Messages, answers, orders("pump"), aitest.Text("I gave up."))
	require.NoError(t, err)
	require.Equal(t, "I gave up.", resp.Text())
	require.Equal(t, "Denied: The same call was denied before. Do not send it again.", lastResult(t, resp).Text)

	again := append(resp.Messages, ai.TextMessage(ai.RoleUser, "Order it after all."))
	resp, err = s.generate(t, again, nil, orders("pump"))
	require.NoError(t, err)
	require.Len(t, resp.Interrupts(), 1)
	require.Empty(t, s.ordered)
}

// A call of which nobody knows whether it happened is asked about, whatever the
// policy and the grants say.
func TestApprovalAfterAnUnknownOutcome(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	s.approval.Policy = func(context.Context, *ai.ToolCall) (*ai.Ruling, error) { return &ai.Ruling{Verdict: ai.RuleAllow}, nil }
	s.approval.Grants, s.approval.Subject = &grants{}, func(context.Context) string { return "ann" }
	request := aitest.Request("order", "a", part{"pump"})
	unknown, err := ai.Settle(request, ai.OutcomeResult(ai.OutcomeUnknown, "nobody knows"))
	require.NoError(t, err)
	history, err := ai.CloseTurn([]*ai.Message{
		ai.TextMessage(ai.RoleUser, "order"), {Role: ai.RoleModel, Content: ai.Parts{unknown}},
	})
	require.NoError(t, err)
	history = append(history, ai.TextMessage(ai.RoleModel, "Hm."), ai.TextMessage(ai.RoleUser, "Try again."))
	resp, err := s.generate(t, history, nil, orders("pump"))
	require.NoError(t, err)
	require.Len(t, resp.Interrupts(), 1)
	var about ai.ApprovalRequest
	require.NoError(t, json.Unmarshal(resp.Interrupts()[0].Data, &about))
	require.Equal(t, ai.OutcomeUnknown, about.Earlier)
	require.Empty(t, s.ordered)
}

// grants covers every call, and counts.
type grants struct {
	mu    sync.Mutex
	asked []*ai.GrantQuery
	list  []*ai.Grant
}

func (g *grants) SpendGrant(_ context.Context, q *ai.GrantQuery) (*ai.Grant, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.asked = append(g.asked, q)
	for _, grant := range g.list {
		if grant.Covers(q, time.Now()) {
			return grant, nil
		}
	}
	return nil, nil
}

func TestApprovalByGrant(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	set, err := s.registry.AllTools(t.Context())
	require.NoError(t, err)
	tool, err := set.Find(aitest.Request("order", "a", nil))
	require.NoError(t, err)
	g := &grants{list: []*ai.Grant{{
		Subject: "ann", Tool: "parts/order", Definition: tool.Definition().Digest(),
		Arguments: ai.ArgumentsDigest(json.RawMessage(`{ "name": "pump" }`)), Expires: time.Now().Add(time.Hour),
	}}}
	s.approval.Grants, s.approval.Subject = g, func(context.Context) string { return "ann" }
	resp, err := s.generate(t, nil, nil, orders("pump", "valve"))
	require.NoError(t, err)
	require.Equal(t, []string{"pump"}, s.ordered)
	require.Len(t, resp.Interrupts(), 1)
	require.JSONEq(t, `{"name":"valve"}`, string(resp.Interrupts()[0].Effective))
	require.Len(t, g.asked, 2)

	s.approval.Policy = func(context.Context, *ai.ToolCall) (*ai.Ruling, error) { return &ai.Ruling{Verdict: ai.RuleDeny}, nil }
	_, err = s.generate(t, nil, nil, orders("pump"), aitest.Text("done"))
	require.NoError(t, err)
	require.Len(t, s.ordered, 1, "a policy's no beats a grant")
}

func TestRules(t *testing.T) {
	t.Parallel()
	policy, err := ai.Rules(
		ai.Rule{Tools: []string{"work-orders/find_*"}, Ruling: ai.Ruling{Verdict: ai.RuleAllow}},
		ai.Rule{When: func(d *ai.ToolDefinition) bool { return d.Destructive }, Ruling: ai.Ruling{Verdict: ai.RuleDeny, Reason: "never"}},
		ai.Rule{When: func(d *ai.ToolDefinition) bool { return d.ReadOnly }, Ruling: ai.Ruling{Verdict: ai.RuleAllow}},
	)
	require.NoError(t, err)
	for _, tt := range []struct {
		def  ai.ToolDefinition
		want ai.RulingVerdict
	}{
		{ai.ToolDefinition{Name: "work-orders/find_part"}, ai.RuleAllow},
		{ai.ToolDefinition{Name: "other/find_part"}, ai.RuleAsk},
		{ai.ToolDefinition{Name: "work-orders/deep/find_part"}, ai.RuleAsk},
		{ai.ToolDefinition{Name: "wipe", Destructive: true, ReadOnly: true}, ai.RuleDeny},
		{ai.ToolDefinition{Name: "look", ReadOnly: true}, ai.RuleAllow},
	} {
		ruling, err := policy(t.Context(), &ai.ToolCall{Name: tt.def.Name, Definition: &tt.def})
		require.NoError(t, err)
		require.Equal(t, tt.want, ruling.Verdict, tt.def.Name)
	}
	_, err = ai.Rules(ai.Rule{Tools: []string{"[a-"}})
	require.ErrorIs(t, err, ai.ErrInvalidArgument)
}
