package fit

import (
	"bytes"
	"regexp"
	"unicode/utf8"
)

// linearNames is the number of declared names up to which comparing them one
// by one beats a map.
const linearNames = 16

// objectRule holds the keywords for objects.
type objectRule struct {
	// props are the declared names: those in "properties", and those that are
	// only in "required", which have the schema of additional.
	props      []property
	index      map[string]int // position in props; nil when there are few
	additional *node
	required   bitset
	min, max   int // number of properties
}

type property struct {
	name   []byte
	schema *node
}

// find returns the position in props of an unescaped key, or -1.
func (r *objectRule) find(key []byte) int {
	if r.index != nil {
		if i, ok := r.index[string(key)]; ok {
			return i
		}
		return -1
	}
	for i := range r.props {
		if string(r.props[i].name) == string(key) {
			return i
		}
	}
	return -1
}

// resembles reports whether key equals a declared name but for case, as
// encoding/json would match it to a field.
func (r *objectRule) resembles(key []byte) bool {
	for i := range r.props {
		if bytes.EqualFold(r.props[i].name, key) {
			return true
		}
	}
	return false
}

// arrayRule holds the keywords for arrays.
type arrayRule struct {
	items    *node
	min, max int // number of items
}

// stringRule holds the keywords for strings.
type stringRule struct {
	min, max int  // length in runes
	sized    bool // min or max is set
	pattern  *regexp.Regexp
	format   func([]byte) bool
	enum     *stringSet // nil: not restricted
}

func (r *stringRule) fits(s text) bool {
	if r.sized {
		if n := s.runes(); n < r.min || n > r.max {
			return false
		}
	}
	if r.enum == nil && r.pattern == nil && r.format == nil {
		return true
	}
	content := s.raw
	if s.escaped {
		content = appendUnescaped(make([]byte, 0, len(s.raw)), s.raw)
	}
	return (r.enum == nil || r.enum.has(content)) &&
		(r.pattern == nil || r.pattern.Match(content)) &&
		(r.format == nil || r.format(content))
}

// stringSet is the strings of an enum.
type stringSet struct {
	list  []string
	index map[string]struct{} // nil when the list is short
}

func newStringSet(list []string) *stringSet {
	s := &stringSet{list: list}
	if len(list) > linearNames {
		s.index = make(map[string]struct{}, len(list))
		for _, v := range list {
			s.index[v] = struct{}{}
		}
	}
	return s
}

func (s *stringSet) has(v []byte) bool {
	if s.index != nil {
		_, ok := s.index[string(v)]
		return ok
	}
	for _, have := range s.list {
		if have == string(v) {
			return true
		}
	}
	return false
}

// numberRule holds the keywords for numbers.
type numberRule struct {
	bounds     []bound
	multipleOf decimal   // zero: not restricted
	enum       []decimal // empty: not restricted
}

type bound struct {
	limit     decimal
	lower     bool // the limit is a minimum
	exclusive bool
}

func (r *numberRule) fits(v *decimal) bool {
	if v.inexact {
		return false
	}
	for i := range r.bounds {
		if !r.bounds[i].admits(v) {
			return false
		}
	}
	if r.multipleOf.coef != 0 && !isMultiple(v, &r.multipleOf) {
		return false
	}
	return len(r.enum) == 0 || r.lists(v)
}

func (r *numberRule) lists(v *decimal) bool {
	for i := range r.enum {
		if compare(v, &r.enum[i]) == 0 {
			return true
		}
	}
	return false
}

func (b *bound) admits(v *decimal) bool {
	sign := compare(v, &b.limit)
	if b.lower {
		sign = -sign
	}
	return sign < 0 || sign == 0 && !b.exclusive
}

// bitset is a set of positions in objectRule.props.
type bitset [maxDeclared / 64]uint64

func (b *bitset) has(i int) bool { return b[i>>6]&(1<<(i&63)) != 0 }

func (b *bitset) add(i int) { b[i>>6] |= 1 << (i & 63) }

// covers reports whether every position in other is in b.
func (b *bitset) covers(other *bitset) bool {
	for i := range b {
		if other[i]&^b[i] != 0 {
			return false
		}
	}
	return true
}

// text is a string token: the bytes between the quotes, already found valid.
type text struct {
	raw     []byte
	at      int  // position of raw in the text
	escaped bool // has a backslash
	wide    bool // has bytes beyond ASCII
}

// runes counts the code points that the string stands for.
func (s text) runes() int {
	switch {
	case s.escaped:
		return escapedRunes(s.raw)
	case s.wide:
		return utf8.RuneCount(s.raw)
	default:
		return len(s.raw)
	}
}
