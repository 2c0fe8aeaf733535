package anthropic

import (
	"bytes"
	"encoding/json"

	"github.com/holdpoint/ai"
	"github.com/holdpoint/ai/internal/adapter"
)

// block is one JSON object of the API, a content block or another, by member.
// The values are kept as they were read.
type block map[string]json.RawMessage

// kind is the block's type. Empty where it has none.
func (b block) kind() string { return text(b["type"]) }

// merge adds members that b does not have.
func (b block) merge(more block) block {
	for key, value := range more {
		if _, ok := b[key]; !ok {
			b[key] = value
		}
	}
	return b
}

// without is a copy that leaves out members, and those that are null.
func (b block) without(keys ...string) block {
	rest := block{}
	for key, value := range b {
		if string(value) != "null" {
			rest[key] = value
		}
	}
	for _, key := range keys {
		delete(rest, key)
	}
	return rest
}

// metadata is what a part keeps of a block. Nil where that is nothing.
func (b block) metadata() ai.Metadata {
	if len(b) == 0 {
		return nil
	}
	return ai.Metadata{provider: encode(b)}
}

// own reads what metadata keeps for this provider. Nil where there is nothing.
func own(md ai.Metadata) (block, error) {
	raw, ok := md[provider]
	if !ok {
		return nil, nil
	}
	var b block
	if json.Unmarshal(raw, &b) != nil || b == nil {
		return nil, adapter.Invalid("its metadata %q is no JSON object", provider)
	}
	return b.without(), nil
}

// encode writes JSON without escaping HTML. The values it is given always encode.
func encode(value any) json.RawMessage {
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(value); err != nil {
		panic(err)
	}
	return bytes.TrimSuffix(buf.Bytes(), []byte("\n"))
}

// text reads a JSON string. Anything else is empty.
func text(raw json.RawMessage) string {
	var s string
	if json.Unmarshal(raw, &s) != nil {
		return ""
	}
	return s
}
