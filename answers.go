package ai

import (
	"context"
	"encoding/json"
	"maps"
	"slices"
)

// Answers are what lifts interrupts. The JSON form is Genkit's `resume`.
type Answers struct {
	// Respond are results to take as they are, denials among them.
	Respond []*ToolResponsePart `json:"respond,omitempty"`
	// Restart are calls to run now: those that asked, and, as retries, those that
	// failed or never started.
	Restart []*ToolRequestPart `json:"restart,omitempty"`
	// Metadata is written to the tool message under `resumed`. Empty means true.
	Metadata Metadata `json:"metadata,omitempty"`
}

// Approve adds the plain yes: the call runs with the arguments on record. A tool
// that takes a response only refuses it; so does a nil interrupt, on resumption.
func (a *Answers) Approve(it *Interrupt) {
	var yes *ToolRequestPart
	if it != nil {
		yes, _ = Restart(it.Request, nil) // without data nothing can be wrong with it
	}
	a.Restart = append(a.Restart, yes)
}

// Deny adds the no: the call does not run, and the model is told why.
func (a *Answers) Deny(it *Interrupt, reason string) {
	var no *ToolResponsePart
	if it != nil {
		no, _ = Deny(it.Request, reason) // a reason always encodes
	}
	a.Respond = append(a.Respond, no)
}

// RestartOptions say how a call is restarted. Nil is a plain yes.
type RestartOptions[In any] struct {
	// Resumed is data for the asker: a value that encodes as a JSON object. Nil
	// means true. A call that never asked takes none.
	Resumed any
	// NewInput replaces the arguments. Nil runs the call with those on record.
	NewInput *In
}

// Respond answers a call with a result to be taken as it is. The value must
// encode as JSON and fit the tool's output schema.
func Respond(req *ToolRequestPart, output any) (*ToolResponsePart, error) {
	if req == nil {
		return nil, invalidf("ai: respond: no tool request")
	}
	data, err := encode(output)
	if err != nil {
		return nil, invalidf("ai: response to tool request %s: %w", req.label(), err)
	}
	return responseTo(req, data, Metadata{keyInterruptResponse: jsonTrue}), nil
}

// Deny answers a call with a no: it does not run, and the model is told why.
func Deny(req *ToolRequestPart, reason string) (*ToolResponsePart, error) {
	if req == nil {
		return nil, invalidf("ai: deny: no tool request")
	}
	return responseTo(req, encodeString(deniedText(reason)), Metadata{
		keyInterruptResponse: jsonTrue,
		keyOutcome:           encodeString(string(OutcomeDenied)),
		keyReason:            encodeString(reason),
	}), nil
}

func responseTo(req *ToolRequestPart, output json.RawMessage, md Metadata) *ToolResponsePart {
	if path, ok := req.Metadata[keyPath]; ok {
		md[keyPath] = path
	}
	return &ToolResponsePart{
		ToolResponse: ToolResponse{Name: req.ToolRequest.Name, Ref: req.ToolRequest.Ref, Output: output},
		Metadata:     md,
	}
}

// Restart answers a call by running it. For a call that asked, opts.Resumed
// reaches the asker; for one that failed or never ran it is a retry.
func Restart(req *ToolRequestPart, opts *RestartOptions[json.RawMessage]) (*ToolRequestPart, error) {
	return restart(req, opts)
}

