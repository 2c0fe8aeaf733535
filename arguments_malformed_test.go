package ai_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/holdpoint/ai"
	"github.com/holdpoint/ai/aitest"
)

// malformed is a text that a model really sent, and what the tool gets of it.
type malformed struct {
	N      int
	Text   string
	Schema json.RawMessage
	Want   json.RawMessage // absent: the model is told that the call is wrong
	Kind   string
	Why    string
}

// likely is what the probable rows become where the tool asks for it.
var likely = map[int]string{
	15: `{"command":"ls"}`, 16: `{"key":"value"}`, 17: `{"a":1}`, 18: `{"flag":true}`, 22: `{"q":"x"}`,
}

func readMalformed(t *testing.T) []malformed {
	t.Helper()
	file, err := os.Open("testdata/arguments/malformed.jsonl")
	require.NoError(t, err)
	defer file.Close()
	var rows []malformed
	lines := bufio.NewScanner(file)
	for lines.Scan() {
		var row malformed
		require.NoError(t, json.Unmarshal(lines.Bytes(), &row), lines.Text())
		rows = append(rows, row)
	}
	require.NoError(t, lines.Err())
	return rows
}

// Every text of the table, from the adapter to the tool or to the answer that
// the model reads.
func TestMalformedArguments(t *testing.T) {
	t.Parallel()
	rows := readMalformed(t)
	require.Len(t, rows, 51)
	kinds := make(map[string]int)
	for _, row := range rows {
		kinds[row.Kind]++
		t.Run(fmt.Sprintf("%d %s", row.N, row.Why), func(t *testing.T) {
			t.Parallel()
			row.check(t, false, string(row.Want), row.Kind)
			want, kind := string(row.Want), row.Kind
			if kind == "probable" {
				want, kind = likely[row.N], "exact"
				require.NotEmpty(t, want)
			}
			row.check(t, true, want, kind)
		})
	}
	require.Equal(t, map[string]int{"exact": 8, "as sent": 9, "coerced": 11, "probable": 5, "error": 18}, kinds)
}

// check runs a call with the text of the row. Want is what the tool gets; when
// it is empty the model is told of an error.
func (row *malformed) check(t *testing.T, probable bool, want, kind string) {
	t.Helper()
	var got []received
	def := &ai.ToolDefinition{Name: "tool", InputSchema: row.Schema, ProbableRepairs: probable}
	m := modelSays(ai.NewToolRequest("tool", "a", row.Text))
	mustJSON(t, m)
	before := dump(m)
	set := newSet(t, catcher(t, def, &got))
	res, err := ai.Resolve(t.Context(), set, m, nil)
	finished(t, res, err)
	require.Equal(t, before, dump(m), "the message passed in was changed")
	checked, checkErr := set.Check(m.ToolRequests()[0])

	req := requestOf(t, aitest.Reload(t, res.Model), "a")
	row.checkText(t, req)
	told := responseOf(t, aitest.Reload(t, res.Tool), "a").ForModel()
	if want == "" {
		require.Empty(t, got, "the tool ran")
		require.True(t, told.IsError)
		require.Contains(t, told.Text, "The arguments of tool do not fit: ")
		require.ErrorIs(t, checkErr, ai.ErrInvalidArgument)
		require.Empty(t, recordOf(t, req))
		return
	}
	require.False(t, told.IsError, told.Text)
	require.Len(t, got, 1)
	require.Equal(t, inValue(t, json.RawMessage(want)), inValue(t, got[0].input))
	require.NoError(t, checkErr)
	require.Equal(t, string(got[0].input), string(checked))
	if kind == "as sent" {
		require.Equal(t, row.Text, string(got[0].input))
		require.Empty(t, got[0].changes)
		require.Same(t, m, res.Model, "there is nothing to write down")
		return
	}
	require.NotEmpty(t, got[0].changes)
	require.JSONEq(t, jsonOf(t, got[0].changes), string(req.Metadata["changes"]))
	require.Equal(t, string(got[0].input), string(req.Metadata["effectiveInput"]))
	require.Equal(t, exactly(t, got[0].input), exactly(t, replay(t, sentAs(t, req), recordOf(t, req))))
}

// checkText makes sure that a text that is no JSON object is kept beside the
// request, and every other one in it.
func (row *malformed) checkText(t *testing.T, req *ai.ToolRequestPart) {
	t.Helper()
	var kept struct{ Text, Problem string }
	found, err := req.Metadata.Decode("argumentsError", &kept)
	require.NoError(t, err)
	object := json.Unmarshal([]byte(row.Text), &map[string]json.RawMessage{}) == nil && row.Text != "null"
	require.Equal(t, !object, found)
	if object {
		require.JSONEq(t, row.Text, string(req.ToolRequest.Input))
		return
	}
	require.JSONEq(t, `{}`, string(req.ToolRequest.Input))
	require.Equal(t, row.Text, kept.Text)
	require.NotEmpty(t, kept.Problem)
}

// What fits decodes, however an integer is written.
func TestIntegerWithPointDecodes(t *testing.T) {
	t.Parallel()
	var got int
	tool, err := ai.NewTool(&ai.ToolDefinition{Name: "tool"}, func(_ context.Context, _ *ai.ToolCall, in struct {
		N int `json:"n"`
	}) (int, error) {
		got = in.N
		return in.N, nil
	})
	require.NoError(t, err)
	res, err := resolve(t, newSet(t, tool), nil, ai.NewToolRequest("tool", "a", `{"n":3.0}`))
	finished(t, res, err)
	require.Equal(t, 3, got)
}
