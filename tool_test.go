package ai_test

import (
	"context"
	"encoding/json"
	"errors"
	"maps"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/holdpoint/ai"
)

func noop[In, Out any](context.Context, *ai.ToolCall, In) (out Out, err error) { return out, nil }

func rawNoop(context.Context, *ai.ToolCall) (*ai.ToolResult, error) { return &ai.ToolResult{}, nil }

// object is a hand-made schema that has nothing to say.
var object = json.RawMessage(`{"type":"object"}`)

func newTool[In, Out any](def *ai.ToolDefinition) error {
	_, err := ai.NewTool(def, noop[In, Out])
	return err
}

func newRawTool(def *ai.ToolDefinition) error {
	_, err := ai.NewRawTool(def, rawNoop)
	return err
}

// A program that defines a tool wrongly is told which one and what is wrong.
func TestToolsThatCanNotBe(t *testing.T) {
	t.Parallel()
	type selfish *selfish
	def := func(in, out string) *ai.ToolDefinition {
		return &ai.ToolDefinition{Name: "pay", InputSchema: json.RawMessage(in), OutputSchema: json.RawMessage(out)}
	}
	plain := &ai.ToolDefinition{Name: "pay"}
	noFunc := func(_ any, err error) error { return err }
	tests := map[string]struct {
		err  error
		text string
	}{
		"no function":            {noFunc(ai.NewTool[any, any](plain, nil)), `tool "pay" has no function`},
		"no multipart function":  {noFunc(ai.NewMultipartTool[any, any](plain, nil)), `tool "pay" has no function`},
		"no raw function":        {noFunc(ai.NewRawTool(plain, nil)), `tool "pay" has no function`},
		"no definition":          {newTool[any, any](nil), "no definition"},
		"no raw definition":      {newRawTool(nil), "no definition"},
		"input is a string":      {newTool[string, any](plain), `tool "pay": input type string`},
		"input is a number":      {newTool[*int, any](plain), `tool "pay": input type *int`},
		"input is a list":        {newTool[[]string, any](plain), `tool "pay": input type []string`},
		"input has no JSON form": {newTool[struct{ Done chan int }, any](plain), `tool "pay": input type struct { Done chan int }: field Done`},
		"output is a function":   {newTool[any, func()](plain), `tool "pay": output type func()`},
		"output holds a complex": {newTool[any, []complex64](plain), `tool "pay": output type []complex64`},
		"input is its own":       {newTool[selfish, any](plain), `tool "pay": input type`},
		"given, but a list":      {newTool[[]int, any](def(`{"type":"object"}`, "")), `tool "pay": input type []int`},
		"given, but its own":     {newTool[selfish, any](def(`{"type":"object"}`, "")), `tool "pay": input type`},
		"schema is no JSON":      {newTool[any, any](def(`{"type":`, "")), `tool "pay": input schema`},
		"schema is no schema":    {newTool[any, any](def(`{"type":"objekt"}`, "")), `tool "pay": input schema`},
		"schema is a boolean":    {newTool[any, any](def(`true`, "")), `tool "pay": input schema`},
		"schema of a string":     {newTool[any, any](def(`{"type":"string"}`, "")), `tool "pay": input schema: arguments are an object, but the schema says type "string"`},
		"schema of many":         {newTool[any, any](def(`{"type":["string","null"]}`, "")), `tool "pay": input schema`},
		"output is no schema":    {newTool[any, any](def("", `{"minLength":"x"}`)), `tool "pay": output schema`},
		"raw: no schema":         {newRawTool(def(`{"type":"objekt"}`, "")), `tool "pay": input schema`},
		"raw: output":            {newRawTool(def("", `{"type":1}`)), `tool "pay": output schema`},
		"raw: of a list":         {newRawTool(def(`{"type":"array"}`, "")), `tool "pay": input schema`},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			require.ErrorIs(t, test.err, ai.ErrInvalidArgument)
			require.ErrorContains(t, test.err, test.text)
			require.Equal(t, 1, strings.Count(test.err.Error(), "ai: "), test.err)
		})
	}
}

