package ai

import (
	"encoding/json"
	"fmt"
	"strings"
	"unicode/utf8"
)

const (
	maxFaults     = 1000 // how many faults a check returns
	maxTextFaults = 20   // how many of them a text lists
	maxTextSize   = 4000 // bytes after which a text lists no more
	maxGot        = 80   // characters of a value that came
	maxExpected   = 400  // characters of what was expected
	maxName       = 128  // characters of a name or a path
)

// Fault is one place where a value does not fit its schema.
type Fault struct {
	// Path leads to the place, its steps joined by dots: "edits.0.oldText".
	// It is empty for the value as a whole. Very long steps are cut.
	Path string

	// Expected says what the schema asks for, in words: "an integer".
	Expected string

	// Got says what came instead, a long value cut in the middle:
	// `string "five"`. It is empty where something is missing.
	Got string
}

// String returns the fault as one line:
// `amount: expected an integer, got string "five"`.
func (f Fault) String() string {
	if f.Path == "" {
		return f.text()
	}
	return cutText(f.Path, maxName) + ": " + f.text()
}

// text is the fault without its path.
func (f Fault) text() string {
	if f.Got == "" {
		return "missing " + f.Expected
	}
	return "expected " + f.Expected + ", got " + f.Got
}

// ArgumentError reports arguments that do not fit the input schema of a tool,
// whoever sent them: a model, a person who edited them, or a caller.
// It is an ErrInvalidArgument.
type ArgumentError struct {
	// Tool is the name of the tool.
	Tool string

	// Ref tells the call from others of the same message. It may be empty.
	Ref string

	// Faults are the places that do not fit, sorted by path.
	Faults []Fault

	// Arguments is what was sent, as it was received. It may not be JSON at
	// all, it may hold secrets, and it is not part of any text.
	Arguments json.RawMessage
}

// Error names the call and lists the faults, one on each line, and says how
// many it left out.
func (e *ArgumentError) Error() string {
	call := cutText(e.Tool, maxName)
	if e.Ref != "" {
		call += "#" + cutText(e.Ref, maxName)
	}
	return "ai: arguments of " + call + " do not fit:" + faultLines(e.Faults, "\n\t")
}

// Is reports whether target is ErrInvalidArgument.
func (e *ArgumentError) Is(target error) bool {
	return target == ErrInvalidArgument
}

// ModelText returns what a model is told so that it can mend the call: the
// tool, and each fault with what was expected and what came. Like Error, it
// leaves out what would make it too long, and says so.
func (e *ArgumentError) ModelText() string {
	return "The arguments of " + cutText(e.Tool, maxName) + " do not fit:" + faultLines(e.Faults, "\n- ")
}

// faultLines lists faults, each after the given start of a line. A single
// fault stays on the line that it ends.
func faultLines(faults []Fault, start string) string {
	switch len(faults) {
	case 0:
		return " no reason given"
	case 1:
		return " " + faults[0].String()
	}
	var b strings.Builder
	for i, f := range faults {
		if i == maxTextFaults || b.Len() > maxTextSize {
			fmt.Fprintf(&b, "%sand %s more", start, moreFaults(len(faults), i))
			break
		}
		b.WriteString(start)
		b.WriteString(f.String())
	}
	return b.String()
}

func moreFaults(all, listed int) string {
	if all >= maxFaults {
		return fmt.Sprintf("at least %d", all-listed)
	}
	return fmt.Sprint(all - listed)
}

// cutText shortens text to limit characters by cutting out its middle. It
// looks at the ends only, however long text is.
func cutText(text string, limit int) string {
	if len(text) <= limit || utf8.RuneCountInString(text[:min(len(text), 4*limit+4)]) <= limit && len(text) <= 4*limit {
		return text
	}
	head, tail := 0, len(text)
	for range (limit - 1) * 2 / 3 {
		_, size := utf8.DecodeRuneInString(text[head:])
		head += size
	}
	for range (limit - 1) / 3 {
		_, size := utf8.DecodeLastRuneInString(text[:tail])
		tail -= size
	}
	return text[:head] + "…" + text[tail:]
}
