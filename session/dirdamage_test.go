package session_test

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/holdpoint/ai/session"
)

// damaged writes a log of three batches, and lets the caller spoil its file.
func damaged(t *testing.T, spoil func(lines [][]byte) []byte) (store *session.DirStore, at session.Revision, file string) {
	t.Helper()
	dir := t.TempDir()
	store, err := session.OpenDir(dir)
	require.NoError(t, err)
	for _, id := range []string{"b1", "b2", "b3"} {
		r, err := store.Append(t.Context(), "s", at, &session.Batch{ID: id, Entries: []json.RawMessage{json.RawMessage(`{"b":"` + id + `"}`)}})
		require.NoError(t, err)
		at = r.Revision
	}
	files, err := filepath.Glob(filepath.Join(dir, "logs", "*", "s.log"))
	require.NoError(t, err)
	require.Len(t, files, 1)
	data, err := os.ReadFile(files[0])
	require.NoError(t, err)
	lines := bytes.SplitAfter(data, []byte("\n"))[:3]
	require.NoError(t, os.WriteFile(files[0], spoil(lines), 0o600))
	return store, at, files[0]
}

func flipped(line []byte) []byte {
	line = bytes.Clone(line)
	line[len(line)/2] ^= 1
	return line
}

func join(lines ...[]byte) []byte { return bytes.Join(lines, nil) }

// What was cut off at the end is dropped, and the next batch stands in its place.
func TestTornEnd(t *testing.T) {
	t.Parallel()
	for name, spoil := range map[string]func(lines [][]byte) []byte{
		"half a line":     func(l [][]byte) []byte { return join(l[0], l[1], l[2][:len(l[2])/2]) },
		"no line feed":    func(l [][]byte) []byte { return join(l[0], l[1], l[2][:len(l[2])-1]) },
		"a line of holes": func(l [][]byte) []byte { return join(l[0], l[1], flipped(l[2])) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			store, at, _ := damaged(t, spoil)
			at.N--
			log, err := store.Read(t.Context(), "s", session.Revision{})
			require.NoError(t, err)
			require.Equal(t, at, log.Revision)
			_, err = store.Append(t.Context(), "s", at, &session.Batch{ID: "b4", Entries: []json.RawMessage{json.RawMessage(`{}`)}})
			require.NoError(t, err)
			log, err = store.Read(t.Context(), "s", session.Revision{})
			require.NoError(t, err)
			require.Len(t, log.Batches, 3)
			require.Equal(t, "b4", log.Batches[2].ID)
		})
	}
}

// A log that is damaged anywhere else is not read, not run, and not written over.
func TestDamagedLog(t *testing.T) {
	t.Parallel()
	for name, spoil := range map[string]func(lines [][]byte) []byte{
		"first line":      func(l [][]byte) []byte { return join(flipped(l[0]), l[1], l[2]) },
		"line between":    func(l [][]byte) []byte { return join(l[0], flipped(l[1]), l[2]) },
		"line is missing": func(l [][]byte) []byte { return join(l[0], l[2]) },
		"last two lines":  func(l [][]byte) []byte { return join(l[0], flipped(l[1]), flipped(l[2])) },
		"every line":      func(l [][]byte) []byte { return join(flipped(l[0]), flipped(l[1]), flipped(l[2])) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			store, _, file := damaged(t, spoil)
			before, err := os.ReadFile(file)
			require.NoError(t, err)
			_, err = store.Read(t.Context(), "s", session.Revision{})
			require.ErrorIs(t, err, session.ErrCorrupt)
			m := &session.Manager{Store: store}
			_, err = m.Run(t.Context(), "s")
			require.ErrorIs(t, err, session.ErrCorrupt)
			_, err = store.Append(t.Context(), "s", session.Revision{}, &session.Batch{ID: "new", Entries: []json.RawMessage{json.RawMessage(`{}`)}})
			require.Error(t, err, "it is not taken for a log that is not there")
			after, err := os.ReadFile(file)
			require.NoError(t, err)
			require.Equal(t, before, after)
		})
	}
}
