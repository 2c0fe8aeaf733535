package ai

import (
	"bytes"
	"encoding/json"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"
)

// maxPlainInteger bounds the integers that are written out, in digits. No
// integer type of Go has more.
const maxPlainInteger = 20

// decodeArguments decodes a valid JSON text into what v points to, with integers
// in every spelling that a schema takes for one, and strings for types that do
// not read escapes, such as time.Time. Where the text decodes as it is, v holds
// what it would in any case.
func decodeArguments(data json.RawMessage, v any, decode func(json.RawMessage, any) error) error {
	err := decode(data, v)
	if err == nil {
		return nil
	}
	plain, ok := plainSpelling(data)
	if !ok {
		return err
	}
	reflect.ValueOf(v).Elem().SetZero()
	if decode(plain, v) != nil {
		return err // whose offsets are those of data
	}
	return nil
}

// plainSpelling writes the integers in a JSON text as encoding/json wants them
// for Go's integers: 3 for 3.0, 100 for 1e2 and 0 for -0. Strings lose the escapes
// that they can do without. It reports false where there is nothing to do.
func plainSpelling(data json.RawMessage) (plain json.RawMessage, ok bool) {
	copied := 0 // data up to here is in plain
	for i := 0; i < len(data); {
		end, token := i+1, ""
		switch c := data[i]; {
		case c == '"':
			end = afterString(data, i)
			token = plainString(data[i:end])
		case c == '-' || '0' <= c && c <= '9':
			end = afterNumber(data, i)
			token = plainInteger(data[i:end])
		}
		if token != "" {
			plain = append(append(plain, data[copied:i]...), token...)
			copied = end
		}
		i = end
	}
	if copied == 0 {
		return data, false
	}
	return append(plain, data[copied:]...), true
}

// plainString returns a string without escapes that it can do without, or ""
// where it has no escapes.
func plainString(quoted []byte) string {
	var text string
	if bytes.IndexByte(quoted, '\\') < 0 || json.Unmarshal(quoted, &text) != nil {
		return ""
	}
	return string(encodeString(text))
}

// afterString returns the position behind the string that begins at i.
func afterString(data []byte, i int) int {
	for i++; i < len(data); i++ {
		switch data[i] {
		case '\\':
			i++
		case '"':
			return i + 1
		}
	}
	return len(data)
}

// afterNumber returns the position behind the number that begins at i.
func afterNumber(data []byte, i int) int {
	for i < len(data) && strings.IndexByte("0123456789.eE+-", data[i]) >= 0 {
		i++
	}
	return i
}

// plainInteger returns the digits of a number that is written otherwise, or ""
// where it is plain already, no integer, or larger than any type takes. Minus
// zero counts, which Go's unsigned integers do not take.
func plainInteger(number []byte) string {
	mantissa, exponent := number, 0
	if i := bytes.IndexAny(number, "eE"); i >= 0 {
		mantissa = number[:i]
		var err error
		if exponent, err = strconv.Atoi(string(number[i+1:])); err != nil || exponent > math.MaxInt32 {
			exponent = math.MaxInt32 // of which zero alone takes no notice
		}
	}
	digits, negative := bytes.CutPrefix(mantissa, []byte("-"))
	whole, fraction, _ := bytes.Cut(digits, []byte("."))
	switch {
	case len(bytes.Trim(digits, ".0")) == 0:
		if len(number) == 1 {
			return ""
		}
		return "0"
	case len(number) == len(whole) || negative && len(number) == len(whole)+1:
		return ""
	}
	plain := scaled(bytes.TrimLeft(slices.Concat(whole, fraction), "0"), exponent-len(fraction))
	if plain != "" && negative {
		return "-" + plain
	}
	return plain
}

// scaled returns digits times ten to the power of exponent, or "" where that is
// no integer, or longer than maxPlainInteger.
func scaled(digits []byte, exponent int) string {
	zeros := len(digits) - len(bytes.TrimRight(digits, "0"))
	size := len(digits) + exponent
	if exponent < -zeros || size > maxPlainInteger {
		return ""
	}
	if exponent < 0 {
		return string(digits[:size])
	}
	return string(digits) + strings.Repeat("0", exponent)
}
