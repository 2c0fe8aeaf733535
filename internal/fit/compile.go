package fit

import (
	"maps"
	"math"
	"reflect"
	"slices"
)

// compiler makes nodes from a schema document. Nothing that it meets stops it:
// it notes that the schema is declined, and goes on.
type compiler struct {
	doc      any
	format   bool // "format" is asserted
	declined bool

	any, never *node
	unions     []*node
	// nodes holds the node of each object in the document by its identity, so
	// that a schema that refers to itself becomes a cycle. The document is
	// held by doc meanwhile, so no identity is given out twice.
	nodes map[uintptr]*node
}

func newCompiler(doc any, opts *Options) *compiler {
	c := &compiler{doc: doc, nodes: make(map[uintptr]*node), never: &node{}}
	c.any = &node{kinds: kindAny}
	c.any.object = &objectRule{additional: c.any, max: math.MaxInt}
	c.any.array = &arrayRule{items: c.any, max: math.MaxInt}
	c.format = opts != nil && opts.AssertFormat || c.dialect() == draft07
	return c
}

func (c *compiler) decline() { c.declined = true }

// schema returns the node for a schema. After a decline it may be anything.
func (c *compiler) schema(v any) *node {
	switch v := c.resolve(v).(type) {
	case bool:
		if v {
			return c.any
		}
	case map[string]any:
		return c.object(v)
	default:
		c.decline()
	}
	return c.never
}

func (c *compiler) object(obj map[string]any) *node {
	if len(obj) == 0 {
		return c.any
	}
	id := reflect.ValueOf(obj).Pointer()
	if n, ok := c.nodes[id]; ok {
		return n
	}
	n := &node{}
	c.nodes[id] = n // before its parts, which may refer to it
	if branches, ok := c.branches(obj); ok {
		c.union(n, branches)
		return n
	}
	for keyword := range obj {
		if !c.decides(keyword) {
			c.decline()
		}
	}
	n.kinds = c.types(obj)
	n.object = c.objectRule(obj)
	n.array = c.arrayRule(obj)
	n.str = c.stringRule(obj)
	n.num = c.numberRule(obj)
	c.values(n, obj)
	return n
}

// decides reports whether schemas may have the keyword.
func (c *compiler) decides(keyword string) bool {
	switch keyword {
	case "type", "enum", "const", "format",
		"properties", "required", "additionalProperties", "minProperties", "maxProperties",
		"items", "minItems", "maxItems",
		"minLength", "maxLength", "pattern",
		"minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf":
		return true
	default:
		return c.annotates(keyword)
	}
}

func (c *compiler) objectRule(obj map[string]any) *objectRule {
	if !hasAny(obj, "properties", "required", "additionalProperties", "minProperties", "maxProperties") {
		return c.any.object
	}
	r := &objectRule{additional: c.any}
	r.min, r.max, _ = c.limits(obj, "minProperties", "maxProperties")
	if v, ok := obj["additionalProperties"]; ok {
		r.additional = c.schema(v)
	}
	schemas := c.properties(obj)
	required := c.required(obj)
	names := slices.AppendSeq(slices.Clone(required), maps.Keys(schemas))
	slices.Sort(names)
	names = slices.Compact(names)
	if len(names) > maxDeclared {
		c.decline()
		return r
	}
	r.declare(names, schemas)
	for _, name := range required {
		r.required.add(r.find([]byte(name)))
	}
	return r
}

// declare fills props and index. Names without a schema get additional's.
func (r *objectRule) declare(names []string, schemas map[string]*node) {
	if len(names) > linearNames {
		r.index = make(map[string]int, len(names))
	}
	for i, name := range names {
		schema, ok := schemas[name]
		if !ok {
			schema = r.additional
		}
		r.props = append(r.props, property{[]byte(name), schema})
		if r.index != nil {
			r.index[name] = i
		}
	}
}

func (c *compiler) properties(obj map[string]any) map[string]*node {
	v, ok := obj["properties"]
	if !ok {
		return nil
	}
	props, ok := v.(map[string]any)
	if !ok {
		c.decline()
	}
	schemas := make(map[string]*node, len(props))
	for name, schema := range props {
		schemas[name] = c.schema(schema)
	}
	return schemas
}

func (c *compiler) required(obj map[string]any) []string {
	v, ok := obj["required"]
	if !ok {
		return nil
	}
	return c.strings(v)
}

func (c *compiler) arrayRule(obj map[string]any) *arrayRule {
	if !hasAny(obj, "items", "minItems", "maxItems") {
		return c.any.array
	}
	r := &arrayRule{items: c.any}
	r.min, r.max, _ = c.limits(obj, "minItems", "maxItems")
	if v, ok := obj["items"]; ok {
		r.items = c.schema(v)
	}
	return r
}

// hasAny reports whether obj has one of the keywords.
func hasAny(obj map[string]any, keywords ...string) bool {
	return slices.ContainsFunc(keywords, func(k string) bool {
		_, ok := obj[k]
		return ok
	})
}
