package sqlstore_test

import (
	"context"
	"database/sql"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/holdpoint/ai"
	"github.com/holdpoint/ai/aitest"
	"github.com/holdpoint/ai/internal/leakcheck"
	"github.com/holdpoint/ai/plugins/sqlstore"
	"github.com/holdpoint/ai/session"
)

func TestMain(m *testing.M) { leakcheck.Main(m) }

// both opens two handles on one database.
func both(t testing.TB, open func() (*sqlstore.Store, error)) (one, other *sqlstore.Store) {
	t.Helper()
	stores := make([]*sqlstore.Store, 2)
	for i := range stores {
		s, err := open()
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			if err := s.Close(); err != nil {
				t.Error(err)
			}
		})
		stores[i] = s
	}
	return stores[0], stores[1]
}

func sqlite(t testing.TB) (one, other *sqlstore.Store) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "a b?.db")
	return both(t, func() (*sqlstore.Store, error) { return sqlstore.OpenSQLite(context.Background(), file) })
}

// server is the connection string of a PostgreSQL server that tests may use.
func server(t testing.TB) string {
	t.Helper()
	dsn := os.Getenv("HOLDPOINT_POSTGRES")
	if dsn != "" {
		return dsn
	}
	const absent = "HOLDPOINT_POSTGRES is not set: it names a PostgreSQL server by a URL; .ci/run starts one"
	if os.Getenv("HOLDPOINT_REQUIRE") != "" {
		t.Fatal(absent)
	}
	t.Skip(absent)
	return ""
}

// postgresURL is a schema of its own on the server, which the test drops.
func postgresURL(t testing.TB) string {
	t.Helper()
	dsn := server(t)
	db, err := sql.Open("pgx", dsn)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	var schema string
	if err := db.QueryRow(`SELECT 'test_' || replace(gen_random_uuid()::text, '-', '')`).Scan(&schema); err != nil {
		t.Fatal(err)
	}
	if _, err := db.Exec(`CREATE SCHEMA ` + schema); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		db, err := sql.Open("pgx", dsn)
		if err != nil {
			t.Error(err)
			return
		}
		defer db.Close()
		if _, err := db.Exec(`DROP SCHEMA ` + schema + ` CASCADE`); err != nil {
			t.Error(err)
		}
	})
	return dsn + "?search_path=" + schema
}

func postgres(t testing.TB) (one, other *sqlstore.Store) {
	t.Helper()
	dsn := postgresURL(t)
	return both(t, func() (*sqlstore.Store, error) { return sqlstore.OpenPostgres(context.Background(), dsn, nil) })
}

// databases are what the tests run on.
var databases = map[string]func(t testing.TB) (one, other *sqlstore.Store){"SQLite": sqlite, "PostgreSQL": postgres}

func TestContract(t *testing.T) {
	t.Parallel()
	for name, open := range databases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if name == "PostgreSQL" {
				server(t)
			}
			aitest.TestStore(t, &aitest.StoreKit{Open: func(t testing.TB) (aitest.Store, aitest.Store) { return open(t) }})
		})
	}
}

type payment struct {
	To string `json:"to"`
}

// A session pauses in one process and is decided and carried out in another.
func TestSession(t *testing.T) {
	t.Parallel()
	for name, open := range databases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			one, other := open(t)
			paid := 0
			var tools ai.Registry
			ai.DefineTool(&tools, "pay", "Pays.", func(context.Context, *ai.ToolCall, payment) (string, error) {
				paid++
				return "paid", nil
			})
			model := aitest.NewModel(t, aitest.ToolRequests(aitest.Request("pay", "a", payment{"bob"})), aitest.Text("done"))
			approval := &ai.Approval{}
			manager := func(s session.Store) *session.Manager {
				return &session.Manager{Store: s, Registry: &tools, Options: ai.GenerateOptions{
					Model: model, Turn: ai.ResolveOptions{Middleware: []*ai.Middleware{approval.Middleware()}},
				}}
			}
			_, err := manager(one).Generate(t.Context(), "s", &session.Input{Prompt: "pay bob"})
			require.NoError(t, err)
			page, err := manager(other).List(t.Context(), nil)
			require.NoError(t, err)
			require.Len(t, page.Pending, 1)
			p := page.Pending[0]
			require.NoError(t, manager(other).Decide(t.Context(), "s", &session.Decision{Pending: p.ID, Verdict: session.Approve, Digest: p.Digest}))
			for id, err := range manager(other).Recover(t.Context()) {
				require.NoError(t, err)
				require.Equal(t, "s", id)
			}
			result, err := manager(one).Load(t.Context(), "s")
			require.NoError(t, err)
			require.Equal(t, "done", result.Response.Text())
			require.Equal(t, 1, paid)
		})
	}
}

// A database that a newer release has migrated is left alone.
func TestNewerSchema(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "s.db")
	s, err := sqlstore.OpenSQLite(t.Context(), file)
	require.NoError(t, err)
	require.NoError(t, s.Close())
	db, err := sql.Open("sqlite", file)
	require.NoError(t, err)
	_, err = db.Exec(`INSERT INTO holdpoint_schema (version) VALUES (99)`)
	require.NoError(t, err)
	require.NoError(t, db.Close())
	_, err = sqlstore.OpenSQLite(t.Context(), file)
	require.ErrorIs(t, err, sqlstore.ErrNewerSchema)
	require.ErrorContains(t, err, "99")
}

func TestBadBatch(t *testing.T) {
	t.Parallel()
	one, _ := sqlite(t)
	for _, b := range []*session.Batch{{ID: "none"}, {ID: "bad", Entries: entries(`{`)}} {
		_, err := one.Append(t.Context(), "s", session.Revision{}, b)
		require.Error(t, err)
	}
	_, err := one.Read(t.Context(), "s", session.Revision{})
	require.ErrorIs(t, err, session.ErrNotFound)
}

// BenchmarkAppend compares an append with the bare statement and its commit.
func BenchmarkAppend(b *testing.B) {
	for name, open := range databases {
		b.Run(name, func(b *testing.B) {
			store, _ := open(b)
			at := session.Revision{}
			i := 0
			for b.Loop() {
				i++
				r, err := store.Append(b.Context(), "s", at, &session.Batch{ID: fmt.Sprint(i), Entries: entries(`{"a":"some text of a call and its outcome"}`)})
				if err != nil {
					b.Fatal(err)
				}
				at = r.Revision
			}
		})
	}
}
