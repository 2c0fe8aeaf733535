package ai

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// ToolSet is the tools offered in one request, under the names the model sees.
// Nothing outside the set can be called. It is safe for concurrent use; a nil
// one is empty.
type ToolSet struct {
	offers     []*offer
	byModel    map[string]*offer
	byFull     map[string]*offer
	missing    *unavailableError
	middleware []*Middleware
}

// offer is a tool under the name the model sees.
type offer struct {
	*entry
	name  string          // the name the model sees
	shown *ToolDefinition // the definition under that name
}

// NewToolSet makes a set of tools that need not be in any registry, in that
// order. A name used twice or a definition that is invalid is an error.
func NewToolSet(tools ...Tool) (*ToolSet, error) {
	entries := make([]*entry, 0, len(tools))
	for i, t := range tools {
		if t == nil {
			return nil, invalidf("ai: tool set: tool %d is nil", i)
		}
		e, err := newEntry(t, "")
		if err != nil {
			return nil, err
		}
		entries = append(entries, e)
	}
	return newToolSet(entries, &unavailableError{}, nil, false)
}

func newToolSet(entries []*entry, missing *unavailableError, middleware []*Middleware, strict bool) (*ToolSet, error) {
	s := &ToolSet{
		offers:  make([]*offer, 0, len(entries)),
		byModel: make(map[string]*offer, len(entries)), byFull: make(map[string]*offer, len(entries)),
		missing: missing, middleware: middleware,
	}
	fulls := make([]string, len(entries))
	for i, e := range entries {
		fulls[i] = e.def.Name
		if s.byFull[fulls[i]] != nil {
			return nil, invalidf("ai: two tools are named %q", fulls[i])
		}
		o := &offer{entry: e, shown: e.def}
		s.offers = append(s.offers, o)
		s.byFull[fulls[i]] = o
	}
	if strict {
		if err := checkShortNames(fulls); err != nil {
			return nil, err
		}
	}
	names, err := modelNames(fulls)
	if err != nil {
		return nil, err
	}
	for _, o := range s.offers {
		o.name = names[o.def.Name]
		if o.name != o.def.Name {
			o.shown = renamed(o.def, o.name)
		}
		s.byModel[o.name] = o
	}
	return s, nil
}

// renamed is the definition as the model is given it under another name.
func renamed(def *ToolDefinition, name string) *ToolDefinition {
	d := *def
	d.Name = name
	d.Metadata = maps.Clone(def.Metadata)
	if d.Metadata == nil {
		d.Metadata = Metadata{}
	}
	d.Metadata[keyOriginalName] = encodeString(def.Name)
	return &d
}

func checkShortNames(fulls []string) error {
	seen := make(map[string]string, len(fulls))
	for _, full := range fulls {
		short := shortName(full)
		if other, ok := seen[short]; ok && other != full {
			return invalidf("ai: tools %q and %q have the same short name %q", other, full, short)
		}
		seen[short] = full
	}
	return nil
}

// Definitions lists the tools as a model is given them, in the order of the set.
func (s *ToolSet) Definitions() []*ToolDefinition {
	if s == nil || len(s.offers) == 0 {
		return nil
	}
	defs := make([]*ToolDefinition, len(s.offers))
	for i, o := range s.offers {
		defs[i] = o.shown
	}
	return defs
}

// available is an error where part of the set can't be offered, which matters
// when a model is about to be called.
func (s *ToolSet) available() error {
	if s == nil || !s.missing.any() {
		return nil
	}
	return s.missing
}

// find is the one lookup of requests, for first runs and for resumptions: by
// the full name on record, else by the name the model sees, else by full name.
func (s *ToolSet) find(req *ToolRequestPart) (*offer, error) {
	original, err := originalName(req)
	if err != nil {
		return nil, err
	}
	name := req.ToolRequest.Name
	if s == nil {
		return nil, notFoundf("ai: tool %q is not available: no tools are offered", name)
	}
	if original != "" {
		if o := s.byFull[original]; o != nil {
			return o, nil
		}
		return nil, s.notFound(original)
	}
	if o := s.byModel[name]; o != nil {
		return o, nil
	}
	if o := s.byFull[name]; o != nil {
		return o, nil
	}
	return nil, s.notFound(name)
}

