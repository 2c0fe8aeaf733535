package sqlstore

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/holdpoint/ai/session"
)

// defaultLimit bounds a page whose query does not.
const defaultLimit = 100

// List lists sessions by their flags, in the order of their ids.
func (s *Store) List(ctx context.Context, q *session.Query) (*session.Page, error) {
	limit := q.Limit
	if limit <= 0 {
		limit = defaultLimit
	}
	where, args := conditions(q)
	args = append(args, limit+1)
	rows, err := s.db.QueryContext(ctx, fmt.Sprintf(
		`SELECT id FROM holdpoint_sessions WHERE %s ORDER BY id LIMIT $%d`, where, len(args)), args...)
	if err != nil {
		return nil, fmt.Errorf("sqlstore: list: %w", err)
	}
	defer rows.Close()
	page := &session.Page{}
	for rows.Next() {
		var id []byte
		if err := rows.Scan(&id); err != nil {
			return nil, fmt.Errorf("sqlstore: list: %w", err)
		}
		if len(page.IDs) == limit {
			page.Next = page.IDs[limit-1]
			break
		}
		page.IDs = append(page.IDs, string(id))
	}
	if err := rows.Err(); err != nil {
		return nil, fmt.Errorf("sqlstore: list: %w", err)
	}
	return page, nil
}

// conditions writes a query as SQL. Each list of flags that a Manager asks for has an
// index whose condition reads the same.
func conditions(q *session.Query) (string, []any) {
	var flags []string
	for _, f := range []struct {
		set  bool
		name string
	}{{q.Pending, "pending"}, {q.Runnable, "runnable"}, {q.Running, "running"}} {
		if f.set {
			flags = append(flags, f.name)
		}
	}
	where, args := []string{}, []any{}
	if len(flags) > 0 {
		where = append(where, "("+strings.Join(flags, " OR ")+")")
	}
	if !q.DueBefore.IsZero() {
		args = append(args, q.DueBefore.UnixMicro())
		where = append(where, fmt.Sprintf("due < $%d", len(args)))
	}
	args = append(args, []byte(q.After))
	return strings.Join(append(where, fmt.Sprintf("id > $%d", len(args))), " AND "), args
}

// due is a deadline as it is stored: microseconds, or nothing. It is rounded up, so
// that nothing is due before its time.
func due(f *session.Flags) any {
	if f.Due.IsZero() {
		return nil
	}
	return f.Due.Add(time.Microsecond - 1).UnixMicro()
}
