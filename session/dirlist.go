package session

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"strings"
)

// maxName bounds the readable form of an id as a file name.
const maxName = 180

// fileName is an id as a file name: the same on file systems that fold case, and
// none that leads elsewhere. Long ids are hashed; the log holds them in full.
func fileName(id string) string {
	var b strings.Builder
	for i := range len(id) {
		c := id[i]
		switch {
		case 'a' <= c && c <= 'z', '0' <= c && c <= '9', c == '_', c == '-':
			b.WriteByte(c)
		default:
			fmt.Fprintf(&b, "%%%02x", c)
		}
	}
	if b.Len() == 0 {
		return "%"
	}
	if b.Len() > maxName {
		return "%%" + hash256(id)
	}
	return b.String()
}

func hash256(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])
}

func claimName(dir, id string) string { return filepath.Join(dir, fileName(id)) }

// spread is the path of a session below one of the store's folders.
func (d *DirStore) spread(folder, id string) string {
	name := fileName(id)
	return filepath.Join(d.dir, folder, hash256(name)[:2], name)
}

func (d *DirStore) logName(id string) string { return d.spread(logsDir, id) + ".log" }

// mark notes that a session has a flag set, before it has.
func (d *DirStore) mark(id string) error {
	name := d.spread(openDir, id)
	if err := makeDir(filepath.Dir(name)); err != nil {
		return err
	}
	if err := os.WriteFile(name, nil, 0o600); err != nil {
		return fmt.Errorf("session: %w", err)
	}
	return syncDir(filepath.Dir(name))
}

func (d *DirStore) unmark(id string) { os.Remove(d.spread(openDir, id)) }

// List lists sessions by their flags, in the order of the file names. It looks at
// those that have a flag set; a query without flags looks at all.
func (d *DirStore) List(ctx context.Context, q *Query) (*Page, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	folder, suffix := openDir, ""
	if !q.Pending && !q.Runnable && !q.Running {
		folder, suffix = logsDir, ".log"
	}
	limit := q.Limit
	if limit <= 0 {
		limit = defaultLimit
	}
	page := &Page{}
	for at, err := range d.files(folder, suffix, q.After) {
		if err == nil {
			err = ctx.Err()
		}
		if err != nil {
			return nil, err
		}
		if len(page.IDs) == limit {
			return page, nil
		}
		id, ok, err := d.listed(q, at)
		if err != nil {
			return nil, err
		}
		if ok {
			page.IDs, page.Next = append(page.IDs, id), at
		}
	}
	page.Next = ""
	return page, nil
}

// files yields the files of a folder behind one of them, each as SUBFOLDER/NAME, in
// order. It reads one subfolder at a time.
func (d *DirStore) files(folder, suffix, after string) iter.Seq2[string, error] {
	return func(yield func(string, error) bool) {
		shards, err := names(filepath.Join(d.dir, folder))
		if err != nil {
			yield("", err)
			return
		}
		for _, shard := range shards {
			if shard+"0" <= after && !strings.HasPrefix(after, shard) {
				continue
			}
			files, err := names(filepath.Join(d.dir, folder, shard))
			if err != nil {
				yield("", err)
				return
			}
			for _, file := range files {
				at := shard + "/" + strings.TrimSuffix(file, suffix)
				if at > after && !yield(at, nil) {
					return
				}
			}
		}
	}
}

// names lists a folder in the order of the names.
func names(dir string) ([]string, error) {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("session: %w", err)
	}
	list := make([]string, len(entries))
	for i, e := range entries {
		list[i] = e.Name()
	}
	return list, nil
}

// listed looks at the end of a log, to see whether a query names it.
func (d *DirStore) listed(q *Query, at string) (id string, ok bool, err error) {
	name := filepath.Join(d.dir, logsDir, filepath.FromSlash(at)+".log")
	f, err := os.Open(name)
	if errors.Is(err, fs.ErrNotExist) {
		return "", false, nil // marked, and not yet or no longer there
	}
	if err != nil {
		return "", false, fmt.Errorf("session: %w", err)
	}
	defer f.Close()
	last, err := (&logFile{file: f, name: name}).last()
	if err != nil || last == nil || last.Deleted {
		return "", false, err
	}
	return last.Session, q.matches(&last.Flags), nil
}
