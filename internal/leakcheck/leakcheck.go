// Package leakcheck fails a test binary that leaves goroutines behind.
//
// A package uses it with
//
//	func TestMain(m *testing.M) { leakcheck.Main(m) }
//
// Every goroutine that starts while the tests run has to end soon after the
// last of them. That includes those that libraries keep: idle HTTP connections
// have to be closed, and calls that a test lets outlive their timeout have to
// be released.
package leakcheck

import (
	"flag"
	"fmt"
	"io"
	"os"
	"runtime"
	"strings"
	"testing"
	"time"
)

// Goroutines that end on their own get about four seconds for it, in waits
// that start at firstWait and double.
const (
	firstWait = time.Millisecond
	lastWait  = firstWait << 11
)

// signalLoop is in the stack of the goroutine that package os/signal starts on
// first use and keeps for the life of the process. That of signal.NotifyContext
// is another one, which its stop function ends. The goroutines of the runtime
// itself are not in the runtime's list.
const signalLoop = "\ncreated by os/signal.Notify."

// Main runs the tests of m and exits the process. The exit code is that of the
// tests, or 1 if they pass but leave goroutines, whose stacks are then written
// to standard error. It has to be called from TestMain.
func Main(m *testing.M) {
	os.Exit(check(m.Run, os.Stderr))
}

// check runs the tests with run and returns the exit code of the process.
// After failed tests goroutines are not looked at: a test that stops half way
// often leaves some, and their stacks would bury the failure.
func check(run func() int, w io.Writer) int {
	known := goroutines()
	code := run()
	if code != 0 || fuzzWorker() {
		return code
	}
	leaks := leaked(known)
	if len(leaks) == 0 {
		return 0
	}
	fmt.Fprintf(w, "leakcheck: goroutines left after the tests: %d\n\n%s\n",
		len(leaks), strings.Join(leaks, "\n\n"))
	return 1
}

// fuzzWorker tells whether this process runs inputs for a fuzzing parent, which
// allows it a second to exit and takes any code but 0 for a crash. The seeds of
// a fuzz target run in the parent, or in a plain test run, and are checked there.
func fuzzWorker() bool {
	f := flag.Lookup("test.fuzzworker")
	return f != nil && f.Value.String() == "true"
}

// leaked returns the stacks of the goroutines that are not in known and do not
// end while it waits for them.
func leaked(known []goroutine) []string {
	for wait := firstWait; ; wait *= 2 {
		stacks := started(known)
		if len(stacks) == 0 || wait > lastWait {
			return stacks
		}
		time.Sleep(wait)
	}
}

// started returns the stacks of the goroutines that run now and are neither in
// known nor the signal loop.
func started(known []goroutine) []string {
	old := make(map[string]bool, len(known))
	for _, g := range known {
		old[g.id] = true
	}
	var stacks []string
	for _, g := range goroutines() {
		if !old[g.id] && !strings.Contains(g.stack, signalLoop) {
			stacks = append(stacks, g.stack)
		}
	}
	return stacks
}

// A goroutine is one as the runtime prints it. The runtime never uses an id
// twice in a process.
type goroutine struct{ id, stack string }

// goroutines returns all goroutines that run now, the caller's first.
func goroutines() []goroutine {
	buf := make([]byte, 64<<10)
	n := runtime.Stack(buf, true)
	for n == len(buf) {
		buf = make([]byte, 2*len(buf))
		n = runtime.Stack(buf, true)
	}
	var all []goroutine
	for stack := range strings.SplitSeq(strings.TrimSpace(string(buf[:n])), "\n\n") {
		// The first line is "goroutine 7 [running]:".
		_, rest, _ := strings.Cut(stack, " ")
		id, _, _ := strings.Cut(rest, " ")
		all = append(all, goroutine{id: id, stack: stack})
	}
	return all
}
