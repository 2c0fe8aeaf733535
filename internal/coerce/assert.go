package coerce

import (
	"math/big"
	"strconv"
	"unicode/utf8"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// bits are the values of jsonschema.Types for one type each.
type bits struct {
	of      [kinds]jsonschema.Types
	integer jsonschema.Types
}

func newBits() bits {
	var b bits
	for k, name := range []string{"null", "boolean", "number", "string", "array", "object"} {
		b.of[k].Add(name)
	}
	b.integer.Add("integer")
	return b
}

// takes reports whether types has values of kind k.
func (b *bits) takes(types *jsonschema.Types, k kind) bool {
	if types == nil || types.IsEmpty() {
		return true
	}
	return *types&b.of[k] != 0 || k == kindNumber && *types&b.integer != 0
}

// typeFits decides the keyword type.
func (r *run) typeFits(types *jsonschema.Types, n *node) bool {
	if types == nil || types.IsEmpty() || *types&r.bits.of[n.kind] != 0 {
		return true
	}
	return n.kind == kindNumber && *types&r.bits.integer != 0 && isInteger(n.raw)
}

// asserts decides all that a schema says without other schemas.
func (r *run) asserts(s *jsonschema.Schema, n *node) bool {
	if !r.typeFits(s.Types, n) {
		return false
	}
	switch n.kind {
	case kindString:
		return r.stringFits(s, n)
	case kindNumber:
		return r.numberFits(s, n)
	case kindArray:
		if s.MinItems != nil && len(n.items) < *s.MinItems || s.MaxItems != nil && len(n.items) > *s.MaxItems {
			return false
		}
		return !s.UniqueItems && !hasValues(s) || r.bareFits(s, n)
	case kindObject:
		return r.keysFit(s, n) && (!hasValues(s) || r.bareFits(s, n))
	default:
		return !hasValues(s) || r.bareFits(s, n)
	}
}

// hasValues reports whether a schema has keywords about the value as a whole.
func hasValues(s *jsonschema.Schema) bool {
	return s.Enum != nil || s.Const != nil || s.Format != nil
}

// bareFits has the validator decide what s says without other schemas, apart
// from what is decided here.
func (r *run) bareFits(s *jsonschema.Schema, n *node) bool {
	bare := r.bare[s]
	if bare == nil {
		bare = &jsonschema.Schema{
			DraftVersion: s.DraftVersion, Location: s.Location,
			Enum: s.Enum, Const: s.Const, Format: s.Format, UniqueItems: s.UniqueItems,
			ContentEncoding: s.ContentEncoding, ContentMediaType: s.ContentMediaType, ContentSchema: s.ContentSchema,
			Maximum: s.Maximum, Minimum: s.Minimum, ExclusiveMaximum: s.ExclusiveMaximum,
			ExclusiveMinimum: s.ExclusiveMinimum, MultipleOf: s.MultipleOf,
		}
		r.bare[s] = bare
	}
	return r.spend(int(n.size)+len(n.raw)/workBytes) && bare.Validate(n.value()) == nil
}

func (r *run) keysFit(s *jsonschema.Schema, n *node) bool {
	if s.MinProperties != nil && len(n.members) < *s.MinProperties ||
		s.MaxProperties != nil && len(n.members) > *s.MaxProperties || !hasAll(n, s.Required) {
		return false
	}
	for name, required := range s.DependentRequired {
		if n.has(name) && !hasAll(n, required) {
			return false
		}
	}
	if s.PropertyNames == nil {
		return true
	}
	for _, m := range n.members {
		name := &node{kind: kindString, raw: m.name, size: 1}
		if !r.ask(s.PropertyNames, name) {
			return false
		}
	}
	return true
}

func hasAll(n *node, names []string) bool {
	for _, name := range names {
		if !n.has(name) {
			return false
		}
	}
	return true
}

func (r *run) stringFits(s *jsonschema.Schema, n *node) bool {
	if s.MinLength != nil || s.MaxLength != nil || s.Pattern != nil {
		text := r.decode(n)
		length := utf8.RuneCountInString(text)
		if s.MinLength != nil && length < *s.MinLength || s.MaxLength != nil && length > *s.MaxLength {
			return false
		}
		if s.Pattern != nil && !s.Pattern.MatchString(text) {
			return false
		}
	}
	if s.Const != nil || s.Format != nil || s.ContentEncoding != nil || s.ContentMediaType != nil {
		return r.bareFits(s, n)
	}
	return s.Enum == nil || isMember(s.Enum, r.decode(n))
}

// isMember reports whether an enum has the string.
func isMember(enum *jsonschema.Enum, text string) bool {
	for _, v := range enum.Values {
		if v, ok := v.(string); ok && v == text {
			return true
		}
	}
	return false
}

func (r *run) numberFits(s *jsonschema.Schema, n *node) bool {
	if hasValues(s) {
		return r.bareFits(s, n)
	}
	if s.Minimum == nil && s.Maximum == nil && s.ExclusiveMinimum == nil && s.ExclusiveMaximum == nil && s.MultipleOf == nil {
		return true
	}
	v, err := strconv.ParseInt(string(n.raw), 10, 64)
	if err != nil || s.MultipleOf != nil {
		return r.bareFits(s, n)
	}
	for _, bound := range []struct {
		rat         *big.Rat
		low, strict bool
	}{
		{s.Minimum, true, false}, {s.Maximum, false, false}, {s.ExclusiveMinimum, true, true}, {s.ExclusiveMaximum, false, true},
	} {
		if bound.rat == nil {
			continue
		}
		if !bound.rat.IsInt() || !bound.rat.Num().IsInt64() {
			return r.bareFits(s, n)
		}
		limit := bound.rat.Num().Int64()
		if bound.low && v < limit || !bound.low && v > limit || bound.strict && v == limit {
			return false
		}
	}
	return true
}

// isInteger reports whether a number is one for JSON Schema: 3.0 and 1e3 are.
func isInteger(number []byte) bool {
	for _, b := range number {
		if b == '.' || b == 'e' || b == 'E' {
			v, ok := new(big.Rat).SetString(string(number))
			return ok && v.IsInt()
		}
	}
	return true
}
