package session

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"
)

// storeTimeout bounds how long an append that must not be lost is tried.
const storeTimeout = 30 * time.Second

// StoreError is a failure of the store that left facts unsaved: a call has ended,
// and the log does not say so. Pass it to Manager.Save once the store is back.
type StoreError struct {
	// Session is the session's id.
	Session string
	// Entries are what could not be saved.
	Entries []json.RawMessage
	// Err is what the store said.
	Err error
}

// Error says what was lost for now.
func (e *StoreError) Error() string {
	return fmt.Sprintf("session: %d entries of session %q could not be saved: %v", len(e.Entries), e.Session, e.Err)
}

// Unwrap returns what the store said.
func (e *StoreError) Unwrap() error { return e.Err }

// committer writes the entries of one run. It owns the revision, and commits for
// all goroutines of the run, several at once where they come together.
type committer struct {
	store Store
	owner string // "" for whoever writes without a claim

	mu      sync.Mutex // guards state, and all below
	state   *state
	base    int               // how many claims the log held before this run's
	buffer  []json.RawMessage // entries that are in the state, and go with the next batch
	waiting []*commit
	writing bool
	stale   bool  // the state may have run ahead of the log
	dead    error // a store failure after which nothing may start
}

// commit is one batch on its way.
type commit struct {
	entries  []*entry
	notAfter time.Time
	remove   bool // the session
	owned    bool // only while the claim on record is this run's
	// admit is asked, with the state that the batch would be added to, whether it
	// may be. Nil means that it may in any case.
	admit func(s *state) error
	done  chan error
}

// errLost: the session was claimed by somebody else.
var errLost = fmt.Errorf("%w: the claim on the session was lost", ErrBusy)

// view runs a function on the state, which it must not keep.
func (w *committer) view(read func(s *state) error) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	return read(w.state)
}

// append writes a batch and returns once it is in the log, or is known not to be.
func (w *committer) append(ctx context.Context, c *commit) error {
	// A write that was begun is seen through: nobody would know what became of it.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), storeTimeout)
	defer cancel()
	c.done = make(chan error, 1)
	w.mu.Lock()
	w.waiting = append(w.waiting, c)
	if w.writing {
		w.mu.Unlock()
		return <-c.done
	}
	w.writing = true
	for len(w.waiting) > 0 {
		next := w.waiting
		w.waiting = nil
		w.write(ctx, next)
	}
	w.writing = false
	w.mu.Unlock()
	return <-c.done
}

// write commits one after the other. It is called with the lock held, and gives it
// up while the store works.
func (w *committer) write(ctx context.Context, commits []*commit) {
	for len(commits) > 0 {
		group := w.group(commits)
		commits = commits[len(group):]
		err := w.writeGroup(ctx, group)
		for _, c := range group {
			c.done <- err
		}
	}
}

// group takes the commits at the head that can share a batch.
func (w *committer) group(commits []*commit) []*commit {
	plain := func(c *commit) bool { return c.admit == nil && c.notAfter.IsZero() && !c.remove }
	n := 1
	for n < len(commits) && plain(commits[0]) && plain(commits[n]) && commits[0].owned == commits[n].owned {
		n++
	}
	return commits[:n]
}

// writeGroup writes commits as one batch, again at the new end where somebody else
// wrote in between. What was buffered goes in front.
func (w *committer) writeGroup(ctx context.Context, group []*commit) error {
	for {
		if w.stale {
			if err := w.reload(ctx, "", 0); err != nil {
				return err
			}
		}
		if w.state.newer != nil {
			return w.state.newer
		}
		if group[0].owned && !w.state.ownedBy(w.owner) {
			return errLost
		}
		if admit := group[0].admit; admit != nil {
			if err := admit(w.state); err != nil {
				return err
			}
		}
		batch, err := w.newBatch(group)
		if err != nil || len(batch.Entries) == 0 {
			return err
		}
		moved, err := w.tryAppend(ctx, batch)
		if !moved {
			return err
		}
	}
}

// tryAppend appends a batch, and finds out what happened where the store does not
// say. It reports whether the log had moved on, so that nothing was written.
func (w *committer) tryAppend(ctx context.Context, batch *Batch) (moved bool, err error) {
	at, buffered := w.state.revision, len(w.buffer)
	if err := w.state.foresee(batch, buffered); err != nil {
		return false, errors.Join(err, w.reload(ctx, "", 0))
	}
	for tries := 0; ; tries++ {
		w.mu.Unlock()
		receipt, err := w.store.Append(ctx, w.state.id, at, batch)
		w.mu.Lock()
		if err == nil {
			w.state.revision, w.buffer = receipt.Revision, w.buffer[buffered:]
			return false, nil
		}
		if failed := w.reload(ctx, batch.ID, buffered); failed != nil {
			return false, errors.Join(err, failed)
		}
		switch {
		case w.state.seen[batch.ID]:
			return false, nil // its answer got lost
		case errors.Is(err, ErrConflict):
			return true, nil
		case errors.Is(err, ErrTooLate) || w.state.revision != at || tries == 1:
			return false, err
		}
		if err := w.state.foresee(batch, buffered); err != nil {
			return false, err
		}
	}
}

