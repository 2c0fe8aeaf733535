package coerce

import (
	"net/url"
	"strconv"
	"strings"
)

// document is a schema as it is written.
type document struct {
	root  *node
	nulls map[*node]bool // whether a schema takes null, where that is known
}

func newDocument(root *node) document { return document{root, make(map[*node]bool)} }

// maxHops is how many references in a row are followed.
const maxHops = 64

// resolve returns what a reference into the document leads to, or nil.
func (d document) resolve(ref *node) *node {
	if ref.kind != kindString {
		return nil
	}
	path, ok := strings.CutPrefix(decodeString(ref.raw), "#")
	if !ok {
		return nil
	}
	path, err := url.PathUnescape(path)
	if err != nil {
		return nil
	}
	n := d.root
	for i, step := range strings.Split(path, "/") {
		if i == 0 && step != "" {
			return nil // an anchor
		}
		if i > 0 {
			n = n.step(strings.ReplaceAll(strings.ReplaceAll(step, "~1", "/"), "~0", "~"))
		}
		if n == nil {
			return nil
		}
	}
	return n
}

// step goes one step of a JSON pointer down, or returns nil.
func (n *node) step(step string) *node {
	if n.kind != kindArray {
		return n.get(step)
	}
	i, err := strconv.Atoi(step)
	if err != nil || i < 0 || i >= len(n.items) {
		return nil
	}
	return n.items[i]
}

// target follows the references of a schema. It returns nil where they lead
// nowhere.
func (d document) target(n *node) *node {
	for range maxHops {
		ref := n.get("$ref")
		if ref == nil {
			return n
		}
		if n = d.resolve(ref); n == nil {
			return nil
		}
	}
	return nil
}

// nullable reports whether a schema takes null, as far as can be told from
// types, enum, const and unions.
func (d document) nullable(n *node) bool {
	if n.kind != kindObject {
		return string(n.raw) == "true"
	}
	if takes, ok := d.nulls[n]; ok {
		return takes
	}
	d.nulls[n] = false // while it is being found out: a schema that refers to itself adds nothing
	takes := d.takesNull(n)
	d.nulls[n] = takes
	return takes
}

func (d document) takesNull(n *node) bool {
	if n.has("type") && !takesType(n, "null") {
		return false
	}
	if enum := n.get("enum"); enum != nil && !hasNull(enum.branches()) {
		return false
	}
	if c := n.get("const"); c != nil && c.kind != kindNull {
		return false
	}
	if ref := n.get("$ref"); ref != nil {
		if to := d.resolve(ref); to == nil || !d.nullable(to) {
			return false
		}
	}
	for _, sub := range n.get("allOf").branches() {
		if !d.nullable(sub) {
			return false
		}
	}
	return d.oneTakesNull(n.get("anyOf")) && d.oneTakesNull(n.get("oneOf"))
}

func (d document) oneTakesNull(union *node) bool {
	for _, sub := range union.branches() {
		if d.nullable(sub) {
			return true
		}
	}
	return union == nil
}

func hasNull(items []*node) bool {
	for _, item := range items {
		if item.kind == kindNull {
			return true
		}
	}
	return false
}

// get returns the value of a key: nil where n is nil, no object, or has it not.
func (n *node) get(key string) *node {
	if n == nil || n.kind != kindObject {
		return nil
	}
	if i := n.find(key); i >= 0 {
		return n.members[i].val
	}
	return nil
}

// has reports whether n is an object with the key.
func (n *node) has(key string) bool { return n.get(key) != nil }

// branches returns the items of a list of schemas, none where n is no list.
func (n *node) branches() []*node {
	if n == nil || n.kind != kindArray {
		return nil
	}
	return n.items
}

// builder makes an object.
type builder struct{ members []member }

func (b *builder) add(key string, val *node) { b.members = append(b.members, named(key, val)) }

func (b *builder) node() *node {
	return &node{kind: kindObject, changed: true, size: 1, inside: &inside{members: b.members}}
}

func named(key string, val *node) member {
	return member{[]byte(key), []byte(strconv.Quote(key)), val}
}

// list makes an array.
func list(items ...*node) *node {
	return &node{kind: kindArray, changed: true, size: 1, inside: &inside{items: items}}
}

// text makes a string that needs no escapes.
func text(s string) *node { return &node{kind: kindString, raw: []byte(`"` + s + `"`), size: 1} }

// literal makes null or a boolean.
func literal(word string) *node {
	k := kindBool
	if word == "null" {
		k = kindNull
	}
	return &node{kind: k, raw: []byte(word), size: 1}
}
