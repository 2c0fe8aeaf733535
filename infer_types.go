package ai

import (
	"encoding"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"math/big"
	"net"
	"net/netip"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/invopop/jsonschema"
)

var (
	jsonMarshaler   = reflect.TypeFor[json.Marshaler]()
	jsonUnmarshaler = reflect.TypeFor[json.Unmarshaler]()
	textMarshaler   = reflect.TypeFor[encoding.TextMarshaler]()
	textUnmarshaler = reflect.TypeFor[encoding.TextUnmarshaler]()
)

// A describer, extender or aliaser is a type that says what its schema is.
type (
	describer interface{ JSONSchema() *jsonschema.Schema }
	extender  interface{ JSONSchemaExtend(*jsonschema.Schema) }
	aliaser   interface{ JSONSchemaAlias() any }
)

// own returns the schema of a type that isn't described by its structure:
// because it says so itself, is known, or has an encoding of its own.
func (b *inference) own(t reflect.Type, path []string) (*jsonschema.Schema, bool, error) {
	if s, ok, err := b.described(t, path); ok || err != nil {
		return s, ok, err
	}
	if s := b.known(t); s != nil {
		return s, true, nil
	}
	s, ok := b.coded(t)
	if ok {
		extendSchema(t, s)
	}
	return s, ok, nil
}

// described returns the schema that t gives of itself.
func (b *inference) described(t reflect.Type, path []string) (*jsonschema.Schema, bool, error) {
	if t.Kind() == reflect.Interface {
		return nil, false, nil
	}
	v := reflect.New(t).Interface()
	if a, ok := v.(aliaser); ok {
		if alias := reflect.TypeOf(a.JSONSchemaAlias()); alias != nil && alias != t {
			s, err := b.alias(t, alias, path)
			return s, true, err
		}
	}
	if d, ok := v.(describer); ok {
		s, err := b.adopt(d.JSONSchema(), t, path)
		return s, true, err
	}
	return nil, false, nil
}

func (b *inference) alias(t, alias reflect.Type, path []string) (*jsonschema.Schema, error) {
	if b.open[t] {
		return nil, typeError(t, path, "an alias of itself")
	}
	b.open[t] = true
	defer delete(b.open, t)
	return b.value(alias, path)
}

// adopt copies what tags may change in a schema that belongs to somebody else,
// and takes its definitions to where its references look for them.
func (b *inference) adopt(theirs *jsonschema.Schema, t reflect.Type, path []string) (*jsonschema.Schema, error) {
	if theirs == nil {
		return &jsonschema.Schema{}, nil
	}
	s := *theirs
	for _, name := range slices.Sorted(maps.Keys(s.Definitions)) {
		def := s.Definitions[name]
		if b.taken[name] && !reflect.DeepEqual(b.defs[name], def) {
			return nil, typeError(t, path, fmt.Sprintf("described with a second definition named %q", name))
		}
		b.taken[name] = true
		b.defs[name] = def
	}
	s.Version, s.ID, s.Definitions = "", "", nil
	if s.Items != nil {
		items := *s.Items
		s.Items = &items
		detach(s.Items)
	}
	detach(&s)
	return &s, nil
}

// detach makes the lists and maps of s its own.
func detach(s *jsonschema.Schema) {
	s.AllOf, s.AnyOf, s.OneOf = slices.Clone(s.AllOf), slices.Clone(s.AnyOf), slices.Clone(s.OneOf)
	s.Enum, s.Examples = slices.Clone(s.Enum), slices.Clone(s.Examples)
	s.Extras = maps.Clone(s.Extras)
}

func extendSchema(t reflect.Type, s *jsonschema.Schema) {
	if t.Kind() == reflect.Interface {
		return
	}
	if v, ok := reflect.New(t).Interface().(extender); ok {
		v.JSONSchemaExtend(s)
	}
}

// known returns the schema of a type whose encoding its methods hide.
func (b *inference) known(t reflect.Type) *jsonschema.Schema {
	switch t {
	case reflect.TypeFor[time.Time]():
		return &jsonschema.Schema{Type: "string", Format: "date-time"}
	case reflect.TypeFor[json.RawMessage]():
		return &jsonschema.Schema{}
	case reflect.TypeFor[json.Number]():
		return &jsonschema.Schema{Type: "number"}
	case reflect.TypeFor[big.Int]():
		if b.dir == input { // encoded, it is a number behind a pointer only
			return &jsonschema.Schema{Type: "integer"}
		}
	case reflect.TypeFor[net.IP](), reflect.TypeFor[netip.Addr]():
		s := &jsonschema.Schema{Type: "string"}
		if b.dir == input {
			s.AnyOf = []*jsonschema.Schema{{Format: "ipv4"}, {Format: "ipv6"}}
		}
		return s
	}
	return nil
}

// coded returns the schema of a type with an encoding of its own: a string if
// that is a text, else anything. Methods of the pointer count when decoding;
// when encoding they are used for some values and not for others.
func (b *inference) coded(t reflect.Type) (*jsonschema.Schema, bool) {
	pointer := reflect.PointerTo(t)
	if b.dir == input {
		switch {
		case pointer.Implements(jsonUnmarshaler):
			return &jsonschema.Schema{}, true
		case pointer.Implements(textUnmarshaler):
			return &jsonschema.Schema{Type: "string"}, true
		}
		return nil, false
	}
	switch {
	case pointer.Implements(jsonMarshaler):
		return &jsonschema.Schema{}, true
	case t.Implements(textMarshaler) && t.Kind() != reflect.Interface:
		return &jsonschema.Schema{Type: "string"}, true
	case pointer.Implements(textMarshaler):
		return &jsonschema.Schema{}, true
	}
	return nil, false
}

