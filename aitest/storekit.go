package aitest

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/holdpoint/ai/session"
)

// StoreKit is what TestStore needs to know of a store.
type StoreKit struct {
	// Open returns handles on one new, empty store, as two processes would have
	// them: two values that share nothing but the data. A store that lives in one
	// process returns the same value twice. They end with the test.
	Open func(t testing.TB) (one, other Store)
}

// Store is a session.Store that is a session.Locker too, as stores are.
type Store interface {
	session.Store
	session.Locker
}

// TestStore runs the contract of session.Store and session.Locker.
func TestStore(t *testing.T, kit *StoreKit) {
	t.Helper()
	for _, rule := range storeRules {
		t.Run(rule.name, func(t *testing.T) {
			t.Parallel()
			one, other := kit.Open(t)
			rule.check(&storeTest{TB: t, one: one, other: other})
		})
	}
}

// storeTest is one rule being checked on one store.
type storeTest struct {
	testing.TB
	one, other Store
}

// storeRules are the rules of the contract, each with its check.
var storeRules = []struct {
	name  string
	check func(t *storeTest)
}{
	{"a batch is read back whole, in order", (*storeTest).roundTrip},
	{"a revision that is not the log's is a conflict, and nothing is written", (*storeTest).conflict},
	{"a read after a conflict shows what caused it", (*storeTest).readAfterConflict},
	{"the same batch is not written twice", (*storeTest).sameBatch},
	{"of many appends at one revision one is written", (*storeTest).race},
	{"a session that is made again is another one", (*storeTest).recreated},
	{"a session that is not there is not found", (*storeTest).missing},
	{"a batch is not written too late", (*storeTest).tooLate},
	{"ids are kept apart", (*storeTest).ids},
	{"large batches are kept", (*storeTest).large},
	{"a read begins where it is told to", (*storeTest).readAfter},
	{"lists leave no session out", (*storeTest).lists},
	{"lists come in pages", (*storeTest).pages},
	{"lists know what is due", (*storeTest).due},
	{"a deleted session is in no list", (*storeTest).deleted},
	{"a claim keeps others out until it is released", (*storeTest).claims},
	{"of many who claim one gets it", (*storeTest).claimRace},
	{"a context that has ended ends the call", (*storeTest).ended},
}

func batch(id string, entries ...string) *session.Batch {
	b := &session.Batch{ID: id}
	for _, e := range entries {
		b.Entries = append(b.Entries, json.RawMessage(e))
	}
	return b
}

// write appends and must succeed.
func (t *storeTest) write(s session.Store, id string, at session.Revision, b *session.Batch) session.Revision {
	t.Helper()
	r, err := s.Append(t.Context(), id, at, b)
	if err != nil {
		t.Fatalf("append to %q at revision %d: %v", id, at.N, err)
	}
	if want := at.N + uint64(len(b.Entries)); r.Revision.N != want && !b.Delete {
		t.Fatalf("append to %q: the receipt says revision %d; it should be %d", id, r.Revision.N, want)
	}
	if r.Revision.Incarnation == "" {
		t.Fatalf("append to %q: the receipt has no incarnation", id)
	}
	return r.Revision
}

// refused appends and must fail in that way.
func (t *storeTest) refused(want error, s session.Store, id string, at session.Revision, b *session.Batch) {
	t.Helper()
	if _, err := s.Append(t.Context(), id, at, b); !errors.Is(err, want) {
		t.Fatalf("append to %q at revision %d: got %v; it should be %v", id, at.N, err, want)
	}
}

// holds reads a log, which must hold these entries.
func (t *storeTest) holds(s session.Store, id string, entries ...string) *session.Log {
	t.Helper()
	log, err := s.Read(t.Context(), id, session.Revision{})
	if err != nil {
		t.Fatalf("read %q: %v", id, err)
	}
	var got []string
	next := uint64(1)
	for _, b := range log.Batches {
		if b.First != next {
			t.Fatalf("read %q: a batch begins with entry %d; it should be %d", id, b.First, next)
		}
		next += uint64(len(b.Entries))
		for _, e := range b.Entries {
			got = append(got, string(e))
		}
	}
	if strings.Join(got, "\n") != strings.Join(entries, "\n") {
		t.Fatalf("read %q: got %.300q; it should be %.300q", id, got, entries)
	}
	if log.Revision.N != uint64(len(entries)) {
		t.Fatalf("read %q: the revision is %d; it should be %d", id, log.Revision.N, len(entries))
	}
	return log
}

// list collects the ids of a query, page by page.
func (t *storeTest) list(q *session.Query) map[string]bool {
	t.Helper()
	seen := make(map[string]bool)
	query := *q
	for range 10_000 {
		page, err := t.other.List(t.Context(), &query)
		if err != nil {
			t.Fatalf("list: %v", err)
		}
		for _, id := range page.IDs {
			if seen[id] {
				t.Fatalf("list: session %q is named twice", id)
			}
			seen[id] = true
		}
		if query.After = page.Next; query.After == "" {
			return seen
		}
	}
	t.Fatalf("list: the pages do not end")
	return nil
}

// flagged writes a session with these flags.
func (t *storeTest) flagged(id string, at session.Revision, f session.Flags) session.Revision {
	t.Helper()
	b := batch(fmt.Sprint(id, at.N), `{"f":1}`)
	b.Flags = f
	return t.write(t.one, id, at, b)
}

func (t *storeTest) named(q *session.Query, want string) {
	t.Helper()
	seen := t.list(q)
	for _, id := range strings.Fields(want) {
		if !seen[id] {
			t.Fatalf("list %+v: session %q is left out", *q, id)
		}
		delete(seen, id)
	}
	if len(seen) > 0 {
		t.Fatalf("list %+v: it also names %v", *q, seen)
	}
}
