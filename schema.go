package ai

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/holdpoint/ai/internal/fit"
)

const (
	// schemaURL is where a compiled schema pretends to live. It is absolute,
	// so that the compiler does not turn it into a path of this machine, and
	// hierarchical, so that relative $id values resolve against it.
	schemaURL = "tool:///schema"
	// gateURL holds the negated schema. Validating the negation costs no
	// error tree, which for deep values is quadratic in the depth.
	gateURL = "tool:///gate"

	// maxSchemaDepth bounds how deep a schema may nest: the check against the
	// metaschema is quadratic in the depth.
	maxSchemaDepth = 256
	// maxExplainDepth is how deep a value may nest for its faults to be told
	// one by one.
	maxExplainDepth = 100
	// maxNumberSize and maxExponent bound numbers: they are compared exactly,
	// for which 1e999999 would be written out.
	maxNumberSize = 1000 // characters
	maxExponent   = 999  // magnitude
)

// A schema is a compiled JSON schema. A nil schema takes every value. It is
// safe for concurrent use.
type schema struct {
	root *jsonschema.Schema
	gate *jsonschema.Schema // fits what root does not
	fast *fit.Program       // decides most values that fit; nil where it decides none

	// broken says of subschemas, by location, why nothing fits them.
	broken map[string]string
	// cheap is set where validation is never out of proportion to the value.
	cheap bool

	// places finds a subschema by its location. It is needed to word faults
	// alone, so it is made when the first one is.
	places func() map[string]*jsonschema.Schema
}

// compileSchema compiles raw, a schema of draft 2020-12 or of the draft that
// its $schema names. Nothing outside raw is ever loaded. In a schema inferred
// from a Go type, formats are assertions, because the type will not decode
// anything else; in others they are notes, unless their draft says otherwise.
// A reference to nothing and a pattern that Go does not take make nothing fit
// where they stand; see mendSchema. An empty raw gives a nil schema.
func compileSchema(raw json.RawMessage, inferred bool) (*schema, error) {
	raw = bytes.TrimSpace(raw)
	if len(raw) == 0 {
		return nil, nil
	}
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(raw))
	if err != nil {
		return nil, fmt.Errorf("not JSON: %w", err)
	}
	if depth, number := measureValue(doc); depth > maxSchemaDepth {
		return nil, fmt.Errorf("nests %d levels deep, at most %d are supported", depth, maxSchemaDepth)
	} else if number != "" {
		return nil, fmt.Errorf("holds the number %s, which is too large", cutText(number, maxGot))
	}
	s, err := compileDocument(doc, inferred)
	if err != nil {
		broken := mendSchema(doc)
		if s, err = compileDocument(doc, inferred); err != nil {
			return nil, fmt.Errorf("does not compile: %w", schemaError(doc, err))
		}
		s.broken = broken
	}
	return s, nil
}

func compileDocument(doc any, inferred bool) (s *schema, err error) {
	// The compiler indexes into documents that are only partly checked.
	defer func() {
		if p := recover(); p != nil {
			s, err = nil, fmt.Errorf("%v", p)
		}
	}()
	c := jsonschema.NewCompiler()
	c.DefaultDraft(jsonschema.Draft2020)
	c.UseLoader(noLoader{})
	if inferred {
		c.AssertFormat()
		for _, format := range inferredFormats() {
			c.RegisterFormat(format)
		}
	}
	if err := c.AddResource(schemaURL, doc); err != nil {
		return nil, err
	}
	root, err := c.Compile(schemaURL)
	if err != nil {
		return nil, err
	}
	gate := map[string]any{"not": map[string]any{"$ref": schemaURL}}
	if err := c.AddResource(gateURL, gate); err != nil {
		return nil, err
	}
	negation, err := c.Compile(gateURL)
	if err != nil {
		return nil, err
	}
	fast, _ := fit.Compile(doc, &fit.Options{AssertFormat: inferred})
	return &schema{
		fast:  fast,
		root:  root,
		gate:  negation,
		cheap: isCheap(root),
		places: sync.OnceValue(func() map[string]*jsonschema.Schema {
			return schemaPlaces(root)
		}),
	}, nil
}

