package leakcheck

import (
	"os"
	"os/signal"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

func TestMain(m *testing.M) { Main(m) }

// The tests are not parallel: each looks at all goroutines of the process.

func TestLeakedFindsGoroutine(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		known := goroutines()
		go linger()
		leaks := leaked(known)
		require.Len(t, leaks, 1)
		require.Contains(t, leaks[0], "leakcheck.linger")
	})
}

func TestLeakedWaitsForEndingGoroutines(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		known := goroutines()
		for _, wait := range []time.Duration{time.Microsecond, time.Second, 4 * time.Second} {
			go time.Sleep(wait)
		}
		require.Len(t, started(known), 3)
		require.Empty(t, leaked(known))
	})
}

func TestLeakedIgnoresKnownGoroutines(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		go linger()
		known := goroutines()
		require.Empty(t, leaked(known))
	})
}

func TestLeakedIgnoresSignalLoop(t *testing.T) {
	known := goroutines()
	c := make(chan os.Signal, 1)
	signal.Notify(c, os.Interrupt)
	defer signal.Stop(c)
	require.Empty(t, leaked(known))
}

func TestLeakedFindsAmongMany(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		known := goroutines()
		for range 500 { // more than the first buffer for their stacks holds
			go linger()
		}
		require.Len(t, leaked(known), 500)
	})
}

func TestCheckExitCode(t *testing.T) {
	tests := map[string]struct {
		code int
		leak bool
		want int
		text string
	}{
		"passed":            {code: 0, leak: false, want: 0},
		"passed and leaked": {code: 0, leak: true, want: 1, text: "left after the tests: 1\n"},
		"failed":            {code: 2, leak: false, want: 2},
		"failed and leaked": {code: 2, leak: true, want: 2},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(t *testing.T) {
				var out strings.Builder
				got := check(func() int {
					if tt.leak {
						go linger()
					}
					return tt.code
				}, &out)
				require.Equal(t, tt.want, got)
				require.Contains(t, out.String(), tt.text)
				require.Equal(t, tt.text != "", strings.Contains(out.String(), "leakcheck.linger"))
			})
		})
	}
}

// linger outlives the patience of leaked.
func linger() { time.Sleep(time.Hour) }

// inBubble runs test where waiting takes no time, and then waits for what test
// left behind, as a bubble has to be empty at its end.
func inBubble(t *testing.T, test func(t *testing.T)) {
	synctest.Test(t, func(t *testing.T) {
		defer time.Sleep(2 * time.Hour)
		test(t)
	})
}
