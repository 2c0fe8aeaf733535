package ai

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
)

// A ToolProvider offers tools that come and go, as an MCP server does.
// Implementations are safe for concurrent use.
//
//  1. Name is unique in its registry and does not change.
//  2. Tools returns what is on offer now. A tool that has not changed is returned
//     with the same *ToolDefinition, so that its schemas are compiled once.
//  3. An error means that the provider can't tell; its tools are unavailable
//     until it can.
type ToolProvider interface {
	Name() string
	Tools(ctx context.Context) ([]Tool, error)
}

// Registry holds the tools of an application under their names. The zero value
// is ready to use. It is safe for concurrent use; Strict is set before that.
type Registry struct {
	// Strict makes two tools with the same short name in one set an
	// ErrInvalidArgument, as Genkit has it. By default the set gives them
	// different names.
	Strict bool

	mu         sync.RWMutex
	entries    []*entry
	byName     map[string]*entry
	providers  []ToolProvider
	offered    map[*ToolDefinition]*entry // compiled definitions of providers
	middleware []*Middleware
}

// entry is a tool with its schemas compiled. Entries are never changed.
type entry struct {
	tool     Tool
	def      *ToolDefinition
	schemas  *compiledSchemas
	provider string // "" where registered
}

func newEntry(t Tool, provider string) (*entry, error) {
	def := t.Definition()
	if def == nil {
		return nil, invalidf("ai: a tool has no definition")
	}
	schemas, err := def.compile()
	if err != nil {
		return nil, err
	}
	return &entry{tool: t, def: def, schemas: schemas, provider: provider}, nil
}

