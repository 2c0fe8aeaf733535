package anthropic_test

import (
	"fmt"
	"net/http"
	"testing"
	"time"

	sdk "github.com/anthropics/anthropic-sdk-go/v2"
	"github.com/anthropics/anthropic-sdk-go/v2/option"
	"github.com/stretchr/testify/require"

	"github.com/holdpoint/ai"
	"github.com/holdpoint/ai/internal/wiretest"
	"github.com/holdpoint/ai/plugins/anthropic"
)

func errorBody(kind, message string) string {
	return fmt.Sprintf(`{"type":"error","error":{"type":%q,"message":%q},"request_id":"req_1"}`, kind, message)
}

func TestErrors(t *testing.T) {
	t.Parallel()
	tests := []struct {
		status  int
		kind    string
		message string
		want    error
	}{
		{400, "invalid_request_error", "max_tokens: must be greater than 0", ai.ErrInvalidArgument},
		{400, "invalid_request_error", "prompt is too long: 208310 tokens > 200000 maximum", ai.ErrContextLength},
		{400, "invalid_request_error", "Input is too long for requested model.", ai.ErrContextLength},
		{400, "invalid_request_error", "input length and `max_tokens` exceed context limit: 188240 + 21333 > 200000", ai.ErrContextLength},
		{400, "invalid_request_error", "Output blocked by content filtering policy", ai.ErrContentFilter},
		{401, "authentication_error", "invalid x-api-key", ai.ErrUnauthorized},
		{402, "billing_error", "your credit is used up", ai.ErrUnauthorized},
		{403, "permission_error", "not allowed", ai.ErrUnauthorized},
		{404, "not_found_error", "model: claude-none", ai.ErrNotFound},
		{413, "request_too_large", "Request exceeds the maximum size", ai.ErrContextLength},
		{429, "rate_limit_error", "slow down", ai.ErrRateLimited},
		{500, "api_error", "Internal server error", ai.ErrUnavailable},
		{504, "timeout_error", "took too long", ai.ErrUnavailable},
		{529, "overloaded_error", "Overloaded", ai.ErrOverloaded},
		{503, "new_error", "?", ai.ErrOverloaded},
		{422, "new_error", "?", ai.ErrInvalidArgument},
	}
	for _, tt := range tests {
		t.Run(fmt.Sprintf("%d %s %s", tt.status, tt.kind, tt.message), func(t *testing.T) {
			t.Parallel()
			header := http.Header{"Retry-After": {"7"}, "Request-Id": {"req_1"}}
			w := serve(t, wiretest.Status(tt.status, header, errorBody(tt.kind, tt.message)), wiretest.Status(tt.status, header, errorBody(tt.kind, tt.message)))
			for _, emit := range []func(*ai.Chunk) error{nil, discard} {
				_, err := w.model(nil).Generate(t.Context(), ask("hi"), emit)
				var failed *ai.ProviderError
				require.ErrorAs(t, err, &failed)
				require.Equal(t, tt.want, failed.Kind)
				require.Equal(t, "anthropic", failed.Provider)
				require.Equal(t, tt.status, failed.StatusCode)
				require.Equal(t, tt.kind, failed.Code)
				require.Equal(t, 7*time.Second, failed.RetryAfter)
				var api *sdk.Error
				require.ErrorAs(t, err, &api)
				require.Equal(t, "req_1", api.RequestID)
			}
			require.Len(t, w.Sent(), 2)
		})
	}
}

// An error in a stream is told apart like the status it would have been.
func TestErrorsInStreams(t *testing.T) {
	t.Parallel()
	tests := map[string]error{
		"overloaded_error": ai.ErrOverloaded, "rate_limit_error": ai.ErrRateLimited, "api_error": ai.ErrUnavailable,
		"invalid_request_error": ai.ErrInvalidArgument, "new_error": ai.ErrUnavailable,
	}
	for kind, want := range tests {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			begun := read(t, "replies", "text.sse")[:600]
			begun = begun[:len(begun)-len(begun[lastBlank(begun):])]
			w := serve(t, wiretest.Answer("", begun+"event: error\ndata: "+errorBody(kind, "sorry")+"\n\n"))
			_, err := w.model(nil).Generate(t.Context(), ask("hi"), discard)
			var failed *ai.ProviderError
			require.ErrorAs(t, err, &failed)
			require.Equal(t, want, failed.Kind)
			require.Equal(t, kind, failed.Code)
			require.Zero(t, failed.StatusCode)
			var api *sdk.Error
			require.ErrorAs(t, err, &api)
			require.Equal(t, "sorry", api.Message)
		})
	}
}

// lastBlank is where the last whole event ends.
func lastBlank(events string) int {
	for i := len(events); ; i-- {
		if events[i-2:i] == "\n\n" {
			return i
		}
	}
}

func TestErrorCodes(t *testing.T) {
	t.Parallel()
	w := serve(t, wiretest.Status(429, nil, `{"type":"error","error":{"type":"rate_limit_error","message":"x","details":{"error_code":"enforced_spend_limit_reached"}}}`))
	_, err := w.model(nil).Generate(t.Context(), ask("hi"), nil)
	var failed *ai.ProviderError
	require.ErrorAs(t, err, &failed)
	require.Equal(t, "enforced_spend_limit_reached", failed.Code)
}

func TestErrorsWithoutAnAnswer(t *testing.T) {
	t.Parallel()
	w := serve(t)
	m := w.model(nil)
	w.Close()
	_, err := m.Generate(t.Context(), ask("hi"), nil)
	var failed *ai.ProviderError
	require.ErrorAs(t, err, &failed)
	require.Equal(t, ai.ErrUnavailable, failed.Kind)
	require.Zero(t, failed.StatusCode)
}

func TestAnswersThatAreNone(t *testing.T) {
	t.Parallel()
	for _, body := range []string{"{", "[]", `{"content":[7]}`} {
		w := serve(t, wiretest.Answer(body, ""))
		_, err := w.model(nil).Generate(t.Context(), ask("hi"), nil)
		require.ErrorIs(t, err, ai.ErrUnavailable, body)
	}
}

// Without a key the first call says so. It is the environment that has none, so
// this test is not parallel.
func TestNoKey(t *testing.T) {
	for _, name := range []string{"ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "ANTHROPIC_PROFILE", "ANTHROPIC_FEDERATION_RULE_ID"} {
		t.Setenv(name, "")
	}
	t.Setenv("HOME", t.TempDir())
	t.Setenv("XDG_CONFIG_HOME", t.TempDir())
	_, err := anthropic.New("claude-test", nil).Generate(t.Context(), ask("hi"), nil)
	require.ErrorIs(t, err, ai.ErrUnauthorized)
}

// The SDK tries twice more by itself, unless it is told not to.
func TestRetries(t *testing.T) {
	t.Parallel()
	header := http.Header{"Retry-After-Ms": {"1"}}
	busy := wiretest.Status(529, header, errorBody("overloaded_error", "Overloaded"))
	w := serve(t, busy, busy, fixture(t, "text"))
	opts := []option.RequestOption{option.WithBaseURL(w.URL), option.WithAPIKey("key"), option.WithHTTPClient(w.Client())}
	resp, err := anthropic.New("claude-test", &anthropic.Options{Client: opts}).Generate(t.Context(), ask("hi"), discard)
	require.NoError(t, err)
	require.Equal(t, "Grüß dich! How can I help?", resp.Message.Text())
	require.Len(t, w.Sent(), 3)
}
