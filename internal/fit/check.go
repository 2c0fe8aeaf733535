package fit

// checker walks one text. Its methods consume what they accept; after one has
// returned false the position means nothing and the walk is over.
type checker struct {
	data  []byte
	pos   int
	depth int

	// keys are the undeclared keys of the objects that are open now, the
	// innermost last. An array, so that the checker stays on the stack.
	keys  [maxOpenKeys]span
	nkeys int
}

// span is a range of data.
type span struct{ start, end int32 }

// value consumes one value and reports whether it fits n.
func (c *checker) value(n *node) bool {
	b := c.next()
	if n.union != nil {
		if n = n.pick(kindOf(b)); n == nil {
			return false
		}
	}
	switch b {
	case '"':
		return n.kinds&kindString != 0 && c.str(n.str)
	case '{':
		return n.kinds&kindObject != 0 && c.object(n.object)
	case '[':
		return n.kinds&kindArray != 0 && c.array(n.array)
	case 't':
		return n.kinds&kindTrue != 0 && c.literal("true")
	case 'f':
		return n.kinds&kindFalse != 0 && c.literal("false")
	case 'n':
		return n.kinds&kindNull != 0 && c.literal("null")
	default:
		return n.kinds&kindNumber != 0 && c.number(n)
	}
}

// kindOf returns the kinds of values that begin with b.
func kindOf(b byte) kinds {
	switch b {
	case '"':
		return kindString
	case '{':
		return kindObject
	case '[':
		return kindArray
	case 't':
		return kindTrue
	case 'f':
		return kindFalse
	case 'n':
		return kindNull
	default:
		return kindNumber
	}
}

func (c *checker) str(r *stringRule) bool {
	s, ok := c.text()
	return ok && (r == nil || r.fits(s))
}

func (c *checker) number(n *node) bool {
	d, end := scanNumber(c.data, c.pos)
	if end < 0 || d.exp > maxFloatExponent {
		return false
	}
	c.pos = end
	if n.kinds&kindFraction == 0 && !d.isInteger() {
		return false
	}
	return n.num == nil || n.num.fits(&d)
}

func (c *checker) array(r *arrayRule) bool {
	if !c.open() {
		return false
	}
	if c.next() == ']' {
		return c.close() && r.min == 0
	}
	for n := 1; n <= r.max; n++ {
		if !c.value(r.items) {
			return false
		}
		switch c.next() {
		case ',':
			c.pos++
		case ']':
			return c.close() && n >= r.min
		default:
			return false
		}
	}
	return false
}

func (c *checker) object(r *objectRule) bool {
	if !c.open() {
		return false
	}
	var seen bitset
	base := c.nkeys
	if c.next() == '}' {
		return c.close() && r.min == 0 && seen.covers(&r.required)
	}
	for n := 1; n <= r.max; n++ {
		if !c.member(r, &seen, base) {
			return false
		}
		switch c.next() {
		case ',':
			c.pos++
		case '}':
			c.nkeys = base
			return c.close() && n >= r.min && seen.covers(&r.required)
		default:
			return false
		}
	}
	return false
}

// open consumes the bracket that begins an array or object.
func (c *checker) open() bool {
	c.pos++
	c.depth++
	return c.depth <= maxDepth
}

// close consumes the bracket that ends an array or object.
func (c *checker) close() bool {
	c.pos++
	c.depth--
	return true
}

// member consumes one key and its value. The undeclared keys of the object
// begin at base in c.keys.
func (c *checker) member(r *objectRule, seen *bitset, base int) bool {
	if c.next() != '"' {
		return false
	}
	key, ok := c.text()
	if !ok || c.next() != ':' {
		return false
	}
	c.pos++
	i := c.find(r, key)
	if i < 0 {
		return c.addKey(r, key, base) && c.value(r.additional)
	}
	if seen.has(i) {
		return false
	}
	seen.add(i)
	return c.value(r.props[i].schema)
}

// find returns the position of a key token among the declared names, or -1.
func (c *checker) find(r *objectRule, key text) int {
	if !key.escaped {
		return r.find(key.raw)
	}
	var buf [64]byte
	return r.find(appendUnescaped(buf[:0], key.raw))
}

// addKey notes an undeclared key. It reports false for one that the object has
// already, that resembles a declared name, or that is not cheap to compare.
func (c *checker) addKey(r *objectRule, key text, base int) bool {
	if key.escaped || c.nkeys == len(c.keys) || r.resembles(key.raw) {
		return false
	}
	for _, k := range c.keys[base:c.nkeys] {
		if string(c.data[k.start:k.end]) == string(key.raw) {
			return false
		}
	}
	c.keys[c.nkeys] = span{int32(key.at), int32(key.at + len(key.raw))}
	c.nkeys++
	return true
}
