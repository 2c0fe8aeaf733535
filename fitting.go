package ai

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"

	"github.com/holdpoint/ai/internal/argtext"
	"github.com/holdpoint/ai/internal/coerce"
)

// Change is one difference between the arguments a model sent and those the
// tool gets. Applied in order, the changes turn the one into the other.
type Change struct {
	// Path leads to the value, its steps joined by dots: "edits.0.oldText". It is
	// empty for the arguments as a whole.
	Path string `json:"path"`
	// From is the value that came. Text that was no JSON object is a string here.
	// Nil where nothing came and a default was filled in.
	From json.RawMessage `json:"from,omitempty"`
	// To is the value it became. Nil when a property was left out.
	To json.RawMessage `json:"to,omitempty"`
	// Rule names the kind of change. See docs/arguments.md.
	Rule string `json:"rule"`
}

// NewToolRequest is for model adapters: a tool request with arguments as the
// provider sent them. Text that is no JSON object is kept beside the request,
// whose input is then empty, so that the history stays valid; whether it can be
// mended is decided when the tool is known.
func NewToolRequest(name, ref, arguments string) *ToolRequestPart {
	p := &ToolRequestPart{ToolRequest: ToolRequest{Name: name, Ref: ref}}
	raw := json.RawMessage(arguments)
	if isJSONObject(raw) {
		p.ToolRequest.Input = raw
		return p
	}
	p.ToolRequest.Input = emptyJSON
	if err := p.Metadata.Set(keyArgumentsError, &argumentsError{Text: arguments, Problem: describe(raw)}); err != nil {
		panic(err) // two strings always encode
	}
	return p
}

// arguments are on their way to the tool.
type arguments struct {
	input   json.RawMessage
	changes []Change
}

// read takes the arguments of a request: its input, or what can be read from
// the text that was sent instead of one.
func (e *entry) read(req *ToolRequest, sent *argumentsError) (arguments, error) {
	if sent == nil {
		return arguments{input: inputOf(req)}, nil
	}
	r, err := argtext.Parse(sent.Text, &argtext.Options{Probable: e.def.ProbableRepairs})
	if err != nil {
		problem := *sent
		var bad *argtext.Error
		if errors.As(err, &bad) && problem.Problem == describe(json.RawMessage(sent.Text)) {
			problem.Problem = strings.TrimPrefix(bad.Problem, "expected a JSON object, got ")
		}
		return arguments{}, e.malformed(req.Ref, &problem)
	}
	change := Change{From: encodeString(sent.Text), To: r.Object, Rule: r.Rule}
	return arguments{r.Object, []Change{change}}, nil
}

// fit makes arguments fit the tool's schema. What fits is not touched, but for
// the defaults that the tool asks for.
func (e *entry) fit(ref string, a arguments) (arguments, error) {
	a, err := e.mend(ref, a)
	if err == nil && e.def.FillDefaults {
		a = e.schemas.input.fillDefaults(a)
	}
	return a, err
}

func (e *entry) mend(ref string, a arguments) (arguments, error) {
	s := e.schemas.input
	if e.def.Sampling.strict() && isObject(a.input) {
		a.input = coerce.Fold(e.def.InputSchema, a.input)
	}
	if e.plain(a.input) {
		return a, nil
	}
	if s == nil || !isObject(a.input) {
		return a, e.checkInput(ref, a.input)
	}
	out, changes, ok := coerce.Coerce(s.root, a.input, &coerce.Options{ToolName: e.def.Name, Fits: s.certain})
	if !ok || len(changes) == 0 {
		return a, e.checkInput(ref, a.input)
	}
	for _, c := range changes {
		a.changes = append(a.changes, Change(c))
	}
	a.input = out
	return a, e.checkInput(ref, out)
}

// plain reports whether arguments fit as they are, for sure and at once.
func (e *entry) plain(input json.RawMessage) bool {
	return isObject(input) && e.schemas.input.certain(input)
}

// checkInput validates arguments without changing them.
func (e *entry) checkInput(ref string, input json.RawMessage) error {
	s := e.schemas.input
	if e.plain(input) {
		return nil
	}
	var faults []Fault
	switch {
	case !isObject(input):
		faults = []Fault{{Expected: "an object", Got: describe(input)}}
	case !json.Valid(input):
		faults = []Fault{{Expected: "valid JSON", Got: "something else"}}
	default:
		if s != nil {
			faults = s.explain(input)
		}
		faults = sortFaults(append(faults, s.keyFaults(input, faults)...))
	}
	if len(faults) == 0 {
		return nil
	}
	return &ArgumentError{Tool: e.def.Name, Ref: ref, Faults: faults, Arguments: bytes.Clone(input)}
}

// checkResponse validates a result that came from outside, which a client may
// read in another way than the validator does.
func (e *entry) checkResponse(output json.RawMessage) error {
	if err := e.checkOutput(output); err != nil || e.schemas.output.certain(output) {
		return err
	}
	if faults := e.schemas.output.keyFaults(output, nil); len(faults) > 0 {
		return invalidf("ai: output of tool %q does not fit its schema:%s", e.def.Name, faultLines(faults, "; "))
	}
	return nil
}

// malformed is the error for arguments that were no JSON object.
func (e *entry) malformed(ref string, problem *argumentsError) error {
	received := json.RawMessage(problem.Text)
	if !json.Valid(received) {
		received = encodeString(problem.Text)
	}
	return &ArgumentError{
		Tool: e.def.Name, Ref: ref, Arguments: received,
		Faults: []Fault{{Expected: "a JSON object", Got: problem.Problem}},
	}
}
