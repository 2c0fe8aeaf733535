package openai

import (
	"bytes"
	"encoding/json"

	"github.com/holdpoint/ai"
)

// object is a JSON object of the API, by member.
type object map[string]any

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

// flexible is text that some servers send as a JSON value: a string is its text, an
// absent one or null is empty, anything else is its JSON.
type flexible string

func (f *flexible) UnmarshalJSON(data []byte) error {
	var s string
	switch {
	case string(data) == "null":
		s = ""
	case json.Unmarshal(data, &s) != nil:
		s = string(data)
	}
	*f = flexible(s)
	return nil
}

// content is the content of a message: a string, or a list of parts with text.
type content string

func (c *content) UnmarshalJSON(data []byte) error {
	var parts []struct {
		Text    string `json:"text"`
		Refusal string `json:"refusal"`
	}
	var s string
	if json.Unmarshal(data, &parts) == nil {
		for _, p := range parts {
			s += p.Text + p.Refusal
		}
	} else if err := json.Unmarshal(data, &s); err != nil {
		return err
	}
	*c = content(s)
	return nil
}

// own is metadata of this provider.
func own(value any) ai.Metadata { return ai.Metadata{provider: encode(value)} }
