package coerce

import (
	"slices"
	"strings"
)

// class says what strict schemas do with a keyword.
type class uint8

const (
	left    class = iota // out, as it says nothing about validity
	kept                 // as it is
	special              // by a rule of its own
	refused              // not at all: it stands in the way
)

// classOf returns the class of a keyword, by what OpenAI documents: types,
// enum, const, anyOf, references and definitions; for strings pattern and some
// formats, for numbers the bounds, for arrays the numbers of items.
func classOf(keyword string) class {
	switch keyword {
	case "type", "enum", "const", "title", "description", "pattern",
		"multipleOf", "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "minItems", "maxItems":
		return kept
	case "properties", "items", "$defs", "definitions", "anyOf", "allOf", "$ref", "format", "$id":
		return special
	case "oneOf", "not", "if", "then", "else",
		"dependentRequired", "dependentSchemas", "dependencies",
		"patternProperties", "propertyNames", "minProperties", "maxProperties", "unevaluatedProperties",
		"prefixItems", "additionalItems", "contains", "minContains", "maxContains", "uniqueItems", "unevaluatedItems",
		"minLength", "maxLength", "$dynamicRef", "$recursiveRef":
		return refused
	}
	return left
}

// isVacuous reports whether a keyword that is refused says nothing with the
// value.
func isVacuous(keyword string, val *node) bool {
	switch keyword {
	case "uniqueItems":
		return string(val.raw) == "false"
	case "minLength", "minProperties":
		return string(val.raw) == "0"
	}
	return false
}

func isFormat(val *node) bool {
	return val.kind == kindString && slices.Contains([]string{
		"date-time", "time", "date", "duration", "email", "hostname", "ipv4", "ipv6", "uuid",
	}, decodeString(val.raw))
}

// isObjectSchema reports whether a schema speaks of objects.
func isObjectSchema(n *node) bool {
	return takesType(n, "object") || n.has("properties") && !n.has("type")
}

// takesType reports whether the keyword type is there and has the name.
func takesType(n *node, name string) bool {
	types := n.get("type")
	if types == nil {
		return false
	}
	if types.kind == kindString {
		return decodeString(types.raw) == name
	}
	return slices.ContainsFunc(types.branches(), func(t *node) bool { return decodeString(t.raw) == name })
}

// requires reports whether the keyword required names the property.
func requires(n *node, name string) bool {
	required := n.get("required")
	return required != nil && slices.ContainsFunc(required.branches(), func(r *node) bool {
		return r.kind == kindString && decodeString(r.raw) == name
	})
}

// typesOf returns the keyword type for some values.
func typesOf(values []*node) *node {
	var types []*node
	for _, v := range values {
		name := []string{"null", "boolean", "number", "string", "array", "object"}[v.kind]
		if !slices.ContainsFunc(types, func(t *node) bool { return string(t.raw) == `"`+name+`"` }) {
			types = append(types, text(name))
		}
	}
	if len(types) == 1 {
		return types[0]
	}
	return list(types...)
}

func escapePointer(step string) string {
	return strings.ReplaceAll(strings.ReplaceAll(step, "~", "~0"), "/", "~1")
}
