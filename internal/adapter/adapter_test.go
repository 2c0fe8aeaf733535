package adapter_test

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/holdpoint/ai"
	"github.com/holdpoint/ai/internal/adapter"
)

func TestReadMedia(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		in   ai.Media
		want adapter.Media
	}{
		"base64":        {ai.Media{URL: "data:image/png;base64,aGk="}, adapter.Media{ContentType: "image/png", Data: []byte("hi")}},
		"no padding":    {ai.Media{URL: "data:image/png;base64,aGk"}, adapter.Media{ContentType: "image/png", Data: []byte("hi")}},
		"escaped":       {ai.Media{URL: "data:text/plain;charset=utf-8,a%20b"}, adapter.Media{ContentType: "text/plain", Data: []byte("a b")}},
		"its own type":  {ai.Media{ContentType: "Image/PNG; q=1", URL: "DATA:;base64,aGk="}, adapter.Media{ContentType: "image/png", Data: []byte("hi")}},
		"elsewhere":     {ai.Media{ContentType: "image/png", URL: "https://x/y.png"}, adapter.Media{ContentType: "image/png", URL: "https://x/y.png"}},
		"no data in it": {ai.Media{URL: "data:text/plain,"}, adapter.Media{ContentType: "text/plain", Data: []byte{}}},
	} {
		got, err := adapter.ReadMedia(&tt.in)
		require.NoError(t, err, name)
		require.Equal(t, &tt.want, got, name)
	}
	for _, url := range []string{"data:image/png;base64", "data:image/png;base64,a!b", "data:text/plain,%zz"} {
		_, err := adapter.ReadMedia(&ai.Media{URL: url})
		require.ErrorIs(t, err, ai.ErrInvalidArgument, url)
	}
	part := adapter.DataURL("image/png", []byte("hi"))
	back, err := adapter.ReadMedia(&part.Media)
	require.NoError(t, err)
	require.Equal(t, "hi", string(back.Data))
}

func TestFailure(t *testing.T) {
	t.Parallel()
	cause := errors.New("as asked")
	for status, want := range map[int]error{
		0: ai.ErrUnavailable, 400: ai.ErrInvalidArgument, 401: ai.ErrUnauthorized, 403: ai.ErrUnauthorized, 404: ai.ErrNotFound,
		408: ai.ErrUnavailable, 413: ai.ErrContextLength, 429: ai.ErrRateLimited, 500: ai.ErrUnavailable, 503: ai.ErrOverloaded, 529: ai.ErrOverloaded,
	} {
		err := adapter.Failure(t.Context(), "p", status, http.Header{"Retry-After": {"3"}}, cause)
		require.ErrorIs(t, err, want, status)
		require.ErrorIs(t, err, cause)
		var failed *ai.ProviderError
		require.ErrorAs(t, err, &failed)
		require.Equal(t, 3*time.Second, failed.RetryAfter)
		require.ErrorContains(t, err, "ai: p")
		require.Equal(t, err, adapter.Failure(t.Context(), "q", 500, nil, err), "what is told apart stays so")
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(cause)
	require.Equal(t, cause, adapter.Failure(ctx, "p", 500, nil, errors.New("other")))
}

func TestRetryAfter(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	for value, want := range map[string]time.Duration{
		"2": 2 * time.Second, "0.5": time.Second / 2, "-1": 0, "soon": 0, "": 0,
		"Thu, 01 Jan 2026 00:01:00 GMT": time.Minute, "Wed, 31 Dec 2025 23:59:00 GMT": 0,
	} {
		require.Equal(t, want, adapter.RetryAfter(http.Header{"Retry-After": {value}}, now), value)
	}
	require.Equal(t, 1500*time.Millisecond, adapter.RetryAfter(http.Header{"Retry-After-Ms": {"1500"}, "Retry-After": {"9"}}, now))
}

func TestSample(t *testing.T) {
	t.Parallel()
	able := &adapter.Abilities{Provider: "p", Strict: true, Grammars: []ai.GrammarSyntax{ai.GrammarLark}}
	unable := &adapter.Abilities{Provider: "p"}
	schema := json.RawMessage(`{"type":"object","properties":{"a":{"type":"string"}}}`)
	open := json.RawMessage(`{"type":"object","additionalProperties":{"type":"string"}}`)
	strict := func(s ai.StrictSampling) *ai.Sampling { return &ai.Sampling{Strict: s} }
	grammar := func(s ai.GrammarSyntax) *ai.Sampling {
		return &ai.Sampling{Grammar: &ai.Grammar{Syntax: s, Definition: "x"}}
	}
	for name, tt := range map[string]struct {
		by       *adapter.Abilities
		schema   json.RawMessage
		sampling *ai.Sampling
		strict   bool
		grammar  bool
		refused  string
	}{
		"freely":                 {able, schema, nil, false, false, ""},
		"preferred":              {able, schema, strict(ai.StrictPrefer), true, false, ""},
		"preferred and blocked":  {able, open, strict(ai.StrictPrefer), false, false, ""},
		"preferred and not done": {unable, schema, strict(ai.StrictPrefer), false, false, ""},
		"required":               {able, schema, strict(ai.StrictRequire), true, false, ""},
		"required and blocked":   {able, open, strict(ai.StrictRequire), false, false, "can't be made strict"},
		"required and not done":  {unable, schema, strict(ai.StrictRequire), false, false, "p does not do"},
		"grammar":                {able, schema, grammar(ai.GrammarLark), false, true, ""},
		"another syntax":         {able, schema, grammar(ai.GrammarRegex), false, false, "regex grammar"},
	} {
		got, err := tt.by.Sample(&ai.ToolDefinition{Name: "t", InputSchema: tt.schema, Sampling: tt.sampling})
		if tt.refused != "" {
			require.ErrorIs(t, err, ai.ErrInvalidArgument, name)
			require.ErrorContains(t, err, tt.refused, name)
			continue
		}
		require.NoError(t, err, name)
		require.Equal(t, tt.strict, got.Strict, name)
		require.Equal(t, tt.grammar, got.Grammar != nil, name)
	}
}

// A reply keeps its parts in the order in which they began, whatever came in between.
func TestReply(t *testing.T) {
	t.Parallel()
	var kinds []ai.ToolEventKind
	r := &adapter.Reply{Emit: func(c *ai.Chunk) error {
		if c.Tool != nil {
			kinds = append(kinds, c.Tool.Kind)
		}
		return nil
	}}
	require.NoError(t, r.AddReasoning("hm"))
	call, err := r.Call("1", "look")
	require.NoError(t, err)
	require.NoError(t, r.AddText("a"))
	require.NoError(t, r.AddText("b"))
	require.NoError(t, call.Add(`{"x":`))
	require.NoError(t, call.Add(`1}`))
	require.NoError(t, r.EndCalls())
	require.NoError(t, call.End(), "the second time does nothing")
	require.ErrorContains(t, call.Add("more"), "after their end")
	r.Text() // an empty block leaves no part
	m := r.Message()
	require.Len(t, m.Content, 3)
	require.Equal(t, "hm", m.Content[0].(*ai.ReasoningPart).Reasoning)
	require.JSONEq(t, `{"x":1}`, string(m.Content[1].(*ai.ToolRequestPart).ToolRequest.Input))
	require.Equal(t, "ab", m.Content[2].(*ai.TextPart).Text)
	require.Equal(t, []ai.ToolEventKind{ai.ToolStart, ai.ToolDelta, ai.ToolDelta, ai.ToolEnd}, kinds)
}
