package ai

import (
	"encoding/json"
	"fmt"
	"maps"
)

// Metadata keys of tool requests. G marks Genkit's, the others are ours.
const (
	keyInterrupt         = "interrupt"         // G
	keyInterruptedBy     = "interruptedBy"     // the middleware that asked
	keyInterruptState    = "interruptState"    // for the asker alone
	keyAnswered          = "answered"          // answers of earlier askers
	keyResolvedInterrupt = "resolvedInterrupt" // G
	keyPendingOutput     = "pendingOutput"     // G
	keyPendingContent    = "pendingContent"
	keyPendingMetadata   = "pendingMetadata"
	keyResumed           = "resumed"       // G, also on tool messages
	keyReplacedInput     = "replacedInput" // G, also on tool responses
	keyOriginalName      = "originalName"  // also in tool definitions
	keyArgumentsError    = "argumentsError"
	keyEffectiveInput    = "effectiveInput" // also on tool responses
	keyCallKey           = "callKey"
	keyFailure           = "failure"
	keyNotStarted        = "notStarted"
	keyInner             = "inner"
	keyPath              = "path"
)

// Metadata keys of tool responses and of preambles.
const (
	keyInterruptResponse = "interruptResponse" // G
	keyOutcome           = "outcome"
	keyReason            = "reason"
	keyIsError           = "isError"
	keySource            = "source"   // G
	keyPreamble          = "preamble" // G
	keyTransfer          = "transfer"
	keyPartial           = "partial"
)

// toolAsker is the name under which answers to the tool itself are kept.
const toolAsker = "tool"

// answer is what an asker was given: the data of the restart, and the state the
// asker had left with its question.
type answer struct {
	Resumed json.RawMessage `json:"resumed"`
	State   json.RawMessage `json:"state,omitempty"`
}

// failure is what the wire keeps of a failed call. Text is ours, not the
// tool's, whose words may hold secrets.
type failure struct {
	Kind         FailureKind `json:"kind"`
	Text         string      `json:"text"`
	MayHaveActed bool        `json:"mayHaveActed"`
	InDoubt      bool        `json:"inDoubt,omitempty"`
}

// argumentsError is what the wire keeps of arguments that are no JSON object.
type argumentsError struct {
	Text    string `json:"text"`
	Problem string `json:"problem"`
}

// conversation is an inner conversation of a call, as the wire keeps it.
type conversation struct {
	Messages      []*Message   `json:"messages"`
	FinishReason  FinishReason `json:"finishReason,omitempty"` // set once it is finished
	FinishMessage string       `json:"finishMessage,omitempty"`
}

// marks is the metadata of a tool request, read. Nil raw values are absent.
type marks struct {
	interrupt         json.RawMessage
	interruptedBy     string
	interruptState    json.RawMessage
	answered          map[string]answer
	resolvedInterrupt json.RawMessage
	pending           bool // pendingOutput is there
	pendingOutput     json.RawMessage
	pendingContent    Parts
	pendingMetadata   Metadata
	originalName      string
	argumentsError    *argumentsError
	effectiveInput    json.RawMessage
	callKey           string
	failure           *failure
	notStarted        bool
	inner             map[string]*conversation
}

// readMarks reads the metadata of a tool request. The error names the key.
func readMarks(p *ToolRequestPart) (marks, error) {
	var m marks
	if len(p.Metadata) == 0 {
		return m, nil
	}
	m.interrupt = p.Metadata[keyInterrupt]
	m.interruptState = p.Metadata[keyInterruptState]
	m.resolvedInterrupt = p.Metadata[keyResolvedInterrupt]
	m.pendingOutput, m.pending = p.Metadata[keyPendingOutput]
	m.effectiveInput = p.Metadata[keyEffectiveInput]
	typed := []struct {
		key    string
		target any
	}{
		{keyInterruptedBy, &m.interruptedBy}, {keyAnswered, &m.answered},
		{keyPendingContent, &m.pendingContent}, {keyPendingMetadata, &m.pendingMetadata},
		{keyOriginalName, &m.originalName}, {keyArgumentsError, &m.argumentsError},
		{keyCallKey, &m.callKey}, {keyFailure, &m.failure},
		{keyNotStarted, &m.notStarted}, {keyInner, &m.inner},
	}
	for _, t := range typed {
		if _, err := p.Metadata.Decode(t.key, t.target); err != nil {
			return m, invalidf("ai: metadata %q of tool request %s: %w", t.key, p.label(), err)
		}
	}
	return m, m.checkConsistency(p)
}

