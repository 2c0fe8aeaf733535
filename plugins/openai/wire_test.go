package openai_test

import (
	"net/http"
	"testing"

	"github.com/openai/openai-go/v3/option"

	"github.com/holdpoint/ai"
	"github.com/holdpoint/ai/internal/wiretest"
	"github.com/holdpoint/ai/plugins/openai"
)

// wire is a provider that answers from a script and records what it was sent.
type wire struct{ *wiretest.Server }

// serve starts a provider that gives these answers, one to a request.
func serve(t testing.TB, answers ...http.HandlerFunc) *wire {
	t.Helper()
	return &wire{wiretest.Serve(t, []string{"/chat/completions", "/responses"}, answers...)}
}

// options are those of an adapter that talks to the provider and does not try again.
func (w *wire) options(config any) *openai.Options {
	return &openai.Options{Config: config, Client: []option.RequestOption{
		option.WithBaseURL(w.URL), option.WithAPIKey("key"), option.WithMaxRetries(0), option.WithHTTPClient(w.Client()),
	}}
}

func (w *wire) chat(config any) *openai.Chat { return openai.NewChat("gpt-test", w.options(config)) }

func ask(text string) *ai.ModelRequest {
	return &ai.ModelRequest{Messages: []*ai.Message{ai.TextMessage(ai.RoleUser, text)}}
}

// discard is for those who stream without looking.
func discard(*ai.Chunk) error { return nil }
