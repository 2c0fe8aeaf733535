package coerce

import (
	"bytes"
	"encoding/json"
	"unicode/utf8"
)

// Limits of the data. Deeper or larger data is not mended.
const (
	maxDepth    = 200  // nested arrays and objects, JSON inside strings counted too
	maxNumber   = 1000 // characters of a number
	maxExponent = 3    // digits of an exponent
	linearKeys  = 16   // objects with more keys get an index
)

// kind is a kind of JSON value.
type kind uint8

const (
	kindNull kind = iota
	kindBool
	kindNumber
	kindString
	kindArray
	kindObject
	kinds // how many there are
)

// node is a JSON value. It never changes once it is made, apart from what it
// remembers of itself.
type node struct {
	kind    kind
	changed bool  // what is inside differs from raw
	depth   int16 // how many arrays and objects are around it
	size    int32 // values in it, itself counted

	// raw is the text of the value before anything inside it was mended.
	raw []byte

	// from is the value as it was sent that this one took the place of, by
	// the rule; nil for one that was sent like this.
	from *node
	rule string

	*inside // of arrays and objects
}

// inside is what an array or object holds.
type inside struct {
	items   []*node  // of an array
	members []member // of an object, in order
	dropped []member // members that were left out
	index   map[string]int

	// known is what was found out about the fit of the value, for the first
	// few schemas; of further ones the run keeps track.
	known [3]verdict
}

// member is a key with its value.
type member struct {
	key  []byte // decoded
	name []byte // as written, with its quotes
	val  *node
}

// find returns the position of a key among the members, or -1.
func (in *inside) find(key string) int {
	if len(in.members) <= linearKeys {
		for i := range in.members {
			if string(in.members[i].key) == key {
				return i
			}
		}
		return -1
	}
	if in.index == nil {
		in.index = make(map[string]int, len(in.members))
		for i := range in.members {
			in.index[string(in.members[i].key)] = i
		}
	}
	if i, ok := in.index[key]; ok {
		return i
	}
	return -1
}

// parser makes nodes from JSON that was found valid.
type parser struct {
	data  []byte
	pos   int
	depth int
	slab  []node   // nodes to be used, allocated together
	items []*node  // elements of the arrays that are open
	ms    []member // members of the objects that are open
}

// parse reads data. It reports false for what is not JSON, nests deeper than
// maxDepth inside depth levels, holds a huge number, or has a key twice.
func parse(data []byte, depth int) (*node, bool) {
	if !json.Valid(data) {
		return nil, false
	}
	p := &parser{data: data, depth: depth}
	n := p.value()
	return n, n != nil
}

func (p *parser) alloc() *node {
	if len(p.slab) == 0 {
		p.slab = make([]node, min(max(len(p.data)/16, 8), 1024))
	}
	n := &p.slab[0]
	p.slab = p.slab[1:]
	n.depth, n.size = int16(p.depth), 1
	return n
}

// next skips what only separates tokens, and returns the byte there.
func (p *parser) next() byte {
	for {
		switch b := p.data[p.pos]; b {
		case ' ', '\t', '\r', '\n', ',', ':':
			p.pos++
		default:
			return b
		}
	}
}

// value reads a value, or returns nil where it must not be mended.
func (p *parser) value() *node {
	switch b := p.next(); b {
	case '{':
		return p.container(kindObject, p.object)
	case '[':
		return p.container(kindArray, p.array)
	case '"':
		return p.scalar(kindString, endOfString(p.data, p.pos))
	case 'n':
		return p.scalar(kindNull, p.pos+len("null"))
	case 't':
		return p.scalar(kindBool, p.pos+len("true"))
	case 'f':
		return p.scalar(kindBool, p.pos+len("false"))
	default:
		end := endOfNumber(p.data, p.pos)
		if tooLarge(p.data[p.pos:end]) {
			return nil
		}
		return p.scalar(kindNumber, end)
	}
}

func (p *parser) scalar(k kind, end int) *node {
	n := p.alloc()
	n.kind, n.raw = k, p.data[p.pos:end]
	p.pos = end
	return n
}

func (p *parser) container(k kind, read func(*node) bool) *node {
	n := p.alloc()
	n.kind, n.inside = k, &inside{}
	start := p.pos
	p.pos++
	p.depth++
	if p.depth > maxDepth || !read(n) {
		return nil
	}
	p.depth--
	p.pos++
	n.raw = p.data[start:p.pos]
	return n
}

func (p *parser) array(n *node) bool {
	base := len(p.items)
	for p.next() != ']' {
		item := p.value()
		if item == nil {
			return false
		}
		n.size += item.size
		p.items = append(p.items, item)
	}
	n.items = append([]*node(nil), p.items[base:]...)
	p.items = p.items[:base]
	return true
}

func (p *parser) object(n *node) bool {
	base := len(p.ms)
	for p.next() != '}' {
		end := endOfString(p.data, p.pos)
		m := member{name: p.data[p.pos:end]}
		m.key = decodeKey(m.name)
		p.pos = end
		if m.val = p.value(); m.val == nil {
			return false
		}
		n.size += m.val.size
		p.ms = append(p.ms, m)
	}
	n.members = append([]member(nil), p.ms[base:]...)
	p.ms = p.ms[:base]
	return !hasTwice(n.inside)
}

// hasTwice reports whether a key is there twice.
func hasTwice(in *inside) bool {
	if len(in.members) > linearKeys {
		in.find("")
		return len(in.index) < len(in.members)
	}
	for i := range in.members {
		for j := range i {
			if bytes.Equal(in.members[i].key, in.members[j].key) {
				return true
			}
		}
	}
	return false
}

// endOfString goes from quote to quote: most strings have no other.
func endOfString(data []byte, i int) int {
	for i++; ; i++ {
		i += bytes.IndexByte(data[i:], '"')
		slashes := 0
		for data[i-1-slashes] == '\\' {
			slashes++
		}
		if slashes%2 == 0 {
			return i + 1
		}
	}
}

func endOfNumber(data []byte, i int) int {
	for ; i < len(data); i++ {
		switch data[i] {
		case ',', '}', ']', ' ', '\n', '\t', '\r':
			return i
		}
	}
	return i
}

// tooLarge reports whether a number is too large to be compared exactly, for
// which it would be written out.
func tooLarge(number []byte) bool {
	if len(number) > maxNumber {
		return true
	}
	i := bytes.IndexAny(number, "eE")
	return i >= 0 && len(bytes.TrimLeft(number[i+1:], "+-0")) > maxExponent
}

// plain reports whether the string in the quotes stands for itself.
func plain(quoted []byte) bool {
	return bytes.IndexByte(quoted, '\\') < 0 && utf8.Valid(quoted)
}

func decodeKey(quoted []byte) []byte {
	if plain(quoted) {
		return quoted[1 : len(quoted)-1]
	}
	return []byte(decodeString(quoted))
}

// decodeString decodes a string as encoding/json does: what is not UTF-8
// becomes U+FFFD.
func decodeString(quoted []byte) string {
	if plain(quoted) {
		return string(quoted[1 : len(quoted)-1])
	}
	var s string
	if err := json.Unmarshal(quoted, &s); err != nil {
		return string(quoted) // not reached: the text is valid
	}
	return s
}
