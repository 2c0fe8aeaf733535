package coerce

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// own reads n by the keywords of s that name other schemas for what is inside
// n, and by its type.
func (r *run) own(s *jsonschema.Schema, n *node, how manner) outcome {
	var best readings
	switch takes := r.bits.takes(s.Types, n.kind); {
	case takes && (n.inside != nil || r.asserts(s, n)):
		best.add(r.within(s, n))
	case !takes && n.kind == kindString && !how.noText:
		best.add(r.parsed(s, n))
	}
	if best.best.node == nil || best.best.rank == rankLone {
		best.add(r.lone(s, n, how))
	}
	return best.outcome()
}

// within reads what is inside n, which is of a due type.
func (r *run) within(s *jsonschema.Schema, n *node) outcome {
	switch n.kind {
	case kindArray:
		return r.items(s, n)
	case kindObject:
		return r.members(s, n)
	default:
		return outcome{n, rankAsSent}
	}
}

// parsed reads a string as the JSON in it, when that is of a due type.
func (r *run) parsed(s *jsonschema.Schema, n *node) outcome {
	inner := r.jsonIn(n)
	if inner == nil || !r.bits.takes(s.Types, inner.kind) {
		return outcome{}
	}
	o := r.own(s, inner, manner{})
	o.rank = max(o.rank, rankText)
	return o
}

// jsonIn returns the array or object that a string holds as text, or nil.
func (r *run) jsonIn(n *node) *node {
	inner, ok := r.inner[n]
	if ok {
		return inner
	}
	if text := strings.TrimSpace(r.decode(n)); looksNested(text) {
		inner, _ = parse([]byte(text), int(n.depth)+1)
	}
	if inner != nil {
		inner.from, inner.rule = n.sent(), ruleText
		r.left += workPerValue * int(inner.size)
	}
	r.inner[n] = inner
	return inner
}

func looksNested(text string) bool {
	return text != "" && (text[0] == '[' || text[0] == '{')
}

// lone reads n as the only item of an array. A text that begins like an array
// is none: what stands in it are several items, or it was cut off.
func (r *run) lone(s *jsonschema.Schema, n *node, how manner) outcome {
	items := r.loneItems(s, n)
	if items == nil || how.noLone || n.kind == kindNull || int(n.depth) >= maxDepth {
		return outcome{}
	}
	if n.kind == kindString {
		text := strings.TrimSpace(r.decode(n))
		if looksNested(text) && (how.noText || text[0] == '[') {
			return outcome{}
		}
	}
	inner := r.at(items, n, manner{noLone: true})
	if inner.node == nil || !r.spend(len(n.raw)/workBytes) {
		return outcome{}
	}
	return outcome{n.wrapped(inner.node), rankLone}
}

// items reads the items of an array.
func (r *run) items(s *jsonschema.Schema, n *node) outcome {
	o := outcome{n, rankAsSent}
	var items []*node
	for i, item := range n.items {
		sub, additional := itemSchema(s, i)
		if more, ok := additional.(*jsonschema.Schema); ok {
			sub = more
		}
		if sub == nil {
			continue
		}
		read := r.at(sub, item, manner{})
		if read.node == nil {
			return outcome{}
		}
		if read.node == item {
			continue
		}
		if items == nil {
			items = slices.Clone(n.items)
		}
		items[i], o.rank = read.node, max(o.rank, read.rank)
	}
	if items != nil {
		o.node = n.rebuilt(&inside{items: items})
	}
	return o
}

// members reads the members of an object. One with a key that equals a
// declared one but for case is not read: nobody knows which was meant.
func (r *run) members(s *jsonschema.Schema, n *node) outcome {
	if r.resembles(s, n) {
		return outcome{}
	}
	o := outcome{n, rankAsSent}
	var members []member
	var dropped []member
	for i, m := range n.members {
		read, drop := r.member(s, m)
		if read.node == nil && !drop {
			return outcome{}
		}
		if read.node != m.val && members == nil {
			members = append(make([]member, 0, len(n.members)), n.members[:i]...)
		}
		if drop {
			dropped = append(dropped, m)
			o.rank = max(o.rank, rankScalar)
			continue
		}
		o.rank = max(o.rank, read.rank)
		if members != nil {
			members = append(members, member{m.key, m.name, read.node})
		}
	}
	if members != nil {
		o.node = n.rebuilt(&inside{members: members, dropped: slices.Concat(n.dropped, dropped)})
	}
	return o
}

// member reads one member of an object. Drop reports that it is to be left
// out, since null is sent for an optional property that has no null.
func (r *run) member(s *jsonschema.Schema, m member) (read outcome, drop bool) {
	declared := s.Properties[string(m.key)]
	subs := memberSchemas(s, m.key, declared)
	if subs == nil {
		if additional, ok := s.AdditionalProperties.(bool); ok && !additional {
			return outcome{}, false
		}
	}
	read = outcome{m.val, rankAsSent}
	for range maxRounds {
		before := read.node
		for _, sub := range subs {
			if !read.then(r.at(sub, read.node, manner{})) {
				return outcome{}, m.val.kind == kindNull && declared != nil && !slices.Contains(s.Required, string(m.key))
			}
		}
		if len(subs) < 2 || read.node == before {
			break
		}
	}
	return read, false
}

// memberSchemas returns what the value of a key has to fit.
func memberSchemas(s *jsonschema.Schema, key []byte, declared *jsonschema.Schema) []*jsonschema.Schema {
	var subs []*jsonschema.Schema
	if declared != nil {
		subs = append(subs, declared)
	}
	if len(s.PatternProperties) > 0 {
		subs = append(subs, patternSchemas(s, key)...)
	}
	if additional, ok := s.AdditionalProperties.(*jsonschema.Schema); ok && subs == nil {
		subs = append(subs, additional)
	}
	return subs
}

// patternSchemas returns the schemas whose pattern a key matches, in the order
// of the patterns.
func patternSchemas(s *jsonschema.Schema, key []byte) []*jsonschema.Schema {
	var patterns []jsonschema.Regexp
	for re := range s.PatternProperties {
		if re.MatchString(string(key)) {
			patterns = append(patterns, re)
		}
	}
	slices.SortFunc(patterns, func(a, b jsonschema.Regexp) int { return strings.Compare(a.String(), b.String()) })
	subs := make([]*jsonschema.Schema, len(patterns))
	for i, re := range patterns {
		subs[i] = s.PatternProperties[re]
	}
	return subs
}

// convert reads a scalar as one of another kind, or returns nil. There is at
// most one such reading: a text that is a number is no boolean.
func convert(n *node) *node {
	switch n.kind {
	case kindNumber, kindBool:
		return n.scalarNode(kindString, slices.Concat([]byte{'"'}, n.raw, []byte{'"'}), ruleString)
	case kindString:
		if len(n.raw) > 6*maxNumber {
			return nil
		}
		text := bytes.TrimSpace([]byte(decodeString(n.raw)))
		if isNumber(text) && !tooLarge(text) {
			return n.scalarNode(kindNumber, text, ruleNumber)
		}
		for _, word := range []string{"true", "false"} {
			if strings.EqualFold(string(text), word) {
				return n.scalarNode(kindBool, []byte(word), ruleBoolean)
			}
		}
	}
	return nil
}

// isNumber reports whether text is a number of JSON.
func isNumber(text []byte) bool {
	return len(text) > 0 && (text[0] == '-' || '0' <= text[0] && text[0] <= '9') && json.Valid(text)
}
