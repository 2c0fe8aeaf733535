package coerce

import (
	"slices"
	"strings"
	"unicode"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// takesText reports whether a string could fit s, for all that its keywords
// about types say.
func (r *run) takesText(s *jsonschema.Schema) bool {
	if takes, ok := r.text[s]; ok {
		return takes
	}
	r.text[s] = true // while it is being found out: a reference to itself adds nothing
	takes := r.mayBeText(s)
	r.text[s] = takes
	return takes
}

func (r *run) mayBeText(s *jsonschema.Schema) bool {
	if s.Bool != nil {
		return *s.Bool
	}
	if !r.bits.takes(s.Types, kindString) || s.Const != nil && !isText(*s.Const) || s.Enum != nil && !anyText(s.Enum.Values) {
		return false
	}
	for _, sub := range conjuncts(s) {
		if !r.takesText(sub) {
			return false
		}
	}
	return r.oneTakesText(s.AnyOf) && r.oneTakesText(s.OneOf)
}

func (r *run) oneTakesText(subs []*jsonschema.Schema) bool {
	for _, sub := range subs {
		if r.takesText(sub) {
			return true
		}
	}
	return len(subs) == 0
}

func isText(v any) bool {
	_, ok := v.(string)
	return ok
}

func anyText(values []any) bool {
	for _, v := range values {
		if isText(v) {
			return true
		}
	}
	return false
}

// conjuncts returns the schemas that what fits s fits in any case: those it
// refers to and those of allOf.
func conjuncts(s *jsonschema.Schema) []*jsonschema.Schema {
	var subs []*jsonschema.Schema
	if s.Ref != nil {
		subs = append(subs, s.Ref)
	}
	if s.RecursiveRef != nil {
		subs = append(subs, s.RecursiveRef)
	}
	if s.DynamicRef != nil {
		subs = append(subs, s.DynamicRef.Ref)
	}
	return append(subs, s.AllOf...)
}

// declares reports whether s has something to say about the key, in whatever
// branch.
func declares(s *jsonschema.Schema, key string, seen map[*jsonschema.Schema]bool) bool {
	if s == nil || seen[s] {
		return false
	}
	seen[s] = true
	if s.Properties[key] != nil || slices.Contains(s.Required, key) || s.DependentSchemas[key] != nil ||
		s.DependentRequired[key] != nil || s.Dependencies[key] != nil {
		return true
	}
	for re := range s.PatternProperties {
		if re.MatchString(key) {
			return true
		}
	}
	for _, sub := range applied(s) {
		if declares(sub, key, seen) {
			return true
		}
	}
	return false
}

// loneItems returns the schema that n has to fit as the only item of an array:
// nil where s is not clearly an array of such items.
func (r *run) loneItems(s *jsonschema.Schema, n *node) *jsonschema.Schema {
	named := s.Types != nil && *s.Types&r.bits.of[kindArray] != 0
	if !named && n.kind != kindArray || !r.bits.takes(s.Types, kindArray) || len(s.PrefixItems) > 0 {
		return nil
	}
	items := s.Items2020
	if s.DraftVersion < 2020 {
		items, _ = s.Items.(*jsonschema.Schema)
	}
	if items == nil || items.Bool != nil {
		return nil
	}
	return items
}

// resembles reports whether a key of n is not declared by s but equals a
// declared one if case is ignored, as encoding/json does.
func (r *run) resembles(s *jsonschema.Schema, n *node) bool {
	if len(s.Properties) == 0 {
		return false
	}
	for _, m := range n.members {
		if s.Properties[string(m.key)] == nil && r.folded(s)[fold(string(m.key))] {
			return true
		}
	}
	return false
}

func (r *run) folded(s *jsonschema.Schema) map[string]bool {
	folds := r.folds[s]
	if folds == nil {
		folds = make(map[string]bool, len(s.Properties))
		for name := range s.Properties {
			folds[fold(name)] = true
		}
		r.folds[s] = folds
	}
	return folds
}

// fold returns a text that is the same for all texts that differ in case alone.
func fold(text string) string {
	return strings.Map(func(c rune) rune {
		least := c
		for f := unicode.SimpleFold(c); f != c; f = unicode.SimpleFold(f) {
			least = min(least, f)
		}
		return least
	}, text)
}
