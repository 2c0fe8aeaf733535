package ai

import (
	"fmt"
	"slices"
	"strings"
)

// Repair closes the holes of a history: each tool request without a response
// gets one, in the tool message behind its model message, which is made where
// there is none. The messages passed in are not changed. The result depends on
// the history alone, and repairing it again changes nothing.
//
// What a request is answered with follows from what its metadata says: a result
// that was kept over a pause is used; a call that asked or never started was not
// run; one that failed without a possible effect is an error; of any other nobody
// knows whether it ran, and the model is told not to repeat it. Marks of the
// unfinished turn are removed; metadata that can't be read counts as unknown.
func Repair(messages []*Message) []*Message {
	out := make([]*Message, 0, len(messages))
	for i := 0; i < len(messages); i++ {
		m := messages[i]
		if m == nil || m.Role != RoleModel || len(m.ToolRequests()) == 0 {
			out = append(out, m)
			continue
		}
		answers := followingTools(messages[i+1:])
		if len(unanswered(m, answers)) == 0 {
			out = append(out, m)
			continue
		}
		model, tool := closeTurn(m, answers)
		out = append(out, model, tool)
		i += len(answers)
	}
	return out
}

// followingTools are the tool messages directly behind a model message.
func followingTools(messages []*Message) []*Message {
	n := 0
	for n < len(messages) && messages[n] != nil && messages[n].Role == RoleTool {
		n++
	}
	return messages[:n]
}

// responses lists the tool responses of some messages.
func responses(messages []*Message) []*ToolResponsePart {
	var list []*ToolResponsePart
	for _, m := range messages {
		for _, p := range m.Content {
			if r, ok := p.(*ToolResponsePart); ok {
				list = append(list, r)
			}
		}
	}
	return list
}

// unanswered lists the requests of a model message that have no response of
// their name and ref in the messages behind it.
func unanswered(model *Message, tools []*Message) []*ToolRequestPart {
	rest := responses(tools)
	var open []*ToolRequestPart
	for _, req := range model.ToolRequests() {
		if i := indexOfResponse(rest, req); i >= 0 {
			rest = slices.Delete(rest, i, i+1)
			continue
		}
		open = append(open, req)
	}
	return open
}

func indexOfResponse(list []*ToolResponsePart, req *ToolRequestPart) int {
	return slices.IndexFunc(list, func(r *ToolResponsePart) bool {
		return r.ToolResponse.Name == req.ToolRequest.Name && r.ToolResponse.Ref == req.ToolRequest.Ref
	})
}

// closeTurn makes the model message and the one tool message of a turn with
// holes: responses in request order, then whatever else the tool messages held.
func closeTurn(m *Message, tools []*Message) (*Message, *Message) {
	rest := responses(tools)
	model, tool := *m, &Message{Role: RoleTool}
	if len(tools) > 0 {
		first := *tools[0]
		first.Content = nil
		tool = &first
	}
	model.Content = slices.Clone(m.Content)
	for i, p := range model.Content {
		req, ok := p.(*ToolRequestPart)
		if !ok {
			continue
		}
		if at := indexOfResponse(rest, req); at >= 0 {
			tool.Content = append(tool.Content, rest[at])
			rest = slices.Delete(rest, at, at+1)
			continue
		}
		closed, response := closeRequest(req)
		model.Content[i] = closed
		tool.Content = append(tool.Content, response)
	}
	for _, t := range tools {
		for _, p := range t.Content {
			if r, ok := p.(*ToolResponsePart); !ok || slices.Contains(rest, r) {
				tool.Content = append(tool.Content, p)
			}
		}
	}
	return &model, tool
}

// Texts of repaired calls.
const (
	textNotRun  = "This call was not run."
	textUnknown = "It is not known whether this call ran. It may have had its effect: do not repeat it."
)

// closeRequest settles one request for good, by what its metadata says.
func closeRequest(req *ToolRequestPart) (*ToolRequestPart, *ToolResponsePart) {
	s := &slot{part: req, ref: req.ToolRequest.Ref}
	var err error
	if s.marks, err = readMarks(req); err != nil {
		s.marks = marks{}
	}
	if err == nil && s.marks.pending && s.restore() == nil {
		s.marks.forgetPending()
	} else {
		s.marks.forgetPending()
		s.acceptResult(s.marks.epitaph())
	}
	s.marks.settle()
	closed, err := s.marks.write(req)
	if err != nil {
		closed = req // its metadata can't be written, so it stays as it was read
	}
	return closed, s.response
}

// epitaph is the result of a call that will not be resumed.
func (m *marks) epitaph() *ToolResult {
	switch f := m.failure; {
	case m.interrupt != nil || m.notStarted:
		return OutcomeResult(OutcomeSuperseded, textNotRun)
	case f != nil && !f.MayHaveActed:
		return ErrorResult(f.Text)
	}
	return OutcomeResult(OutcomeUnknown, textUnknown)
}

// checkHistory refuses requests without a response. Those of the last message
// may be open where they are being resumed, or all settled.
func checkHistory(messages []*Message, resuming bool) error {
	for i, m := range messages {
		if m.Role != RoleModel {
			continue
		}
		last := i == len(messages)-1
		if last && resuming {
			continue
		}
		open := unanswered(m, followingTools(messages[i+1:]))
		if last {
			open = withoutPending(open)
		}
		if len(open) == 0 {
			continue
		}
		names := make([]string, len(open))
		for j, req := range open {
			names[j] = req.label()
		}
		where := fmt.Sprintf("message %d", i)
		if last {
			where = "the last message"
		}
		return preconditionf("ai: tool requests of %s have no response: %s; answer them with Resume or close them with Repair", where, strings.Join(names, ", "))
	}
	return nil
}

// withoutPending drops the requests whose result is on record.
func withoutPending(open []*ToolRequestPart) []*ToolRequestPart {
	return slices.DeleteFunc(open, func(req *ToolRequestPart) bool {
		_, pending := req.Metadata[keyPendingOutput]
		return pending
	})
}

func hasNil(messages []*Message) bool { return slices.Contains(messages, nil) }
