package ai

import "slices"

// Repair closes the holes of a history, so that Generate and any provider take
// it: each tool request gets exactly one response, in the tool message behind its
// model message, which is made where there is none. Responses that stand later,
// but before the next model message, are moved there; those that answer nothing,
// such as the ones left when the start of a history was cut off, are dropped,
// and tool messages that held nothing else. The messages passed in are not
// changed. The result depends on the history alone, and repairing it again
// changes nothing.
//
// What a request is answered with follows from what its metadata says: a result
// that was kept over a pause is used; a call that asked or never started was not
// run; one that failed without a possible effect is an error; of any other nobody
// knows whether it ran, and the model is told not to repeat it. A call that hosts
// a conversation counts as run once one of that conversation's calls may have
// been. A conversation that was to be handed to a prompt is not. Marks of the
// unfinished turn are removed; metadata that can't be read counts as unknown.
func Repair(messages []*Message) []*Message {
	out := make([]*Message, 0, len(messages)+1)
	for i := 0; i < len(messages); {
		model := messages[i]
		if !isModel(model) {
			model = nil // the history was cut: what comes first has no request
		} else {
			i++
		}
		end := i
		for end < len(messages) && !isModel(messages[end]) {
			end++
		}
		out = appendTurn(out, model, messages[i:end])
		i = end
	}
	return out
}

func isModel(m *Message) bool { return m != nil && m.Role == RoleModel }

// appendTurn adds a model message, if there is one, and the messages up to the
// next, repaired.
func appendTurn(out []*Message, model *Message, rest []*Message) []*Message {
	tools, others := splitTools(rest)
	if model != nil && len(model.ToolRequests()) > 0 {
		if !wellAnswered(model, rest, tools) {
			model, tools = closeTurn(model, tools)
			rest = append(tools, others...)
		}
		return append(append(out, model), rest...)
	}
	if model != nil {
		out = append(out, model)
	}
	for _, m := range rest {
		if slices.Contains(tools, m) {
			if m = withoutResponses(m); m == nil {
				continue
			}
		}
		out = append(out, m)
	}
	return out
}

// splitTools takes out the tool messages that hold responses.
func splitTools(messages []*Message) (tools, others []*Message) {
	for _, m := range messages {
		if m != nil && m.Role == RoleTool && len(responses([]*Message{m})) > 0 {
			tools = append(tools, m)
		} else {
			others = append(others, m)
		}
	}
	return tools, others
}

// wellAnswered reports whether a turn needs no repair: one tool message with
// responses, directly behind the model message, one for each request.
func wellAnswered(model *Message, rest, tools []*Message) bool {
	return len(tools) == 1 && rest[0] == tools[0] && len(unanswered(model, tools)) == 0 &&
		len(responses(tools)) == len(model.ToolRequests())
}

// withoutResponses is a tool message without its responses; nil where nothing
// is left of it.
func withoutResponses(m *Message) *Message {
	c := *m
	c.Content = nil
	for _, p := range m.Content {
		if _, ok := p.(*ToolResponsePart); !ok {
			c.Content = append(c.Content, p)
		}
	}
	if len(c.Content) == 0 {
		return nil
	}
	return &c
}

// closeTurn makes the model message and the one tool message of a turn with
// holes: responses in request order, then whatever else the tool messages held.
func closeTurn(m *Message, tools []*Message) (*Message, []*Message) {
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
		if left := withoutResponses(t); left != nil {
			tool.Content = append(tool.Content, left.Content...)
		}
	}
	return &model, []*Message{tool}
}

// Texts of repaired calls.
const (
	textNotRun  = "This call was not run."
	textUnknown = "It is not known whether this call ran. It may have had its effect: do not repeat it."
)

// closeRequest settles one request for good, by what its metadata says.
func closeRequest(req *ToolRequestPart) (*ToolRequestPart, *ToolResponsePart) {
	partial := req.ToolRequest.Partial
	req = whole(keptArguments(req))
	s := &slot{part: req, ref: req.ToolRequest.Ref}
	var err error
	if s.marks, err = readMarks(req); err != nil {
		s.marks = marks{}
	}
	kept := s.marks.pending && s.restore() == nil
	handsOver := kept && s.transfer != nil
	if !kept || handsOver {
		s.acceptResult(s.marks.epitaph(partial || handsOver))
	}
	s.marks.forgetPending()
	s.marks.settle()
	closed, err := s.marks.write(req)
	if err != nil {
		closed = req // its metadata can't be written, so it stays as it was read
	}
	return closed, s.response
}

// whole is the request as one that has arrived.
func whole(req *ToolRequestPart) *ToolRequestPart {
	if !req.ToolRequest.Partial {
		return req
	}
	c := *req
	c.ToolRequest.Partial = false
	return &c
}

// epitaph is the result of a call that will not be resumed.
func (m *marks) epitaph(notRun bool) *ToolResult {
	if notRun || m.notStarted || m.interrupt != nil && !m.innerRan() {
		return OutcomeResult(OutcomeSuperseded, textNotRun)
	}
	if f := m.failure; f != nil && !f.MayHaveActed && !m.innerRan() {
		return ErrorResult(f.Text)
	}
	return OutcomeResult(OutcomeUnknown, textUnknown)
}

// innerRan reports whether a call of the conversations that this one hosts may
// have run.
func (m *marks) innerRan() bool {
	for _, c := range m.inner {
		for _, msg := range c.Messages {
			if slices.ContainsFunc(msg.ToolRequests(), mayHaveRun) {
				return true
			}
		}
	}
	return false
}

// mayHaveRun is true of every request but those that are known not to have run.
func mayHaveRun(req *ToolRequestPart) bool {
	m, err := readMarks(req)
	if err != nil {
		return true
	}
	if m.interrupt != nil || m.notStarted {
		return m.innerRan()
	}
	return m.failure == nil || m.failure.MayHaveActed || m.innerRan()
}
