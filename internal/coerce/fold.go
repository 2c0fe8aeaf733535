package coerce

import (
	"encoding/json"
)

// Fold undoes in data what Strict did to schema, the schema before that: a
// property that is null, though it was optional and takes no null, is left
// out. Everything else stays as it is. Below a union, properties are left out
// only where it is clear which branch the data is of; what stays is left to
// Coerce. Data is returned as it is when nothing is to be left out, or when
// it can't be read.
func Fold(schema, data json.RawMessage) json.RawMessage {
	root, ok := parse(schema, 0)
	if !ok {
		return data
	}
	n, ok := parse(data, 0)
	if !ok {
		return data
	}
	f := &folder{newDocument(root), make(map[*node]bool)}
	if out := f.fold(root, n); out != n {
		return out.appendTo(make([]byte, 0, len(data)))
	}
	return data
}

// folder folds one value.
type folder struct {
	document
	done map[*node]bool // schemas that were gone through
}

// fold returns n without the nulls that stand for absent properties.
func (f *folder) fold(s, n *node) *node {
	if n.inside == nil || s == nil || s.kind != kindObject || f.done[s] {
		return n
	}
	f.done[s] = true
	switch n.kind {
	case kindObject:
		n = f.members(s, n)
	case kindArray:
		n = f.items(s, n)
	}
	if ref := s.get("$ref"); ref != nil {
		n = f.fold(f.resolve(ref), n)
	}
	for _, sub := range s.get("allOf").branches() {
		n = f.fold(sub, n)
	}
	for _, union := range []string{"anyOf", "oneOf"} {
		if branch := f.branch(s.get(union).branches(), n); branch != nil {
			n = f.fold(branch, n)
		}
	}
	return n
}

// below folds what is inside a value.
func (f *folder) below(s, n *node) *node {
	if n.inside == nil || s == nil {
		return n
	}
	inner := &folder{f.document, make(map[*node]bool)}
	return inner.fold(s, n)
}

func (f *folder) members(s, n *node) *node {
	props := s.get("properties")
	var members []member
	for i, m := range n.members {
		sub := props.get(string(m.key))
		drop := m.val.kind == kindNull && sub != nil && !requires(s, string(m.key)) && !f.nullable(sub)
		if sub == nil {
			sub = s.get("additionalProperties")
		}
		val := m.val
		if !drop {
			val = f.below(sub, val)
		}
		if members == nil && (drop || val != m.val) {
			members = append(make([]member, 0, len(n.members)), n.members[:i]...)
		}
		if members != nil && !drop {
			members = append(members, member{m.key, m.name, val})
		}
	}
	if members == nil {
		return n
	}
	return n.rebuilt(&inside{members: members})
}

func (f *folder) items(s, n *node) *node {
	prefix, rest := s.get("prefixItems").branches(), s.get("items")
	var items []*node
	for i, item := range n.items {
		sub := rest
		if i < len(prefix) {
			sub = prefix[i]
		}
		val := f.below(sub, item)
		if items == nil && val != item {
			items = append([]*node(nil), n.items...)
		}
		if items != nil {
			items[i] = val
		}
	}
	if items == nil {
		return n
	}
	return n.rebuilt(&inside{items: items})
}

// branch returns the only branch that n can be of, or nil. In the strict form
// an object has all properties of its branch and no others.
func (f *folder) branch(branches []*node, n *node) *node {
	var found *node
	for _, b := range branches {
		if !f.mayBe(f.target(b), n) {
			continue
		}
		if found != nil {
			return nil
		}
		found = b
	}
	return found
}

func (f *folder) mayBe(s, n *node) bool {
	if s == nil || s.kind != kindObject {
		return false
	}
	if n.kind == kindArray {
		return takesType(s, "array") || s.has("items") && !s.has("type")
	}
	props := s.get("properties")
	if props == nil || len(props.members) != len(n.members) {
		return false
	}
	for _, m := range n.members {
		prop := props.get(string(m.key))
		if prop == nil || m.val.kind == kindString && !admits(f.target(prop), m.val) {
			return false
		}
	}
	return true
}

// admits reports whether const and enum, which tell branches apart, let a
// string pass.
func admits(s, n *node) bool {
	if c := s.get("const"); c != nil {
		return same(c, n)
	}
	enum := s.get("enum").branches()
	for _, member := range enum {
		if same(member, n) {
			return true
		}
	}
	return len(enum) == 0
}
