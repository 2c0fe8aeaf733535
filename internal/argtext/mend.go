package argtext

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// mender reads one value and, where that needs mending, writes it anew. Its
// methods consume what they accept; when one returns false, err says why.
type mender struct {
	*reader
	span
	pos   int
	depth int
	err   *Error

	// out is the mended text of what lies before copied. It is empty while
	// there was nothing to mend.
	out    []byte
	copied int
}

// taken returns the mended text from start, where the mender began, to pos.
func (m *mender) taken(start int) []byte {
	if m.out == nil {
		return []byte(m.span.text[start:m.pos])
	}
	return append(m.out, m.span.text[m.copied:m.pos]...)
}

// replace puts with in place of the text from start to end. Replacements are
// made in order.
func (m *mender) replace(rule string, start, end int, with string) {
	m.note(rule)
	if m.out == nil {
		m.out = make([]byte, 0, m.end-m.copied+16)
	}
	m.out = append(m.out, m.span.text[m.copied:start]...)
	m.out = append(m.out, with...)
	m.copied = end
}

// peek returns the byte at pos, or 0 at the end.
func (m *mender) peek() byte {
	if m.pos < m.end {
		return m.span.text[m.pos]
	}
	return 0
}

// next skips white space and returns the byte there, or 0 at the end.
func (m *mender) next() byte {
	for m.pos < m.end {
		switch b := m.span.text[m.pos]; b {
		case ' ', '\t', '\r', '\n':
			m.pos++
		default:
			return b
		}
	}
	return 0
}

// unexpected fails at pos, where something else was due.
func (m *mender) unexpected(due string) bool {
	if m.pos >= m.end {
		m.err = m.problem(m.end, "the text is cut off: expected "+due)
		return false
	}
	r, _ := utf8.DecodeRuneInString(m.span.text[m.pos:m.end])
	m.err = m.problem(m.pos, fmt.Sprintf("unexpected %q, expected %s", r, due))
	return false
}

func (m *mender) value() bool {
	switch b := m.next(); {
	case b == '{':
		return m.object()
	case b == '[':
		return m.array()
	case b == '"', b == '\'' && m.probable:
		return m.quoted()
	case b == '-', isDigit(b):
		return m.number()
	default:
		return m.literal()
	}
}

func (m *mender) object() bool {
	if !m.open() {
		return false
	}
	if m.next() == '}' {
		return m.close()
	}
	for {
		if !m.key() {
			return false
		}
		if m.next() != ':' {
			return m.unexpected("a colon")
		}
		m.pos++
		if !m.value() {
			return false
		}
		if more, ok := m.separator('}'); !more {
			return ok
		}
	}
}

func (m *mender) array() bool {
	if !m.open() {
		return false
	}
	if m.next() == ']' {
		return m.close()
	}
	for {
		if !m.value() {
			return false
		}
		if more, ok := m.separator(']'); !more {
			return ok
		}
	}
}

func (m *mender) open() bool {
	m.pos++
	m.depth++
	if m.depth > maxNesting {
		m.err = m.problem(m.pos-1, fmt.Sprintf("more than %d arrays and objects inside each other", maxNesting))
		return false
	}
	return true
}

func (m *mender) close() bool {
	m.pos++
	m.depth--
	return true
}

// separator consumes a comma, or the bracket that closes. More reports that
// another member or element is due; otherwise ok reports that the bracket was
// there.
func (m *mender) separator(closing byte) (more, ok bool) {
	switch m.next() {
	case closing:
		return false, m.close()
	case ',':
		comma := m.pos
		m.pos++
		if m.probable && m.next() == closing {
			m.replace(ruleComma, comma, comma+1, "")
			return false, m.close()
		}
		return true, true
	default:
		return false, m.unexpected("a comma or " + string(rune(closing)))
	}
}

func (m *mender) key() bool {
	b := m.next()
	if b == '"' || b == '\'' && m.probable {
		return m.quoted()
	}
	start, end := m.pos, m.pos
	for m.probable && end < m.end && isName(m.span.text[end], end > start) {
		end++
	}
	switch m.span.text[start:end] {
	case "", "true", "false", "null", "True", "False", "None":
		return m.unexpected("a key in quotes")
	}
	m.replace(ruleKey, start, start, `"`)
	m.replace(ruleKey, end, end, `"`)
	m.pos = end
	return true
}

// isName reports whether an unquoted key may have b, as its first byte or, if
// later, behind that.
func isName(b byte, later bool) bool {
	return isLetter(b) || b == '_' || b == '$' || later && (isDigit(b) || b == '-')
}

func (m *mender) literal() bool {
	for _, word := range []string{"true", "false", "null"} {
		if m.word(word) {
			m.pos += len(word)
			return true
		}
	}
	for _, python := range []string{"True", "False", "None"} {
		if !m.probable || !m.word(python) {
			continue
		}
		json := strings.ToLower(python)
		if python == "None" {
			json = "null"
		}
		m.replace(rulePython, m.pos, m.pos+len(python), json)
		m.pos += len(python)
		return true
	}
	return m.unexpected("a JSON value")
}

// word reports whether the text goes on with word. What follows it is left to
// the caller, who takes only brackets and commas.
func (m *mender) word(word string) bool {
	return strings.HasPrefix(m.span.text[m.pos:m.end], word)
}

func (m *mender) number() bool {
	if m.peek() == '-' {
		m.pos++
	}
	if m.peek() == '0' {
		m.pos++
	} else if !m.digits() {
		return false
	}
	if m.peek() == '.' {
		m.pos++
		if !m.digits() {
			return false
		}
	}
	if m.peek()|0x20 == 'e' {
		m.pos++
		if b := m.peek(); b == '+' || b == '-' {
			m.pos++
		}
		return m.digits()
	}
	return true
}

// digits consumes at least one digit.
func (m *mender) digits() bool {
	start := m.pos
	for isDigit(m.peek()) {
		m.pos++
	}
	return m.pos > start || m.unexpected("a digit")
}
