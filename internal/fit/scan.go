package fit

import (
	"encoding/binary"
	"math/bits"
	"unicode/utf16"
	"unicode/utf8"
)

// next skips white space and returns the byte there, or 0 at the end. A zero
// byte in the text is no token either, so the two need not be told apart.
func (c *checker) next() byte {
	for c.pos < len(c.data) {
		b := c.data[c.pos]
		if b != ' ' && b != '\n' && b != '\t' && b != '\r' {
			return b
		}
		c.pos++
	}
	return 0
}

// literal consumes word, one of true, false and null.
func (c *checker) literal(word string) bool {
	end := c.pos + len(word)
	if end > len(c.data) || string(c.data[c.pos:end]) != word {
		return false
	}
	c.pos = end
	return true
}

// text consumes the string token at c.pos, which is a quote. It reports false
// for a bad token, invalid UTF-8, or half a surrogate pair.
func (c *checker) text() (s text, ok bool) {
	start := c.pos + 1
	i := start
	for {
		i = plainEnd(c.data, i)
		if i >= len(c.data) {
			return s, false
		}
		switch b := c.data[i]; {
		case b == '"':
			s.raw, s.at = c.data[start:i], start
			c.pos = i + 1
			return s, true
		case b == '\\':
			s.escaped = true
			i = escapeEnd(c.data, i)
		case b >= utf8.RuneSelf:
			s.wide = true
			i = wideEnd(c.data, i)
		default:
			return s, false
		}
		if i < 0 {
			return s, false
		}
	}
}

// plainEnd returns the position of the first byte at or after i that is a
// quote, a backslash, a control character or not ASCII; or len(data).
func plainEnd(data []byte, i int) int {
	for ; i+8 <= len(data); i += 8 {
		if m := specials(binary.LittleEndian.Uint64(data[i:])); m != 0 {
			return i + bits.TrailingZeros64(m)/8
		}
	}
	for i < len(data) {
		if b := data[i]; b == '"' || b == '\\' || b < ' ' || b >= utf8.RuneSelf {
			break
		}
		i++
	}
	return i
}

// specials sets the high bit of each byte that ends a plain run. Bits above
// the lowest one set may be wrong: a subtraction borrows from its neighbour.
func specials(w uint64) uint64 {
	const ones, highs = 0x0101010101010101, 0x8080808080808080
	quote := w ^ ones*'"'
	slash := w ^ ones*'\\'
	return ((quote-ones)&^quote | (slash-ones)&^slash | (w-ones*' ')&^w | w) & highs
}

// wideEnd returns the position after the run of runes beyond ASCII at i, or -1
// when it is not valid UTF-8.
func wideEnd(data []byte, i int) int {
	for i < len(data) && data[i] >= utf8.RuneSelf {
		r, size := utf8.DecodeRune(data[i:])
		if r == utf8.RuneError && size == 1 {
			return -1
		}
		i += size
	}
	return i
}

// escapeEnd returns the position after the escape at i, where the backslash
// is; -1 for a bad one. A surrogate pair is one escape.
func escapeEnd(data []byte, i int) int {
	if i+1 >= len(data) {
		return -1
	}
	switch data[i+1] {
	case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
		return i + 2
	case 'u':
		_, end := unicodeEscape(data, i)
		return end
	default:
		return -1
	}
}

// unicodeEscape decodes the \u escape at i, with the one after it when they
// are a surrogate pair. The end is -1 when it is malformed or half a pair.
func unicodeEscape(data []byte, i int) (r rune, end int) {
	r, ok := hex4(data, i)
	if !ok {
		return 0, -1
	}
	if !utf16.IsSurrogate(r) {
		return r, i + 6
	}
	low, ok := hex4(data, i+6)
	r = utf16.DecodeRune(r, low)
	if !ok || r == utf8.RuneError {
		return 0, -1
	}
	return r, i + 12
}

// hex4 reads the form \uXXXX at i.
func hex4(data []byte, i int) (r rune, ok bool) {
	if i+6 > len(data) || data[i] != '\\' || data[i+1] != 'u' {
		return 0, false
	}
	for _, b := range data[i+2 : i+6] {
		switch {
		case b-'0' <= 9:
			b -= '0'
		case b|0x20 >= 'a' && b|0x20 <= 'f':
			b = (b | 0x20) - 'a' + 10
		default:
			return 0, false
		}
		r = r<<4 | rune(b)
	}
	return r, true
}

// escapedRunes counts the code points that a valid string token stands for.
func escapedRunes(raw []byte) int {
	n := 0
	for i := 0; i < len(raw); n++ {
		if raw[i] == '\\' {
			i = escapeEnd(raw, i)
			continue
		}
		_, size := utf8.DecodeRune(raw[i:])
		i += size
	}
	return n
}

// appendUnescaped appends what a valid string token stands for to dst.
func appendUnescaped(dst, raw []byte) []byte {
	for i := 0; i < len(raw); {
		switch {
		case raw[i] != '\\':
			dst = append(dst, raw[i])
			i++
		case raw[i+1] == 'u':
			r, end := unicodeEscape(raw, i)
			dst = utf8.AppendRune(dst, r)
			i = end
		default:
			dst = append(dst, unescapedByte(raw[i+1]))
			i += 2
		}
	}
	return dst
}

// unescapedByte returns what a backslash and b stand for.
func unescapedByte(b byte) byte {
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
