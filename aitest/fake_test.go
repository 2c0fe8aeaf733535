package aitest_test

import (
	"fmt"
	"runtime"
	"slices"
	"sync"
	"testing"
)

// fakeTB is a test that may fail without failing the one that runs it.
type fakeTB struct {
	testing.TB
	skipped bool

	mu       sync.Mutex
	failures []string
	cleanups []func()
}

// runExample is runFake for examples, which have no test of their own.
func runExample(test func(t testing.TB)) []string {
	return runFake(nil, func(tb *fakeTB) { test(tb) })
}

// runFake runs a function as a test of its own, cleanups included, and returns
// its failures.
func runFake(t testing.TB, test func(tb *fakeTB)) []string {
	tb := &fakeTB{TB: t}
	tb.do(func() { test(tb) })
	for i := len(tb.cleanups) - 1; i >= 0; i-- {
		tb.do(tb.cleanups[i])
	}
	tb.mu.Lock() // what a test under test leaves running may still report
	defer tb.mu.Unlock()
	return slices.Clone(tb.failures)
}

// do runs f in a goroutine of its own, which Fatalf ends.
func (tb *fakeTB) do(f func()) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		f()
	}()
	<-done
}

func (tb *fakeTB) Helper()          {}
func (tb *fakeTB) Skipped() bool    { return tb.skipped }
func (tb *fakeTB) Cleanup(f func()) { tb.cleanups = append(tb.cleanups, f) }

func (tb *fakeTB) Errorf(format string, args ...any) {
	tb.mu.Lock()
	defer tb.mu.Unlock()
	tb.failures = append(tb.failures, fmt.Sprintf(format, args...))
}

func (tb *fakeTB) Failed() bool {
	tb.mu.Lock()
	defer tb.mu.Unlock()
	return len(tb.failures) > 0
}

func (tb *fakeTB) Fatalf(format string, args ...any) {
	tb.Errorf(format, args...)
	runtime.Goexit()
}
