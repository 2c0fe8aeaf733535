package sqlstore

import (
	"context"
	"crypto/rand"
	"database/sql"
	"errors"
	"fmt"
)

// version is that of the tables that this package uses.
const version = 1

// ErrNewerSchema says that the tables are of a version that only a newer release knows.
var ErrNewerSchema = errors.New("sqlstore: newer schema")

// migrations[i] makes version i+1 of version i. BLOB stands for the type of bytes.
var migrations = [version][]string{
	{
		`CREATE TABLE holdpoint_sessions (
			id BLOB PRIMARY KEY, incarnation TEXT NOT NULL, n BIGINT NOT NULL,
			pending BOOLEAN NOT NULL, runnable BOOLEAN NOT NULL, running BOOLEAN NOT NULL, due BIGINT)`,
		`CREATE TABLE holdpoint_batches (
			incarnation TEXT NOT NULL, first BIGINT NOT NULL, id TEXT NOT NULL, at BIGINT NOT NULL, entries BLOB NOT NULL,
			PRIMARY KEY (incarnation, first))`,
		`CREATE INDEX holdpoint_pending ON holdpoint_sessions (id) WHERE (pending)`,
		`CREATE INDEX holdpoint_unfinished ON holdpoint_sessions (id) WHERE (runnable OR running)`,
		`CREATE INDEX holdpoint_due ON holdpoint_sessions (due) WHERE (pending)`,
	},
}

// migrate brings the tables up to the version of this package. It is called with
// nobody else at it. text adapts a statement to the database.
func migrate(ctx context.Context, tx *sql.Tx, text func(string) string) error {
	exec := func(stmt string, args ...any) error {
		if _, err := tx.ExecContext(ctx, text(stmt), args...); err != nil {
			return fmt.Errorf("sqlstore: schema: %w", err)
		}
		return nil
	}
	if err := exec(`CREATE TABLE IF NOT EXISTS holdpoint_schema (version BIGINT NOT NULL)`); err != nil {
		return err
	}
	var have int
	err := tx.QueryRowContext(ctx, `SELECT COALESCE(MAX(version), 0) FROM holdpoint_schema`).Scan(&have)
	if err != nil {
		return fmt.Errorf("sqlstore: schema: %w", err)
	}
	if have > version {
		return fmt.Errorf("%w: the tables are of version %d, this release knows %d", ErrNewerSchema, have, version)
	}
	for v := have; v < version; v++ {
		for _, stmt := range migrations[v] {
			if err := exec(stmt); err != nil {
				return err
			}
		}
		if err := exec(`INSERT INTO holdpoint_schema (version) VALUES ($1)`, v+1); err != nil {
			return err
		}
	}
	return nil
}

func newIncarnation() string { return rand.Text() }
