package ai

import (
	"bytes"
	"encoding/json"
	"reflect"
	"strconv"
)

var (
	jsonTrue  = json.RawMessage("true")
	emptyJSON = json.RawMessage("{}")
)

// encode is json.Marshal without the HTML escapes, which cost a model tokens
// and readability. It undoes them afterwards, since an encoder that leaves them
// out costs more than one that puts them in.
func encode(v any) (json.RawMessage, error) {
	data, err := json.Marshal(v)
	if err != nil {
		return nil, err
	}
	if bytes.Contains(data, []byte(`\u00`)) {
		data = unescapeHTML(data)
	}
	return data, nil
}

// unescapeHTML works in place: what it writes is never longer than what it read.
func unescapeHTML(data []byte) []byte {
	out := data[:0]
	for i := 0; i < len(data); i++ {
		if data[i] != '\\' {
			out = append(out, data[i])
			continue
		}
		if data[i+1] == 'u' {
			if c := htmlEscape(data[i : i+6]); c != 0 {
				out = append(out, c)
				i += 5
				continue
			}
		}
		out = append(out, data[i], data[i+1])
		i++
	}
	return out
}

func htmlEscape(seq []byte) byte {
	switch string(seq) {
	case `\u003c`:
		return '<'
	case `\u003e`:
		return '>'
	case `\u0026`:
		return '&'
	}
	return 0
}

func encodeString(s string) json.RawMessage {
	data, err := encode(s)
	if err != nil {
		panic(err) // a string always encodes
	}
	return data
}

// decodeNumbers is json.Unmarshal with the digits of numbers kept where the
// target is an interface.
func decodeNumbers(data json.RawMessage, v any) error {
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.UseNumber()
	return dec.Decode(v)
}

// sameJSON reports whether two texts are the same JSON value for a reader that
// keeps numbers as float64, as every JavaScript client does.
func sameJSON(a, b json.RawMessage) bool {
	if bytes.Equal(a, b) {
		return true
	}
	var x, y any
	return json.Unmarshal(a, &x) == nil && json.Unmarshal(b, &y) == nil && reflect.DeepEqual(x, y)
}

// isObject reports whether the first byte that is not white space opens an object.
func isObject(data json.RawMessage) bool {
	trimmed := bytes.TrimLeft(data, " \t\r\n")
	return len(trimmed) > 0 && trimmed[0] == '{'
}

// truthy reports whether JavaScript would take the value for true. Genkit JS
// tells an interrupt by that. A zero is one however it is spelled.
func truthy(data json.RawMessage) bool {
	text := string(bytes.TrimSpace(data))
	switch text {
	case "", "null", "false", `""`:
		return false
	}
	number, err := strconv.ParseFloat(text, 64)
	return err != nil || number != 0
}

func isJSONObject(data json.RawMessage) bool { return isObject(data) && json.Valid(data) }

// bounded is a value for an error text, cut where it is long.
func bounded(data json.RawMessage) string {
	const most = 80
	text := []rune(string(data))
	if len(text) <= most {
		return string(text)
	}
	return string(text[:most]) + "…"
}
