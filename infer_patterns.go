package ai

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strings"

	"github.com/invopop/jsonschema"
)

const (
	numberPattern = `^-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?$`
	// What surely is no more than the largest float of 32 and of 64 bits.
	float32Pattern = `^-?(0|[1-9][0-9]{0,19})(\.[0-9]{1,30})?([eE](-[0-9]{1,3}|\+?(0?[0-9]|1[0-7])))?$`
	float64Pattern = `^-?(0|[1-9][0-9]{0,19})(\.[0-9]{1,30})?([eE](-[0-9]{1,3}|\+?([01]?[0-9]{1,2}|2[0-7][0-9])))?$`
	stringPattern  = `^"([^"\\\x00-\x1f]|\\(["\\/bfnrt]|u[0-9a-fA-F]{4}))*"$`
)

// quote turns s, the schema of a basic type t, into that of its JSON in a
// string, as the json option "string" has it.
func (b *inference) quote(s *jsonschema.Schema, t reflect.Type) {
	extras := s.Extras
	plain := s.Type
	if plain == "" || plain == "string" && t.Kind() != reflect.String {
		// An encoding of its own: the option counts only when decoding.
		if b.dir == input {
			*s = jsonschema.Schema{Type: "string"}
		}
		return
	}
	*s = jsonschema.Schema{Type: "string", Extras: extras}
	switch {
	case plain == "boolean":
		s.Enum = []any{"true", "false"}
	case plain == "integer":
		s.Pattern = integerPattern(integerBounds(t))
	case t == reflect.TypeFor[json.Number](), b.dir == output && isFloatKind(t.Kind()):
		s.Pattern = numberPattern
	case t.Kind() == reflect.Float32:
		s.Pattern = float32Pattern
	case t.Kind() == reflect.Float64:
		s.Pattern = float64Pattern
	default:
		s.Pattern = stringPattern
	}
}

// integerPattern matches the decimal integers from low to high, which are 0
// and up or straddle it, without leading zeros.
func integerPattern(low, high string) string {
	pattern := "0|" + upTo(high)
	if negative, ok := strings.CutPrefix(low, "-"); ok {
		pattern += "|-(" + upTo(negative) + ")"
	}
	return "^(" + pattern + ")$"
}

// upTo matches the integers from 1 to high.
func upTo(high string) string {
	n := len(high)
	options := []string{fmt.Sprintf("[1-9][0-9]{0,%d}", n-2)}
	for i := range n {
		least := byte('0')
		if i == 0 {
			least = '1'
		}
		if high[i] > least {
			options = append(options, fmt.Sprintf("%s[%c-%c][0-9]{%d}", high[:i], least, high[i]-1, n-i-1))
		}
	}
	return strings.Join(append(options, high), "|")
}
