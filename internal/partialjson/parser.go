// Package partialjson reads a JSON text while it arrives, and shows at any time
// what can be told of its value.
//
// A value is shown as far as it can't become another one:
//
//   - A string grows from its opening quote on. An escape, a surrogate pair or a
//     UTF-8 sequence that is cut is held back until the rest of it is there.
//   - A number is shown when a byte behind it, or at the top level the end of the
//     text, says that it is over; true, false and null when their last letter is there.
//   - An array or object is shown from its bracket on. It holds the values that are
//     shown; a key is shown together with its value.
//   - What is open more than 64 containers deep is held back until the container
//     at that depth is closed.
//
// Hence every value shown is a beginning of the final one, with one exception: of
// a key given twice the last value counts, from when it is first shown.
//
// A whole text gives what encoding/json makes of it with UseNumber: lone
// surrogates and bytes that are no UTF-8 become U+FFFD, and what encoding/json
// refuses, nesting of more than 10,000 containers included, is a fault.
package partialjson

import "fmt"

const (
	maxDepth   = 10_000 // of the text; that of encoding/json
	shownDepth = 64     // of open containers in a Value, which bounds what taking one costs
)

// Parser takes the text of one JSON value in pieces, which may be cut anywhere.
// n bytes cost O(n) time and memory. It belongs to one goroutine; the values it
// shows do not. The zero value is ready.
type Parser struct {
	state  state
	offset int
	fault  *Error
	stack  []frame // the open containers
	root   Value   // the whole, once it is complete
	shown  Value   // what Value returned, but for the growing string
	stale  bool    // shown is out of date

	token  token  // the text of a string, key or number so far
	isKey  bool   // the string is a key
	cut    string // the beginning of a UTF-8 sequence
	half   rune   // of a surrogate pair; 0 means none
	hex    rune   // of a \u escape so far
	digits int    // of it
	number number // where in a number we are
	word   string // true, false or null
	rest   string // what is still to come of it
}

// frame is an open container.
type frame struct {
	body
	kind Kind
	key  string // of the member whose value comes next; "" in an array
}

// state is what the parser expects.
type state uint8

const (
	wantValue state = iota
	wantFirstValue
	wantKey
	wantFirstKey
	wantColon
	wantComma
	wantNothing
	inString
	inEscape
	inHex
	inNumber
	inLiteral
)

// Error is a fault in the text. Nothing behind it is read.
type Error struct {
	// Offset is how many bytes came before it.
	Offset int
	// Problem says what was expected and what came.
	Problem string
}

// Error implements error.
func (e *Error) Error() string { return fmt.Sprintf("at byte %d: %s", e.Offset, e.Problem) }

// Feed takes the next piece of the text. The error is that of Err.
func (p *Parser) Feed(text string) error {
	for len(text) > 0 && p.fault == nil {
		n := p.step(text)
		p.offset += n
		text = text[n:]
	}
	return p.Err()
}

// End says that the text is over. It is an error unless the value is complete.
// Nothing may be fed afterwards.
func (p *Parser) End() error {
	if p.fault == nil && p.state == inNumber && len(p.stack) == 0 && p.number.whole() {
		p.put(Value{kind: Number, text: p.token.String()})
	}
	if p.fault == nil && p.state != wantNothing {
		p.fail("the end of the text")
	}
	return p.Err()
}

// Err is the first fault, an *Error, or nil.
func (p *Parser) Err() error {
	if p.fault == nil {
		return nil
	}
	return p.fault
}

// Value is what can be told so far. It never changes, and may be read by any
// goroutine while the parser goes on. Taking it costs O(1) while a string
// grows, else O(open containers), of which there are at most 64.
func (p *Parser) Value() Value {
	if p.stale {
		p.shown, p.stale = p.show(), false
	}
	v := p.shown
	if v.open {
		v.text = p.token.String() // counts only where a string grows
	}
	return v
}

// show makes a view of the open containers, from the innermost out.
func (p *Parser) show() Value {
	depth := min(len(p.stack), shownDepth)
	child := p.root
	if p.growsString() && len(p.stack) <= shownDepth {
		child = Value{kind: String, open: true}
	}
	levels := make([]struct {
		body
		last member
	}, depth)
	for i := depth - 1; i >= 0; i-- {
		l, f := &levels[i], &p.stack[i]
		l.body = f.body
		if child.kind != None {
			l.last = member{f.key, child}
			l.tail = &l.last
		}
		child = Value{kind: f.kind, open: true, body: &l.body}
	}
	return child
}

