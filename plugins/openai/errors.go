package openai

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"strings"

	sdk "github.com/openai/openai-go/v3"

	"github.com/holdpoint/ai"
	"github.com/holdpoint/ai/internal/adapter"
)

// errCutShort is the cause of a stream that ended before the reply did.
var errCutShort = errors.New("the stream ended before the reply was complete")

// failure turns an error of the SDK into one of the kinds that callers know.
func failure(ctx context.Context, err error) error {
	var api *sdk.Error
	if !errors.As(err, &api) {
		return adapter.Failure(ctx, provider, 0, nil, err)
	}
	var header http.Header
	if api.Response != nil {
		header = api.Response.Header
	}
	failed := adapter.Failure(ctx, provider, api.StatusCode, header, err)
	if p, ok := failed.(*ai.ProviderError); ok {
		name(p, api.Code, api.Type, api.Message)
	}
	return failed
}

// name refines the kind of an error by what the API calls it.
func name(p *ai.ProviderError, code, kind, message string) {
	p.Code = code
	if p.Code == "" {
		p.Code = kind
	}
	switch code {
	case "context_length_exceeded", "string_above_max_length":
		p.Kind = ai.ErrContextLength
	case "invalid_api_key", "insufficient_quota", "account_deactivated":
		p.Kind = ai.ErrUnauthorized
	case "model_not_found":
		p.Kind = ai.ErrNotFound
	case "content_filter", "content_policy_violation":
		p.Kind = ai.ErrContentFilter
	case "rate_limit_exceeded":
		p.Kind = ai.ErrRateLimited
	case "server_is_overloaded", "slow_down", "engine_overloaded":
		p.Kind = ai.ErrOverloaded
	case "server_error":
		p.Kind = ai.ErrUnavailable
	default:
		text := strings.ToLower(message)
		if strings.Contains(text, "maximum context length") || strings.Contains(text, "context window") {
			p.Kind = ai.ErrContextLength
		}
	}
}

// wireError is an error object in the body of a reply that began well.
type wireError struct {
	Message string   `json:"message"`
	Code    flexible `json:"code"`
	Type    string   `json:"type"`
}

// failed is the error of a stream or of a reply of status 200 that holds an error.
func failed(ctx context.Context, raw json.RawMessage) error {
	var e wireError
	if json.Unmarshal(raw, &e) != nil || e.Message == "" {
		e.Message = string(raw)
	}
	err := adapter.Failure(ctx, provider, 0, nil, errors.New(e.Message))
	if p, ok := err.(*ai.ProviderError); ok {
		name(p, string(e.Code), e.Type, e.Message)
	}
	return err
}
