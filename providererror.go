package ai

import (
	"errors"
	"fmt"
	"time"
)

// Kinds of failures of a model's provider, to be found with errors.Is. What the
// provider finds wrong with the request itself is ErrInvalidArgument.
var (
	// ErrRateLimited: too many requests or tokens for now. See ProviderError.RetryAfter.
	ErrRateLimited = errors.New("ai: rate limited")
	// ErrOverloaded: the provider has no capacity for now.
	ErrOverloaded = errors.New("ai: provider overloaded")
	// ErrUnavailable: the provider failed, could not be reached, or broke off its reply.
	ErrUnavailable = errors.New("ai: provider unavailable")
	// ErrContextLength: the conversation is longer than the model takes.
	ErrContextLength = errors.New("ai: context length exceeded")
	// ErrUnauthorized: the key is missing or wrong, or is not allowed to do this.
	ErrUnauthorized = errors.New("ai: unauthorized")
	// ErrContentFilter: the provider refused the request for what it says.
	ErrContentFilter = errors.New("ai: refused by a content filter")
)

// ProviderError is a failure of a model's provider. It is of the kind in Kind,
// and the SDK's own error is found in it with errors.As.
type ProviderError struct {
	// Provider names the adapter, such as "openai".
	Provider string
	// Kind is one of the sentinels of this package, such as ErrRateLimited. Nil
	// means a kind that none of them names.
	Kind error
	// StatusCode is the HTTP status. Zero where there was no response.
	StatusCode int
	// Code is the provider's own name for the error. May be empty.
	Code string
	// RetryAfter is how long the provider asks to wait. Zero where it does not say.
	RetryAfter time.Duration
	// Err is the cause, mostly the SDK's error. Never nil.
	Err error
}

// Error names the provider, the status and the cause.
func (e *ProviderError) Error() string {
	text := "ai: " + e.Provider
	if e.StatusCode != 0 {
		text += fmt.Sprintf(" (status %d)", e.StatusCode)
	}
	if e.Kind != nil {
		text += ": " + trimPrefix(e.Kind.Error())
	}
	return text + ": " + trimPrefix(e.Err.Error())
}

// Unwrap returns the kind, where there is one, and the cause.
func (e *ProviderError) Unwrap() []error {
	if e.Kind == nil {
		return []error{e.Err}
	}
	return []error{e.Kind, e.Err}
}
