package ai

import (
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// schemaPlaces returns root and every schema below it by location.
func schemaPlaces(root *jsonschema.Schema) map[string]*jsonschema.Schema {
	places := map[string]*jsonschema.Schema{}
	next := []*jsonschema.Schema{root}
	for len(next) > 0 {
		s := next[len(next)-1]
		next = next[:len(next)-1]
		if s == nil || places[s.Location] != nil {
			continue
		}
		places[s.Location] = s
		next = append(next, subschemas(s)...)
	}
	return places
}

func subschemas(s *jsonschema.Schema) []*jsonschema.Schema {
	subs := []*jsonschema.Schema{
		s.Ref, s.RecursiveRef, s.Not, s.If, s.Then, s.Else, s.PropertyNames, s.UnevaluatedProperties,
		s.Contains, s.Items2020, s.UnevaluatedItems, s.ContentSchema,
	}
	if s.DynamicRef != nil {
		subs = append(subs, s.DynamicRef.Ref)
	}
	for _, group := range [][]*jsonschema.Schema{s.AllOf, s.AnyOf, s.OneOf, s.PrefixItems} {
		subs = append(subs, group...)
	}
	for _, group := range []map[string]*jsonschema.Schema{s.Properties, s.DependentSchemas} {
		for _, sub := range group {
			subs = append(subs, sub)
		}
	}
	for _, sub := range s.PatternProperties {
		subs = append(subs, sub)
	}
	for _, sub := range s.Dependencies {
		subs = appendSchema(subs, sub)
	}
	subs = appendSchema(subs, s.AdditionalProperties)
	subs = appendSchema(subs, s.AdditionalItems)
	return appendSchema(subs, s.Items)
}

// appendSchema appends what v holds, which by the keyword is a schema, a list
// of schemas, or something else.
func appendSchema(subs []*jsonschema.Schema, v any) []*jsonschema.Schema {
	switch v := v.(type) {
	case *jsonschema.Schema:
		return append(subs, v)
	case []*jsonschema.Schema:
		return append(subs, v...)
	}
	return subs
}

// schemaFaults words what a metaschema has against the part of the document
// doc at pointer.
func schemaFaults(doc any, pointer string, err *jsonschema.ValidationError) string {
	t := &faultTeller{value: doc, places: func() map[string]*jsonschema.Schema { return nil }}
	if pointer != "" {
		t.value, _ = valueAtPath(doc, strings.Split(pointer[1:], "/"))
	}
	var lines []string
	for _, f := range t.sorted(err) {
		place := "#" + pointer
		if f.Path != "" {
			place += "/" + strings.ReplaceAll(f.Path, ".", "/")
		}
		lines = append(lines, Fault{Path: place, Expected: f.Expected, Got: f.Got}.String())
	}
	return strings.Join(lines, "; ")
}
