package ai

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// got describes the value at the place of err.
func (t *faultTeller) got(err *jsonschema.ValidationError) string {
	v, ok := valueAtPath(t.value, err.InstanceLocation)
	if !ok {
		return "another value"
	}
	return describeValue(v)
}

func valueAtPath(v any, path []string) (any, bool) {
	for _, step := range path {
		switch parent := v.(type) {
		case map[string]any:
			child, ok := parent[step]
			if !ok {
				return nil, false
			}
			v = child
		case []any:
			i, err := strconv.Atoi(step)
			if err != nil || i < 0 || i >= len(parent) {
				return nil, false
			}
			v = parent[i]
		default:
			return nil, false
		}
	}
	return v, true
}

// holder returns the path to an object that holds the key at the given depth,
// the first by order of keys if there are several. The validator reuses the
// memory of a location of this kind before it can be read: only its length is
// certain.
func (t *faultTeller) holder(depth int, key string) string {
	if t.keys == nil {
		t.keys = map[int]map[string]string{}
	}
	if t.keys[depth] == nil {
		t.keys[depth] = map[string]string{}
		collectKeys(t.keys[depth], t.value, nil, depth)
	}
	return t.keys[depth][key]
}

// collectKeys maps the keys of the objects depth levels below v, which is at
// path, to the path of the first object that has them.
func collectKeys(keys map[string]string, v any, path []string, depth int) {
	switch v := v.(type) {
	case map[string]any:
		at := ""
		if depth == 0 {
			at = dottedPath(path)
		}
		for _, key := range slices.Sorted(maps.Keys(v)) {
			if depth > 0 {
				collectKeys(keys, v[key], append(path, key), depth-1)
			} else if _, known := keys[key]; !known {
				keys[key] = at
			}
		}
	case []any:
		for i, item := range v {
			if depth > 0 {
				collectKeys(keys, item, append(path, strconv.Itoa(i)), depth-1)
			}
		}
	}
}

// dottedPath joins steps by dots, very long ones cut.
func dottedPath(steps []string) string {
	cut := make([]string, len(steps))
	for i, step := range steps {
		cut[i] = cutText(step, maxGot)
	}
	return strings.Join(cut, ".")
}

// describeValue names the type of a decoded JSON value and shows it, cut if long.
func describeValue(v any) string {
	switch v := v.(type) {
	case nil:
		return "null"
	case bool:
		return "boolean " + strconv.FormatBool(v)
	case json.Number:
		return "number " + cutText(string(v), maxGot)
	case string:
		return "string " + quoteText(v)
	case []any:
		return "array " + showContainer(v, len(v), "item")
	case map[string]any:
		return "object " + showContainer(v, len(v), "property")
	}
	return fmt.Sprintf("%T", v)
}

// showValue shows a value as JSON, cut if long.
func showValue(v any) string {
	switch v := v.(type) {
	case string:
		return quoteText(v)
	case []any:
		return showContainer(v, len(v), "item")
	case map[string]any:
		return showContainer(v, len(v), "property")
	}
	return cutText(compactJSON(v), maxGot)
}

// showContainer shows small values whole and counts what large ones hold, so
// that a fault costs the same whatever it is about.
func showContainer(v any, n int, item string) string {
	if budget := maxGot; fitsBudget(v, &budget) {
		return cutText(compactJSON(v), maxGot)
	}
	return "of " + countOf(n, item)
}

// fitsBudget takes the approximate size of v from budget.
func fitsBudget(v any, budget *int) bool {
	*budget -= 2
	switch v := v.(type) {
	case string:
		*budget -= len(v)
	case json.Number:
		*budget -= len(v)
	case []any:
		for _, item := range v {
			if !fitsBudget(item, budget) {
				return false
			}
		}
	case map[string]any:
		for key, item := range v {
			*budget -= len(key)
			if !fitsBudget(item, budget) {
				return false
			}
		}
	}
	return *budget >= 0
}

// quoteText writes text as a JSON string, cut if long.
func quoteText(text string) string {
	return compactJSON(cutText(text, maxGot))
}

