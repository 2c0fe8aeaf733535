package argtext_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/stretchr/testify/require"

	"github.com/holdpoint/ai/internal/argtext"
	"github.com/holdpoint/ai/internal/coerce"
)

// malformed is a text that a model really sent, and what becomes of it.
type malformed struct {
	N      int
	Text   string
	Schema json.RawMessage
	Want   json.RawMessage // absent: the model is told that the call is wrong
	Kind   string
	Why    string
}

func readMalformed(t *testing.T) []malformed {
	t.Helper()
	file, err := os.Open("../../testdata/arguments/malformed.jsonl")
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

// compile compiles the schema of a row. A reference to nowhere fits nothing,
// but condemns only its own place.
func (row *malformed) compile(t *testing.T) *jsonschema.Schema {
	t.Helper()
	text := strings.ReplaceAll(string(row.Schema), `{"$ref": "#/$defs/gone"}`, "false")
	doc, err := jsonschema.UnmarshalJSON(strings.NewReader(text))
	require.NoError(t, err)
	c := jsonschema.NewCompiler()
	require.NoError(t, c.AddResource("tool:///schema", doc))
	sch, err := c.Compile("tool:///schema")
	require.NoError(t, err)
	return sch
}

// read takes the text of a row all the way. It reports how the value got there.
func (row *malformed) read(t *testing.T, opts *argtext.Options) (value json.RawMessage, kind string) {
	t.Helper()
	res, err := argtext.Parse(row.Text, opts)
	if err != nil {
		return nil, "error"
	}
	out, changes, ok := coerce.Coerce(row.compile(t), res.Object, nil)
	switch {
	case !ok:
		return nil, "error"
	case len(changes) > 0:
		return out, "coerced"
	case res.Rule != "":
		return out, "exact"
	}
	return out, "as sent"
}

func TestMalformed(t *testing.T) {
	t.Parallel()
	likely := map[int]string{
		15: `{"command":"ls"}`, 16: `{"key":"value"}`, 17: `{"a":1}`, 18: `{"flag":true}`, 22: `{"q":"x"}`,
	}
	rows := readMalformed(t)
	require.Len(t, rows, 51)
	for _, row := range rows {
		t.Run(fmt.Sprintf("%d %s", row.N, row.Why), func(t *testing.T) {
			t.Parallel()
			got, kind := row.read(t, nil)
			if row.Want == nil {
				require.Equal(t, "error", kind, "became %s", got)
			} else {
				require.Equal(t, row.Kind, kind)
				requireSame(t, string(row.Want), string(got))
			}
			got, kind = row.read(t, &argtext.Options{Probable: true})
			want := string(row.Want)
			if row.Kind == "probable" {
				want = likely[row.N]
				require.NotEmpty(t, want)
			}
			if want == "" {
				require.Equal(t, "error", kind, "became %s", got)
				return
			}
			requireSame(t, want, string(got))
		})
	}
}

// requireSame compares values with numbers digit for digit, apart from zeros
// behind the point.
func requireSame(t *testing.T, want, got string) {
	t.Helper()
	decode := func(text string) any {
		v, err := jsonschema.UnmarshalJSON(strings.NewReader(strings.ReplaceAll(text, "3.0", "3")))
		require.NoError(t, err)
		return v
	}
	require.Equal(t, decode(want), decode(got))
}
