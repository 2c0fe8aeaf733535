package ai

import (
	"encoding/json"
	"fmt"
	"math/big"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/invopop/jsonschema"
)

// object returns the schema of a struct: closed, its properties in the order
// in which they are encoded.
func (b *inference) object(t reflect.Type, path []string) (*jsonschema.Schema, error) {
	var fields []*jsonField
	var values []*jsonschema.Schema
	for _, f := range jsonFields(t) {
		if b.dir == input && schemaTags(f)[0] == "-" {
			continue // hidden from senders, but encoded all the same
		}
		s, err := b.field(f, append(slices.Clip(path), f.key))
		if err != nil {
			return nil, err
		}
		fields, values = append(fields, f), append(values, s)
	}
	s := applyTags(fields, values)
	s.Type, s.AdditionalProperties = "object", jsonschema.FalseSchema
	s.Required = nil
	for i, f := range fields {
		property, _ := s.Properties.Get(f.key)
		s.Properties.Set(f.key, mendTags(property, values[i], f))
		if b.required(f) {
			s.Required = append(s.Required, f.key)
		}
	}
	return s, nil
}

// required reports whether every object that fits has the field. A tag can
// ask a sender for a field, but can't make encoding/json encode it.
func (b *inference) required(f *jsonField) bool {
	if b.dir == input && slices.Contains(schemaTags(f), "required") {
		return true
	}
	return !f.absent() && f.Type.Kind() != reflect.Pointer
}

// field returns the schema of the values of f, its tags not yet read.
func (b *inference) field(f *jsonField, path []string) (*jsonschema.Schema, error) {
	if b.dir == input && f.locked != nil {
		return nil, typeError(f.locked, path, "an embedded pointer that encoding/json can't set")
	}
	t := f.Type
	if f.omitsNil() && t.Kind() == reflect.Pointer {
		t = t.Elem() // what it points to may be null all the same
	}
	s, err := b.value(t, path)
	if err != nil {
		return nil, err
	}
	if k := directType(t).Kind(); s.Ref != "" && (k == reflect.Slice || k == reflect.Array) {
		s.Type, s.Items = "array", &jsonschema.Schema{} // for the tags; see mendTags
	}
	if f.quoted {
		b.quote(s, directType(f.Type))
	}
	if f.omitsNil() && t == f.Type {
		unmarkNull(s)
	}
	return s, nil
}

// applyTags has the tags of fields read by the reflector: it sees a struct
// with the same tags, whose n-th field has the type [n]struct{} and is mapped
// to the n-th of values. So everything else about fields is decided here.
func applyTags(fields []*jsonField, values []*jsonschema.Schema) *jsonschema.Schema {
	stand := make([]reflect.StructField, len(fields))
	keys := make(map[string]string, len(fields))
	for i, f := range fields {
		stand[i] = reflect.StructField{
			Name: "F" + strconv.Itoa(i),
			Type: reflect.ArrayOf(i, reflect.TypeFor[struct{}]()),
			Tag:  tagsOf(f),
		}
		keys[stand[i].Name] = f.key
	}
	r := jsonschema.Reflector{
		Anonymous:                  true,
		DoNotReference:             true,
		RequiredFromJSONSchemaTags: true,
		KeyNamer:                   func(name string) string { return keys[name] },
		Mapper: func(t reflect.Type) *jsonschema.Schema {
			if t.Kind() != reflect.Array {
				return nil
			}
			s := *values[t.Len()]
			if s.Items != nil {
				items := *s.Items
				s.Items = &items
			}
			return &s
		},
	}
	s := r.ReflectFromType(reflect.StructOf(stand))
	s.Version = ""
	return s
}

// tagsOf returns the tags of f that describe its values.
func tagsOf(f *jsonField) reflect.StructTag {
	var tags []string
	for _, key := range []string{"jsonschema", "jsonschema_description", "jsonschema_extras"} {
		if value, ok := f.Tag.Lookup(key); ok && schemaTags(f)[0] != "-" {
			tags = append(tags, key+":"+strconv.Quote(value))
		}
	}
	return reflect.StructTag(strings.Join(tags, " "))
}

func schemaTags(f *jsonField) []string {
	return strings.Split(f.Tag.Get("jsonschema"), ",")
}

// mendTags puts right what reading the tags of f into before has made of it.
func mendTags(s, before *jsonschema.Schema, f *jsonField) *jsonschema.Schema {
	if len(s.OneOf) == 2 && slices.Contains(schemaTags(f), "nullable") {
		s = s.OneOf[0]
		markNull(s)
	}
	if s.Description == "" {
		s.Description = before.Description
	}
	mendBounds(s, before)
	if s.Items != nil && before.Items != nil {
		mendBounds(s.Items, before.Items)
	}
	mendDefault(s)
	if s.Ref != "" { // the type was there for the tags alone
		s.Type = ""
		if reflect.DeepEqual(s.Items, &jsonschema.Schema{}) {
			s.Items = nil
		}
	}
	return s
}

// mendBounds keeps the bounds of the type where those of the tags are wider.
func mendBounds(s, before *jsonschema.Schema) {
	if before.Minimum != "" && !tighterBound(s.Minimum, before.Minimum, 1) {
		s.Minimum = before.Minimum
	}
	if before.Maximum != "" && !tighterBound(s.Maximum, before.Maximum, -1) {
		s.Maximum = before.Maximum
	}
}

// tighterBound reports whether a is on the side of b that sign tells.
func tighterBound(a, b json.Number, sign int) bool {
	x, ok := new(big.Rat).SetString(string(a))
	y, _ := new(big.Rat).SetString(string(b))
	return ok && x.Cmp(y) == sign
}

// mendDefault turns the default of a list into values of its items.
func mendDefault(s *jsonschema.Schema) {
	list, ok := s.Default.([]any)
	if !ok || s.Items == nil || s.Items.Type == "string" {
		return
	}
	for i, v := range list {
		text := fmt.Sprint(v)
		if json.Valid([]byte(text)) {
			list[i] = json.RawMessage(text)
		}
	}
}
