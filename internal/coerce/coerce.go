// Package coerce turns a JSON value that does not fit its schema into one that
// fits, where that changes nothing but the form: a number that was sent as
// text, an array that was sent as JSON inside a string, null for an optional
// property. What fits is never touched, nothing is guessed, numbers keep their
// digits, objects the order of their keys, and each change is on record.
//
// It also makes schemas strict for constrained sampling, and folds what such
// a schema makes of absent properties back.
package coerce

import (
	"encoding/json"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// Names of rules.
const (
	ruleNumber   = "number"     // text that is a number becomes the number
	ruleBoolean  = "boolean"    // text that is true or false, in any case, becomes that
	ruleString   = "string"     // a number or boolean becomes its text
	ruleText     = "json-text"  // text that is JSON becomes the array or object
	ruleLone     = "lone-value" // a value becomes an array of it
	ruleNull     = "null"       // null for an optional property is left out
	ruleEnvelope = "envelope"   // what was put around the arguments is left out
)

// Options adjust Coerce. The nil pointer is the zero value.
type Options struct {
	// ToolName is the name of the tool whose arguments the data is. An
	// envelope {"name":…,"arguments":{…}} is opened only if it has this name.
	// When it is empty, none with a name is.
	ToolName string

	// Fits, when set, is a quick check: if it returns true, data certainly
	// fits the schema. Where it returns false the schema is asked. It must be
	// safe for the calls that Coerce makes, which come one after the other.
	Fits func(data []byte) bool
}

// Change is one difference between what was sent and what became of it.
// Applied in order, the changes turn the one into the other.
type Change struct {
	// Path leads to the value, its steps joined by dots: "edits.0.oldText".
	// It is empty for the value as a whole. Steps are those of the data as
	// the changes before this one left it.
	Path string

	// From is the value before the change.
	From json.RawMessage

	// To is the value after the change. It is nil when the property was left
	// out.
	To json.RawMessage

	// Rule names the kind of change, such as "number" or "json-text".
	Rule string
}

// Coerce returns data changed so that it fits sch, with a record of the
// changes. Data that fits is returned as it is, without changes. It reports
// false when data can't be made to fit, or only in a way that may not be
// meant; then out is nil.
//
// An object with a key twice is never mended, nor one with a key that equals a
// declared one but for case; data that nests deeper than 200 levels, or that
// holds a number of more than 1000 characters or with an exponent of more than
// three digits, is not mended either, whether it fits or not. The time that it
// takes grows with the size of data in proportion. Coerce is safe for
// concurrent use; nothing of data is changed, and out may share its memory.
func Coerce(sch *jsonschema.Schema, data json.RawMessage, opts *Options) (out json.RawMessage, changes []Change, ok bool) {
	if opts == nil {
		opts = &Options{}
	}
	if opts.Fits != nil && opts.Fits(data) {
		return data, nil, true
	}
	sent, ok := parse(data, 0)
	if !ok {
		return nil, nil, false
	}
	r := newRun(sch)
	r.left += workPerValue*int(sent.size) + workPerByte*len(data)
	read := r.whole(sch, sent, opts.ToolName)
	if r.unsure && r.canValidate(sent) && sch.Validate(sent.value()) == nil {
		return data, nil, true
	}
	if read == nil || r.lost {
		return nil, nil, false
	}
	out = data
	if read != sent {
		out = read.appendTo(make([]byte, 0, len(data)))
		changes = record(read)
	}
	if opts.Fits != nil && opts.Fits(out) || r.canValidate(read) && sch.Validate(read.value()) == nil {
		return out, changes, true
	}
	return nil, nil, false
}

// whole reads the data, with or without an envelope around it, or returns nil.
func (r *run) whole(s *jsonschema.Schema, sent *node, tool string) *node {
	if o := r.at(s, sent, manner{}); o.node != nil {
		return o.node
	}
	inner := unwrap(sent, tool)
	if inner == nil {
		return nil
	}
	for _, key := range []string{"name", "arguments"} {
		if declares(s, key, map[*jsonschema.Schema]bool{}) {
			return nil
		}
	}
	return r.at(s, inner, manner{noLone: true}).node
}

// unwrap opens {"arguments":{…}} and {"name":tool,"arguments":{…}}, or returns
// nil.
func unwrap(n *node, tool string) *node {
	if n.kind != kindObject {
		return nil
	}
	at, rest := n.find("arguments"), len(n.members)-1
	if at < 0 || n.members[at].val.kind != kindObject {
		return nil
	}
	if i := n.find("name"); i >= 0 && tool != "" {
		name := n.members[i].val
		if name.kind == kindString && decodeString(name.raw) == tool {
			rest--
		}
	}
	if rest != 0 {
		return nil
	}
	inner := *n.members[at].val
	inner.from, inner.rule = n, ruleEnvelope
	return &inner
}