// checkConsistency refuses metadata that no turn of ours or of Genkit leaves
// behind: a call can't be in two states at once.
func (m *marks) checkConsistency(p *ToolRequestPart) error {
	states := make([]string, 0, 2)
	for _, s := range []struct {
		key string
		set bool
	}{
		{keyPendingOutput, m.pending}, {keyInterrupt, m.interrupt != nil},
		{keyFailure, m.failure != nil}, {keyNotStarted, m.notStarted},
	} {
		if s.set {
			states = append(states, s.key)
		}
	}
	if len(states) > 1 {
		return invalidf("ai: tool request %s is marked both %s and %s", p.label(), states[0], states[1])
	}
	if !m.pending && (m.pendingContent != nil || m.pendingMetadata != nil) {
		return invalidf("ai: tool request %s has %s without %s", p.label(), keyPendingMetadata, keyPendingOutput)
	}
	if m.effectiveInput != nil && !isObject(m.effectiveInput) {
		return invalidf("ai: metadata %q of tool request %s must be an object", keyEffectiveInput, p.label())
	}
	for name, c := range m.inner {
		if c == nil || hasNil(c.Messages) {
			return invalidf("ai: metadata %q of tool request %s: branch %q must be an object with messages", keyInner, p.label(), name)
		}
	}
	return nil
}

// paused reports whether a turn has left its mark on the request. Fresh model
// messages hold none of these.
func (m *marks) paused() bool {
	return m.pending || m.interrupt != nil || m.failure != nil || m.notStarted || m.inner != nil ||
		m.callKey != "" || m.answered != nil || m.interruptState != nil
}

// resolve turns a question into an answered one.
func (m *marks) resolve() {
	if m.interrupt != nil {
		m.resolvedInterrupt, m.interrupt = m.interrupt, nil
	}
	m.interruptState, m.failure, m.notStarted = nil, nil, false
}

// settle forgets what only an unfinished call needs.
func (m *marks) settle() {
	m.resolve()
	m.answered, m.inner, m.callKey = nil, nil, ""
}

// forgetPending drops the results that a finished turn has moved to its tool message.
func (m *marks) forgetPending() {
	m.pending, m.pendingOutput, m.pendingContent, m.pendingMetadata = false, nil, nil, nil
}

// write returns a copy of the part with these marks in its metadata; keys that
// are not ours are kept. A part that would not change is returned as it is.
func (m *marks) write(p *ToolRequestPart) (*ToolRequestPart, error) {
	md := make(Metadata, len(p.Metadata)+2)
	maps.Copy(md, p.Metadata)
	raw := func(key string, value json.RawMessage, set bool) {
		delete(md, key)
		if set {
			md[key] = value
		}
	}
	raw(keyInterrupt, m.interrupt, m.interrupt != nil)
	raw(keyInterruptState, m.interruptState, m.interruptState != nil)
	raw(keyResolvedInterrupt, m.resolvedInterrupt, m.resolvedInterrupt != nil)
	raw(keyPendingOutput, m.pendingOutput, m.pending)
	raw(keyEffectiveInput, m.effectiveInput, m.effectiveInput != nil)
	raw(keyNotStarted, jsonTrue, m.notStarted)
	raw(keyInterruptedBy, encodeString(m.interruptedBy), m.interruptedBy != "")
	raw(keyOriginalName, encodeString(m.originalName), m.originalName != "")
	raw(keyCallKey, encodeString(m.callKey), m.callKey != "")
	if err := m.writeValues(md, p); err != nil {
		return nil, err
	}
	if len(md) == 0 {
		md = nil
	}
	c := *p
	c.Metadata = md
	return &c, nil
}

func (m *marks) writeValues(md Metadata, p *ToolRequestPart) error {
	for _, v := range []struct {
		key   string
		value any
		set   bool
	}{
		{keyAnswered, m.answered, len(m.answered) > 0},
		{keyPendingContent, m.pendingContent, len(m.pendingContent) > 0},
		{keyPendingMetadata, m.pendingMetadata, len(m.pendingMetadata) > 0},
		{keyArgumentsError, m.argumentsError, m.argumentsError != nil},
		{keyFailure, m.failure, m.failure != nil},
		{keyInner, m.inner, len(m.inner) > 0},
	} {
		delete(md, v.key)
		if !v.set {
			continue
		}
		if err := md.Set(v.key, v.value); err != nil {
			return fmt.Errorf("ai: tool request %s: %w", p.label(), err)
		}
	}
	return nil
}

// label names the request in texts.
func (p *ToolRequestPart) label() string { return label(p.ToolRequest.Name, p.ToolRequest.Ref) }
