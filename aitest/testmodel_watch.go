package aitest

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/holdpoint/ai"
)

// watchedModel holds each call of a model to the rules that hold for all.
type watchedModel struct {
	t     *modelTest
	model ai.Model
}

// Generate calls the model.
func (m *watchedModel) Generate(ctx context.Context, req *ai.ModelRequest, emit func(*ai.Chunk) error) (*ai.ModelResponse, error) {
	before := jsonText(req)
	w := &watch{t: m.t, reader: emit, calls: map[int]*watchedCall{}}
	var passed func(*ai.Chunk) error
	if emit != nil {
		passed = w.emit
	}
	resp, err := m.model.Generate(ctx, req, passed)
	w.end()
	if after := jsonText(req); after != before {
		m.t.Errorf("Generate changed the request:\n\tbefore %s\n\tafter  %s", before, after)
	}
	switch {
	case err != nil && resp != nil:
		m.t.Errorf("Generate returned a response beside the error %v", err)
	case err == nil && (resp == nil || resp.Message == nil):
		m.t.Errorf("Generate returned neither a message nor an error")
	case err == nil:
		w.checkResponse(resp)
	}
	return resp, err
}

// watch is what was streamed in one call.
type watch struct {
	t      *modelTest
	reader func(*ai.Chunk) error

	busy, mu        sync.Mutex
	over            bool
	failed          error
	text, reasoning strings.Builder
	calls           map[int]*watchedCall
	whole           []*ai.ToolRequestPart
}

// watchedCall is what was streamed of one tool request.
type watchedCall struct {
	ref, name string
	deltas    strings.Builder
	end       *ai.ToolRequestPart
}

func (w *watch) emit(c *ai.Chunk) error {
	if !w.busy.TryLock() {
		w.t.Errorf("emit was called while an earlier call of it was running")
		return nil
	}
	defer w.busy.Unlock()
	w.mu.Lock()
	over, failed := w.over, w.failed
	w.mu.Unlock()
	if over {
		w.t.Errorf("emit was called after Generate had returned")
		return nil
	}
	if failed != nil {
		w.t.Errorf("emit was called again after it had failed")
		return failed
	}
	w.add(c)
	err := w.reader(c)
	w.mu.Lock()
	w.failed = err
	w.mu.Unlock()
	return err
}

func (w *watch) end() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.over = true
}

// add takes up a chunk.
func (w *watch) add(c *ai.Chunk) {
	if c.Role != ai.RoleModel {
		w.t.Errorf("a chunk is of role %q instead of %q", c.Role, ai.RoleModel)
	}
	if c.Tool != nil {
		w.event(c)
		return
	}
	for _, p := range c.Content {
		switch p := p.(type) {
		case *ai.TextPart:
			w.piece(&w.text, p.Text)
		case *ai.ReasoningPart:
			w.piece(&w.reasoning, p.Reasoning)
		case *ai.ToolRequestPart:
			w.whole = append(w.whole, p)
		}
	}
}

func (w *watch) piece(to *strings.Builder, text string) {
	if !utf8.ValidString(text) {
		w.t.Errorf("a chunk cuts a character: %q", text)
	}
	to.WriteString(text)
}

// event takes up what happened to a tool request.
func (w *watch) event(chunk *ai.Chunk) {
	e := chunk.Tool
	c := w.calls[e.Index]
	if (c == nil) != (e.Kind == ai.ToolStart) {
		w.t.Errorf("tool request %d has an event of kind %q out of order: a start comes first, and once", e.Index, e.Kind)
		return
	}
	if c == nil {
		c = &watchedCall{}
		w.calls[e.Index] = c
	}
	if c.end != nil {
		w.t.Errorf("tool request %d has an event of kind %q behind its end", e.Index, e.Kind)
		return
	}
	w.settled(e.Index, "ref", &c.ref, e.Ref)
	w.settled(e.Index, "name", &c.name, e.Name)
	if (e.Delta != "") != (e.Kind == ai.ToolDelta) {
		w.t.Errorf("tool request %d has an event of kind %q with the delta %q", e.Index, e.Kind, e.Delta)
	}
	w.piece(&c.deltas, e.Delta)
	if e.Kind != ai.ToolEnd {
		return
	}
	req, ok := onlyRequest(chunk.Content)
	if !ok {
		w.t.Errorf("the end of tool request %d does not hold the whole request, but %s", e.Index, jsonText(chunk.Content))
		req = &ai.ToolRequestPart{}
	}
	c.end = req
}