// structure returns the schema of t as its kind has it.
func (b *inference) structure(t reflect.Type, path []string) (*jsonschema.Schema, error) {
	switch t.Kind() {
	case reflect.Bool:
		return &jsonschema.Schema{Type: "boolean"}, nil
	case reflect.String:
		return &jsonschema.Schema{Type: "string"}, nil
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64,
		reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64, reflect.Uintptr,
		reflect.Float32, reflect.Float64:
		return numericSchema(t), nil
	case reflect.Slice, reflect.Array:
		return b.list(t, path)
	case reflect.Map:
		return b.mapping(t, path)
	case reflect.Struct:
		return b.object(t, path)
	case reflect.Interface:
		if b.dir == input && t.NumMethod() > 0 {
			return nil, typeError(t, path, "an interface that nothing can be decoded into")
		}
		return &jsonschema.Schema{}, nil
	}
	return nil, typeError(t, path, "of kind "+t.Kind().String()+", which has no JSON form")
}

func (b *inference) list(t reflect.Type, path []string) (*jsonschema.Schema, error) {
	if t.Kind() == reflect.Slice && b.isBytes(t.Elem()) {
		return &jsonschema.Schema{Type: "string", ContentEncoding: "base64", Pattern: base64Pattern}, nil
	}
	items, err := b.value(t.Elem(), append(slices.Clip(path), "[]"))
	if err != nil {
		return nil, err
	}
	s := &jsonschema.Schema{Type: "array", Items: items}
	if t.Kind() == reflect.Array {
		n := uint64(t.Len())
		s.MinItems, s.MaxItems = &n, &n
	}
	return s, nil
}

// isBytes reports whether a slice of elem is encoded in base64.
func (b *inference) isBytes(elem reflect.Type) bool {
	if elem.Kind() != reflect.Uint8 {
		return false
	}
	p := reflect.PointerTo(elem)
	return !p.Implements(jsonMarshaler) && !p.Implements(textMarshaler)
}

func (b *inference) mapping(t reflect.Type, path []string) (*jsonschema.Schema, error) {
	keys, err := b.mapKeys(t.Key(), path)
	if err != nil {
		return nil, err
	}
	values, err := b.value(t.Elem(), append(slices.Clip(path), "[]"))
	if err != nil {
		return nil, err
	}
	return &jsonschema.Schema{Type: "object", PropertyNames: keys, AdditionalProperties: values}, nil
}

// mapKeys returns the schema of the keys of a map, or nil for any text.
func (b *inference) mapKeys(key reflect.Type, path []string) (*jsonschema.Schema, error) {
	text := key.Implements(textMarshaler)
	if b.dir == input {
		text = reflect.PointerTo(key).Implements(textUnmarshaler)
	}
	switch {
	case text:
		if s := b.known(key); s != nil && s.Type == "string" {
			return s, nil
		}
		return nil, nil
	case key.Kind() == reflect.String:
		return nil, nil
	case isIntegerKind(key.Kind()):
		pattern, format := integerDigits(key)
		return &jsonschema.Schema{Pattern: pattern, Format: format}, nil
	}
	return nil, typeError(key, path, "a map key that has no JSON form")
}

func isIntegerKind(k reflect.Kind) bool {
	return k >= reflect.Int && k <= reflect.Uintptr
}

func isUnsignedKind(k reflect.Kind) bool {
	return k >= reflect.Uint && k <= reflect.Uintptr
}

func isFloatKind(k reflect.Kind) bool {
	return k == reflect.Float32 || k == reflect.Float64
}

// numericSchema returns a schema with the bounds of a type of numbers.
func numericSchema(t reflect.Type) *jsonschema.Schema {
	s := &jsonschema.Schema{Type: "number"}
	switch t.Kind() {
	case reflect.Float32:
		s.Maximum = json.Number(strconv.FormatFloat(math.MaxFloat32, 'g', -1, 32))
		s.Minimum = "-" + s.Maximum
	case reflect.Float64:
		s.Maximum = json.Number(strconv.FormatFloat(math.MaxFloat64, 'g', -1, 64))
		s.Minimum = "-" + s.Maximum
	default:
		s.Type = "integer"
		low, high := integerBounds(t)
		s.Minimum, s.Maximum = json.Number(low), json.Number(high)
	}
	return s
}

// integerBounds returns the digits of the least and greatest value of t.
func integerBounds(t reflect.Type) (low, high string) {
	bits := t.Bits()
	if isUnsignedKind(t.Kind()) {
		return "0", strconv.FormatUint(math.MaxUint64>>(64-bits), 10)
	}
	return strconv.FormatInt(math.MinInt64>>(64-bits), 10), strconv.FormatInt(math.MaxInt64>>(64-bits), 10)
}

// typeError names a type, where it stands, and what is wrong with it.
func typeError(t reflect.Type, path []string, problem string) error {
	text := fmt.Sprintf("%s is %s", t, problem)
	if len(path) > 0 {
		text = "field " + strings.ReplaceAll(strings.Join(path, "."), ".[]", "[]") + ": " + text
	}
	return errors.New(text)
}
