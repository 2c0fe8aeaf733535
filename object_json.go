package ai

import (
	"bytes"
	"encoding/json"
	"errors"
	"slices"
	"strconv"
	"strings"
)

const (
	// maxNesting bounds how deep parts may stand inside parts: each level
	// reads what is below it once more, and a cycle would have no end.
	maxNesting = 32

	notJSON   = "is not valid JSON"
	notObject = "must be a JSON object"
	tooDeep   = "is nested too deeply"
)

// wireObject is a JSON object some of whose keys are fields of a struct.
type wireObject interface {
	// layout returns the fields in canonical order, and where the object
	// remembers what else was read.
	layout() (wireFields, *members)
}

// wireFields is the table of an object's known keys; unused entries have no key.
type wireFields [4]wireField

// wireField is a known key. Its value is a value or an object.
type wireField struct {
	key    string
	always bool // written even when empty
	value  wireValue
	object wireObject
}

// wireValue is a field that reads and writes itself. Decode gets checked JSON
// without space around it.
type wireValue interface {
	empty() bool
	decode(d *wireDecoder, data []byte) error
	encode(e *wireEncoder) error
}

// members remembers how an object was read, when writing its fields in
// canonical order would lose something. It is never changed once built, so
// copies of the object may share it.
type members []member

// member is a key as it was read. Raw is nil where the value went into a field;
// it is set for unknown keys, and for known ones whose value left the field
// empty ({}, "", null), which are written as they were while it stays so.
type member struct {
	key string
	raw json.RawMessage
}

type wireDecoder struct{ depth int }

type wireEncoder struct {
	buf   bytes.Buffer
	depth int
}

func (fs *wireFields) index(key string) int {
	for i := range fs {
		if fs[i].key == key && key != "" {
			return i
		}
	}
	return -1
}

func (f *wireField) present() bool {
	return f.always || f.object != nil || !f.value.empty()
}

func (f *wireField) decode(d *wireDecoder, data []byte) error {
	if f.object != nil {
		return d.object(data, f.object)
	}
	return f.value.decode(d, data)
}

func (f *wireField) encode(e *wireEncoder) error {
	if f.object != nil {
		return e.object(f.object)
	}
	return f.value.encode(e)
}

// object decodes data into o, which must be zero.
func (d *wireDecoder) object(data []byte, o wireObject) error {
	var buf [memberBuffer]member
	read, err := readMembers(data, buf[:0])
	if err != nil {
		return err
	}
	return d.members(read, o)
}

func (d *wireDecoder) members(read []member, o wireObject) error {
	fs, rest := o.layout()
	usual, last := true, -1
	for _, m := range read {
		i := fs.index(m.key)
		if i < 0 {
			usual = false
			continue
		}
		if err := fs[i].decode(d, m.raw); err != nil {
			return within(m.key, err)
		}
		usual = usual && i > last && fs[i].present()
		last = i
	}
	if !usual {
		*rest = remember(read, &fs)
	}
	return nil
}

func remember(read []member, fs *wireFields) members {
	rest := make(members, len(read))
	for n, m := range read {
		rest[n].key = m.key
		if i := fs.index(m.key); i < 0 || !fs[i].present() {
			rest[n].raw = bytes.Clone(m.raw)
		}
	}
	return rest
}

// object writes what was remembered in its old order, with the fields as they
// are now, then the fields that were not there.
func (e *wireEncoder) object(o wireObject) error {
	fs, rest := o.layout()
	var done [len(fs)]bool
	start := e.open()
	for _, m := range *rest {
		i := fs.index(m.key)
		if i >= 0 {
			done[i] = true
		}
		if err := e.member(start, m, i, &fs); err != nil {
			return within(m.key, err)
		}
	}
	for i := range fs {
		if fs[i].key == "" || done[i] {
			continue
		}
		if err := e.member(start, member{key: fs[i].key}, i, &fs); err != nil {
			return within(fs[i].key, err)
		}
	}
	e.buf.WriteByte('}')
	return nil
}

// member writes one key: from field i of fs when that has a value, else as it
// was read, else not at all.
func (e *wireEncoder) member(start int, m member, i int, fs *wireFields) error {
	fromField := i >= 0 && fs[i].present()
	if !fromField && m.raw == nil {
		return nil
	}
	e.comma(e.buf.Len() > start)
	e.key(m.key)
	if fromField {
		return fs[i].encode(e)
	}
	return e.raw(m.raw)
}

// open begins an object and returns the length of the text at which it is
// still empty.
func (e *wireEncoder) open() int {
	e.buf.WriteByte('{')
	return e.buf.Len()
}

func (e *wireEncoder) comma(needed bool) {
	if needed {
		e.buf.WriteByte(',')
	}
}

func (e *wireEncoder) key(key string) {
	e.text(key)
	e.buf.WriteByte(':')
}

// text writes a JSON string as encoding/json does, but without escaping HTML.
func (e *wireEncoder) text(s string) {
	if plain(s) {
		e.buf.WriteByte('"')
		e.buf.WriteString(s)
		e.buf.WriteByte('"')
		return
	}
	enc := json.NewEncoder(&e.buf)
	enc.SetEscapeHTML(false)
	_ = enc.Encode(s) // a string always encodes, and a buffer takes it
	e.buf.Truncate(e.buf.Len() - len("\n"))
}

// raw writes a JSON value without insignificant space.
func (e *wireEncoder) raw(raw json.RawMessage) error {
	if err := json.Compact(&e.buf, raw); err != nil {
		return &wireError{text: notJSON}
	}
	return nil
}

// wireError is an ErrInvalidArgument that says where in a document it is.
type wireError struct {
	path  []string // innermost first: names, and indexes such as [2]
	text  string   // what is wrong, to be read after the path
	cause error    // nil when there is nothing more to say
}

func (w *wireError) Error() string {
	var b strings.Builder
	b.WriteString("ai: ")
	for i, step := range slices.Backward(w.path) {
		if i < len(w.path)-1 && step[0] != '[' {
			b.WriteByte('.')
		}
		b.WriteString(step)
	}
	b.WriteString(" " + w.text)
	if w.cause != nil {
		b.WriteString(": " + w.cause.Error())
	}
	return b.String()
}

func (w *wireError) Unwrap() []error {
	if w.cause == nil {
		return []error{ErrInvalidArgument}
	}
	return []error{ErrInvalidArgument, w.cause}
}

// within adds the key whose value the error is about.
func within(key string, err error) error {
	if !plain(key) || key == "" || strings.ContainsAny(key, ".[] ") {
		key = "[" + strconv.Quote(key) + "]"
	}
	return addStep(key, err)
}

// withinElement is within for the element of an array.
func withinElement(i int, err error) error {
	return addStep("["+strconv.Itoa(i)+"]", err)
}

// rooted names the document in an error that is about all of it.
func rooted(noun string, err error) error {
	if w, ok := errors.AsType[*wireError](err); ok && len(w.path) == 0 {
		return addStep(noun, err)
	}
	return err
}

func addStep(step string, err error) error {
	if w, ok := errors.AsType[*wireError](err); ok {
		w.path = append(w.path, step)
	}
	return err
}
