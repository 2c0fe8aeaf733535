package ai

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// A ToolProvider offers tools that come and go, as an MCP server does.
// Implementations are safe for concurrent use.
//
//  1. Name is unique in its registry and does not change.
//  2. Tools returns what is on offer now, each tool under a full name that nobody
//     else in the registry uses. A tool that has not changed is returned with the
//     same *ToolDefinition, so that its schemas are compiled once.
//  3. An error means that the provider can't tell; its tools are unavailable
//     until it can. So they are when what it returns breaks a rule.
type ToolProvider interface {
	Name() string
	Tools(ctx context.Context) ([]Tool, error)
}

// AddProvider adds a provider of tools. It is asked for them each time a set is
// made or a name is looked up. A name that is empty or taken is an error.
func (r *Registry) AddProvider(p ToolProvider) error {
	if r == nil {
		return invalidf("ai: the registry is nil")
	}
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

// snapshot is what the registry holds and its providers offer at one moment.
type snapshot struct {
	entries    []*entry
	up         []string // the providers whose tools are among the entries
	down       []*providerError
	middleware []*Middleware
	strict     bool
}

// snapshot reads the registry and asks its providers, one after the other,
// outside the lock. A nil registry is an empty one.
func (r *Registry) snapshot(ctx context.Context) *snapshot {
	if r == nil {
		return &snapshot{}
	}
	r.mu.RLock()
	s := &snapshot{entries: slices.Clip(r.entries), middleware: r.middleware, strict: r.Strict}
	providers := slices.Clip(r.providers)
	r.mu.RUnlock()
	if len(providers) > 0 {
		r.ask(ctx, providers, s)
	}
	return s
}

// ask takes what each provider offers into the snapshot.
func (r *Registry) ask(ctx context.Context, providers []ToolProvider, s *snapshot) {
	names := make(map[string]*entry, len(s.entries))
	for _, e := range s.entries {
		names[e.def.Name] = e
	}
	withheld := make(map[*entry]bool)
	for _, p := range providers {
		offered, err := r.offer(ctx, p)
		if err == nil {
			err = claimNames(p.Name(), offered, names, withheld)
		}
		if err != nil {
			s.down = append(s.down, &providerError{p.Name(), err})
			continue
		}
		s.up = append(s.up, p.Name())
		s.entries = append(s.entries, offered...)
	}
	if len(withheld) > 0 {
		s.entries = slices.DeleteFunc(slices.Clone(s.entries), func(e *entry) bool { return withheld[e] })
	}
}

// claimNames enters what a provider offers under its names. One that is taken is
// an error; where another provider has it, that one's tool is withheld too, since
// nobody can say which of the two a request means. A registered tool stays.
func claimNames(provider string, offered []*entry, names map[string]*entry, withheld map[*entry]bool) error {
	var err error
	own := make(map[string]bool, len(offered))
	for _, e := range offered {
		name := e.def.Name
		other := names[name]
		switch {
		case own[name]:
			err = invalidf("ai: it offers tool %q twice", name)
		case other != nil && other.provider == "":
			err = invalidf("ai: it offers tool %q, which is registered", name)
		case other != nil:
			withheld[other] = true
			err = invalidf("ai: it offers tool %q, and so does tool provider %q", name, other.provider)
		}
		own[name] = true
	}
	if err != nil {
		return err
	}
	for _, e := range offered {
		names[e.def.Name] = e
	}
	return nil
}

// offer takes what a provider offers now, compiling only what is new.
func (r *Registry) offer(ctx context.Context, p ToolProvider) ([]*entry, error) {
	tools, err := p.Tools(ctx)
	if err != nil {
		return nil, err
	}
	r.mu.RLock()
	known := r.offered[p.Name()]
	r.mu.RUnlock()
	entries := make([]*entry, 0, len(tools))
	for _, t := range tools {
		e, err := offeredEntry(t, p.Name(), known)
		if err != nil {
			return nil, err
		}
		entries = append(entries, e)
	}
	r.remember(p.Name(), entries)
	return entries, nil
}

// offeredEntry is newEntry for a tool whose definition may be known already, be
// it that the tool around it is another one.
func offeredEntry(t Tool, provider string, known map[*ToolDefinition]*compiledSchemas) (*entry, error) {
	if t == nil {
		return nil, invalidf("ai: it offers a nil tool")
	}
	def := t.Definition()
	if schemas := known[def]; schemas != nil {
		return &entry{tool: t, def: def, schemas: schemas, provider: provider}, nil
	}
	return newEntry(t, provider)
}

// remember keeps the compiled definitions of a provider for the next time, and
// forgets those it no longer offers.
func (r *Registry) remember(provider string, entries []*entry) {
	compiled := make(map[*ToolDefinition]*compiledSchemas, len(entries))
	for _, e := range entries {
		compiled[e.def] = e.schemas
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.offered == nil {
		r.offered = make(map[string]map[*ToolDefinition]*compiledSchemas)
	}
	r.offered[provider] = compiled
}

// offeredBy lists what a provider offers, which may be nothing. The bool is
// false where no provider has the name.
func (s *snapshot) offeredBy(provider string) ([]*entry, bool, error) {
	for _, d := range s.down {
		if d.provider == provider {
			return nil, true, &unavailableError{down: []*providerError{d}}
		}
	}
	if !slices.Contains(s.up, provider) {
		return nil, false, nil
	}
	return s.matching(func(e *entry) bool { return e.provider == provider }), true, nil
}

// providerError is a provider that could not tell what it offers.
type providerError struct {
	provider string
	err      error
}

func (e *providerError) Error() string {
	return fmt.Sprintf("%q: %s", e.provider, trimPrefix(e.err.Error()))
}

func (e *providerError) Unwrap() error { return e.err }

// unavailableError says what is missing because of providers that are down.
type unavailableError struct {
	wanted []string // the names that were looked for; empty where all tools are meant
	down   []*providerError
}

// any reports whether anything is unavailable. Nil is nothing: the zero set works.
func (e *unavailableError) any() bool { return e != nil && len(e.down) > 0 }

// add takes over what another error misses, each name and provider once.
func (e *unavailableError) add(other *unavailableError) {
	e.wanted = append(e.wanted, other.wanted...)
	for _, d := range other.down {
		if !slices.Contains(e.down, d) {
			e.down = append(e.down, d)
		}
	}
}

func (e *unavailableError) Error() string {
	causes := make([]string, len(e.down))
	for i, d := range e.down {
		causes[i] = d.Error()
	}
	cause := strings.Join(causes, "; ")
	switch len(e.wanted) {
	case 0:
		return "ai: tool provider unavailable: " + cause
	case 1:
		return fmt.Sprintf("ai: tool %s is not available, and the tool provider that may have it is not either: %s", quoted(e.wanted), cause)
	}
	return fmt.Sprintf("ai: tools %s are not available, and the tool provider that may have them is not either: %s", quoted(e.wanted), cause)
}

// Unwrap returns the causes and ErrNotFound.
func (e *unavailableError) Unwrap() []error {
	errs := make([]error, 0, len(e.down)+1)
	for _, d := range e.down {
		errs = append(errs, d)
	}
	return append(errs, ErrNotFound)
}

// quoted lists names for an error text.
func quoted(names []string) string {
	list := make([]string, len(names))
	for i, name := range names {
		list[i] = strconv.Quote(name)
	}
	return strings.Join(list, ", ")
}
