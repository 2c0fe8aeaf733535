package ai

import (
	"encoding/json"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/holdpoint/ai/internal/coerce"
)

// maxCheapSize is the size up to which no value is out of proportion.
const maxCheapSize = 100

// textsPerSchema is how many strings are compared at the cost of one schema.
const textsPerSchema = 16

// affords reports whether the validator decides data, which decodes to v, in
// bounded time. It decides a value again for each way that leads to it: for a
// schema whose branches all lead back to it, that doubles at each level.
func (s *schema) affords(data json.RawMessage, v any) bool {
	if s.cheap || coerce.Affordable(s.root, data) {
		return true
	}
	// Data with a key twice has no price. The validator sees one of the two.
	plain, err := json.Marshal(v)
	return err == nil && len(plain) < len(data) && coerce.Affordable(s.root, plain)
}

// isCheap reports whether each part of a value is checked against few schemas
// only: the schema does not refer to itself, and it is small with all that it
// refers to written out.
func isCheap(root *jsonschema.Schema) bool {
	return schemaSize(root, maxCheapSize) <= maxCheapSize
}

// schemaSize counts s and all schemas below it, each as often as there are ways
// to it. It stops counting beyond most, which ends cycles too.
func schemaSize(s *jsonschema.Schema, most int) int {
	size := 1
	if s.Enum != nil {
		size += enumSize(s.Enum)
	}
	for _, sub := range subschemas(s) {
		if size > most {
			break
		}
		if sub != nil {
			size += schemaSize(sub, most-size)
		}
	}
	return size
}

// enumSize is what it costs to compare a value with all members, in schemas.
// Numbers are compared exactly, which takes longer than to compare strings.
func enumSize(enum *jsonschema.Enum) int {
	texts := 0
	for _, v := range enum.Values {
		if _, ok := v.(string); ok {
			texts++
		}
	}
	return len(enum.Values) - texts + texts/textsPerSchema
}
