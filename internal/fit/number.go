package fit

import (
	"cmp"
	"math/bits"
)

const (
	// maxExponent and maxNumberSize bound what is read at all. The validator
	// cannot read exponents much larger, and takes long for many digits.
	maxExponent   = 999
	maxNumberSize = 500 // bytes
	// maxFloatExponent is the exponent up to which every coefficient makes a
	// number that a float64 can hold, so that callers can decode it.
	maxFloatExponent = 288
	// maxPower is the exponent of the largest power of ten in a uint64.
	maxPower = 19
)

// decimal is a number exactly as written: ±coef × 10^exp.
type decimal struct {
	coef    uint64
	exp     int
	digits  int  // of coef; 0 when coef is 0
	neg     bool // may be set on a zero
	full    bool // coef has no room for the digits that came next
	inexact bool // and some of them were not zero
	plain   bool // written without point and exponent
}

// parseDecimal reads a whole string as a JSON number. It reports false when s
// is not one, or has more digits or a larger exponent than a decimal holds.
func parseDecimal(s string) (decimal, bool) {
	d, end := scanNumber([]byte(s), 0)
	return d, end == len(s) && end > 0 && !d.inexact
}

// scanNumber reads the JSON number at data[i:] and returns the position after
// it, or -1 when there is none or it is out of bounds.
func scanNumber(data []byte, i int) (d decimal, end int) {
	first := i
	d.plain = true
	if i < len(data) && data[i] == '-' {
		d.neg = true
		i++
	}
	start := i
	i = d.digitsAt(data, i)
	if i == start || data[start] == '0' && i > start+1 {
		return d, -1
	}
	if i < len(data) && data[i] == '.' {
		d.plain = false
		start = i + 1
		i = d.digitsAt(data, start)
		if i == start {
			return d, -1
		}
		d.exp += start - i
	}
	if i < len(data) && data[i]|0x20 == 'e' {
		d.plain = false
		i = d.exponentAt(data, i+1)
	}
	if i-first > maxNumberSize {
		return d, -1
	}
	return d, i
}

// digitsAt appends the digits at data[i:] to the coefficient. Zeros for which
// the coefficient has no room raise the exponent instead.
func (d *decimal) digitsAt(data []byte, i int) int {
	coef, digits := d.coef, d.digits
	for ; i < len(data) && data[i]-'0' <= 9; i++ {
		digit := uint64(data[i] - '0')
		if digits >= maxPower && (d.full || overflows(coef, digit)) {
			d.full = true
			d.inexact = d.inexact || digit != 0
			d.exp++
			continue
		}
		coef = coef*10 + digit
		if coef != 0 {
			digits++
		}
	}
	d.coef, d.digits = coef, digits
	return i
}

// overflows reports whether a coefficient has no room for one more digit.
func overflows(coef, digit uint64) bool {
	hi, lo := bits.Mul64(coef, 10)
	_, carry := bits.Add64(lo, digit, 0)
	return hi|carry != 0
}

// exponentAt adds the exponent at data[i:], after the letter, to d.exp. It
// returns the position after it or -1.
func (d *decimal) exponentAt(data []byte, i int) int {
	sign := 1
	if i < len(data) && (data[i] == '+' || data[i] == '-') {
		if data[i] == '-' {
			sign = -1
		}
		i++
	}
	start, exp := i, 0
	for i < len(data) && data[i]-'0' <= 9 {
		exp = exp*10 + int(data[i]-'0')
		if exp > maxExponent {
			return -1
		}
		i++
	}
	if i == start {
		return -1
	}
	d.exp += sign * exp
	return i
}

func (d *decimal) sign() int {
	switch {
	case d.coef == 0:
		return 0
	case d.neg:
		return -1
	default:
		return 1
	}
}

// isInteger reports whether d certainly has no fraction.
func (d *decimal) isInteger() bool {
	switch {
	case d.plain:
		return true
	case d.inexact:
		return false
	case d.exp >= 0 || d.coef == 0:
		return true
	default:
		return -d.exp <= maxPower && d.coef%pow10(-d.exp) == 0
	}
}

// compare orders two exact decimals by value.
func compare(a, b *decimal) int {
	sign := a.sign()
	if other := b.sign(); sign != other || sign == 0 {
		return cmp.Compare(sign, other)
	}
	return sign * compareSizes(a, b)
}

// compareSizes orders two decimals that are not zero, regardless of sign.
func compareSizes(a, b *decimal) int {
	if a.exp == b.exp {
		return cmp.Compare(a.coef, b.coef)
	}
	// The powers of the first digits decide, unless they are equal. Then the
	// exponents differ by as much as the counts of digits do, at most 19.
	if order := cmp.Compare(a.digits+a.exp, b.digits+b.exp); order != 0 {
		return order
	}
	if a.exp < b.exp {
		return -compareSizes(b, a)
	}
	hi, lo := bits.Mul64(a.coef, pow10(a.exp-b.exp))
	if hi != 0 {
		return 1
	}
	return cmp.Compare(lo, b.coef)
}

// isMultiple reports whether v is certainly a multiple of m, which is not zero.
func isMultiple(v, m *decimal) bool {
	if v.coef == 0 {
		return true
	}
	exp := min(v.exp, m.exp)
	a, ok := v.scaled(exp)
	b, ok2 := m.scaled(exp)
	return ok && ok2 && a%b == 0
}

// scaled returns the coefficient that d has at a lower exponent.
func (d *decimal) scaled(exp int) (coef uint64, ok bool) {
	if d.exp-exp > maxPower {
		return 0, false
	}
	hi, lo := bits.Mul64(d.coef, pow10(d.exp-exp))
	return lo, hi == 0
}

// pow10 returns 10^n for n from 0 to maxPower.
func pow10(n int) uint64 {
	p := uint64(1)
	for range n {
		p *= 10
	}
	return p
}
