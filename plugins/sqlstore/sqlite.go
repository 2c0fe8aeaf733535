package sqlstore

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"time"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"

	"github.com/holdpoint/ai/session"
)

// OpenSQLite opens the store in a SQLite file, which it makes where it is not there.
// Beside it stand SQLite's own files, and a folder whose name ends in -claims. All
// must be on a local file system.
//
// What Append acknowledged is on the disk: the database is in WAL mode, synchronous
// is FULL, and both are read back on each connection.
func OpenSQLite(ctx context.Context, path string) (*Store, error) {
	file, err := filepath.Abs(path)
	if err != nil {
		return nil, fmt.Errorf("sqlstore: %w", err)
	}
	claims := file + "-claims"
	if err := os.MkdirAll(claims, 0o700); err != nil {
		return nil, fmt.Errorf("sqlstore: %w", err)
	}
	s := &Store{db: sql.OpenDB(&sqliteConnector{file}), dialect: &sqliteDialect{claims: claims}}
	if err := setUpSQLite(ctx, s.db); err != nil {
		return nil, errors.Join(err, s.db.Close())
	}
	return s, nil
}

// setUpSQLite makes the tables, one process at a time.
func setUpSQLite(ctx context.Context, db *sql.DB) error {
	return retryBusy(ctx, func() error {
		tx, err := db.BeginTx(ctx, nil) // which is immediate
		if err != nil {
			return fmt.Errorf("sqlstore: %w", err)
		}
		if err := migrate(ctx, tx, func(stmt string) string { return stmt }); err != nil {
			return errors.Join(err, tx.Rollback())
		}
		return tx.Commit()
	})
}

// sqliteConnector opens connections that are set up as the store needs them.
type sqliteConnector struct{ file string }

// settings are what each connection is set to, and what it must then say of itself.
var settings = []struct{ name, value, read string }{
	{"busy_timeout", "5000", "5000"},
	{"journal_mode", "WAL", "wal"},
	{"synchronous", "FULL", "2"},
	{"foreign_keys", "ON", "1"},
}

func (c *sqliteConnector) Driver() driver.Driver { return &sqlite.Driver{} }

func (c *sqliteConnector) Connect(ctx context.Context) (driver.Conn, error) {
	query := url.Values{"_txlock": {"immediate"}}
	for _, s := range settings {
		query.Add("_pragma", s.name+"("+s.value+")")
	}
	dsn := (&url.URL{Scheme: "file", Opaque: (&url.URL{Path: c.file}).EscapedPath(), RawQuery: query.Encode()}).String()
	conn, err := c.Driver().Open(dsn)
	if err != nil {
		return nil, err
	}
	for _, s := range settings {
		if err := verify(ctx, conn, s.name, s.read); err != nil {
			return nil, errors.Join(err, conn.Close())
		}
	}
	return conn, nil
}

// verify reads a setting back.
func verify(ctx context.Context, conn driver.Conn, name, want string) error {
	rows, err := conn.(driver.QueryerContext).QueryContext(ctx, "PRAGMA "+name, nil)
	if err != nil {
		return err
	}
	defer rows.Close()
	value := make([]driver.Value, len(rows.Columns()))
	if err := rows.Next(value); err != nil {
		return err
	}
	if got := fmt.Sprint(value[0]); got != want {
		return fmt.Errorf("sqlstore: SQLite has %s set to %s; it must be %s", name, got, want)
	}
	return nil
}

// retryBusy runs a function again for as long as the database is busy. That is never
// a conflict: it says nothing about the log.
func retryBusy(ctx context.Context, run func() error) error {
	for {
		err := run()
		var failed *sqlite.Error
		if !errors.As(err, &failed) || failed.Code()&0xff != sqlite3.SQLITE_BUSY {
			return err
		}
		select {
		case <-ctx.Done():
			return errors.Join(context.Cause(ctx), err)
		case <-time.After(5 * time.Millisecond):
		}
	}
}

type sqliteDialect struct{ claims string }

func (d *sqliteDialect) now(context.Context, *sql.DB) (time.Time, error) { return time.Now(), nil }

func (d *sqliteDialect) claim(ctx context.Context, _ *sql.DB, id string) (session.Claim, error) {
	return session.ClaimFile(ctx, d.claims, id)
}

func (d *sqliteDialect) append(ctx context.Context, db *sql.DB, w *write) (time.Time, error) {
	var at time.Time
	err := retryBusy(ctx, func() (err error) {
		at, err = d.try(ctx, db, w)
		return err
	})
	return at, err
}

func (d *sqliteDialect) try(ctx context.Context, db *sql.DB, w *write) (time.Time, error) {
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return time.Time{}, err
	}
	now := time.Now()
	if err := writeBatch(ctx, tx, w, now); err != nil {
		return time.Time{}, errors.Join(err, tx.Rollback())
	}
	return now, tx.Commit()
}

// writeBatch writes within a transaction that keeps other writers out.
func writeBatch(ctx context.Context, tx *sql.Tx, w *write, now time.Time) error {
	if late := w.batch.NotAfter; !late.IsZero() && now.After(late) {
		return errMoved
	}
	moved, err := advance(ctx, tx, w)
	if err != nil {
		return err
	}
	if !moved {
		return errMoved
	}
	if w.batch.Delete {
		_, err = tx.ExecContext(ctx, `DELETE FROM holdpoint_batches WHERE incarnation = $1`, w.incarnation)
		return err
	}
	_, err = tx.ExecContext(ctx, `INSERT INTO holdpoint_batches (incarnation, first, id, at, entries) VALUES ($1, $2, $3, $4, $5)`,
		w.incarnation, w.at.N+1, w.batch.ID, now.UnixMicro(), w.entries)
	return err
}

// advance moves the session's row from the revision that was named to the next one.
// It is false where the row is not at that revision.
func advance(ctx context.Context, tx *sql.Tx, w *write) (bool, error) {
	f := &w.batch.Flags
	var res sql.Result
	var err error
	switch {
	case w.at == session.Revision{}:
		res, err = tx.ExecContext(ctx, `INSERT INTO holdpoint_sessions (id, incarnation, n, pending, runnable, running, due)
			VALUES ($1, $2, $3, $4, $5, $6, $7) ON CONFLICT (id) DO NOTHING`,
			[]byte(w.id), w.incarnation, w.end(), f.Pending, f.Runnable, f.Running, due(f))
	case w.batch.Delete:
		res, err = tx.ExecContext(ctx, `DELETE FROM holdpoint_sessions WHERE id = $1 AND incarnation = $2 AND n = $3`,
			[]byte(w.id), w.at.Incarnation, w.at.N)
	default:
		res, err = tx.ExecContext(ctx, `UPDATE holdpoint_sessions SET n = $1, pending = $2, runnable = $3, running = $4, due = $5
			WHERE id = $6 AND incarnation = $7 AND n = $8`,
			w.end(), f.Pending, f.Runnable, f.Running, due(f), []byte(w.id), w.at.Incarnation, w.at.N)
	}
	if err != nil {
		return false, err
	}
	n, err := res.RowsAffected()
	return n == 1, err
}
