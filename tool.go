package ai

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/holdpoint/ai/internal/digest"
)

// A Tool is something a model can ask for. Implementations are safe for
// concurrent use: one turn may call a tool several times side by side.
//
//  1. Definition always returns the same pointer, and what it points to does not
//     change.
//  2. Call is given arguments that fit the definition's input schema.
//  3. Call returns soon after its context ends. One that does not is given up,
//     and what it still does is on its own account.
//  4. To stop and ask, Call returns what ToolCall.Interrupt gives it.
//  5. An error of Call stops the turn unless the turn's ErrorPolicy sends it to
//     the model; ErrorResult tells the model of an error in any case.
type Tool interface {
	Definition() *ToolDefinition
	Call(ctx context.Context, call *ToolCall) (*ToolResult, error)
}

// ToolDefinition is what a model and the library know of a tool. Its JSON form
// is Genkit's.
type ToolDefinition struct {
	// Name is the full name: segments separated by slashes, as in
	// `work-orders/order_part`.
	Name string `json:"name"`
	// Description tells the model what the tool does and when to use it.
	Description string `json:"description"`
	// InputSchema is the JSON schema of the arguments. Empty means inferred from
	// the Go type for typed tools, any object for the others.
	InputSchema json.RawMessage `json:"inputSchema,omitempty"`
	// OutputSchema is the JSON schema of the output. Empty means inferred from the
	// Go type for typed tools, anything for the others.
	OutputSchema json.RawMessage `json:"outputSchema,omitempty"`
	// Metadata is for the application and for model adapters. In the definitions
	// a model is given, `originalName` holds the full name where the two differ.
	Metadata Metadata `json:"metadata,omitempty"`
	// Multipart says that results may carry content parts beside the output.
	Multipart bool `json:"-"`
	// NotRestartable says that a question of this tool can be answered with a
	// response only, never by running it again.
	NotRestartable bool `json:"-"`
	// Exclusive says that the tool is not safe beside others: it runs alone.
	Exclusive bool `json:"-"`
	// ReadOnly says that a call changes nothing, so one that failed has not acted.
	ReadOnly bool `json:"-"`
	// Idempotent says that running a call again with the same ToolCall.Key has no
	// further effect.
	Idempotent bool `json:"-"`
	// Destructive says that a call may overwrite or remove what was there.
	Destructive bool `json:"-"`
	// OpenWorld says that a call reaches beyond a closed set of things, such as the
	// web.
	OpenWorld bool `json:"-"`
	// ProbableRepairs also mends argument texts in ways that are very likely meant:
	// a trailing comma, single quotes, Python's literals, prose behind the object.
	ProbableRepairs bool `json:"-"`
	// FillDefaults adds absent properties that the input schema has a default for.
	// By default they stay absent, for the tool to decide.
	FillDefaults bool `json:"-"`
	// Sampling asks the provider to constrain what the model writes. Nil means no.
	Sampling *Sampling `json:"sampling,omitempty"`
	// Timeout bounds one run of the tool. Defaults to ResolveOptions.Timeout.
	Timeout time.Duration `json:"-"`

	// compiled is set by the constructors of this package, so that registering
	// the tool does not compile its schemas again.
	compiled *compiledSchemas
}

// compiledSchemas are the schemas of a definition with the texts they were
// compiled from, which tell whether a copied definition was changed since.
type compiledSchemas struct {
	inputText, outputText json.RawMessage
	input, output         *schema
}

// compile checks the definition and compiles its schemas, at most once.
func (d *ToolDefinition) compile() (*compiledSchemas, error) {
	if err := checkToolName(d.Name); err != nil {
		return nil, err
	}
	if c := d.compiled; c != nil && string(c.inputText) == string(d.InputSchema) && string(c.outputText) == string(d.OutputSchema) {
		return c, d.Sampling.check(d)
	}
	return d.compileSchemas(false, false)
}

// compileSchemas is told which of the schemas were inferred: those assert formats.
func (d *ToolDefinition) compileSchemas(inputInferred, outputInferred bool) (*compiledSchemas, error) {
	if err := checkObjectSchema(d.InputSchema); err != nil {
		return nil, invalidf("ai: tool %q: input schema: %w", d.Name, err)
	}
	if err := d.Sampling.check(d); err != nil {
		return nil, err
	}
	input, err := compileSchema(d.InputSchema, inputInferred)
	if err != nil {
		return nil, invalidf("ai: tool %q: input schema: %w", d.Name, err)
	}
	output, err := compileSchema(d.OutputSchema, outputInferred)
	if err != nil {
		return nil, invalidf("ai: tool %q: output schema: %w", d.Name, err)
	}
	return &compiledSchemas{d.InputSchema, d.OutputSchema, input, output}, nil
}

// Digest is over what a decision about a call of the tool rests on: the name, the
// schemas, and what the definition says about effects. It changes when any of these
// does, so that a yes to the tool as it was is none to the tool as it is.
func (d *ToolDefinition) Digest() string {
	return digest.Of("holdpoint/definition/1", d.Name, digest.JSON(d.InputSchema), digest.JSON(d.OutputSchema),
		fmt.Sprint(d.ReadOnly, d.Destructive, d.Idempotent, d.OpenWorld))
}

