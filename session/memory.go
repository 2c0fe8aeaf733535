package session

import (
	"context"
	"crypto/rand"
	"fmt"
	"slices"
	"sync"
	"time"
)

// MemoryStore is a Store and a Locker that keeps everything in memory: for tests,
// and for what need not survive the process. The zero value is empty. It is safe
// for concurrent use.
type MemoryStore struct {
	mu   sync.Mutex
	logs map[string]*memoryLog
	held map[string]bool
}

type memoryLog struct {
	revision Revision
	batches  []*StoredBatch
	flags    Flags
}

// Append writes a batch.
func (m *MemoryStore) Append(ctx context.Context, id string, at Revision, batch *Batch) (*Receipt, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	now := time.Now()
	l := m.logs[id]
	switch {
	case l == nil && at != (Revision{}), l != nil && at != l.revision:
		return nil, fmt.Errorf("%w: session %q is not at revision %d", ErrConflict, id, at.N)
	case !batch.NotAfter.IsZero() && now.After(batch.NotAfter):
		return nil, fmt.Errorf("%w: session %q: the batch had to be written before %s", ErrTooLate, id, batch.NotAfter)
	}
	if batch.Delete {
		delete(m.logs, id)
		return &Receipt{Revision: at, At: now}, nil
	}
	if l == nil {
		l = &memoryLog{revision: Revision{Incarnation: rand.Text()}}
		if m.logs == nil {
			m.logs = make(map[string]*memoryLog)
		}
		m.logs[id] = l
	}
	stored := &StoredBatch{ID: batch.ID, At: now, First: l.revision.N + 1}
	for _, e := range batch.Entries {
		stored.Entries = append(stored.Entries, slices.Clone(e))
	}
	l.batches = append(l.batches, stored)
	l.revision.N += uint64(len(batch.Entries))
	l.flags = batch.Flags
	return &Receipt{Revision: l.revision, At: now}, nil
}

// Read returns what is in a log behind a revision.
func (m *MemoryStore) Read(ctx context.Context, id string, after Revision) (*Log, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	l := m.logs[id]
	if l == nil {
		return nil, notFound(id)
	}
	if after.Incarnation != "" && after.Incarnation != l.revision.Incarnation {
		return nil, fmt.Errorf("%w: session %q is another one than that of the revision", ErrConflict, id)
	}
	log := &Log{Revision: l.revision, Now: time.Now()}
	for _, b := range l.batches {
		if b.First > after.N {
			c := *b
			c.Entries = slices.Clone(b.Entries)
			log.Batches = append(log.Batches, &c)
		}
	}
	return log, nil
}

// List lists sessions by their flags.
func (m *MemoryStore) List(ctx context.Context, q *Query) (*Page, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	var ids []string
	for id, l := range m.logs {
		if id > q.After && q.matches(&l.flags) {
			ids = append(ids, id)
		}
	}
	slices.Sort(ids)
	return q.page(ids), nil
}

// matches reports whether a query names a session with these flags.
func (q *Query) matches(f *Flags) bool {
	all := !q.Pending && !q.Runnable && !q.Running
	if !all && !(q.Pending && f.Pending || q.Runnable && f.Runnable || q.Running && f.Running) {
		return false
	}
	return q.DueBefore.IsZero() || !f.Due.IsZero() && f.Due.Before(q.DueBefore)
}

// defaultLimit bounds a page whose query does not.
const defaultLimit = 100

// page cuts a page from sorted ids.
func (q *Query) page(ids []string) *Page {
	limit := q.Limit
	if limit <= 0 {
		limit = defaultLimit
	}
	if len(ids) <= limit {
		return &Page{IDs: ids}
	}
	return &Page{IDs: ids[:limit], Next: ids[limit-1]}
}

// Claim takes a session.
func (m *MemoryStore) Claim(ctx context.Context, id string) (Claim, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.held[id] {
		return nil, fmt.Errorf("%w: session %q is being run", ErrBusy, id)
	}
	if m.held == nil {
		m.held = make(map[string]bool)
	}
	m.held[id] = true
	return &memoryClaim{store: m, id: id}, nil
}

type memoryClaim struct {
	store *MemoryStore
	id    string
	once  sync.Once
}

func (c *memoryClaim) Held(ctx context.Context) error { return ctx.Err() }
func (c *memoryClaim) Before() Owner                  { return OwnerGone }

func (c *memoryClaim) Release(context.Context) error {
	c.once.Do(func() {
		c.store.mu.Lock()
		defer c.store.mu.Unlock()
		delete(c.store.held, c.id)
	})
	return nil
}
