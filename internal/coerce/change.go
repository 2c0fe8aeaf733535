package coerce

import (
	"strconv"
)

// record lists the changes that led to n.
func record(n *node) []Change {
	var rec recorder
	rec.value(n)
	return rec.changes
}

// recorder walks a mended value. Subtrees that were not changed are passed by.
type recorder struct {
	changes []Change
	path    []byte
}

func (rec *recorder) value(n *node) {
	if n.from != nil {
		rec.changes = append(rec.changes, Change{string(rec.path), n.from.raw, n.raw, n.rule})
	}
	if !n.changed {
		return
	}
	for _, m := range n.dropped {
		undo := rec.step(m.key)
		rec.changes = append(rec.changes, Change{string(rec.path), m.val.raw, nil, ruleNull})
		rec.path = rec.path[:undo]
	}
	for _, m := range n.members {
		undo := rec.step(m.key)
		rec.value(m.val)
		rec.path = rec.path[:undo]
	}
	for i, item := range n.items {
		undo := rec.step(strconv.AppendInt(nil, int64(i), 10))
		rec.value(item)
		rec.path = rec.path[:undo]
	}
}

// step goes one step down and returns how to cut the path to go up again.
func (rec *recorder) step(step []byte) (undo int) {
	undo = len(rec.path)
	if undo > 0 {
		rec.path = append(rec.path, '.')
	}
	rec.path = append(rec.path, step...)
	return undo
}
