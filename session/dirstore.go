package session

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/holdpoint/ai/internal/oslock"
)

// DirStore is a Store and a Locker in a folder: one file to a session, to which
// checked lines are appended. Processes of one machine may share the folder; it must
// be on a local file system. What Append acknowledged survives the death of the
// machine as far as the disk keeps what it has synced.
//
// A line that was cut off at the end of a file, when a process died, is dropped by
// the next one to append. A line that can't be read anywhere else is ErrCorrupt.
//
// It needs the file locks of Unix; elsewhere Open says that it can't.
type DirStore struct {
	dir  string
	dead sync.Map // the names of logs whose disk failed; see write
	// durable stands between the store and its files in tests. Nil is the file.
	durable func(f *os.File) durable
}

// durable is what a store writes to.
type durable interface {
	WriteAt(p []byte, off int64) (int, error)
	Truncate(size int64) error
	Sync() error
}

// The folders of a store. Logs and marks are spread over subfolders.
const (
	logsDir   = "logs"
	openDir   = "open"   // a file for each session that has a flag set
	claimsDir = "claims" // a file for each session that is run, locked by its owner
)

// OpenDir opens the store in a folder, which it makes where it is not there.
func OpenDir(dir string) (*DirStore, error) {
	if err := oslock.Supported(); err != nil {
		return nil, fmt.Errorf("session: %w", err)
	}
	for _, name := range []string{logsDir, openDir, claimsDir} {
		if err := os.MkdirAll(filepath.Join(dir, name), 0o700); err != nil {
			return nil, fmt.Errorf("session: %w", err)
		}
	}
	return &DirStore{dir: dir}, syncDir(dir)
}

// Append writes a batch as one line, and returns once it is on the disk.
func (d *DirStore) Append(ctx context.Context, id string, at Revision, batch *Batch) (*Receipt, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	f, err := d.lockLog(ctx, id, at == Revision{})
	if err != nil {
		return nil, err
	}
	defer f.close()
	if err, failed := d.dead.Load(f.name); failed {
		return nil, fmt.Errorf("session: the log of session %q failed before: %w", id, err.(error))
	}
	last, err := f.last()
	if err != nil {
		return nil, err
	}
	if at != last.revision() {
		return nil, fmt.Errorf("%w: session %q is not at revision %d", ErrConflict, id, at.N)
	}
	now := time.Now().UTC()
	if !batch.NotAfter.IsZero() && now.After(batch.NotAfter) {
		return nil, fmt.Errorf("%w: session %q: the batch had to be written before %s", ErrTooLate, id, batch.NotAfter)
	}
	if at.Incarnation == "" {
		at.Incarnation = rand.Text()
	}
	next := &frame{
		Session: id, Incarnation: at.Incarnation, ID: batch.ID, At: now, First: at.N + 1,
		Entries: batch.Entries, Flags: batch.Flags, Deleted: batch.Delete,
	}
	if err := d.write(f, next, last); err != nil {
		return nil, err
	}
	end := Revision{Incarnation: at.Incarnation, N: at.N + uint64(len(batch.Entries))}
	return &Receipt{Revision: end, At: now}, nil
}

// write appends a line. The session is marked before it has a flag and unmarked
// after it has none, so a list may name too many, never too few.
func (d *DirStore) write(f *logFile, next, last *frame) error {
	if next.open() && (last == nil || !last.open()) {
		if err := d.mark(next.Session); err != nil {
			return err
		}
	}
	if err := f.append(next); err != nil {
		// What the system still shows of the line may never reach the disk, so no
		// append of this process may rest on it.
		d.dead.Store(f.name, err)
		return err
	}
	if last == nil {
		if err := f.settleName(); err != nil {
			return err
		}
	}
	if !next.open() {
		d.unmark(next.Session) // a mark too many does no harm
	}
	if next.Deleted {
		return f.remove()
	}
	return nil
}

// Read returns what is in a log behind a revision.
func (d *DirStore) Read(ctx context.Context, id string, after Revision) (*Log, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	data, err := os.ReadFile(d.logName(id))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, notFound(id)
	}
	if err != nil {
		return nil, fmt.Errorf("session: %w", err)
	}
	frames, err := decodeFrames(data)
	if err != nil {
		return nil, fmt.Errorf("session %q: %w", id, err)
	}
	for i := len(frames) - 1; i >= 0; i-- {
		if frames[i].Deleted {
			frames = frames[i+1:] // a session of that id that was there before
			break
		}
	}
	if len(frames) == 0 {
		return nil, notFound(id)
	}
	log := &Log{Revision: frames[len(frames)-1].revision(), Now: time.Now()}
	if after.Incarnation != "" && after.Incarnation != log.Revision.Incarnation {
		return nil, fmt.Errorf("%w: session %q is another one than that of the revision", ErrConflict, id)
	}
	for _, f := range frames {
		if f.First > after.N {
			log.Batches = append(log.Batches, &StoredBatch{ID: f.ID, At: f.At, First: f.First, Entries: f.Entries})
		}
	}
	return log, nil
}

// Claim takes a session: its owner holds a lock that the system lets go when the
// owner dies, so that a claim that was left behind proves that its owner is gone.
func (d *DirStore) Claim(ctx context.Context, id string) (Claim, error) {
	return ClaimFile(ctx, filepath.Join(d.dir, claimsDir), id)
}
