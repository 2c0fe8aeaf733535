// Package oslock locks files for as long as their owner lives: the operating system
// lets a lock go when the process that holds it dies, so a lock that is free proves
// that nobody holds it any more.
package oslock

import (
	"context"
	"errors"
	"os"
	"sync"
	"time"
)

// ErrLocked says that somebody else has locked the file.
var ErrLocked = errors.New("the file is locked")

// Lock is a locked file. It is safe for concurrent use.
type Lock struct {
	name string

	mu   sync.Mutex
	file *os.File // nil once released
}

// Try locks a file of that name, which it makes where it is not there. One that
// somebody else has locked, in this process or another, is ErrLocked.
func Try(name string) (*Lock, error) {
	for {
		f, err := os.OpenFile(name, os.O_RDWR|os.O_CREATE, 0o600)
		if err != nil {
			return nil, err
		}
		if err := flock(f); err != nil {
			f.Close()
			return nil, err
		}
		if current(f, name) {
			return &Lock{name: name, file: f}, nil
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

// Wait is Try that waits for the lock.
func Wait(ctx context.Context, name string) (*Lock, error) {
	wait := 200 * time.Microsecond
	for {
		l, err := Try(name)
		if !errors.Is(err, ErrLocked) {
			return l, err
		}
		select {
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		case <-time.After(wait):
			wait = min(2*wait, 20*time.Millisecond)
		}
	}
}

// File is the locked file, to read and write. It is nil once the lock is released.
func (l *Lock) File() *os.File {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.file
}

// Held reports whether the lock was not released.
func (l *Lock) Held() bool { return l.File() != nil }

// Unlock lets the lock go and leaves the file. The second time does nothing.
func (l *Lock) Unlock() error { return l.release(false) }

// Remove lets the lock go and removes the file, while it is locked, so that nobody
// can lock it after. The second time does nothing.
func (l *Lock) Remove() error { return l.release(true) }

func (l *Lock) release(remove bool) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.file == nil {
		return nil
	}
	var err error
	if remove {
		err = os.Remove(l.name)
	}
	if closed := l.file.Close(); err == nil {
		err = closed
	}
	l.file = nil
	return err
}
