package anthropic_test

import (
	"encoding/json"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// body is a request as the documentation of the API describes it.
type body struct {
	Model      string           `json:"model"`
	MaxTokens  int              `json:"max_tokens"`
	System     []map[string]any `json:"system"`
	Messages   []bodyMessage    `json:"messages"`
	Tools      []map[string]any `json:"tools"`
	ToolChoice map[string]any   `json:"tool_choice"`
}

type bodyMessage struct {
	Role    string           `json:"role"`
	Content []map[string]any `json:"content"`
}

var (
	callID   = regexp.MustCompile(`^[a-zA-Z0-9_-]+$`)
	toolName = regexp.MustCompile(`^[a-zA-Z0-9_-]{1,128}$`)
)

// check fails the test unless the API would take the body, by what its
// documentation and its known refusals say.
func check(t testing.TB, data []byte) {
	t.Helper()
	var top map[string]json.RawMessage
	require.NoError(t, json.Unmarshal(data, &top))
	for _, gone := range []string{"temperature", "top_p", "top_k"} {
		require.NotContains(t, top, gone, "removed in version 2026-10-21")
	}
	var b body
	require.NoError(t, json.Unmarshal(data, &b))
	require.NotEmpty(t, b.Model)
	require.Positive(t, b.MaxTokens)
	require.NotEmpty(t, b.Messages)
	for _, block := range b.System {
		require.Equal(t, "text", block["type"])
		checkText(t, block)
	}
	checkTools(t, &b)
	checkTurns(t, &b)
	require.LessOrEqual(t, strings.Count(string(data), `"cache_control"`), 4, "at most four breakpoints")
}

func checkTools(t testing.TB, b *body) {
	t.Helper()
	var seen []any
	for _, tool := range b.Tools {
		require.NotContains(t, seen, tool["name"], "names are unique")
		seen = append(seen, tool["name"])
		require.Regexp(t, toolName, tool["name"])
		if tool["type"] != nil && tool["type"] != "custom" {
			continue // the provider's own
		}
		schema, ok := tool["input_schema"].(map[string]any)
		require.True(t, ok, "a tool has a schema")
		require.Equal(t, "object", schema["type"])
		for _, choice := range []string{"anyOf", "oneOf", "allOf"} {
			require.NotContains(t, schema, choice, "not at the root")
		}
	}
	if len(b.Tools) == 0 {
		require.Nil(t, b.ToolChoice, "a choice needs tools")
	}
}

// checkTurns follows the calls through the messages.
func checkTurns(t testing.TB, b *body) {
	t.Helper()
	var open, seen []any
	role := ""
	for i, m := range b.Messages {
		require.Contains(t, []string{"user", "assistant"}, m.Role)
		require.NotEqual(t, role, m.Role, "message %d: roles alternate", i)
		role = m.Role
		require.NotEmpty(t, m.Content, "message %d", i)
		if m.Role == "user" {
			checkUser(t, m, open)
			open = nil
			continue
		}
		open = checkAssistant(t, m, b)
		for _, id := range open {
			require.NotContains(t, seen, id, "ids are unique")
		}
		seen = append(seen, open...)
		checkEnd(t, m, i == len(b.Messages)-1)
	}
	require.Empty(t, open, "every call has its result")
}

// checkUser checks a user message: first the results of all calls.
func checkUser(t testing.TB, m bodyMessage, open []any) {
	t.Helper()
	var answered []any
	for i, block := range m.Content {
		switch block["type"] {
		case "tool_result":
			require.Equal(t, len(answered), i, "results come first")
			answered = append(answered, block["tool_use_id"])
			checkResult(t, block)
		case "text":
			checkText(t, block)
			require.NotContains(t, block, "citations")
		case "image", "document":
			checkSource(t, block)
		default:
			require.NotContains(t, []any{"tool_use", "thinking", "redacted_thinking", nil}, block["type"])
		}
	}
	require.ElementsMatch(t, open, answered, "each call is answered once, in the message behind it")
}

func checkResult(t testing.TB, block map[string]any) {
	t.Helper()
	content, _ := block["content"].([]any)
	if block["is_error"] == true {
		require.NotEmpty(t, content, "an error has content")
	}
	if block["content"] != nil {
		require.NotEmpty(t, content)
	}
	for _, c := range content {
		inner := c.(map[string]any)
		switch inner["type"] {
		case "text":
			checkText(t, inner)
		case "image", "document":
			checkSource(t, inner)
			fallthrough
		default:
			require.NotEqual(t, true, block["is_error"], "an error holds text only")
			require.Contains(t, []any{"image", "document", "search_result", "tool_reference", "browser_state"}, inner["type"])
		}
	}
}

// checkAssistant checks an assistant message and returns its calls.
func checkAssistant(t testing.TB, m bodyMessage, b *body) (calls []any) {
	t.Helper()
	for _, block := range m.Content {
		switch block["type"] {
		case "tool_use":
			require.Regexp(t, callID, block["id"])
			require.NotContains(t, calls, block["id"])
			require.Regexp(t, toolName, block["name"])
			require.IsType(t, map[string]any{}, block["input"])
			require.NotEmpty(t, b.Tools, "calls need tools")
			calls = append(calls, block["id"])
		case "text":
			checkText(t, block)
		case "thinking":
			require.NotEmpty(t, block["signature"])
			require.NotContains(t, block, "cache_control")
		case "redacted_thinking":
			require.NotEmpty(t, block["data"])
			require.NotContains(t, block, "cache_control")
		default:
			require.NotContains(t, []any{"tool_result", "image", "document", nil}, block["type"])
		}
	}
	return calls
}

// checkEnd checks how an assistant message ends.
func checkEnd(t testing.TB, m bodyMessage, isLast bool) {
	t.Helper()
	end := m.Content[len(m.Content)-1]
	require.NotContains(t, []any{"thinking", "redacted_thinking"}, end["type"])
	if isLast && end["type"] == "text" {
		require.Equal(t, strings.TrimSpace("x"+end["text"].(string)), "x"+end["text"].(string), "no space at the end")
	}
}

func checkText(t testing.TB, block map[string]any) {
	t.Helper()
	require.NotEmpty(t, strings.TrimSpace(block["text"].(string)), "text that is not blank")
}

func checkSource(t testing.TB, block map[string]any) {
	t.Helper()
	source := block["source"].(map[string]any)
	switch source["type"] {
	case "url":
		require.Regexp(t, "^https?://", source["url"])
	case "base64":
		types := []any{"image/jpeg", "image/png", "image/gif", "image/webp"}
		if block["type"] == "document" {
			types = []any{"application/pdf"}
		}
		require.True(t, slices.Contains(types, source["media_type"]), "type %v", source["media_type"])
		require.NotEmpty(t, source["data"])
	case "text":
		require.Equal(t, "text/plain", source["media_type"])
	default:
		require.Equal(t, "file", source["type"])
	}
}
