package ai

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"github.com/invopop/jsonschema"
)

// nullKey marks schemas whose value may be null too, until their tags have
// been read: those depend on the type being a single word.
const nullKey = "holdpoint:null"

func markNull(s *jsonschema.Schema) {
	if s.Extras == nil {
		s.Extras = map[string]any{}
	}
	s.Extras[nullKey] = true
}

func unmarkNull(s *jsonschema.Schema) { delete(s.Extras, nullKey) }

// A nullSpeller replaces marks by schemas that take null. It knows where it
// has been: definitions may share parts.
type nullSpeller map[*jsonschema.Schema]bool

func (n nullSpeller) schema(s *jsonschema.Schema) {
	if s == nil || n[s] {
		return
	}
	n[s] = true
	n.below(s)
	if s.Extras[nullKey] == nil {
		return
	}
	unmarkNull(s)
	switch {
	case takesAll(s):
	case s.Type != "" && s.Enum == nil && s.Const == nil && len(s.AllOf)+len(s.AnyOf)+len(s.OneOf) == 0 && s.Not == nil && s.Ref == "":
		s.Extras["type"] = []string{s.Type, "null"}
		s.Type = ""
	default:
		inner := *s
		inner.Title, inner.Description, inner.Default = "", "", nil
		*s = jsonschema.Schema{
			Title: s.Title, Description: s.Description, Default: s.Default,
			AnyOf: []*jsonschema.Schema{&inner, {Type: "null"}},
		}
	}
}

func (n nullSpeller) below(s *jsonschema.Schema) {
	n.schema(s.Items)
	n.schema(s.AdditionalProperties)
	if s.Properties == nil {
		return
	}
	for pair := s.Properties.Oldest(); pair != nil; pair = pair.Next() {
		n.schema(pair.Value)
	}
}

// takesAll reports whether s restrains nothing.
func takesAll(s *jsonschema.Schema) bool {
	bare := *s
	bare.Extras, bare.Title, bare.Description, bare.Default, bare.Examples = nil, "", "", nil, nil
	text, err := json.Marshal(&bare)
	return err == nil && string(text) == "true"
}

// schemaKeys is the order in which a schema is written: what it is about
// before its parts, so that it reads well. Other keywords follow by name.
func schemaKeys() []string {
	return []string{
		"title", "description", "$ref", "type", "const", "enum", "format", "contentEncoding", "pattern",
		"minimum", "exclusiveMinimum", "maximum", "exclusiveMaximum", "multipleOf",
		"minLength", "maxLength", "minItems", "maxItems", "uniqueItems", "prefixItems", "items",
		"properties", "patternProperties", "required", "propertyNames", "additionalProperties",
		"anyOf", "oneOf", "allOf", "not", "default", "examples",
	}
}

// renderSchema writes s as JSON, as an object even if it takes anything.
func renderSchema(s *jsonschema.Schema) (json.RawMessage, error) {
	raw, err := json.Marshal(s)
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	if string(raw) == "true" {
		return json.RawMessage("{}"), nil
	}
	if err := writeSchema(&b, raw); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}

func writeSchema(b *bytes.Buffer, raw json.RawMessage) error {
	if raw[0] != '{' {
		return writePlain(b, raw)
	}
	var members map[string]json.RawMessage
	if err := json.Unmarshal(raw, &members); err != nil {
		return err
	}
	known := schemaKeys()
	keys := slices.DeleteFunc(known, func(k string) bool { return members[k] == nil })
	for _, k := range slices.Sorted(maps.Keys(members)) {
		if !slices.Contains(keys, k) && k != "$defs" {
			keys = append(keys, k)
		}
	}
	if members["$defs"] != nil {
		keys = append(keys, "$defs")
	}
	return writeObject(b, keys, func(k string) error { return writeKeyword(b, k, members[k]) })
}

// writeKeyword writes the value of a keyword, which may hold schemas.
func writeKeyword(b *bytes.Buffer, keyword string, raw json.RawMessage) error {
	switch keyword {
	case "items", "additionalProperties", "not", "contains", "propertyNames", "if", "then", "else":
		return writeSchema(b, raw)
	case "properties", "patternProperties", "$defs", "dependentSchemas":
		return writeSchemaMap(b, raw)
	case "anyOf", "oneOf", "allOf", "prefixItems":
		return writeSchemaList(b, raw)
	}
	return writePlain(b, raw)
}

// writeSchemaMap keeps the order of the keys: that of properties has meaning.
func writeSchemaMap(b *bytes.Buffer, raw json.RawMessage) error {
	var members map[string]json.RawMessage
	if err := json.Unmarshal(raw, &members); err != nil {
		return err
	}
	keys, err := objectKeys(raw)
	if err != nil {
		return err
	}
	return writeObject(b, keys, func(k string) error { return writeSchema(b, members[k]) })
}

func writeSchemaList(b *bytes.Buffer, raw json.RawMessage) error {
	var items []json.RawMessage
	if err := json.Unmarshal(raw, &items); err != nil {
		return err
	}
	b.WriteByte('[')
	for i, item := range items {
		if i > 0 {
			b.WriteByte(',')
		}
		if err := writeSchema(b, item); err != nil {
			return err
		}
	}
	b.WriteByte(']')
	return nil
}

func writeObject(b *bytes.Buffer, keys []string, value func(string) error) error {
	b.WriteByte('{')
	for i, k := range keys {
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteString(compactJSON(k))
		b.WriteByte(':')
		if err := value(k); err != nil {
			return err
		}
	}
	b.WriteByte('}')
	return nil
}

// writePlain writes raw without the escapes that HTML needs.
func writePlain(b *bytes.Buffer, raw json.RawMessage) error {
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil {
		return err
	}
	b.WriteString(compactJSON(v))
	return nil
}

// objectKeys returns the keys of a JSON object as they come.
func objectKeys(raw json.RawMessage) ([]string, error) {
	d := json.NewDecoder(bytes.NewReader(raw))
	if _, err := d.Token(); err != nil {
		return nil, err
	}
	var keys []string
	for d.More() {
		token, err := d.Token()
		if err != nil {
			return nil, err
		}
		key, ok := token.(string)
		if !ok {
			return nil, fmt.Errorf("unexpected %v in an object", token)
		}
		keys = append(keys, key)
		if err := d.Decode(new(json.RawMessage)); err != nil {
			return nil, err
		}
	}
	return keys, nil
}
