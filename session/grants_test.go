package session_test

import (
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/holdpoint/ai"
	"github.com/holdpoint/ai/session"
)

func query(change func(q *ai.GrantQuery)) *ai.GrantQuery {
	q := &ai.GrantQuery{Subject: "ann", Tool: "pay", Definition: "d1", Arguments: "a1"}
	if change != nil {
		change(q)
	}
	return q
}

func TestGrants(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		g := &session.Grants{Store: &session.MemoryStore{}}
		ctx := t.Context()
		spend := func(q *ai.GrantQuery) *ai.Grant {
			grant, err := g.SpendGrant(ctx, q)
			require.NoError(t, err)
			return grant
		}
		require.Nil(t, spend(query(nil)))
		twice, err := g.Grant(ctx, &ai.Grant{Granter: "bo", Subject: "ann", Tool: "pay", Definition: "d1", Uses: 2})
		require.NoError(t, err)
		hour, err := g.Grant(ctx, &ai.Grant{Subject: "ann", Tool: "pay", Definition: "d1", Arguments: "a1", Expires: time.Now().Add(time.Hour)})
		require.NoError(t, err)

		for name, q := range map[string]*ai.GrantQuery{
			"another subject":     query(func(q *ai.GrantQuery) { q.Subject = "eve" }),
			"another tool":        query(func(q *ai.GrantQuery) { q.Tool = "wipe" }),
			"a tool that changed": query(func(q *ai.GrantQuery) { q.Definition = "d2" }),
		} {
			require.Nil(t, spend(q), name)
		}
		require.Equal(t, twice.ID, spend(query(nil)).ID)
		other := query(func(q *ai.GrantQuery) { q.Arguments = "a2" })
		require.Equal(t, twice.ID, spend(other).ID)
		require.Nil(t, spend(other), "it is used up")
		require.Equal(t, hour.ID, spend(query(nil)).ID)
		time.Sleep(2 * time.Hour)
		require.Nil(t, spend(query(nil)), "it has expired")

		last, err := g.Grant(ctx, &ai.Grant{Subject: "ann", Tool: "pay", Definition: "d1"})
		require.NoError(t, err)
		require.Equal(t, last.ID, spend(query(nil)).ID)
		require.NoError(t, g.Revoke(ctx, last.ID, "bo"))
		require.NoError(t, g.Revoke(ctx, last.ID, "bo"))
		require.Nil(t, spend(query(nil)), "it was revoked")
		require.ErrorIs(t, g.Revoke(ctx, "no", "bo"), session.ErrNotFound)

		list, err := g.List(ctx)
		require.NoError(t, err)
		require.Len(t, list, 3)
		require.Equal(t, 2, list[0].Used)
		require.Equal(t, "bo", list[2].RevokedBy)
		_, err = g.Grant(ctx, &ai.Grant{Subject: "ann"})
		require.ErrorIs(t, err, ai.ErrInvalidArgument)
		_, err = g.Grant(ctx, twice)
		require.ErrorIs(t, err, ai.ErrInvalidArgument)
	})
}

// A grant with three uses is used three times, whoever asks at once.
func TestGrantUsesAtOnce(t *testing.T) {
	t.Parallel()
	g := &session.Grants{Store: &session.MemoryStore{}}
	_, err := g.Grant(t.Context(), &ai.Grant{Subject: "ann", Tool: "pay", Definition: "d1", Uses: 3})
	require.NoError(t, err)
	var used atomic.Int32
	var all sync.WaitGroup
	for range 50 {
		all.Go(func() {
			grant, err := g.SpendGrant(t.Context(), query(nil))
			if err != nil {
				t.Errorf("unexpected: %v", err)
			}
			if grant != nil {
				used.Add(1)
			}
		})
	}
	all.Wait()
	require.EqualValues(t, 3, used.Load())
}

func TestSpent(t *testing.T) {
	t.Parallel()
	s := &session.Spent{Store: &session.MemoryStore{}}
	until := time.Now().Add(time.Hour)
	require.NoError(t, s.Spend(t.Context(), "l1", []string{"a", "b"}, until))
	require.ErrorIs(t, s.Spend(t.Context(), "l1", []string{"c", "b"}, until), ai.ErrSpent)
	require.NoError(t, s.Spend(t.Context(), "l1", []string{"c"}, until), "a refused batch spends nothing")
	require.NoError(t, s.Spend(t.Context(), "l2", []string{"a"}, until))
}
