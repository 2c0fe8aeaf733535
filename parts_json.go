package ai

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
	"strconv"
)

// The values of fields that have no type of their own.
type (
	textValue   string
	flagValue   bool
	rawValue    json.RawMessage // null is a value
	customValue json.RawMessage // null is none
)

func (v *textValue) empty() bool   { return *v == "" }
func (v *flagValue) empty() bool   { return !bool(*v) }
func (v *rawValue) empty() bool    { return len(*v) == 0 }
func (v *customValue) empty() bool { return len(*v) == 0 || isNull(*v) }

func (v *textValue) decode(_ *wireDecoder, data []byte) error {
	switch {
	case data[0] == '"':
		*v = textValue(unquote(data))
	case !isNull(data):
		return &wireError{text: "must be a string"}
	}
	return nil
}

func (v *flagValue) decode(_ *wireDecoder, data []byte) error {
	switch string(data) {
	case "true":
		*v = true
	case "false", "null":
	default:
		return &wireError{text: "must be a boolean"}
	}
	return nil
}

func (v *rawValue) decode(_ *wireDecoder, data []byte) error {
	*v = bytes.Clone(data)
	return nil
}

func (v *customValue) decode(_ *wireDecoder, data []byte) error {
	*v = bytes.Clone(data)
	return nil
}

func (v *textValue) encode(e *wireEncoder) error {
	e.text(string(*v))
	return nil
}

func (v *flagValue) encode(e *wireEncoder) error {
	e.buf.WriteString(strconv.FormatBool(bool(*v)))
	return nil
}

func (v *rawValue) encode(e *wireEncoder) error {
	if v.empty() {
		return e.raw([]byte("null"))
	}
	return e.raw(json.RawMessage(*v))
}

func (v *customValue) encode(e *wireEncoder) error {
	if v.empty() {
		return &wireError{text: "must not be null"}
	}
	return e.raw(json.RawMessage(*v))
}

// MarshalJSON writes a JSON array; nil is []. A nil part is an
// ErrInvalidArgument that says where it is.
func (p Parts) MarshalJSON() ([]byte, error) {
	var e wireEncoder
	if err := p.encode(&e); err != nil {
		return nil, within("parts", err)
	}
	return e.buf.Bytes(), nil
}

// UnmarshalJSON replaces p with the parts read; null is nil. What is no part is
// an ErrInvalidArgument that says where it is, and leaves p alone.
func (p *Parts) UnmarshalJSON(data []byte) error {
	var read Parts
	err := checkJSON(data)
	if err == nil {
		err = read.decode(&wireDecoder{}, bytes.TrimSpace(data))
	}
	if err != nil {
		return within("parts", err)
	}
	*p = read
	return nil
}

func (p *Parts) empty() bool { return len(*p) == 0 }

func (p *Parts) decode(d *wireDecoder, data []byte) error {
	if isNull(data) {
		return nil
	}
	if d.depth == maxNesting {
		return &wireError{text: tooDeep}
	}
	d.depth++
	defer func() { d.depth-- }()
	return readElements(data, func(i int, raw []byte) error {
		part, err := d.part(raw)
		if err != nil {
			return withinElement(i, err)
		}
		*p = append(*p, part)
		return nil
	})
}

func (p *Parts) encode(e *wireEncoder) error {
	if e.depth == maxNesting {
		return &wireError{text: tooDeep}
	}
	e.depth++
	defer func() { e.depth-- }()
	e.buf.WriteByte('[')
	for i, part := range *p {
		e.comma(i > 0)
		if part == nil || reflect.ValueOf(part).IsNil() {
			return withinElement(i, &wireError{text: "must not be nil"})
		}
		if err := part.encode(e); err != nil {
			return withinElement(i, err)
		}
	}
	e.buf.WriteByte(']')
	return nil
}

// partObject is a part of a known kind.
type partObject interface {
	Part
	wireObject
}

// newPart returns an empty part of the kind that key stands for, nil when it
// stands for none.
func newPart(key string) partObject {
	switch key {
	case "text":
		return &TextPart{}
	case "media":
		return &MediaPart{}
	case "reasoning":
		return &ReasoningPart{}
	case "data":
		return &DataPart{}
	case "custom":
		return &CustomPart{}
	case "resource":
		return &ResourcePart{}
	case "toolRequest":
		return &ToolRequestPart{}
	case "toolResponse":
		return &ToolResponsePart{}
	}
	return nil
}

func (d *wireDecoder) part(data []byte) (Part, error) {
	var buf [memberBuffer]member
	read, err := readMembers(data, buf[:0])
	if err != nil {
		return nil, err
	}
	part, err := partOf(read)
	if err != nil {
		return nil, err
	}
	if part == nil {
		return &UnknownPart{JSON: bytes.Clone(data)}, nil
	}
	if err := d.members(read, part); err != nil {
		return nil, err
	}
	return part, nil
}

// partOf returns an empty part of the kind the keys say, nil when they say
// none. A kind whose value is null is not meant, except data.
func partOf(read []member) (partObject, error) {
	var part partObject
	kind := ""
	for _, m := range read {
		if isNull(m.raw) && m.key != "data" {
			continue
		}
		found := newPart(m.key)
		switch {
		case found == nil:
		case part == nil:
			part, kind = found, m.key
		default:
			text := fmt.Sprintf("must be of one kind, not %s and %s", kind, m.key)
			return nil, &wireError{text: text}
		}
	}
	return part, nil
}

func marshalPart(p Part) ([]byte, error) {
	var e wireEncoder
	if err := p.encode(&e); err != nil {
		return nil, rooted("part", err)
	}
	return e.buf.Bytes(), nil
}

// unmarshalPart decodes a part that must be a P. The noun is for the error.
func unmarshalPart[P any](data []byte, into *P, noun string) error {
	if err := checkJSON(data); err != nil {
		return rooted("part", err)
	}
	part, err := new(wireDecoder).part(bytes.TrimSpace(data))
	if err != nil {
		return rooted("part", err)
	}
	read, ok := any(part).(*P)
	if !ok {
		return rooted("part", &wireError{text: "must be " + noun})
	}
	*into = *read
	return nil
}
