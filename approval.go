package ai

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/holdpoint/ai/internal/digest"
)

// Approval lets a policy decide about each call before it runs, and asks a person
// where the policy says so. Middleware makes the middleware of it; it must not be
// changed after that.
//
// The policy sees the arguments that will run. A yes is for exactly that: the tool
// as it is defined, and those arguments; where anything else would run, it is asked
// again. When a call is resumed the policy is asked once more, and may turn a yes
// into a no, never the reverse. A call like one that was denied since the user last
// spoke is refused without asking; one like a call of which nobody knows whether it
// happened is always asked about.
//
// An answer that is neither a clear yes nor a clear no is a no. True is a yes, and so
// is an object with `toolApproved` or `tool-approved` true, as Genkit writes it; a
// `reason` goes to the model with a no. An error of the policy or of the grants
// decides nothing: the call fails and has not run.
type Approval struct {
	// Name is that of the middleware. Defaults to "approval".
	Name string
	// Policy decides about a call. Nil asks about every call.
	Policy ApprovalPolicy
	// Grants are standing approvals, used where the policy says to ask. Nil means
	// that there are none.
	Grants GrantSpender
	// Subject says for whom the call is made, to find the grants by. Nil means nobody:
	// no grant is used.
	Subject func(ctx context.Context) string
}

// ApprovalPolicy decides about a call, by its tool and the arguments in call.Input.
// It is called from several goroutines at once.
type ApprovalPolicy func(ctx context.Context, call *ToolCall) (*Ruling, error)

// Ruling is what a policy says of a call.
type Ruling struct {
	// Verdict is the decision. The zero value asks.
	Verdict RulingVerdict
	// Reason explains it: to whoever is asked, or to the model in a denial.
	Reason string
}

// RulingVerdict is a policy's decision.
type RulingVerdict string

// The verdicts of a policy.
const (
	RuleAsk   RulingVerdict = ""      // somebody has to say yes
	RuleAllow RulingVerdict = "allow" // it runs
	RuleDeny  RulingVerdict = "deny"  // it does not run, and the model is told so
)

// ApprovalRequest is what an Approval asks with: the data of its interrupt.
type ApprovalRequest struct {
	// Tool is the tool's full name.
	Tool string `json:"tool"`
	// Input are the arguments that would run.
	Input json.RawMessage `json:"input"`
	// Reason is the policy's. May be empty.
	Reason string `json:"reason,omitempty"`
	// Digest names what a yes is for.
	Digest string `json:"digest"`
	// Earlier is OutcomeUnknown where nobody knows whether a call like this one
	// happened before. Empty otherwise.
	Earlier Outcome `json:"earlier,omitempty"`
}

// A GrantSpender finds and uses up standing approvals. It is safe for concurrent use.
type GrantSpender interface {
	// SpendGrant uses one grant that covers the call, once, and returns it. Nil means
	// that none does. An error means that nobody knows.
	SpendGrant(ctx context.Context, q *GrantQuery) (*Grant, error)
}

// GrantQuery is a call that asks for a grant.
type GrantQuery struct {
	// Subject is for whom the call is made.
	Subject string
	// Tool is the tool's full name, Definition the digest of its definition.
	Tool, Definition string
	// Arguments is the digest of the arguments.
	Arguments string
}

// Grant is a standing approval.
type Grant struct {
	// ID names the grant. Minted where it is empty.
	ID string `json:"id"`
	// Granter is who gave it, Subject for whom.
	Granter string `json:"granter,omitempty"`
	Subject string `json:"subject"`
	// Tool is the tool's full name. Definition is the digest of its definition, so
	// that a tool that changes loses its grants.
	Tool       string `json:"tool"`
	Definition string `json:"definition"`
	// Arguments is the digest of the arguments it is for. Empty means any.
	Arguments string `json:"arguments,omitempty"`
	// Expires is when it ends. Zero means never.
	Expires time.Time `json:"expires,omitzero"`
	// Uses is how often it can be used. Zero means without bound.
	Uses int `json:"uses,omitempty"`
}

// Covers reports whether the grant is for such a call at that time, its uses aside.
func (g *Grant) Covers(q *GrantQuery, now time.Time) bool {
	return g.Subject == q.Subject && g.Tool == q.Tool && g.Definition == q.Definition &&
		(g.Arguments == "" || g.Arguments == q.Arguments) && (g.Expires.IsZero() || now.Before(g.Expires))
}

// ArgumentsDigest is the digest of arguments, as grants name them.
func ArgumentsDigest(input json.RawMessage) string {
	return digest.Of("holdpoint/arguments/1", digest.JSON(input))
}

// Middleware is the approval as middleware. It should be the innermost that can
// refuse a call.
func (a *Approval) Middleware() *Middleware {
	name := a.Name
	if name == "" {
		name = "approval"
	}
	return &Middleware{Name: name, Wrap: a.wrap}
}

