package ai

import "github.com/holdpoint/ai/internal/partialjson"

// PartialInput is the arguments of a tool request so far, while they are being
// streamed, or a value in them: an immutable view, which stays as it is when more
// of them comes. It is safe for concurrent use. Nil is legal and means that there
// is nothing to show yet.
//
// A value is shown as far as it can't become another one. A string grows. A number
// is shown once it can't grow, true, false and null when they are whole, a key
// together with its value. Arrays and objects hold what can be shown in them;
// what is open more than 64 of them deep is held back. Of a key given twice the
// last value counts, from when it is first shown. Where the text turns out to be no
// JSON, the view stays as it was before the fault, and is never complete.
//
// Text that is shown keeps the text around it in memory; strings.Clone frees it.
type PartialInput struct {
	value partialjson.Value
}

// shown is the view, or nil where it shows nothing.
func (p *PartialInput) shown() *PartialInput {
	if p.value.Kind() == partialjson.None {
		return nil
	}
	return p
}

func (p *PartialInput) view() partialjson.Value {
	if p == nil {
		return partialjson.Value{}
	}
	return p.value
}

// Field is the value of a key of an object. It is nil where there is no such key
// yet, or no object. It costs O(1) for the value that still grows, else O(log keys).
func (p *PartialInput) Field(name string) *PartialInput {
	v := PartialInput{p.view().Field(name)}
	return v.shown()
}

// Index is an element of an array, counted from 0. It is nil where there is no
// such element yet, or no array. It costs O(1).
func (p *PartialInput) Index(i int) *PartialInput {
	v := PartialInput{p.view().Index(i)}
	return v.shown()
}

// Len is the number of elements of an array or of keys of an object, the one that
// still grows included, and 0 for anything else. It costs O(1).
func (p *PartialInput) Len() int { return p.view().Len() }

// Keys are the keys of an object, in the order in which their values came. It is
// nil where there are none. It costs O(keys).
func (p *PartialInput) Keys() []string {
	v := p.view()
	if v.Kind() != partialjson.Object || v.Len() == 0 {
		return nil
	}
	keys := make([]string, 0, v.Len())
	for key := range v.Members() {
		keys = append(keys, key)
	}
	return keys
}

// Text is the text of a string so far. It is false for anything but a string. It
// costs O(1): the text is not copied.
func (p *PartialInput) Text() (string, bool) {
	v := p.view()
	return v.Text(), v.Kind() == partialjson.String
}

// Complete reports whether the value can't grow any more. It does not say that
// the value fits the tool.
func (p *PartialInput) Complete() bool { return p.view().Complete() }

// Decode decodes what is shown into v, a pointer as for json.Unmarshal; numbers
// become json.Number where the target is an any, and a *json.RawMessage gets a JSON
// text in which all that is open is closed. What has not come yet is left as it
// is in v. So is text that still grows where its type does not take a beginning of
// it, as time.Time does not. It costs the size of the value. A value that does not fit v is
// an ErrInvalidArgument; v may then be half filled.
func (p *PartialInput) Decode(v any) error {
	shown := p.view().AppendJSON(nil, true)
	if len(shown) == 0 {
		return nil
	}
	err := decodeNumbers(shown, v)
	if err == nil {
		return nil
	}
	if settled := p.view().AppendJSON(nil, false); len(settled) < len(shown) {
		if len(settled) == 0 {
			return nil
		}
		err = decodeNumbers(settled, v)
	}
	if err != nil {
		return invalidf("ai: the arguments so far: %w", err)
	}
	return nil
}
