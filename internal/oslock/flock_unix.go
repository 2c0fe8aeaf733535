//go:build unix

package oslock

import (
	"errors"
	"fmt"
	"os"
	"syscall"
)

// Supported says why files can't be locked here, or nil.
func Supported() error { return nil }

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
			return ErrLocked
		}
		return fmt.Errorf("%s can't be locked: %w", f.Name(), err)
	}
}
