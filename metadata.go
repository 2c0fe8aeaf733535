package ai

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
)

// Metadata is data beside a message or a part: JSON values by key. The values
// keep the digits they were written with. They are shared freely and must not
// be changed in place; replace them with [Metadata.Set].
//
// The zero value is empty. As JSON it is an object with sorted keys; null and
// {} decode to nil. Like any map it may be read by several goroutines at once,
// but not while one of them writes.
type Metadata map[string]json.RawMessage

// Decode decodes the value of a key into v, which is a pointer as for
// [json.Unmarshal]; numbers become [json.Number] where the target is an any.
// It reports false, and leaves v alone, when the key is absent. A value that
// does not fit v is an ErrInvalidArgument; v may then be half filled.
func (m Metadata) Decode(key string, v any) (bool, error) {
	raw, ok := m[key]
	if !ok {
		return false, nil
	}
	if !json.Valid(raw) {
		return true, within("metadata", within(key, &wireError{text: notJSON}))
	}
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.UseNumber()
	if err := dec.Decode(v); err != nil {
		problem := &wireError{text: fmt.Sprintf("does not decode into %T", v), cause: err}
		return true, within("metadata", within(key, problem))
	}
	return true, nil
}

// Set encodes value as JSON, without escaping HTML, and stores it under key;
// the map is made when m is nil. A value that does not encode is an
// ErrInvalidArgument and leaves m as it was. Set writes into the map that m
// holds: clone one that others hold first.
func (m *Metadata) Set(key string, value any) error {
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(value); err != nil {
		problem := &wireError{text: "does not encode as JSON", cause: err}
		return within("metadata", within(key, problem))
	}
	if *m == nil {
		*m = Metadata{}
	}
	(*m)[key] = bytes.TrimSuffix(buf.Bytes(), []byte("\n"))
	return nil
}

// MarshalJSON writes the keys in sorted order; nil is null. A value that is
// not valid JSON is an ErrInvalidArgument that names its key.
func (m Metadata) MarshalJSON() ([]byte, error) {
	if m == nil {
		return []byte("null"), nil
	}
	var e wireEncoder
	if err := m.encode(&e); err != nil {
		return nil, within("metadata", err)
	}
	return e.buf.Bytes(), nil
}

// UnmarshalJSON replaces m with the object read. A key given twice is an
// ErrInvalidArgument.
func (m *Metadata) UnmarshalJSON(data []byte) error {
	var read Metadata
	err := checkJSON(data)
	if err == nil {
		err = read.decode(&wireDecoder{}, bytes.TrimSpace(data))
	}
	if err != nil {
		return within("metadata", err)
	}
	*m = read
	return nil
}

func (m *Metadata) empty() bool { return len(*m) == 0 }

func (m *Metadata) decode(_ *wireDecoder, data []byte) error {
	if isNull(data) {
		return nil
	}
	var buf [memberBuffer]member
	read, err := readMembers(data, buf[:0])
	if err != nil || len(read) == 0 {
		return err
	}
	*m = make(Metadata, len(read))
	for _, r := range read {
		(*m)[r.key] = bytes.Clone(r.raw)
	}
	return nil
}

func (m *Metadata) encode(e *wireEncoder) error {
	e.buf.WriteByte('{')
	for i, key := range slices.Sorted(maps.Keys(*m)) {
		e.comma(i > 0)
		e.key(key)
		if err := e.raw((*m)[key]); err != nil {
			return within(key, err)
		}
	}
	e.buf.WriteByte('}')
	return nil
}
