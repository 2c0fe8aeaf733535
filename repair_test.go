package ai_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/holdpoint/ai"
	"github.com/holdpoint/ai/aitest"
)

// history reads messages as a store would.
func history(t *testing.T, text string) []*ai.Message {
	t.Helper()
	var messages []*ai.Message
	require.NoError(t, json.Unmarshal([]byte(text), &messages))
	return messages
}

const (
	saysNotRun  = `"This call was not run."`
	saysUnknown = `"It is not known whether this call ran. It may have had its effect: do not repeat it."`
)

// repairCase is one open request: its metadata, what is left of that, and the
// response it gets.
type repairCase struct{ metadata, left, response string }

const (
	notRun  = `{"toolResponse":{"name":"pay","ref":"1","output":` + saysNotRun + `},"metadata":{"outcome":"superseded"}}`
	unknown = `{"toolResponse":{"name":"pay","ref":"1","output":` + saysUnknown + `},"metadata":{"outcome":"unknown"}}`
)

func (c repairCase) check(t *testing.T) {
	t.Helper()
	messages := history(t, `[{"role":"model","content":[{"text":"a"},{"toolRequest":{"name":"pay","ref":"1","input":{"Amount":5}},"metadata":`+c.metadata+`}]}]`)
	before := mustJSONText(t, messages)
	repaired := ai.Repair(messages)
	require.Equal(t, before, mustJSONText(t, messages))
	require.Len(t, repaired, 2)
	require.Equal(t, ai.RoleTool, repaired[1].Role)
	require.JSONEq(t, `[`+c.response+`]`, mustJSONText(t, repaired[1].Content))
	left := repaired[0].Content[1].(*ai.ToolRequestPart)
	require.JSONEq(t, `{"Amount":5}`, string(left.ToolRequest.Input))
	if c.left == `{}` {
		require.Empty(t, left.Metadata)
	} else {
		require.JSONEq(t, c.left, mustJSONText(t, left.Metadata))
	}
	requireRepaired(t, repaired)
}

// What becomes of an open request is told by its metadata.
func TestRepairOpenRequest(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]repairCase{
		"no mark":           {`{}`, `{}`, unknown},
		"marks of others":   {`{"mine":1}`, `{"mine":1}`, unknown},
		"asked":             {`{"interrupt":{"why":"x"},"interruptedBy":"gate","interruptState":1,"callKey":"k"}`, `{"resolvedInterrupt":{"why":"x"},"interruptedBy":"gate"}`, notRun},
		"asked again":       {`{"interrupt":2,"answered":{"gate":{"resumed":true}},"effectiveInput":{"a":1}}`, `{"resolvedInterrupt":2,"effectiveInput":{"a":1}}`, notRun},
		"not started":       {`{"notStarted":true}`, `{}`, notRun},
		"started":           {`{"callKey":"k"}`, `{}`, unknown},
		"failed, may act":   {`{"failure":{"kind":"tool","text":"it broke","mayHaveActed":true}}`, `{}`, unknown},
		"failed, in doubt":  {`{"failure":{"kind":"timeout","text":"it broke","mayHaveActed":true,"inDoubt":true},"callKey":"k"}`, `{}`, unknown},
		"failed for sure":   {`{"failure":{"kind":"tool","text":"it broke","mayHaveActed":false}}`, `{}`, `{"toolResponse":{"name":"pay","ref":"1","output":"it broke"},"metadata":{"isError":true}}`},
		"settled":           {`{"pendingOutput":{"paid":5}}`, `{}`, `{"toolResponse":{"name":"pay","ref":"1","output":{"paid":5}},"metadata":{"source":"pending"}}`},
		"settled with null": {`{"pendingOutput":null}`, `{}`, `{"toolResponse":{"name":"pay","ref":"1","output":null},"metadata":{"source":"pending"}}`},
		"settled after a question": {
			`{"pendingOutput":0,"pendingContent":[{"text":"a"}],"pendingMetadata":{"isError":true},"resolvedInterrupt":true}`,
			`{"resolvedInterrupt":true}`,
			`{"toolResponse":{"name":"pay","ref":"1","output":0,"content":[{"text":"a"}]},"metadata":{"source":"pending","isError":true}}`,
		},
		"was to hand over": {
			`{"pendingOutput":"transferred to x","pendingMetadata":{"transfer":{"prompt":"x","messages":[{"role":"system","content":[]}]}}}`, `{}`, notRun,
		},
		"marks that can't be read":          {`{"failure":"oops","interrupt":true,"originalName":"pay"}`, `{}`, unknown},
		"marks that contradict one another": {`{"interrupt":true,"pendingOutput":1}`, `{}`, unknown},
		"a result that can't be read":       {`{"pendingOutput":1,"pendingMetadata":{"transfer":7}}`, `{}`, unknown},
		"settled, with marks left": {
			`{"pendingOutput":7,"callKey":"k","answered":{"gate":{"resumed":true}}}`, `{}`,
			`{"toolResponse":{"name":"pay","ref":"1","output":7},"metadata":{"source":"pending"}}`,
		},
	} {
		t.Run(name, func(t *testing.T) { t.Parallel(); c.check(t) })
	}
}

