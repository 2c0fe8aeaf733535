package ai

import (
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/invopop/jsonschema"
)

// A direction tells which way values pass through a schema: what decodes into
// a type is not quite what the type encodes to.
type direction int

const (
	input  direction = iota // JSON that json.Unmarshal decodes into the type
	output                  // JSON that json.Marshal makes of the type
)

// maxInlined is how many subschemas a schema may have before types that are
// not recursive are shared under $defs too.
const maxInlined = 300

// inferSchema returns the JSON schema of what encoding/json decodes into t
// (input: what fits the schema decodes) or encodes t to (output: what is
// encoded fits). The same type always gives the same bytes. Types that have
// no JSON form are an error that names type and field.
//
// Types describe themselves by a method JSONSchema() *jsonschema.Schema,
// JSONSchemaExtend(*jsonschema.Schema) or JSONSchemaAlias() any, and fields by
// the tags jsonschema, jsonschema_description and jsonschema_extras, all as
// github.com/invopop/jsonschema reads them.
func inferSchema(t reflect.Type, dir direction) (raw json.RawMessage, err error) {
	if t == nil {
		return json.RawMessage("{}"), nil
	}
	// The methods and tags of t run as part of this.
	defer func() {
		if p := recover(); p != nil {
			raw, err = nil, fmt.Errorf("describing it panicked: %v", p)
		}
	}()
	b := newInference(dir, false)
	root, err := b.value(t, nil)
	if err == nil && b.nodes > maxInlined {
		b = newInference(dir, true)
		root, err = b.value(t, nil)
	}
	if err != nil {
		return nil, err
	}
	return renderSchema(b.document(root))
}

// An inference is the work on one schema.
type inference struct {
	dir   direction
	share bool // give every struct type a definition, not just recursive ones
	nodes int  // subschemas made so far

	open  map[reflect.Type]bool         // types whose schema is being made
	names map[reflect.Type]string       // types that have a definition
	defs  map[string]*jsonschema.Schema // the definitions
	taken map[string]bool               // names of definitions given away
}

func newInference(dir direction, share bool) *inference {
	return &inference{
		dir:   dir,
		share: share,
		open:  map[reflect.Type]bool{},
		names: map[reflect.Type]string{},
		defs:  map[string]*jsonschema.Schema{},
		taken: map[string]bool{},
	}
}

// value returns a schema, not shared with any other place, for values of type
// t at path. Where such a value may be encoded as null it is marked so.
func (b *inference) value(t reflect.Type, path []string) (*jsonschema.Schema, error) {
	b.nodes++
	if b.nodes > maxInlined && !b.share {
		return &jsonschema.Schema{}, nil // the result will be thrown away
	}
	base, err := pointedType(t, path)
	if err != nil {
		return nil, err
	}
	s, err := b.named(base, path)
	if err != nil {
		return nil, err
	}
	if b.dir == output && nilable(t, base) {
		markNull(s)
	}
	return s, nil
}

// pointedType follows pointers to the type that is encoded.
func pointedType(t reflect.Type, path []string) (reflect.Type, error) {
	for seen := map[reflect.Type]bool{}; t.Kind() == reflect.Pointer; t = t.Elem() {
		if seen[t] {
			return nil, typeError(t, path, "a pointer to itself")
		}
		seen[t] = true
	}
	return t, nil
}

// nilable reports whether a t, which leads to a base, may be encoded as null.
func nilable(t, base reflect.Type) bool {
	if t != base {
		return true
	}
	if base.Kind() != reflect.Slice && base.Kind() != reflect.Map {
		return false
	}
	return !base.Implements(textMarshaler) || base.Implements(jsonMarshaler)
}

// named returns the schema of t itself or, if t contains itself, a reference
// to its definition.
func (b *inference) named(t reflect.Type, path []string) (*jsonschema.Schema, error) {
	if s, ok, err := b.own(t, path); ok || err != nil {
		return s, err
	}
	if b.open[t] || b.defs[b.names[t]] != nil {
		return b.reference(t), nil
	}
	b.open[t] = true
	s, err := b.structure(t, path)
	delete(b.open, t)
	if err != nil {
		return nil, err
	}
	extendSchema(t, s)
	shared := b.share && len(path) > 0 && t.Kind() == reflect.Struct && t.Name() != ""
	if b.names[t] == "" && !shared {
		return s, nil
	}
	ref := b.reference(t)
	b.defs[b.names[t]] = s
	return ref, nil
}

// reference returns a reference to the definition of t.
func (b *inference) reference(t reflect.Type) *jsonschema.Schema {
	if b.names[t] == "" {
		b.names[t] = b.definitionName(t)
	}
	return &jsonschema.Schema{Ref: "#/$defs/" + b.names[t]}
}

// definitionName gives t a name that no other type has: its own, without what
// would need escaping in a reference, and a number if that is taken.
func (b *inference) definitionName(t reflect.Type) string {
	base := strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9', r == '_':
			return r
		}
		return '_'
	}, shortTypeName(t))
	name := base
	for i := 2; b.taken[name]; i++ {
		name = fmt.Sprintf("%s_%d", base, i)
	}
	b.taken[name] = true
	return name
}

// shortTypeName is the name of t, without the packages of its type arguments.
func shortTypeName(t reflect.Type) string {
	name, arguments, generic := strings.Cut(strings.TrimSuffix(t.Name(), "]"), "[")
	if !generic {
		return name
	}
	for _, argument := range strings.Split(arguments, ",") {
		name += "_" + argument[strings.LastIndexAny(argument, "./")+1:]
	}
	return name
}

// document makes root, which is a reference if the type is recursive, the
// schema of a whole document.
func (b *inference) document(root *jsonschema.Schema) *jsonschema.Schema {
	spell := nullSpeller{}
	for _, name := range slices.Sorted(maps.Keys(b.defs)) {
		spell.schema(b.defs[name])
	}
	spell.schema(root)
	if name, ok := strings.CutPrefix(root.Ref, "#/$defs/"); ok && b.defs[name] != nil {
		// Providers want to see an object at the top.
		whole := *b.defs[name]
		root = &whole
	}
	if len(b.defs) > 0 {
		root.Definitions = b.defs
	}
	return root
}