func restart[In any](req *ToolRequestPart, opts *RestartOptions[In]) (*ToolRequestPart, error) {
	if req == nil {
		return nil, invalidf("ai: restart: no tool request")
	}
	if opts == nil {
		opts = &RestartOptions[In]{}
	}
	answer := &ToolRequestPart{ToolRequest: ToolRequest{
		Name: req.ToolRequest.Name, Ref: req.ToolRequest.Ref, Input: req.ToolRequest.Input,
	}, Metadata: Metadata{}}
	if path, ok := req.Metadata[keyPath]; ok {
		answer.Metadata[keyPath] = path
	}
	if err := resumeData(req, opts.Resumed, answer.Metadata); err != nil {
		return nil, err
	}
	if opts.NewInput == nil {
		return answer, nil
	}
	input, err := encode(opts.NewInput)
	if err != nil {
		return nil, invalidf("ai: new input of tool request %s: %w", req.label(), err)
	}
	if !isObject(input) {
		return nil, invalidf("ai: new input of tool request %s must be a JSON object", req.label())
	}
	answer.ToolRequest.Input = input
	answer.Metadata[keyReplacedInput] = inputOf(&req.ToolRequest)
	return answer, nil
}

// resumeData writes `resumed` for calls that asked; the others take none.
func resumeData(req *ToolRequestPart, resumed any, md Metadata) error {
	if _, asked := req.Metadata[keyInterrupt]; !asked {
		if resumed != nil {
			return invalidf("ai: tool request %s did not ask, so it takes no resume data", req.label())
		}
		return nil
	}
	if resumed == nil {
		md[keyResumed] = jsonTrue
		return nil
	}
	data, err := encode(resumed)
	if err != nil {
		return invalidf("ai: resume data of tool request %s: %w", req.label(), err)
	}
	if !isObject(data) && string(data) != "true" {
		return invalidf("ai: resume data of tool request %s must be a JSON object, not %s", req.label(), data)
	}
	md[keyResumed] = data
	return nil
}

// Respond answers a call of this tool with a result to be taken as it is.
func (t *TypedTool[In, Out]) Respond(req *ToolRequestPart, out Out) (*ToolResponsePart, error) {
	if err := t.owns(req); err != nil {
		return nil, err
	}
	return Respond(req, out)
}

// Restart answers a call of this tool by running it. See the function Restart.
func (t *TypedTool[In, Out]) Restart(req *ToolRequestPart, opts *RestartOptions[In]) (*ToolRequestPart, error) {
	if err := t.owns(req); err != nil {
		return nil, err
	}
	if mk, err := readMarks(req); err != nil {
		return nil, err
	} else if t.def.NotRestartable && mk.toolAsked() {
		return nil, notRestartable(req)
	}
	return restart(req, opts)
}

func notRestartable(req *ToolRequestPart) error {
	return invalidf("ai: tool request %s can't be restarted: its tool takes a response only", req.label())
}

// owns checks that the request is one of this tool, by any name a set may have
// given it.
func (t *TypedTool[In, Out]) owns(req *ToolRequestPart) error {
	if req == nil {
		return invalidf("ai: no tool request to answer")
	}
	name := req.ToolRequest.Name
	original, err := originalName(req)
	if err != nil {
		return err
	}
	if original == t.def.Name || original == "" && yields(t.def.Name, name) {
		return nil
	}
	return invalidf("ai: tool request %s is not one of tool %q", req.label(), t.def.Name)
}

// InterruptOptions say what a DefineInterrupt tool asks with.
type InterruptOptions[In any] struct {
	// Data is the question, the same for every call. Nil means true.
	Data any
	// Request makes the question from the arguments. It wins over Data. Nil means none.
	Request func(ctx context.Context, in In) (any, error)
}

func (o *InterruptOptions[In]) call(ctx context.Context, call *ToolCall, in In) (*ToolResult, error) {
	data := o.Data
	if o.Request != nil {
		var err error
		if data, err = o.Request(ctx, in); err != nil {
			return nil, err
		}
	}
	return nil, call.Interrupt(data)
}

func sortedKeys[V any](m map[string]V) []string {
	if len(m) == 0 {
		return nil // without the iterator, which costs memory
	}
	return slices.Sorted(maps.Keys(m))
}

// inputOf is the arguments of a request; absent and null ones are an empty object.
func inputOf(req *ToolRequest) json.RawMessage {
	if len(req.Input) == 0 || string(req.Input) == "null" {
		return emptyJSON
	}
	return req.Input
}
