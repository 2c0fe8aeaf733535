package ai_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"math/big"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/holdpoint/ai"
)

// received is what a tool got.
type received struct {
	name    string
	ref     string
	input   json.RawMessage
	changes []ai.Change
}

// catcher is a tool of the definition that notes what it gets.
func catcher(t testing.TB, def *ai.ToolDefinition, got *[]received) ai.Tool {
	t.Helper()
	return newRaw(t, def, func(_ context.Context, call *ai.ToolCall) (*ai.ToolResult, error) {
		*got = append(*got, received{call.Name, call.Ref, call.Input, call.Changes})
		return &ai.ToolResult{Output: json.RawMessage(`"done"`)}, nil
	})
}

// decoded is a value with the digits of its numbers.
func decoded(t testing.TB, data json.RawMessage) any {
	t.Helper()
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.UseNumber()
	var v any
	require.NoError(t, dec.Decode(&v), "%s", data)
	return v
}

// exactly is a value in a form in which equal values are equal: keys sorted,
// numbers digit for digit.
func exactly(t testing.TB, data json.RawMessage) string {
	t.Helper()
	return jsonOf(t, decoded(t, data))
}

// inValue is exactly but for numbers, which are equal where their values are.
func inValue(t testing.TB, data json.RawMessage) string {
	t.Helper()
	return jsonOf(t, inRationals(t, decoded(t, data)))
}

func inRationals(t testing.TB, v any) any {
	switch v := v.(type) {
	case json.Number:
		r, ok := new(big.Rat).SetString(v.String())
		require.True(t, ok, v)
		return map[string]string{"number": r.RatString()}
	case []any:
		for i := range v {
			v[i] = inRationals(t, v[i])
		}
	case map[string]any:
		for k := range v {
			v[k] = inRationals(t, v[k])
		}
	}
	return v
}

// replay makes the changes in what was sent, each of which must come from what
// the ones before it left. No key on the way may hold a dot.
func replay(t testing.TB, sent json.RawMessage, changes []ai.Change) json.RawMessage {
	t.Helper()
	v := decoded(t, sent)
	for _, c := range changes {
		require.NotEmpty(t, c.Rule)
		var path []string
		if c.Path != "" {
			path = strings.Split(c.Path, ".")
		}
		v = replace(t, v, path, &c)
	}
	data, err := json.Marshal(v)
	require.NoError(t, err)
	return data
}

func replace(t testing.TB, v any, path []string, c *ai.Change) any {
	t.Helper()
	if len(path) == 0 {
		require.Equal(t, exactly(t, c.From), jsonOf(t, v), "change of %q", c.Path)
		require.NotNil(t, c.To, "only a property can be left out")
		return decoded(t, c.To)
	}
	switch v := v.(type) {
	case map[string]any:
		old, ok := v[path[0]]
		require.True(t, ok, "change of %q", c.Path)
		if len(path) == 1 && c.To == nil {
			require.Equal(t, exactly(t, c.From), jsonOf(t, old), "change of %q", c.Path)
			delete(v, path[0])
			return v
		}
		v[path[0]] = replace(t, old, path[1:], c)
	case []any:
		i, err := strconv.Atoi(path[0])
		require.NoError(t, err, "change of %q", c.Path)
		require.Less(t, i, len(v), "change of %q", c.Path)
		v[i] = replace(t, v[i], path[1:], c)
	default:
		require.Failf(t, "no such place", "change of %q", c.Path)
	}
	return v
}

// sentAs is what a request stands for: its input, or the text instead of one.
func sentAs(t testing.TB, req *ai.ToolRequestPart) json.RawMessage {
	t.Helper()
	var kept struct{ Text string }
	found, err := req.Metadata.Decode("argumentsError", &kept)
	require.NoError(t, err)
	if found {
		return json.RawMessage(jsonOf(t, kept.Text))
	}
	return req.ToolRequest.Input
}

// recordOf is the changes that the wire keeps.
func recordOf(t testing.TB, req *ai.ToolRequestPart) []ai.Change {
	t.Helper()
	var changes []ai.Change
	_, err := req.Metadata.Decode("changes", &changes)
	require.NoError(t, err)
	return changes
}

// noCall is for tools that are not called.
func noCall(context.Context, *ai.ToolCall) (*ai.ToolResult, error) {
	return nil, errors.New("called")
}
