package fit

import (
	"net/url"
	"strconv"
	"strings"
)

// maxHops bounds a chain of references that has no schema of its own between.
const maxHops = 64

// Names of drafts in "$schema", without scheme and empty fragment.
const (
	draft07   = "json-schema.org/draft-07/schema"
	draft2020 = "json-schema.org/draft/2020-12/schema"
)

// dialect returns the draft that the document is written in. It declines all
// but two. The validator reads "$schema" only at the root, where no "$id" is.
func (c *compiler) dialect() string {
	root, _ := c.doc.(map[string]any)
	v, ok := root["$schema"]
	if !ok {
		return draft2020
	}
	s, _ := v.(string)
	s = strings.TrimSuffix(s, "#")
	name, ok := strings.CutPrefix(s, "http://")
	if !ok {
		name = strings.TrimPrefix(s, "https://")
	}
	if name != draft07 && name != draft2020 {
		c.decline()
	}
	return name
}

// annotates reports whether the keyword says nothing about which values fit.
func (c *compiler) annotates(keyword string) bool {
	switch keyword {
	case "title", "description", "default", "examples", "example", "$comment",
		"deprecated", "readOnly", "writeOnly", "nullable",
		"contentEncoding", "contentMediaType",
		"$schema", "$defs", "definitions":
		return true
	case "format":
		return !c.format
	default:
		return strings.HasPrefix(keyword, "x-")
	}
}

// only reports whether all keywords of obj but the named one are annotations.
func (c *compiler) only(obj map[string]any, name string) bool {
	for keyword := range obj {
		if keyword != name && !c.annotates(keyword) {
			return false
		}
	}
	return true
}

// resolve follows schemas that only stand for another one to that one. A
// circle of them fits nothing, and is declined.
func (c *compiler) resolve(v any) any {
	for range maxHops {
		obj, ok := v.(map[string]any)
		if !ok {
			return v
		}
		next, ok := c.alias(obj)
		if !ok {
			return v
		}
		v = next
	}
	c.decline()
	return nil
}

// alias returns the schema that obj stands for, if all that obj does is to
// refer to it or to wrap it.
func (c *compiler) alias(obj map[string]any) (target any, ok bool) {
	if ref, ok := obj["$ref"].(string); ok && c.only(obj, "$ref") {
		return c.lookup(ref), true
	}
	for _, keyword := range []string{"allOf", "anyOf", "oneOf"} {
		if list, ok := obj[keyword].([]any); ok && len(list) == 1 && c.only(obj, keyword) {
			return list[0], true
		}
	}
	return nil, false
}

// lookup returns what a local reference points to. It declines pointers that
// go through a schema with an "$id", as references in it mean other things.
func (c *compiler) lookup(ref string) any {
	fragment, ok := strings.CutPrefix(ref, "#")
	pointer, err := url.PathUnescape(fragment)
	if !ok || err != nil || pointer != "" && pointer[0] != '/' {
		c.decline()
		return nil
	}
	v := c.doc
	if pointer == "" {
		return v
	}
	for token := range strings.SplitSeq(pointer[1:], "/") {
		if v, ok = child(v, token); !ok {
			c.decline()
			return nil
		}
	}
	return v
}

// child returns the part of v that one token of a JSON pointer names.
func child(v any, token string) (part any, ok bool) {
	switch v := v.(type) {
	case map[string]any:
		if _, renamed := v["$id"]; renamed {
			return nil, false
		}
		// Escapes that are not ~0 or ~1 stay as they are, and so find nothing
		// unless a name has a bare tilde; the validator has no such pointers.
		token = strings.ReplaceAll(token, "~1", "/")
		part, ok = v[strings.ReplaceAll(token, "~0", "~")]
	case []any:
		i, err := strconv.Atoi(token)
		if err == nil && i >= 0 && i < len(v) {
			return v[i], true
		}
	}
	return part, ok
}

// branches returns the schemas of an anyOf or oneOf that stands alone.
func (c *compiler) branches(obj map[string]any) (list []any, ok bool) {
	for _, keyword := range []string{"anyOf", "oneOf"} {
		if list, ok := obj[keyword].([]any); ok && c.only(obj, keyword) {
			return list, true
		}
	}
	return nil, false
}

// union makes n the union of the branches.
func (c *compiler) union(n *node, branches []any) {
	c.unions = append(c.unions, n)
	if len(branches) == 0 {
		c.decline()
	}
	for _, branch := range branches {
		n.union = append(n.union, c.schema(branch))
	}
}

// checkUnions declines unions whose branches share a kind of value or are
// unions. It runs last, when all nodes are complete. Without shared kinds the
// other branches can't fit, so that anyOf and oneOf mean the same.
func (c *compiler) checkUnions() {
	for _, n := range c.unions {
		var sum kinds
		for _, branch := range n.union {
			if branch.union != nil || branch.kinds&sum != 0 {
				c.decline()
			}
			sum |= branch.kinds
		}
	}
}
