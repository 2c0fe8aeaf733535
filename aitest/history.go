package aitest

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/holdpoint/ai"
)

// CheckHistory fails the test unless a provider would take the messages as a
// conversation to answer: each tool request of a model message has exactly one
// tool response of its name and ref, in the message behind it, and nothing else
// is answered there; the refs of a message differ; names are names a provider
// takes; arguments are JSON objects; everything encodes. A paused conversation is
// none.
func CheckHistory(t testing.TB, messages []*ai.Message) {
	t.Helper()
	if faults := historyFaults(messages); len(faults) > 0 {
		t.Errorf("aitest: no provider takes this history:%s", lines(faults))
	}
}

func lines(faults []string) string { return "\n\t" + strings.Join(faults, "\n\t") }

// toolName is what every provider takes as the name of a tool.
var toolName = regexp.MustCompile(`^[a-zA-Z0-9_-]{1,64}$`)

// historyFaults lists what is wrong, in the order of the messages.
func historyFaults(messages []*ai.Message) []string {
	if len(messages) == 0 {
		return []string{"there is no message"}
	}
	var faults []string
	var asked []*ai.ToolRequestPart // by the message before
	for i, m := range messages {
		if _, err := json.Marshal(m); m == nil || err != nil {
			faults = append(faults, fmt.Sprintf("message %d does not encode: %v", i, err))
			asked = nil
			continue
		}
		var list []string
		list = append(list, answerFaults(asked, m)...)
		list = append(list, requestFaults(m)...)
		asked = m.ToolRequests()
		if i == len(messages)-1 {
			list = append(list, unanswered(asked)...)
		}
		for _, fault := range list {
			faults = append(faults, fmt.Sprintf("message %d (%s): %s", i, m.Role, fault))
		}
	}
	return faults
}

// answerFaults compares the tool responses of a message with what the message
// before it asked for.
func answerFaults(asked []*ai.ToolRequestPart, m *ai.Message) []string {
	var faults []string
	open := append([]*ai.ToolRequestPart(nil), asked...)
	for _, p := range m.Content {
		r, ok := p.(*ai.ToolResponsePart)
		if !ok {
			continue
		}
		if m.Role != ai.RoleTool {
			faults = append(faults, "a tool response stands in it")
		}
		at := -1
		for i, req := range open {
			if at < 0 && req.ToolRequest.Name == r.ToolResponse.Name && req.ToolRequest.Ref == r.ToolResponse.Ref {
				at = i
			}
		}
		if at < 0 {
			faults = append(faults, fmt.Sprintf("response %s answers no request of the message before it, or one that is answered", label(r.ToolResponse.Name, r.ToolResponse.Ref)))
			continue
		}
		open = append(open[:at], open[at+1:]...)
	}
	return append(faults, unanswered(open)...)
}

func unanswered(open []*ai.ToolRequestPart) []string {
	var faults []string
	for _, req := range open {
		faults = append(faults, fmt.Sprintf("request %s has no response", label(req.ToolRequest.Name, req.ToolRequest.Ref)))
	}
	return faults
}

// requestFaults looks at the tool requests of one message.
func requestFaults(m *ai.Message) []string {
	var faults []string
	refs := map[string]bool{}
	for _, p := range m.ToolRequests() {
		req := p.ToolRequest
		name := label(req.Name, req.Ref)
		if m.Role != ai.RoleModel {
			faults = append(faults, fmt.Sprintf("request %s stands in it", name))
		}
		if !toolName.MatchString(req.Name) {
			faults = append(faults, fmt.Sprintf("request %s: no provider takes that name", name))
		}
		if refs[req.Ref] {
			faults = append(faults, fmt.Sprintf("request %s: its ref is not unique", name))
		}
		refs[req.Ref] = true
		if req.Partial {
			faults = append(faults, fmt.Sprintf("request %s is partial", name))
		}
		var object map[string]json.RawMessage
		if len(req.Input) > 0 && json.Unmarshal(req.Input, &object) != nil {
			faults = append(faults, fmt.Sprintf("request %s: its input is no JSON object", name))
		}
	}
	return faults
}

func label(name, ref string) string { return fmt.Sprintf("%q#%q", name, ref) }
