package session

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/holdpoint/ai"
)

// reserved begins the ids of logs that are not sessions.
const reserved = "holdpoint:"

// grantsLog is the log of all standing approvals.
const grantsLog = reserved + "grants"

// Grants keeps standing approvals in a store, in one log. It is an ai.GrantSpender,
// safe for concurrent use, also by several processes where the store is.
type Grants struct {
	// Store keeps the log. Required.
	Store Store
}

// Standing is a grant, and what has become of it.
type Standing struct {
	// Grant is what was granted.
	Grant *ai.Grant
	// Granted is when.
	Granted time.Time
	// Used is how often it was used.
	Used int
	// RevokedBy is who revoked it. Empty while nobody has.
	RevokedBy string
}

// grantEntry is one fact about a grant.
type grantEntry struct {
	At      time.Time `json:"at"`
	Granted *ai.Grant `json:"granted,omitempty"`
	Used    string    `json:"used,omitempty"`
	Revoked string    `json:"revoked,omitempty"`
	By      string    `json:"by,omitempty"`
}

// Grant keeps a grant and returns it with its id. One without a subject, a tool or a
// definition is ErrInvalidArgument, and so is an id that is taken.
func (g *Grants) Grant(ctx context.Context, grant *ai.Grant) (*ai.Grant, error) {
	if grant == nil || grant.Subject == "" || grant.Tool == "" || grant.Definition == "" || grant.Uses < 0 {
		return nil, fmt.Errorf("%w: session: a grant needs a subject, a tool and the digest of its definition, and no negative uses", ai.ErrInvalidArgument)
	}
	kept := *grant
	if kept.ID == "" {
		kept.ID = "grant_" + rand.Text()
	}
	err := g.append(ctx, func(list []*Standing) (*grantEntry, error) {
		if find(list, kept.ID) != nil {
			return nil, fmt.Errorf("%w: session: there is a grant %q", ai.ErrInvalidArgument, kept.ID)
		}
		return &grantEntry{Granted: &kept}, nil
	})
	if err != nil {
		return nil, err
	}
	return &kept, nil
}

// Revoke ends a grant: no call that starts after it uses it. One that is not there is
// ErrNotFound; the second time does nothing.
func (g *Grants) Revoke(ctx context.Context, id, by string) error {
	return g.append(ctx, func(list []*Standing) (*grantEntry, error) {
		s := find(list, id)
		if s == nil {
			return nil, fmt.Errorf("%w: grant %q", ErrNotFound, id)
		}
		if s.revoked() {
			return nil, errNothing
		}
		return &grantEntry{Revoked: id, By: by}, nil
	})
}

// List lists all grants, in the order in which they were given.
func (g *Grants) List(ctx context.Context) ([]*Standing, error) {
	list, _, err := g.read(ctx)
	return list, err
}

// SpendGrant uses one grant that covers the call: the one with the fewest uses left.
func (g *Grants) SpendGrant(ctx context.Context, q *ai.GrantQuery) (*ai.Grant, error) {
	var spent *ai.Grant
	err := g.append(ctx, func(list []*Standing) (*grantEntry, error) {
		best := choose(list, q, time.Now())
		if best == nil {
			spent = nil
			return nil, errNothing
		}
		spent = best.Grant
		return &grantEntry{Used: spent.ID}, nil
	})
	if err != nil {
		return nil, err
	}
	return spent, nil
}

// choose prefers grants that are used up soonest, and among those the oldest.
func choose(list []*Standing, q *ai.GrantQuery, now time.Time) *Standing {
	var best *Standing
	for _, s := range list {
		if s.revoked() || !s.Grant.Covers(q, now) || s.left() == 0 {
			continue
		}
		if best == nil || best.left() < 0 || s.left() > 0 && s.left() < best.left() {
			best = s
		}
	}
	return best
}

// left is how often a grant can still be used; negative is without bound.
func (s *Standing) left() int {
	if s.Grant.Uses == 0 {
		return -1
	}
	return max(0, s.Grant.Uses-s.Used)
}

func (s *Standing) revoked() bool { return s.RevokedBy != "" }

func find(list []*Standing, id string) *Standing {
	i := slices.IndexFunc(list, func(s *Standing) bool { return s.Grant.ID == id })
	if i < 0 {
		return nil
	}
	return list[i]
}

// append writes what decide makes of the grants as they are, and asks it again where
// they have changed meanwhile.
func (g *Grants) append(ctx context.Context, decide func([]*Standing) (*grantEntry, error)) error {
	return appendTo(ctx, g.Store, grantsLog, func() (any, Revision, error) {
		list, at, err := g.read(ctx)
		if err != nil {
			return nil, at, err
		}
		e, err := decide(list)
		if e != nil {
			e.At = time.Now().UTC()
		}
		return e, at, err
	})
}

func (g *Grants) read(ctx context.Context) ([]*Standing, Revision, error) {
	if g.Store == nil {
		return nil, Revision{}, fmt.Errorf("session: the grants have no store")
	}
	var list []*Standing
	at, err := readLog(ctx, g.Store, grantsLog, func(data json.RawMessage) error {
		e := &grantEntry{}
		if err := json.Unmarshal(data, e); err != nil {
			return err
		}
		switch {
		case e.Granted != nil:
			list = append(list, &Standing{Grant: e.Granted, Granted: e.At})
		case e.Used != "":
			if s := find(list, e.Used); s != nil {
				s.Used++
			}
		case e.Revoked != "":
			if s := find(list, e.Revoked); s != nil {
				s.RevokedBy = e.By
				if s.RevokedBy == "" {
					s.RevokedBy = "somebody"
				}
			}
		}
		return nil
	})
	return list, at, err
}

// readLog reads a log that is not a session. One that is not there is empty.
func readLog(ctx context.Context, store Store, id string, take func(json.RawMessage) error) (Revision, error) {
	log, err := store.Read(ctx, id, Revision{})
	if errors.Is(err, ErrNotFound) {
		return Revision{}, nil
	}
	if err != nil {
		return Revision{}, err
	}
	for _, b := range log.Batches {
		for _, data := range b.Entries {
			if err := take(data); err != nil {
				return Revision{}, fmt.Errorf("log %s: %w", id, err)
			}
		}
	}
	return log.Revision, nil
}

// appendTo appends one entry to a log that is not a session. Where the log has moved
// on, the entry is made anew. An error that leaves open whether the entry was written
// is returned: what it was to allow then does not happen.
func appendTo(ctx context.Context, store Store, id string, next func() (any, Revision, error)) error {
	for {
		e, at, err := next()
		if errors.Is(err, errNothing) {
			return nil
		}
		if err != nil {
			return err
		}
		data, err := json.Marshal(e)
		if err != nil {
			return err
		}
		_, err = store.Append(ctx, id, at, &Batch{ID: rand.Text(), Entries: []json.RawMessage{data}})
		if !errors.Is(err, ErrConflict) {
			return err
		}
	}
}
