package adapter

import (
	"fmt"

	"github.com/holdpoint/ai"
)

// Invalid is an error about what the caller passed in: ErrInvalidArgument.
func Invalid(format string, args ...any) error {
	return &kindError{ai.ErrInvalidArgument, fmt.Errorf(format, args...)}
}

// Precondition is an error about a conversation that can't be sent as it is:
// ErrFailedPrecondition.
func Precondition(format string, args ...any) error {
	return &kindError{ai.ErrFailedPrecondition, fmt.Errorf(format, args...)}
}

// kindError gives an error a kind without putting the kind into its text.
type kindError struct {
	kind error
	err  error
}

func (e *kindError) Error() string   { return e.err.Error() }
func (e *kindError) Unwrap() []error { return []error{e.err, e.kind} }
