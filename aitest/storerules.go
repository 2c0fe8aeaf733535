package aitest

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/holdpoint/ai/session"
)

func (t *storeTest) roundTrip() {
	digits := `{"n":9007199254740993,"e":1.0e2,"s":"<&\u2028é"}`
	at := t.write(t.one, "s", session.Revision{}, batch("b1", `{"a":1}`, digits))
	t.write(t.one, "s", at, batch("b2", `{}`))
	log := t.holds(t.other, "s", `{"a":1}`, digits, `{}`)
	if log.Revision.Incarnation != at.Incarnation {
		t.Fatalf("the incarnation read is not that of the receipt")
	}
	if log.Batches[0].ID != "b1" || log.Batches[1].ID != "b2" {
		t.Fatalf("the batches are %q and %q", log.Batches[0].ID, log.Batches[1].ID)
	}
	if log.Now.Before(log.Batches[0].At) {
		t.Fatalf("a batch was written at %s, which is after now, %s", log.Batches[0].At, log.Now)
	}
}

func (t *storeTest) conflict() {
	at := t.write(t.one, "s", session.Revision{}, batch("b1", `{"a":1}`, `{"a":2}`))
	for _, wrong := range []session.Revision{
		{}, {Incarnation: at.Incarnation, N: 1}, {Incarnation: at.Incarnation, N: 3}, {Incarnation: "other", N: 2},
	} {
		t.refused(session.ErrConflict, t.other, "s", wrong, batch("b2", `{"b":1}`))
	}
	t.refused(session.ErrConflict, t.one, "none", at, batch("b3", `{"b":1}`))
	t.holds(t.one, "s", `{"a":1}`, `{"a":2}`)
}

func (t *storeTest) readAfterConflict() {
	at := t.write(t.one, "s", session.Revision{}, batch("b1", `{"a":1}`))
	t.holds(t.other, "s", `{"a":1}`)
	t.write(t.one, "s", at, batch("b2", `{"a":2}`))
	t.refused(session.ErrConflict, t.other, "s", at, batch("b3", `{"a":3}`))
	t.holds(t.other, "s", `{"a":1}`, `{"a":2}`)
}

func (t *storeTest) sameBatch() {
	b := batch("b1", `{"a":1}`)
	at := t.write(t.one, "s", session.Revision{}, b)
	t.refused(session.ErrConflict, t.one, "s", session.Revision{}, b)
	t.write(t.one, "s", at, batch("b2", `{"a":2}`))
	t.refused(session.ErrConflict, t.one, "s", at, batch("b2", `{"a":2}`))
	t.holds(t.other, "s", `{"a":1}`, `{"a":2}`)
}

func (t *storeTest) race() {
	at := session.Revision{}
	for round := range 5 {
		var won, lost atomic.Int32
		var all sync.WaitGroup
		for i := range 16 {
			store := []Store{t.one, t.other}[i%2]
			all.Go(func() {
				_, err := store.Append(t.Context(), "s", at, batch(fmt.Sprint(round, "-", i), fmt.Sprintf(`{"by":%d}`, i), `{}`))
				switch {
				case err == nil:
					won.Add(1)
				case errors.Is(err, session.ErrConflict):
					lost.Add(1)
				default:
					t.Errorf("append: %v", err)
				}
			})
		}
		all.Wait()
		if won.Load() != 1 || won.Load()+lost.Load() != 16 {
			t.Fatalf("of 16 appends at one revision %d were written and %d were conflicts", won.Load(), lost.Load())
		}
		log, err := t.one.Read(t.Context(), "s", session.Revision{})
		if err != nil {
			t.Fatalf("read: %v", err)
		}
		at = log.Revision
		if want := uint64(2 * (round + 1)); at.N != want {
			t.Fatalf("the log has %d entries; it should have %d", at.N, want)
		}
	}
}

func (t *storeTest) recreated() {
	old := t.write(t.one, "s", session.Revision{}, batch("b1", `{"a":1}`))
	gone := batch("b2", `{"gone":true}`)
	gone.Delete = true
	t.write(t.one, "s", old, gone)
	if _, err := t.other.Read(t.Context(), "s", session.Revision{}); !errors.Is(err, session.ErrNotFound) {
		t.Fatalf("read of a deleted session: got %v; it should be ErrNotFound", err)
	}
	t.refused(session.ErrConflict, t.other, "s", old, batch("b3", `{"a":2}`))
	next := t.write(t.other, "s", session.Revision{}, batch("b4", `{"a":3}`))
	if next.Incarnation == old.Incarnation {
		t.Fatalf("a session that was made again has the incarnation of the one before")
	}
	t.refused(session.ErrConflict, t.one, "s", old, batch("b5", `{"a":4}`))
	t.holds(t.one, "s", `{"a":3}`)
	if _, err := t.one.Read(t.Context(), "s", old); !errors.Is(err, session.ErrConflict) {
		t.Fatalf("read behind a revision of another incarnation: got %v; it should be ErrConflict", err)
	}
}

