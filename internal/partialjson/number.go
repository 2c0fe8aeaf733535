package partialjson

// number is where in a number the parser is.
type number uint8

const (
	numberStart number = iota
	numberMinus
	numberZero
	numberInteger
	numberPoint
	numberFraction
	numberE
	numberSign
	numberExponent
)

// whole reports whether the number may end here.
func (s number) whole() bool {
	return s == numberZero || s == numberInteger || s == numberFraction || s == numberExponent
}

// next is where a byte leads to. It is false where the byte does not go on with
// the number.
func (s number) next(c byte) (number, bool) {
	digit := '0' <= c && c <= '9'
	switch {
	case s == numberStart && c == '-':
		return numberMinus, true
	case s <= numberMinus && c == '0':
		return numberZero, true
	case s <= numberMinus:
		return numberInteger, digit
	case c == '.':
		return numberPoint, s == numberZero || s == numberInteger
	case c == 'e' || c == 'E':
		return numberE, s == numberZero || s == numberInteger || s == numberFraction
	case c == '+' || c == '-':
		return numberSign, s == numberE
	case s == numberInteger:
		return numberInteger, digit
	case s == numberPoint || s == numberFraction:
		return numberFraction, digit
	case s >= numberE:
		return numberExponent, digit
	}
	return s, false
}

func (p *Parser) beginNumber(c byte) int {
	if _, ok := numberStart.next(c); !ok {
		return p.unexpected(c)
	}
	p.token.begin()
	p.state, p.number = inNumber, numberStart
	return 0
}

// readNumber reads as much of a number as there is, and not the byte behind it.
func (p *Parser) readNumber(text string) int {
	n := 0
	for n < len(text) {
		next, ok := p.number.next(text[n])
		if !ok {
			break
		}
		p.number = next
		n++
	}
	switch {
	case n > 0:
		p.token.add(text[:n])
	case p.number.whole():
		p.put(Value{kind: Number, text: p.token.String()})
	default:
		p.unexpected(text[0])
	}
	return n
}

func (p *Parser) beginLiteral(word string) int {
	p.state, p.word, p.rest = inLiteral, word, word
	return 0
}

// readLiteral reads a byte of true, false or null.
func (p *Parser) readLiteral(c byte) int {
	if c != p.rest[0] {
		return p.unexpected(c)
	}
	if p.rest = p.rest[1:]; p.rest == "" {
		kind := Bool
		if p.word == "null" {
			kind = Null
		}
		p.put(Value{kind: kind, text: p.word})
	}
	return 1
}
