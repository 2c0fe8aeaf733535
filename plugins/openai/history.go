package openai

import (
	"fmt"
	"strings"

	"github.com/holdpoint/ai"
	"github.com/holdpoint/ai/internal/adapter"
)

// maxID bounds the ids of calls that the API takes.
const maxID = 64

// pending is a call of the last model message.
type pending struct {
	part *ai.ToolRequestPart
	id   string               // as it is sent
	done *ai.ToolResponsePart // nil while it is open
}

func (p *pending) label() string {
	r := &p.part.ToolRequest
	if r.Ref == "" {
		return r.Name
	}
	return r.Name + "#" + r.Ref
}

// writer writes a history in the terms of one of the APIs.
type writer interface {
	say(role ai.Role, parts ai.Parts) error
	model(m *ai.Message, calls []*pending) error
	results(calls []*pending) error
}

// walk goes through a history, so that each call is answered once, in the order of
// the calls, directly behind them, whatever its messages look like.
func walk(messages []*ai.Message, w writer) error {
	ids := map[string]bool{}
	var open []*pending
	settle := func() error {
		for _, c := range open {
			if c.done == nil {
				return adapter.Precondition("ai: openai: tool request %s has no response", c.label())
			}
		}
		calls := open
		open = nil
		if len(calls) == 0 {
			return nil
		}
		return w.results(calls)
	}
	for i, m := range messages {
		if m == nil {
			return adapter.Invalid("ai: openai: message %d is nil", i)
		}
		err := error(nil)
		if m.Role != ai.RoleTool {
			if err := settle(); err != nil {
				return err
			}
		}
		switch m.Role {
		case ai.RoleModel:
			open = callsOf(m, ids)
			err = w.model(m, open)
		case ai.RoleTool:
			err = answer(open, m)
		default:
			err = w.say(m.Role, m.Content)
		}
		if err != nil {
			return fmt.Errorf("ai: openai: message %d (%s): %w", i, m.Role, trimmed{err})
		}
	}
	return settle()
}

// trimmed is an error without the package's prefix, inside another one.
type trimmed struct{ error }

func (t trimmed) Error() string { return strings.TrimPrefix(t.error.Error(), "ai: ") }
func (t trimmed) Unwrap() error { return t.error }

// callsOf gives each call of a message the id it is sent with: its ref where the API
// takes that and no call before has it, else one made of it, the same on every run.
func callsOf(m *ai.Message, ids map[string]bool) []*pending {
	var calls []*pending
	for _, part := range m.ToolRequests() {
		id := part.ToolRequest.Ref
		if id == "" || len(id) > maxID {
			id = fmt.Sprintf("call_%d", len(ids)+1)
		}
		unique := id
		for n := 2; ids[unique]; n++ {
			unique = fmt.Sprintf("%.50s_%d", id, n)
		}
		ids[unique] = true
		calls = append(calls, &pending{part: part, id: unique})
	}
	return calls
}

// answer takes the responses of a tool message.
func answer(open []*pending, m *ai.Message) error {
	for i, p := range m.Content {
		resp, ok := p.(*ai.ToolResponsePart)
		if !ok {
			return adapter.Invalid("ai: part %d is no tool response", i)
		}
		found := false
		for _, c := range open {
			r := &c.part.ToolRequest
			if c.done == nil && r.Name == resp.ToolResponse.Name && r.Ref == resp.ToolResponse.Ref {
				c.done, found = resp, true
				break
			}
		}
		if !found {
			return adapter.Invalid("ai: tool response %s#%s answers no open call of the message before it", resp.ToolResponse.Name, resp.ToolResponse.Ref)
		}
	}
	return nil
}

// told is the text of a result: an error says that it is one, since the wire has no
// other place for that.
func told(out *ai.ToolOutput) string {
	if out.IsError && !strings.HasPrefix(out.Text, "Denied") && !strings.HasPrefix(out.Text, "Error") {
		return "Error: " + out.Text
	}
	return out.Text
}

// unsupported is the error for a part that has no place in a message.
func unsupported(i int, p ai.Part) error {
	return adapter.Invalid("ai: part %d is a %s, which can't be sent to openai", i, strings.TrimPrefix(fmt.Sprintf("%T", p), "*ai."))
}