// compactJSON writes v without the escapes that HTML needs.
func compactJSON(v any) string {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return fmt.Sprint(v)
	}
	return strings.TrimSuffix(b.String(), "\n")
}

func countOf(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	if stem, ok := strings.CutSuffix(noun, "y"); ok {
		return fmt.Sprintf("%d %sies", n, stem)
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

// typeWords lists types with their articles: "a string or null".
func typeWords(types []string) string {
	words := map[string]string{
		"array": "an array", "boolean": "a boolean", "integer": "an integer", "null": "null",
		"number": "a number", "object": "an object", "string": "a string",
	}
	var names []string
	for _, name := range []string{"string", "integer", "number", "boolean", "array", "object", "null"} {
		if slices.Contains(types, name) && !(name == "integer" && slices.Contains(types, "number")) {
			names = append(names, words[name])
		}
	}
	return joinWords(names, strings.Clone, "or")
}

// memberWords lists the members of an enumeration.
func memberWords(members []any) string {
	if len(members) == 1 {
		return showValue(members[0])
	}
	return "one of " + joinWords(members, showValue, "or")
}

// joinWords joins items with commas and the given last word, at most
// maxListed of them.
func joinWords[T any](items []T, show func(T) string, last string) string {
	var shown []string
	for _, item := range items[:min(len(items), maxListed)] {
		shown = append(shown, show(item))
	}
	if more := len(items) - len(shown); more > 0 {
		shown = append(shown, fmt.Sprintf("%d more", more))
	}
	if len(shown) < 2 {
		return strings.Join(shown, "")
	}
	n := len(shown) - 1
	return strings.Join(shown[:n], ", ") + " " + last + " " + shown[n]
}

func cutPattern(pattern string) string { return cutText(pattern, maxGot) }

// patternWords names the patterns of inferred schemas and shows others.
func patternWords(pattern string) string {
	switch pattern {
	case base64Pattern:
		return "a string in base64"
	case stringPattern:
		return "a string that holds a JSON string, quotes included"
	case numberPattern:
		return "the digits of a number"
	}
	return "a string matching " + cutText(pattern, maxExpected/2)
}

// formatWords names a format, with a sample where the name says little.
func formatWords(format string) string {
	switch format {
	case "date-time":
		return "a date and time like 2006-01-02T15:04:05Z"
	case "date":
		return "a date like 2006-01-02"
	case "time":
		return "a time like 15:04:05Z"
	case "duration":
		return "a duration like P1DT12H"
	case "regex":
		return "a regular expression"
	case "ipv4", "ipv6":
		return "an IP address (" + format + ")"
	case "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64":
		return "the digits of an integer (" + format + ")"
	case "float", "double":
		return "the digits of a number"
	case "email":
		return "an email address"
	case "uri":
		return "a URI"
	}
	return "a string in the format " + quoteText(format)
}

// nearestName returns the declared name that name is most likely a slip for, or
// "" if none is close. Case, dashes and underscores do not count.
func nearestName(name string, declared []string) string {
	const maxLength = 64
	if len(name) > maxLength {
		return ""
	}
	plain := plainName(name)
	best, lowest := "", min((len(plain)+1)/2, 4)
	for _, candidate := range declared[:min(len(declared), 200)] {
		if len(candidate) > maxLength {
			continue
		}
		if d := editDistance(plain, plainName(candidate)); d < lowest {
			best, lowest = candidate, d
		}
	}
	return best
}

func plainName(name string) []rune {
	return []rune(strings.ToLower(strings.NewReplacer("_", "", "-", "", " ", "").Replace(name)))
}

// editDistance counts the insertions, deletions and replacements from a to b.
func editDistance(a, b []rune) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i, x := range a {
		diagonal := row[0]
		row[0] = i + 1
		for j, y := range b {
			cost := diagonal
			if x != y {
				cost++
			}
			diagonal = row[j+1]
			row[j+1] = min(cost, row[j]+1, diagonal+1)
		}
	}
	return row[len(b)]
}
