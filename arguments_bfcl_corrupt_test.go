package ai_test

import (
	"bytes"
	"encoding/json"
	"strconv"
	"sync"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/stretchr/testify/require"

	"github.com/holdpoint/ai"
)

// corruption is one way in which models spoil arguments.
type corruption struct {
	name string
	// values gives what a value inside the arguments is sent as; ok is false
	// where the corruption does not apply.
	values func(t testing.TB, v any) (sent any, ok bool)
	// texts are what whole arguments are sent as.
	texts func(t testing.TB, tool *bfclTool, arguments json.RawMessage) []string
}

func corruptions() []*corruption {
	return []*corruption{
		{name: "number as text", values: func(_ testing.TB, v any) (any, bool) {
			n, ok := v.(json.Number)
			return n.String(), ok
		}},
		{name: "boolean as text", values: func(_ testing.TB, v any) (any, bool) {
			b, ok := v.(bool)
			return strconv.FormatBool(b), ok
		}},
		{name: "array as text", values: func(t testing.TB, v any) (any, bool) {
			_, ok := v.([]any)
			return jsonOf(t, v), ok
		}},
		{name: "object as text", values: func(t testing.TB, v any) (any, bool) {
			_, ok := v.(map[string]any)
			return jsonOf(t, v), ok
		}},
		{name: "lone value", values: func(_ testing.TB, v any) (any, bool) {
			list, ok := v.([]any)
			if !ok || len(list) != 1 {
				return nil, false
			}
			return list[0], true
		}},
		{name: "null for an absent property", texts: nullsAdded},
		{name: "encoded twice", texts: func(t testing.TB, _ *bfclTool, a json.RawMessage) []string {
			return []string{jsonOf(t, string(a))}
		}},
		{name: "fence", texts: func(_ testing.TB, _ *bfclTool, a json.RawMessage) []string {
			return []string{"```json\n" + string(a) + "\n```", "```\n" + string(a) + "```\n"}
		}},
		{name: "envelope", texts: func(_ testing.TB, _ *bfclTool, a json.RawMessage) []string {
			return []string{`{"arguments":` + string(a) + `}`}
		}},
	}
}

// nullsAdded adds null for each optional property that the arguments have not.
func nullsAdded(t testing.TB, tool *bfclTool, arguments json.RawMessage) []string {
	var schema struct {
		Properties map[string]any
		Required   []string
	}
	require.NoError(t, json.Unmarshal(tool.Parameters, &schema))
	for _, name := range schema.Required {
		delete(schema.Properties, name)
	}
	var texts []string
	for name := range schema.Properties {
		sent := decoded(t, arguments).(map[string]any)
		if _, there := sent[name]; !there {
			sent[name] = nil
			texts = append(texts, jsonOf(t, sent))
		}
	}
	return texts
}

// spoiled are the texts that come of a corruption of each value in turn.
func (c *corruption) spoiled(t testing.TB, tool *bfclTool, arguments json.RawMessage) []string {
	if c.texts != nil {
		return c.texts(t, tool, arguments)
	}
	root := decoded(t, arguments)
	var texts []string
	eachMember(root, func(v any, set func(any)) {
		if sent, ok := c.values(t, v); ok {
			set(sent)
			texts = append(texts, jsonOf(t, root))
			set(v)
		}
	})
	return texts
}

// eachMember visits everything inside a value, with a way to replace it.
func eachMember(v any, visit func(v any, set func(any))) {
	switch v := v.(type) {
	case []any:
		for i, item := range v {
			visit(item, func(other any) { v[i] = other })
			eachMember(item, visit)
		}
	case map[string]any:
		for key, item := range v {
			visit(item, func(other any) { v[key] = other })
			eachMember(item, visit)
		}
	}
}

// tally counts what became of the texts of one corruption. As sent are those
// that fit: "1" where a string may stand, an envelope where nothing is required
// and the object is open. Refused are envelopes around tools that declare such a key.
type tally struct{ AsSent, Repaired, Refused int }

// What models spoil is put right or refused, and never becomes another value.
// A text that fits its schema is not spoiled, and stays as it was sent.
func TestRealCallsSpoiled(t *testing.T) {
	t.Parallel()
	cases := readBFCL(t)
	var mu sync.Mutex
	counts := make(map[string]tally)
	t.Run("cases", func(t *testing.T) {
		for _, c := range cases {
			t.Run(c.ID, func(t *testing.T) {
				t.Parallel()
				for _, call := range c.Calls {
					tool := c.tool(t, call)
					check := &spoilCheck{tool: tool, call: call, validator: tool.validator(t)}
					if !fits(t, check.validator, call.Arguments) {
						continue
					}
					check.set = newSet(t, catcher(t, tool.definition(), &check.got))
					for _, how := range corruptions() {
						n := check.run(t, how)
						mu.Lock()
						sum := counts[how.name]
						counts[how.name] = tally{sum.AsSent + n.AsSent, sum.Repaired + n.Repaired, sum.Refused + n.Refused}
						mu.Unlock()
					}
				}
			})
		}
	})
	require.Equal(t, map[string]tally{
		"number as text":              {AsSent: 15, Repaired: 1346},
		"boolean as text":             {Repaired: 115},
		"array as text":               {Repaired: 147},
		"object as text":              {Repaired: 26},
		"lone value":                  {Repaired: 30},
		"null for an absent property": {Repaired: 1232},
		"encoded twice":               {Repaired: 1551},
		"fence":                       {Repaired: 3102},
		"envelope":                    {AsSent: 116, Repaired: 1424, Refused: 11},
	}, counts)
}

// spoilCheck checks the corruptions of one call.
type spoilCheck struct {
	tool      *bfclTool
	call      *bfclCall
	validator *jsonschema.Schema
	set       *ai.ToolSet
	got       []received
}

func (c *spoilCheck) run(t *testing.T, how *corruption) (n tally) {
	t.Helper()
	for _, text := range how.spoiled(t, c.tool, c.call.Arguments) {
		c.got = nil
		part := ai.NewToolRequest(c.tool.Name, "a", text)
		res, err := ai.Resolve(t.Context(), c.set, modelSays(part), nil)
		finished(t, res, err)
		if responseOf(t, res.Tool, "a").ForModel().IsError {
			require.Empty(t, c.got)
			n.Refused++
			continue
		}
		require.Len(t, c.got, 1)
		got := c.got[0]
		if object := bytes.HasPrefix([]byte(text), []byte("{")); object && fits(t, c.validator, json.RawMessage(text)) {
			require.Equal(t, text, string(got.input), how.name)
			require.Empty(t, got.changes)
			n.AsSent++
			continue
		}
		require.Equal(t, exactly(t, c.call.Arguments), exactly(t, got.input), "%s: %s", how.name, text)
		require.NotEmpty(t, got.changes)
		n.Repaired++
	}
	return n
}