func TestInputTypesThatTakeObjects(t *testing.T) {
	t.Parallel()
	given := &ai.ToolDefinition{Name: "pay", InputSchema: object}
	require.NoError(t, newTool[map[string]int, any](given))
	require.NoError(t, newTool[**partInput, any](given))
	require.NoError(t, newTool[json.RawMessage, any](given))
	for _, schema := range []string{`{}`, `{"properties":{"part":{"type":"string"}}}`, `{"type":["object","null"]}`, `{"$ref":"#/$defs/order","$defs":{"order":{}}}`} {
		require.NoError(t, newTool[any, any](&ai.ToolDefinition{Name: "pay", InputSchema: json.RawMessage(schema)}), schema)
		require.NoError(t, newRawTool(&ai.ToolDefinition{Name: "pay", InputSchema: json.RawMessage(schema)}), schema)
	}
	require.NoError(t, newTool[strict, any](given))
	require.NoError(t, newTool[*strict, any](&ai.ToolDefinition{Name: "pay"}))
}

// strict refuses, as it may, an object without members.
type strict struct{}

func (s *strict) UnmarshalJSON(data []byte) error {
	if string(data) == "{}" {
		return &json.UnmarshalTypeError{Value: "empty"}
	}
	return nil
}

func TestToolNames(t *testing.T) {
	t.Parallel()
	tests := map[string]bool{
		"pay": true, "bank/pay": true, "a/b/c": true, "get weather": true, "geo.locate-v2": true, "天気/取得": true, "é": true,
		strings.Repeat("x", 512): true,

		"": false, "/": false, "/pay": false, "bank/": false, "bank//pay": false, " pay": false, "bank/ pay": false,
		"pay\n": false, "p\x00y": false, "p\u200by": false, "p\u00a0y": false, "p\xffy": false, strings.Repeat("x", 513): false,
	}
	for name, valid := range tests {
		for kind, make := range map[string]func(*ai.ToolDefinition) error{
			"typed": newTool[any, any], "raw": newRawTool,
			"prompt": func(def *ai.ToolDefinition) error {
				_, err := ai.NewPrompt(renders(def.Name, "hi"))
				return err
			},
		} {
			err := make(&ai.ToolDefinition{Name: name})
			if valid {
				require.NoError(t, err, "%s %q", kind, name)
				continue
			}
			require.ErrorIs(t, err, ai.ErrInvalidArgument, "%s %q", kind, name)
			require.Less(t, len(err.Error()), 200)
		}
	}
}

// Define functions are for program start, where nobody looks at errors.
func TestDefinePanics(t *testing.T) {
	t.Parallel()
	var taken ai.Registry
	ai.DefineTool(&taken, "pay", "", noop[any, any])
	tests := map[string]struct {
		define func()
		text   string
	}{
		"no function":           {func() { ai.DefineTool[any, any](&ai.Registry{}, "pay", "", nil) }, `tool "pay" has no function`},
		"no multipart function": {func() { ai.DefineMultipartTool[any, any](&ai.Registry{}, "pay", "", nil) }, `tool "pay" has no function`},
		"invalid name":          {func() { ai.DefineTool(&ai.Registry{}, "bank//pay", "", noop[any, any]) }, `"bank//pay"`},
		"taken name":            {func() { ai.DefineTool(&taken, "pay", "", noop[any, any]) }, `tool "pay" is already registered`},
		"taken by a question":   {func() { ai.DefineInterrupt[any, any](&taken, "pay", "", nil) }, `tool "pay" is already registered`},
		"taken by a prompt":     {func() { ai.DefinePrompt(&taken, renders("pay", "")) }, `tool "pay" is already registered`},
		"input no object":       {func() { ai.DefineTool(&ai.Registry{}, "pay", "", noop[string, any]) }, `tool "pay": input type string`},
		"no JSON form":          {func() { ai.DefineInterrupt[any, chan int](&ai.Registry{}, "pay", "", nil) }, `tool "pay": output type chan int`},
		"no registry":           {func() { ai.DefineTool(nil, "pay", "", noop[any, any]) }, "registry is nil"},
		"prompt without render": {func() { ai.DefinePrompt(&ai.Registry{}, &ai.Prompt{Name: "desk"}) }, `prompt "desk" has no Render function`},
		"no prompt":             {func() { ai.DefinePrompt(&ai.Registry{}, nil) }, "the prompt is nil"},
		"question that can not be asked": {func() {
			ai.DefineInterrupt[any, any](&ai.Registry{}, "ask", "", &ai.InterruptOptions[any]{Data: func() {}})
		}, `tool "ask"`},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			defer func() {
				err, ok := recover().(error)
				require.True(t, ok, "it has to panic with an error")
				require.ErrorIs(t, err, ai.ErrInvalidArgument)
				require.ErrorContains(t, err, test.text)
			}()
			test.define()
		})
	}
}

