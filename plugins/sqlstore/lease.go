package sqlstore

import (
	"context"
	"crypto/rand"
	"database/sql"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/holdpoint/ai/session"
)

// lease is a claim on PostgreSQL: a row that says until when, on the server's clock.
// A goroutine of the claim renews it until it is released.
type lease struct {
	db     *sql.DB
	id     string
	owner  string
	length time.Duration
	before session.Owner

	mu    sync.Mutex
	until time.Time // until when it is certainly held, with the monotonic clock
	lost  error     // why it is not held any more

	stop    context.CancelFunc
	stopped chan struct{}
}

func (d *postgresDialect) claim(ctx context.Context, db *sql.DB, id string) (session.Claim, error) {
	l := &lease{db: db, id: id, owner: rand.Text(), length: d.lease, stopped: make(chan struct{})}
	asked := time.Now()
	var fresh bool
	err := db.QueryRowContext(ctx, `INSERT INTO holdpoint_leases (id, owner, expires)
		VALUES ($1, $2, clock_timestamp() + $3 * interval '1 microsecond')
		ON CONFLICT (id) DO UPDATE SET owner = excluded.owner, expires = excluded.expires
			WHERE holdpoint_leases.expires < clock_timestamp()
		RETURNING xmax = 0`, []byte(id), l.owner, d.lease.Microseconds()).Scan(&fresh)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, fmt.Errorf("%w: session %q is being run", session.ErrBusy, id)
	}
	if err != nil {
		return nil, fmt.Errorf("sqlstore: claim: %w", err)
	}
	// A released lease has no row. One that lapsed was left by somebody who may only
	// have been slow.
	l.before = session.OwnerSilent
	if fresh {
		l.before = session.OwnerGone
	}
	l.until = asked.Add(l.safely())
	renewing, stop := context.WithCancel(context.WithoutCancel(ctx))
	l.stop = stop
	go l.renew(renewing)
	return l, nil
}

// safely is how long the lease counts as held: less than it is, since clocks differ
// in how fast they go.
func (l *lease) safely() time.Duration { return l.length - l.length/10 }

// renew extends the lease until it is released or lost.
func (l *lease) renew(ctx context.Context) {
	defer close(l.stopped)
	tick := time.NewTicker(l.length / 3)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		if !l.extend(ctx) {
			return
		}
	}
}

// extend extends the lease once. It is false where somebody else has it.
func (l *lease) extend(ctx context.Context) bool {
	ctx, cancel := context.WithTimeout(ctx, l.length/3)
	defer cancel()
	asked := time.Now()
	res, err := l.db.ExecContext(ctx, `UPDATE holdpoint_leases SET expires = clock_timestamp() + $3 * interval '1 microsecond'
		WHERE id = $1 AND owner = $2`, []byte(l.id), l.owner, l.length.Microseconds())
	if err != nil {
		return true // the server may be back before the lease ends
	}
	n, err := res.RowsAffected()
	if err != nil {
		return true
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if n == 0 {
		l.lost = fmt.Errorf("%w: somebody else has claimed session %q", session.ErrBusy, l.id)
		return false
	}
	l.until = asked.Add(l.safely())
	return true
}

// Held looks at the clocks: the wall clock too, since the monotonic one stands still
// while a machine sleeps.
func (l *lease) Held(ctx context.Context) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := time.Now()
	switch {
	case l.lost != nil:
		return l.lost
	case now.After(l.until) || now.Round(0).After(l.until.Round(0)):
		return fmt.Errorf("%w: the lease on session %q may have ended", session.ErrBusy, l.id)
	}
	return ctx.Err()
}

// Before is silent where a lease had lapsed.
func (l *lease) Before() session.Owner { return l.before }

// Release removes the lease, so that the next owner knows that this one is gone.
func (l *lease) Release(ctx context.Context) error {
	l.mu.Lock()
	released := l.lost != nil
	if !released {
		l.lost = fmt.Errorf("%w: the claim was released", session.ErrBusy)
	}
	l.mu.Unlock()
	l.stop()
	<-l.stopped
	if released {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, l.length)
	defer cancel()
	if _, err := l.db.ExecContext(ctx, `DELETE FROM holdpoint_leases WHERE id = $1 AND owner = $2`, []byte(l.id), l.owner); err != nil {
		return fmt.Errorf("sqlstore: release: %w", err)
	}
	return nil
}
