package coerce

import (
	"bytes"
	"encoding/json"
)

// appendTo appends the JSON text of the value. What was not mended keeps the
// text that it came in.
func (n *node) appendTo(out []byte) []byte {
	if !n.changed {
		return append(out, n.raw...)
	}
	if n.kind == kindArray {
		out = append(out, '[')
		for i, item := range n.items {
			if i > 0 {
				out = append(out, ',')
			}
			out = item.appendTo(out)
		}
		return append(out, ']')
	}
	out = append(out, '{')
	for i, m := range n.members {
		if i > 0 {
			out = append(out, ',')
		}
		out = append(append(out, m.name...), ':')
		out = m.val.appendTo(out)
	}
	return append(out, '}')
}

// value returns what jsonschema.UnmarshalJSON makes of the text of n.
func (n *node) value() any {
	switch n.kind {
	case kindNull:
		return nil
	case kindBool:
		return n.raw[0] == 't'
	case kindNumber:
		return json.Number(n.raw)
	case kindString:
		return decodeString(n.raw)
	case kindArray:
		list := make([]any, len(n.items))
		for i, item := range n.items {
			list[i] = item.value()
		}
		return list
	default:
		object := make(map[string]any, len(n.members))
		for _, m := range n.members {
			object[string(m.key)] = m.val.value()
		}
		return object
	}
}

// same reports whether two values mended from the same one are written alike.
func same(a, b *node) bool {
	if a == b {
		return true
	}
	if a.kind != b.kind {
		return false
	}
	switch a.kind {
	case kindArray:
		if len(a.items) != len(b.items) {
			return false
		}
		for i := range a.items {
			if !same(a.items[i], b.items[i]) {
				return false
			}
		}
		return true
	case kindObject:
		if len(a.members) != len(b.members) {
			return false
		}
		for i := range a.members {
			if !bytes.Equal(a.members[i].key, b.members[i].key) || !same(a.members[i].val, b.members[i].val) {
				return false
			}
		}
		return true
	default:
		return bytes.Equal(a.raw, b.raw)
	}
}

// sent returns the value as it was sent that n stands for.
func (n *node) sent() *node {
	for n.from != nil {
		n = n.from
	}
	return n
}

// rebuilt returns a copy of an array or object that holds something else.
func (n *node) rebuilt(in *inside) *node {
	c := *n
	c.changed, c.inside, c.size = true, in, 1
	for _, item := range in.items {
		c.size += item.size
	}
	for _, m := range in.members {
		c.size += m.val.size
	}
	return &c
}

// scalarNode makes the value that takes the place of n.
func (n *node) scalarNode(k kind, raw []byte, rule string) *node {
	return &node{kind: k, raw: raw, size: 1, depth: n.depth, from: n.sent(), rule: rule}
}

// wrapped makes an array of the lone value n. Inner is what n becomes there.
func (n *node) wrapped(inner *node) *node {
	sent := n.sent()
	raw := make([]byte, 0, len(sent.raw)+2)
	raw = append(append(append(raw, '['), sent.raw...), ']')
	return &node{
		kind: kindArray, raw: raw, changed: true, size: inner.size + 1, depth: n.depth,
		from: sent, rule: ruleLone, inside: &inside{items: []*node{inner}},
	}
}
