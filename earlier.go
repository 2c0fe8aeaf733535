package ai

import (
	"github.com/holdpoint/ai/internal/digest"
)

// Earlier says how a call like this one, of the same tool with the same arguments,
// ended earlier in the conversation: OutcomeUnknown where nobody knows whether it
// happened, OutcomeDenied where it was denied since the user last spoke. Anything
// else is the zero value, and so is all of it outside Generate.
func (c *ToolCall) Earlier() Outcome {
	if c.state == nil || c.state.earlier == nil {
		return OutcomeSuccess
	}
	return c.state.earlier(c)
}

// Retried reports whether the call failed before, or was started and not heard of
// again.
func (c *ToolCall) Retried() bool { return c.state != nil && c.state.retried }

func (c *ToolCall) edited() bool { return c.state != nil && c.state.original != nil }

// earlierIn is Earlier for calls of the last message of a conversation.
func earlierIn(messages []*Message) func(*ToolCall) Outcome {
	return func(call *ToolCall) Outcome {
		input := digest.JSON(call.Input)
		denied, spoke := false, false
		for i := len(messages) - 2; i >= 0; i-- {
			m := messages[i]
			spoke = spoke || m.Role == RoleUser
			if m.Role != RoleTool || i == 0 {
				continue
			}
			for _, outcome := range endings(messages[i-1], m, call, input) {
				if outcome == OutcomeUnknown {
					return OutcomeUnknown
				}
				denied = denied || outcome == OutcomeDenied && !spoke
			}
		}
		if denied {
			return OutcomeDenied
		}
		return OutcomeSuccess
	}
}

// endings lists how the calls of a turn that are like this one ended.
func endings(asked, answered *Message, call *ToolCall, input string) []Outcome {
	var list []Outcome
	for _, req := range asked.ToolRequests() {
		if !req.isLike(call, input) {
			continue
		}
		for _, p := range answered.Content {
			r, ok := p.(*ToolResponsePart)
			if !ok || r.ToolResponse.Ref != req.ToolRequest.Ref || r.ToolResponse.Name != req.ToolRequest.Name {
				continue
			}
			var outcome Outcome
			_, _ = r.Metadata.Decode(keyOutcome, &outcome) // what can't be read says nothing
			list = append(list, outcome)
		}
	}
	return list
}

// isLike reports whether a request is for the same tool with the same arguments.
func (p *ToolRequestPart) isLike(call *ToolCall, input string) bool {
	name, err := originalName(p)
	if err != nil || name == "" {
		name = p.ToolRequest.Name
	}
	if name != call.Name && (call.state == nil || name != call.state.request) {
		return false
	}
	ran := p.Metadata[keyEffectiveInput]
	if ran == nil {
		ran = inputOf(&p.ToolRequest)
	}
	return digest.JSON(ran) == input
}