func (a *Approval) wrap(ctx context.Context, call *ToolCall, next Next) (*ToolResult, error) {
	ruling, err := a.rule(ctx, call)
	if err != nil {
		return nil, fmt.Errorf("ai: the approval policy failed: %w", err)
	}
	if ruling.Verdict == RuleDeny {
		return DeniedResult(ruling.Reason), nil
	}
	earlier := call.Earlier()
	if call.Resumed() {
		return a.answered(ctx, call, ruling, next)
	}
	if earlier == OutcomeDenied {
		return DeniedResult("The same call was denied before. Do not send it again."), nil
	}
	if ruling.Verdict == RuleAllow && earlier != OutcomeUnknown {
		return next(ctx)
	}
	granted, err := a.granted(ctx, call, earlier)
	if err != nil {
		return nil, fmt.Errorf("ai: the grants could not be asked: %w", err)
	}
	if granted {
		return next(ctx)
	}
	return nil, a.ask(call, ruling, earlier)
}

// rule asks the policy. What it says must be one of the verdicts.
func (a *Approval) rule(ctx context.Context, call *ToolCall) (*Ruling, error) {
	if a.Policy == nil {
		return &Ruling{}, nil
	}
	ruling, err := a.Policy(ctx, call)
	if err != nil {
		return nil, err
	}
	if ruling == nil {
		return &Ruling{}, nil
	}
	switch ruling.Verdict {
	case RuleAsk, RuleAllow, RuleDeny:
		return ruling, nil
	}
	return nil, fmt.Errorf("ai: %q is no verdict of a policy", ruling.Verdict)
}

// ask stops the call. The state says what a yes will be for.
func (a *Approval) ask(call *ToolCall, ruling *Ruling, earlier Outcome) error {
	if earlier != OutcomeUnknown {
		earlier = ""
	}
	about := approvalDigest(call)
	return call.InterruptWithState(&ApprovalRequest{
		Tool: call.Name, Input: call.Input, Reason: ruling.Reason, Digest: about, Earlier: earlier,
	}, about)
}

func approvalDigest(call *ToolCall) string {
	return digest.Of("holdpoint/approval/1", call.Name, call.Definition.Digest(), digest.JSON(call.Input))
}

// answered carries out what was answered, for what it was about.
func (a *Approval) answered(ctx context.Context, call *ToolCall, ruling *Ruling, next Next) (*ToolResult, error) {
	var answer json.RawMessage
	if err := call.DecodeResumed(&answer); err != nil {
		return nil, err
	}
	yes, reason := readApproval(answer)
	if !yes {
		return DeniedResult(reason), nil
	}
	var about string
	if err := call.DecodeState(&about); err != nil || about != approvalDigest(call) {
		return nil, a.ask(call, ruling, call.Earlier())
	}
	return next(ctx)
}

// readApproval reads an answer. What is not a clear yes is a no.
func readApproval(answer json.RawMessage) (yes bool, reason string) {
	if string(answer) == "true" {
		return true, ""
	}
	var given struct {
		Camel  *bool  `json:"toolApproved"`
		Dashed *bool  `json:"tool-approved"`
		Reason string `json:"reason"`
	}
	if err := exactly(answer, &given.Camel, &given.Dashed, &given.Reason); err != nil {
		return false, "The answer could not be understood."
	}
	switch {
	case given.Camel == nil && given.Dashed == nil:
		return false, "The answer was neither yes nor no."
	case given.Camel != nil && given.Dashed != nil && *given.Camel != *given.Dashed:
		return false, "The answer was both yes and no."
	}
	for _, said := range []*bool{given.Camel, given.Dashed} {
		if said != nil && !*said {
			return false, given.Reason
		}
	}
	return true, ""
}

// exactly reads the keys of an answer as they are spelled: encoding/json would take
// `TOOLAPPROVED` too, and the last of two.
func exactly(answer json.RawMessage, camel, dashed **bool, reason *string) error {
	md := Metadata{}
	if err := json.Unmarshal(answer, &md); err != nil {
		return err
	}
	_, camelErr := md.Decode("toolApproved", camel)
	_, dashedErr := md.Decode("tool-approved", dashed)
	_, reasonErr := md.Decode("reason", reason)
	return errors.Join(camelErr, dashedErr, reasonErr)
}

// granted looks for a standing approval. A call that was edited, that was started
// before, or of which a like one may have happened, never rests on one.
func (a *Approval) granted(ctx context.Context, call *ToolCall, earlier Outcome) (bool, error) {
	if a.Grants == nil || a.Subject == nil || call.Retried() || call.edited() || earlier == OutcomeUnknown {
		return false, nil
	}
	subject := a.Subject(ctx)
	if subject == "" {
		return false, nil
	}
	grant, err := a.Grants.SpendGrant(ctx, &GrantQuery{
		Subject: subject, Tool: call.Name, Definition: call.Definition.Digest(), Arguments: ArgumentsDigest(call.Input),
	})
	return grant != nil && err == nil, err
}
