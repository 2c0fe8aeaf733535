package ai

import "encoding/json"

// Part is one piece of a message: one of the pointer types [*TextPart],
// [*MediaPart], [*ReasoningPart], [*DataPart], [*CustomPart], [*ResourcePart],
// [*ToolRequestPart], [*ToolResponsePart] and [*UnknownPart]. No other package
// can add one.
//
// A field of type Part cannot be decoded; decode into [Parts] or a concrete
// type.
type Part interface {
	part()
	encode(*wireEncoder) error
}

// Parts is a list of parts. It decodes from a JSON array, telling the parts by
// their key, and encodes to one; nil encodes as []. A nil Part in it is an error
// when encoding. Lists may stand inside lists, as the content of tool responses,
// up to 32 deep.
type Parts []Part

// TextPart is text: {"text": "…"}.
type TextPart struct {
	// Text is the text; it may be empty.
	Text string
	// Metadata is data beside the text; nil when there is none.
	Metadata Metadata

	rest members
}

// MediaPart is an image, a sound or another document: {"media": {…}}.
type MediaPart struct {
	// Media says what it is and where.
	Media Media
	// Metadata is data beside the media; nil when there is none.
	Metadata Metadata

	rest members
}

// Media names a document.
type Media struct {
	// ContentType is the MIME type; empty when the URL says it or nobody does.
	ContentType string
	// URL is where the document is. A data: URL holds it whole.
	URL string

	rest members
}

// ReasoningPart is what a model shows of its thinking: {"reasoning": "…"}.
type ReasoningPart struct {
	// Reasoning is the text; it may be empty.
	Reasoning string
	// Metadata is data beside the text, such as a provider's signature; nil
	// when there is none.
	Metadata Metadata

	rest members
}

// DataPart is a JSON value: {"data": …}.
type DataPart struct {
	// Data is the value. Nil is written as null.
	Data json.RawMessage
	// Metadata is data beside the value; nil when there is none.
	Metadata Metadata

	rest members
}

// CustomPart is a JSON value whose meaning a provider defines: {"custom": …}.
type CustomPart struct {
	// Custom is the value. Nil and null are errors when encoding.
	Custom json.RawMessage
	// Metadata is data beside the value; nil when there is none.
	Metadata Metadata

	rest members
}

// ResourcePart refers to a resource: {"resource": {"uri": "…"}}.
type ResourcePart struct {
	// Resource names the resource.
	Resource Resource
	// Metadata is data beside the reference; nil when there is none.
	Metadata Metadata

	rest members
}

// Resource names something that is read by its URI.
type Resource struct {
	// URI is the name.
	URI string

	rest members
}

// ToolRequestPart is a model's wish to call a tool: {"toolRequest": {…}}.
type ToolRequestPart struct {
	// ToolRequest is what the model asks for.
	ToolRequest ToolRequest
	// Metadata holds what became of the request; nil when nothing did.
	Metadata Metadata

	rest members
}

// ToolRequest names a tool and the arguments for it. It is data, not a call.
type ToolRequest struct {
	// Name is the tool's name as the model sees it.
	Name string
	// Ref tells this request from the others of its message; empty when the
	// model gave none.
	Ref string
	// Input holds the arguments as JSON. Nil means absent, which is not the
	// same as null.
	Input json.RawMessage
	// Partial marks a request that is still being streamed.
	Partial bool

	rest members
}

// ToolResponsePart is the result of a tool request: {"toolResponse": {…}}.
type ToolResponsePart struct {
	// ToolResponse is the result.
	ToolResponse ToolResponse
	// Metadata says how the result came about; nil when there is nothing to say.
	Metadata Metadata

	rest members
}

// ToolResponse is what a tool request came to.
type ToolResponse struct {
	// Name is the name of the request that is answered.
	Name string
	// Ref is the ref of the request that is answered; empty when it has none.
	Ref string
	// Output is the result as JSON. Nil means absent; null is an output.
	Output json.RawMessage
	// Content holds what the tool gave beside the output; empty means absent.
	Content Parts

	rest members
}

// UnknownPart is a part of a kind this package does not know, kept whole.
type UnknownPart struct {
	// JSON is the part, a JSON object, as it was read.
	JSON json.RawMessage
}

func (*TextPart) part()         {}
func (*MediaPart) part()        {}
func (*ReasoningPart) part()    {}
func (*DataPart) part()         {}
func (*CustomPart) part()       {}
func (*ResourcePart) part()     {}
func (*ToolRequestPart) part()  {}
func (*ToolResponsePart) part() {}
func (*UnknownPart) part()      {}
