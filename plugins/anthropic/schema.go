package anthropic

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
)

// object is a JSON object with its members in order, which for the properties of
// a schema is the order a model writes them in.
type object []member

type member struct {
	key   string
	value json.RawMessage
}

// readObject reads an object. Nil where it is none.
func readObject(raw json.RawMessage) object {
	dec := json.NewDecoder(bytes.NewReader(raw))
	if t, err := dec.Token(); err != nil || t != json.Delim('{') {
		return nil
	}
	o := object{}
	for dec.More() {
		key, err := dec.Token()
		if err != nil {
			return nil
		}
		var m member
		m.key, _ = key.(string)
		if dec.Decode(&m.value) != nil {
			return nil
		}
		o = append(o, m)
	}
	return o
}

func (o object) get(key string) json.RawMessage {
	for _, m := range o {
		if m.key == key {
			return m.value
		}
	}
	return nil
}

// set replaces a member, or appends it.
func (o object) set(key string, value json.RawMessage) object {
	for i := range o {
		if o[i].key == key {
			o[i].value = value
			return o
		}
	}
	return append(o, member{key, value})
}

// MarshalJSON writes the members in their order.
func (o object) MarshalJSON() ([]byte, error) {
	var buf bytes.Buffer
	buf.WriteByte('{')
	for i, m := range o {
		if i > 0 {
			buf.WriteByte(',')
		}
		buf.Write(encode(m.key))
		buf.WriteByte(':')
		buf.Write(m.value)
	}
	buf.WriteByte('}')
	return buf.Bytes(), nil
}

func elements(raw json.RawMessage) []json.RawMessage {
	var list []json.RawMessage
	if json.Unmarshal(raw, &list) != nil {
		return nil
	}
	return list
}

// plainSchema is an input schema as the API takes it: of type object, and no
// choice of schemas at its root. What had to go from there is said in the note,
// and the properties it speaks of are among those of the root.
func plainSchema(raw json.RawMessage) (schema json.RawMessage, note string) {
	root := readObject(raw)
	if root == nil {
		return json.RawMessage(`{"type":"object"}`), ""
	}
	var gone object
	for _, key := range []string{"allOf", "anyOf", "oneOf"} {
		if value := root.get(key); value != nil {
			gone = append(gone, member{key, value})
			root = slices.DeleteFunc(root, func(m member) bool { return m.key == key })
		}
	}
	if gone == nil && text(root.get("type")) == "object" {
		return raw, ""
	}
	root = root.set("type", json.RawMessage(`"object"`))
	if gone == nil {
		return encode(root), ""
	}
	properties := readObject(root.get("properties"))
	for _, m := range gone {
		for _, branch := range elements(m.value) {
			properties = properties.adopt(root.resolve(branch).get("properties"))
		}
	}
	if len(properties) > 0 {
		root = root.set("properties", encode(properties))
	}
	return encode(root), "The arguments must also fit this JSON schema: " + string(encode(gone))
}

// adopt adds the properties that o does not have.
func (o object) adopt(properties json.RawMessage) object {
	for _, m := range readObject(properties) {
		if o.get(m.key) == nil {
			o = append(o, m)
		}
	}
	return o
}

// resolve reads a schema inside o, which may be a reference to a shared one.
func (o object) resolve(raw json.RawMessage) object {
	schema := readObject(raw)
	if shared, name, ok := reference(schema); ok {
		return readObject(readObject(o.get(shared)).get(name))
	}
	return schema
}

// reference is where a schema refers to, if it refers to a shared schema.
func reference(schema object) (shared, name string, ok bool) {
	steps := strings.Split(text(schema.get("$ref")), "/")
	if len(steps) != 3 || steps[0] != "#" {
		return "", "", false
	}
	return steps[1], strings.NewReplacer("~1", "/", "~0", "~").Replace(steps[2]), true
}

// limiter takes out of strict schemas what the API does not sample by. What goes
// is said in the description, and arguments are held to it afterwards all the same.
type limiter struct {
	unions int // schemas that take more than one type
}

func (l *limiter) schema(raw json.RawMessage) json.RawMessage {
	o := readObject(raw)
	if o == nil {
		return raw
	}
	var out object
	var gone []string
	for _, m := range o {
		switch m.key {
		case "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf", "maxItems":
			gone = append(gone, m.key+": "+string(m.value))
			continue
		case "minItems":
			if n := string(m.value); n != "0" && n != "1" {
				gone = append(gone, m.key+": "+n)
				continue
			}
		case "anyOf":
			l.unions++
			m.value = l.list(m.value)
		case "type":
			if m.value[0] == '[' {
				l.unions++
			}
		case "items":
			m.value = l.schema(m.value)
		case "properties", "$defs", "definitions":
			m.value = l.named(m.value)
		}
		out = append(out, m)
	}
	if gone != nil {
		note := "(" + strings.Join(gone, ", ") + ")"
		out = out.set("description", encode(joined(text(out.get("description")), note)))
	}
	return encode(out)
}

func (l *limiter) list(raw json.RawMessage) json.RawMessage {
	list := elements(raw)
	for i := range list {
		list[i] = l.schema(list[i])
	}
	return encode(list)
}

func (l *limiter) named(raw json.RawMessage) json.RawMessage {
	o := readObject(raw)
	for i := range o {
		o[i].value = l.schema(o[i].value)
	}
	return encode(o)
}

// isRecursive reports whether a schema contains itself by reference.
func isRecursive(raw json.RawMessage) bool {
	r := &references{root: readObject(raw), ended: map[string]bool{}}
	return r.comeBack(raw, nil)
}

// references follows those of a schema.
type references struct {
	root  object
	ended map[string]bool // those known not to come back
}

// comeBack reports whether the references below a schema lead to one that was
// passed on the way to it, or to the root.
func (r *references) comeBack(raw json.RawMessage, passed []string) bool {
	o := readObject(raw)
	if o == nil {
		return slices.ContainsFunc(elements(raw), func(e json.RawMessage) bool { return r.comeBack(e, passed) })
	}
	ref := text(o.get("$ref"))
	if ref == "#" || ref != "" && slices.Contains(passed, ref) {
		return true
	}
	if shared, name, ok := reference(o); ok && !r.ended[ref] {
		target := readObject(r.root.get(shared)).get(name)
		if r.comeBack(target, append(slices.Clip(passed), ref)) {
			return true
		}
		r.ended[ref] = true
	}
	return slices.ContainsFunc(o, func(m member) bool {
		return m.key != "$defs" && m.key != "definitions" && r.comeBack(m.value, passed)
	})
}
