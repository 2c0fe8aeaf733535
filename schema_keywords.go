package ai

import (
	"net/url"
	"strings"
)

// A schemaKeyword holds subschemas.
type schemaKeyword struct {
	name    string
	since   int  // the first draft that has it
	named   bool // it holds an object of subschemas
	defines bool // it says nothing about values by itself
}

// schemaKeywords are the places of subschemas, in no particular order.
func schemaKeywords() []schemaKeyword {
	return []schemaKeyword{
		{name: "definitions", since: 4, named: true, defines: true},
		{name: "$defs", since: 2019, named: true, defines: true},
		{name: "properties", since: 4, named: true},
		{name: "patternProperties", since: 4, named: true},
		{name: "dependencies", since: 4, named: true},
		{name: "dependentSchemas", since: 2019, named: true},
		{name: "additionalProperties", since: 4},
		{name: "unevaluatedProperties", since: 2019},
		{name: "propertyNames", since: 6},
		{name: "items", since: 4},
		{name: "prefixItems", since: 2020},
		{name: "additionalItems", since: 4},
		{name: "unevaluatedItems", since: 2019},
		{name: "contains", since: 6},
		{name: "contentSchema", since: 2019},
		{name: "allOf", since: 4},
		{name: "anyOf", since: 4},
		{name: "oneOf", since: 4},
		{name: "not", since: 4},
		{name: "if", since: 7},
		{name: "then", since: 7},
		{name: "else", since: 7},
	}
}

// draftNamed returns the draft that a $schema or a reference names, or 0.
func draftNamed(text string) int {
	text, fragment, _ := strings.Cut(text, "#")
	if fragment != "" {
		return 0
	}
	name, ok := strings.CutPrefix(text, "http://")
	if !ok {
		name = strings.TrimPrefix(text, "https://")
	}
	switch name {
	case "json-schema.org/schema", "json-schema.org/draft/2020-12/schema":
		return 2020
	case "json-schema.org/draft/2019-09/schema":
		return 2019
	case "json-schema.org/draft-07/schema":
		return 7
	case "json-schema.org/draft-06/schema":
		return 6
	case "json-schema.org/draft-04/schema":
		return 4
	}
	return 0
}

// resolve finds what a reference in a resource leads to, or says what is wrong
// with it. A reference to a draft's own schema, which the validator knows, leads
// to nothing that could be mended.
func (m *mender) resolve(from *mendResource, ref string) (target any, at, problem string) {
	address, fragment, _ := strings.Cut(ref, "#")
	parsed, err := url.Parse(address)
	fragment, bad := url.PathUnescape(fragment)
	if err != nil || bad != nil {
		return nil, "", "not a reference"
	}
	full := joinURL(from.id, parsed).String()
	res := m.byID[full]
	switch {
	case res == nil && fragment == "" && draftNamed(full) != 0:
		return nil, "", ""
	case res == nil:
		return nil, "", "outside of this schema"
	case fragment == "" || fragment[0] == '/':
		at = res.at + fragment
	default:
		place, ok := res.anchors[fragment]
		if !ok {
			return nil, "", "not found"
		}
		at = place
	}
	target, ok := pointedValue(m.doc, at)
	if !ok {
		return nil, "", "not found"
	}
	switch target.(type) {
	case bool, map[string]any:
		return target, at, ""
	}
	return nil, "", "not a schema"
}

// around returns the innermost resource that a place known so far is in.
func (m *mender) around(at string) *mendResource {
	for at != "" {
		if p := m.byPlace[at]; p != nil {
			return p.res
		}
		at = at[:strings.LastIndexByte(at, '/')]
	}
	return m.byID[schemaURL]
}

// joinURL resolves ref against base. Of an opaque base, such as a URN, net/url
// loses the text.
func joinURL(base, ref *url.URL) *url.URL {
	joined := base.ResolveReference(ref)
	if !ref.IsAbs() && base.Opaque != "" {
		joined.Opaque = base.Opaque
	}
	return joined
}

// pointedValue follows a JSON pointer.
func pointedValue(v any, pointer string) (any, bool) {
	if pointer == "" {
		return v, true
	}
	steps := strings.Split(pointer[1:], "/")
	for i, step := range steps {
		rest := strings.NewReplacer("~0", "", "~1", "").Replace(step)
		if strings.Contains(rest, "~") {
			return nil, false
		}
		steps[i] = strings.NewReplacer("~0", "~", "~1", "/").Replace(step)
	}
	return valueAtPath(v, steps)
}

func escapePointer(step string) string {
	return strings.NewReplacer("~", "~0", "/", "~1").Replace(step)
}
