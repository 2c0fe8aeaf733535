package session

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
)

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
