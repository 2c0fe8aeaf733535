package adapter

import (
	"context"
	"errors"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/holdpoint/ai"
)

// Failure makes a ProviderError of an HTTP status: its kind is what the status
// says, for the adapter to refine by what the provider says. A status of 0 means
// that there was no response. The context's own end is returned as it is.
func Failure(ctx context.Context, provider string, status int, header http.Header, err error) error {
	if cause := context.Cause(ctx); cause != nil {
		return cause
	}
	var known *ai.ProviderError
	if errors.As(err, &known) {
		return err
	}
	return &ai.ProviderError{
		Provider: provider, Kind: kind(status), StatusCode: status, RetryAfter: RetryAfter(header, time.Now()), Err: err,
	}
}

func kind(status int) error {
	switch {
	case status == 0, status == http.StatusRequestTimeout:
		return ai.ErrUnavailable
	case status == http.StatusUnauthorized, status == http.StatusForbidden:
		return ai.ErrUnauthorized
	case status == http.StatusRequestEntityTooLarge:
		return ai.ErrContextLength
	case status == http.StatusTooManyRequests:
		return ai.ErrRateLimited
	case status == http.StatusServiceUnavailable, status == 529:
		return ai.ErrOverloaded
	case status >= http.StatusInternalServerError:
		return ai.ErrUnavailable
	case status == http.StatusNotFound:
		return ai.ErrNotFound
	case status >= http.StatusBadRequest:
		return ai.ErrInvalidArgument
	}
	return nil
}

// RetryAfter reads how long a response asks to wait: retry-after-ms, or
// Retry-After in seconds or as a date. Zero where it says nothing that can be read.
func RetryAfter(header http.Header, now time.Time) time.Duration {
	if ms, err := strconv.ParseFloat(header.Get("Retry-After-Ms"), 64); err == nil && ms > 0 {
		return time.Duration(ms * float64(time.Millisecond))
	}
	value := strings.TrimSpace(header.Get("Retry-After"))
	if seconds, err := strconv.ParseFloat(value, 64); err == nil {
		return max(0, time.Duration(seconds*float64(time.Second)))
	}
	if at, err := http.ParseTime(value); err == nil {
		return max(0, at.Sub(now))
	}
	return 0
}
