package anthropic

import (
	"context"
	"errors"
	"net/http"
	"strings"

	sdk "github.com/anthropics/anthropic-sdk-go/v2"

	"github.com/holdpoint/ai"
	"github.com/holdpoint/ai/internal/adapter"
)

// errCutShort is the cause of a stream that ended before the message did.
var errCutShort = errors.New("the stream ended before the message was complete")

// placedError says where something is wrong.
type placedError struct {
	place string
	err   error
}

func (e *placedError) Error() string { return e.place + strings.TrimPrefix(e.err.Error(), "ai: ") }
func (e *placedError) Unwrap() error { return e.err }

// failure turns an error of the SDK into one of the kinds that callers know. An
// error event of a stream is told by its type, like an error status.
func failure(ctx context.Context, err error) error {
	var api *sdk.Error
	if !errors.As(err, &api) {
		return unanswered(ctx, err)
	}
	status, header := api.StatusCode, http.Header(nil)
	if status < http.StatusBadRequest {
		status = 0 // of the stream, which began well
	}
	if api.Response != nil {
		header = api.Response.Header
	}
	failed := adapter.Failure(ctx, provider, status, header, err)
	p, ok := failed.(*ai.ProviderError)
	if !ok {
		return failed
	}
	p.Code = string(api.Type())
	if code := api.ErrorCode(); code != "" {
		p.Code = string(code)
	}
	if kind := kindOf(api); kind != nil {
		p.Kind = kind
	}
	return p
}

// unanswered is a failure without an answer of the API.
func unanswered(ctx context.Context, err error) error {
	failed := adapter.Failure(ctx, provider, 0, nil, err)
	if p, ok := failed.(*ai.ProviderError); ok && strings.Contains(err.Error(), "no Anthropic credentials found") {
		p.Kind = ai.ErrUnauthorized
	}
	return failed
}

// kindOf is the kind of an error by what the API calls it. Nil where that says no
// more than the status.
func kindOf(api *sdk.Error) error {
	switch string(api.Type()) {
	case "authentication_error", "permission_error", "billing_error":
		return ai.ErrUnauthorized
	case "not_found_error":
		return ai.ErrNotFound
	case "request_too_large":
		return ai.ErrContextLength
	case "rate_limit_error":
		return ai.ErrRateLimited
	case "overloaded_error":
		return ai.ErrOverloaded
	case "invalid_request_error":
		return refusedFor(strings.ToLower(api.Message))
	}
	return nil
}

// refusedFor tells invalid requests apart, for which the API has messages only.
func refusedFor(message string) error {
	switch {
	case strings.Contains(message, "prompt is too long"), strings.Contains(message, "input is too long"),
		strings.Contains(message, "exceed context limit"):
		return ai.ErrContextLength
	case strings.Contains(message, "content filtering policy"):
		return ai.ErrContentFilter
	}
	return ai.ErrInvalidArgument
}