// checkObjectSchema refuses a schema that no arguments could ever fit, since
// arguments are always an object.
func checkObjectSchema(raw json.RawMessage) error {
	if len(raw) == 0 {
		return nil
	}
	if !isObject(raw) {
		return fmt.Errorf("must be a JSON object")
	}
	var s struct {
		Type json.RawMessage `json:"type"`
	}
	if json.Unmarshal(raw, &s) != nil || len(s.Type) == 0 || strings.Contains(string(s.Type), `"object"`) {
		return nil // what is no schema at all is reported by the compiler
	}
	return fmt.Errorf("arguments are an object, but the schema says type %s", s.Type)
}

// maxToolName bounds full names, in bytes.
const maxToolName = 512

// checkToolName accepts any name that can be told apart from the key forms of
// Registry.Lookup and printed in a text.
func checkToolName(name string) error {
	switch {
	case name == "":
		return invalidf("ai: a tool has no name")
	case len(name) > maxToolName:
		return invalidf("ai: tool name %q… is longer than %d bytes", name[:40], maxToolName)
	case !utf8.ValidString(name):
		return invalidf("ai: tool name %q is not valid UTF-8", name)
	}
	for segment := range strings.SplitSeq(name, "/") {
		if segment == "" || strings.TrimSpace(segment) != segment {
			return invalidf("ai: tool name %q must consist of non-empty segments separated by single slashes, without spaces around them", name)
		}
	}
	for _, r := range name {
		if !unicode.IsPrint(r) {
			return invalidf("ai: tool name %q holds the unprintable character %U", name, r)
		}
	}
	return nil
}

// ToolFunc is a tool as a Go function. In is decoded from arguments that fit
// the input schema; Out is encoded and checked against the output schema.
type ToolFunc[In, Out any] func(ctx context.Context, call *ToolCall, in In) (Out, error)

// MultipartFunc is a ToolFunc whose result has content parts beside the output.
type MultipartFunc[In, Out any] func(ctx context.Context, call *ToolCall, in In) (*MultipartResult[Out], error)

// MultipartResult is the result of a MultipartFunc.
type MultipartResult[Out any] struct {
	// Output is the value, as a ToolFunc would return it.
	Output Out
	// Content are the parts that go with it.
	Content Parts
	// Metadata is added to the metadata of the tool response.
	Metadata Metadata
}

// TypedTool is a Tool made of a Go function. It adds to a RawTool: schemas
// inferred from the types, arguments decoded, the output encoded, and typed
// answers to its questions.
type TypedTool[In, Out any] struct {
	def         *ToolDefinition
	call        func(ctx context.Context, call *ToolCall, in In) (*ToolResult, error)
	keepNumbers bool // In holds interfaces: decode numbers as json.Number
}

// NewTool makes a tool that is in no registry yet. The definition is copied.
// Schemas left empty are inferred from In, which must encode as a JSON object,
// and Out. The error names the tool and what is wrong with it.
func NewTool[In, Out any](def *ToolDefinition, fn ToolFunc[In, Out]) (*TypedTool[In, Out], error) {
	if fn == nil {
		return nil, invalidf("ai: tool %q has no function", nameOf(def))
	}
	return newTypedTool[In, Out](def, func(ctx context.Context, call *ToolCall, in In) (*ToolResult, error) {
		out, err := fn(ctx, call, in)
		if err != nil {
			return nil, err
		}
		return encodeResult(call, out)
	})
}

// NewMultipartTool is NewTool for results with content parts.
func NewMultipartTool[In, Out any](def *ToolDefinition, fn MultipartFunc[In, Out]) (*TypedTool[In, Out], error) {
	if fn == nil {
		return nil, invalidf("ai: tool %q has no function", nameOf(def))
	}
	t, err := newTypedTool[In, Out](def, func(ctx context.Context, call *ToolCall, in In) (*ToolResult, error) {
		out, err := fn(ctx, call, in)
		if err != nil {
			return nil, err
		}
		if out == nil {
			return nil, fmt.Errorf("ai: tool %q returned neither a result nor an error", call.Name)
		}
		result, err := encodeResult(call, out.Output)
		if err != nil {
			return nil, err
		}
		result.Content, result.Metadata = out.Content, out.Metadata
		return result, nil
	})
	if err != nil {
		return nil, err
	}
	t.def.Multipart = true
	return t, nil
}

// DefineTool makes a tool from a function and registers it. It is for program
// start: it panics where NewTool or Register would return an error.
func DefineTool[In, Out any](r *Registry, name, description string, fn ToolFunc[In, Out]) *TypedTool[In, Out] {
	t, err := NewTool(&ToolDefinition{Name: name, Description: description}, fn)
	return register(r, t, err)
}

