package sqlstore

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/stdlib"

	"github.com/holdpoint/ai/session"
)

// PostgresOptions say how a store works on PostgreSQL. Nil and the zero value are
// legal.
type PostgresOptions struct {
	// Lease is how long an owner holds a session that it does not hear of any more.
	// Defaults to 30 seconds; at least one.
	Lease time.Duration
}

const defaultLease = 30 * time.Second

// OpenPostgres opens the store in a PostgreSQL database, given by a connection string
// or URL. Its tables are made in the schema that comes first in the search path.
//
// What Append acknowledged is on the server's disk: each connection asks for
// synchronous commits. Times are the server's.
func OpenPostgres(ctx context.Context, dsn string, opts *PostgresOptions) (*Store, error) {
	lease := defaultLease
	if opts != nil && opts.Lease != 0 {
		lease = opts.Lease
	}
	if lease < time.Second {
		return nil, fmt.Errorf("sqlstore: a lease of %s is too short; it must be at least a second", lease)
	}
	config, err := pgx.ParseConfig(dsn)
	if err != nil {
		return nil, fmt.Errorf("sqlstore: %w", err)
	}
	config.RuntimeParams["synchronous_commit"] = "on"
	s := &Store{db: stdlib.OpenDB(*config), dialect: &postgresDialect{lease: lease}}
	if err := setUpPostgres(ctx, s.db); err != nil {
		return nil, errors.Join(err, s.db.Close())
	}
	return s, nil
}

// schemaLock is the advisory lock under which the tables are made.
const schemaLock = 7_236_018_411

// setUpPostgres makes the tables, one process at a time.
func setUpPostgres(ctx context.Context, db *sql.DB) error {
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return fmt.Errorf("sqlstore: %w", err)
	}
	if _, err := tx.ExecContext(ctx, `SELECT pg_advisory_xact_lock($1)`, schemaLock); err != nil {
		return errors.Join(fmt.Errorf("sqlstore: %w", err), tx.Rollback())
	}
	err = migrate(ctx, tx, func(stmt string) string { return strings.ReplaceAll(stmt, "BLOB", "BYTEA") })
	if err == nil {
		_, err = tx.ExecContext(ctx, `CREATE TABLE IF NOT EXISTS holdpoint_leases (
			id BYTEA PRIMARY KEY, owner TEXT NOT NULL, expires TIMESTAMPTZ NOT NULL)`)
	}
	if err != nil {
		return errors.Join(err, tx.Rollback())
	}
	return tx.Commit()
}

type postgresDialect struct{ lease time.Duration }

func (d *postgresDialect) now(ctx context.Context, db *sql.DB) (time.Time, error) {
	var now time.Time
	err := db.QueryRowContext(ctx, `SELECT clock_timestamp()`).Scan(&now)
	return now, err
}

func (d *postgresDialect) append(ctx context.Context, db *sql.DB, w *write) (time.Time, error) {
	for {
		at, err := d.try(ctx, db, w)
		if !again(err) || ctx.Err() != nil {
			return at, err
		}
	}
}

// again reports errors by which the server says that it has done nothing and would
// do it now.
func again(err error) bool {
	var failed *pgconn.PgError
	if !errors.As(err, &failed) {
		return false
	}
	return failed.Code == "40001" || failed.Code == "40P01" // serialization failure, deadlock
}

// try writes a batch in one statement, which is a transaction: it moves the session's
// row from the revision that was named, and adds the batch where that moved.
func (d *postgresDialect) try(ctx context.Context, db *sql.DB, w *write) (time.Time, error) {
	f := &w.batch.Flags
	var late any
	if !w.batch.NotAfter.IsZero() {
		late = w.batch.NotAfter
	}
	var row *sql.Row
	switch {
	case w.at == session.Revision{}:
		row = db.QueryRowContext(ctx, `WITH moved AS (
				INSERT INTO holdpoint_sessions (id, incarnation, n, pending, runnable, running, due)
				SELECT $1::bytea, $2::text, $3::bigint, $4::boolean, $5::boolean, $6::boolean, $7::bigint
				WHERE $8::timestamptz IS NULL OR clock_timestamp() <= $8::timestamptz
				ON CONFLICT (id) DO NOTHING RETURNING clock_timestamp() AS at
			) `+addBatch, []byte(w.id), w.incarnation, w.end(), f.Pending, f.Runnable, f.Running, due(f), late,
			w.at.N+1, w.batch.ID, w.entries)
	case w.batch.Delete:
		row = db.QueryRowContext(ctx, `WITH moved AS (
				DELETE FROM holdpoint_sessions WHERE id = $1 AND incarnation = $2 AND n = $3 RETURNING clock_timestamp() AS at
			), gone AS (
				DELETE FROM holdpoint_batches WHERE incarnation = $2 AND EXISTS (SELECT 1 FROM moved)
			) SELECT at FROM moved`, []byte(w.id), w.incarnation, w.at.N)
	default:
		row = db.QueryRowContext(ctx, `WITH moved AS (
				UPDATE holdpoint_sessions SET n = $3, pending = $4, runnable = $5, running = $6, due = $7
				WHERE id = $1 AND incarnation = $2 AND n = $9::bigint - 1
					AND ($8::timestamptz IS NULL OR clock_timestamp() <= $8::timestamptz)
				RETURNING clock_timestamp() AS at
			) `+addBatch, []byte(w.id), w.incarnation, w.end(), f.Pending, f.Runnable, f.Running, due(f), late,
			w.at.N+1, w.batch.ID, w.entries)
	}
	var at time.Time
	err := row.Scan(&at)
	if errors.Is(err, sql.ErrNoRows) {
		return at, errMoved
	}
	return at, err
}

const addBatch = `INSERT INTO holdpoint_batches (incarnation, first, id, at, entries)
	SELECT $2::text, $9::bigint, $10::text, (extract(epoch FROM moved.at) * 1000000)::bigint, $11::bytea FROM moved
	RETURNING to_timestamp(at / 1000000.0)`
