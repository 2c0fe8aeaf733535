package ai_test

import (
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/holdpoint/ai"
)

// docRow is a row of a table in docs/arguments.md.
type docRow struct {
	line     int
	probable bool              // it stands under that heading
	cells    map[string]string // by the heading of the column
}

// readDocRows reads all tables of the document.
func readDocRows(t *testing.T) []docRow {
	t.Helper()
	data, err := os.ReadFile("docs/arguments.md")
	require.NoError(t, err)
	var rows []docRow
	var columns []string
	heading := ""
	for i, line := range strings.Split(string(data), "\n") {
		switch {
		case strings.HasPrefix(line, "#"):
			heading = strings.TrimLeft(line, "# ")
		case !strings.HasPrefix(line, "|"):
			columns = nil
		case strings.HasPrefix(line, "|---"):
		default:
			cells := strings.Split(strings.Trim(line, "|"), "|")
			if columns == nil {
				for _, cell := range cells {
					columns = append(columns, strings.TrimSpace(cell))
				}
				continue
			}
			require.Len(t, cells, len(columns), "line %d", i+1)
			row := docRow{i + 1, heading == "Probable repairs", make(map[string]string)}
			for n, cell := range cells {
				row.cells[columns[n]] = strings.TrimSpace(cell)
			}
			rows = append(rows, row)
		}
	}
	return rows
}

// code is what stands between the backquotes that a cell begins with.
func code(cell string) string {
	ticks := cell[:len(cell)-len(strings.TrimLeft(cell, "`"))]
	text, _, _ := strings.Cut(cell[len(ticks):], ticks)
	if len(ticks) > 1 {
		end := strings.LastIndex(cell, ticks)
		text = strings.TrimSpace(cell[len(ticks):end])
	}
	return strings.NewReplacer("↵", "\n", "[BOM]", "\uFEFF").Replace(text)
}

// schema is that of the tool of a row.
func (r *docRow) schema() json.RawMessage {
	x := r.cells["x is"]
	if x == "" {
		return nil
	}
	required := ""
	if strings.HasSuffix(x, "*required*") {
		required = `,"required":["x"]`
	}
	return json.RawMessage(fmt.Sprintf(`{"type":"object","properties":{"x":%s}%s}`, code(x), required))
}

// Every example of the document behaves as it says.
func TestArgumentsDocument(t *testing.T) {
	t.Parallel()
	rows := readDocRows(t)
	var rules []string
	for _, row := range rows {
		rules = append(rules, row.cells["rule"])
		t.Run(fmt.Sprint("line ", row.line), func(t *testing.T) {
			t.Parallel()
			row.check(t, row.probable)
			if row.probable {
				row.cells["gets"], row.cells["the model reads"] = "", "`expected a JSON object, got `"
				row.check(t, false)
			}
		})
	}
	for _, rule := range []string{
		"empty", "byte-order-mark", "fence", "doubled-encoding", "control-token", "control-characters", "repeated-object",
		"trailing-comma", "unquoted-key", "single-quotes", "python-literal", "prose",
		"number", "boolean", "string", "json-text", "lone-value", "null", "envelope",
	} {
		require.True(t, slices.Contains(rules, rule), "the document has no example of %q", rule)
	}
}

func (r *docRow) check(t *testing.T, probable bool) {
	t.Helper()
	var got []received
	def := &ai.ToolDefinition{Name: "tool", InputSchema: r.schema(), ProbableRepairs: probable}
	sent := code(r.cells["sent"])
	res, err := resolve(t, newSet(t, catcher(t, def, &got)), nil, ai.NewToolRequest("tool", "a", sent))
	finished(t, res, err)
	told := responseOf(t, res.Tool, "a").ForModel()
	if reads := r.cells["the model reads"]; strings.HasPrefix(reads, "`") {
		text, ok := strings.CutPrefix(told.Text, "The arguments of tool do not fit: ")
		require.True(t, ok, told.Text)
		require.True(t, text == code(reads) || r.probable && strings.HasPrefix(text, code(reads)), text)
		require.Empty(t, got)
		return
	}
	require.False(t, told.IsError, told.Text)
	require.Len(t, got, 1)
	rule, repaired := r.cells["rule"]
	if !repaired {
		require.Equal(t, sent, string(got[0].input))
		require.Empty(t, got[0].changes)
		return
	}
	require.Equal(t, code(r.cells["gets"]), string(got[0].input))
	require.Len(t, got[0].changes, 1)
	require.Equal(t, rule, got[0].changes[0].Rule)
}
