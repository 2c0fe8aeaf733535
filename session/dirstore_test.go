package session_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/holdpoint/ai/session"
)

func TestDirStoreSession(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for name, sc := range scenarios {
		w := &world{}
		store, err := session.OpenDir(dir)
		require.NoError(t, err)
		m := sc.manager(w, store)
		_, err = m.Generate(t.Context(), name+"/../X", &session.Input{Prompt: "go"})
		require.NoError(t, err)
		page, err := m.List(t.Context(), nil)
		require.NoError(t, err)
		require.NotEmpty(t, page.Pending)
		result := finish(t, m, name+"/../X", approve)
		require.Equal(t, "done", result.Response.Text())
		require.Len(t, w.paid, sc.paid)
		page, err = m.List(t.Context(), nil)
		require.NoError(t, err)
		require.Empty(t, page.Pending)
	}
	logs, err := filepath.Glob(filepath.Join(dir, "logs", "*", "*"))
	require.NoError(t, err)
	require.Len(t, logs, len(scenarios))
	claims, err := os.ReadDir(filepath.Join(dir, "claims"))
	require.NoError(t, err)
	require.Empty(t, claims)
}