// Register adds tools in order: all of them, or none and an error that names
// the one at fault: a name that is invalid or taken, a schema that does not compile.
func (r *Registry) Register(tools ...Tool) error {
	added := make([]*entry, 0, len(tools))
	for _, t := range tools {
		if t == nil {
			return invalidf("ai: register: a tool is nil")
		}
		e, err := newEntry(t, "")
		if err != nil {
			return err
		}
		added = append(added, e)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	fresh := make(map[string]bool, len(added))
	for _, e := range added {
		if r.byName[e.def.Name] != nil || fresh[e.def.Name] {
			return invalidf("ai: tool %q is already registered", e.def.Name)
		}
		fresh[e.def.Name] = true
	}
	if r.byName == nil {
		r.byName = make(map[string]*entry)
	}
	for _, e := range added {
		r.byName[e.def.Name] = e
		r.entries = append(r.entries, e)
	}
	return nil
}

// AddProvider adds a provider of tools. It is asked for them each time a set is
// made. A name that is empty or taken is an error.
func (r *Registry) AddProvider(p ToolProvider) error {
	if p == nil || p.Name() == "" {
		return invalidf("ai: a tool provider needs a name")
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, other := range r.providers {
		if other.Name() == p.Name() {
			return invalidf("ai: tool provider %q is already added", p.Name())
		}
	}
	r.providers = append(r.providers, p)
	return nil
}

// Use adds middleware around every call of a tool of this registry, in order,
// the first one outermost. Names must be unique.
func (r *Registry) Use(middleware ...*Middleware) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	chain := append(slices.Clone(r.middleware), middleware...)
	if err := checkMiddleware(chain); err != nil {
		return err
	}
	r.middleware = chain
	return nil
}

// Lookup finds a tool by its full name, its short name (what comes after the
// last slash), or the keys /tool/NAME, /tool.v2/NAME (multipart tools only this
// one), /prompt/NAME and /dynamic-action-provider/NAME, tried in that order.
// NAME is a full or a short name. Nothing of that name is ErrNotFound; a name
// that fits several tools is ErrInvalidArgument and lists them.
func (r *Registry) Lookup(ctx context.Context, name string) (Tool, error) {
	found, err := r.snapshot(ctx).find(name)
	if err != nil {
		return nil, err
	}
	if len(found) > 1 {
		return nil, ambiguous(name, found)
	}
	return found[0].tool, nil
}

// Tools makes a set of exactly the named tools, in that order. Names are those
// of Lookup; the key of a provider stands for all that it offers. A tool named
// twice is in the set once.
func (r *Registry) Tools(ctx context.Context, names ...string) (*ToolSet, error) {
	s := r.snapshot(ctx)
	var entries []*entry
	var missing []*providerError
	for _, name := range names {
		found, err := s.find(name)
		var down *providerError
		if errors.As(err, &down) {
			missing = append(missing, down)
			continue
		}
		if err != nil {
			return nil, err
		}
		if len(found) > 1 && !strings.HasPrefix(name, keyFormProvider) {
			return nil, ambiguous(name, found)
		}
		for _, e := range found {
			if !slices.Contains(entries, e) {
				entries = append(entries, e)
			}
		}
	}
	return newToolSet(entries, missing, s.middleware, s.strict)
}

// AllTools makes a set of every tool: the registered ones in registration
// order, then those of the providers. A provider that is down makes no error
// here; its tools are unavailable in the set.
func (r *Registry) AllTools(ctx context.Context) (*ToolSet, error) {
	s := r.snapshot(ctx)
	return newToolSet(s.entries, s.down, s.middleware, s.strict)
}

// snapshot is what the registry holds and its providers offer at one moment.
type snapshot struct {
	entries    []*entry
	down       []*providerError
	middleware []*Middleware
	strict     bool
}

// providerError is a provider that could not tell what it offers, or the name
// that could not be looked up because of it.
type providerError struct {
	provider string
	wanted   string // the name that was looked up; "" where all are meant
	err      error
}

func (e *providerError) Error() string {
	if e.wanted == "" {
		return fmt.Sprintf("ai: tool provider %q is unavailable: %v", e.provider, e.err)
	}
	return fmt.Sprintf("ai: tool %q is not there, and tool provider %q, which may have it, is unavailable: %v", e.wanted, e.provider, e.err)
}

func (e *providerError) Unwrap() []error { return []error{e.err, ErrNotFound} }

// snapshot asks the providers one after the other, outside the lock. A nil
// registry is an empty one.
func (r *Registry) snapshot(ctx context.Context) *snapshot {
	if r == nil {
		return &snapshot{}
	}
	r.mu.RLock()
	s := &snapshot{entries: slices.Clip(r.entries), middleware: r.middleware, strict: r.Strict}
	providers := r.providers
	r.mu.RUnlock()
	for _, p := range providers {
		offered, err := r.offer(ctx, p)
		if err != nil {
			s.down = append(s.down, &providerError{provider: p.Name(), err: err})
			continue
		}
		s.entries = append(s.entries, offered...)
	}
	return s
}

// offer takes what a provider offers now, compiling only what is new.
func (r *Registry) offer(ctx context.Context, p ToolProvider) ([]*entry, error) {
	tools, err := p.Tools(ctx)
	if err != nil {
		return nil, err
	}
	r.mu.RLock()
	known := r.offered
	r.mu.RUnlock()
	entries := make([]*entry, 0, len(tools))
	for _, t := range tools {
		if t == nil {
			return nil, invalidf("ai: it offers a nil tool")
		}
		if e := known[t.Definition()]; e != nil && e.tool == t {
			entries = append(entries, e)
			continue
		}
		e, err := newEntry(t, p.Name())
		if err != nil {
			return nil, err
		}
		entries = append(entries, e)
	}
	r.remember(p.Name(), entries)
	return entries, nil
}

// remember keeps the entries of one provider for the next time, and forgets
// those it no longer offers. The map is replaced, never changed.
func (r *Registry) remember(provider string, entries []*entry) {
	r.mu.Lock()
	defer r.mu.Unlock()
	next := make(map[*ToolDefinition]*entry, len(r.offered)+len(entries))
	for def, e := range r.offered {
		if e.provider != provider {
			next[def] = e
		}
	}
	for _, e := range entries {
		next[e.def] = e
	}
	r.offered = next
}

// find returns the tools of a name: one, or several where the name fits
// several, never none without an error.
func (s *snapshot) find(name string) ([]*entry, error) {
	for _, matches := range nameForms(name) {
		if found := s.matching(matches); len(found) > 0 {
			return found, nil
		}
	}
	if len(s.down) > 0 {
		return nil, &providerError{provider: s.down[0].provider, wanted: name, err: s.down[0].err}
	}
	return nil, notFoundf("ai: no tool is named %q", name)
}

func (s *snapshot) matching(matches func(*entry) bool) []*entry {
	var found []*entry
	for _, e := range s.entries {
		if matches(e) {
			found = append(found, e)
		}
	}
	return found
}

// nameForms are the readings of a name, in the order in which they are tried.
func nameForms(name string) []func(*entry) bool {
	full := func(n string) func(*entry) bool { return func(e *entry) bool { return e.def.Name == n } }
	short := func(n string) func(*entry) bool { return func(e *entry) bool { return shortName(e.def.Name) == n } }
	forms := []func(*entry) bool{full(name), short(name)}
	keyed := []struct {
		prefix string
		is     func(*entry) bool
	}{
		{keyFormTool, func(e *entry) bool { return !e.def.Multipart && !e.isPrompt() }},
		{keyFormMultipart, func(e *entry) bool { return e.def.Multipart }},
		{keyFormPrompt, (*entry).isPrompt},
	}
	for _, k := range keyed {
		rest, ok := strings.CutPrefix(name, k.prefix)
		if !ok {
			continue
		}
		byFull, byShort := full(rest), short(rest)
		forms = append(forms,
			func(e *entry) bool { return k.is(e) && byFull(e) },
			func(e *entry) bool { return k.is(e) && byShort(e) })
	}
	if provider, ok := strings.CutPrefix(name, keyFormProvider); ok {
		forms = append(forms, func(e *entry) bool { return e.provider == provider })
	}
	return forms
}

func (e *entry) isPrompt() bool {
	_, ok := e.tool.(*Prompt)
	return ok
}

func ambiguous(name string, found []*entry) error {
	names := make([]string, len(found))
	for i, e := range found {
		names[i] = fmt.Sprintf("%q", e.def.Name)
	}
	return invalidf("ai: the name %q fits several tools: %s", name, strings.Join(names, ", "))
}
