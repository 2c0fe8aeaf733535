package session_test

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/holdpoint/ai/aitest"
	"github.com/holdpoint/ai/session"
)

// logged is what a log says of the calls in it, by key.
type logged struct {
	Kind string          `json:"kind"`
	Path json.RawMessage `json:"path"`
	Call struct {
		Ref   string                     `json:"ref"`
		State map[string]json.RawMessage `json:"state"`
	} `json:"call"`
}

// A crash may come behind any batch of a log. Whatever it is, the session comes to
// its end: what finished is not run again, what had not started is started once, and
// what was in between runs again only because a person says so.
func TestRecoveryFromEveryPrefix(t *testing.T) {
	t.Parallel()
	for name, sc := range scenarios {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			first := &world{}
			store := &session.MemoryStore{}
			m := sc.manager(first, store)
			_, err := m.Generate(t.Context(), "s", &session.Input{Prompt: "go"})
			require.NoError(t, err)
			whole := finish(t, m, "s", approve)
			aitest.CheckHistory(t, whole.Response.Messages)
			require.Len(t, first.paid, sc.paid)
			log, err := store.Read(t.Context(), "s", session.Revision{})
			require.NoError(t, err)
			for k := 1; k <= len(log.Batches); k++ {
				t.Run(fmt.Sprint(k), func(t *testing.T) {
					t.Parallel()
					recoverPrefix(t, sc, log.Revision.Incarnation, log.Batches[:k:k], whole)
				})
			}
		})
	}
}

func recoverPrefix(t *testing.T, sc scenario, incarnation string, batches []*session.StoredBatch, whole *session.Result) {
	store := &session.MemoryStore{}
	store.Seed("s", incarnation, batches)
	started, ended := 0, 0
	alone := 0 // a host that started and is not known to have come to its conversations
	for _, b := range batches {
		for _, e := range b.Entries {
			var l logged
			require.NoError(t, json.Unmarshal(e, &l))
			if _, ok := l.Call.State["pendingOutput"]; l.Kind == "outcome" && ok && l.Call.Ref != "h" {
				ended++
			}
			switch {
			case l.Kind == "started" && l.Call.Ref != "h":
				started++
			case l.Kind == "started" && alone == 0:
				alone = 1
			case l.Path != nil:
				alone = -1
			}
		}
	}
	w := &world{}
	doubts := 0
	result := finish(t, sc.manager(w, store), "s", func(p *session.Pending) *session.Decision {
		if p.Reason == session.ReasonInDoubt {
			doubts++
			require.Equal(t, session.OwnerGone, p.Owner)
		}
		return approve(p)
	})
	aitest.CheckHistory(t, result.Response.Messages)
	require.Equal(t, "done", result.Response.Text())
	require.Equal(t, started-ended+max(alone, 0), doubts, "only what started and did not end is in doubt")
	require.Len(t, w.paid, sc.paid-ended)
	want, err := json.Marshal(whole.Response.Messages)
	require.NoError(t, err)
	got, err := json.Marshal(result.Response.Messages)
	require.NoError(t, err)
	require.JSONEq(t, string(want), string(got))
}