func (t *storeTest) missing() {
	if _, err := t.one.Read(t.Context(), "none", session.Revision{}); !errors.Is(err, session.ErrNotFound) {
		t.Fatalf("read: got %v; it should be ErrNotFound", err)
	}
}

func (t *storeTest) tooLate() {
	late := batch("b1", `{"a":1}`)
	late.NotAfter = time.Now().Add(-time.Hour)
	t.refused(session.ErrTooLate, t.one, "s", session.Revision{}, late)
	early := batch("b2", `{"a":2}`)
	early.NotAfter = time.Now().Add(time.Hour)
	at := t.write(t.one, "s", session.Revision{}, early)
	t.refused(session.ErrTooLate, t.one, "s", at, late)
	// A conflict says more than the time: what was decided before has won.
	t.refused(session.ErrConflict, t.one, "s", session.Revision{}, late)
	t.holds(t.one, "s", `{"a":2}`)
}

func (t *storeTest) ids() {
	list := []string{
		"a", "A", "../a", "a/../b", "a/b", ".", "..", "a b", "ä", "a\x00b", "%61", "CON", "a.log", strings.Repeat("x", 1000),
		strings.Repeat("x", 999) + "y", "a:b", "'; drop table", "_", "%_",
	}
	for i, id := range list {
		t.write(t.one, id, session.Revision{}, batch("b", fmt.Sprintf(`{"i":%d}`, i)))
	}
	for i, id := range list {
		t.holds(t.other, id, fmt.Sprintf(`{"i":%d}`, i))
	}
	seen := t.list(&session.Query{})
	for _, id := range list {
		if !seen[id] {
			t.Fatalf("the list of all sessions leaves out %.40q", id)
		}
	}
}

func (t *storeTest) large() {
	long := `{"text":"` + strings.Repeat("long ", 400_000) + `"}`
	at := t.write(t.one, "s", session.Revision{}, batch("b1", `{"a":1}`, long))
	t.write(t.one, "s", at, batch("b2", `{"a":2}`))
	t.holds(t.other, "s", `{"a":1}`, long, `{"a":2}`)
}

func (t *storeTest) readAfter() {
	at := t.write(t.one, "s", session.Revision{}, batch("b1", `{"a":1}`, `{"a":2}`))
	end := t.write(t.one, "s", at, batch("b2", `{"a":3}`))
	log, err := t.other.Read(t.Context(), "s", at)
	if err != nil || len(log.Batches) != 1 || log.Batches[0].ID != "b2" || log.Revision != end {
		t.Fatalf("a read behind the first batch: got %+v, %v; it should be the second batch", log, err)
	}
	if log, err = t.other.Read(t.Context(), "s", end); err != nil || len(log.Batches) != 0 || log.Revision != end {
		t.Fatalf("a read behind the end: got %+v, %v; it should be empty", log, err)
	}
}

func (t *storeTest) lists() {
	asks := t.flagged("asks", session.Revision{}, session.Flags{Pending: true})
	t.flagged("waits", session.Revision{}, session.Flags{Runnable: true})
	t.flagged("runs", session.Revision{}, session.Flags{Running: true})
	t.flagged("done", session.Revision{}, session.Flags{})
	for _, tt := range []struct {
		query session.Query
		want  string
	}{
		{session.Query{Pending: true}, "asks"},
		{session.Query{Runnable: true}, "waits"},
		{session.Query{Running: true}, "runs"},
		{session.Query{Runnable: true, Running: true}, "runs waits"},
		{session.Query{}, "asks done runs waits"},
	} {
		t.named(&tt.query, tt.want)
	}
	asks = t.flagged("asks", asks, session.Flags{})
	t.named(&session.Query{Pending: true}, "")
	t.flagged("asks", asks, session.Flags{Pending: true, Runnable: true})
	t.named(&session.Query{Pending: true}, "asks")
	t.named(&session.Query{Runnable: true}, "asks waits")
}

