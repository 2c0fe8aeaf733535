package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"

	"github.com/holdpoint/ai"
)

// format tells our files from those of others.
const format = "holdpoint-transfer-1"

// state is what has to outlive the program. Accounts and conversation go into
// the same file, so that a crash can't come between a payment and the record
// that it was made.
type state struct {
	Format   string           `json:"format"`
	Accounts map[string]cents `json:"accounts"`
	Messages []*ai.Message    `json:"messages"`
}

func newState() *state {
	return &state{Accounts: map[string]cents{own: 10000, "alice": 5000, "bob": 1250, "eve": 0}}
}

// store keeps the state in a file.
type store struct {
	file string
	data []byte // what the file held when it was last read or written; nil without a file
}

// load reads the file. Where there is none it is a new state. A file that is not
// one of ours is an error and stays as it is.
func (s *store) load() (*state, error) {
	data, err := os.ReadFile(s.file)
	if errors.Is(err, fs.ErrNotExist) {
		return newState(), nil
	}
	if err != nil {
		return nil, fmt.Errorf("read the state: %w", err)
	}
	st := &state{}
	if err = json.Unmarshal(data, st); err == nil {
		err = st.check()
	}
	if err != nil {
		return nil, fmt.Errorf("%s can't be used as a state file: %w; it was not changed: move it away, or choose another with -file", s.file, err)
	}
	s.data = data
	return st, nil
}

func (st *state) check() error {
	if st.Format != format {
		return fmt.Errorf("its format is %q, not %q", st.Format, format)
	}
	if _, ok := st.Accounts[own]; !ok {
		return fmt.Errorf("it has no account %q", own)
	}
	for name, balance := range st.Accounts {
		if balance < 0 {
			return fmt.Errorf("the account of %s holds %v", name, balance)
		}
	}
	if slices.Contains(st.Messages, nil) {
		return errors.New("a message is null")
	}
	if n := len(st.Messages); n > 0 {
		_, err := st.Messages[n-1].Interrupts()
		return err
	}
	return nil
}

// save replaces the file, unless somebody else has done so since it was read.
func (s *store) save(st *state) error {
	st.Format = format
	data, err := json.MarshalIndent(st, "", "\t")
	if err != nil {
		return fmt.Errorf("save the state: %w", err)
	}
	now, err := os.ReadFile(s.file)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("save the state: %w", err)
	}
	if !bytes.Equal(now, s.data) {
		return fmt.Errorf("another program has changed %s: what was done since the last question is not saved, so it did not happen", s.file)
	}
	if err := replace(s.file, data); err != nil {
		return fmt.Errorf("save the state: %w", err)
	}
	s.data = data
	return nil
}

// replace writes a file whole or not at all, also where the power fails: the new
// content is on disk before it gets the name.
func replace(file string, data []byte) error {
	dir := filepath.Dir(file)
	temp, err := os.CreateTemp(dir, filepath.Base(file)+".*.tmp")
	if err != nil {
		return err
	}
	if err = fill(temp, data); err == nil {
		err = os.Rename(temp.Name(), file)
	}
	if err != nil {
		return errors.Join(err, os.Remove(temp.Name()))
	}
	return syncDir(dir)
}

// fill writes and closes a new file.
func fill(f *os.File, data []byte) error {
	_, err := f.Write(data)
	if err == nil {
		err = f.Sync()
	}
	return errors.Join(err, f.Close())
}

// syncDir makes a rename last. Windows has no such call for folders.
func syncDir(dir string) error {
	if runtime.GOOS == "windows" {
		return nil
	}
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}
