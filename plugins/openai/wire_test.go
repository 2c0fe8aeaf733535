package openai_test

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"

	"github.com/openai/openai-go/v3/option"

	"github.com/holdpoint/ai"
	"github.com/holdpoint/ai/plugins/openai"
)

// wire is a provider that answers from a script and records what it was sent.
type wire struct {
	server *httptest.Server
	busy   sync.WaitGroup // requests that are being answered

	mu      sync.Mutex
	answers []http.HandlerFunc
	bodies  [][]byte
	headers []http.Header
}

// serve starts a provider that gives these answers, one to a request. It ends
// with the test.
func serve(t testing.TB, answers ...http.HandlerFunc) *wire {
	t.Helper()
	w := &wire{answers: answers}
	w.server = httptest.NewServer(w)
	t.Cleanup(func() {
		w.server.CloseClientConnections()
		w.server.Close()
	})
	return w
}

func (w *wire) ServeHTTP(rw http.ResponseWriter, r *http.Request) {
	w.busy.Add(1)
	defer w.busy.Done()
	body, err := io.ReadAll(r.Body)
	w.mu.Lock()
	n := len(w.bodies)
	w.bodies = append(w.bodies, body)
	w.headers = append(w.headers, r.Header)
	w.mu.Unlock()
	if err != nil || r.URL.Path != "/chat/completions" && r.URL.Path != "/responses" || n >= len(w.answers) {
		http.Error(rw, "unexpected request", http.StatusTeapot)
		return
	}
	r.Body = io.NopCloser(bytes.NewReader(body))
	w.answers[n](rw, r)
}

// sent returns the bodies so far.
func (w *wire) sent() [][]byte {
	w.mu.Lock()
	defer w.mu.Unlock()
	return append([][]byte(nil), w.bodies...)
}

// options are those of an adapter that talks to the provider and does not try again.
func (w *wire) options(config any) *openai.Options {
	return &openai.Options{Config: config, Client: []option.RequestOption{
		option.WithBaseURL(w.server.URL), option.WithAPIKey("key"), option.WithMaxRetries(0), option.WithHTTPClient(w.server.Client()),
	}}
}

func (w *wire) chat(config any) *openai.Chat { return openai.NewChat("gpt-test", w.options(config)) }

// isStream reports whether a request asks for a stream.
func isStream(r *http.Request) bool {
	var body struct {
		Stream bool `json:"stream"`
	}
	err := json.NewDecoder(r.Body).Decode(&body)
	return err == nil && body.Stream
}

// answer gives a whole message or the events of one, as asked.
func answer(message, events string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if isStream(r) {
			w.Header().Set("Content-Type", "text/event-stream; charset=utf-8")
			_, _ = io.WriteString(w, events)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, message)
	}
}

// status answers with an error.
func status(code int, header http.Header, body string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		for key := range header {
			w.Header().Set(key, header.Get(key))
		}
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(code)
		_, _ = io.WriteString(w, body)
	}
}

func ask(text string) *ai.ModelRequest {
	return &ai.ModelRequest{Messages: []*ai.Message{ai.TextMessage(ai.RoleUser, text)}}
}

// discard is for those who stream without looking.
func discard(*ai.Chunk) error { return nil }
