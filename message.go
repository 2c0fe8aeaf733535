package ai

import "strings"

// Role says who speaks in a [Message].
type Role string

// The roles there are. A message with any other role, the empty one included,
// neither decodes nor encodes.
const (
	RoleSystem Role = "system" // instructions to the model
	RoleUser   Role = "user"   // what the user said
	RoleModel  Role = "model"  // what the model said, tool requests included
	RoleTool   Role = "tool"   // tool responses
)

// Message is one entry of a conversation. As JSON it is
// {role, content, metadata?}, the form Genkit uses.
//
// Decoding is strict about what it knows (exact case of keys, no key twice,
// the right types) and keeps what it does not know: unknown keys, their order
// and the digits of numbers survive decoding and encoding.
//
// A Message may be read by several goroutines at once. Copies of the struct
// share content and metadata.
type Message struct {
	// Role says who speaks. It must be one of the Role constants.
	Role Role
	// Content holds the parts in order. Nil and empty are both written as [].
	Content Parts
	// Metadata is data beside the content; nil when there is none.
	Metadata Metadata

	rest members
}

// TextMessage returns a message with one text part.
func TextMessage(role Role, text string) *Message {
	return &Message{Role: role, Content: Parts{&TextPart{Text: text}}}
}

// Text returns the text of all text parts, joined without a separator. It is
// empty when there is none; reasoning is not text.
func (m *Message) Text() string {
	var texts []string
	for _, p := range m.Content {
		if t, ok := p.(*TextPart); ok {
			texts = append(texts, t.Text)
		}
	}
	return strings.Join(texts, "")
}

// ToolRequests returns the tool requests of the message in order, nil when
// there are none. They are the message's own parts, not copies.
func (m *Message) ToolRequests() []*ToolRequestPart {
	var requests []*ToolRequestPart
	for _, p := range m.Content {
		if r, ok := p.(*ToolRequestPart); ok {
			requests = append(requests, r)
		}
	}
	return requests
}