// settled keeps what an event says of a request, which may become known but not change.
func (w *watch) settled(index int, what string, known *string, now string) {
	if *known != "" && now != *known {
		w.t.Errorf("the %s of tool request %d changes from %q to %q", what, index, *known, now)
	}
	*known = now
}

func onlyRequest(parts ai.Parts) (*ai.ToolRequestPart, bool) {
	if len(parts) != 1 {
		return nil, false
	}
	req, ok := parts[0].(*ai.ToolRequestPart)
	return req, ok
}

// checkResponse compares the response with what was streamed.
func (w *watch) checkResponse(resp *ai.ModelResponse) {
	m := resp.Message
	if m.Role != ai.RoleModel {
		w.t.Errorf("the reply is of role %q instead of %q", m.Role, ai.RoleModel)
	}
	if resp.FinishReason == "" || resp.FinishReason == ai.FinishUnknown {
		w.t.Errorf("the finish reason of the reply is %q", resp.FinishReason)
	}
	if text := jsonText(m); !strings.HasPrefix(text, "{") {
		w.t.Errorf("the reply: %s", text)
	}
	if w.reader == nil {
		return
	}
	w.same("text", w.text.String(), m.Text())
	w.same("reasoning", w.reasoning.String(), reasoningOf(m))
	requests := m.ToolRequests()
	for i, req := range requests {
		w.checkCall(i, req)
	}
	for i := range w.calls {
		if i < 0 || i >= len(requests) {
			w.t.Errorf("there are events for tool request %d, but the reply has %d", i, len(requests))
		}
	}
}

func (w *watch) same(what, streamed, final string) {
	if streamed != final {
		w.t.Errorf("the %s of the chunks, joined, is not that of the reply:\n\tstreamed %q\n\tfinal    %q", what, streamed, final)
	}
}

// checkCall compares a tool request with its events, or with the part that came whole.
func (w *watch) checkCall(i int, req *ai.ToolRequestPart) {
	c := w.calls[i]
	if c == nil {
		for _, p := range w.whole {
			if requestText(p) == requestText(req) {
				return
			}
		}
		w.t.Errorf("tool request %d was not streamed: %s", i, requestText(req))
		return
	}
	if c.end == nil {
		w.t.Errorf("tool request %d has no end, though its message came whole", i)
		return
	}
	w.same(fmt.Sprintf("end of tool request %d", i), requestText(c.end), requestText(req))
	w.same(fmt.Sprintf("ref of tool request %d", i), c.ref, req.ToolRequest.Ref)
	w.same(fmt.Sprintf("name of tool request %d", i), c.name, req.ToolRequest.Name)
	// The delta of a call without arguments need not come.
	if sent := arguments(req); c.deltas.Len() > 0 || strings.Trim(sent, "{} ") != "" {
		w.same(fmt.Sprintf("arguments of tool request %d", i), c.deltas.String(), sent)
	}
}

// requestText is what a request asks for.
func requestText(req *ai.ToolRequestPart) string {
	return fmt.Sprintf("%s %s", label(req.ToolRequest.Name, req.ToolRequest.Ref), arguments(req))
}

// reasoningOf is the reasoning of a message, joined.
func reasoningOf(m *ai.Message) string {
	var text strings.Builder
	for _, p := range m.Content {
		if r, ok := p.(*ai.ReasoningPart); ok {
			text.WriteString(r.Reasoning)
		}
	}
	return text.String()
}
