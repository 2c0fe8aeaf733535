package session

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"time"

	"github.com/holdpoint/ai"
)

// Load reads a session: its conversation, and what waits for a person. It changes
// nothing.
func (m *Manager) Load(ctx context.Context, id string) (*Result, error) {
	s, err := m.existing(ctx, id)
	if err != nil {
		return nil, err
	}
	return s.result()
}

func (m *Manager) existing(ctx context.Context, id string) (*state, error) {
	if m.Store == nil {
		return nil, m.check()
	}
	s, err := load(ctx, m.Store, id)
	if err != nil {
		return nil, err
	}
	if s.revision.N == 0 {
		return nil, notFound(id)
	}
	return s, nil
}

// PendingPage is a page of what waits for people.
type PendingPage struct {
	// Pending are the questions, by session and in request order.
	Pending []*Pending
	// Next is passed on as ListOptions.After for the next page. Empty means that this
	// is the last.
	Next string
}

// ListOptions say which questions to list. Nil lists all.
type ListOptions struct {
	// DueBefore restricts the list to sessions with a deadline before that time.
	// Zero means no restriction.
	DueBefore time.Time
	// After is the Next of the page before. Empty means the first page.
	After string
	// Limit bounds how many sessions a page looks at. Zero means 100.
	Limit int
}

// List lists what waits for people, across all sessions of the store. Its cost is
// that of the sessions on the page.
func (m *Manager) List(ctx context.Context, opts *ListOptions) (*PendingPage, error) {
	if m.Store == nil {
		return nil, m.check()
	}
	if opts == nil {
		opts = &ListOptions{}
	}
	ids, err := m.Store.List(ctx, &Query{Pending: true, DueBefore: opts.DueBefore, After: opts.After, Limit: opts.Limit})
	if err != nil {
		return nil, err
	}
	page := &PendingPage{Next: ids.Next}
	for _, id := range ids.IDs {
		s, err := load(ctx, m.Store, id)
		if err != nil {
			return nil, fmt.Errorf("session %q: %w", id, err)
		}
		page.Pending = append(page.Pending, s.open()...)
	}
	return page, nil
}

// Recover runs every session that can go on without anybody and that nobody runs:
// after a crash, after a deploy, and for what was decided since. It yields the id of
// each session it has run, with its error where that failed; an error without an id
// ends it. Several may recover at once.
func (m *Manager) Recover(ctx context.Context) iter.Seq2[string, error] {
	return m.runEach(ctx, func() Query { return Query{Runnable: true, Running: true} })
}

// ExpireDue settles the questions whose deadline has passed, in all sessions, as
// expired, and goes on with those sessions. It yields as Recover does.
func (m *Manager) ExpireDue(ctx context.Context) iter.Seq2[string, error] {
	return m.runEach(ctx, func() Query { return Query{Pending: true, DueBefore: time.Now()} })
}

// runEach runs the sessions that a query names, but for those that others run or have
// deleted.
func (m *Manager) runEach(ctx context.Context, query func() Query) iter.Seq2[string, error] {
	return func(yield func(string, error) bool) {
		if err := m.check(); err != nil {
			yield("", err)
			return
		}
		for id, err := range m.sessions(ctx, query()) {
			if err != nil {
				yield("", err)
				return
			}
			if _, err = m.Run(ctx, id); errors.Is(err, ErrBusy) || errors.Is(err, ErrNotFound) {
				continue
			}
			if !yield(id, err) {
				return
			}
		}
	}
}

// sessions yields the ids of the sessions that a query names, page by page.
func (m *Manager) sessions(ctx context.Context, q Query) iter.Seq2[string, error] {
	return func(yield func(string, error) bool) {
		for {
			page, err := m.Store.List(ctx, &q)
			if err != nil {
				yield("", err)
				return
			}
			for _, id := range page.IDs {
				if !yield(id, nil) {
					return
				}
			}
			if q.After = page.Next; q.After == "" {
				return
			}
		}
	}
}

// Save writes facts that a StoreError handed out, once the store is back. Saving
// them twice does no harm: an outcome counts once.
func (m *Manager) Save(ctx context.Context, failed *StoreError) error {
	s, err := m.existing(ctx, failed.Session)
	if err != nil {
		return err
	}
	c := &commit{}
	for _, data := range failed.Entries {
		e, err := decodeEntry(data)
		if err != nil {
			return err
		}
		if e.Kind != kindOutcome {
			return fmt.Errorf("%w: session: only outcomes can be saved later, not %s", ai.ErrInvalidArgument, e.Kind)
		}
		c.entries = append(c.entries, e)
	}
	return (&committer{store: m.Store, state: s}).append(ctx, c)
}

// Delete removes a session, whatever its state. One that is being run is ErrBusy.
func (m *Manager) Delete(ctx context.Context, id string) error {
	if err := m.check(); err != nil {
		return err
	}
	claim, err := m.locks().Claim(ctx, id)
	if err != nil {
		return err
	}
	defer claim.Release(context.WithoutCancel(ctx))
	s, err := m.existing(ctx, id)
	if err != nil {
		return err
	}
	return (&committer{store: m.Store, state: s}).append(ctx, &commit{entries: []*entry{{Kind: kindDeleted}}, remove: true})
}
