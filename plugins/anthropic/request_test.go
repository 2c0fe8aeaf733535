package anthropic_test

import (
	"bytes"
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/holdpoint/ai"
	"github.com/holdpoint/ai/plugins/anthropic"
)

// requestFixture is a request and what is to be sent for it.
type requestFixture struct {
	Config  *anthropic.Config `json:"config"`
	Request *ai.ModelRequest  `json:"request"`
	Body    json.RawMessage   `json:"body"`
}

// readRequest reads a fixture as it would have come over a wire, without the space.
func readRequest(t *testing.T, name string) *requestFixture {
	t.Helper()
	var compact bytes.Buffer
	require.NoError(t, json.Compact(&compact, []byte(read(t, "requests", name+".json"))))
	f := &requestFixture{}
	require.NoError(t, json.Unmarshal(compact.Bytes(), f))
	return f
}

func TestRequests(t *testing.T) {
	t.Parallel()
	for _, name := range names(t, "requests", ".json") {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := readRequest(t, name)
			w := serve(t, fixture(t, "text"))
			before := toJSON(t, f.Request)
			_, err := w.model(f.Config).Generate(t.Context(), f.Request, nil)
			require.NoError(t, err)
			require.JSONEq(t, string(f.Body), string(w.Sent()[0]))
			check(t, w.Sent()[0])
			require.Equal(t, before, toJSON(t, f.Request), "the request is not changed")
		})
	}
}

// Digits survive, which comparing decoded JSON does not show.
func TestRequestsKeepDigits(t *testing.T) {
	t.Parallel()
	f := readRequest(t, "results_in_order_of_calls")
	w := serve(t, fixture(t, "text"))
	_, err := w.model(nil).Generate(t.Context(), f.Request, nil)
	require.NoError(t, err)
	require.Contains(t, string(w.Sent()[0]), `{"a":9007199254740993}`)
}

// The request is the same whether or not it is streamed, but for saying so.
func TestRequestsStreamed(t *testing.T) {
	t.Parallel()
	w := serve(t, fixture(t, "text"))
	_, err := w.model(nil).Generate(t.Context(), ask("hi"), discard)
	require.NoError(t, err)
	require.JSONEq(t, `{"model":"claude-test","max_tokens":16384,"stream":true,
		"messages":[{"role":"user","content":[{"type":"text","text":"hi"}]}]}`, string(w.Sent()[0]))
}
