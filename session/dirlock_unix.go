//go:build unix

package session

import (
	"errors"
	"fmt"
	"os"
	"syscall"
)

func lockable() error { return nil }

// flock locks an open file, without waiting.
func flock(f *os.File) error {
	for {
		err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
		switch {
		case err == nil:
			return nil
		case errors.Is(err, syscall.EINTR):
			continue
		case errors.Is(err, syscall.EWOULDBLOCK):
			return errLocked
		}
		return fmt.Errorf("session: %s can't be locked: %w", f.Name(), err)
	}
}
