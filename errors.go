package ai

import (
	"context"
	"errors"
	"fmt"
	"strings"
)

// Kinds of errors, to be found with errors.Is. The text of an error says what
// it is about; the kind says what sort of mistake it is.
var (
	// ErrInvalidArgument: what was passed in can't be used as it is.
	ErrInvalidArgument = errors.New("ai: invalid argument")
	// ErrNotFound: a tool, prompt or provider of that name is not there.
	ErrNotFound = errors.New("ai: not found")
	// ErrFailedPrecondition: the conversation is not in a state that allows this.
	ErrFailedPrecondition = errors.New("ai: failed precondition")
	// ErrAborted: the conversation was stopped by a limit.
	ErrAborted = errors.New("ai: aborted")
	// ErrNotDone is for tools: an error that wraps it states that the call has
	// had no effect, so that running it again is harmless.
	ErrNotDone = errors.New("ai: the call had no effect")
)

// kindError gives an error a kind without putting the kind into its text.
type kindError struct {
	kind error
	err  error
}

func (e *kindError) Error() string   { return e.err.Error() }
func (e *kindError) Unwrap() []error { return []error{e.err, e.kind} }

func invalidf(format string, args ...any) error {
	return &kindError{ErrInvalidArgument, fmt.Errorf(format, args...)}
}

func notFoundf(format string, args ...any) error {
	return &kindError{ErrNotFound, fmt.Errorf(format, args...)}
}

func preconditionf(format string, args ...any) error {
	return &kindError{ErrFailedPrecondition, fmt.Errorf(format, args...)}
}

func abortedf(format string, args ...any) error {
	return &kindError{ErrAborted, fmt.Errorf(format, args...)}
}

// placef puts where it happened in front of an error's text.
func placef(err error, format string, args ...any) error {
	return &placedError{fmt.Sprintf(format, args...), err}
}

type placedError struct {
	place string
	err   error
}

func (e *placedError) Error() string { return e.place + trimPrefix(e.err.Error()) }
func (e *placedError) Unwrap() error { return e.err }

// trimPrefix takes the package's prefix from a text that goes into another one.
func trimPrefix(text string) string { return strings.TrimPrefix(text, "ai: ") }

// FailureKind says at which step a call failed.
type FailureKind string

// The steps at which a call can fail.
const (
	// FailedArguments: the model's arguments do not fit the tool's schema.
	FailedArguments FailureKind = "arguments"
	// FailedLookup: no tool of that name is in the tool set, or its provider is down.
	FailedLookup FailureKind = "lookup"
	// FailedTool: the tool or a middleware returned an error.
	FailedTool FailureKind = "tool"
	// FailedPanic: the tool or a middleware panicked or ended its goroutine.
	FailedPanic FailureKind = "panic"
	// FailedTimeout: the tool failed after its timeout, or a deadline that
	// middleware had set, or did not return at all.
	FailedTimeout FailureKind = "timeout"
	// FailedCanceled: the turn's context ended before the call did, or before it
	// was started.
	FailedCanceled FailureKind = "canceled"
	// FailedOutput: the result does not fit the tool's own output schema.
	FailedOutput FailureKind = "output"
	// FailedTransfer: more than one call of the turn handed the conversation over.
	FailedTransfer FailureKind = "transfer"
	// FailedJournal: the journal could not record the start or the outcome.
	FailedJournal FailureKind = "journal"
)

// CallError is the failure of one tool call.
type CallError struct {
	// Name is the tool's full name, or the name the model used where no tool was found.
	Name string
	// Ref is the ref of the tool request.
	Ref string
	// Path leads to the conversation the request stands in. Empty at the top.
	Path Path
	// Kind is the step at which the call failed.
	Kind FailureKind
	// MayHaveActed is true when the tool was started, is neither read-only nor
	// idempotent by declaration, and its error does not wrap ErrNotDone. It is also
	// true where the call hosts one in doubt.
	MayHaveActed bool
	// InDoubt is true when, beyond that, nobody knows what came of it: it was
	// given up, panicked, was cut short by its context, or hosts a call in doubt.
	InDoubt bool
	// Err is the cause: the tool's own error, an *ArgumentError, a *PanicError, …
	Err error
}

// Error names the tool, the ref and the cause.
func (e *CallError) Error() string {
	return fmt.Sprintf("ai: tool request %s: %s", label(e.Name, e.Ref), trimPrefix(e.Err.Error()))
}

// Unwrap returns the cause.
func (e *CallError) Unwrap() error { return e.Err }

