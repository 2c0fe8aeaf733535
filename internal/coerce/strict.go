package coerce

import (
	"encoding/json"
	"fmt"
	"strings"
)

// Strict turns a schema into a strict one, as constrained sampling needs it:
// every property is required, one that was optional takes null instead of
// being absent, and objects are closed; this everywhere in the schema. What
// says nothing about validity and is not taken by providers is left out, such
// as default. Keys keep their order, since models write in that order.
//
// Blockers lists what such sampling does not take, as "KEYWORD at PLACE" with
// the place as a JSON pointer ("uniqueItems at #/properties/tags"), in the
// order of the schema. The rules are those that OpenAI documents. When there
// are blockers, strict is what was made of the rest, and must not be used.
func Strict(schema json.RawMessage) (strict json.RawMessage, blockers []string) {
	root, ok := parse(schema, 0)
	if !ok || root.kind != kindObject {
		return nil, []string{"no object at #"}
	}
	st := &stricter{document: newDocument(root)}
	out := st.schema(root, "#")
	if t := out.get("type"); t == nil || string(t.raw) != `"object"` {
		st.block("no type object", "#")
	}
	return out.appendTo(nil), st.blockers
}

// stricter makes one schema strict.
type stricter struct {
	document
	blockers []string
}

func (st *stricter) block(what, at string) {
	st.blockers = append(st.blockers, what+" at "+at)
}

// schema makes one schema of the document strict.
func (st *stricter) schema(n *node, at string) *node {
	if n.kind != kindObject {
		st.block("no object", at)
		return n
	}
	out := &builder{}
	st.typed(n, out, at)
	for _, m := range n.members {
		st.keyword(n, m, out, at)
	}
	if n.has("$ref") {
		out.wrapRef()
	}
	if isObjectSchema(n) {
		st.closed(n, out, at)
	}
	if takesType(n, "array") && !n.has("items") {
		st.block("no items", at)
	}
	return out.node()
}

// typed adds the type where it is not given but follows from other keywords.
func (st *stricter) typed(n *node, out *builder, at string) {
	if n.has("type") || n.has("$ref") || n.has("anyOf") || n.has("allOf") {
		return
	}
	switch {
	case n.has("enum"):
		out.add("type", typesOf(n.get("enum").items))
	case n.has("const"):
		out.add("type", typesOf([]*node{n.get("const")}))
	case n.has("properties"):
		out.add("type", text("object"))
	case n.has("items"):
		out.add("type", text("array"))
	default:
		st.block("no type", at)
	}
}

// keyword adds what one keyword becomes.
func (st *stricter) keyword(n *node, m member, out *builder, at string) {
	key := string(m.key)
	below := at + "/" + escapePointer(key)
	switch class := classOf(key); {
	case class == kept && m.val.kind == kindBool && strings.HasPrefix(key, "exclusive"):
		st.block(key, at) // the form of draft 4
	case class == kept:
		out.members = append(out.members, m)
	case class == refused && !isVacuous(key, m.val):
		st.block(key, at)
	case class == special:
		st.special(n, key, m.val, out, at, below)
	}
}

// special adds what a keyword becomes that other rules than the usual hold for.
func (st *stricter) special(n *node, key string, val *node, out *builder, at, below string) {
	switch key {
	case "properties":
		out.add(key, st.properties(n, val, below))
	case "items":
		out.add(key, st.schema(val, below))
	case "$defs", "definitions":
		out.add(key, st.schemas(val, below))
	case "anyOf":
		if at == "#" {
			st.block(key, at)
		}
		out.add(key, st.schemas(val, below))
	case "allOf":
		if len(val.branches()) != 1 || n.has("anyOf") {
			st.block(key, at)
			return
		}
		out.add("anyOf", st.schemas(val, below))
	case "$ref":
		st.ref(n, val, out, at)
	case "format":
		if !isFormat(val) {
			st.block("format "+string(val.raw), at)
			return
		}
		out.add(key, val)
	case "$id":
		if at != "#" {
			st.block(key, at)
		}
	}
}

