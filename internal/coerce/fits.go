package coerce

import (
	"github.com/santhosh-tekuri/jsonschema/v6"
)

// Work that one run may do: so much for each value and each byte, and so much
// in any case. To decide one keyword is work of about 1; so is to go through
// workBytes bytes of a text. Schemas of the usual kind need a small part of it.
const (
	workPerValue = 100
	workPerByte  = 16
	workAtLeast  = 1_000_000
	workBytes    = 8
)

// run is one call of Coerce. It knows the fit of each value that it has met
// for each schema, so that nothing is decided twice: the work is linear in the
// size of the data.
type run struct {
	pricer
	root *jsonschema.Schema
	left int // work that may still be done

	lost   bool // no more work may be done, or unsure
	unsure bool // what a value has to fit is not known here

	frames []place // what is being decided, innermost last
	cycles int     // how often a schema referred to itself for the same value
	fit    map[place]bool
	mends  map[request]outcome
	inner  map[*node]*node // JSON in strings
	bare   map[*jsonschema.Schema]*jsonschema.Schema
	text   map[*jsonschema.Schema]bool
	folds  map[*jsonschema.Schema]map[string]bool

	// isRelative is what relative returns; nil before it is asked for.
	isRelative *bool
}

// place is a value under a schema.
type place struct {
	schema *jsonschema.Schema
	node   *node
}

// verdict is whether a value fits a schema.
type verdict struct {
	schema *jsonschema.Schema
	fits   bool
}

func newRun(root *jsonschema.Schema) *run {
	return &run{
		pricer: pricer{
			bits: newBits(), scalars: make(map[*jsonschema.Schema]int), known: make(map[place]int),
		},
		root:  root,
		left:  workAtLeast,
		fit:   make(map[place]bool),
		mends: make(map[request]outcome),
		inner: make(map[*node]*node),
		bare:  make(map[*jsonschema.Schema]*jsonschema.Schema),
		text:  make(map[*jsonschema.Schema]bool),
		folds: make(map[*jsonschema.Schema]map[string]bool),
	}
}

// spend does some work. It reports false when that was too much.
func (r *run) spend(work int) bool {
	r.left -= work
	r.lost = r.lost || r.left < 0
	return !r.lost
}

// decode returns what the string n stands for.
func (r *run) decode(n *node) string {
	r.spend(len(n.raw) / workBytes)
	return decodeString(n.raw)
}

// fits reports whether n fits s: whether s.Validate would accept it. After
// r.lost is set the answer means nothing.
func (r *run) fits(s *jsonschema.Schema, n *node) bool {
	if s.Bool != nil {
		return *s.Bool
	}
	if !r.spend(1) {
		return false
	}
	if !r.typeFits(s.Types, n) {
		return false
	}
	p := place{s, n}
	if n.inside != nil {
		if fits, ok := r.recall(p); ok {
			return fits
		}
	}
	if r.isOpen(p) {
		r.cycles++
		return false
	}
	cycles := r.cycles
	r.frames = append(r.frames, p)
	fits := r.decide(s, n)
	r.frames = r.frames[:len(r.frames)-1]
	if n.inside != nil && cycles == r.cycles {
		r.learn(p, fits)
	}
	return fits
}

func (r *run) learn(p place, fits bool) {
	for i := range p.node.known {
		if known := &p.node.known[i]; known.schema == nil {
			*known = verdict{p.schema, fits}
			return
		}
	}
	r.fit[p] = fits
}

func (r *run) recall(p place) (fits, ok bool) {
	for i := range p.node.known {
		switch known := &p.node.known[i]; known.schema {
		case p.schema:
			return known.fits, true
		case nil:
			return false, false
		}
	}
	fits, ok = r.fit[p]
	return fits, ok
}

// isOpen reports whether the fit of a value is being decided already: then its
// schema refers to itself without end, which never fits.
func (r *run) isOpen(p place) bool {
	for i := len(r.frames) - 1; i >= 0 && r.frames[i].node == p.node; i-- {
		if r.frames[i].schema == p.schema {
			return true
		}
	}
	return false
}

func (r *run) decide(s *jsonschema.Schema, n *node) bool {
	if s.UnevaluatedProperties != nil || s.UnevaluatedItems != nil || len(s.Extensions) > 0 {
		return r.ask(s, n)
	}
	if !r.asserts(s, n) {
		return false
	}
	if s.Ref != nil {
		if !r.fits(s.Ref, n) {
			return false
		}
		if s.DraftVersion < 2019 {
			return true
		}
	}
	switch n.kind {
	case kindObject:
		if !r.membersFit(s, n) || !r.dependentsFit(s, n) {
			return false
		}
	case kindArray:
		if !r.itemsFit(s, n) || s.Contains != nil && !r.contains(s, n) {
			return false
		}
	}
	return r.dynamicFits(s, n) && r.branchesFit(s, n)
}

