package sqlstore_test

import (
	"context"
	"encoding/json"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/holdpoint/ai/plugins/sqlstore"
	"github.com/holdpoint/ai/session"
)

func entries(list ...string) []json.RawMessage {
	var all []json.RawMessage
	for _, e := range list {
		all = append(all, json.RawMessage(e))
	}
	return all
}

// eventually asks until it is so. The lease is on the server's clock, which no test
// can turn.
func eventually(t *testing.T, what string, so func() bool) {
	t.Helper()
	require.Eventually(t, so, 20*time.Second, 20*time.Millisecond, what)
}

// A lease is renewed for as long as its owner lives. One that lapses can be taken,
// and the owner that lost it knows; what is known of that owner is that it is silent.
func TestLease(t *testing.T) {
	t.Parallel()
	dsn := postgresURL(t)
	one, other := both(t, func() (*sqlstore.Store, error) {
		return sqlstore.OpenPostgres(context.Background(), dsn, &sqlstore.PostgresOptions{Lease: time.Second})
	})
	first, err := one.Claim(t.Context(), "s")
	require.NoError(t, err)
	require.Equal(t, session.OwnerGone, first.Before())
	renewed := time.Now().Add(2 * time.Second)
	eventually(t, "two seconds pass", func() bool {
		_, err := other.Claim(t.Context(), "s")
		require.ErrorIs(t, err, session.ErrBusy)
		require.NoError(t, first.Held(t.Context()))
		return time.Now().After(renewed)
	})
	require.NoError(t, one.Close(), "the owner can reach the server no more")
	var second session.Claim
	eventually(t, "the lease lapses", func() bool {
		second, err = other.Claim(t.Context(), "s")
		return err == nil
	})
	require.ErrorIs(t, first.Held(t.Context()), session.ErrBusy)
	require.Equal(t, session.OwnerSilent, second.Before())
	require.Error(t, first.Release(t.Context()), "it can't say so")
	require.NoError(t, second.Release(t.Context()))
	third, err := other.Claim(t.Context(), "s")
	require.NoError(t, err)
	require.Equal(t, session.OwnerGone, third.Before())
	require.NoError(t, third.Release(t.Context()))
	require.ErrorIs(t, third.Held(t.Context()), session.ErrBusy)
}

func TestLeaseTooShort(t *testing.T) {
	t.Parallel()
	_, err := sqlstore.OpenPostgres(t.Context(), "postgres://nobody", &sqlstore.PostgresOptions{Lease: time.Millisecond})
	require.ErrorContains(t, err, "at least a second")
}
