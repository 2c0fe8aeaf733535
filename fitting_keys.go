package ai

import (
	"bytes"
	"encoding/json"
	"strconv"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// keyFaults finds keys that two readers would read differently: one that is
// given twice, and one that equals a declared property but for case, which
// encoding/json would take for it. The validator sees neither as such; where it
// has faults to tell of, an unknown property may be one, so those in another
// case are then left to it.
func (s *schema) keyFaults(data json.RawMessage, told []Fault) []Fault {
	k := &keyChecker{dec: json.NewDecoder(bytes.NewReader(data)), twiceOnly: len(told) > 0}
	k.dec.UseNumber()
	var root []*jsonschema.Schema
	if s != nil {
		root = []*jsonschema.Schema{s.root}
	}
	k.value(root)
	return k.faults
}

type keyChecker struct {
	dec    *json.Decoder
	steps  []string // to the value being read
	faults []Fault

	twiceOnly bool
}

// value reads one value, to which these schemas apply. The data is valid JSON.
func (k *keyChecker) value(schemas []*jsonschema.Schema) {
	token, err := k.dec.Token()
	if err != nil {
		return
	}
	switch token {
	case json.Delim('{'):
		k.object(applying(schemas))
	case json.Delim('['):
		all := applying(schemas)
		for i := 0; k.dec.More(); i++ {
			k.enter(strconv.Itoa(i), below(all, func(s *jsonschema.Schema) []any { return itemSchemas(s, i) }))
		}
		_, _ = k.dec.Token() // the closing bracket
	}
}

func (k *keyChecker) object(schemas []*jsonschema.Schema) {
	seen := make(map[string]bool)
	for k.dec.More() {
		token, err := k.dec.Token()
		key, ok := token.(string)
		if err != nil || !ok {
			return
		}
		if seen[key] {
			k.fault(Fault{Expected: "each key once", Got: "twice " + strconv.Quote(cutText(key, maxName))})
		} else if name := lookalike(schemas, key); name != "" && !k.twiceOnly {
			k.fault(Fault{Expected: "the property " + strconv.Quote(cutText(name, maxName)), Got: strconv.Quote(cutText(key, maxName))})
		}
		seen[key] = true
		k.enter(key, below(schemas, func(s *jsonschema.Schema) []any { return memberSchemas(s, key) }))
	}
	_, _ = k.dec.Token() // the closing brace
}

// enter reads a value one step further down.
func (k *keyChecker) enter(step string, schemas []*jsonschema.Schema) {
	k.steps = append(k.steps, step)
	k.value(schemas)
	k.steps = k.steps[:len(k.steps)-1]
}

func (k *keyChecker) fault(f Fault) {
	if len(k.faults) < maxFaults {
		f.Path = k.path()
		k.faults = append(k.faults, f)
	}
}

// path is made for faults alone, and bounded: written out for each value, paths
// would take time and memory that are quadratic in the depth.
func (k *keyChecker) path() string {
	steps := make([]string, 0, min(len(k.steps), maxExplainDepth+1))
	for i, step := range k.steps {
		if i == maxExplainDepth {
			steps = append(steps, "…")
			break
		}
		steps = append(steps, cutText(step, maxName))
	}
	return strings.Join(steps, ".")
}

// lookalike is the declared property that a key equals but for case, or "". It
// depends on no map order: the first in the order of names wins.
func lookalike(schemas []*jsonschema.Schema, key string) string {
	found := ""
	for _, s := range schemas {
		if _, ok := s.Properties[key]; ok {
			return ""
		}
		for name := range s.Properties {
			if strings.EqualFold(name, key) && (found == "" || name < found) {
				found = name
			}
		}
	}
	return found
}

// applying is the schemas and all that they apply to the same value.
func applying(schemas []*jsonschema.Schema) []*jsonschema.Schema {
	return reach(schemas, func(s *jsonschema.Schema) []*jsonschema.Schema {
		subs := []*jsonschema.Schema{s.Ref, s.RecursiveRef, s.If, s.Then, s.Else}
		if s.DynamicRef != nil {
			subs = append(subs, s.DynamicRef.Ref)
		}
		subs = append(append(append(subs, s.AllOf...), s.AnyOf...), s.OneOf...)
		for _, name := range sortedKeys(s.DependentSchemas) {
			subs = append(subs, s.DependentSchemas[name])
		}
		return subs
	})
}

// conjuncts are the schemas and those that must fit beside them.
func conjuncts(schemas []*jsonschema.Schema) []*jsonschema.Schema {
	return reach(schemas, func(s *jsonschema.Schema) []*jsonschema.Schema {
		return append([]*jsonschema.Schema{s.Ref}, s.AllOf...)
	})
}

// reach is the schemas and all that can be reached from them, each once.
func reach(schemas []*jsonschema.Schema, from func(*jsonschema.Schema) []*jsonschema.Schema) []*jsonschema.Schema {
	seen := make(map[*jsonschema.Schema]bool)
	var all []*jsonschema.Schema
	var add func([]*jsonschema.Schema)
	add = func(schemas []*jsonschema.Schema) {
		for _, s := range schemas {
			if s == nil || seen[s] {
				continue
			}
			seen[s] = true
			all = append(all, s)
			add(from(s))
		}
	}
	add(schemas)
	return all
}

// below collects what the schemas apply to a member or an item.
func below(schemas []*jsonschema.Schema, of func(*jsonschema.Schema) []any) []*jsonschema.Schema {
	var subs []*jsonschema.Schema
	for _, s := range schemas {
		for _, held := range of(s) {
			if sub, ok := held.(*jsonschema.Schema); ok && sub != nil {
				subs = append(subs, sub)
			}
		}
	}
	return subs
}

func memberSchemas(s *jsonschema.Schema, key string) []any {
	var subs []any
	if sub, ok := s.Properties[key]; ok {
		subs = append(subs, sub)
	}
	for pattern, sub := range s.PatternProperties {
		if pattern.MatchString(key) {
			subs = append(subs, sub)
		}
	}
	if len(subs) == 0 {
		subs = append(subs, s.AdditionalProperties)
	}
	return append(subs, s.UnevaluatedProperties)
}

func itemSchemas(s *jsonschema.Schema, i int) []any {
	subs := []any{s.Items2020, s.UnevaluatedItems, s.Contains}
	switch {
	case i < len(s.PrefixItems):
		subs[0] = s.PrefixItems[i]
	case s.Items2020 == nil:
		subs = append(subs, s.Items)
		if list, ok := s.Items.([]*jsonschema.Schema); ok {
			if i < len(list) {
				subs = append(subs, list[i])
			} else {
				subs = append(subs, s.AdditionalItems)
			}
		}
	}
	return subs
}