// named is the request with the full name of its tool on record, where the set
// has the tool and the model used another name.
func (s *ToolSet) named(req *ToolRequestPart) *ToolRequestPart {
	o, err := s.find(req)
	if err != nil || o.def.Name == req.ToolRequest.Name || req.Metadata[keyOriginalName] != nil {
		return req
	}
	c := *req
	c.Metadata = maps.Clone(req.Metadata)
	if c.Metadata == nil {
		c.Metadata = Metadata{}
	}
	c.Metadata[keyOriginalName] = encodeString(o.def.Name)
	return &c
}

func (s *ToolSet) notFound(name string) error {
	if s.missing.any() {
		return &unavailableError{wanted: []string{name}, down: s.missing.down}
	}
	if len(s.offers) == 0 {
		return notFoundf("ai: tool %q is not available: no tools are offered", name)
	}
	names := make([]string, 0, len(s.offers))
	for _, o := range s.offers {
		names = append(names, o.name)
	}
	slices.Sort(names)
	const most = 20
	more := ""
	if len(names) > most {
		more = fmt.Sprintf(" and %d more", len(names)-most)
		names = names[:most]
	}
	return notFoundf("ai: tool %q is not available; on offer: %s%s", name, strings.Join(names, ", "), more)
}

// Check finds the tool of a request and checks its arguments without running
// anything. It returns the arguments the tool would get. What does not fit is
// an *ArgumentError, a tool that is not in the set ErrNotFound.
func (s *ToolSet) Check(req *ToolRequestPart) (json.RawMessage, error) {
	if req == nil {
		return nil, invalidf("ai: check: no tool request")
	}
	if req.ToolRequest.Partial {
		return nil, invalidf("ai: tool request %s is marked partial: its arguments have not all arrived", req.label())
	}
	o, err := s.find(req)
	if err != nil {
		return nil, err
	}
	mk, err := readMarks(req)
	if err != nil {
		return nil, err
	}
	if mk.effectiveInput != nil {
		if err := o.checkInput(req.ToolRequest.Ref, mk.effectiveInput); err != nil {
			return nil, err
		}
		return mk.effectiveInput, nil
	}
	sent := mk.argumentsError
	if input := inputOf(&req.ToolRequest); sent == nil && !isJSONObject(input) {
		sent = &argumentsError{Text: string(input), Problem: describe(input)}
	}
	a, err := o.read(&req.ToolRequest, sent)
	if err == nil {
		a, err = o.fit(req.ToolRequest.Ref, a)
	}
	if err != nil {
		return nil, err
	}
	return a.input, nil
}

// Find returns the tool of a request, which is found as a turn finds it. One that
// is not in the set is ErrNotFound.
func (s *ToolSet) Find(req *ToolRequestPart) (Tool, error) {
	if req == nil {
		return nil, invalidf("ai: find: no tool request")
	}
	o, err := s.find(req)
	if err != nil {
		return nil, err
	}
	return o.tool, nil
}

// CheckOutput finds the tool of a request and checks a response to it, as a
// resumption would. What does not fit is ErrInvalidArgument, a tool that is not in
// the set ErrNotFound.
func (s *ToolSet) CheckOutput(req *ToolRequestPart, output json.RawMessage) error {
	if req == nil {
		return invalidf("ai: check output: no tool request")
	}
	o, err := s.find(req)
	if err != nil {
		return err
	}
	return o.checkResponse(output)
}

// checkOutput validates an output against the tool's own schema.
func (e *entry) checkOutput(output json.RawMessage) error {
	if len(output) == 0 {
		output = json.RawMessage("null")
	}
	var faults []Fault
	if e.schemas.output != nil {
		faults = e.schemas.output.check(output)
	} else if !json.Valid(output) {
		faults = []Fault{{Expected: "valid JSON", Got: "something else"}}
	}
	if len(faults) == 0 {
		return nil
	}
	lines := make([]string, len(faults))
	for i, f := range faults {
		lines[i] = f.String()
	}
	return invalidf("ai: output of tool %q does not fit its schema: %s", e.def.Name, strings.Join(lines, "; "))
}

func describe(input json.RawMessage) string {
	trimmed := bytes.TrimSpace(input)
	if len(trimmed) == 0 || !json.Valid(trimmed) {
		return "text that is not JSON"
	}
	switch trimmed[0] {
	case '[':
		return "an array"
	case '"':
		return "a string"
	case 't', 'f':
		return "a boolean"
	case 'n':
		return "null"
	}
	return "a number"
}
