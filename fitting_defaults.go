package ai

import (
	"bytes"
	"strconv"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// ruleDefault is the rule of a change that fills in an absent property.
const ruleDefault = "default"

// fillDefaults adds the absent properties that the schema has a default for, in
// all objects that are there. What would not fit with them stays as it is.
func (s *schema) fillDefaults(a arguments) arguments {
	if s == nil {
		return a
	}
	f := &defaultFiller{}
	f.value("", bytes.TrimSpace(a.input), []*jsonschema.Schema{s.root})
	if len(f.changes) == 0 || s.check(f.out) != nil {
		return a
	}
	return arguments{f.out, append(a.changes, f.changes...)}
}

// defaultFiller writes a value, which is valid JSON, with defaults filled in.
type defaultFiller struct {
	out     []byte
	changes []Change
}

// value follows no alternatives: a default of one of them need not be meant.
func (f *defaultFiller) value(path string, data []byte, schemas []*jsonschema.Schema) {
	all := conjuncts(schemas)
	switch data[0] {
	case '{':
		f.object(path, data, all)
	case '[':
		f.array(path, data, all)
	default:
		f.out = append(f.out, data...)
	}
}

func (f *defaultFiller) object(path string, data []byte, all []*jsonschema.Schema) {
	members, err := readMembers(data, nil)
	if err != nil { // a key twice, which fits nothing
		f.out = append(f.out, data...)
		return
	}
	there := make(map[string]bool, len(members))
	f.out = append(f.out, '{')
	for i, m := range members {
		there[m.key] = true
		f.key(i, m.key)
		f.value(joinPath(path, m.key), m.raw, below(all, func(s *jsonschema.Schema) []any { return memberSchemas(s, m.key) }))
	}
	for _, s := range all {
		f.absent(path, s, there)
	}
	f.out = append(f.out, '}')
}

// absent adds the properties of one schema that are not there, by name.
func (f *defaultFiller) absent(path string, s *jsonschema.Schema, there map[string]bool) {
	for _, name := range sortedKeys(s.Properties) {
		value := s.Properties[name].Default
		if value == nil || there[name] {
			continue
		}
		raw, err := encode(*value)
		if err != nil {
			continue // what was read as JSON encodes
		}
		f.key(len(there), name)
		there[name] = true
		f.out = append(f.out, raw...)
		f.changes = append(f.changes, Change{Path: joinPath(path, name), To: raw, Rule: ruleDefault})
	}
}

func (f *defaultFiller) array(path string, data []byte, all []*jsonschema.Schema) {
	f.out = append(f.out, '[')
	_ = readElements(data, func(i int, raw []byte) error {
		if i > 0 {
			f.out = append(f.out, ',')
		}
		f.value(joinIndex(path, i), raw, below(all, func(s *jsonschema.Schema) []any { return itemSchemas(s, i) }))
		return nil
	})
	f.out = append(f.out, ']')
}

// key begins member n of an object.
func (f *defaultFiller) key(n int, name string) {
	if n > 0 {
		f.out = append(f.out, ',')
	}
	f.out = append(append(f.out, encodeString(name)...), ':')
}

func joinPath(path, step string) string {
	if path == "" {
		return step
	}
	return path + "." + step
}

func joinIndex(path string, i int) string { return joinPath(path, strconv.Itoa(i)) }
