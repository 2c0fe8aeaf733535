package session

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/holdpoint/ai"
)

// Spent remembers in a store which questions of sealed conversations were answered,
// one log to a pause. It is an ai.Spender, safe for concurrent use, also by several
// processes where the store is.
type Spent struct {
	// Store keeps the logs. Required.
	Store Store
}

type spentEntry struct {
	Spent []string  `json:"spent"`
	Until time.Time `json:"until"`
}

// Spend marks items as spent, all of them or none.
func (s *Spent) Spend(ctx context.Context, lineage string, items []string, until time.Time) error {
	if s.Store == nil {
		return fmt.Errorf("session: there is no store for what is spent")
	}
	id := reserved + "spent:" + lineage
	return appendTo(ctx, s.Store, id, func() (any, Revision, error) {
		at, err := readLog(ctx, s.Store, id, func(data json.RawMessage) error {
			e := &spentEntry{}
			if err := json.Unmarshal(data, e); err != nil {
				return err
			}
			for _, item := range items {
				if slices.Contains(e.Spent, item) {
					return fmt.Errorf("%w: question %s", ai.ErrSpent, item)
				}
			}
			return nil
		})
		return &spentEntry{Spent: items, Until: until.UTC()}, at, err
	})
}
