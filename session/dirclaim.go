package session

import (
	"context"
	"fmt"

	"github.com/holdpoint/ai/internal/oslock"
)

// lockClaim is a claim that is a file lock: it is the process's until it lets it go
// or dies.
type lockClaim struct{ lock *oslock.Lock }

func (c *lockClaim) Held(ctx context.Context) error {
	if !c.lock.Held() {
		return fmt.Errorf("%w: the claim was released", ErrBusy)
	}
	return ctx.Err()
}

// Before is always gone: its lock would not have been free.
func (c *lockClaim) Before() Owner { return OwnerGone }

func (c *lockClaim) Release(context.Context) error { return c.lock.Remove() }

// ClaimFile claims a session for as long as the process lives, by a lock on a file
// of its own in a folder that is there. It is for stores whose processes are all on
// one machine.
func ClaimFile(ctx context.Context, dir, id string) (Claim, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	lock, err := oslock.Try(claimName(dir, id))
	if err == oslock.ErrLocked {
		return nil, fmt.Errorf("%w: session %q is being run", ErrBusy, id)
	}
	if err != nil {
		return nil, fmt.Errorf("session: %w", err)
	}
	return &lockClaim{lock}, nil
}
