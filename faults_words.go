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

// holder returns the first path, in order, as long as path, to an object that
// has a property of the given name: path itself if that is one.
func (t *faultTeller) holder(path []string, name string) string {
	var found string
	var walk func(v any, at []string) bool
	walk = func(v any, at []string) bool {
		if len(at) == len(path) {
			object, ok := v.(map[string]any)
			if _, has := object[name]; ok && has {
				found = dottedPath(at)
				return true
			}
			return false
		}
		switch v := v.(type) {
		case map[string]any:
			for _, key := range slices.Sorted(maps.Keys(v)) {
				if walk(v[key], append(at, key)) {
					return true
				}
			}
		case []any:
			for i, item := range v {
				if walk(item, append(at, strconv.Itoa(i))) {
					return true
				}
			}
		}
		return false
	}
	walk(t.value, make([]string, 0, len(path)))
	return found
}

// dottedPath joins steps by dots, very long ones cut.
func dottedPath(steps []string) string {
	cut := make([]string, len(steps))
	for i, step := range steps {
		cut[i] = cutText(step, maxGot)
	}
	return strings.Join(cut, ".")
}

// describe names the type of a decoded JSON value and shows it, cut if long.
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

// quote writes text as a JSON string, cut if long.
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
	return joinWords(names, func(s string) string { return s }, "or")
}

// oneOf lists the members of an enumeration.
func memberWords(prefix string, members []any) string {
	if len(members) == 1 {
		return prefix + showValue(members[0])
	}
	var texts []string
	for _, m := range members[:min(len(members), maxListed+1)] {
		texts = append(texts, showValue(m))
	}
	text := joinWords(texts, func(s string) string { return s }, "or")
	if more := len(members) - len(texts); more > 0 {
		text = strings.TrimSuffix(text, "1 more") + fmt.Sprintf("%d more", more+1)
	}
	return prefix + "one of " + text
}

// list joins items with commas and the given last word, at most maxListed.
func joinWords(items []string, show func(string) string, last string) string {
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
	case "email", "uri", "iri":
		return "a string in the form of an " + strings.ToUpper(format[:1]) + format[1:]
	}
	return "a string in the format " + quoteText(format)
}

// nearest returns the declared name that name is most likely a slip for, or
// "" if none is close. Case, dashes and underscores do not count.
func nearestName(name string, declared []string) string {
	const maxLength = 64
	if len(name) > maxLength {
		return ""
	}
	plain := plainName(name)
	best, lowest := "", len(plain)/3+1
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
