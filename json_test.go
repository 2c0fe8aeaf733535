package ai_test

import (
	"context"
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/holdpoint/ai"
	"github.com/holdpoint/ai/aitest"
)

// asksWith runs a tool that asks with a value, and returns what the history has
// of it.
func asksWith(t *testing.T, data any) json.RawMessage {
	t.Helper()
	tool := must(ai.NewTool(&ai.ToolDefinition{Name: "ask"}, func(_ context.Context, call *ai.ToolCall, _ struct{}) (string, error) {
		return "", call.Interrupt(data)
	}))
	m := aitest.NewModel(t, aitest.ToolRequests(aitest.Request("ask", "1", nil)))
	paused, err := ai.Generate(t.Context(), nil, &ai.GenerateOptions{Model: m, Prompt: "go", Tools: must(ai.NewToolSet(tool))})
	require.NoError(t, err)
	return paused.Message.ToolRequests()[0].Metadata["interrupt"]
}

// Genkit JS takes a request for an interrupted one where its interrupt is true
// to JavaScript.
func TestInterruptDataIsTrueToJavaScript(t *testing.T) {
	t.Parallel()
	for _, falsy := range []any{
		nil, false, 0, 0.0, "", map[string]int(nil), json.RawMessage(`null`), json.RawMessage(` "" `),
		json.RawMessage(`-0`), json.RawMessage(`0.00`), json.RawMessage(`0e7`), json.RawMessage(`-0.0E-1`), json.RawMessage(`1e-400`),
	} {
		require.Equal(t, `true`, string(asksWith(t, falsy)), "%#v", falsy)
	}
	for want, truthy := range map[string]any{
		`[]`: []int{}, `{}`: struct{}{}, `" "`: " ", `"0"`: "0", `"false"`: "false", `-1`: -1, `0.1`: 0.1, `1e400`: json.RawMessage(`1e400`), `[0]`: []int{0},
	} {
		require.Equal(t, want, string(asksWith(t, truthy)))
	}
}

// A model reads what tools say: HTML escapes would cost it tokens and sense.
func TestTextIsNotEscapedForHTML(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		`<b>&amp;</b>`: `"<b>&amp;</b>"`, `\u003c`: `"\\u003c"`, `\\u003e<`: `"\\\\u003e<"`, `"<"`: `"\"<\""`,
		"\x00<": `"\u0000<"`, `\`: `"\\"`, `plain`: `"plain"`, "<é€😀>": `"<é€😀>"`, `\"<`: `"\\\"<"`,
	} {
		require.Equal(t, want, string(asksWith(t, text)))
	}
}
