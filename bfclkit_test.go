package ai_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/stretchr/testify/require"

	"github.com/holdpoint/ai"
)

// bfclCase is a list of real tools with calls of them.
type bfclCase struct {
	ID    string
	Tools []*bfclTool
	Calls []*bfclCall
}

type bfclTool struct {
	Name        string
	Description string
	Parameters  json.RawMessage
}

type bfclCall struct {
	Name      string
	Arguments json.RawMessage
}

// readBFCL reads the cases from the folder that HOLDPOINT_BFCL names.
func readBFCL(t *testing.T) []*bfclCase {
	t.Helper()
	const how = "set HOLDPOINT_BFCL to a folder with cases.jsonl: the Berkeley Function-Calling Leaderboard v4 (ShishirPatil/gorilla), " +
		`one case a line, {"id","tools":[{"name","description","parameters"}],"calls":[{"name","arguments"}]}, ` +
		"its types respelled in JSON Schema and one acceptable value taken for each argument"
	file, err := os.Open(filepath.Join(os.Getenv("HOLDPOINT_BFCL"), "cases.jsonl"))
	if os.Getenv("HOLDPOINT_BFCL") == "" || err != nil {
		if os.Getenv("HOLDPOINT_REQUIRE") == "1" {
			t.Fatal(how)
		}
		t.Skip(how)
	}
	defer file.Close()
	var cases []*bfclCase
	lines := bufio.NewScanner(file)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		c := &bfclCase{}
		require.NoError(t, json.Unmarshal(lines.Bytes(), c))
		cases = append(cases, c)
	}
	require.NoError(t, lines.Err())
	require.Len(t, cases, 1176)
	return cases
}

// tool is the tool of a call.
func (c *bfclCase) tool(t testing.TB, call *bfclCall) *bfclTool {
	t.Helper()
	for _, tool := range c.Tools {
		if tool.Name == call.Name {
			return tool
		}
	}
	require.FailNow(t, "no tool", "%s of %s", call.Name, c.ID)
	return nil
}

// definition is the tool as it is.
func (tool *bfclTool) definition() *ai.ToolDefinition {
	return &ai.ToolDefinition{Name: tool.Name, Description: tool.Description, InputSchema: tool.Parameters}
}

// validator is the schema of the tool for the validator alone, which is the
// authority on what fits.
func (tool *bfclTool) validator(t testing.TB) *jsonschema.Schema {
	t.Helper()
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(tool.Parameters))
	require.NoError(t, err)
	c := jsonschema.NewCompiler()
	require.NoError(t, c.AddResource("tool:///schema", doc))
	s, err := c.Compile("tool:///schema")
	require.NoError(t, err)
	return s
}

// fits asks the validator.
func (tool *bfclTool) fits(t testing.TB, arguments json.RawMessage) bool {
	t.Helper()
	return fits(t, tool.validator(t), arguments)
}

func fits(t testing.TB, s *jsonschema.Schema, value json.RawMessage) bool {
	t.Helper()
	v, err := jsonschema.UnmarshalJSON(bytes.NewReader(value))
	require.NoError(t, err)
	return s.Validate(v) == nil
}