// reload reads the whole log again, since the state has run ahead of it. What is
// buffered is put on top again, but for what went with a batch that is there.
func (w *committer) reload(ctx context.Context, batch string, buffered int) error {
	w.stale = true
	id := w.state.id
	w.mu.Unlock()
	s, err := load(ctx, w.store, id)
	w.mu.Lock()
	if err != nil {
		return err
	}
	w.state, w.stale = s, false
	if s.seen[batch] {
		w.buffer = w.buffer[buffered:]
	}
	if n := len(s.owners); n > w.base && s.owners[n-1] != w.owner {
		w.salvage() // somebody else has claimed the session
	}
	for _, data := range w.buffer {
		if err := s.add(data); err != nil {
			return err
		}
	}
	return nil
}

// salvage keeps of the buffer what is a fact whoever owns the session.
func (w *committer) salvage() {
	w.buffer = slices.DeleteFunc(w.buffer, func(data json.RawMessage) bool {
		e, err := decodeEntry(data)
		return err != nil || e.Kind != kindOutcome
	})
}

// later applies entries now and writes them with the next batch. It is for what is
// followed by another write, or by flush, before anything is waited for.
func (w *committer) later(entries ...*entry) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	now := time.Now()
	for _, e := range entries {
		data, err := e.encode(now)
		if err != nil {
			return err
		}
		if err := w.state.add(data); err != nil {
			return err
		}
		w.buffer = append(w.buffer, data)
	}
	return nil
}

// flush writes what is buffered.
func (w *committer) flush(ctx context.Context) error {
	w.mu.Lock()
	empty := len(w.buffer) == 0
	w.mu.Unlock()
	if empty {
		return nil
	}
	return w.appendFact(ctx, &commit{})
}

// load reads a session. One that is not there is empty.
func load(ctx context.Context, store Store, id string) (*state, error) {
	s := newState(id)
	log, err := store.Read(ctx, id, Revision{})
	if errors.Is(err, ErrNotFound) {
		return s, nil
	}
	if err != nil {
		return nil, err
	}
	return s, s.take(log)
}

// foresee applies a batch before it is in the log, all but the first entries, which
// were applied before, and says with its flags where the session will stand.
func (s *state) foresee(batch *Batch, applied int) error {
	for _, data := range batch.Entries[applied:] {
		if err := s.add(data); err != nil {
			return err
		}
	}
	batch.Flags = s.flags()
	return nil
}

// add applies an entry as it will be read back.
func (s *state) add(data json.RawMessage) error {
	e, err := decodeEntry(data)
	if err != nil {
		return err
	}
	return s.apply(e)
}

func (w *committer) newBatch(group []*commit) (*Batch, error) {
	batch := &Batch{ID: rand.Text(), NotAfter: group[0].notAfter, Delete: group[0].remove}
	batch.Entries = slices.Clone(w.buffer)
	now := time.Now()
	for _, c := range group {
		for _, e := range c.entries {
			data, err := e.encode(now)
			if err != nil {
				return nil, err
			}
			batch.Entries = append(batch.Entries, data)
		}
	}
	return batch, nil
}

// appendFact writes what has happened and must not be lost: it is tried again for
// a while. After that nothing may start.
func (w *committer) appendFact(ctx context.Context, c *commit) error {
	limit := time.NewTimer(storeTimeout)
	defer limit.Stop()
	wait := 20 * time.Millisecond
	for {
		err := w.append(ctx, c)
		if err == nil || errors.Is(err, ErrNotFound) || errors.Is(err, errLost) || errors.Is(err, ErrNewerFormat) || errors.Is(err, ErrCorrupt) {
			return err
		}
		select {
		case <-limit.C:
			return w.lose(c.entries, err)
		case <-time.After(wait):
			wait = min(2*wait, time.Second)
		}
	}
}

// lose hands out what could not be written. Of what was buffered with it, only
// outcomes can be written later.
func (w *committer) lose(entries []*entry, err error) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.salvage()
	failed := &StoreError{Session: w.state.id, Entries: w.buffer, Err: err}
	w.buffer = nil
	for _, e := range entries {
		if data, err := e.encode(e.At); err == nil && e.Kind == kindOutcome {
			failed.Entries = append(failed.Entries, data)
		}
	}
	w.dead = failed
	return failed
}