// growsString reports whether a string is being read that is not a key.
func (p *Parser) growsString() bool {
	return (p.state == inString || p.state == inEscape || p.state == inHex) && !p.isKey
}

// step reads from the head of the text and returns how many bytes it took. It is
// zero only where the state has changed.
func (p *Parser) step(text string) int {
	switch p.state {
	case inString:
		return p.readString(text)
	case inEscape:
		return p.readEscape(text[0])
	case inHex:
		return p.readHex(text[0])
	case inNumber:
		return p.readNumber(text)
	case inLiteral:
		return p.readLiteral(text[0])
	}
	n := 0
	for n < len(text) && isSpace(text[n]) {
		n++
	}
	if n > 0 {
		return n
	}
	return p.structure(text[0])
}

func isSpace(c byte) bool { return c == ' ' || c == '\n' || c == '\t' || c == '\r' }

// structure reads a byte between the scalars, or the first of one.
func (p *Parser) structure(c byte) int {
	switch p.state {
	case wantValue:
		return p.begin(c)
	case wantFirstValue:
		if c != ']' {
			return p.begin(c)
		}
		p.pop()
		return 1
	case wantKey, wantFirstKey:
		switch {
		case c == '"':
			p.beginString(true)
			return 1
		case c == '}' && p.state == wantFirstKey:
			p.pop()
			return 1
		}
	case wantColon:
		if c == ':' {
			p.state = wantValue
			return 1
		}
	case wantComma:
		return p.separate(c)
	}
	return p.unexpected(c)
}

// separate reads what stands behind a value in a container.
func (p *Parser) separate(c byte) int {
	object := p.stack[len(p.stack)-1].kind == Object
	switch {
	case c == ',' && object:
		p.state = wantKey
	case c == ',':
		p.state = wantValue
	case c == '}' && object, c == ']' && !object:
		p.pop()
	default:
		return p.unexpected(c)
	}
	return 1
}

// begin reads the first byte of a value.
func (p *Parser) begin(c byte) int {
	switch c {
	case '"':
		p.beginString(false)
	case '{':
		return p.push(Object, wantFirstKey)
	case '[':
		return p.push(Array, wantFirstValue)
	case 't':
		return p.beginLiteral("true")
	case 'f':
		return p.beginLiteral("false")
	case 'n':
		return p.beginLiteral("null")
	default:
		return p.beginNumber(c)
	}
	return 1
}

func (p *Parser) push(kind Kind, next state) int {
	if len(p.stack) == maxDepth {
		p.fault = &Error{p.offset, fmt.Sprintf("more than %d containers are open", maxDepth)}
		return 0
	}
	p.stack = append(p.stack, frame{kind: kind})
	p.state, p.stale = next, true
	return 1
}

// pop closes the innermost container.
func (p *Parser) pop() {
	last := len(p.stack) - 1
	f := &p.stack[last]
	b := f.body
	v := Value{kind: f.kind, body: &b}
	*f = frame{}
	p.stack = p.stack[:last]
	p.put(v)
}

// put adds a complete value to the innermost container.
func (p *Parser) put(v Value) {
	p.stale = true
	if len(p.stack) == 0 {
		p.root, p.state = v, wantNothing
		return
	}
	f := &p.stack[len(p.stack)-1]
	f.add(member{f.key, v}, f.kind == Object)
	p.state = wantComma
}

// unexpected is the fault that a byte does not belong where it stands.
func (p *Parser) unexpected(c byte) int {
	p.fail(fmt.Sprintf("%q", []byte{c}))
	return 0
}

func (p *Parser) fail(got string) {
	p.fault = &Error{p.offset, fmt.Sprintf("expected %s, got %s", p.expected(), got)}
}

func (p *Parser) expected() string {
	switch p.state {
	case wantFirstValue:
		return "a value or ']'"
	case wantKey:
		return "a key"
	case wantFirstKey:
		return "a key or '}'"
	case wantColon:
		return "':'"
	case wantComma:
		return "',' or a closing bracket"
	case wantNothing:
		return "nothing more"
	case inString:
		return "the rest of a string"
	case inEscape:
		return "an escape"
	case inHex:
		return "a hexadecimal digit"
	case inNumber:
		return "the rest of a number"
	case inLiteral:
		return fmt.Sprintf("%q", p.rest)
	}
	return "a value"
}
