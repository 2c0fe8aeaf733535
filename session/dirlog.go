package session

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"hash/crc32"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/holdpoint/ai/internal/oslock"
)

// frame is a line of a log: a batch, and where the session stood after it.
type frame struct {
	Session     string            `json:"session"`
	Incarnation string            `json:"incarnation"`
	ID          string            `json:"batch"`
	At          time.Time         `json:"at"`
	First       uint64            `json:"first"`
	Flags       Flags             `json:"flags"`
	Deleted     bool              `json:"deleted,omitempty"`
	Entries     []json.RawMessage `json:"entries"`
}

// revision is how far the log has come with the frame. There is none without a
// frame, nor behind one that deletes.
func (f *frame) revision() Revision {
	if f == nil || f.Deleted {
		return Revision{}
	}
	return Revision{Incarnation: f.Incarnation, N: f.First - 1 + uint64(len(f.Entries))}
}

func (f *frame) open() bool { return f.Flags.Pending || f.Flags.Runnable || f.Flags.Running }

// A line is the checksum of the JSON in eight hexadecimal digits, a space, the JSON
// on one line, and a line feed.
const sumLen = 9

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

func checksum(data []byte) string { return fmt.Sprintf("%08x ", crc32.Checksum(data, castagnoli)) }

func (f *frame) encode() ([]byte, error) {
	var buf bytes.Buffer
	buf.WriteString("00000000 ")
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(f); err != nil { // which ends with a line feed
		return nil, fmt.Errorf("session: %w", err)
	}
	line := buf.Bytes()
	copy(line, checksum(line[sumLen:len(line)-1]))
	return line, nil
}

// decodeFrame reads a line, without its line feed. It is nil where the line is not
// as it was written.
func decodeFrame(line []byte) *frame {
	if len(line) < sumLen || string(line[:sumLen]) != checksum(line[sumLen:]) {
		return nil
	}
	f := &frame{}
	if json.Unmarshal(line[sumLen:], f) != nil {
		return nil
	}
	return f
}

// decodeFrames reads a whole log. The last line counts only where it is whole: it
// was never acknowledged otherwise.
func decodeFrames(data []byte) ([]*frame, error) {
	var frames []*frame
	for n := 1; len(data) > 0; n++ {
		line, rest, whole := bytes.Cut(data, []byte("\n"))
		f := decodeFrame(line)
		if !whole || f == nil && len(rest) == 0 {
			break
		}
		if f == nil {
			return nil, fmt.Errorf("%w: line %d does not match its checksum", ErrCorrupt, n)
		}
		if err := f.follows(frames); err != nil {
			return nil, fmt.Errorf("line %d: %w", n, err)
		}
		frames, data = append(frames, f), rest
	}
	return frames, nil
}

// follows makes sure that no line is missing before this one.
func (f *frame) follows(frames []*frame) error {
	var last *frame
	if n := len(frames); n > 0 {
		last = frames[n-1]
	}
	before := last.revision()
	if f.First != before.N+1 || before.Incarnation != "" && before.Incarnation != f.Incarnation {
		return fmt.Errorf("%w: it does not follow the line before it", ErrCorrupt)
	}
	return nil
}

// logFile is a log that is locked for appending.
type logFile struct {
	lock *oslock.Lock // nil where it is only read
	file *os.File
	out  durable
	name string
	size int64 // the end of the last whole line
	cut  bool  // there is something behind it
}

// lockLog opens a log for appending. Only the creation of a session makes one.
func (d *DirStore) lockLog(ctx context.Context, id string, create bool) (*logFile, error) {
	name := d.logName(id)
	if !create && !exists(name) {
		return nil, fmt.Errorf("%w: session %q is not there", ErrConflict, id)
	}
	if err := makeDir(filepath.Dir(name)); err != nil {
		return nil, err
	}
	lock, err := oslock.Wait(ctx, name)
	if err != nil {
		return nil, fmt.Errorf("session: %w", err)
	}
	f := lock.File()
	l := &logFile{lock: lock, file: f, out: f, name: name}
	if d.durable != nil {
		l.out = d.durable(f)
	}
	return l, nil
}

// makeDir makes a subfolder, and its name durable.
func makeDir(name string) error {
	if exists(name) {
		return nil
	}
	if err := os.MkdirAll(name, 0o700); err != nil {
		return fmt.Errorf("session: %w", err)
	}
	return syncDir(filepath.Dir(name))
}

// tail is how much of the end of a log is looked at first.
const tail = 16 << 10

// last finds the last whole line, from the end of the file. It is nil where there is
// none.
func (l *logFile) last() (*frame, error) {
	info, err := l.file.Stat()
	if err != nil {
		return nil, fmt.Errorf("session: %w", err)
	}
	size := info.Size()
	for window := int64(tail); ; window *= 4 {
		from := max(0, size-window)
		data := make([]byte, size-from)
		if _, err := l.file.ReadAt(data, from); err != nil && err != io.EOF {
			return nil, fmt.Errorf("session: %w", err)
		}
		f, damaged := l.lastIn(data, from)
		if damaged {
			return nil, fmt.Errorf("%w: %s ends with more than one damaged line", ErrCorrupt, l.name)
		}
		if f != nil || from == 0 {
			return f, nil
		}
	}
}

// lastIn finds the last whole line in the end of a log; nil where it may begin before
// that. Where the very last line is cut off or damaged, it was not acknowledged, and
// the one before it counts: where that is damaged too, so is the log.
func (l *logFile) lastIn(data []byte, from int64) (f *frame, damaged bool) {
	end := len(data)
	for range 2 {
		body := bytes.TrimSuffix(data[:end], []byte("\n"))
		start := bytes.LastIndexByte(body, '\n') + 1
		if start == 0 && from > 0 {
			return nil, false
		}
		if len(body) < end {
			if f := decodeFrame(body[start:]); f != nil {
				l.size, l.cut = from+int64(end), end < len(data)
				return f, false
			}
		}
		if end = start; end == 0 {
			l.size, l.cut = 0, len(data) > 0 // the first line of all was not acknowledged
			return nil, false
		}
	}
	return nil, true
}

// append writes a line behind the last whole one and syncs it. Where that fails,
// nobody knows what is on the disk: the next to append will look.
func (l *logFile) append(f *frame) error {
	line, err := f.encode()
	if err != nil {
		return err
	}
	if l.cut {
		if err := l.out.Truncate(l.size); err != nil {
			return fmt.Errorf("session: %w", err)
		}
	}
	if _, err := l.out.WriteAt(line, l.size); err != nil {
		return fmt.Errorf("session: %w", err)
	}
	if err := l.out.Sync(); err != nil {
		_ = l.out.Truncate(l.size) // as far as it can be taken back
		return fmt.Errorf("session: %w", err)
	}
	return nil
}

// settleName makes the name of a new log durable.
func (l *logFile) settleName() error { return syncDir(filepath.Dir(l.name)) }

// remove takes a deleted log away, while it is locked.
func (l *logFile) remove() error {
	if err := os.Remove(l.name); err != nil {
		return fmt.Errorf("session: %w", err)
	}
	return syncDir(filepath.Dir(l.name))
}

func (l *logFile) close() { _ = l.lock.Unlock() } // what counts was synced
