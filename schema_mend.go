package ai

import (
	"encoding/json"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// mendSchema makes a schema that does not compile compile, where what stands in
// the way is a reference to nothing or a pattern that Go does not take. A
// subschema that has one fits nothing afterwards, and so does one that excludes
// or asks for the contrary of what is not known. Everything else keeps its
// meaning and its place. It changes doc and returns why each of these subschemas
// fits nothing, by location; nothing is loaded.
func mendSchema(doc any) map[string]string {
	m := &mender{doc: doc, byPlace: map[string]*mendPlace{}, byID: map[string]*mendResource{}}
	m.visit(nil, doc, "", nil)
	for i := 0; i < len(m.places); i++ { // which grows: references lead to new places
		m.check(m.places[i])
	}
	m.spread()
	broken := map[string]string{}
	for _, p := range m.places {
		if p.why != "" {
			p.fitNothing()
			broken[p.location()] = p.why
		}
	}
	return broken
}

// A mendPlace is a subschema that is an object.
type mendPlace struct {
	at    string // JSON pointer
	obj   map[string]any
	res   *mendResource
	users []*mendPlace // those it is part of, or that refer to it
	why   string       // why nothing fits, or ""
}

// A mendResource is a document or a part of one that has an id.
type mendResource struct {
	at      string
	id      *url.URL
	draft   int
	anchors map[string]string // JSON pointers
}

type mender struct {
	doc     any
	places  []*mendPlace
	byPlace map[string]*mendPlace
	byID    map[string]*mendResource
}

// visit notes a subschema, which is part of user, and all that are part of it.
func (m *mender) visit(user *mendPlace, v any, at string, res *mendResource) *mendPlace {
	obj, ok := v.(map[string]any)
	if !ok && at != "" {
		return nil
	}
	if p := m.byPlace[at]; p != nil {
		return p
	}
	p := &mendPlace{at: at, obj: obj, res: m.resource(obj, at, res)}
	m.byPlace[at] = p
	m.places = append(m.places, p)
	if user != nil {
		p.users = append(p.users, user)
	}
	p.anchor()
	for _, k := range schemaKeywords() {
		if k.since <= p.res.draft {
			m.visitHeld(p, k)
		}
	}
	return p
}

// visitHeld visits the subschemas that a keyword holds: one, or a list or an
// object of them. Definitions are no part of what a schema says.
func (m *mender) visitHeld(p *mendPlace, k schemaKeyword) {
	user, at := p, p.at+"/"+k.name
	if k.defines {
		user = nil
	}
	switch held := p.obj[k.name].(type) {
	case map[string]any:
		if !k.named {
			m.visit(user, held, at, p.res)
			return
		}
		for _, name := range sortedKeys(held) {
			m.visit(user, held[name], at+"/"+escapePointer(name), p.res)
		}
	case []any:
		for i, item := range held {
			if !k.named {
				m.visit(user, item, at+"/"+strconv.Itoa(i), p.res)
			}
		}
	}
}

// resource returns the resource that obj begins, or the one around it.
func (m *mender) resource(obj map[string]any, at string, around *mendResource) *mendResource {
	res := &mendResource{at: at, draft: 2020, anchors: map[string]string{}}
	if around == nil {
		res.id, _ = url.Parse(schemaURL)
	} else {
		res.id, res.draft = around.id, around.draft
	}
	outer := res.draft
	if text, ok := obj["$schema"].(string); ok {
		if draft := draftNamed(text); draft != 0 {
			res.draft = draft
		}
	}
	id := ownID(obj, res.draft)
	if id == "" && around != nil {
		// A draft is named beside an id only.
		res.draft = outer
		id = ownID(obj, outer)
	}
	if id == "" && around != nil {
		return around
	}
	if ref, err := url.Parse(id); err == nil && id != "" {
		res.id = joinURL(res.id, ref)
	}
	if around == nil {
		m.byID[schemaURL] = res
	}
	m.byID[res.id.String()] = res
	return res
}

// ownID is the id of a schema without its fragment, or "".
func ownID(obj map[string]any, draft int) string {
	if _, ok := obj["$ref"]; ok && draft < 2019 {
		return "" // all that is beside a reference is ignored
	}
	id, _ := obj[idKeyword(draft)].(string)
	id, _, _ = strings.Cut(id, "#")
	return id
}

func idKeyword(draft int) string {
	if draft == 4 {
		return "id"
	}
	return "$id"
}

// anchor notes the names that a place has in its resource.
func (p *mendPlace) anchor() {
	if p.res.draft < 2019 {
		if _, ok := p.obj["$ref"]; ok {
			return
		}
		id, _ := p.obj[idKeyword(p.res.draft)].(string)
		_, name, _ := strings.Cut(id, "#")
		if name, err := url.PathUnescape(name); err == nil && name != "" && name[0] != '/' {
			p.res.anchors[name] = p.at
		}
		return
	}
	if name, ok := p.obj["$anchor"].(string); ok {
		p.res.anchors[name] = p.at
	}
	if name, ok := p.obj["$dynamicAnchor"].(string); ok && p.res.draft >= 2020 {
		p.res.anchors[name] = p.at
	}
}

// check finds out whether a place has to fit nothing, and follows its references.
func (m *mender) check(p *mendPlace) {
	m.checkPatterns(p)
	m.checkReference(p, "$ref", 4)
	m.checkReference(p, "$recursiveRef", 2019)
	m.checkReference(p, "$dynamicRef", 2020)
}

func (m *mender) checkReference(p *mendPlace, keyword string, since int) {
	ref, ok := p.obj[keyword].(string)
	if !ok || p.res.draft < since {
		return
	}
	target, at, problem := m.resolve(p.res, ref)
	if problem == "" {
		if target := m.visit(nil, target, at, m.around(at)); target != nil {
			target.users = append(target.users, p)
		}
		return
	}
	p.condemn("which refers to " + cutText(ref, maxGot) + ": " + problem)
	delete(p.obj, keyword)
	if p.res.draft < 2019 {
		delete(p.obj, idKeyword(p.res.draft)) // it was ignored beside the reference
	}
}

// checkPatterns takes out the patterns that do not compile. Beside a reference
// older drafts ignore them, though not when the schema itself is checked.
func (m *mender) checkPatterns(p *mendPlace) {
	_, refers := p.obj["$ref"]
	ignored := refers && p.res.draft < 2019
	if pattern, ok := p.obj["pattern"].(string); ok && !isPattern(pattern) {
		delete(p.obj, "pattern")
		if !ignored {
			p.condemn("whose pattern " + cutText(pattern, maxGot) + " is not supported")
		}
	}
	held, _ := p.obj["patternProperties"].(map[string]any)
	for _, pattern := range sortedKeys(held) {
		if isPattern(pattern) {
			continue
		}
		delete(held, pattern)
		if !ignored {
			p.condemn("whose pattern for properties, " + cutText(pattern, maxGot) + ", is not supported")
		}
	}
}

func isPattern(text string) bool {
	_, err := regexp.Compile(text)
	return err == nil
}

// condemn notes why a place fits nothing. The first reason stays.
func (p *mendPlace) condemn(why string) {
	if p.why == "" {
		p.why = why
	}
}

// spread condemns the places that turn the verdict of a condemned one around,
// however far away: what is not known must not count as a fit.
func (m *mender) spread() {
	reached := map[*mendPlace]string{} // places whose verdict depends on a condemned one
	var next []*mendPlace
	for _, p := range m.places {
		if p.why != "" {
			reached[p] = p.why
			next = append(next, p)
		}
	}
	for len(next) > 0 {
		p := next[0]
		next = next[1:]
		for _, user := range p.users {
			if reached[user] == "" {
				reached[user] = reached[p]
				next = append(next, user)
			}
		}
	}
	for _, p := range m.places {
		for _, keyword := range p.contrary() {
			if why := reached[m.byPlace[p.at+"/"+keyword]]; why != "" {
				p.condemn("part of which is a schema " + why)
			}
		}
	}
}

// contrary returns the keywords that make a fit of what does not fit.
func (p *mendPlace) contrary() []string {
	keywords := []string{"not"}
	if p.res.draft >= 7 {
		keywords = append(keywords, "if")
	}
	if _, ok := p.obj["maxContains"]; ok && p.res.draft >= 2019 {
		keywords = append(keywords, "contains")
	}
	return keywords
}

// fitNothing gives the place an enumeration without members, which is looked at
// before all that is not taken out here.
func (p *mendPlace) fitNothing() {
	if isTypeKeyword(p.obj["type"]) {
		delete(p.obj, "type") // anything else is an error, which should show
	}
	delete(p.obj, "const")
	if members, ok := p.obj["enum"]; ok {
		if _, ok := members.([]any); !ok {
			return // an error too
		}
	}
	p.obj["enum"] = []any{}
	if p.res.draft < 2019 {
		// An enumeration has to have a member there: one that no value may be.
		p.obj["enum"] = []any{json.Number("1e9999")}
	}
}

func isTypeKeyword(v any) bool {
	list, ok := v.([]any)
	if !ok {
		list = []any{v}
	}
	return !slices.ContainsFunc(list, func(v any) bool {
		name, _ := v.(string)
		return !slices.Contains([]string{"array", "boolean", "integer", "null", "number", "object", "string"}, name)
	})
}

// location is where the validator says that the place is.
func (p *mendPlace) location() string {
	steps := strings.Split(p.at, "/")
	for i, step := range steps {
		steps[i] = url.PathEscape(step)
	}
	return schemaURL + "#" + strings.Join(steps, "/")
}
