// Package fit decides in one pass over JSON bytes whether a text fits a JSON
// Schema, without building a tree of the text.
//
// It is the fast path before a full validator (santhosh-tekuri/jsonschema v6).
// The answer is one-sided: yes is certain, no means "not known, ask the
// validator". A yes also says what the validator does not: no object has a key
// twice, no key differs from a declared one only in case, and every string is
// valid Unicode, so that decoding the same bytes with encoding/json reads what
// was checked.
package fit

import "math"

// Limits beyond which the answer is "not known".
const (
	maxDepth    = 200 // nested arrays and objects of the text
	maxDeclared = 256 // names one schema object may declare
	maxOpenKeys = 64  // undeclared keys of all open objects together
)

// Options says how the validator that has the last word was set up. The nil
// pointer is the zero value.
type Options struct {
	// AssertFormat is true when the validator checks "format" in draft
	// 2020-12, as it always does in draft-07. Formats that this package does
	// not know are then declined. Defaults to false.
	AssertFormat bool
}

// Program is a compiled schema. It is immutable: any number of goroutines may
// use it at once. Make one with Compile.
type Program struct {
	root *node
}

// Compile makes a Program for a schema document in the form that
// jsonschema.UnmarshalJSON gives: maps, slices, strings, booleans, nil and
// json.Number. It reports false when the schema uses a keyword, a draft or a
// number that this package does not decide.
//
// The document must be one that the validator compiles, with its default
// draft, Go's regexp engine, and no vocabularies or formats of its own. The
// Program keeps no part of the document.
func Compile(doc any, opts *Options) (p *Program, ok bool) {
	c := newCompiler(doc, opts)
	root := c.schema(doc)
	c.checkUnions()
	if c.declined {
		return nil, false
	}
	return &Program{root: root}, true
}

// Fits reports whether data is exactly one valid JSON text that fits the
// schema. False means that this is not known. Data is only read, and not kept.
func (p *Program) Fits(data []byte) bool {
	if len(data) > math.MaxInt32 {
		return false
	}
	c := checker{data: data}
	if !c.value(p.root) {
		return false
	}
	c.next()
	return c.pos == len(data)
}

// kinds is a set of kinds of JSON values. The two booleans are kinds of their
// own, so that enum and const of booleans and null need no further check.
type kinds uint8

const (
	kindNull kinds = 1 << iota
	kindFalse
	kindTrue
	kindInteger
	kindFraction
	kindString
	kindArray
	kindObject

	kindBoolean = kindFalse | kindTrue
	kindNumber  = kindInteger | kindFraction
	kindAny     = kindNull | kindBoolean | kindNumber | kindString | kindArray | kindObject
)

// node is one compiled schema. A value fits when its kind is in kinds and the
// rule of that kind holds.
type node struct {
	kinds  kinds
	object *objectRule // never nil where kinds has kindObject
	array  *arrayRule  // never nil where kinds has kindArray
	str    *stringRule // nil: every string
	num    *numberRule // nil: every number

	// union, when set, replaces all of the above: the one branch that admits
	// the kind of the value decides. Branches share no kind and are not unions.
	union []*node
}

// pick returns the branch of a union for values of kind k, or nil.
func (n *node) pick(k kinds) *node {
	for _, branch := range n.union {
		if branch.kinds&k != 0 {
			return branch
		}
	}
	return nil
}
