// Package wiretest is what the tests of model adapters share: a provider on loopback
// that answers from a script and records what it is sent.
package wiretest

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"sync"
	"testing"
)

// Server is a provider that answers from a script.
type Server struct {
	// URL is where it is.
	URL string

	server *httptest.Server
	paths  []string
	busy   sync.WaitGroup // requests that are being answered

	mu      sync.Mutex
	answers []http.HandlerFunc
	bodies  [][]byte
	headers []http.Header
}

// Serve starts a provider that gives these answers, one to a request, at these paths.
// It ends with the test.
func Serve(t testing.TB, paths []string, answers ...http.HandlerFunc) *Server {
	t.Helper()
	s := &Server{paths: paths, answers: answers}
	s.server = httptest.NewServer(http.HandlerFunc(s.serve))
	s.URL = s.server.URL
	t.Cleanup(func() {
		s.server.CloseClientConnections()
		s.server.Close()
	})
	return s
}

func (s *Server) serve(w http.ResponseWriter, r *http.Request) {
	s.busy.Add(1)
	defer s.busy.Done()
	body, err := io.ReadAll(r.Body)
	s.mu.Lock()
	n := len(s.bodies)
	s.bodies = append(s.bodies, body)
	s.headers = append(s.headers, r.Header)
	var answer http.HandlerFunc
	if n < len(s.answers) {
		answer = s.answers[n]
	}
	s.mu.Unlock()
	if err != nil || !slices.Contains(s.paths, r.URL.Path) || answer == nil {
		http.Error(w, "unexpected request", http.StatusTeapot)
		return
	}
	r.Body = io.NopCloser(bytes.NewReader(body))
	answer(w, r)
}

// Add gives the script another answer.
func (s *Server) Add(answer http.HandlerFunc) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.answers = append(s.answers, answer)
}

// Client talks to the provider.
func (s *Server) Client() *http.Client { return s.server.Client() }

// Close ends the provider before the test does.
func (s *Server) Close() { s.server.Close() }

// Wait returns once no request is being answered.
func (s *Server) Wait() { s.busy.Wait() }

// Sent returns the bodies so far.
func (s *Server) Sent() [][]byte {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.bodies)
}

// Headers returns the headers of the requests so far.
func (s *Server) Headers() []http.Header {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.headers)
}

// IsStream reports whether a request asks for a stream.
func IsStream(r *http.Request) bool {
	var body struct {
		Stream bool `json:"stream"`
	}
	err := json.NewDecoder(r.Body).Decode(&body)
	return err == nil && body.Stream
}

// Answer gives a whole message or the events of one, as asked.
func Answer(message, events string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if IsStream(r) {
			w.Header().Set("Content-Type", "text/event-stream; charset=utf-8")
			_, _ = io.WriteString(w, events)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, message)
	}
}

// Status answers with an error.
func Status(code int, header http.Header, body string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		for key := range header {
			w.Header().Set(key, header.Get(key))
		}
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(code)
		_, _ = io.WriteString(w, body)
	}
}
