package aitest_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/holdpoint/ai"
	"github.com/holdpoint/ai/aitest"
)

func parse(t *testing.T, text string) []*ai.Message {
	t.Helper()
	var messages []*ai.Message
	require.NoError(t, json.Unmarshal([]byte(text), &messages))
	return messages
}

const (
	hi   = `{"role":"user","content":[{"text":"hi"}]}`
	two  = `{"role":"model","content":[{"toolRequest":{"name":"a","ref":"1","input":{}}},{"toolRequest":{"name":"b","ref":"2"}}]}`
	both = `{"role":"tool","content":[{"toolResponse":{"name":"b","ref":"2"}},{"toolResponse":{"name":"a","ref":"1"}}]}`
)

// asks is a model message with some requests.
func asks(requests string) string { return `{"role":"model","content":[` + requests + `]}` }

func TestCheckHistoryAccepts(t *testing.T) {
	t.Parallel()
	for name, text := range map[string]string{
		"text":                    hi,
		"answered in any order":   hi + "," + two + "," + both,
		"the same refs next turn": two + "," + both + "," + two + "," + both,
		"one without a ref":       asks(`{"toolRequest":{"name":"a"}}`) + `,{"role":"tool","content":[{"toolResponse":{"name":"a"}}]}`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			messages := parse(t, "["+text+"]")
			require.Empty(t, runFake(t, func(tb *fakeTB) { aitest.CheckHistory(tb, messages) }))
		})
	}
}

// requireFaults checks what is said of histories.
func requireFaults(t *testing.T, tests map[string]struct{ history, want string }) {
	t.Helper()
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			messages := parse(t, "["+tt.history+"]")
			got := runFake(t, func(tb *fakeTB) { aitest.CheckHistory(tb, messages) })
			require.Equal(t, []string{"aitest: no provider takes this history:\n\t" + tt.want}, got)
		})
	}
}

func TestCheckHistoryOfResponses(t *testing.T) {
	t.Parallel()
	requireFaults(t, map[string]struct{ history, want string }{
		"nothing": {"", "there is no message"},
		"open at the end": {
			hi + "," + two, "message 1 (model): request \"a\"#\"1\" has no response\n\tmessage 1 (model): request \"b\"#\"2\" has no response",
		},
		"open before a user message": {two + "," + hi, "message 1 (user): request \"a\"#\"1\" has no response\n\tmessage 1 (user): request \"b\"#\"2\" has no response"},
		"spread over two messages": {
			two + `,{"role":"tool","content":[{"toolResponse":{"name":"a","ref":"1"}}]},{"role":"tool","content":[{"toolResponse":{"name":"b","ref":"2"}}]}`,
			"message 1 (tool): request \"b\"#\"2\" has no response\n\tmessage 2 (tool): response \"b\"#\"2\" answers no request of the message before it, or one that is answered",
		},
		"answered twice": {
			asks(`{"toolRequest":{"name":"a","ref":"1"}}`) + `,{"role":"tool","content":[{"toolResponse":{"name":"a","ref":"1"}},{"toolResponse":{"name":"a","ref":"1"}}]}`,
			`message 1 (tool): response "a"#"1" answers no request of the message before it, or one that is answered`,
		},
		"another name": {
			asks(`{"toolRequest":{"name":"a","ref":"1"}}`) + `,{"role":"tool","content":[{"toolResponse":{"name":"x","ref":"1"}}]}`,
			"message 1 (tool): response \"x\"#\"1\" answers no request of the message before it, or one that is answered\n\tmessage 1 (tool): request \"a\"#\"1\" has no response",
		},
	})
}

func TestCheckHistoryOfRequests(t *testing.T) {
	t.Parallel()
	requireFaults(t, map[string]struct{ history, want string }{
		"a ref twice": {
			asks(`{"toolRequest":{"name":"a","ref":"1"}},{"toolRequest":{"name":"b","ref":"1"}}`) + `,{"role":"tool","content":[{"toolResponse":{"name":"a","ref":"1"}},{"toolResponse":{"name":"b","ref":"1"}}]}`,
			`message 0 (model): request "b"#"1": its ref is not unique`,
		},
		"no ref twice": {
			asks(`{"toolRequest":{"name":"a"}},{"toolRequest":{"name":"b"}}`) + `,{"role":"tool","content":[{"toolResponse":{"name":"a"}},{"toolResponse":{"name":"b"}}]}`,
			`message 0 (model): request "b"#"": its ref is not unique`,
		},
		"a name that no provider takes": {
			asks(`{"toolRequest":{"name":"a/b","ref":"1"}}`) + `,{"role":"tool","content":[{"toolResponse":{"name":"a/b","ref":"1"}}]}`,
			`message 0 (model): request "a/b"#"1": no provider takes that name`,
		},
		"partial": {
			asks(`{"toolRequest":{"name":"a","ref":"1","partial":true}}`) + `,{"role":"tool","content":[{"toolResponse":{"name":"a","ref":"1"}}]}`,
			`message 0 (model): request "a"#"1" is partial`,
		},
		"input that is no object": {
			asks(`{"toolRequest":{"name":"a","ref":"1","input":[1]}}`) + `,{"role":"tool","content":[{"toolResponse":{"name":"a","ref":"1"}}]}`,
			`message 0 (model): request "a"#"1": its input is no JSON object`,
		},
		"request of a user": {
			`{"role":"user","content":[{"toolRequest":{"name":"a","ref":"1"}}]},{"role":"tool","content":[{"toolResponse":{"name":"a","ref":"1"}}]}`,
			`message 0 (user): request "a"#"1" stands in it`,
		},
		"response of a user": {
			asks(`{"toolRequest":{"name":"a","ref":"1"}}`) + `,{"role":"user","content":[{"toolResponse":{"name":"a","ref":"1"}}]}`,
			`message 1 (user): a tool response stands in it`,
		},
	})
}

func TestCheckHistoryOfWhatDoesNotEncode(t *testing.T) {
	t.Parallel()
	got := runFake(t, func(tb *fakeTB) {
		aitest.CheckHistory(tb, []*ai.Message{
			nil, ai.TextMessage("robot", "hi"), {Role: ai.RoleUser, Content: ai.Parts{nil}},
		})
	})
	require.Len(t, got, 1)
	require.Equal(t, 3, strings.Count(got[0], "does not encode"))
}
