package ai

import (
	"encoding/json"
	"fmt"
	"reflect"

	"github.com/invopop/jsonschema"
)

// Patterns say to everyone what the formats of schema_formats.go, which are
// more exact, say to this package.
const (
	signedPattern   = `^(0|-?[1-9][0-9]*)$`
	unsignedPattern = `^(0|[1-9][0-9]*)$`
	numberPattern   = `^-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?$`
	stringPattern   = `^"([^"\\\x00-\x1f]|\\(["\\/bfnrt]|u[0-9a-fA-F]{4}))*"$`
	base64Pattern   = `^([A-Za-z0-9+/]{4})*([A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$`
)

// quote turns s, the schema of a basic type t, into that of its JSON in a
// string, as the json option "string" has it.
func (b *inference) quote(s *jsonschema.Schema, t reflect.Type) {
	own, coded := b.coded(t)
	switch {
	case coded && b.dir == output:
		return // encoders of the type's own ignore the option, decoders do not
	case coded && own.Type == "":
		*s = jsonschema.Schema{Type: "string", MinLength: new(uint64(1))}
		return
	}
	*s = jsonschema.Schema{Type: "string", Extras: s.Extras}
	switch k := t.Kind(); {
	case coded:
		s.Pattern = stringPattern
	case k == reflect.Bool:
		s.Enum = []any{"true", "false"}
	case isIntegerKind(k):
		s.Pattern, s.Format = integerDigits(t)
	case k == reflect.Float32:
		s.Pattern, s.Format = numberPattern, "float"
	case k == reflect.Float64:
		s.Pattern, s.Format = numberPattern, "double"
	case t == reflect.TypeFor[json.Number]():
		s.Pattern = numberPattern
	default:
		s.Pattern = stringPattern
	}
}

// integerDigits returns pattern and format of the integers of type t as text.
func integerDigits(t reflect.Type) (pattern, format string) {
	if isUnsignedKind(t.Kind()) {
		return unsignedPattern, fmt.Sprintf("uint%d", t.Bits())
	}
	return signedPattern, fmt.Sprintf("int%d", t.Bits())
}