// safeText describes the failure without the cause's own words, which may hold
// secrets and would travel with the history.
func (e *CallError) safeText() string {
	switch e.Kind {
	case FailedArguments:
		return "the arguments do not fit the schema"
	case FailedLookup:
		return "the tool is not available"
	case FailedPanic:
		return "the tool failed unexpectedly"
	case FailedTimeout:
		return "the tool did not finish in time"
	case FailedCanceled:
		return "the call was canceled"
	case FailedOutput:
		return "the tool's result does not fit its output schema"
	case FailedTransfer:
		return "only one call of a turn may hand the conversation over"
	case FailedJournal:
		return "the call could not be recorded"
	default:
		return "the tool returned an error"
	}
}

// TurnError is a turn in which calls failed. Whatever else happened in the turn
// is in Model, so nothing that ran is lost: pass that message, or the history
// that ends with it, to Resume or Generate with an answer for each open request.
// Where nothing is open, because only the journal failed, Generate goes on from
// that history without answers.
type TurnError struct {
	// Model is the revised model message: results, interrupts and failures stand
	// in the metadata of its tool requests.
	Model *Message
	// Calls are the failures, in request order. Interrupts are not among them.
	Calls []*CallError
}

// Error lists the failures.
func (e *TurnError) Error() string {
	if len(e.Calls) == 1 {
		return e.Calls[0].Error()
	}
	texts := make([]string, len(e.Calls))
	for i, c := range e.Calls {
		texts[i] = trimPrefix(c.Error())
	}
	return fmt.Sprintf("ai: %d tool requests failed: %s", len(texts), strings.Join(texts, "; "))
}

// Unwrap returns the failures, in request order.
func (e *TurnError) Unwrap() []error {
	errs := make([]error, len(e.Calls))
	for i, c := range e.Calls {
		errs[i] = c
	}
	return errs
}

// Open lists the tool requests that have no result yet, in request order. Those
// of inner conversations carry their path in their metadata.
func (e *TurnError) Open() []*ToolRequestPart { return openOf(e.Model) }

// Interrupts lists the calls that stopped to ask in the same turn.
func (e *TurnError) Interrupts() []*Interrupt { return interruptsOf(e.Model) }

// GenerateError is a failure of Generate or Stream after the conversation had
// grown: Messages holds all of it, so that the caller can go on from there.
type GenerateError struct {
	// Messages is the history so far, with all that the model said and all that
	// tools returned.
	Messages []*Message
	// Usage sums the tokens of the model calls that succeeded.
	Usage Usage
	// Err is what went wrong: a *TurnError, the model's error, ErrAborted, …
	Err error
}

// Error is the text of the cause.
func (e *GenerateError) Error() string { return e.Err.Error() }

// Unwrap returns the cause.
func (e *GenerateError) Unwrap() error { return e.Err }

// PanicError is a panic of a tool, a middleware or a model, caught.
type PanicError struct {
	// Value is what was passed to panic.
	Value any
	// Stack is the stack of the goroutine that panicked.
	Stack []byte
}

// Error gives the value, without the stack.
func (e *PanicError) Error() string { return fmt.Sprintf("ai: panic: %v", e.Value) }

// Unwrap returns the value where it is an error.
func (e *PanicError) Unwrap() error {
	err, _ := e.Value.(error)
	return err
}

// ModelError is for tools and middleware: an error that is the model's to hear,
// such as a refusal. The call settles with an error result of this text, and the
// turn goes on whatever the ErrorPolicy says. Joined with other errors it is a
// failure like any.
type ModelError struct {
	// Text is what the model is told.
	Text string
}

// Error is the text.
func (e *ModelError) Error() string { return e.Text }

// ErrorPolicy decides who pays for a failed call: true sends the error to the
// model as an error result and the turn goes on, false stops the turn with a
// *TurnError. It may be called from several goroutines at once. It is not asked
// about a call in doubt, one that the turn's own context ended, and one that the
// journal could not record: those stop the turn.
type ErrorPolicy func(ctx context.Context, err *CallError) bool

// ReportErrors is the policy that sends every error to the model.
func ReportErrors(context.Context, *CallError) bool { return true }

// reportArguments is the policy of the zero options: arguments that don't fit
// are the model's to mend, everything else is the caller's.
func reportArguments(_ context.Context, err *CallError) bool { return err.Kind == FailedArguments }

// label is how texts name a tool request: name#ref.
func label(name, ref string) string {
	if ref == "" {
		return name
	}
	return name + "#" + ref
}
