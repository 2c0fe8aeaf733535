package ai_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/holdpoint/ai"
	"github.com/holdpoint/ai/aitest"
)

// resolveOne runs one call of a tool, with the middleware given, and returns
// the tool response.
func resolveOne(t *testing.T, tool ai.Tool, input string) *ai.ToolResponsePart {
	t.Helper()
	res, err := ai.Resolve(t.Context(), newSet(t, tool), modelSays(wish(tool.Definition().Name, "1", input)), nil)
	require.NoError(t, err)
	require.NotNil(t, res.Tool)
	require.Len(t, res.Tool.Content, 1)
	return res.Tool.Content[0].(*ai.ToolResponsePart)
}

// Numbers keep their digits wherever the type of the input leaves their kind open.
func TestInputsKeepDigits(t *testing.T) {
	t.Parallel()
	const input = `{"id":9007199254740993,"price":0.10000000000000000001,"more":{"n":[12345678901234567890]}}`
	type anyInside struct {
		ID    any            `json:"id"`
		Price *any           `json:"price"`
		More  map[string]any `json:"more"`
	}
	type deep struct {
		ID    json.Number     `json:"id"`
		Price json.RawMessage `json:"price"`
		More  struct {
			N [1]any `json:"n"`
		} `json:"more"`
	}
	for name, tool := range map[string]func() (ai.Tool, error){
		"any":           func() (ai.Tool, error) { return echo[any]() },
		"map":           func() (ai.Tool, error) { return echo[map[string]any]() },
		"raw":           func() (ai.Tool, error) { return echo[json.RawMessage]() },
		"fields":        func() (ai.Tool, error) { return echo[anyInside]() },
		"deeper fields": func() (ai.Tool, error) { return echo[*deep]() },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			tool, err := tool()
			require.NoError(t, err)
			output := string(resolveOne(t, tool, input).ToolResponse.Output)
			for _, number := range []string{"9007199254740993", "0.10000000000000000001", "12345678901234567890"} {
				require.Contains(t, output, number)
			}
		})
	}
}

func TestInputWithOneOpenFieldKeepsDigits(t *testing.T) {
	t.Parallel()
	tool, err := echo[struct {
		ID any `json:"id"`
	}]()
	require.NoError(t, err)
	require.Equal(t, `{"id":9007199254740993}`, string(resolveOne(t, tool, `{"id":9007199254740993}`).ToolResponse.Output))
}

// echo is a tool that gives back what it was given.
func echo[T any]() (ai.Tool, error) {
	return ai.NewTool(&ai.ToolDefinition{Name: "echo"}, func(_ context.Context, _ *ai.ToolCall, in T) (T, error) { return in, nil })
}

func TestOutputsAreNotEscapedForHTML(t *testing.T) {
	t.Parallel()
	tool, err := echo[map[string]any]()
	require.NoError(t, err)
	const text = `{"a<b>&c":"if (a < b && c > d) \\u003c \u2028"}`
	output := string(resolveOne(t, tool, text).ToolResponse.Output)
	require.Contains(t, output, `"a<b>&c":"if (a < b && c > d) \\u003c `)
	require.JSONEq(t, text, output)
}

func TestToolWithoutInput(t *testing.T) {
	t.Parallel()
	tool, err := ai.NewTool(&ai.ToolDefinition{Name: "now"}, func(context.Context, *ai.ToolCall, struct{}) (string, error) { return "noon", nil })
	require.NoError(t, err)
	for _, input := range []string{"", "{}", "null", " {} "} {
		require.Equal(t, `"noon"`, string(resolveOne(t, tool, input).ToolResponse.Output), input)
	}
	require.JSONEq(t, `true`, string(resolveOne(t, tool, `{"zone":"UTC"}`).Metadata["isError"]))
}

func TestNilsAreOutputs(t *testing.T) {
	t.Parallel()
	type nils struct {
		List []string       `json:"list"`
		Map  map[string]int `json:"map"`
		Ptr  *int           `json:"ptr"`
		Any  any            `json:"any"`
	}
	tool, err := ai.NewTool(&ai.ToolDefinition{Name: "nils"}, noop[struct{}, nils])
	require.NoError(t, err)
	require.JSONEq(t, `{"list":null,"map":null,"ptr":null,"any":null}`, string(resolveOne(t, tool, "").ToolResponse.Output))
	none, err := ai.NewTool(&ai.ToolDefinition{Name: "none"}, noop[struct{}, *nils])
	require.NoError(t, err)
	require.Equal(t, `null`, string(resolveOne(t, none, "").ToolResponse.Output))
}

