package openai_test

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"sync"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/stretchr/testify/require"
)

// oracle holds OpenAI's own schemas of requests, from the folder that
// HOLDPOINT_OPENAPI names.
var oracle = sync.OnceValues(func() (map[string]*jsonschema.Schema, error) {
	file := filepath.Join(os.Getenv("HOLDPOINT_OPENAPI"), "openai-requests.json")
	data, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(data))
	if err != nil {
		return nil, err
	}
	// A message with a list as its content fits two of the forms of an input item.
	item := doc.(map[string]any)["components"].(map[string]any)["schemas"].(map[string]any)["InputItem"].(map[string]any)
	item["anyOf"] = item["oneOf"]
	delete(item, "oneOf")
	c := jsonschema.NewCompiler()
	if err := c.AddResource("openai-requests.json", doc); err != nil {
		return nil, err
	}
	schemas := map[string]*jsonschema.Schema{}
	for _, name := range []string{"CreateChatCompletionRequest", "CreateResponse"} {
		if schemas[name], err = c.Compile("openai-requests.json#/components/schemas/" + name); err != nil {
			return nil, err
		}
	}
	return schemas, nil
})

// fits fails the test unless the body fits OpenAI's schema, where that is there.
func fits(t testing.TB, name string, body []byte) {
	t.Helper()
	if os.Getenv("HOLDPOINT_OPENAPI") == "" {
		if os.Getenv("HOLDPOINT_REQUIRE") != "" {
			t.Fatal("HOLDPOINT_OPENAPI is not set: it names the folder of openai-requests.json")
		}
		return
	}
	schemas, err := oracle()
	require.NoError(t, err)
	value, err := jsonschema.UnmarshalJSON(bytes.NewReader(body))
	require.NoError(t, err)
	require.NoError(t, schemas[name].Validate(value), "%s", body)
}

// TestOracle says in the log of the tests whether bodies are held to the schemas.
func TestOracle(t *testing.T) {
	t.Parallel()
	if os.Getenv("HOLDPOINT_OPENAPI") == "" && os.Getenv("HOLDPOINT_REQUIRE") == "" {
		t.Skip("HOLDPOINT_OPENAPI is not set: it names the folder of openai-requests.json, which .ci/run sets")
	}
	fits(t, "CreateChatCompletionRequest", []byte(`{"model":"m","messages":[{"role":"user","content":"hi"}]}`))
	schemas, err := oracle()
	require.NoError(t, err)
	orphan, err := jsonschema.UnmarshalJSON(bytes.NewReader([]byte(`{"model":"m","messages":[{"role":"tool","content":"hi"}]}`)))
	require.NoError(t, err)
	require.Error(t, schemas["CreateChatCompletionRequest"].Validate(orphan), "a tool message without an id is refused")
}

var toolName = regexp.MustCompile(`^[a-zA-Z0-9_-]{1,64}$`)

// checkChat fails the test unless the API would take the body.
func checkChat(t testing.TB, data []byte) {
	t.Helper()
	fits(t, "CreateChatCompletionRequest", data)
	var body struct {
		Messages []struct {
			Role       string `json:"role"`
			ToolCallID string `json:"tool_call_id"`
			ToolCalls  []struct {
				ID       string `json:"id"`
				Function struct {
					Name      string `json:"name"`
					Arguments string `json:"arguments"`
				} `json:"function"`
			} `json:"tool_calls"`
		} `json:"messages"`
	}
	require.NoError(t, json.Unmarshal(data, &body))
	require.NotEmpty(t, body.Messages)
	seen := map[string]bool{}
	var open []string
	for _, m := range body.Messages {
		if m.Role == "tool" {
			require.NotEmpty(t, open, "a result answers a call of the message before")
			require.Equal(t, open[0], m.ToolCallID, "results come in the order of their calls")
			open = open[1:]
			continue
		}
		require.Empty(t, open, "each call is answered before anything else is said")
		for _, c := range m.ToolCalls {
			require.NotEmpty(t, c.ID)
			require.False(t, seen[c.ID], "ids are unique")
			seen[c.ID] = true
			open = append(open, c.ID)
			if c.Function.Name != "" {
				require.Regexp(t, toolName, c.Function.Name)
				var object map[string]any
				require.NoError(t, json.Unmarshal([]byte(c.Function.Arguments), &object))
			}
		}
	}
	require.Empty(t, open, "no call is left open")
}

// checkResponses fails the test unless the API would take the body.
func checkResponses(t testing.TB, data []byte) {
	t.Helper()
	fits(t, "CreateResponse", data)
	var body struct {
		Store bool `json:"store"`
		Input []struct {
			Type   string `json:"type"`
			CallID string `json:"call_id"`
			Name   string `json:"name"`
		} `json:"input"`
	}
	require.NoError(t, json.Unmarshal(data, &body))
	require.NotEmpty(t, body.Input)
	require.False(t, body.Store)
	seen := map[string]bool{}
	var open []string
	for _, item := range body.Input {
		switch item.Type {
		case "function_call", "custom_tool_call":
			require.False(t, seen[item.CallID], "ids are unique")
			seen[item.CallID] = true
			require.Regexp(t, toolName, item.Name)
			open = append(open, item.CallID)
		case "function_call_output", "custom_tool_call_output":
			require.NotEmpty(t, open, "a result answers a call before it")
			require.Equal(t, open[0], item.CallID, "results come in the order of their calls")
			open = open[1:]
		}
	}
	require.Empty(t, open, "no call is left open")
}
