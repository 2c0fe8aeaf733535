package ai

import (
	"encoding/json"
	"fmt"
	"strings"
)

// The functions of this file split JSON that is known to be valid. The public
// entry points check that once, so that nested values are not checked again.

const memberBuffer = 8 // most objects have no more keys; more go to the heap

// checkJSON reports text that is not exactly one JSON value.
func checkJSON(data []byte) error {
	if !json.Valid(data) {
		return &wireError{text: notJSON}
	}
	return nil
}

func isNull(data []byte) bool { return string(data) == "null" }

// readMembers appends the members of an object to ms. The values are slices of
// data. Names are compared after unescaping; one given twice is an error.
func readMembers(data []byte, ms []member) ([]member, error) {
	if data[0] != '{' {
		return nil, &wireError{text: notObject}
	}
	var seen map[string]bool
	for i := nextToken(data, 1); data[i] != '}'; i = nextToken(data, i) {
		end := endOfValue(data, i)
		key := memberKey(data[i:end])
		i = nextToken(data, end)
		end = endOfValue(data, i)
		if len(ms) == memberBuffer && seen == nil {
			seen = make(map[string]bool)
			for _, m := range ms {
				seen[m.key] = true
			}
		}
		if twice(ms, seen, key) {
			return nil, &wireError{text: fmt.Sprintf("has the key %.64q twice", key)}
		}
		ms = append(ms, member{key: key, raw: data[i:end]})
		i = end
	}
	return ms, nil
}

// twice reports whether key is in seen, or in ms while there is no seen. A new
// key is added to seen: an object with very many keys costs linear time.
func twice(ms []member, seen map[string]bool, key string) bool {
	if seen != nil {
		found := seen[key]
		seen[key] = true
		return found
	}
	for _, m := range ms {
		if m.key == key {
			return true
		}
	}
	return false
}

// readElements calls visit with each element of an array, in order.
func readElements(data []byte, visit func(i int, raw []byte) error) error {
	if data[0] != '[' {
		return &wireError{text: "must be a JSON array"}
	}
	n := 0
	for i := nextToken(data, 1); data[i] != ']'; i = nextToken(data, i) {
		end := endOfValue(data, i)
		if err := visit(n, data[i:end]); err != nil {
			return err
		}
		n, i = n+1, end
	}
	return nil
}

// nextToken skips white space and the separators that valid JSON has only where
// they are expected.
func nextToken(data []byte, i int) int {
	for {
		switch data[i] {
		case ' ', '\t', '\r', '\n', ',', ':':
			i++
		default:
			return i
		}
	}
}

// endOfValue returns the index after the value that begins at i.
func endOfValue(data []byte, i int) int {
	depth := 0
	for {
		switch data[i] {
		case '"':
			i = endOfString(data, i)
		case '{', '[':
			depth++
			i++
		case '}', ']':
			depth--
			i++
		case ' ', '\t', '\r', '\n', ',', ':':
			i++
			continue // depth is not 0 here: a scalar ends before a separator
		default:
			i = endOfScalar(data, i)
		}
		if depth == 0 {
			return i
		}
	}
}

func endOfString(data []byte, i int) int {
	for i++; ; i++ {
		switch data[i] {
		case '\\':
			i++
		case '"':
			return i + 1
		}
	}
}

func endOfScalar(data []byte, i int) int {
	for i < len(data) && strings.IndexByte(" \t\r\n,]}", data[i]) < 0 {
		i++
	}
	return i
}

// memberKey unquotes a name. The known ones cost no allocation.
func memberKey(quoted []byte) string {
	switch string(quoted) {
	case `"role"`:
		return "role"
	case `"content"`:
		return "content"
	case `"metadata"`:
		return "metadata"
	case `"text"`:
		return "text"
	case `"toolRequest"`:
		return "toolRequest"
	case `"toolResponse"`:
		return "toolResponse"
	case `"name"`:
		return "name"
	case `"ref"`:
		return "ref"
	case `"input"`:
		return "input"
	case `"output"`:
		return "output"
	}
	return unquote(quoted)
}

// unquote decodes a JSON string as encoding/json does: what is not UTF-8
// becomes U+FFFD.
func unquote(quoted []byte) string {
	inner := quoted[1 : len(quoted)-1]
	if plain(inner) {
		return string(inner)
	}
	var s string
	if err := json.Unmarshal(quoted, &s); err != nil {
		return string(inner) // not reached: the text was checked
	}
	return s
}

// plain reports whether s is the same inside quotes as outside.
func plain[T string | []byte](s T) bool {
	for i := range len(s) {
		if s[i] < ' ' || s[i] > '~' || s[i] == '"' || s[i] == '\\' {
			return false
		}
	}
	return true
}
