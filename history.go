package ai

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
)

// checkMessages refuses messages that nothing could be done with.
func checkMessages(messages []*Message) error {
	for i, m := range messages {
		if m == nil {
			return invalidf("ai: generate: message %d is nil", i)
		}
		if !m.Role.known() {
			return invalidf("ai: generate: message %d is of role %q; it %s", i, m.Role, wrongRole)
		}
		if err := checkParts(m.Content); err != nil {
			return invalidf("ai: generate: message %d: %w", i, err)
		}
	}
	return nil
}

func checkParts(parts Parts) error {
	for i, p := range parts {
		if p == nil || reflect.ValueOf(p).IsNil() {
			return fmt.Errorf("part %d of its content is nil", i)
		}
	}
	return nil
}

func hasNil(messages []*Message) bool { return slices.Contains(messages, nil) }

// checkHistory refuses a history that providers refuse: each tool request must
// have exactly one response, in the message behind its own, and each response a
// request. Those of the last message may be open where they are being resumed;
// where nothing follows, their results may stand in the message itself.
func checkHistory(messages []*Message, resuming, followed bool) error {
	last := len(messages) - 1
	for i, m := range messages {
		if m.Role == RoleTool {
			if extra := unasked(messages, i); len(extra) > 0 {
				return preconditionf("ai: tool responses of message %d answer no open tool request of the message before it: %s; Repair mends that",
					i, strings.Join(extra, ", "))
			}
		}
		if m.Role != RoleModel || i == last && resuming {
			continue
		}
		open := unanswered(m, toolMessageAt(messages, i+1))
		if i == last && !followed {
			open = withoutPending(open)
		}
		if len(open) > 0 {
			return stillOpen(open, i, i == last)
		}
	}
	return nil
}

func stillOpen(open []*ToolRequestPart, at int, last bool) error {
	names := make([]string, len(open))
	for i, req := range open {
		names[i] = req.label()
	}
	where := fmt.Sprintf("message %d have no response in the message behind it", at)
	if last {
		where = "the last message have no response"
	}
	return preconditionf("ai: tool requests of %s: %s; answer them with Resume or close them with Repair", where, strings.Join(names, ", "))
}

// toolMessageAt is the message at i where that is a tool message, as a list.
func toolMessageAt(messages []*Message, i int) []*Message {
	if i >= len(messages) || messages[i] == nil || messages[i].Role != RoleTool {
		return nil
	}
	return messages[i : i+1]
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
// their name and ref among those of some tool messages.
func unanswered(model *Message, tools []*Message) []*ToolRequestPart {
	requests := model.ToolRequests()
	if len(requests) == 0 {
		return nil
	}
	rest := responses(tools)
	var open []*ToolRequestPart
	for _, req := range requests {
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

// unasked lists the responses of the tool message at i that no request of the
// model message before it is left for.
func unasked(messages []*Message, i int) []string {
	rest := responses(messages[i : i+1])
	if len(rest) > 0 && i > 0 && messages[i-1].Role == RoleModel {
		for _, req := range messages[i-1].ToolRequests() {
			if at := indexOfResponse(rest, req); at >= 0 {
				rest = slices.Delete(rest, at, at+1)
			}
		}
	}
	var names []string
	for _, r := range rest {
		names = append(names, label(r.ToolResponse.Name, r.ToolResponse.Ref))
	}
	return names
}

// withoutPending drops the requests whose result is on record.
func withoutPending(open []*ToolRequestPart) []*ToolRequestPart {
	return slices.DeleteFunc(open, func(req *ToolRequestPart) bool {
		_, pending := req.Metadata[keyPendingOutput]
		return pending
	})
}
