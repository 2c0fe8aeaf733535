package aitest

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/holdpoint/ai"
)

// Model is an ai.Model that answers from a script. It fails its test on a
// request that the script has no reply to, on one that no provider would take
// (see CheckHistory), and, at the end of a test that has not failed, on replies
// that nobody asked for. It is safe for concurrent use; requests that come side
// by side get their replies in the order in which they arrive.
type Model struct {
	t       testing.TB
	respond func(ctx context.Context, req *ai.ModelRequest) *Reply // nil: the replies in order
	replies []*Reply

	mu       sync.Mutex
	requests []*ai.ModelRequest
	over     bool // the test is, so that it can't be told anything
}

// NewModel makes a model that gives these replies, in order, one to a request.
func NewModel(t testing.TB, replies ...*Reply) *Model {
	t.Helper()
	if i := slices.Index(replies, nil); i >= 0 {
		t.Fatalf("aitest: reply %d is nil", i+1)
	}
	m := &Model{t: t, replies: slices.Clone(replies)}
	t.Cleanup(m.finish)
	return m
}

// NewModelFunc makes a model that asks a function for each reply. Nil means
// that the request is unexpected. The function is given a copy of the request,
// and is called from several goroutines where requests come side by side.
func NewModelFunc(t testing.TB, respond func(ctx context.Context, req *ai.ModelRequest) *Reply) *Model {
	t.Helper()
	if respond == nil {
		t.Fatalf("aitest: the model has no function")
	}
	m := &Model{t: t, respond: respond}
	t.Cleanup(m.finish)
	return m
}

// Requests returns what the model was asked so far, in order: copies that
// nothing changes afterwards, but for Config, which is kept as it was passed.
func (m *Model) Requests() []*ai.ModelRequest {
	m.mu.Lock()
	defer m.mu.Unlock()
	list := make([]*ai.ModelRequest, len(m.requests))
	for i, req := range m.requests {
		list[i] = cloneRequest(req)
	}
	return list
}

// Generate gives the next reply; ai.Generate and ai.Stream call it. Where
// somebody streams, text comes word by word, a tool request as events with a few
// bytes of its arguments each, any other part in one chunk. A request whose
// context has ended gets that as its error and no reply.
func (m *Model) Generate(ctx context.Context, req *ai.ModelRequest, emit func(*ai.Chunk) error) (*ai.ModelResponse, error) {
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	reply, err := m.next(ctx, req)
	if err != nil {
		return nil, err
	}
	if emit != nil {
		if err := stream(ctx, reply.Content, emit); err != nil {
			return nil, err
		}
	}
	if reply.Err != nil {
		return nil, reply.Err
	}
	return reply.response(), nil
}

// next records the request and finds its reply.
func (m *Model) next(ctx context.Context, req *ai.ModelRequest) (*Reply, error) {
	record := cloneRequest(req)
	m.mu.Lock()
	m.requests = append(m.requests, record)
	n := len(m.requests)
	m.mu.Unlock()
	if faults := historyFaults(record.Messages); len(faults) > 0 {
		return nil, m.fail("request %d has a history that no provider takes:%s", n, lines(faults))
	}
	if m.respond != nil {
		if reply := m.respond(ctx, cloneRequest(req)); reply != nil {
			return reply, nil
		}
		return nil, m.fail("unexpected request %d, %s: the function has no reply to it", n, ending(record))
	}
	if n > len(m.replies) {
		return nil, m.fail("unexpected request %d, %s: the script has %d", n, ending(record), len(m.replies))
	}
	return m.replies[n-1], nil
}

// fail reports to the test, unless that is over, and returns the same as an
// error, which ends the run.
func (m *Model) fail(format string, args ...any) error {
	err := fmt.Errorf("aitest: "+format, args...)
	m.mu.Lock()
	defer m.mu.Unlock()
	if !m.over {
		m.t.Errorf("%v", err)
	}
	return err
}

// finish is the end of the test.
func (m *Model) finish() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.over = true
	if unused := len(m.replies) - len(m.requests); unused > 0 && !m.t.Failed() && !m.t.Skipped() {
		m.t.Errorf("aitest: %d of %d replies were not asked for", unused, len(m.replies))
	}
}

// ending describes the last message of a request, to find it by.
func ending(req *ai.ModelRequest) string {
	last := req.Messages[len(req.Messages)-1]
	words := []string{last.Text()}
	for _, p := range last.Content {
		if r, ok := p.(*ai.ToolResponsePart); ok {
			words = append(words, fmt.Sprintf("%s: %s", r.ToolResponse.Name, r.ToolResponse.Output))
		}
	}
	text := []rune(strings.TrimSpace(strings.Join(words, " ")))
	const most = 200
	if len(text) > most {
		text = append(text[:most], '…')
	}
	return fmt.Sprintf("which ends with %s %q", last.Role, string(text))
}
