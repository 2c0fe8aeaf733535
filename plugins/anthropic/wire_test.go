package anthropic_test

import (
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/anthropics/anthropic-sdk-go/v2/option"
	"github.com/stretchr/testify/require"

	"github.com/holdpoint/ai"
	"github.com/holdpoint/ai/internal/wiretest"
	"github.com/holdpoint/ai/plugins/anthropic"
)

// wire is a provider that answers from a script and records what it was sent.
type wire struct{ *wiretest.Server }

// serve starts a provider that gives these answers, one to a request.
func serve(t testing.TB, answers ...http.HandlerFunc) *wire {
	t.Helper()
	return &wire{wiretest.Serve(t, []string{"/v1/messages"}, answers...)}
}

// model is an adapter that talks to the provider and does not try again.
func (w *wire) model(config *anthropic.Config) *anthropic.Model {
	return modelAt(w.URL, w.Client(), config)
}

func modelAt(url string, client *http.Client, config *anthropic.Config) *anthropic.Model {
	return anthropic.New("claude-test", &anthropic.Options{
		Config: config,
		Client: []option.RequestOption{
			option.WithBaseURL(url), option.WithAPIKey("key"), option.WithMaxRetries(0), option.WithHTTPClient(client),
		},
	})
}

// fixture answers with the files of that name. A reply that is there in one form
// only answers in that form.
func fixture(t testing.TB, name string) http.HandlerFunc {
	t.Helper()
	return fixtureIn(t, "replies", name)
}

func fixtureIn(t testing.TB, dir, name string) http.HandlerFunc {
	t.Helper()
	return wiretest.Answer(read(t, dir, name+".json"), read(t, dir, name+".sse"))
}

func read(t testing.TB, path ...string) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(append([]string{"testdata"}, path...)...))
	if os.IsNotExist(err) {
		return ""
	}
	require.NoError(t, err)
	return string(data)
}

// names lists the files of a directory of testdata by what comes before the ending.
func names(t testing.TB, dir, ending string) []string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join("testdata", dir, "*"+ending))
	require.NoError(t, err)
	require.NotEmpty(t, files)
	for i, f := range files {
		files[i] = strings.TrimSuffix(filepath.Base(f), ending)
	}
	return files
}

func ask(text string) *ai.ModelRequest {
	return &ai.ModelRequest{Messages: []*ai.Message{ai.TextMessage(ai.RoleUser, text)}}
}

// discard is for those who stream without looking.
func discard(*ai.Chunk) error { return nil }

func toJSON(t testing.TB, v any) string {
	t.Helper()
	data, err := json.Marshal(v)
	require.NoError(t, err)
	return string(data)
}
