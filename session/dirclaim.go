package session

import (
	"context"
	"fmt"
	"os"
	"sync"
)

// dirClaim is a claim on a session of a DirStore: a locked file.
type dirClaim struct {
	name string

	mu   sync.Mutex
	file *os.File // nil once released
}

// Held needs no look at the disk: the lock is the process's for as long as the
// file is open.
func (c *dirClaim) Held(ctx context.Context) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.file == nil {
		return fmt.Errorf("%w: the claim was released", ErrBusy)
	}
	return ctx.Err()
}

// Before is always gone: its lock would not have been free.
func (c *dirClaim) Before() Owner { return OwnerGone }

// Release removes the file while it is locked, so that nobody can lock it after.
func (c *dirClaim) Release(context.Context) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.file == nil {
		return nil
	}
	err := os.Remove(c.name)
	if closed := c.file.Close(); err == nil {
		err = closed
	}
	c.file = nil
	return err
}
