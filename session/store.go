package session

import (
	"context"
	"encoding/json"
	"errors"
	"time"
)

// Errors of stores and of the protocol on top of them, to be found with errors.Is.
var (
	// ErrConflict: the log has moved on, and what was to be appended provably was
	// not. From Decide it means that the asking was decided before: see ConflictError.
	ErrConflict = errors.New("session: conflict")
	// ErrBusy: somebody else is running the session.
	ErrBusy = errors.New("session: busy")
	// ErrNotFound: there is no such session, or it was deleted.
	ErrNotFound = errors.New("session: not found")
	// ErrTooLate: the batch may not be written any more. See Batch.NotAfter.
	ErrTooLate = errors.New("session: too late")
	// ErrCorrupt: the log can't be read as it was written. Nothing runs on it.
	ErrCorrupt = errors.New("session: corrupt log")
	// ErrNewerFormat: the log holds what only a newer version can read. It may be
	// read and listed, and nothing is appended.
	ErrNewerFormat = errors.New("session: log of a newer format")
)

// A Store keeps logs, one to a session. It is safe for concurrent use, also by
// several processes where it says so.
//
//  1. Append writes a batch whole or not at all, and only where the log is at the
//     revision it names. ErrConflict means that nothing was written; a read that
//     follows shows why. Any other error means that nobody knows.
//  2. The zero revision creates the session. The store mints its incarnation, so
//     that a session created again under the same id is another one.
//  3. A batch that Append has acknowledged survives the death of the process, and
//     of the machine where the store promises that.
//  4. A batch whose last entry deletes the session removes it: Read then says
//     ErrNotFound and its revision is a conflict for ever.
//  5. Read returns what is in the log behind a revision, in order. A revision of
//     another incarnation is ErrConflict.
//  6. List may name sessions whose flags have just changed; it leaves none out.
type Store interface {
	Append(ctx context.Context, id string, at Revision, batch *Batch) (*Receipt, error)
	Read(ctx context.Context, id string, after Revision) (*Log, error)
	List(ctx context.Context, query *Query) (*Page, error)
}

// A Locker knows who runs a session and whether they are alive, which does not
// follow from the log. Stores come with one.
//
//  1. Claim takes a session that nobody holds. One that a living owner holds is
//     ErrBusy. It takes no notice of whether the session exists.
//  2. A claim is held until it is released or its owner dies.
type Locker interface {
	Claim(ctx context.Context, id string) (Claim, error)
}

// Claim is the right to run a session. Its methods are safe for concurrent use.
type Claim interface {
	// Held returns nil while the claim is certainly held. It is asked directly
	// before each call starts.
	Held(ctx context.Context) error
	// Before says what is known of whoever held the session before.
	Before() Owner
	// Release gives the claim up. The second time does nothing.
	Release(ctx context.Context) error
}

// Owner is what is known of the earlier owner of a session.
type Owner string

// The states of an earlier owner.
const (
	OwnerGone   Owner = "gone"   // it has died or let go: it runs nothing any more
	OwnerSilent Owner = "silent" // it has not been heard of; it may still run
)

// Revision is how far a log has come. The zero value is a session that is not there.
type Revision struct {
	// Incarnation tells a session from others that had its id.
	Incarnation string `json:"incarnation"`
	// N counts the entries.
	N uint64 `json:"n"`
}

// Receipt is what Append answers once a batch is in the log.
type Receipt struct {
	// Revision is how far the log has come with it.
	Revision Revision
	// At is when it was written, on the store's clock.
	At time.Time
}

// Batch is entries that are written together.
type Batch struct {
	// ID is minted by whoever writes, to find the batch by where the answer of the
	// store got lost.
	ID string
	// Entries are JSON objects, at least one.
	Entries []json.RawMessage
	// Flags say where the session stands once the batch is written.
	Flags Flags
	// NotAfter is the time, on the store's clock, after which the batch may not be
	// written any more, which is ErrTooLate. Zero means no bound.
	NotAfter time.Time
	// Delete says that the batch deletes the session.
	Delete bool
}

// Flags say where a session stands, for lists.
type Flags struct {
	// Pending: somebody is asked something.
	Pending bool
	// Runnable: there is something to run that nobody has to be asked about.
	Runnable bool
	// Running: somebody has claimed it.
	Running bool
	// Due is the earliest deadline of what is asked. Zero where there is none.
	Due time.Time
}

// Log is a session's log, or the end of one.
type Log struct {
	// Revision is how far it has come.
	Revision Revision
	// Batches are in the order in which they were written.
	Batches []*StoredBatch
	// Now is the time on the store's clock.
	Now time.Time
}

// StoredBatch is a batch as it was written.
type StoredBatch struct {
	// ID is the batch's.
	ID string
	// At is when it was written, on the store's clock.
	At time.Time
	// First is the number of its first entry, counted from 1.
	First uint64
	// Entries are as they were passed in.
	Entries []json.RawMessage
}

// Query says which sessions to list: those for which one of the flags that are
// set here is set. The zero value lists all of them.
type Query struct {
	// Pending, Runnable and Running are as in Flags.
	Pending, Runnable, Running bool
	// DueBefore restricts the list to sessions that are due before that time. Zero
	// means no restriction.
	DueBefore time.Time
	// After is the Next of the page before. Empty means the first page.
	After string
	// Limit bounds the page. Zero means 100.
	Limit int
}

// Page is a piece of a list, in an order that the store keeps.
type Page struct {
	// IDs are the ids of sessions.
	IDs []string
	// Next is passed on as After for the next page. Empty means that this is the last.
	Next string
}
