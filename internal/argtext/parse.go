// Package argtext reads the text that a model sent as the arguments of a call.
//
// A text that is a JSON object is taken as it is. Others are mended where no
// other reading exists, and refused otherwise; a text that was cut off is
// always refused. Reading costs time in proportion to the length of the text.
package argtext

import (
	"encoding/json"
	"strings"
)

// Names of rules, in the order in which they are usually applied.
const (
	ruleBOM         = "byte-order-mark"    // one before the text is left out
	ruleEmpty       = "empty"              // no text, or null, is no arguments
	ruleToken       = "control-token"      // one of a model, behind the rest, is left out
	ruleFence       = "fence"              // a fence around the whole text is taken off
	ruleDoubled     = "doubled-encoding"   // an object inside a JSON string is taken out
	ruleRepeated    = "repeated-object"    // the same object again is left out
	ruleControl     = "control-characters" // raw ones inside strings are escaped
	ruleComma       = "trailing-comma"     // probable: one before a closing bracket is left out
	ruleKey         = "unquoted-key"       // probable: quotes are put around it
	ruleSingle      = "single-quotes"      // probable: around keys and strings, become double
	rulePython      = "python-literal"     // probable: True, False and None outside strings
	ruleProse       = "prose"              // probable: behind the object, is left out
	maxLayers       = 8                    // fences and strings around the object
	maxNesting      = 10000                // arrays and objects, as in encoding/json
	byteOrderMark   = "\uFEFF"
	rulesSeparation = "+"
)

// Options say how much is mended. The nil pointer is the zero value.
type Options struct {
	// Probable adds repairs of texts that are probably, but not certainly,
	// meant as they are read: trailing commas, unquoted keys, single quotes,
	// the Python literals True, False and None, and prose behind the object.
	Probable bool
}

// Result is an object that was read.
type Result struct {
	// Object is the object: the text as it is where no rule was applied,
	// otherwise without what stood around it. Digits, the order of keys, and
	// keys given twice are kept.
	Object json.RawMessage

	// Rule names what was mended, such as "fence" or, where it was more than
	// one thing, "fence+control-characters". It is empty when the text was a
	// JSON object already.
	Rule string
}

// Error says why a text is not the arguments of a call.
type Error struct {
	// Problem says in words what is wrong, and where.
	Problem string

	// Probable reports that the text would have been read with
	// Options.Probable.
	Probable bool
}

// Error returns the problem after what it is about.
func (e *Error) Error() string { return "ai: arguments are not a JSON object: " + e.Problem }

// Parse reads text as the arguments of a call: a JSON object. The error is an
// *Error. Parse is safe for concurrent use.
func Parse(text string, opts *Options) (*Result, error) {
	probable := opts != nil && opts.Probable
	res, err := parse(text, probable)
	if err == nil {
		return res, nil
	}
	if !probable {
		_, again := parse(text, true)
		err.Probable = again == nil
	}
	return nil, err
}

func parse(text string, probable bool) (*Result, *Error) {
	r := &reader{probable: probable}
	object, err := r.document(text)
	if err != nil {
		return nil, err
	}
	return &Result{Object: object, Rule: strings.Join(r.rules, rulesSeparation)}, nil
}

// reader reads one text and notes the rules that it needs for it.
type reader struct {
	probable bool
	rules    []string // each once, in the order of their first use
	layers   int      // fences and strings taken off so far
	inside   string   // says of an inner text where it stands
}

func (r *reader) note(rule string) {
	for _, known := range r.rules {
		if known == rule {
			return
		}
	}
	r.rules = append(r.rules, rule)
}

// document reads the whole text.
func (r *reader) document(text string) (json.RawMessage, *Error) {
	start := 0
	if strings.HasPrefix(text, byteOrderMark) {
		start = len(byteOrderMark)
		r.note(ruleBOM)
	}
	s := trim(span{text, start, len(text)})
	if word := s.String(); word == "" || word == "null" {
		r.note(ruleEmpty)
		return json.RawMessage("{}"), nil
	}
	object, err := r.layer(s)
	if err == nil && len(r.rules) == 0 {
		return json.RawMessage(text), nil
	}
	return object, err
}

// layer reads an object with what may stand around it. The span is not empty
// and has no space at its ends.
func (r *reader) layer(s span) (json.RawMessage, *Error) {
	s, found := trimTokens(s)
	if found {
		r.note(ruleToken)
	}
	if s.start == s.end {
		return nil, r.problem(s.start, "nothing but a control token")
	}
	switch first := s.text[s.start]; {
	case first == '{':
		return r.objects(s)
	case first == '"', first == '\'' && r.probable:
		return r.doubled(s)
	case first == '`':
		return r.fence(s)
	default:
		return nil, r.problem(s.start, "expected a JSON object, got "+nameOf(first))
	}
}

// enter reads what is left when a layer is off.
func (r *reader) enter(rule string, inner span) (json.RawMessage, *Error) {
	r.layers++
	if r.layers > maxLayers {
		return nil, r.problem(inner.start, "too many fences and quotes around the object")
	}
	r.note(rule)
	inner = trim(inner)
	if inner.start == inner.end {
		return nil, r.problem(inner.start, "no JSON object inside")
	}
	return r.layer(inner)
}

// doubled reads an object that was encoded twice.
func (r *reader) doubled(s span) (json.RawMessage, *Error) {
	m := &mender{reader: r, span: s, pos: s.start, copied: s.start}
	if !m.quoted() {
		return nil, m.err
	}
	if m.pos != s.end {
		return nil, r.problem(m.pos, "text behind the string")
	}
	inner, ok := unquote(m.taken(s.start))
	if !ok {
		return nil, r.problem(s.start, "a string with half a surrogate pair")
	}
	if first := strings.TrimLeft(inner, space); first == "" || strings.IndexByte("{\"'`", first[0]) < 0 {
		return nil, r.problem(s.start, "expected a JSON object, got a string")
	}
	r.inside = "inside the string: "
	return r.enter(ruleDoubled, span{inner, 0, len(inner)})
}

// fence reads an object in a Markdown fence.
func (r *reader) fence(s span) (json.RawMessage, *Error) {
	ticks := s.start
	for ticks < s.end && s.text[ticks] == '`' {
		ticks++
	}
	opening := ticks - s.start
	end := s.end
	for end > ticks && s.text[end-1] == '`' {
		end--
	}
	if opening < 3 {
		return nil, r.problem(s.start, "expected a JSON object, got text")
	}
	if s.end-end < opening {
		return nil, r.problem(s.end, "the fence does not end: the text is cut off")
	}
	for ticks < end && isInfo(s.text[ticks]) {
		ticks++
	}
	return r.enter(ruleFence, span{s.text, ticks, end})
}

// isInfo reports whether a language behind a fence may have b in its name.
func isInfo(b byte) bool {
	return isLetter(b) || isDigit(b) || strings.IndexByte("+-._", b) >= 0
}
