package aitest_test

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/holdpoint/ai/aitest"
	"github.com/holdpoint/ai/session"
)

// brokenStore is a store that breaks one rule.
type brokenStore struct {
	*session.MemoryStore
	append func(s *session.MemoryStore, ctx context.Context, id string, at session.Revision, b *session.Batch) (*session.Receipt, error)
	read   func(log *session.Log)
	list   func(q *session.Query, page *session.Page)
	claim  func(s *session.MemoryStore, ctx context.Context, id string) (session.Claim, error)
	deaf   bool // to contexts
}

func (b *brokenStore) Append(ctx context.Context, id string, at session.Revision, batch *session.Batch) (*session.Receipt, error) {
	if b.deaf {
		ctx = context.WithoutCancel(ctx)
	}
	if b.append != nil {
		return b.append(b.MemoryStore, ctx, id, at, batch)
	}
	return b.MemoryStore.Append(ctx, id, at, batch)
}

func (b *brokenStore) Read(ctx context.Context, id string, after session.Revision) (*session.Log, error) {
	log, err := b.MemoryStore.Read(ctx, id, after)
	if err == nil && b.read != nil {
		b.read(log)
	}
	return log, err
}

func (b *brokenStore) List(ctx context.Context, q *session.Query) (*session.Page, error) {
	page, err := b.MemoryStore.List(ctx, q)
	if err == nil && b.list != nil {
		b.list(q, page)
	}
	return page, err
}

func (b *brokenStore) Claim(ctx context.Context, id string) (session.Claim, error) {
	if b.claim != nil {
		return b.claim(b.MemoryStore, ctx, id)
	}
	return b.MemoryStore.Claim(ctx, id)
}

// latest appends at the end, wherever that is.
func latest(s *session.MemoryStore, ctx context.Context, id string, b *session.Batch) (*session.Receipt, error) {
	at := session.Revision{}
	if log, err := s.Read(ctx, id, at); err == nil {
		at = log.Revision
	}
	return s.Append(ctx, id, at, b)
}

// looseClaim is a claim that nobody has to wait for.
type looseClaim struct{ before session.Owner }

func (looseClaim) Held(context.Context) error    { return nil }
func (c looseClaim) Before() session.Owner       { return c.before }
func (looseClaim) Release(context.Context) error { return nil }

// Each rule is broken by one store, and the kit notices.
func TestBrokenStores(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	incarnations := map[string]string{}
	tests := map[string]func() *brokenStore{
		"a batch is read back whole, in order": func() *brokenStore {
			return &brokenStore{read: func(log *session.Log) {
				for _, b := range log.Batches {
					b.Entries = b.Entries[:1]
				}
			}}
		},
		"a revision that is not the log's is a conflict, and nothing is written": func() *brokenStore {
			return &brokenStore{append: func(s *session.MemoryStore, ctx context.Context, id string, at session.Revision, b *session.Batch) (*session.Receipt, error) {
				r, err := s.Append(ctx, id, at, b)
				if errors.Is(err, session.ErrConflict) && at.N > 0 {
					_, _ = latest(s, ctx, id, b) // written, and denied
				}
				return r, err
			}}
		},
		"a read after a conflict shows what caused it": func() *brokenStore {
			stale := map[int]*session.Log{}
			n := 0
			return &brokenStore{read: func(log *session.Log) {
				if n++; n == 1 {
					c := *log
					stale[1] = &c
					return
				}
				*log = *stale[1]
			}}
		},
		"the same batch is not written twice": func() *brokenStore {
			return &brokenStore{append: func(s *session.MemoryStore, ctx context.Context, id string, at session.Revision, b *session.Batch) (*session.Receipt, error) {
				r, err := s.Append(ctx, id, at, b)
				if errors.Is(err, session.ErrConflict) && b.ID == "b2" {
					return latest(s, ctx, id, b)
				}
				return r, err
			}}
		},
		"of many appends at one revision one is written": func() *brokenStore {
			return &brokenStore{append: func(s *session.MemoryStore, ctx context.Context, id string, at session.Revision, b *session.Batch) (*session.Receipt, error) {
				return latest(s, ctx, id, b)
			}}
		},
		"a session that is made again is another one": func() *brokenStore {
			return &brokenStore{append: func(s *session.MemoryStore, ctx context.Context, id string, at session.Revision, b *session.Batch) (*session.Receipt, error) {
				r, err := s.Append(ctx, id, at, b)
				if err == nil {
					mu.Lock()
					defer mu.Unlock()
					if incarnations[id] == "" {
						incarnations[id] = r.Revision.Incarnation
					}
					r.Revision.Incarnation = incarnations[id]
				}
				return r, err
			}}
		},
		"a batch is not written too late": func() *brokenStore {
			return &brokenStore{append: func(s *session.MemoryStore, ctx context.Context, id string, at session.Revision, b *session.Batch) (*session.Receipt, error) {
				c := *b
				c.NotAfter = time.Time{}
				return s.Append(ctx, id, at, &c)
			}}
		},
		"ids are kept apart": func() *brokenStore {
			return &brokenStore{append: func(s *session.MemoryStore, ctx context.Context, id string, at session.Revision, b *session.Batch) (*session.Receipt, error) {
				return s.Append(ctx, strings.ToLower(id), at, b)
			}}
		},
		"large batches are kept": func() *brokenStore {
			return &brokenStore{append: func(s *session.MemoryStore, ctx context.Context, id string, at session.Revision, b *session.Batch) (*session.Receipt, error) {
				for _, e := range b.Entries {
					if len(e) > 1<<20 {
						return nil, errors.New("too large")
					}
				}
				return s.Append(ctx, id, at, b)
			}}
		},
		"lists leave no session out": func() *brokenStore {
			return &brokenStore{list: func(q *session.Query, page *session.Page) {
				if q.Running {
					page.IDs = nil
				}
			}}
		},
		"lists come in pages": func() *brokenStore {
			return &brokenStore{list: func(_ *session.Query, page *session.Page) { page.Next = "" }}
		},
		"lists know what is due": func() *brokenStore {
			return &brokenStore{list: func(q *session.Query, page *session.Page) {
				if !q.DueBefore.IsZero() {
					page.IDs = append(page.IDs, "never")
				}
			}}
		},
		"a claim keeps others out until it is released": func() *brokenStore {
			return &brokenStore{claim: func(s *session.MemoryStore, ctx context.Context, id string) (session.Claim, error) {
				return looseClaim{session.OwnerGone}, nil
			}}
		},
		"of many who claim one gets it": func() *brokenStore {
			return &brokenStore{claim: func(s *session.MemoryStore, ctx context.Context, id string) (session.Claim, error) {
				return looseClaim{session.OwnerGone}, nil
			}}
		},
		"a context that has ended ends the call": func() *brokenStore { return &brokenStore{deaf: true} },
	}
	caught := 0
	for name, check := range aitest.StoreRules {
		if tests[name] == nil {
			continue
		}
		store := tests[name]()
		store.MemoryStore = &session.MemoryStore{}
		failures := runFake(t, func(tb *fakeTB) { check(tb, store, store) })
		require.NotEmpty(t, failures, name)
		caught++
		sound := &session.MemoryStore{}
		require.Empty(t, runFake(t, func(tb *fakeTB) { check(tb, sound, sound) }), name)
	}
	require.Equal(t, len(tests), caught, "each store breaks a rule that there is")
}
