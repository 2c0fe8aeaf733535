package partialjson

import (
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// beginString goes on behind an opening quote.
func (p *Parser) beginString(key bool) {
	p.token.begin()
	p.isKey, p.state = key, inString
	p.stale = p.stale || !key
}

// readString reads plain text, or one byte that is not.
func (p *Parser) readString(text string) int {
	if p.cut != "" {
		if !utf8.RuneStart(text[0]) {
			p.addCut(p.cut + text[:1])
			return 1
		}
		p.flush()
	}
	if n := plain(text); n > 0 {
		p.flush()
		p.addText(text[:n])
		return n
	}
	switch c := text[0]; c {
	case '"':
		p.flush()
		p.endString()
	case '\\':
		p.state = inEscape
	default:
		return p.unexpected(c)
	}
	return 1
}

// plain is the length of the text before a quote, a backslash or a control character.
func plain(text string) int {
	for i := range len(text) {
		if c := text[i]; c == '"' || c == '\\' || c < ' ' {
			return i
		}
	}
	return len(text)
}

func (p *Parser) endString() {
	if p.isKey {
		p.stack[len(p.stack)-1].key = p.token.String()
		p.state = wantColon
		return
	}
	p.put(Value{kind: String, text: p.token.String()})
}

// flush adds what was held back in the hope of more.
func (p *Parser) flush() {
	for range len(p.cut) {
		p.token.addRune(utf8.RuneError)
	}
	if p.half != 0 {
		p.token.addRune(utf8.RuneError)
	}
	p.cut, p.half = "", 0
}

// addText adds text in which there is no escape.
func (p *Parser) addText(text string) {
	if utf8.ValidString(text) {
		p.token.add(text)
		return
	}
	p.addCut(text)
}

// addCut adds text, each byte in it that is no UTF-8 replaced, and holds back a
// sequence that is cut at its end.
func (p *Parser) addCut(text string) {
	p.cut = ""
	for text != "" {
		if !utf8.FullRuneInString(text) {
			p.cut = text
			return
		}
		r, n := utf8.DecodeRuneInString(text)
		p.token.addRune(r)
		text = text[n:]
	}
}

// readEscape reads the byte behind a backslash.
func (p *Parser) readEscape(c byte) int {
	if c == 'u' {
		p.state, p.hex, p.digits = inHex, 0, 0
		return 1
	}
	i := strings.IndexByte(`"\/bfnrt`, c)
	if i < 0 {
		return p.unexpected(c)
	}
	p.flush()
	p.token.add("\"\\/\b\f\n\r\t"[i : i+1])
	p.state = inString
	return 1
}

// readHex reads a digit of a \u escape.
func (p *Parser) readHex(c byte) int {
	digit := strings.IndexByte("0123456789abcdef", c|0x20)
	if digit < 0 || c < '0' {
		return p.unexpected(c)
	}
	p.hex = p.hex<<4 | rune(digit)
	if p.digits++; p.digits == 4 {
		p.addEscaped(p.hex)
		p.state = inString
	}
	return 1
}

// addEscaped adds what a \u escape stands for. Half of a surrogate pair waits for
// the other.
func (p *Parser) addEscaped(r rune) {
	if pair := utf16.DecodeRune(p.half, r); pair != utf8.RuneError {
		p.half = 0
		p.token.addRune(pair)
		return
	}
	p.flush()
	if utf16.IsSurrogate(r) {
		p.half = r
		return
	}
	p.token.addRune(r)
}