func TestMultipartTool(t *testing.T) {
	t.Parallel()
	var r ai.Registry
	chart := ai.DefineMultipartTool(&r, "chart", "Draws.", func(_ context.Context, _ *ai.ToolCall, in map[string]string) (*ai.MultipartResult[int], error) {
		switch in["what"] {
		case "nothing":
			return nil, nil
		case "error":
			return nil, errors.New("out of ink")
		}
		return &ai.MultipartResult[int]{
			Output: 2, Content: ai.Parts{&ai.TextPart{Text: "a <chart>"}}, Metadata: ai.Metadata{"took": json.RawMessage("3")},
		}, nil
	})
	require.JSONEq(t, `{"type":"integer","minimum":-9223372036854775808,"maximum":9223372036854775807}`, string(chart.Definition().OutputSchema),
		"the schema is that of the output alone")
	require.JSONEq(t, `{"toolResponse":{"name":"chart","ref":"1","output":2,"content":[{"text":"a <chart>"}]},"metadata":{"took":3}}`,
		jsonOf(t, resolveOne(t, chart, `{}`)))

	set := newSet(t, chart)
	for what, text := range map[string]string{"nothing": "neither a result nor an error", "error": "out of ink"} {
		_, err := ai.Resolve(t.Context(), set, modelSays(wish("chart", "1", `{"what":"`+what+`"}`)), nil)
		turn, _ := failed(t, err)
		require.ErrorContains(t, turn, text)
		require.ErrorContains(t, turn, "chart#1")
	}
}

func TestDefineInterruptAsks(t *testing.T) {
	t.Parallel()
	perInput := func(_ context.Context, in askIn) (any, error) {
		switch in.Question {
		case "nothing?":
			return nil, nil
		case "broken?":
			return nil, errors.New("no words")
		}
		return map[string]string{"ask": in.Question}, nil
	}
	tests := map[string]struct {
		opts     *ai.InterruptOptions[askIn]
		question string
		data     string
	}{
		"absent":               {nil, "why?", `true`},
		"empty options":        {&ai.InterruptOptions[askIn]{}, "why?", `true`},
		"static":               {&ai.InterruptOptions[askIn]{Data: payAsk{5}}, "why?", `{"confirm":5}`},
		"static, but falsy":    {&ai.InterruptOptions[askIn]{Data: 0}, "why?", `true`},
		"from the input":       {&ai.InterruptOptions[askIn]{Request: perInput}, "why?", `{"ask":"why?"}`},
		"wins over the static": {&ai.InterruptOptions[askIn]{Request: perInput, Data: 1}, "why?", `{"ask":"why?"}`},
		"none from the input":  {&ai.InterruptOptions[askIn]{Request: perInput, Data: 1}, "nothing?", `true`},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var r ai.Registry
			ask := ai.DefineInterrupt[askIn, int](&r, "ask", "Asks.", test.opts)
			require.True(t, ask.Definition().NotRestartable)
			set := newSet(t, ask)
			m := pause(t, set, nil, wish("ask", "1", jsonOf(t, askIn{test.question})))
			list, err := m.Interrupts()
			require.NoError(t, err)
			require.Len(t, list, 1)
			require.JSONEq(t, test.data, string(list[0].Data))

			_, err = resume(t, set, m, restarts(yes(t, list[0].Request)), nil)
			require.ErrorIs(t, err, ai.ErrInvalidArgument)
			require.ErrorContains(t, err, "ask#1")
			_, err = ask.Restart(list[0].Request, nil)
			require.ErrorIs(t, err, ai.ErrInvalidArgument)

			_, err = resume(t, set, m, responds(say(t, list[0].Request, "six")), nil)
			require.ErrorIs(t, err, ai.ErrInvalidArgument, "a response fits the output type")
			answer, err := ask.Respond(list[0].Request, 6)
			require.NoError(t, err)
			res, err := resume(t, set, m, responds(answer), nil)
			require.NoError(t, err)
			require.Equal(t, []string{"6"}, outputsOf(t, res.Tool))
		})
	}
	t.Run("a question that fails", func(t *testing.T) {
		t.Parallel()
		var r ai.Registry
		set := newSet(t, ai.DefineInterrupt[askIn, int](&r, "ask", "", &ai.InterruptOptions[askIn]{Request: perInput}))
		_, err := ai.Resolve(t.Context(), set, modelSays(wish("ask", "1", `{"question":"broken?"}`)), nil)
		turn, _ := failed(t, err)
		require.ErrorContains(t, turn, "no words")
		require.False(t, turn.Calls[0].MayHaveActed, "asking changes nothing")
	})
}

