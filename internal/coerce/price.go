package coerce

import (
	"math"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// The validator decides a value again for each way that leads to it. With a
// schema whose branches all lead back to it, such as one of expressions, that
// doubles at each level of the data. The price of a validation is about how
// many schemas it goes through, found out without doing that.

const (
	maxPriced      = 10_000 // nested arrays and objects, as many as encoding/json takes
	textsPerSchema = 16     // strings that are compared at the price of one schema
)

// pricer knows the price of what was asked before.
type pricer struct {
	bits    bits
	scalars map[*jsonschema.Schema]int
	known   map[place]int
}

// Affordable reports whether sch.Validate decides data in bounded time. It is
// false for data that is no JSON, nests deeper than 10,000 levels, or that
// Coerce does not mend because of its numbers or its keys. Asking takes time in proportion to the size of data.
func Affordable(sch *jsonschema.Schema, data []byte) bool {
	n, ok := parse(data, maxDepth-maxPriced)
	return ok && newRun(sch).canValidate(n)
}

// canValidate reports whether the validator may be asked about the whole.
func (r *run) canValidate(n *node) bool {
	return r.price(r.root, n) <= workAtLeast+workPerValue*int(n.size)
}

// price is what s.Validate costs for n, counted in schemas. It stops counting
// far above what may be spent.
func (p *pricer) price(s *jsonschema.Schema, n *node) int {
	if s == nil || s.Bool != nil {
		return 1
	}
	if n.inside == nil {
		return p.scalar(s)
	}
	if !p.bits.takes(s.Types, n.kind) {
		return 1
	}
	at := place{s, n}
	if price, ok := p.known[at]; ok {
		return price
	}
	p.known[at] = 1 // a schema that refers to itself ends there
	price := 1 + enumPrice(s)
	for _, sub := range applied(s) {
		price = add(price, p.price(sub, n))
	}
	for i := range n.members {
		price = add(price, p.member(s, &n.members[i]))
	}
	for i, item := range n.items {
		sub, additional := itemSchema(s, i)
		price = add(price, p.price(sub, item))
		for _, sub := range appendHeld(nil, additional) {
			price = add(price, p.price(sub, item))
		}
		price = add(price, add(p.price(s.Contains, item), p.price(s.UnevaluatedItems, item)))
	}
	p.known[at] = price
	return price
}

func (p *pricer) member(s *jsonschema.Schema, m *member) int {
	price := add(p.price(s.UnevaluatedProperties, m.val), p.scalar(s.PropertyNames))
	for _, sub := range memberSchemas(s, m.key, s.Properties[string(m.key)]) {
		price = add(price, p.price(sub, m.val))
	}
	return price
}

// scalar is the price for the values that have nothing inside.
func (p *pricer) scalar(s *jsonschema.Schema) int {
	if s == nil || s.Bool != nil {
		return 1
	}
	if price, ok := p.scalars[s]; ok {
		return price
	}
	p.scalars[s] = 1
	price := 1 + enumPrice(s)
	for _, sub := range applied(s) {
		price = add(price, p.scalar(sub))
	}
	p.scalars[s] = price
	return price
}

// enumPrice is the price of comparing a value with all members of the enum.
// Numbers are compared exactly, which takes longer than to compare strings.
func enumPrice(s *jsonschema.Schema) int {
	if s.Enum == nil {
		return 0
	}
	texts := 0
	for _, v := range s.Enum.Values {
		if isText(v) {
			texts++
		}
	}
	return len(s.Enum.Values) - texts + texts/textsPerSchema
}

// add adds without overflow.
func add(a, b int) int { return min(a+b, math.MaxInt/4) }