// DefineMultipartTool is DefineTool for results with content parts.
func DefineMultipartTool[In, Out any](r *Registry, name, description string, fn MultipartFunc[In, Out]) *TypedTool[In, Out] {
	t, err := NewMultipartTool(&ToolDefinition{Name: name, Description: description}, fn)
	return register(r, t, err)
}

// register is the end of every Define function.
func register[In, Out any](r *Registry, t *TypedTool[In, Out], err error) *TypedTool[In, Out] {
	if err == nil {
		err = r.Register(t)
	}
	if err != nil {
		panic(err)
	}
	return t
}

func nameOf(def *ToolDefinition) string {
	if def == nil {
		return ""
	}
	return def.Name
}

func newTypedTool[In, Out any](def *ToolDefinition, call func(context.Context, *ToolCall, In) (*ToolResult, error)) (*TypedTool[In, Out], error) {
	if def == nil {
		return nil, invalidf("ai: a tool has no definition")
	}
	if err := checkToolName(def.Name); err != nil {
		return nil, err
	}
	d := *def
	in, out := reflect.TypeFor[In](), reflect.TypeFor[Out]()
	inferInput, inferOutput := len(d.InputSchema) == 0, len(d.OutputSchema) == 0
	if err := d.infer(in, out); err != nil {
		return nil, err
	}
	var err error
	if inferInput || inferOutput {
		d.compiled, err = d.compileSchemas(inferInput, inferOutput)
	} else {
		d.compiled, err = d.compile()
	}
	if err != nil {
		return nil, err
	}
	return &TypedTool[In, Out]{def: &d, call: call, keepNumbers: holdsInterface(in, map[reflect.Type]bool{})}, nil
}

// infer fills in the schemas that the definition leaves to the types.
func (d *ToolDefinition) infer(in, out reflect.Type) (err error) {
	if len(d.InputSchema) == 0 {
		if d.InputSchema, err = inferSchema(in, input); err != nil {
			return invalidf("ai: tool %q: input type %s: %w", d.Name, in, err)
		}
		if string(d.InputSchema) == "{}" {
			d.InputSchema = json.RawMessage(`{"type":"object"}`) // providers want to be told
		}
	}
	if !takesObject(in) {
		return invalidf("ai: tool %q: input type %s: arguments are an object, which does not decode into it", d.Name, in)
	}
	if len(d.OutputSchema) == 0 {
		if d.OutputSchema, err = inferSchema(out, output); err != nil {
			return invalidf("ai: tool %q: output type %s: %w", d.Name, out, err)
		}
	}
	return nil
}

// takesObject reports whether a JSON object can be decoded into the type. What
// decodes itself decides on each value, so it is given the benefit of the doubt.
func takesObject(t reflect.Type) bool {
	base, err := pointedType(t, nil)
	if err != nil {
		return false
	}
	v := reflect.New(base).Interface()
	if _, own := v.(json.Unmarshaler); own {
		return true
	}
	var mismatch *json.UnmarshalTypeError
	return !errors.As(json.Unmarshal(emptyJSON, v), &mismatch)
}

// holdsInterface reports whether values of the type can hold an interface, in
// which encoding/json would lose the digits of large numbers.
func holdsInterface(t reflect.Type, seen map[reflect.Type]bool) bool {
	if seen[t] {
		return false
	}
	seen[t] = true
	switch t.Kind() {
	case reflect.Interface:
		return true
	case reflect.Pointer, reflect.Slice, reflect.Array, reflect.Map:
		return holdsInterface(t.Elem(), seen)
	case reflect.Struct:
		for i := range t.NumField() {
			if holdsInterface(t.Field(i).Type, seen) {
				return true
			}
		}
	}
	return false
}

// Definition returns the tool's definition, which must not be changed.
func (t *TypedTool[In, Out]) Definition() *ToolDefinition {
	if t == nil {
		return nil
	}
	return t.def
}

// Call decodes the arguments, calls the function and encodes its output. It
// validates neither: Resolve and Resume do.
func (t *TypedTool[In, Out]) Call(ctx context.Context, call *ToolCall) (*ToolResult, error) {
	var in In
	if err := t.decode(call.Input, &in); err != nil {
		return nil, &kindError{ErrNotDone, fmt.Errorf("ai: arguments of tool %q fit its schema but do not decode into %T: %w", t.def.Name, in, err)}
	}
	return t.call(ctx, call, in)
}

func (t *TypedTool[In, Out]) decode(input json.RawMessage, in *In) error {
	if len(input) == 0 {
		input = emptyJSON
	}
	if t.keepNumbers {
		return decodeArguments(input, in, decodeNumbers)
	}
	return decodeArguments(input, in, func(data json.RawMessage, v any) error { return json.Unmarshal(data, v) })
}

func encodeResult(call *ToolCall, out any) (*ToolResult, error) {
	data, err := encode(out)
	if err != nil {
		return nil, fmt.Errorf("ai: output of tool %q: %w", call.Name, err)
	}
	return &ToolResult{Output: data}, nil
}
