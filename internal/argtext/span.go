package argtext

import (
	"fmt"
	"strings"
)

// space is what JSON takes for white space.
const space = " \t\r\n"

// span is a part of a text. The text is kept for the positions in errors.
type span struct {
	text       string
	start, end int
}

// String returns the part.
func (s span) String() string { return s.text[s.start:s.end] }

// trim leaves out white space at both ends.
func trim(s span) span {
	for s.start < s.end && strings.IndexByte(space, s.text[s.start]) >= 0 {
		s.start++
	}
	for s.end > s.start && strings.IndexByte(space, s.text[s.end-1]) >= 0 {
		s.end--
	}
	return s
}

// problem makes an error about the byte at position at, counted from 1.
func (r *reader) problem(at int, what string) *Error {
	return &Error{Problem: fmt.Sprintf("%s%s (at byte %d)", r.inside, what, at+1)}
}

// nameOf names the value that begins with b.
func nameOf(b byte) string {
	switch {
	case b == '[':
		return "an array"
	case b == '-', isDigit(b):
		return "a number"
	default:
		return "text"
	}
}

func isDigit(b byte) bool { return '0' <= b && b <= '9' }

func isLetter(b byte) bool { return 'a' <= b|0x20 && b|0x20 <= 'z' }

func isHex(b byte) bool { return isDigit(b) || 'a' <= b|0x20 && b|0x20 <= 'f' }
