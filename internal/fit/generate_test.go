package fit_test

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"
)

// dice makes choices from bytes, so that the fuzzer steers a generator. When
// the bytes are used up every choice is 0, which must be one that ends.
type dice struct{ data []byte }

func (d *dice) roll(n int) int {
	if len(d.data) == 0 {
		return 0
	}
	b := d.data[0]
	d.data = d.data[1:]
	return int(b) % n
}

// one reports true once in n rolls, and never when the bytes are used up.
func (d *dice) one(n int) bool { return d.roll(n) == n-1 }

func pick[T any](d *dice, list []T) T { return list[d.roll(len(list))] }

var (
	someNames   = []string{"a", "b", "A", "é", "k", "K", "long name", "", "x\"y", "aa"}
	someStrings = []string{"", "a", "ab", "abc", "é", "日本", "😀", "a\nb", "2024-02-29T10:00:00Z", "2024-01-31", "10:00:00Z", "\\", "longer than eight"}
	someFormats = []string{"date-time", "date", "time", "email", "uuid"}
)

// schemaMaker makes schemas of the keywords that the package decides, and a
// few that it declines.
type schemaMaker struct {
	dice
	depth int
}

func (m *schemaMaker) root() map[string]any {
	obj, ok := m.schema().(map[string]any)
	if !ok {
		obj = map[string]any{"type": "object", "properties": map[string]any{"a": m.schema(), "b": m.schema()}}
	}
	obj["$defs"] = map[string]any{"x": m.schema(), "y": m.schema()}
	if m.one(8) {
		obj["$schema"] = "http://json-schema.org/draft-07/schema#"
	}
	return obj
}

func (m *schemaMaker) schema() any {
	m.depth++
	defer func() { m.depth-- }()
	kind := m.roll(14)
	if m.depth > 4 {
		kind %= 5
	}
	obj := map[string]any{}
	switch kind {
	case 0:
		return m.one(4)
	case 1:
		obj["type"] = "string"
		m.stringKeywords(obj)
	case 2, 3:
		obj["type"] = pick(&m.dice, []string{"integer", "number"})
		m.numberKeywords(obj)
	case 4:
		m.values(obj)
	case 5, 6, 7, 8:
		obj["type"] = "object"
		m.objectKeywords(obj)
	case 9, 10:
		obj["type"] = "array"
		m.arrayKeywords(obj)
	case 11:
		obj["$ref"] = pick(&m.dice, []string{"#/$defs/x", "#/$defs/y", "#", "#/properties/a"})
	case 12:
		obj[pick(&m.dice, []string{"anyOf", "oneOf"})] = []any{m.schema(), map[string]any{"type": "null"}}
	default:
		m.mixed(obj)
	}
	if m.one(8) {
		obj["description"] = "d"
	}
	return obj
}

// mixed combines keywords for several kinds of values.
func (m *schemaMaker) mixed(obj map[string]any) {
	if m.one(2) {
		obj["type"] = []any{"null", pick(&m.dice, []string{"string", "integer", "boolean"}), pick(&m.dice, []string{"object", "array", "number"})}
	}
	m.stringKeywords(obj)
	m.numberKeywords(obj)
	m.arrayKeywords(obj)
	m.objectKeywords(obj)
}

func (m *schemaMaker) count(obj map[string]any, keyword string, chance, most int) {
	if m.one(chance) {
		obj[keyword] = json.Number(strconv.Itoa(m.roll(most + 1)))
	}
}

func (m *schemaMaker) stringKeywords(obj map[string]any) {
	m.count(obj, "minLength", 4, 3)
	m.count(obj, "maxLength", 4, 12)
	if m.one(6) {
		obj["pattern"] = pick(&m.dice, []string{"a", "^.?$", "[^a]$", "é|b", "\\n"})
	}
	if m.one(6) {
		obj["format"] = pick(&m.dice, someFormats)
	}
}

func (m *schemaMaker) numberKeywords(obj map[string]any) {
	for _, keyword := range []string{"minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"} {
		if m.one(6) {
			obj[keyword] = json.Number(pick(&m.dice, trickyNumbers))
		}
	}
	if m.one(8) {
		obj["multipleOf"] = json.Number(pick(&m.dice, []string{"1", "2", "0.1", "0.5", "1e-3", "3e2"}))
	}
}

func (m *schemaMaker) values(obj map[string]any) {
	list := make([]any, 1+m.roll(4))
	for i := range list {
		list[i] = m.scalar()
	}
	if m.one(3) {
		obj["const"] = list[0]
		return
	}
	obj["enum"] = list
}

func (m *schemaMaker) scalar() any {
	switch m.roll(5) {
	case 0, 1:
		return pick(&m.dice, someStrings)
	case 2, 3:
		return json.Number(pick(&m.dice, trickyNumbers))
	default:
		return pick(&m.dice, []any{true, false, nil})
	}
}

func (m *schemaMaker) objectKeywords(obj map[string]any) {
	props := map[string]any{}
	for range m.roll(5) {
		props[pick(&m.dice, someNames)] = m.schema()
	}
	if len(props) > 0 {
		obj["properties"] = props
	}
	if m.one(2) {
		names := make([]any, 0, 3)
		for range m.roll(3) {
			if name := pick(&m.dice, someNames); !slices.Contains(names, any(name)) {
				names = append(names, name)
			}
		}
		obj["required"] = names
	}
	if m.one(3) {
		obj["additionalProperties"] = m.schema()
	} else if m.one(2) {
		obj["additionalProperties"] = false
	}
	m.count(obj, "minProperties", 6, 3)
	m.count(obj, "maxProperties", 6, 5)
}

