package ai

import (
	"context"
	"fmt"
	"path"
)

// Rule is a line of a policy made with Rules: what it says of the calls it is for.
type Rule struct {
	// Tools are patterns of full names, as in path.Match: `work-orders/*`. Empty means
	// every tool.
	Tools []string
	// When narrows the rule by what the definition says, such as ReadOnly. Nil means
	// every definition.
	When func(def *ToolDefinition) bool
	// Ruling is what it says.
	Ruling Ruling
}

// Rules is a policy of rules: the first that is for a call decides. A call that none
// is for is asked about. A pattern that can't be read is an error.
func Rules(rules ...Rule) (ApprovalPolicy, error) {
	for i, r := range rules {
		for _, pattern := range r.Tools {
			if _, err := path.Match(pattern, ""); err != nil {
				return nil, invalidf("ai: rule %d: pattern %q: %w", i, pattern, err)
			}
		}
	}
	return func(_ context.Context, call *ToolCall) (*Ruling, error) {
		if call.Definition == nil {
			return nil, fmt.Errorf("ai: call of tool %q has no definition", call.Name)
		}
		for i := range rules {
			if r := &rules[i]; r.covers(call) {
				return &r.Ruling, nil
			}
		}
		return &Ruling{}, nil
	}, nil
}

func (r *Rule) covers(call *ToolCall) bool {
	if r.When != nil && !r.When(call.Definition) {
		return false
	}
	if len(r.Tools) == 0 {
		return true
	}
	for _, pattern := range r.Tools {
		if matched, _ := path.Match(pattern, call.Name); matched {
			return true
		}
	}
	return false
}
