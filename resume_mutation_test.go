package ai_test

import (
	"context"
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/holdpoint/ai"
)

// resumeSeed is a pause and answers that lift it.
type resumeSeed struct{ name, message, answers string }

// resumeSeeds are the pauses that Genkit wrote, and ours.
func resumeSeeds(t testing.TB) []resumeSeed {
	t.Helper()
	var seeds []resumeSeed
	files, err := filepath.Glob("testdata/wire/*.json")
	require.NoError(t, err)
	for _, file := range files {
		data, err := os.ReadFile(file)
		require.NoError(t, err)
		c := decode[*wireCase](t, string(data))
		history := decode[[]json.RawMessage](t, string(c.History))
		seeds = append(seeds, resumeSeed{filepath.Base(file), string(history[len(history)-1]), jsonOf(t, c.Resume)})
	}
	return append(seeds, ownSeeds(t)...)
}

// ownSeeds are pauses of the arena's own tools that hold, between them, every
// metadata key there is.
func ownSeeds(t testing.TB) []resumeSeed {
	t.Helper()
	a := newArena(t)
	pay, rest := wish("pay", "p", `{"Amount":1}`), ai.Parts{
		wish("getWeather", "w", `{"City":"Paris"}`), wish("order_part", "o", ""), wish("ask", "q", ""), wish("flaky", "f", ""), wish("pay", "x", "[]"), wish("pay", "y", `{"Amount":"2"}`),
	}
	never := func(context.Context, *ai.CallError) bool { return false }
	gates := []*ai.Middleware{gate("gate", &diary{}, nil)}
	seeds := []resumeSeed{seedOf(t, "before", modelSays(pay, rest[1], rest[3]))}
	for _, s := range []struct {
		name  string
		calls ai.Parts
		opts  ai.ResolveOptions
		edit  string // of the payment, afterwards
	}{
		{"side by side", append(ai.Parts{pay}, rest...), ai.ResolveOptions{OnError: never}, ""},
		{"reported and edited", append(ai.Parts{pay}, rest...), ai.ResolveOptions{OnError: ai.ReportErrors}, `{"Amount":5}`},
		{"sequential", append(ai.Parts{pay}, rest...), ai.ResolveOptions{Sequential: true}, ""},
		{"gated and failed", ai.Parts{pay, rest[1]}, ai.ResolveOptions{Middleware: gates}, `{"Amount":-1}`},
		{"asked again", ai.Parts{pay, rest[0]}, ai.ResolveOptions{Middleware: gates}, `{"Amount":2}`},
		{"hosted", ai.Parts{wish("host", "h", ""), pay}, ai.ResolveOptions{}, `{"Amount":-1}`},
	} {
		res, err := ai.Resolve(t.Context(), a.set, modelSays(s.calls...), &s.opts)
		m := pausedBy(t, res, err)
		if s.edit != "" {
			s.opts.Partial = true
			res, err := ai.Resume(t.Context(), a.set, m, restarts(edit(t, requestOf(t, m, "p"), s.edit)), &s.opts)
			m = pausedBy(t, res, err)
		}
		seeds = append(seeds, seedOf(t, s.name, m))
	}
	return seeds
}

func pausedBy(t testing.TB, res *ai.Resolution, err error) *ai.Message {
	t.Helper()
	if err != nil {
		_, m := failed(t, err)
		return m
	}
	require.Nil(t, res.Tool)
	return res.Model
}

// seedOf adds answers for all that is open.
func seedOf(t testing.TB, name string, m *ai.Message) resumeSeed {
	t.Helper()
	answers := &ai.Answers{}
	for _, req := range (&ai.TurnError{Model: m}).Open() {
		switch req.ToolRequest.Name {
		case "ask":
			answers.Respond = append(answers.Respond, say(t, req, 1))
		case "flaky":
			answers.Respond = append(answers.Respond, no(t, req, "no"))
		default:
			answers.Restart = append(answers.Restart, yes(t, req))
		}
	}
	return resumeSeed{name, jsonOf(t, m), jsonOf(t, answers)}
}

// mutations are what a key of a paused history is replaced with; "" removes it.
var mutations = []string{"", "null", "true", "1", `"x"`, "[]", "{}"}

// TestMutatedMetadata changes each metadata key of each paused history, one at a
// time, at every depth. Whatever comes of it, it is a clear error or a turn like
// any other, and no call runs that no answer names.
func TestMutatedMetadata(t *testing.T) {
	t.Parallel()
	keys := map[string]bool{}
	for _, seed := range resumeSeeds(t) {
		message := decode[map[string]any](t, seed.message)
		for _, holder := range metadataOf(message) {
			for _, key := range slices.Sorted(maps.Keys(holder)) {
				keys[key] = true
			}
		}
		t.Run(seed.name, func(t *testing.T) {
			t.Parallel()
			mutateAll(t, newArena(t), seed, message)
		})
	}
	for _, key := range []string{
		"interrupt", "interruptedBy", "interruptState", "answered", "resolvedInterrupt", "pendingOutput", "pendingContent", "pendingMetadata",
		"replacedInput", "originalName", "argumentsError", "effectiveInput", "callKey", "failure", "notStarted", "inner", "changes",
	} {
		require.Contains(t, keys, key, "no history holds it")
	}
}

func mutateAll(t *testing.T, a *arena, seed resumeSeed, message map[string]any) {
	for _, holder := range metadataOf(message) {
		for _, key := range slices.Sorted(maps.Keys(holder)) {
			was := holder[key]
			for _, to := range mutations {
				delete(holder, key)
				if to != "" {
					holder[key] = json.RawMessage(to)
				}
				text := jsonOf(t, message)
				_ = a.check(t, decode[*ai.Message](t, text), decode[*ai.Answers](t, seed.answers), nil)
				_ = a.check(t, decode[*ai.Message](t, text), nil, &ai.ResolveOptions{Partial: true})
			}
			holder[key] = was
		}
	}
}

// metadataOf finds the metadata of the tool requests in a JSON value.
func metadataOf(v any) []map[string]any {
	var found []map[string]any
	switch v := v.(type) {
	case map[string]any:
		if md, ok := v["metadata"].(map[string]any); ok && v["toolRequest"] != nil {
			found = append(found, md)
		}
		for _, key := range slices.Sorted(maps.Keys(v)) {
			found = append(found, metadataOf(v[key])...)
		}
	case []any:
		for _, e := range v {
			found = append(found, metadataOf(e)...)
		}
	}
	return found
}
