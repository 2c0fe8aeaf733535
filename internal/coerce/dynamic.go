package coerce

import (
	"github.com/santhosh-tekuri/jsonschema/v6"
)

// dynamicFits decides references whose target may depend on the way by which
// they were come to.
func (r *run) dynamicFits(s *jsonschema.Schema, n *node) bool {
	if target := s.RecursiveRef; target != nil && !r.fits(r.dynamic(target, moves(s)), n) {
		return false
	}
	return s.DynamicRef == nil || r.fits(r.dynamic(s.DynamicRef.Ref, moves(s)), n)
}

// dynamic returns the target of a reference. Where it moves, only the root is
// certain: it is what all ways begin with.
func (r *run) dynamic(target *jsonschema.Schema, moves bool) *jsonschema.Schema {
	if moves && target != r.root {
		r.unsure, r.lost = true, true
	}
	return target
}

// moves reports whether s has a reference whose target depends on the way by
// which it was come to.
func moves(s *jsonschema.Schema) bool {
	ref := s.DynamicRef
	return s.RecursiveRef != nil && s.RecursiveRef.RecursiveAnchor ||
		ref != nil && ref.Anchor != "" && ref.Anchor == ref.Ref.DynamicAnchor
}

// relative reports whether the fit of a value for a part of the schema may
// depend on the way by which the part was come to: there is a reference that
// moves, or a schema refers to itself for the same value.
func (r *run) relative() bool {
	if r.isRelative != nil {
		return *r.isRelative
	}
	found := false
	seen := map[*jsonschema.Schema]bool{}
	open := map[*jsonschema.Schema]bool{}
	for next := []*jsonschema.Schema{r.root}; len(next) > 0; {
		s := next[len(next)-1]
		next = next[:len(next)-1]
		if s == nil || seen[s] {
			continue
		}
		seen[s] = true
		found = found || moves(s) || loops(s, open)
		next = append(append(next, applied(s)...), parts(s)...)
	}
	r.isRelative = &found
	return found
}

// loops reports whether s leads back to a schema that is open, without going
// into the value. Schemas that were looked at are kept, as not open.
func loops(s *jsonschema.Schema, open map[*jsonschema.Schema]bool) bool {
	if s == nil {
		return false
	}
	if isOpen, known := open[s]; known {
		return isOpen
	}
	open[s] = true
	for _, sub := range applied(s) {
		if loops(sub, open) {
			return true
		}
	}
	open[s] = false
	return false
}

// applied returns the schemas in s for the same value, some of them nil.
func applied(s *jsonschema.Schema) []*jsonschema.Schema {
	subs := append(conjuncts(s), s.Not, s.If, s.Then, s.Else)
	subs = append(append(subs, s.AnyOf...), s.OneOf...)
	for _, sub := range s.DependentSchemas {
		subs = append(subs, sub)
	}
	for _, dep := range s.Dependencies {
		subs = appendHeld(subs, dep)
	}
	return subs
}

// parts returns the schemas in s for what is inside a value, some of them nil.
func parts(s *jsonschema.Schema) []*jsonschema.Schema {
	subs := []*jsonschema.Schema{
		s.PropertyNames, s.UnevaluatedProperties, s.Contains, s.Items2020, s.UnevaluatedItems, s.ContentSchema,
	}
	subs = append(subs, s.PrefixItems...)
	for _, sub := range s.Properties {
		subs = append(subs, sub)
	}
	for _, sub := range s.PatternProperties {
		subs = append(subs, sub)
	}
	return appendHeld(subs, s.AdditionalProperties, s.AdditionalItems, s.Items)
}

// appendHeld appends what keywords hold that may hold something else.
func appendHeld(subs []*jsonschema.Schema, held ...any) []*jsonschema.Schema {
	for _, v := range held {
		switch v := v.(type) {
		case *jsonschema.Schema:
			subs = append(subs, v)
		case []*jsonschema.Schema:
			subs = append(subs, v...)
		}
	}
	return subs
}
