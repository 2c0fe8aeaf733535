package fit

import (
	"encoding/json"
	"math"
	"regexp"
	"slices"
)

// types returns the kinds that "type" allows.
func (c *compiler) types(obj map[string]any) kinds {
	v, ok := obj["type"]
	if !ok {
		return kindAny
	}
	if name, ok := v.(string); ok {
		return c.kindNamed(name)
	}
	var sum kinds
	for _, name := range c.strings(v) {
		sum |= c.kindNamed(name)
	}
	if sum == 0 {
		c.decline()
	}
	return sum
}

func (c *compiler) kindNamed(name string) kinds {
	switch name {
	case "null":
		return kindNull
	case "boolean":
		return kindBoolean
	case "integer":
		return kindInteger
	case "number":
		return kindNumber
	case "string":
		return kindString
	case "array":
		return kindArray
	case "object":
		return kindObject
	default:
		c.decline()
		return 0
	}
}

// values narrows n to the members of "enum" or to "const".
func (c *compiler) values(n *node, obj map[string]any) {
	var list []any
	enum, hasEnum := obj["enum"]
	value, hasConst := obj["const"]
	switch {
	case hasEnum && hasConst:
		c.decline()
	case hasConst:
		list = []any{value}
	case hasEnum:
		var ok bool
		if list, ok = enum.([]any); !ok {
			c.decline()
		}
	default:
		return
	}
	c.restrict(n, list)
}

// restrict narrows n to the values in list.
func (c *compiler) restrict(n *node, list []any) {
	var sum kinds
	var words []string
	var numbers []decimal
	for _, v := range list {
		switch v := v.(type) {
		case nil:
			sum |= kindNull
		case bool:
			if v {
				sum |= kindTrue
			} else {
				sum |= kindFalse
			}
		case string:
			sum |= kindString
			words = append(words, v)
		case json.Number:
			sum |= kindNumber
			numbers = append(numbers, c.decimal(v))
		default:
			c.decline()
		}
	}
	n.kinds &= sum
	c.restrictStrings(n, words)
	c.restrictNumbers(n, numbers)
}

func (c *compiler) restrictStrings(n *node, words []string) {
	if len(words) == 0 {
		return
	}
	if n.str == nil {
		n.str = &stringRule{}
	}
	n.str.enum = newStringSet(words)
}

func (c *compiler) restrictNumbers(n *node, numbers []decimal) {
	if len(numbers) == 0 {
		return
	}
	if n.num == nil {
		n.num = &numberRule{}
	}
	n.num.enum = numbers
}

func (c *compiler) stringRule(obj map[string]any) *stringRule {
	r := &stringRule{}
	r.min, r.max, r.sized = c.limits(obj, "minLength", "maxLength")
	if v, ok := obj["pattern"]; ok {
		s, _ := v.(string)
		re, err := regexp.Compile(s)
		if err != nil {
			c.decline()
		}
		r.pattern = re
	}
	if v, ok := obj["format"]; ok && c.format {
		name, _ := v.(string)
		if r.format = formatNamed(name); r.format == nil {
			c.decline()
		}
	}
	if !r.sized && r.pattern == nil && r.format == nil {
		return nil
	}
	return r
}

func (c *compiler) numberRule(obj map[string]any) *numberRule {
	r := &numberRule{}
	for _, b := range []struct {
		keyword          string
		lower, exclusive bool
	}{
		{"minimum", true, false},
		{"maximum", false, false},
		{"exclusiveMinimum", true, true},
		{"exclusiveMaximum", false, true},
	} {
		if v, ok := obj[b.keyword]; ok {
			r.bounds = append(r.bounds, bound{c.decimal(v), b.lower, b.exclusive})
		}
	}
	v, ok := obj["multipleOf"]
	if ok {
		r.multipleOf = c.decimal(v)
		if r.multipleOf.sign() <= 0 {
			c.decline()
		}
	}
	if !ok && len(r.bounds) == 0 {
		return nil
	}
	return r
}

// decimal reads a number of the schema.
func (c *compiler) decimal(v any) decimal {
	number, _ := v.(json.Number)
	d, ok := parseDecimal(string(number))
	if !ok {
		c.decline()
	}
	return d
}

// limits reads a pair of keywords that count something. Found is false when
// obj has neither; then every count is within them.
func (c *compiler) limits(obj map[string]any, lower, upper string) (low, high int, found bool) {
	high = math.MaxInt
	if v, ok := obj[lower]; ok {
		low, found = c.count(v), true
	}
	if v, ok := obj[upper]; ok {
		high, found = c.count(v), true
	}
	return low, high, found
}

// count reads a number of things, which may be written like 1e2.
func (c *compiler) count(v any) int {
	d := c.decimal(v)
	if d.exp >= 0 && d.sign() >= 0 {
		if n, ok := d.scaled(0); ok && n <= math.MaxInt32 {
			return int(n)
		}
	}
	c.decline()
	return 0
}

// strings reads a short list of different strings.
func (c *compiler) strings(v any) []string {
	list, ok := v.([]any)
	if !ok || len(list) > maxDeclared {
		c.decline()
		return nil
	}
	out := make([]string, 0, len(list))
	for _, item := range list {
		s, ok := item.(string)
		if !ok || slices.Contains(out, s) {
			c.decline()
		}
		out = append(out, s)
	}
	return out
}