func (t *storeTest) pages() {
	const n = 60
	for i := range n {
		t.flagged(fmt.Sprintf("s%03d", i), session.Revision{}, session.Flags{Pending: i%2 == 0, Running: i%2 == 1})
	}
	for _, limit := range []int{1, 7, 30, 31, 1000} {
		page, err := t.one.List(t.Context(), &session.Query{Pending: true, Limit: limit})
		if err != nil || len(page.IDs) != min(limit, n/2) {
			t.Fatalf("list: a page of at most %d has %v, %v", limit, page, err)
		}
		if seen := t.list(&session.Query{Pending: true, Limit: limit}); len(seen) != n/2 {
			t.Fatalf("list: pages of %d name %d sessions; it should be %d", limit, len(seen), n/2)
		}
	}
}

func (t *storeTest) due() {
	now := time.Now().UTC().Truncate(time.Second)
	t.flagged("soon", session.Revision{}, session.Flags{Pending: true, Due: now.Add(time.Minute)})
	t.flagged("later", session.Revision{}, session.Flags{Pending: true, Due: now.Add(time.Hour)})
	t.flagged("never", session.Revision{}, session.Flags{Pending: true})
	t.named(&session.Query{Pending: true, DueBefore: now.Add(time.Minute + time.Millisecond)}, "soon")
	t.named(&session.Query{Pending: true, DueBefore: now.Add(2 * time.Hour)}, "soon later")
	t.named(&session.Query{Pending: true, DueBefore: now}, "")
}

func (t *storeTest) deleted() {
	at := t.flagged("s", session.Revision{}, session.Flags{Pending: true, Runnable: true, Running: true})
	gone := batch("gone", `{}`)
	gone.Delete = true
	t.write(t.one, "s", at, gone)
	t.named(&session.Query{Pending: true, Runnable: true, Running: true}, "")
	t.named(&session.Query{}, "")
}

func (t *storeTest) claims() {
	first, err := t.one.Claim(t.Context(), "s")
	if err != nil {
		t.Fatalf("claim: %v", err)
	}
	for _, store := range []Store{t.one, t.other} {
		if _, err := store.Claim(t.Context(), "s"); !errors.Is(err, session.ErrBusy) {
			t.Fatalf("claim of a session that is held: got %v; it should be ErrBusy", err)
		}
	}
	if err := first.Held(t.Context()); err != nil {
		t.Fatalf("a claim that was not released is not held: %v", err)
	}
	another, err := t.other.Claim(t.Context(), "another")
	if err != nil {
		t.Fatalf("claim of another session: %v", err)
	}
	for range 2 {
		if err := errors.Join(first.Release(t.Context()), another.Release(t.Context())); err != nil {
			t.Fatalf("release: %v", err)
		}
	}
	second, err := t.other.Claim(t.Context(), "s")
	if err != nil {
		t.Fatalf("claim after a release: %v", err)
	}
	if second.Before() != session.OwnerGone {
		t.Fatalf("whoever released the session is %q; it should be %q", second.Before(), session.OwnerGone)
	}
	if err := second.Release(t.Context()); err != nil {
		t.Fatalf("release: %v", err)
	}
}

func (t *storeTest) claimRace() {
	for range 5 {
		var mu sync.Mutex
		var held []session.Claim
		var all sync.WaitGroup
		for i := range 16 {
			store := []Store{t.one, t.other}[i%2]
			all.Go(func() {
				c, err := store.Claim(t.Context(), "s")
				if err == nil {
					mu.Lock()
					defer mu.Unlock()
					held = append(held, c)
				} else if !errors.Is(err, session.ErrBusy) {
					t.Errorf("claim: %v", err)
				}
			})
		}
		all.Wait()
		if len(held) != 1 {
			t.Fatalf("of 16 who claimed a session %d got it", len(held))
		}
		if err := held[0].Release(t.Context()); err != nil {
			t.Fatalf("release: %v", err)
		}
	}
}

func (t *storeTest) ended() {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := t.one.Append(ctx, "s", session.Revision{}, batch("b", `{}`))
	_, readErr := t.one.Read(ctx, "s", session.Revision{})
	_, listErr := t.one.List(ctx, &session.Query{})
	for name, err := range map[string]error{"append": err, "read": readErr, "list": listErr} {
		if err == nil || errors.Is(err, session.ErrConflict) || errors.Is(err, session.ErrNotFound) {
			t.Fatalf("%s with a context that has ended: got %v", name, err)
		}
	}
}
