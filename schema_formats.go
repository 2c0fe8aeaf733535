package ai

import (
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// inferredFormats are the formats of inferred schemas that the validator does
// not know, or takes in a wider sense than Go does.
func inferredFormats() []*jsonschema.Format {
	formats := []*jsonschema.Format{
		{Name: "date-time", Validate: ofText(checkDateTime)},
		{Name: "float", Validate: ofText(checkFloat(32))},
		{Name: "double", Validate: ofText(checkFloat(64))},
	}
	for _, bits := range []int{8, 16, 32, 64} {
		formats = append(formats,
			&jsonschema.Format{Name: fmt.Sprintf("int%d", bits), Validate: ofText(checkInt(bits))},
			&jsonschema.Format{Name: fmt.Sprintf("uint%d", bits), Validate: ofText(checkUint(bits))})
	}
	return formats
}

// ofText makes a check of strings one of any value: formats are about strings.
func ofText(check func(string) error) func(any) error {
	return func(v any) error {
		text, ok := v.(string)
		if !ok {
			return nil
		}
		return check(text)
	}
}

// checkDateTime takes what time.Time takes; leap seconds and lower case are
// legal in RFC 3339 but not there.
func checkDateTime(text string) error {
	return new(time.Time).UnmarshalText([]byte(text))
}

// checkInt takes the digits that encoding/json writes: without leading zeros,
// two keys of a map can't be the same number.
func checkInt(bits int) func(string) error {
	return func(text string) error {
		n, err := strconv.ParseInt(text, 10, bits)
		return checkDigits(text, strconv.FormatInt(n, 10), err)
	}
}

func checkUint(bits int) func(string) error {
	return func(text string) error {
		n, err := strconv.ParseUint(text, 10, bits)
		return checkDigits(text, strconv.FormatUint(n, 10), err)
	}
}

func checkDigits(text, canonical string, err error) error {
	if err == nil && text != canonical {
		return errors.New("not in its shortest form")
	}
	return err
}

func checkFloat(bits int) func(string) error {
	return func(text string) error {
		if text == "" || text[0] != '-' && (text[0] < '0' || text[0] > '9') || !json.Valid([]byte(text)) {
			return errors.New("not a number")
		}
		_, err := strconv.ParseFloat(text, bits)
		return err
	}
}
