package aitest

import (
	"bytes"
	"encoding/json"
	"io"
	"slices"
	"strings"
)

// body is a request as the provider got it.
type body struct {
	data   []byte
	values []*bodyValue // the strings and numbers, in their order
}

// bodyValue is a string or a number somewhere in a body.
type bodyValue struct {
	text string
	in   *bodyObject
}

// bodyObject is an object or array of a body.
type bodyObject struct {
	own []string // the strings that are members of it themselves
	in  *bodyObject
}

func parseBody(data []byte) (*body, error) {
	b := &body{data: data}
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.UseNumber()
	if err := b.read(dec, nil); err != nil {
		return nil, err
	}
	if _, err := dec.Token(); err != io.EOF {
		return nil, io.ErrUnexpectedEOF
	}
	return b, nil
}

// read takes up the next value.
func (b *body) read(dec *json.Decoder, in *bodyObject) error {
	token, err := dec.Token()
	if err != nil {
		return err
	}
	switch token := token.(type) {
	case json.Delim:
		return b.readInside(dec, token, &bodyObject{in: in})
	case string:
		if in != nil {
			in.own = append(in.own, token)
		}
		b.values = append(b.values, &bodyValue{token, in})
	case json.Number:
		b.values = append(b.values, &bodyValue{token.String(), in})
	}
	return nil
}

func (b *body) readInside(dec *json.Decoder, open json.Delim, object *bodyObject) error {
	for dec.More() {
		if open == '{' {
			if _, err := dec.Token(); err != nil {
				return err
			}
		}
		if err := b.read(dec, object); err != nil {
			return err
		}
	}
	_, err := dec.Token()
	return err
}

// find lists the values that contain a text.
func (b *body) find(text string) []*bodyValue {
	var found []*bodyValue
	for _, v := range b.values {
		if strings.Contains(v.text, text) {
			found = append(found, v)
		}
	}
	return found
}

func (b *body) says(text string) bool { return len(b.find(text)) > 0 }

// ref is the one of these refs that stands nearest to the value, on the way out.
func (v *bodyValue) ref(refs []string) string {
	for o := v.in; o != nil; o = o.in {
		for _, s := range o.own {
			if slices.Contains(refs, s) {
				return s
			}
		}
	}
	return ""
}

// answered is a tool response that a body has to hold.
type answered struct{ ref, output string }

// checkAnswers fails the test unless the body holds each output once, in this
// order, each with the ref of its own call.
func (b *body) checkAnswers(t *modelTest, list ...answered) {
	t.Helper()
	var refs []string
	for _, a := range list {
		refs = append(refs, a.ref)
	}
	last := -1
	for _, a := range list {
		found := b.find(a.output)
		if len(found) != 1 {
			t.Errorf("the output %q is %d times in the request, expected once: %s", a.output, len(found), b.data)
			continue
		}
		at := slices.Index(b.values, found[0])
		if at < last {
			t.Errorf("the output %q stands before that of an earlier call: %s", a.output, b.data)
		}
		last = at
		if ref := found[0].ref(refs); !t.kit.NoRefs && ref != a.ref {
			t.Errorf("the output %q goes with ref %q instead of %q: %s", a.output, ref, a.ref, b.data)
		}
	}
}