// ask has the validator decide. It does not know by which way s was come to,
// so where that matters it can only be asked about the root.
func (r *run) ask(s *jsonschema.Schema, n *node) bool {
	if s != r.root && r.relative() {
		r.unsure, r.lost = true, true
	}
	return r.spend(r.price(s, n)+len(n.raw)/workBytes) && s.Validate(n.value()) == nil
}

func (r *run) membersFit(s *jsonschema.Schema, n *node) bool {
	if s.Properties == nil && s.PatternProperties == nil && s.AdditionalProperties == nil {
		return true
	}
	for i := range n.members {
		m := &n.members[i]
		sub, declared := s.Properties[string(m.key)]
		if declared && !r.fits(sub, m.val) {
			return false
		}
		matched, fits := r.patternsFit(s, m)
		if !fits || !declared && !matched && !r.additionalFits(s.AdditionalProperties, m.val) {
			return false
		}
	}
	return true
}

// patternsFit decides by the patterns that the key of m matches, and reports
// whether there are any.
func (r *run) patternsFit(s *jsonschema.Schema, m *member) (matched, fits bool) {
	for re, sub := range s.PatternProperties {
		if !re.MatchString(string(m.key)) {
			continue
		}
		if matched = true; !r.fits(sub, m.val) {
			return true, false
		}
	}
	return matched, true
}

// additionalFits decides by what additionalProperties or additionalItems hold.
func (r *run) additionalFits(additional any, n *node) bool {
	switch additional := additional.(type) {
	case bool:
		return additional
	case *jsonschema.Schema:
		return r.fits(additional, n)
	}
	return true
}

func (r *run) dependentsFit(s *jsonschema.Schema, n *node) bool {
	if len(s.Dependencies)+len(s.DependentSchemas) == 0 {
		return true
	}
	for name, dep := range s.Dependencies {
		if !n.has(name) {
			continue
		}
		switch dep := dep.(type) {
		case []string:
			if !hasAll(n, dep) {
				return false
			}
		case *jsonschema.Schema:
			if !r.fits(dep, n) {
				return false
			}
		}
	}
	for name, sub := range s.DependentSchemas {
		if n.has(name) && !r.fits(sub, n) {
			return false
		}
	}
	return true
}

func (r *run) itemsFit(s *jsonschema.Schema, n *node) bool {
	for i, item := range n.items {
		sub, additional := itemSchema(s, i)
		if sub != nil && !r.fits(sub, item) || !r.additionalFits(additional, item) {
			return false
		}
	}
	return true
}

// itemSchema returns what an item has to fit: a schema, or nil and what
// additionalItems holds.
func itemSchema(s *jsonschema.Schema, i int) (sub *jsonschema.Schema, additional any) {
	if s.DraftVersion >= 2020 {
		if i < len(s.PrefixItems) {
			return s.PrefixItems[i], nil
		}
		return s.Items2020, nil
	}
	switch items := s.Items.(type) {
	case *jsonschema.Schema:
		return items, nil
	case []*jsonschema.Schema:
		if i < len(items) {
			return items[i], nil
		}
	}
	return nil, s.AdditionalItems
}

func (r *run) contains(s *jsonschema.Schema, n *node) bool {
	matched := 0
	for _, item := range n.items {
		if r.fits(s.Contains, item) {
			matched++
		}
	}
	least := 1
	if s.MinContains != nil {
		least = *s.MinContains
	}
	return matched >= least && (s.MaxContains == nil || matched <= *s.MaxContains)
}

func (r *run) branchesFit(s *jsonschema.Schema, n *node) bool {
	if s.Not != nil && r.fits(s.Not, n) {
		return false
	}
	for _, sub := range s.AllOf {
		if !r.fits(sub, n) {
			return false
		}
	}
	if len(s.AnyOf) > 0 && r.firstFit(s.AnyOf, n) < 0 {
		return false
	}
	if len(s.OneOf) > 0 {
		first := r.firstFit(s.OneOf, n)
		if first < 0 || r.firstFit(s.OneOf[first+1:], n) >= 0 {
			return false
		}
	}
	if s.If == nil {
		return true
	}
	branch := s.Else
	if r.fits(s.If, n) {
		branch = s.Then
	}
	return branch == nil || r.fits(branch, n)
}

// firstFit returns the position of the first schema that n fits, or -1.
func (r *run) firstFit(subs []*jsonschema.Schema, n *node) int {
	for i, sub := range subs {
		if r.fits(sub, n) {
			return i
		}
	}
	return -1
}