// check returns where data does not fit, sorted by path and then by text, at
// most maxFaults of them; nil means that it fits. The same data always gives
// the same faults.
func (s *schema) check(data json.RawMessage) []Fault {
	if s == nil || s.certain(data) {
		return nil
	}
	return s.explain(data)
}

// certain reports whether data fits for sure, and is read alike by everybody.
// False means that this is not known.
func (s *schema) certain(data []byte) bool {
	return s != nil && s.fast != nil && s.fast.Fits(data)
}

// explain decodes data and validates it in full.
func (s *schema) explain(data json.RawMessage) []Fault {
	if len(bytes.TrimSpace(data)) == 0 {
		return []Fault{{Expected: "a JSON value"}}
	}
	v, err := jsonschema.UnmarshalJSON(bytes.NewReader(data))
	if err != nil {
		return []Fault{{Expected: "a JSON value", Got: "malformed JSON: " + cutText(err.Error(), maxExpected)}}
	}
	depth, number := measureValue(v)
	if number != "" {
		return []Fault{{
			Expected: fmt.Sprintf("numbers of at most %d characters and exponents up to %d", maxNumberSize, maxExponent),
			Got:      "number " + cutText(number, maxGot),
		}}
	}
	if !s.affords(data, v) {
		return []Fault{{
			Expected: "a value that can be checked against the schema with bounded work",
			Got:      "one that is too costly to check",
		}}
	}
	if depth > maxExplainDepth {
		return s.checkDeep(v, depth)
	}
	err = s.root.Validate(v)
	if err == nil {
		return nil
	}
	var invalid *jsonschema.ValidationError
	if !errors.As(err, &invalid) {
		return []Fault{{Expected: "a value that fits the schema", Got: describeValue(v)}}
	}
	return s.faults(v, invalid)
}

func (s *schema) checkDeep(v any, depth int) []Fault {
	if s.gate.Validate(v) != nil {
		return nil
	}
	return []Fault{{
		Expected: "a value that fits the schema",
		Got:      fmt.Sprintf("one that does not, nested %d levels deep", depth),
	}}
}

// noLoader refuses to load anything: a schema is complete or it is an error.
type noLoader struct{}

func (noLoader) Load(string) (any, error) {
	return nil, errors.New("a schema may not refer to other documents")
}

// schemaError words an error of the compiler. Places in the schema, doc, are
// told as fragments ("#/properties/a") without the URL that we made up.
func schemaError(doc any, err error) error {
	text := err.Error()
	var invalid *jsonschema.SchemaValidationError
	var cause *jsonschema.ValidationError
	if errors.As(err, &invalid) && errors.As(invalid.Err, &cause) {
		text = schemaFaults(doc, strings.TrimPrefix(invalid.URL, schemaURL+"#"), cause)
	}
	return errors.New(cutText(strings.ReplaceAll(text, schemaURL, ""), 4*maxExpected))
}

// measureValue returns how deep v nests and the first number that is too large to
// compare, if there is one. Which one is first does not depend on map order
// unless there are several.
func measureValue(v any) (depth int, number string) {
	switch v := v.(type) {
	case json.Number:
		if numberTooLarge(string(v)) {
			return 0, string(v)
		}
	case []any:
		for _, item := range v {
			depth, number = widenMeasure(depth, number, item)
		}
		return depth + 1, number
	case map[string]any:
		for _, item := range v {
			depth, number = widenMeasure(depth, number, item)
		}
		return depth + 1, number
	}
	return 0, ""
}

func widenMeasure(depth int, number string, item any) (int, string) {
	d, n := measureValue(item)
	if number == "" || n != "" && n < number {
		number = n
	}
	return max(depth, d), number
}

func numberTooLarge(number string) bool {
	if len(number) > maxNumberSize {
		return true
	}
	i := strings.IndexAny(number, "eE")
	if i < 0 {
		return false
	}
	exponent := strings.TrimLeft(number[i+1:], "+-0")
	return len(exponent) > len(strconv.Itoa(maxExponent))
}