// A call that hosts a conversation has run as far as that has.
func TestRepairHost(t *testing.T) {
	t.Parallel()
	const asks = `{"role":"model","content":[{"toolRequest":{"name":"pay","ref":"9"},"metadata":{"interrupt":true}}]}`
	host := func(messages string) string {
		return `{"interrupt":true,"inner":{"main":{"messages":[` + messages + `]}}}`
	}
	for name, c := range map[string]repairCase{
		"hosts a question":               {host(asks), `{"resolvedInterrupt":true}`, notRun},
		"hosts a question in a question": {host(`{"role":"model","content":[{"toolRequest":{"name":"h"},"metadata":` + host(asks) + `}]}`), `{"resolvedInterrupt":true}`, notRun},
		"hosts what has run": {
			host(`{"role":"model","content":[{"toolRequest":{"name":"pay"}}]},{"role":"tool","content":[{"toolResponse":{"name":"pay"}}]},` + asks),
			`{"resolvedInterrupt":true}`, unknown,
		},
		"hosts what has run, two levels down": {
			host(`{"role":"model","content":[{"toolRequest":{"name":"h"},"metadata":` + host(`{"role":"model","content":[{"toolRequest":{"name":"pay"},"metadata":{"pendingOutput":1}}]}`) + `}]}`),
			`{"resolvedInterrupt":true}`, unknown,
		},
		"failed for sure, but hosts what has run": {
			`{"failure":{"kind":"tool","text":"it broke","mayHaveActed":false},"inner":{"main":{"messages":[{"role":"model","content":[{"toolRequest":{"name":"pay"},"metadata":{"pendingOutput":1}}]}]}}}`,
			`{}`, unknown,
		},
		"hosts a result beside a question": {
			host(`{"role":"model","content":[{"toolRequest":{"name":"pay"},"metadata":{"pendingOutput":1}},{"toolRequest":{"name":"pay"},"metadata":{"interrupt":true}}]}`),
			`{"resolvedInterrupt":true}`, unknown,
		},
		"hosts a failure that may have acted": {
			host(`{"role":"model","content":[{"toolRequest":{"name":"pay"},"metadata":{"failure":{"kind":"tool","text":"a","mayHaveActed":true}}}]}`),
			`{"resolvedInterrupt":true}`, unknown,
		},
		"hosts a failure that has not": {
			host(`{"role":"model","content":[{"toolRequest":{"name":"pay"},"metadata":{"failure":{"kind":"tool","text":"a","mayHaveActed":false}}}]}`),
			`{"resolvedInterrupt":true}`, notRun,
		},
		"hosts what nobody knows of": {
			host(`{"role":"model","content":[{"toolRequest":{"name":"pay"}}]}`), `{"resolvedInterrupt":true}`, unknown,
		},
	} {
		t.Run(name, func(t *testing.T) { t.Parallel(); c.check(t) })
	}
}

