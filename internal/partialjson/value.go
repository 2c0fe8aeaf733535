package partialjson

import "iter"

// Kind is the kind of a JSON value.
type Kind uint8

// The kinds. None is that of the zero Value: there is nothing to show.
const (
	None Kind = iota
	Null
	Bool
	Number
	String
	Array
	Object
)

// Value is a view of a JSON value, or of as much of it as is shown. It is
// immutable and safe for concurrent use. The zero Value is nothing.
type Value struct {
	kind Kind
	open bool   // it still grows
	text string // of a scalar; in an open container that of the string that grows in it
	body *body  // of a container
}

// body is what a container holds. In an open one that is being shown, tail is
// the member that still grows.
type body struct {
	members  []member
	index    *index // of the members of an object; nil while they are few
	replaced int    // members whose key was given again
	tail     *member
}

// member is a key and its value, or an element of an array.
type member struct {
	key   string
	value Value
}

// few is how many members are searched without an index.
const few = 8

// add appends a complete value.
func (b *body) add(m member, object bool) {
	if b.members == nil {
		b.members = make([]member, 0, 4)
	}
	if !object {
		b.members = append(b.members, m)
		return
	}
	if b.find(m.key) >= 0 {
		b.replaced++
	}
	b.members = append(b.members, m)
	switch n := len(b.members); {
	case b.index != nil:
		b.index = b.index.with(m.key, n-1)
	case n > few:
		b.index = newIndex(b.members)
	}
}

// find is the position of the last complete member with a key, or -1.
func (b *body) find(key string) int {
	if b.index != nil {
		return b.index.find(key)
	}
	for i := len(b.members) - 1; i >= 0; i-- {
		if b.members[i].key == key {
			return i
		}
	}
	return -1
}

// Kind is the kind of the value.
func (v Value) Kind() Kind { return v.kind }

// Complete reports whether there is a value that can't grow any more.
func (v Value) Complete() bool { return v.kind != None && !v.open }

// Text is the text of a string, without quotes and escapes, the digits of a
// number, or true, false or null. It is empty for a container. It shares the
// memory of the parser: it costs O(1), and keeps the text around it in memory.
func (v Value) Text() string {
	if v.body != nil {
		return ""
	}
	return v.text
}

// Len is the number of elements of an array or of keys of an object, each
// counted once, in O(1). It is 0 for anything else.
func (v Value) Len() int {
	if v.body == nil {
		return 0
	}
	n := len(v.body.members) - v.body.replaced
	if t := v.body.tail; t != nil && (v.kind == Array || v.body.find(t.key) < 0) {
		n++
	}
	return n
}

// Index is an element of an array, in O(1), or nothing where there is none.
func (v Value) Index(i int) Value {
	if v.kind != Array || i < 0 {
		return Value{}
	}
	if i == len(v.body.members) {
		return v.tail()
	}
	return v.at(i)
}

// Field is the value of a key of an object, or nothing where there is none. It
// costs O(1) for the one that still grows, else O(log keys).
func (v Value) Field(key string) Value {
	if v.kind != Object {
		return Value{}
	}
	if t := v.body.tail; t != nil && t.key == key {
		return v.tail()
	}
	return v.at(v.body.find(key))
}

func (v Value) at(i int) Value {
	if i < 0 || i >= len(v.body.members) {
		return Value{}
	}
	return v.body.members[i].value
}

// tail is the value in a container that still grows, or nothing.
func (v Value) tail() Value {
	if v.body.tail == nil {
		return Value{}
	}
	t := v.body.tail.value
	t.text = v.text
	return t
}

// Members lists the keys and values of an object, or the elements of an array
// with empty keys, in the order of the text. A key that is given more than once
// stands where its last value does.
func (v Value) Members() iter.Seq2[string, Value] {
	return func(yield func(string, Value) bool) {
		if v.body == nil {
			return
		}
		b, t := v.body, v.body.tail
		for i, m := range b.members {
			if v.kind == Object && (b.replaced > 0 && b.find(m.key) != i || t != nil && t.key == m.key) {
				continue
			}
			if !yield(m.key, m.value) {
				return
			}
		}
		if t != nil {
			yield(t.key, v.tail())
		}
	}
}
