package ai_test

import (
	"context"
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/holdpoint/ai"
)

// Defaults are filled in where a tool asks for them, and each is on record.
func TestFillDefaults(t *testing.T) {
	t.Parallel()
	const schema = `{
		"type": "object",
		"$defs": {"price": {"type": "object", "properties": {"currency": {"default": "EUR"}, "amount": {"type": "number"}}}},
		"allOf": [{"properties": {"size": {"default": 9007199254740993}}}],
		"properties": {
			"price": {"$ref": "#/$defs/price"},
			"lines": {"type": "array", "items": {"properties": {"count": {"default": 1}}}},
			"note": {"type": "string", "default": "a <b>"},
			"kind": {"anyOf": [{"properties": {"x": {"default": 1}}}, {"type": "string"}]}
		}
	}`
	for name, test := range map[string]struct {
		fill       bool
		sent, gets string
		paths      []string
	}{
		"not asked for": {false, `{}`, `{}`, nil},
		"absent":        {true, `{}`, `{"note":"a <b>","size":9007199254740993}`, []string{"note", "size"}},
		"given":         {true, `{"size":null,"note":"n"}`, `{"size":null,"note":"n"}`, nil},
		"nested":        {true, `{"note":"","size":1,"price":{}}`, `{"note":"","size":1,"price":{"currency":"EUR"}}`, []string{"price.currency"}},
		"in items": {true, `{"note":"","size":1,"lines":[{},{"count":2}, {}]}`, `{"note":"","size":1,"lines":[{"count":1},{"count":2},{"count":1}]}`,
			[]string{"lines.0.count", "lines.2.count"}},
		"of an alternative": {true, `{"note":"","size":1,"kind":{}}`, `{"note":"","size":1,"kind":{}}`, nil},
		"after a repair":    {true, `{"note":5,"size":1,"price":{"amount":"2"}}`, `{"note":"5","size":1,"price":{"amount":2,"currency":"EUR"}}`, []string{"note", "price.amount", "price.currency"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var got string
			var paths []string
			tool, err := ai.NewRawTool(&ai.ToolDefinition{Name: "order", InputSchema: json.RawMessage(schema), FillDefaults: test.fill},
				func(_ context.Context, call *ai.ToolCall) (*ai.ToolResult, error) {
					got = string(call.Input)
					for _, c := range call.Changes {
						paths = append(paths, c.Path)
					}
					return &ai.ToolResult{}, nil
				})
			require.NoError(t, err)
			set := newSet(t, tool)
			res, err := resolve(t, set, nil, wish("order", "a", test.sent))
			finished(t, res, err)
			require.Equal(t, test.gets, got)
			require.ElementsMatch(t, test.paths, paths)
			checked, err := set.Check(wish("order", "a", test.sent))
			require.NoError(t, err)
			require.Equal(t, test.gets, string(checked))
		})
	}
}

// Defaults that would not fit are left out, all of them, and the call runs.
func TestDefaultsThatDoNotFit(t *testing.T) {
	t.Parallel()
	tool, err := ai.NewRawTool(&ai.ToolDefinition{
		Name: "order", FillDefaults: true,
		InputSchema: json.RawMessage(`{"properties":{"a":{"type":"integer","default":"one"},"b":{"default":2}}}`),
	}, func(_ context.Context, call *ai.ToolCall) (*ai.ToolResult, error) {
		return &ai.ToolResult{Output: call.Input}, nil
	})
	require.NoError(t, err)
	res, err := resolve(t, newSet(t, tool), nil, wish("order", "a", `{}`))
	finished(t, res, err)
	require.JSONEq(t, `{}`, string(responseOf(t, res.Tool, "a").ToolResponse.Output))
}