func (m *schemaMaker) arrayKeywords(obj map[string]any) {
	if !m.one(4) {
		obj["items"] = m.schema()
	}
	m.count(obj, "minItems", 5, 2)
	m.count(obj, "maxItems", 5, 4)
}

// textMaker writes JSON texts that tend to fit a schema, and sometimes are no
// JSON at all.
type textMaker struct {
	dice
	strings.Builder
	root  map[string]any
	depth int
}

func (m *textMaker) space() {
	if m.one(10) {
		m.WriteString(pick(&m.dice, []string{" ", "\n", "\t \r", "\f", ","}))
	}
}

// value writes a value for a schema, or any value once in a while.
func (m *textMaker) value(schema any) {
	m.depth++
	defer func() { m.depth-- }()
	m.space()
	defer m.space()
	obj, ok := schema.(map[string]any)
	if !ok || m.depth > 8 || m.one(12) {
		m.kind(nil, pick(&m.dice, []string{"string", "integer", "null", "boolean", "array", "object"}))
		return
	}
	if ref, ok := obj["$ref"].(string); ok {
		m.value(m.target(ref))
		return
	}
	for _, keyword := range []string{"anyOf", "oneOf"} {
		if list, ok := obj[keyword].([]any); ok {
			m.value(pick(&m.dice, list))
			return
		}
	}
	switch {
	case obj["enum"] != nil:
		m.scalar(pick(&m.dice, obj["enum"].([]any)))
	case obj["const"] != nil:
		m.scalar(obj["const"])
	default:
		m.kind(obj, m.kindOf(obj))
	}
}

func (m *textMaker) target(ref string) any {
	var v any = m.root
	for _, token := range strings.Split(ref, "/")[1:] {
		obj, _ := v.(map[string]any)
		v = obj[token]
	}
	return v
}

func (m *textMaker) kindOf(obj map[string]any) string {
	switch t := obj["type"].(type) {
	case string:
		return t
	case []any:
		return pick(&m.dice, t).(string)
	default:
		return pick(&m.dice, []string{"null", "string", "object", "array", "number"})
	}
}

func (m *textMaker) kind(obj map[string]any, kind string) {
	switch kind {
	case "object":
		m.object(obj)
	case "array":
		m.array(obj)
	case "string":
		m.string(pick(&m.dice, someStrings))
	case "integer":
		m.WriteString(strconv.Itoa(m.roll(9) - 2))
	case "number":
		m.WriteString(pick(&m.dice, trickyNumbers))
	case "boolean":
		m.WriteString(pick(&m.dice, []string{"true", "false"}))
	default:
		m.WriteString("null")
	}
}

func (m *textMaker) scalar(v any) {
	switch v := v.(type) {
	case string:
		m.string(v)
	case json.Number:
		m.WriteString(v.String())
	case bool:
		m.WriteString(strconv.FormatBool(v))
	default:
		m.WriteString("null")
	}
}

// string writes s with some of its runes escaped.
func (m *textMaker) string(s string) {
	m.WriteByte('"')
	for _, r := range s {
		switch {
		case m.one(5):
			quoted := strconv.QuoteToASCII(string(r))
			if r < 0x80 {
				quoted = `"\u00` + strconv.FormatInt(0x100|int64(r), 16)[1:] + `"`
			} else if r > 0xffff {
				quoted = `"\ud83d\ude00"`
			}
			m.WriteString(quoted[1 : len(quoted)-1])
		default:
			quoted, _ := json.Marshal(string(r))
			m.Write(quoted[1 : len(quoted)-1])
		}
	}
	if m.one(30) {
		m.WriteString(pick(&m.dice, []string{`\ud800`, "\xff", `\q`, "\x01", `\u12`}))
	}
	m.WriteByte('"')
}

func (m *textMaker) array(obj map[string]any) {
	m.WriteByte('[')
	for i := range m.roll(4) {
		if i > 0 {
			m.WriteByte(',')
		}
		m.value(obj["items"])
	}
	m.WriteByte(']')
}

// object writes the required names, some of the others, and some at random.
func (m *textMaker) object(obj map[string]any) {
	props, _ := obj["properties"].(map[string]any)
	required, _ := obj["required"].([]any)
	var names []string
	for _, name := range someNames {
		wanted := slices.Contains(required, any(name))
		if _, ok := props[name]; ok && !wanted {
			wanted = m.roll(3) != 0
		}
		if wanted || m.one(40) {
			names = append(names, name)
		}
	}
	if len(names) > 0 && m.one(20) {
		names = append(names, names[0])
	}
	m.WriteByte('{')
	for i, name := range names {
		if i > 0 {
			m.WriteByte(',')
		}
		m.space()
		m.string(name)
		m.space()
		m.WriteByte(':')
		if schema, ok := props[name]; ok {
			m.value(schema)
		} else {
			m.value(obj["additionalProperties"])
		}
	}
	m.WriteByte('}')
}
