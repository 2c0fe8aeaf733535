package coerce

import (
	"github.com/santhosh-tekuri/jsonschema/v6"
)

// rank orders the readings of a value: the lower, the less is changed. Between
// two readings of one rank that differ nothing decides.
type rank uint8

const (
	rankAsSent rank = iota
	rankScalar      // a scalar is read as one of another kind, or a null left out
	rankText        // a string is read as the JSON in it
	rankLone        // a lone value is read as an array of it
)

// outcome is a reading of a value. A nil node says that there is none.
type outcome struct {
	node *node
	rank rank
}

// manner restricts how a value is read.
type manner struct {
	noText bool // a string stays one, since one is allowed here
	noLone bool // no array is made of the value, which is a lone one already
}

// request asks for a reading of a value that fits a schema.
type request struct {
	place
	manner
}

// maxRounds is how often the parts of one schema are gone through until all
// of them agree about a value.
const maxRounds = 3

// at reads the value of a place in the data.
func (r *run) at(s *jsonschema.Schema, n *node, how manner) outcome {
	how.noText = n.kind == kindString && r.takesText(s)
	return r.mend(s, n, how)
}

// mend returns a reading of n that fits s.
func (r *run) mend(s *jsonschema.Schema, n *node, how manner) outcome {
	if r.fits(s, n) {
		return outcome{n, rankAsSent}
	}
	if s.Bool != nil || r.lost {
		return outcome{}
	}
	if c := convert(n); c != nil && r.fits(s, c) {
		return outcome{c, rankScalar}
	}
	if n.inside == nil && r.isScalar(s) {
		return outcome{}
	}
	req := request{place{s, n}, how}
	if o, ok := r.mends[req]; ok {
		return o
	}
	r.mends[req] = outcome{} // while it is being found: a schema that refers to itself adds nothing
	o := r.reconcile(s, n, how)
	r.mends[req] = o
	return o
}

// isScalar reports whether s says by itself that it has no arrays and objects,
// so that a scalar which fits no other way does not fit at all.
func (r *run) isScalar(s *jsonschema.Schema) bool {
	return !r.bits.takes(s.Types, kindArray) && !r.bits.takes(s.Types, kindObject)
}

// reconcile reads n by each part of s in turn, until it fits all of them.
func (r *run) reconcile(s *jsonschema.Schema, n *node, how manner) outcome {
	o := outcome{n, rankAsSent}
	for range maxRounds {
		before := o.node
		if !r.round(s, &o, how) || r.lost {
			return outcome{}
		}
		if r.fits(s, o.node) {
			return o
		}
		if o.node == before {
			break
		}
	}
	return outcome{}
}

// round reads o by each part of s once. It reports false when one has no
// reading.
func (r *run) round(s *jsonschema.Schema, o *outcome, how manner) bool {
	if s.Ref != nil && s.DraftVersion < 2019 {
		return o.then(r.mend(s.Ref, o.node, how))
	}
	if !o.then(r.own(s, o.node, how)) {
		return false
	}
	for _, sub := range conjuncts(s) {
		if !o.then(r.mend(sub, o.node, how)) {
			return false
		}
	}
	if len(s.AnyOf) > 0 && !o.then(r.choose(s.AnyOf, o.node, how)) {
		return false
	}
	if len(s.OneOf) > 0 && !o.then(r.choose(s.OneOf, o.node, how)) {
		return false
	}
	if sub := r.conditional(s, o.node); sub != nil && !o.then(r.mend(sub, o.node, how)) {
		return false
	}
	return r.dependents(s, o, how)
}

// then goes on from o with the reading of what it read.
func (o *outcome) then(next outcome) bool {
	o.node, o.rank = next.node, max(o.rank, next.rank)
	return o.node != nil
}

// conditional returns the schema that if chooses, or nil.
func (r *run) conditional(s *jsonschema.Schema, n *node) *jsonschema.Schema {
	switch {
	case s.If == nil:
		return nil
	case r.fits(s.If, n):
		return s.Then
	default:
		return s.Else
	}
}

// dependents reads an object by the schemas that its keys bring in.
func (r *run) dependents(s *jsonschema.Schema, o *outcome, how manner) bool {
	if o.node.kind != kindObject || len(s.Dependencies) == 0 && len(s.DependentSchemas) == 0 {
		return true
	}
	for _, m := range o.node.members {
		if sub, ok := s.Dependencies[string(m.key)].(*jsonschema.Schema); ok && !o.then(r.mend(sub, o.node, how)) {
			return false
		}
		if sub := s.DependentSchemas[string(m.key)]; sub != nil && !o.then(r.mend(sub, o.node, how)) {
			return false
		}
	}
	return true
}

// choose reads n by one of several schemas: one that it fits as it is, else
// the one that changes the least. Where two change as much in different ways
// there is no reading.
func (r *run) choose(subs []*jsonschema.Schema, n *node, how manner) outcome {
	if r.firstFit(subs, n) >= 0 {
		return outcome{n, rankAsSent}
	}
	var best readings
	for _, sub := range subs {
		best.add(r.mend(sub, n, how))
	}
	return best.outcome()
}

// readings collects readings of one value.
type readings struct {
	best outcome
	tied bool
}

func (b *readings) add(o outcome) {
	switch {
	case o.node == nil:
	case b.best.node == nil || o.rank < b.best.rank:
		b.best, b.tied = o, false
	case o.rank == b.best.rank && !same(o.node, b.best.node):
		b.tied = true
	}
}

func (b *readings) outcome() outcome {
	if b.tied {
		return outcome{}
	}
	return b.best
}