// requireRepaired makes sure that a history is taken, and that repairing it
// again changes nothing.
func requireRepaired(t *testing.T, repaired []*ai.Message) {
	t.Helper()
	require.Equal(t, mustJSONText(t, repaired), mustJSONText(t, ai.Repair(repaired)))
	m := aitest.NewModel(t, aitest.Text("done"))
	_, err := ai.Generate(t.Context(), nil, &ai.GenerateOptions{Model: m, Messages: repaired, Prompt: "go on"})
	require.NoError(t, err)
}

func TestRepairArguments(t *testing.T) {
	t.Parallel()
	partial := pay("1", 5)
	partial.ToolRequest.Partial = true
	messages := []*ai.Message{modelSays(partial, aitest.Request("pay", "2", json.RawMessage(`{"Amount":`)), aitest.Request("pay", "3", json.RawMessage(`[5]`)))}
	repaired := ai.Repair(messages)
	require.Equal(t, []string{
		"model pay#1?", "model pay#2?", "model pay#3?", "tool pay#1=" + saysNotRun, "tool pay#2=" + saysUnknown, "tool pay#3=" + saysUnknown,
	}, outline(repaired))
	require.True(t, partial.ToolRequest.Partial, "the caller's own part is not changed")
	aitest.CheckHistory(t, repaired)
	requests := repaired[0].ToolRequests()
	require.JSONEq(t, `{"Amount":5}`, string(requests[0].ToolRequest.Input))
	require.JSONEq(t, `{"text":"{\"Amount\":","problem":"text that is not JSON"}`, string(requests[1].Metadata["argumentsError"]))
	require.JSONEq(t, `{"text":"[5]","problem":"an array"}`, string(requests[2].Metadata["argumentsError"]))
}

