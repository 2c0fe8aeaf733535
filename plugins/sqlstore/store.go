// Package sqlstore keeps the sessions of package session in a SQL database: SQLite
// for the processes of one machine, PostgreSQL for those of many.
//
//	store, err := sqlstore.OpenSQLite(ctx, "sessions.db", nil)
//
// A store makes its tables where they are not there, and migrates those of an older
// version. It is a session.Store and a session.Locker.
//
// On SQLite an owner is known to be gone by a file lock that it held; on PostgreSQL
// it holds a lease on the database's clock, and one that lapses is silent: it may
// still run.
package sqlstore

import (
	"bytes"
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/holdpoint/ai/session"
)

// Store is a store in a database. It is safe for concurrent use, also by several
// processes on the same database.
type Store struct {
	db      *sql.DB
	dialect dialect
}

// dialect is what differs between databases.
type dialect interface {
	// append writes a batch where the log is at the revision, and says when.
	append(ctx context.Context, db *sql.DB, w *write) (time.Time, error)
	// now is the database's clock.
	now(ctx context.Context, db *sql.DB) (time.Time, error)
	// claim takes a session.
	claim(ctx context.Context, db *sql.DB, id string) (session.Claim, error)
}

// write is a batch on its way into a log.
type write struct {
	id          string
	at          session.Revision
	incarnation string // of the log after it
	batch       *session.Batch
	entries     []byte // all entries, one JSON array
}

// end is how far the log has come with the batch.
func (w *write) end() uint64 { return w.at.N + uint64(len(w.batch.Entries)) }

// errMoved: the log is not at the revision that was named, or the batch is too late.
// Which of the two, a look at the log tells.
var errMoved = errors.New("sqlstore: the log has moved on")

// Close closes the database. Claims are to be released before.
func (s *Store) Close() error { return s.db.Close() }

// Append writes a batch, in one transaction.
func (s *Store) Append(ctx context.Context, id string, at session.Revision, batch *session.Batch) (*session.Receipt, error) {
	entries, err := join(batch.Entries)
	if err != nil {
		return nil, err
	}
	w := &write{id: id, at: at, incarnation: at.Incarnation, batch: batch, entries: entries}
	if w.incarnation == "" {
		w.incarnation = newIncarnation()
	}
	written, err := s.dialect.append(ctx, s.db, w)
	if errors.Is(err, errMoved) {
		return nil, s.refused(ctx, w)
	}
	if err != nil {
		return nil, fmt.Errorf("sqlstore: append: %w", err)
	}
	return &session.Receipt{Revision: session.Revision{Incarnation: w.incarnation, N: w.end()}, At: written}, nil
}

// refused says why nothing was written.
func (s *Store) refused(ctx context.Context, w *write) error {
	now, err := s.revision(ctx, w.id)
	if err != nil {
		return err
	}
	if now == w.at && !w.batch.NotAfter.IsZero() {
		return fmt.Errorf("%w: session %q: the batch had to be written before %s", session.ErrTooLate, w.id, w.batch.NotAfter)
	}
	return fmt.Errorf("%w: session %q is not at revision %d", session.ErrConflict, w.id, w.at.N)
}

// revision is how far a log has come; the zero revision where there is none.
func (s *Store) revision(ctx context.Context, id string) (session.Revision, error) {
	var r session.Revision
	err := s.db.QueryRowContext(ctx, `SELECT incarnation, n FROM holdpoint_sessions WHERE id = $1`, []byte(id)).Scan(&r.Incarnation, &r.N)
	if errors.Is(err, sql.ErrNoRows) {
		return session.Revision{}, nil
	}
	if err != nil {
		return session.Revision{}, fmt.Errorf("sqlstore: %w", err)
	}
	return r, nil
}

// Read returns what is in a log behind a revision.
func (s *Store) Read(ctx context.Context, id string, after session.Revision) (*session.Log, error) {
	tx, err := s.db.BeginTx(ctx, &sql.TxOptions{ReadOnly: true, Isolation: sql.LevelDefault})
	if err != nil {
		return nil, fmt.Errorf("sqlstore: read: %w", err)
	}
	defer tx.Rollback() //nolint:errcheck // it changes nothing
	log := &session.Log{}
	err = tx.QueryRowContext(ctx, `SELECT incarnation, n FROM holdpoint_sessions WHERE id = $1`, []byte(id)).
		Scan(&log.Revision.Incarnation, &log.Revision.N)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, fmt.Errorf("%w: session %q", session.ErrNotFound, id)
	}
	if err != nil {
		return nil, fmt.Errorf("sqlstore: read: %w", err)
	}
	if after.Incarnation != "" && after.Incarnation != log.Revision.Incarnation {
		return nil, fmt.Errorf("%w: session %q is another one than that of the revision", session.ErrConflict, id)
	}
	if err := readBatches(ctx, tx, log, after.N); err != nil {
		return nil, fmt.Errorf("sqlstore: read: %w", err)
	}
	if log.Now, err = s.dialect.now(ctx, s.db); err != nil {
		return nil, fmt.Errorf("sqlstore: read: %w", err)
	}
	return log, nil
}

// readBatches reads the batches up to the log's revision. What others write meanwhile
// is not looked at.
func readBatches(ctx context.Context, tx *sql.Tx, log *session.Log, after uint64) error {
	rows, err := tx.QueryContext(ctx, `SELECT first, id, at, entries FROM holdpoint_batches
		WHERE incarnation = $1 AND first > $2 AND first <= $3 ORDER BY first`, log.Revision.Incarnation, after, log.Revision.N)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		b := &session.StoredBatch{}
		var micros int64
		var entries []byte
		if err := rows.Scan(&b.First, &b.ID, &micros, &entries); err != nil {
			return err
		}
		b.At = time.UnixMicro(micros).UTC()
		if b.Entries, err = split(entries); err != nil {
			return fmt.Errorf("%w: batch %s: %w", session.ErrCorrupt, b.ID, err)
		}
		log.Batches = append(log.Batches, b)
	}
	return rows.Err()
}

// Claim takes a session.
func (s *Store) Claim(ctx context.Context, id string) (session.Claim, error) {
	return s.dialect.claim(ctx, s.db, id)
}

// join makes one JSON array of entries, whose bytes stay as they are.
func join(entries []json.RawMessage) ([]byte, error) {
	if len(entries) == 0 {
		return nil, errors.New("sqlstore: a batch needs an entry")
	}
	var b bytes.Buffer
	for i, e := range entries {
		if !json.Valid(e) {
			return nil, fmt.Errorf("sqlstore: entry %d of the batch is not JSON", i)
		}
		b.WriteByte("[,"[min(i, 1)])
		b.Write(e)
	}
	b.WriteByte(']')
	return b.Bytes(), nil
}

func split(data []byte) ([]json.RawMessage, error) {
	var entries []json.RawMessage
	if err := json.Unmarshal(data, &entries); err != nil {
		return nil, err
	}
	return entries, nil
}
