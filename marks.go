package ai

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"strings"
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
	keyReplacedInput     = "replacedInput" // G, also on tool responses, and kept until the call settles
	keyOriginalName      = "originalName"  // also in tool definitions
	keyArgumentsError    = "argumentsError"
	keyChanges           = "changes"
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
	changes           []Change
	effectiveInput    json.RawMessage
	replacedInput     json.RawMessage // effectiveInput is an edit of this
	callKey           string
	failure           *failure
	notStarted        bool
	inner             map[string]*conversation
}

// readMarks reads the metadata of a tool request. The error names the key.
func readMarks(p *ToolRequestPart) (marks, error) {
	if len(p.Metadata) == 0 {
		return marks{}, nil // the common case, which decodeMarks would put on the heap
	}
	return decodeMarks(p)
}

func decodeMarks(p *ToolRequestPart) (marks, error) {
	var m marks
	m.interrupt = p.Metadata[keyInterrupt]
	m.interruptState = p.Metadata[keyInterruptState]
	m.resolvedInterrupt = p.Metadata[keyResolvedInterrupt]
	m.pendingOutput, m.pending = p.Metadata[keyPendingOutput]
	m.effectiveInput, m.replacedInput = p.Metadata[keyEffectiveInput], p.Metadata[keyReplacedInput]
	typed := []struct {
		key    string
		target any
		want   string
	}{
		{keyInterruptedBy, &m.interruptedBy, "a string"}, {keyAnswered, &m.answered, "answers by asker"},
		{keyPendingContent, &m.pendingContent, "a list of parts"}, {keyPendingMetadata, &m.pendingMetadata, "an object"},
		{keyOriginalName, &m.originalName, "a string"}, {keyArgumentsError, &m.argumentsError, "an object with text and problem"},
		{keyChanges, &m.changes, "a list of changes"},
		{keyCallKey, &m.callKey, "a string"}, {keyFailure, &m.failure, "an object with kind and text"},
		{keyNotStarted, &m.notStarted, "true"}, {keyInner, &m.inner, "conversations by branch"},
	}
	for _, t := range typed {
		if _, err := p.Metadata.Decode(t.key, t.target); err != nil {
			return m, invalidf("ai: metadata %q of tool request %s must be %s%s", t.key, p.label(), t.want, detail(err))
		}
	}
	return m, m.checkConsistency(p)
}

// detail is what an error of Metadata.Decode has to say beyond the type that
// was expected.
func detail(err error) string {
	var w *wireError
	if !errors.As(err, &w) || w.cause == nil {
		return ""
	}
	if text, ours := strings.CutPrefix(w.cause.Error(), "ai: "); ours {
		return ": " + text
	}
	return ""
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
	for _, key := range []string{keyPendingContent, keyPendingMetadata} {
		if _, stray := p.Metadata[key]; stray && !m.pending {
			return invalidf("ai: tool request %s has %s without %s", p.label(), key, keyPendingOutput)
		}
	}
	if m.effectiveInput != nil && !isObject(m.effectiveInput) {
		return invalidf("ai: metadata %q of tool request %s must be an object", keyEffectiveInput, p.label())
	}
	for _, name := range sortedKeys(m.inner) {
		if c := m.inner[name]; c == nil || len(c.Messages) == 0 || hasNil(c.Messages) {
			return invalidf("ai: metadata %q of tool request %s: branch %q must be an object with messages", keyInner, p.label(), name)
		}
	}
	for _, asker := range sortedKeys(m.answered) {
		if !isResumeData(m.answered[asker].Resumed) {
			return invalidf("ai: metadata %q of tool request %s: %q must have %q, an object or true", keyAnswered, p.label(), asker, keyResumed)
		}
	}
	return nil
}

// isResumeData reports whether a restart can have given the value.
func isResumeData(data json.RawMessage) bool {
	return string(data) == "true" || isJSONObject(data)
}

// paused reports whether a turn has left its mark on the request. Fresh model
// messages hold none of these.
func (m *marks) paused() bool {
	return m.pending || m.interrupt != nil || m.failure != nil || m.notStarted || m.inner != nil ||
		m.callKey != "" || m.answered != nil || m.interruptState != nil
}

// toolAsked reports whether the call waits for an answer to the tool's own question.
func (m *marks) toolAsked() bool { return m.interrupt != nil && m.interruptedBy == "" }

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
	m.answered, m.inner, m.callKey, m.replacedInput = nil, nil, "", nil
}

// forgetPending drops the results that a finished turn has moved to its tool message.
func (m *marks) forgetPending() {
	m.pending, m.pendingOutput, m.pendingContent, m.pendingMetadata = false, nil, nil, nil
}

// write returns a copy of the part with these marks in its metadata; keys that
// are not ours are kept.
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
	raw(keyReplacedInput, m.replacedInput, m.replacedInput != nil)
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
		{keyChanges, m.changes, len(m.changes) > 0},
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
