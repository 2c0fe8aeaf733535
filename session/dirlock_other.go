//go:build !unix

package session

import (
	"errors"
	"os"
)

var errNoLocks = errors.New("session: DirStore needs the file locks of Unix")

func lockable() error { return errNoLocks }

func flock(*os.File) error { return errNoLocks }
