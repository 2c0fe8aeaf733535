//go:build !unix

package oslock

import (
	"errors"
	"os"
)

var errNoLocks = errors.New("this needs the file locks of Unix")

// Supported says why files can't be locked here, or nil.
func Supported() error { return errNoLocks }

func flock(*os.File) error { return errNoLocks }
