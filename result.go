package ai

import (
	"bytes"
	"encoding/json"
	"fmt"
)

// Outcome says how a call ended.
type Outcome string

// The ways a call can end. The zero value is a success.
const (
	OutcomeSuccess    Outcome = ""
	OutcomeFailed     Outcome = "failed"     // the model is told of an error
	OutcomeDenied     Outcome = "denied"     // somebody said no; it did not run
	OutcomeExpired    Outcome = "expired"    // nobody answered in time; it did not run
	OutcomeSuperseded Outcome = "superseded" // overtaken by events; it did not run
	OutcomeUnknown    Outcome = "unknown"    // it may have happened, nobody knows
)

// ToolResult is what a call gives back. The zero value is a success without output.
type ToolResult struct {
	// Output is the value for the model. Nil counts as null.
	Output json.RawMessage
	// Content are parts that go with the output: images, files, text.
	Content Parts
	// Metadata is added to the metadata of the tool response; the model does not
	// see it. Keys that say what became of the call, such as `outcome`, are left
	// out: the fields below say that.
	Metadata Metadata
	// Outcome defaults to OutcomeSuccess. Results of any other outcome settle the
	// call like a success, but are not held to the output schema.
	Outcome Outcome
	// Reason explains a denial.
	Reason string
	// Transfer hands the conversation to a prompt. See Prompt.
	Transfer *Transfer
}

// ErrorResult is a result that tells the model of an error. The turn goes on.
func ErrorResult(text string) *ToolResult {
	return &ToolResult{Output: encodeString(text), Outcome: OutcomeFailed}
}

// DeniedResult is a result that says the call was refused, and why. Middleware
// returns it instead of calling next.
func DeniedResult(reason string) *ToolResult {
	return &ToolResult{Output: encodeString(deniedText(reason)), Outcome: OutcomeDenied, Reason: reason}
}

// OutcomeResult is a result for a call that did not run to its end: the text is
// what the model is told.
func OutcomeResult(outcome Outcome, text string) *ToolResult {
	return &ToolResult{Output: encodeString(text), Outcome: outcome}
}

func deniedText(reason string) string {
	if reason == "" {
		return "Denied."
	}
	return "Denied: " + reason
}

// part makes the tool response of a result for the request it answers.
func (r *ToolResult) part(req *ToolRequest) (*ToolResponsePart, error) {
	p := &ToolResponsePart{ToolResponse: ToolResponse{
		Name: req.Name, Ref: req.Ref, Output: r.Output, Content: r.Content,
	}}
	if p.ToolResponse.Output == nil {
		p.ToolResponse.Output = json.RawMessage("null")
	}
	if len(r.Metadata) == 0 && r.Outcome == OutcomeSuccess && r.Transfer == nil {
		return p, nil
	}
	md := make(Metadata, len(r.Metadata)+3)
	for k, v := range r.Metadata {
		if !isVerdict(k) {
			md[k] = v
		}
	}
	if err := r.mark(md); err != nil {
		return nil, err
	}
	if len(md) > 0 {
		p.Metadata = md
	}
	return p, nil
}

// isVerdict reports keys of tool responses that only a turn may write: with them
// a result could pass for another kind of result, or hand the conversation over.
func isVerdict(key string) bool {
	switch key {
	case keyInterruptResponse, keyOutcome, keyIsError, keySource, keyPartial, keyTransfer, keyReplacedInput, keyEffectiveInput:
		return true
	}
	return false
}

// check makes sure that the result can be written into a history.
func (r *ToolResult) check() error {
	if r.Outcome != OutcomeSuccess && len(r.Output) > 0 && !json.Valid(r.Output) {
		return invalidf("ai: its output is not JSON") // that of a success was held to the schema
	}
	if len(r.Content)+len(r.Metadata) > 0 {
		content := &ToolResponsePart{ToolResponse: ToolResponse{Content: r.Content}, Metadata: r.Metadata}
		if _, err := marshalPart(content); err != nil {
			return placef(err, "ai: its result can't be written: ")
		}
	}
	if t := r.Transfer; t != nil {
		if _, err := encode(t); err != nil || t.incomplete() {
			return invalidf("ai: its transfer must name a prompt and hold messages that can be written")
		}
	}
	return nil
}

// incomplete reports whether there is nothing to hand the conversation to.
func (t *Transfer) incomplete() bool {
	return t.Prompt == "" || len(t.Messages) == 0 || hasNil(t.Messages)
}

// mark writes what the outcome adds to the metadata of a tool response.
func (r *ToolResult) mark(md Metadata) error {
	switch r.Outcome {
	case OutcomeSuccess:
	case OutcomeFailed:
		md[keyIsError] = jsonTrue
	case OutcomeDenied:
		md[keyInterruptResponse] = jsonTrue
		md[keyOutcome] = encodeString(string(OutcomeDenied))
		md[keyReason] = encodeString(r.Reason)
	default:
		md[keyOutcome] = encodeString(string(r.Outcome))
	}
	if r.Transfer == nil {
		return nil
	}
	return md.Set(keyTransfer, r.Transfer)
}

// ToolOutput is what a model is told of one tool response.
type ToolOutput struct {
	// Output is the value as JSON.
	Output json.RawMessage
	// Text is the value as text: a string as it is, anything else as JSON. An
	// edit of the arguments is said in front of it.
	Text string
	// Content are the parts that go with it.
	Content Parts
	// IsError is true where the model has to know that the call did not succeed.
	IsError bool
}

// ForModel turns a tool response into what a model is told of it. Every model
// adapter uses it, so that a denial or an edit reads the same everywhere.
func (p *ToolResponsePart) ForModel() *ToolOutput {
	out := &ToolOutput{Output: p.ToolResponse.Output, Content: p.ToolResponse.Content}
	if len(out.Output) == 0 {
		out.Output = json.RawMessage("null")
	}
	if bytes.Contains(out.Output, []byte(`\u00`)) {
		// A history that went through json.Marshal has its HTML escaped.
		out.Output = unescapeHTML(bytes.Clone(out.Output))
	}
	if json.Unmarshal(out.Output, &out.Text) != nil || bytes.TrimSpace(out.Output)[0] != '"' {
		out.Text = string(out.Output)
	}
	_, ended := p.Metadata[keyOutcome]
	out.IsError = ended || string(p.Metadata[keyIsError]) == "true"
	if effective, ok := p.Metadata[keyEffectiveInput]; ok {
		out.note(fmt.Sprintf("Note: the arguments were changed before the call ran; it ran with %s.", effective))
	}
	return out
}

// note puts a remark for the model in front of the output. The JSON form turns
// into text with it: no place inside a value of unknown shape is free for one.
func (o *ToolOutput) note(text string) {
	o.Text = text + "\n" + o.Text
	o.Output = encodeString(o.Text)
}
