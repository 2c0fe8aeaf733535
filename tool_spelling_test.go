package ai_test

import (
	"context"
	"encoding/json"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/holdpoint/ai"
)

type spelled struct {
	I8   int8           `json:"i8,omitempty"`
	I16  int16          `json:"i16,omitempty"`
	I32  int32          `json:"i32,omitempty"`
	I64  int64          `json:"i64,omitempty"`
	I    int            `json:"i,omitempty"`
	U8   uint8          `json:"u8,omitempty"`
	U16  uint16         `json:"u16,omitempty"`
	U32  uint32         `json:"u32,omitempty"`
	U64  uint64         `json:"u64,omitempty"`
	F    float64        `json:"f,omitempty"`
	S    string         `json:"s,omitempty"`
	N    []int          `json:"n,omitempty"`
	M    map[string]int `json:"m,omitempty"`
	When time.Time      `json:"when,omitzero"`
}

// An integer may be written in every way that JSON has for it.
func TestSpellingsOfIntegers(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		input string
		want  spelled
	}{
		"fractions of zero": {`{"i8":3.0,"i16":3.0,"i32":3.0,"i64":3.0,"i":3.0,"u8":3.0,"u16":3.0,"u32":3.0,"u64":3.0}`,
			spelled{I8: 3, I16: 3, I32: 3, I64: 3, I: 3, U8: 3, U16: 3, U32: 3, U64: 3}},
		"exponents": {`{"i8":1e2,"i16":1e2,"i32":1E+2,"i64":1e2,"i":1e2,"u8":1e2,"u16":1e2,"u32":1e2,"u64":1e19}`,
			spelled{I8: 100, I16: 100, I32: 100, I64: 100, I: 100, U8: 100, U16: 100, U32: 100, U64: 1e19}},
		"negative exponents": {`{"i8":30e-1,"i16":-30e-1,"u64":30e-1}`, spelled{I8: 3, I16: -3, U64: 3}},
		"minus zero":         {`{"i8":-0,"u8":-0,"u64":-0.0}`, spelled{}},
		"bounds":             {`{"i8":-128.0,"i64":-9223372036854775808.0,"u64":18446744073709551615.0}`, spelled{I8: -128, I64: math.MinInt64, U64: math.MaxUint64}},
		"beside fractions":   {`{"i":2.0,"f":2.50,"n":[1.0,2,3e0],"m":{"1.0":4.0}}`, spelled{I: 2, F: 2.5, N: []int{1, 2, 3}, M: map[string]int{"1.0": 4}}},
		"beside texts":       {`{"i":2.0,"s":"3.0 \" 4.0"}`, spelled{I: 2, S: `3.0 " 4.0`}},
		"escapes in a time":  {`{"when":"\u0032020-01-02T03:04:05Z"}`, spelled{When: time.Date(2020, 1, 2, 3, 4, 5, 0, time.UTC)}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var got spelled
			tool, err := ai.NewTool(&ai.ToolDefinition{Name: "take"}, func(_ context.Context, _ *ai.ToolCall, in spelled) (string, error) {
				got = in
				return "ok", nil
			})
			require.NoError(t, err)
			res, err := resolve(t, newSet(t, tool), nil, wish("take", "a", test.input))
			require.False(t, responseOf(t, finished(t, res, err).Tool, "a").ForModel().IsError)
			require.Equal(t, test.want, got)
		})
	}
}

// Where arguments decode as they came, their numbers keep their digits.
func TestSpellingsAreKept(t *testing.T) {
	t.Parallel()
	var got map[string]any
	tool, err := ai.NewTool(&ai.ToolDefinition{Name: "take"}, func(_ context.Context, _ *ai.ToolCall, in map[string]any) (string, error) {
		got = in
		return "ok", nil
	})
	require.NoError(t, err)
	res, err := resolve(t, newSet(t, tool), nil, wish("take", "a", `{"a":3.0,"b":1e2,"c":-0}`))
	finished(t, res, err)
	require.Equal(t, map[string]any{"a": json.Number("3.0"), "b": json.Number("1e2"), "c": json.Number("-0")}, got)
}

// What a schema gets wrong in one place concerns that place alone: the tool can
// be used, the schema is shown as it is, and who uses the place is told.
func TestOneBrokenProperty(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct{ broken, why string }{
		"reference to nothing": {`{"$ref":"#/$defs/nope"}`, "which refers to #/$defs/nope: not found"},
		"another document":     {`{"$ref":"https://example.com/place.json"}`, "which refers to https://example.com/place.json: outside of this schema"},
		"file":                 {`{"$ref":"file:///place.json"}`, "which refers to file:///place.json: outside of this schema"},
		"pattern":              {`{"type":"string","pattern":"^(?!x)"}`, "whose pattern ^(?!x) is not supported"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var d diary
			schema := `{"type":"object","properties":{"city":{"type":"string"},"place":` + test.broken + `},"required":["city"]}`
			tool := newRaw(t, &ai.ToolDefinition{Name: "look", InputSchema: json.RawMessage(schema)}, func(_ context.Context, call *ai.ToolCall) (*ai.ToolResult, error) {
				d.add("%s %s", call.Ref, call.Input)
				return &ai.ToolResult{Output: json.RawMessage(`"sunny"`)}, nil
			})
			require.Equal(t, schema, string(tool.Definition().InputSchema))
			res, err := resolve(t, newSet(t, tool), nil, wish("look", "a", `{"city":"Oslo"}`), wish("look", "b", `{"city":"Oslo","place":"x"}`), wish("look", "c", `{"city":1.5}`))
			finished(t, res, err)
			told := responseOf(t, res.Tool, "b").ForModel()
			require.True(t, told.IsError)
			require.Equal(t, `The arguments of look do not fit: place: expected a value that fits the schema here, `+test.why+`, got string "x"`, told.Text)
			require.False(t, responseOf(t, res.Tool, "a").ForModel().IsError)
			lines := d.take()
			require.Contains(t, lines, `a {"city":"Oslo"}`)
			require.NotContains(t, lines, `b {"city":"Oslo","place":"x"}`)
		})
	}
}

// A model can't keep a tool busy with arguments that take forever to check.
func TestArgumentsTooCostlyToCheck(t *testing.T) {
	t.Parallel()
	schema := `{"type":"object","properties":{"e":{"$ref":"#/$defs/e"}},"$defs":{"e":{"anyOf":[
		{"type":"array","items":{"$ref":"#/$defs/e"},"minItems":2},{"type":"array","items":{"$ref":"#/$defs/e"},"maxItems":1},{"type":"string"}]}}}`
	tool := newRaw(t, &ai.ToolDefinition{Name: "calc", InputSchema: json.RawMessage(schema)}, func(context.Context, *ai.ToolCall) (*ai.ToolResult, error) {
		return &ai.ToolResult{Output: json.RawMessage(`1`)}, nil
	})
	deep := func(n int, value string) string {
		return `{"e":` + strings.Repeat("[", n) + value + strings.Repeat("]", n) + `}`
	}
	res, err := resolve(t, newSet(t, tool), nil, wish("calc", "a", deep(8, `"x"`)), wish("calc", "b", deep(60, `1`)), wish("calc", "c", deep(2_000, `"x"`)))
	finished(t, res, err)
	require.False(t, responseOf(t, res.Tool, "a").ForModel().IsError)
	for _, ref := range []string{"b", "c"} {
		require.Contains(t, responseOf(t, res.Tool, ref).ForModel().Text, "too costly to check")
	}
}