// schemas makes each schema in an array or object strict.
func (st *stricter) schemas(n *node, at string) *node {
	switch n.kind {
	case kindArray:
		items := make([]*node, len(n.items))
		for i, item := range n.items {
			items[i] = st.schema(item, fmt.Sprintf("%s/%d", at, i))
		}
		return list(items...)
	case kindObject:
		out := &builder{}
		for _, m := range n.members {
			out.members = append(out.members, member{m.key, m.name, st.schema(m.val, at+"/"+escapePointer(string(m.key)))})
		}
		return out.node()
	}
	st.block("no schemas", at)
	return n
}

// properties makes those that are not required in n take null.
func (st *stricter) properties(n, props *node, at string) *node {
	if props.kind != kindObject {
		st.block("no object", at)
		return props
	}
	out := &builder{}
	for _, m := range props.members {
		sub := st.schema(m.val, at+"/"+escapePointer(string(m.key)))
		if !requires(n, string(m.key)) && !st.nullable(m.val) {
			sub = orNull(sub)
		}
		out.members = append(out.members, member{m.key, m.name, sub})
	}
	return out.node()
}

// ref adds a reference to a schema that is strict itself.
func (st *stricter) ref(n, ref *node, out *builder, at string) {
	path := decodeString(ref.raw)
	isShared := path == "#" || strings.HasPrefix(path, "#/$defs/") || strings.HasPrefix(path, "#/definitions/")
	switch {
	case at == "#", ref.kind != kindString, !isShared, st.resolve(ref) == nil:
		st.block("$ref "+string(ref.raw), at)
	default:
		for _, m := range n.members {
			if key := string(m.key); key != "$ref" && key != "description" && key != "title" && classOf(key) != left {
				st.block(key+" beside $ref", at)
			}
		}
	}
	out.add("$ref", ref)
}

// closed adds that an object has exactly its properties.
func (st *stricter) closed(n *node, out *builder, at string) {
	additional, props := n.get("additionalProperties"), n.get("properties")
	isClosed := additional != nil && string(additional.raw) == "false"
	switch {
	case additional != nil && !isClosed:
		st.block("additionalProperties", at)
	case props == nil && !isClosed && at != "#":
		st.block("no properties", at)
	}
	if props == nil {
		out.add("properties", (&builder{}).node())
	}
	var names []*node
	if props != nil && props.kind == kindObject {
		for _, m := range props.members {
			names = append(names, &node{kind: kindString, raw: m.name, size: 1})
		}
	}
	for _, name := range n.get("required").branches() {
		if props == nil || props.kind == kindObject && !props.has(decodeString(name.raw)) {
			st.block("required "+string(name.raw), at)
		}
	}
	out.add("required", list(names...))
	out.add("additionalProperties", literal("false"))
}

// orNull makes a strict schema take null too.
func orNull(n *node) *node {
	if n.kind != kindObject {
		return n
	}
	if n.has("$ref") || n.has("anyOf") && (n.has("type") || n.has("enum") || n.has("const")) {
		return alternatives(n)
	}
	out := &builder{}
	for _, m := range n.members {
		switch string(m.key) {
		case "type":
			m.val = withItem(m.val, text("null"))
		case "enum", "anyOf":
			null := literal("null")
			if string(m.key) == "anyOf" {
				null = nullSchema()
			}
			m.val = withItem(m.val, null)
		case "const":
			m = named("enum", list(m.val, literal("null")))
		}
		out.members = append(out.members, m)
	}
	return out.node()
}

// wrapRef puts a reference with something beside it into a union of its own:
// beside a reference nothing is taken.
func (b *builder) wrapRef() {
	for i, m := range b.members {
		if string(m.key) == "$ref" && len(b.members) > 1 {
			b.members[i] = named("anyOf", list((&builder{[]member{m}}).node()))
		}
	}
}

// alternatives returns a schema that takes what n takes, and null.
func alternatives(n *node) *node {
	out := &builder{}
	out.add("anyOf", list(n, nullSchema()))
	return out.node()
}

func nullSchema() *node {
	out := &builder{}
	out.add("type", text("null"))
	return out.node()
}

// withItem appends to a list, or makes one of the only item.
func withItem(n, item *node) *node {
	if n.kind == kindArray {
		return list(append(append([]*node(nil), n.items...), item)...)
	}
	return list(n, item)
}