// The options are the tool's own once it is defined.
func TestInterruptOptionsAreCopied(t *testing.T) {
	t.Parallel()
	var r ai.Registry
	opts := &ai.InterruptOptions[askIn]{Data: "first"}
	set := newSet(t, ai.DefineInterrupt[askIn, int](&r, "ask", "", opts))
	opts.Data = "second"
	list, err := pause(t, set, nil, wish("ask", "1", `{"question":"?"}`)).Interrupts()
	require.NoError(t, err)
	require.JSONEq(t, `"first"`, string(list[0].Data))
}

func TestRawTool(t *testing.T) {
	t.Parallel()
	tool := newRaw(t, &ai.ToolDefinition{Name: "mcp/relay"}, func(_ context.Context, call *ai.ToolCall) (*ai.ToolResult, error) {
		return &ai.ToolResult{Output: call.Input, Content: ai.Parts{&ai.TextPart{Text: call.Name + "#" + call.Ref}}}, nil
	})
	require.Empty(t, tool.Definition().InputSchema)
	require.Equal(t, `{"toolResponse":{"name":"mcp/relay","ref":"1","output":{"n":1e400,"b":[]},"content":[{"text":"mcp/relay#1"}]}}`,
		jsonOf(t, aitest.Reload(t, resolveWithoutMetadata(t, tool, `{"n":1e400,"b":[]}`))))
	require.JSONEq(t, `true`, string(resolveOne(t, tool, `[]`).Metadata["isError"]), "arguments are an object")
}

func resolveWithoutMetadata(t *testing.T, tool ai.Tool, input string) *ai.ToolResponsePart {
	t.Helper()
	p := resolveOne(t, tool, input)
	require.Empty(t, p.Metadata)
	return p
}

func ExampleDefineInterrupt() {
	type question struct {
		Text string `json:"text"`
	}
	var tools ai.Registry
	ask := ai.DefineInterrupt[question, string](&tools, "ask_user", "Asks the user.", nil)

	ctx := context.Background()
	set, _ := tools.AllTools(ctx)
	model := &ai.Message{Role: ai.RoleModel, Content: ai.Parts{&ai.ToolRequestPart{ToolRequest: ai.ToolRequest{
		Name: "ask_user", Ref: "call_1", Input: json.RawMessage(`{"text":"Which colour?"}`),
	}}}}
	paused, err := ai.Resolve(ctx, set, model, nil)
	if err != nil {
		panic(err)
	}
	for _, it := range paused.Interrupts() {
		fmt.Printf("%s asks with %s\n", it.Request.ToolRequest.Name, it.Effective)
	}

	answer, _ := ask.Respond(paused.Interrupts()[0].Request, "blue")
	done, err := ai.Resume(ctx, set, paused.Model, &ai.Answers{Respond: []*ai.ToolResponsePart{answer}}, nil)
	if err != nil {
		panic(err)
	}
	fmt.Printf("%s\n", done.Tool.Content[0].(*ai.ToolResponsePart).ToolResponse.Output)
	// Output:
	// ask_user asks with {"text":"Which colour?"}
	// "blue"
}

func ExampleNewRawTool() {
	tool, err := ai.NewRawTool(&ai.ToolDefinition{
		Name:        "files/read",
		Description: "Reads a file.",
		InputSchema: json.RawMessage(`{"type":"object","properties":{"path":{"type":"string"}},"required":["path"]}`),
	}, func(_ context.Context, call *ai.ToolCall) (*ai.ToolResult, error) {
		// What the tool gets and gives is JSON, as a server on the network would have it.
		return &ai.ToolResult{Output: call.Input}, nil
	})
	if err != nil {
		panic(err)
	}
	set, err := ai.NewToolSet(tool)
	if err != nil {
		panic(err)
	}
	for _, def := range set.Definitions() {
		fmt.Println(def.Name, "is", string(def.Metadata["originalName"]))
	}
	// Output:
	// read is "files/read"
}