func TestRepairPlaces(t *testing.T) {
	t.Parallel()
	ask := modelSays(&ai.TextPart{Text: "a"}, pay("1", 5), look("2", "Rome"))
	first, second, noted := response("pay", "1", "1"), response("look", "2", "2"), &ai.TextPart{Text: "note"}
	settled := look("2", "Rome")
	settled.Metadata = ai.Metadata{"pendingOutput": json.RawMessage(`7`)}
	asked := []string{"model a", "model pay#1?", "model look#2?"}
	for name, tt := range map[string]struct {
		messages []*ai.Message
		want     []string
	}{
		"at the end":                {[]*ai.Message{ask}, append(asked[:3:3], "tool pay#1="+saysUnknown, "tool look#2="+saysUnknown)},
		"in the middle":             {[]*ai.Message{ask, userSays("b")}, append(asked[:3:3], "tool pay#1="+saysUnknown, "tool look#2="+saysUnknown, "user b")},
		"one is answered":           {[]*ai.Message{ask, toolSays(second)}, append(asked[:3:3], "tool pay#1="+saysUnknown, "tool look#2=2")},
		"one is settled":            {[]*ai.Message{modelSays(settled), userSays("b")}, []string{"model look#2?", "tool look#2=7", "user b"}},
		"answered out of order":     {[]*ai.Message{ask, toolSays(second, first)}, append(asked[:3:3], "tool look#2=2", "tool pay#1=1")},
		"in two messages":           {[]*ai.Message{ask, toolSays(second, noted), toolSays(first)}, append(asked[:3:3], "tool pay#1=1", "tool look#2=2", "tool note")},
		"answered late":             {[]*ai.Message{ask, userSays("b"), toolSays(first, second)}, append(asked[:3:3], "tool pay#1=1", "tool look#2=2", "user b")},
		"behind the next turn":      {[]*ai.Message{modelSays(pay("1", 5)), modelSays(noted), toolSays(first)}, []string{"model pay#1?", "tool pay#1=" + saysUnknown, "model note"}},
		"twice":                     {[]*ai.Message{ask, toolSays(first, second, response("pay", "1", "9"))}, append(asked[:3:3], "tool pay#1=1", "tool look#2=2")},
		"another name":              {[]*ai.Message{modelSays(pay("1", 5)), toolSays(response("look", "1", "9"))}, []string{"model pay#1?", "tool pay#1=" + saysUnknown}},
		"nothing was asked":         {[]*ai.Message{modelSays(noted), toolSays(first), userSays("b")}, []string{"model note", "user b"}},
		"nothing but a note":        {[]*ai.Message{modelSays(noted), toolSays(first, noted)}, []string{"model note", "tool note"}},
		"a note of its own":         {[]*ai.Message{modelSays(noted), toolSays(noted)}, []string{"model note", "tool note"}},
		"a start that was cut":      {[]*ai.Message{toolSays(first), userSays("b"), ask, toolSays(first, second)}, append([]string{"user b"}, append(asked[:3:3], "tool pay#1=1", "tool look#2=2")...)},
		"the same ref, twice asked": {[]*ai.Message{modelSays(pay("1", 5), pay("1", 6)), toolSays(first)}, []string{"model pay#1?", "model pay#1?", "tool pay#1=1", "tool pay#1=" + saysUnknown}},
		"without refs":              {[]*ai.Message{modelSays(pay("", 5), pay("", 6)), toolSays(response("pay", "", "1"), response("pay", "", "2"))}, []string{"model pay#?", "model pay#?", "tool pay#=1", "tool pay#=2"}},
		"two turns":                 {[]*ai.Message{modelSays(pay("1", 5)), modelSays(pay("1", 5)), toolSays(first)}, []string{"model pay#1?", "tool pay#1=" + saysUnknown, "model pay#1?", "tool pay#1=1"}},
		"nothing":                   {nil, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			before := mustJSONText(t, tt.messages)
			repaired := ai.Repair(tt.messages)
			require.Equal(t, tt.want, outline(repaired))
			require.Equal(t, before, mustJSONText(t, tt.messages))
			if len(tt.messages) > 0 && name != "the same ref, twice asked" && name != "without refs" {
				requireRepaired(t, repaired)
			}
		})
	}
}

func TestRepairLeavesWhatIsWell(t *testing.T) {
	t.Parallel()
	messages := []*ai.Message{
		ai.TextMessage(ai.RoleSystem, "s"), nil, userSays("a"), modelSays(pay("1", 5)), toolSays(response("pay", "1", "1"), &ai.TextPart{Text: "note"}), userSays("b"), nil,
	}
	repaired := ai.Repair(messages)
	require.Len(t, repaired, len(messages))
	for i, m := range messages {
		require.Same(t, m, repaired[i])
	}
	repaired[0] = nil
	require.NotNil(t, messages[0], "the list is another one")
}

func TestRepairKeepsTheToolMessage(t *testing.T) {
	t.Parallel()
	messages := history(t, `[
		{"role":"model","content":[{"toolRequest":{"name":"a","ref":"1"}},{"toolRequest":{"name":"b","ref":"2"}}],"id":7},
		{"role":"tool","content":[{"toolResponse":{"name":"b","ref":"2","output":1}}],"metadata":{"resumed":true},"id":8}]`)
	require.JSONEq(t, `[
		{"role":"model","content":[{"toolRequest":{"name":"a","ref":"1"}},{"toolRequest":{"name":"b","ref":"2"}}],"id":7},
		{"role":"tool","content":[{"toolResponse":{"name":"a","ref":"1","output":`+saysUnknown+`},"metadata":{"outcome":"unknown"}},{"toolResponse":{"name":"b","ref":"2","output":1}}],"metadata":{"resumed":true},"id":8}]`,
		mustJSONText(t, ai.Repair(messages)))
}
