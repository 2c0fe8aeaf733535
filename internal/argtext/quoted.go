package argtext

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// quoted consumes a string. Its quotes are single ones only where probable
// repairs are asked for. Escapes that JSON has not are refused: whoever wrote
// C:\new and C:\Users may have meant a backslash, or a new line.
func (m *mender) quoted() bool {
	quote := m.peek()
	m.quote(quote)
	for m.pos < m.end {
		switch b := m.span.text[m.pos]; {
		case b == quote:
			m.quote(quote)
			return true
		case b == '"': // inside single quotes
			m.replace(ruleSingle, m.pos, m.pos, `\`)
			m.pos++
		case b == '\\':
			if !m.escape(quote) {
				return false
			}
		case b < ' ':
			m.replace(ruleControl, m.pos, m.pos+1, controlEscape(b))
			m.pos++
		default:
			m.pos++
		}
	}
	return m.unexpected("the end of the string")
}

// quote consumes a quote at the end of a string and makes it a double one.
func (m *mender) quote(quote byte) {
	if quote == '\'' {
		m.replace(ruleSingle, m.pos, m.pos+1, `"`)
	}
	m.pos++
}

// escape consumes a backslash with what belongs to it.
func (m *mender) escape(quote byte) bool {
	start := m.pos
	m.pos++
	switch b := m.peek(); {
	case b == 'u':
		m.pos++
		return m.hex(start)
	case b != 0 && strings.IndexByte(`"\/bfnrt`, b) >= 0:
		m.pos++
		return true
	case b == '\'' && quote == b:
		m.replace(ruleSingle, start, m.pos, "")
		m.pos++
		return true
	default:
		return m.badEscape(start)
	}
}

// hex consumes the four digits of the escape that began at start.
func (m *mender) hex(start int) bool {
	for range 4 {
		if !isHex(m.peek()) {
			return m.badEscape(start)
		}
		m.pos++
	}
	return true
}

func (m *mender) badEscape(start int) bool {
	if m.pos >= m.end {
		return m.unexpected("the rest of an escape")
	}
	_, size := utf8.DecodeRuneInString(m.span.text[m.pos:])
	m.err = m.problem(start, fmt.Sprintf("the string has the escape %q, which JSON has not", m.span.text[start:m.pos+size]))
	return false
}

func controlEscape(b byte) string {
	switch b {
	case '\n':
		return `\n`
	case '\r':
		return `\r`
	case '\t':
		return `\t`
	case '\b':
		return `\b`
	case '\f':
		return `\f`
	}
	return fmt.Sprintf(`\u%04x`, b)
}

// unquote decodes a JSON string. Unlike encoding/json it leaves bytes that are
// not UTF-8 as they are, and refuses half a surrogate pair, which the text
// inside could still hold as an escape.
func unquote(quoted []byte) (s string, ok bool) {
	inner := quoted[1 : len(quoted)-1]
	out := make([]byte, 0, len(inner))
	for i := 0; i < len(inner); {
		if inner[i] != '\\' {
			out = append(out, inner[i])
			i++
			continue
		}
		if inner[i+1] != 'u' {
			out = append(out, unescaped(inner[i+1]))
			i += 2
			continue
		}
		r, size := codePoint(inner[i:])
		if size == 0 {
			return "", false
		}
		out = utf8.AppendRune(out, r)
		i += size
	}
	return string(out), true
}

// unescaped returns what the escape with the letter b stands for.
func unescaped(b byte) byte {
	switch b {
	case 'b':
		return '\b'
	case 'f':
		return '\f'
	case 'n':
		return '\n'
	case 'r':
		return '\r'
	case 't':
		return '\t'
	default:
		return b
	}
}

// codePoint decodes the \u escape that esc begins with, or the two of a
// surrogate pair. The size is 0 for half a pair.
func codePoint(esc []byte) (r rune, size int) {
	r = hexRune(esc)
	if !utf16.IsSurrogate(r) {
		return r, 6
	}
	if len(esc) < 12 || esc[6] != '\\' || esc[7] != 'u' {
		return 0, 0
	}
	r = utf16.DecodeRune(r, hexRune(esc[6:]))
	if r == utf8.RuneError {
		return 0, 0
	}
	return r, 12
}

func hexRune(esc []byte) rune {
	n, _ := strconv.ParseUint(string(esc[2:6]), 16, 32) // the digits were checked
	return rune(n)
}
