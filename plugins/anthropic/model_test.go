package anthropic_test

import (
	"encoding/json"
	"net/http"
	"sync"
	"testing"

	sdk "github.com/anthropics/anthropic-sdk-go/v2"
	"github.com/stretchr/testify/require"

	"github.com/holdpoint/ai"
	"github.com/holdpoint/ai/plugins/anthropic"
)

// The config of a request takes the place of the model's, as a whole.
func TestConfigs(t *testing.T) {
	t.Parallel()
	defaults := &anthropic.Config{Params: sdk.MessageNewParams{MaxTokens: 1, StopSequences: []string{"x"}}}
	own := anthropic.Config{Params: sdk.MessageNewParams{MaxTokens: 2}, Betas: []string{"a-1", "b-2"}}
	tests := map[string]struct {
		config    any
		maxTokens int
		betas     string
	}{
		"of the model":   {nil, 1, ""},
		"a nil pointer":  {(*anthropic.Config)(nil), 1, ""},
		"a value":        {own, 2, "a-1,b-2"},
		"a pointer":      {&own, 2, "a-1,b-2"},
		"the zero value": {anthropic.Config{}, 16384, ""},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w, req := serve(t, fixture(t, "text"), fixture(t, "text")), ask("hi")
			req.Config = tt.config
			for i, emit := range []func(*ai.Chunk) error{nil, discard} {
				_, err := w.model(defaults).Generate(t.Context(), req, emit)
				require.NoError(t, err)
				var sent struct {
					MaxTokens int `json:"max_tokens"`
				}
				require.NoError(t, json.Unmarshal(w.Sent()[i], &sent))
				require.Equal(t, tt.maxTokens, sent.MaxTokens)
				require.Equal(t, tt.betas, w.header(i).Get("Anthropic-Beta"))
			}
		})
	}
}

// Settings that the SDK does not know are sent too.
func TestExtraFields(t *testing.T) {
	t.Parallel()
	w, config := serve(t, fixture(t, "text")), &anthropic.Config{}
	config.Params.SetExtraFields(map[string]any{"context_management": map[string]any{"edits": []int{1}}})
	_, err := w.model(config).Generate(t.Context(), ask("hi"), nil)
	require.NoError(t, err)
	require.Contains(t, string(w.Sent()[0]), `"context_management":{"edits":[1]}`)
	check(t, w.Sent()[0])
}

func (w *wire) header(i int) http.Header {
	return w.Headers()[i]
}

// A long reply is streamed also where nobody listens: the SDK does not wait for
// it in one piece.
func TestLongRepliesAreStreamed(t *testing.T) {
	t.Parallel()
	for maxTokens, want := range map[int64]bool{21000: false, 64000: true} {
		w := serve(t, fixture(t, "text"))
		config := &anthropic.Config{Params: sdk.MessageNewParams{MaxTokens: maxTokens}}
		resp, err := w.model(config).Generate(t.Context(), ask("hi"), nil)
		require.NoError(t, err)
		require.JSONEq(t, read(t, "replies", "text.want"), toJSON(t, resp))
		var sent struct{ Stream bool }
		require.NoError(t, json.Unmarshal(w.Sent()[0], &sent))
		require.Equal(t, want, sent.Stream)
	}
}

// One model serves many at once, also with settings that they share.
func TestConcurrentUse(t *testing.T) {
	t.Parallel()
	const n = 8
	answers := make([]http.HandlerFunc, n)
	for i := range answers {
		answers[i] = fixture(t, "tools")
	}
	w := serve(t, answers...)
	m := w.model(&anthropic.Config{Params: sdk.MessageNewParams{Messages: make([]sdk.MessageParam, 0, 9), Tools: make([]sdk.ToolUnionParam, 0, 9)}})
	req := ask("hi")
	req.Tools = []*ai.ToolDefinition{{Name: "now"}}
	req.Messages = append(make([]*ai.Message, 0, 9), req.Messages...)
	want := read(t, "replies", "tools.want")
	var wg sync.WaitGroup
	got, errs := make([]*ai.ModelResponse, n), make([]error, n)
	for i := range n {
		wg.Go(func() { got[i], errs[i] = m.Generate(t.Context(), req, discard) })
	}
	wg.Wait()
	for i := range n {
		require.NoError(t, errs[i])
		require.JSONEq(t, want, toJSON(t, got[i]))
	}
}
