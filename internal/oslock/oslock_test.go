package oslock_test

import (
	"context"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/holdpoint/ai/internal/oslock"
)

func TestLock(t *testing.T) {
	t.Parallel()
	name := filepath.Join(t.TempDir(), "x")
	l, err := oslock.Try(name)
	require.NoError(t, err)
	require.True(t, l.Held())
	_, err = oslock.Try(name)
	require.ErrorIs(t, err, oslock.ErrLocked)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err = oslock.Wait(ctx, name)
	require.ErrorIs(t, err, context.Canceled)
	require.NoError(t, l.Unlock())
	require.NoError(t, l.Unlock())
	require.False(t, l.Held())
	l, err = oslock.Wait(t.Context(), name)
	require.NoError(t, err)
	require.NoError(t, l.Remove())
	_, err = os.Stat(name)
	require.ErrorIs(t, err, os.ErrNotExist)
}

// A file that is removed while others wait for its lock is never locked by two.
func TestRemoveUnderContention(t *testing.T) {
	t.Parallel()
	name := filepath.Join(t.TempDir(), "x")
	var inside atomic.Int32 // the race detector does not know of file locks
	var all sync.WaitGroup
	for i := range 8 {
		all.Go(func() {
			for range 50 {
				l, err := oslock.Wait(context.Background(), name)
				if err != nil {
					t.Error(err)
					return
				}
				if inside.Add(1) != 1 {
					t.Error("two hold the lock")
				}
				inside.Add(-1)
				if i%2 == 0 {
					err = l.Remove()
				} else {
					err = l.Unlock()
				}
				if err != nil {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
}