// The definition is the tool's own: what the caller does with his changes nothing.
func TestDefinitionsAreCopied(t *testing.T) {
	t.Parallel()
	def := &ai.ToolDefinition{Name: "pay", Description: "Pays.", Exclusive: true}
	typed, err := ai.NewTool(def, noop[any, any])
	require.NoError(t, err)
	raw, err := ai.NewRawTool(def, rawNoop)
	require.NoError(t, err)
	require.Empty(t, def.InputSchema, "the caller's definition is left as it was")
	def.Name, def.Exclusive = "burn", false
	for _, tool := range []ai.Tool{typed, raw} {
		require.Equal(t, "pay", tool.Definition().Name)
		require.Equal(t, "Pays.", tool.Definition().Description)
		require.True(t, tool.Definition().Exclusive)
		require.Same(t, tool.Definition(), tool.Definition())
	}
}

func TestDefinitionAsJSON(t *testing.T) {
	t.Parallel()
	tool, err := ai.NewMultipartTool(&ai.ToolDefinition{
		Name: "bank/pay", Description: "Pays.", InputSchema: object, OutputSchema: json.RawMessage(`{}`),
		Metadata: ai.Metadata{"owner": json.RawMessage(`"ops"`)}, ReadOnly: true,
	}, func(context.Context, *ai.ToolCall, any) (*ai.MultipartResult[any], error) { return nil, nil })
	require.NoError(t, err)
	require.JSONEq(t, `{"name":"bank/pay","description":"Pays.","inputSchema":{"type":"object"},"outputSchema":{},"metadata":{"owner":"ops"}}`,
		jsonOf(t, tool.Definition()))
	require.True(t, tool.Definition().Multipart)
}

// A call of a typed tool, without anything around it.
func TestTypedToolCall(t *testing.T) {
	t.Parallel()
	boom := errors.New("boom")
	tool, err := ai.NewTool(&ai.ToolDefinition{Name: "pay"}, func(_ context.Context, _ *ai.ToolCall, in amountInput) (any, error) {
		switch in.Amount {
		case 0:
			return maps.All(map[string]int{}), nil // a function
		case 1:
			return nil, boom
		}
		return in, nil
	})
	require.NoError(t, err)
	call := func(input string) (*ai.ToolResult, error) {
		return tool.Call(t.Context(), &ai.ToolCall{Name: "pay", Input: json.RawMessage(input)})
	}
	result, err := call(`{"Amount":2}`)
	require.NoError(t, err)
	require.Equal(t, `{"Amount":2}`, string(result.Output))

	_, err = call("")
	require.ErrorContains(t, err, `ai: output of tool "pay"`, "no arguments are an empty object")
	_, err = call(`{"Amount":1}`)
	require.Equal(t, boom, err)
	_, err = call(`{"Amount":"x"}`)
	require.ErrorContains(t, err, `ai: arguments of tool "pay"`)
	require.ErrorIs(t, err, ai.ErrNotDone, "the function was not called")
}
