package main

import (
	"bufio"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestFilesOfOthersAreLeftAlone(t *testing.T) {
	t.Parallel()
	const paused = `{"role":"model","content":[{"toolRequest":{"name":"transfer","ref":"1"},"metadata":{"interrupt":true,"notStarted":true}}]}`
	for name, tc := range map[string]struct{ content, want string }{
		"empty":             {"", "unexpected end of JSON input"},
		"cut off":           {`{"format":"holdpoint-transfer-1","accounts":{"you":1`, "unexpected end of JSON input"},
		"text":              {"dear diary", "invalid character"},
		"another program's": {`{"name":"left-pad","version":"1.3.0"}`, `its format is "", not "holdpoint-transfer-1"`},
		"another version's": {`{"format":"holdpoint-transfer-2"}`, `its format is "holdpoint-transfer-2"`},
		"no account":        {`{"format":"holdpoint-transfer-1","accounts":{"bob":1}}`, `it has no account "you"`},
		"fractions":         {`{"format":"holdpoint-transfer-1","accounts":{"you":1.5}}`, "cannot unmarshal number 1.5"},
		"debts":             {`{"format":"holdpoint-transfer-1","accounts":{"you":-1}}`, "the account of you holds -$0.01"},
		"null message":      {`{"format":"holdpoint-transfer-1","accounts":{"you":1},"messages":[null]}`, "a message is null"},
		"no role":           {`{"format":"holdpoint-transfer-1","accounts":{"you":1},"messages":[{"content":[]}]}`, "role"},
		"unreadable pause":  {`{"format":"holdpoint-transfer-1","accounts":{"you":1},"messages":[` + paused + `]}`, "marked both interrupt and notStarted"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			file := stateFile(t)
			require.NoError(t, os.WriteFile(file, []byte(tc.content), 0o600))
			out, err := try(file, "pay bob 20", "y")
			require.ErrorContains(t, err, file+" can't be used as a state file")
			require.ErrorContains(t, err, tc.want)
			require.ErrorContains(t, err, "it was not changed")
			require.Empty(t, out)
			data, err := os.ReadFile(file)
			require.NoError(t, err)
			require.Equal(t, tc.content, string(data))
		})
	}
}

func TestFileThatCantBeRead(t *testing.T) {
	t.Parallel()
	_, err := try(t.TempDir(), "pay bob 20")
	require.ErrorContains(t, err, "read the state")
}

func TestFileThatCantBeWritten(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "missing", "transfer.json")
	out, err := try(file, "pay bob 20", "y")
	require.ErrorContains(t, err, "save the state")
	require.Empty(t, asked(out), "a question that is not on file is not asked")
}

// The same question is open in two programs at once, and both say yes.
func TestTwoProgramsPayOnce(t *testing.T) {
	t.Parallel()
	file := stateFile(t)
	play(t, file, "pay bob 20")
	first, err := open(file)
	require.NoError(t, err)
	second, err := open(file)
	require.NoError(t, err)
	say := func(s *session) (string, error) {
		var out strings.Builder
		in := bufio.NewReader(strings.NewReader("y\n"))
		err := s.round(context.Background(), &terminal{in: in, out: &out})
		return out.String(), err
	}
	out, err := say(first)
	require.NoError(t, err)
	require.Contains(t, out, "Paid bob $20.00.")
	out, err = say(second)
	require.ErrorContains(t, err, "another program has changed "+file)
	require.NotContains(t, out, "Paid")
	require.Equal(t, map[string]cents{own: 8000, "alice": 5000, "bob": 3250, "eve": 0}, accounts(t, file))
}

func TestNoOtherFilesAreLeft(t *testing.T) {
	t.Parallel()
	file := stateFile(t)
	play(t, file, "pay bob 20", "y", "balance")
	entries, err := os.ReadDir(filepath.Dir(file))
	require.NoError(t, err)
	require.Len(t, entries, 1)
}
