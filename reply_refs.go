package ai

import "github.com/holdpoint/ai/internal/partialjson"

// streamedCall is a tool request of a reply as the reader of the stream knows it.
type streamedCall struct {
	index     int
	sent      string              // the ref that the model sent; may come late or never
	ref       string              // the ref that the reader was told
	name      string              // may come late
	arguments *partialjson.Parser // nil until some have come
	started   bool                // the reader has been told of the call
	ended     bool                // and of its end
	matched   bool                // with a request of the whole reply
}

// callList is the tool requests of one reply. It gives refs to those that have
// none, or one that is taken: as they are streamed, and the same in the whole reply.
type callList struct {
	calls []*streamedCall
	taken map[string]bool // refs
	whole int             // requests of the whole reply that were looked up
}

// add is the next request.
func (l *callList) add(sent, name string) *streamedCall {
	c := &streamedCall{index: len(l.calls), sent: sent, ref: l.unique(sent), name: name}
	l.calls = append(l.calls, c)
	return c
}

// unique is the ref, or a new one where there is none or another request has it.
func (l *callList) unique(ref string) string {
	if ref == "" || l.taken[ref] {
		ref = newRef()
	}
	if l.taken == nil {
		l.taken = make(map[string]bool)
	}
	l.taken[ref] = true
	return ref
}

// find is what was streamed of the next request of the whole reply: what has its
// position, unless ref or name speak against that, else what has its ref, else
// what has its name. A request that was not streamed is added.
func (l *callList) find(req *ToolRequest) *streamedCall {
	at := l.whole
	l.whole++
	c := l.at(at)
	if c == nil || c.matched || !either(c.name, req.Name) || !either(c.sent, req.Ref) {
		c = l.match(func(c *streamedCall) bool { return c.sent == req.Ref && c.name == req.Name })
	}
	if c == nil {
		c = l.match(func(c *streamedCall) bool { return c.name == req.Name })
	}
	if c == nil {
		c = l.add(req.Ref, req.Name)
	}
	c.matched = true
	return c
}

func (l *callList) at(i int) *streamedCall {
	if i < 0 || i >= len(l.calls) {
		return nil
	}
	return l.calls[i]
}

func (l *callList) match(fits func(*streamedCall) bool) *streamedCall {
	for _, c := range l.calls {
		if !c.matched && fits(c) {
			return c
		}
	}
	return nil
}

// either reports whether two texts are the same where both are known.
func either(a, b string) bool { return a == b || a == "" || b == "" }

func withRef(req *ToolRequestPart, ref string) *ToolRequestPart {
	if req.ToolRequest.Ref == ref {
		return req
	}
	c := *req
	c.ToolRequest.Ref = ref
	return &c
}
