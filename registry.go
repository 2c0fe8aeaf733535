package ai

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
)

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
	offered    map[string]map[*ToolDefinition]*compiledSchemas // by provider
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
	if p, ok := t.(*Prompt); ok && p != nil && def == nil {
		return nil, invalidf("ai: prompt %q was not made by NewPrompt", p.Name)
	}
	if def == nil {
		return nil, invalidf("ai: a tool (%T) has no definition", t)
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
	if r == nil {
		return invalidf("ai: the registry is nil")
	}
	added := make([]*entry, 0, len(tools))
	for i, t := range tools {
		if t == nil {
			return invalidf("ai: register: tool %d is nil", i)
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

// Use adds middleware around every call of a tool of this registry, in order,
// the first one outermost. Names must be unique.
func (r *Registry) Use(middleware ...*Middleware) error {
	if r == nil {
		return invalidf("ai: the registry is nil")
	}
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
// last slash), or the keys /tool/NAME, /tool.v2/NAME (the only one that multipart
// tools have), /prompt/NAME and /dynamic-action-provider/NAME, tried in that
// order. NAME is a full or a short name, that of a provider is its whole name.
// Nothing of that name is ErrNotFound; a name that fits several tools is
// ErrInvalidArgument and lists them.
func (r *Registry) Lookup(ctx context.Context, name string) (Tool, error) {
	found, err := r.snapshot(ctx).find(name)
	switch {
	case err != nil:
		return nil, err
	case len(found) == 0:
		return nil, notFoundf("ai: the tool provider of %q offers no tools", name)
	case len(found) > 1:
		return nil, ambiguous(name, found)
	}
	return found[0].tool, nil
}

// Tools makes a set of exactly the named tools, in that order. Names are those
// of Lookup; the key of a provider stands for all that it offers. A tool named
// twice is in the set once. Tools that may be missing because a provider is down
// make no error here; they are unavailable in the set.
func (r *Registry) Tools(ctx context.Context, names ...string) (*ToolSet, error) {
	s := r.snapshot(ctx)
	var entries []*entry
	var missing unavailableError
	for _, name := range names {
		found, err := s.find(name)
		if down := (*unavailableError)(nil); errors.As(err, &down) {
			missing.add(down)
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
	return newToolSet(entries, &missing, s.middleware, s.strict)
}

// AllTools makes a set of every tool: the registered ones in registration
// order, then those of the providers. A provider that is down makes no error
// here; its tools are unavailable in the set.
func (r *Registry) AllTools(ctx context.Context) (*ToolSet, error) {
	s := r.snapshot(ctx)
	return newToolSet(s.entries, &unavailableError{down: s.down}, s.middleware, s.strict)
}

// find returns the tools of a name: one, or several where the name fits several.
// It returns none without an error for a provider that offers nothing.
func (s *snapshot) find(name string) ([]*entry, error) {
	for _, matches := range nameForms(name) {
		if found := s.matching(matches); len(found) > 0 {
			return found, nil
		}
	}
	if provider, ok := strings.CutPrefix(name, keyFormProvider); ok {
		if found, known, err := s.offeredBy(provider); known {
			return found, err
		}
	}
	if len(s.down) > 0 {
		return nil, &unavailableError{wanted: []string{name}, down: s.down}
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
		{keyFormMultipart, func(e *entry) bool { return !e.isPrompt() }},
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
	return forms
}

func (e *entry) isPrompt() bool {
	_, ok := e.tool.(*Prompt)
	return ok
}

func ambiguous(name string, found []*entry) error {
	names := make([]string, len(found))
	for i, e := range found {
		names[i] = e.def.Name
	}
	return invalidf("ai: the name %q fits several tools: %s", name, quoted(names))
}
