package session

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"time"
)

// errLocked: somebody else has locked the file.
var errLocked = errors.New("session: the file is locked")

// tryLock opens a file, which it makes where it is not there, and locks it.
func tryLock(name string) (*os.File, error) {
	for {
		f, err := os.OpenFile(name, os.O_RDWR|os.O_CREATE, 0o600)
		if err != nil {
			return nil, fmt.Errorf("session: %w", err)
		}
		if err := flock(f); err != nil {
			f.Close()
			return nil, err
		}
		if current(f, name) {
			return f, nil
		}
		f.Close() // somebody removed it before it was locked
	}
}

// current reports whether a name still leads to an open file.
func current(f *os.File, name string) bool {
	mine, err := f.Stat()
	if err != nil {
		return false
	}
	there, err := os.Stat(name)
	return err == nil && os.SameFile(mine, there)
}

// waitLock is tryLock that waits. Appends hold the lock for as long as a write
// takes.
func waitLock(ctx context.Context, name string) (*os.File, error) {
	wait := 200 * time.Microsecond
	for {
		f, err := tryLock(name)
		if !errors.Is(err, errLocked) {
			return f, err
		}
		select {
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		case <-time.After(wait):
			wait = min(2*wait, 20*time.Millisecond)
		}
	}
}

// syncDir makes the names in a folder durable.
func syncDir(name string) error {
	f, err := os.Open(name)
	if err != nil {
		return fmt.Errorf("session: %w", err)
	}
	defer f.Close()
	if err := f.Sync(); err != nil {
		return fmt.Errorf("session: %w", err)
	}
	return nil
}

// exists reports whether there is a file of that name.
func exists(name string) bool {
	_, err := os.Stat(name)
	return !errors.Is(err, fs.ErrNotExist)
}
