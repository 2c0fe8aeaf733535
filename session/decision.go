package session

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/holdpoint/ai"
)

// Verdict is what somebody decided about a call.
type Verdict string

// The verdicts. Which of them an asking takes depends on its Reason.
const (
	// Approve runs the call, with the arguments that were shown. For a call that
	// failed or is in doubt it means: run it again, knowing what is known.
	Approve Verdict = "approve"
	// Edit runs the call with other arguments.
	Edit Verdict = "edit"
	// Deny settles the call without running it. Of a call that may have acted the
	// model is told that nobody knows.
	Deny Verdict = "deny"
	// Respond settles the call with a result given by whoever decides. A question of
	// middleware does not take it.
	Respond Verdict = "respond"

	// What nobody decided, but came about.
	Expired    Verdict = "expired"    // the deadline passed
	Superseded Verdict = "superseded" // the user went on without waiting
)

// Decision is an answer to an asking.
type Decision struct {
	// ID is the caller's, one to a click: the same decision sent again succeeds.
	// Empty means that one is minted.
	ID string `json:"id"`
	// Pending is the id of the asking. Required.
	Pending string `json:"pending"`
	// Verdict is what was decided. What is none of the verdicts that the asking
	// takes counts as Deny.
	Verdict Verdict `json:"verdict"`
	// By names whoever decided, as the application knows them.
	By string `json:"by,omitempty"`
	// Digest is that of the asking as it was offered. Where it is set, it must be
	// that of the asking as it is.
	Digest string `json:"digest,omitempty"`
	// Input are the arguments of an Edit, a JSON object.
	Input json.RawMessage `json:"input,omitempty"`
	// Output is the result of a Respond, fitting the tool's output schema.
	Output json.RawMessage `json:"output,omitempty"`
	// Data reaches whoever asked, with an Approve or an Edit: a JSON object. Nil
	// means a plain yes.
	Data json.RawMessage `json:"data,omitempty"`
	// Reason explains a Deny to the model.
	Reason string `json:"reason,omitempty"`
	// Override approves running a call again whose owner is silent: it may still be
	// running.
	Override bool `json:"override,omitempty"`
}

// Reason says why somebody is asked.
type Reason string

// The reasons.
const (
	ReasonInterrupt Reason = "interrupt" // the tool or its middleware asks
	ReasonFailed    Reason = "failed"    // the call failed, and may have acted
	ReasonInDoubt   Reason = "in doubt"  // the call started, and nobody knows what came of it
)

// asking is one question about one call, as the log has it.
type asking struct {
	ID     string  `json:"id"`
	Path   ai.Path `json:"path,omitempty"`
	Ref    string  `json:"ref"`
	Reason Reason  `json:"reason"`
	Digest string  `json:"digest"`
	Owner  Owner   `json:"owner,omitempty"` // of a call in doubt: what is known of who ran it

	AnswerBefore time.Time `json:"answerBefore,omitzero"`
	StartBefore  time.Time `json:"startBefore,omitzero"`

	at        time.Time
	decision  *Decision
	decidedAt time.Time
}

// Pending is a question that waits for a person.
type Pending struct {
	// ID names the asking: one question about one call. It changes when the call
	// asks again.
	ID string
	// Session is the session's id.
	Session string
	// Reason says why somebody is asked.
	Reason Reason
	// Tool is the tool's full name, as far as it is known.
	Tool string
	// Request is the tool request as the model made it, with its state.
	Request *ai.ToolRequestPart
	// Path leads to the conversation inside a call that it stands in. Empty at the top.
	Path ai.Path
	// Question is what the call asked with. Nil where it did not ask itself.
	Question json.RawMessage
	// By is the middleware that asks. Empty where the tool does.
	By string
	// Effective are the arguments the call would run with.
	Effective json.RawMessage
	// Changes are what was done to the model's arguments to make them fit.
	Changes []ai.Change
	// Digest binds a decision to what was shown.
	Digest string
	// Owner is what is known of whoever ran a call in doubt. Empty otherwise.
	Owner Owner
	// Asked is when it was asked.
	Asked time.Time
	// AnswerBefore and StartBefore are deadlines: for the decision, and for the
	// start of the call after it. Zero means none.
	AnswerBefore, StartBefore time.Time
	// Decision is what was decided and is still to be carried out. Nil while it is open.
	Decision *Decision
}

// ConflictError is a decision that came too late: another one has won, or what
// would run is no longer what was shown. It is ErrConflict.
type ConflictError struct {
	// Pending is the id that the decision named.
	Pending string
	// Won is the decision that was there first. Nil where there is none.
	Won *Decision
	// Now is the asking as it is now, where it is still open. Nil otherwise.
	Now *Pending
}

// Error says what is in the way.
func (e *ConflictError) Error() string {
	switch {
	case e.Won != nil && e.Won.By != "":
		return fmt.Sprintf("session: asking %s was decided before: %s by %s", e.Pending, e.Won.Verdict, e.Won.By)
	case e.Won != nil:
		return fmt.Sprintf("session: asking %s was decided before: %s", e.Pending, e.Won.Verdict)
	case e.Now != nil:
		return fmt.Sprintf("session: asking %s has changed since it was shown", e.Pending)
	}
	return fmt.Sprintf("session: asking %s is over", e.Pending)
}

// Is makes it an ErrConflict.
func (e *ConflictError) Is(target error) bool { return target == ErrConflict }

// pending describes the asking of a call.
func (s *state) pending(c *call) *Pending {
	a := c.asked
	p := &Pending{
		ID: a.ID, Session: s.id, Reason: a.Reason, Tool: c.tool, Path: a.Path, Request: c.part,
		Digest: a.Digest, Owner: a.Owner, Asked: a.at, AnswerBefore: a.AnswerBefore, StartBefore: a.StartBefore,
		Decision: a.decision, Effective: c.effective(), Question: c.part.Metadata[keyInterrupt],
	}
	// Both were written by a turn.
	_, _ = c.part.Metadata.Decode(keyInterruptedBy, &p.By)
	_, _ = c.part.Metadata.Decode(keyChanges, &p.Changes)
	return p
}

// effective is what the call would run with.
func (c *call) effective() json.RawMessage {
	if input := c.part.Metadata[keyEffective]; input != nil {
		return input
	}
	if len(c.part.ToolRequest.Input) == 0 {
		return json.RawMessage("{}")
	}
	return c.part.ToolRequest.Input
}

// failure is what a turn wrote of a call that failed.
func (c *call) failure() (mayHaveActed, inDoubt, failed bool) {
	var f struct {
		MayHaveActed bool `json:"mayHaveActed"`
		InDoubt      bool `json:"inDoubt"`
	}
	failed, _ = c.part.Metadata.Decode(keyFailure, &f)
	return f.MayHaveActed, f.InDoubt, failed
}

// reason says why somebody has to be asked about the call, or "".
func (c *call) reason() Reason {
	if _, asks := c.part.Metadata[keyInterrupt]; asks {
		return ReasonInterrupt
	}
	acted, doubt, failed := c.failure()
	switch {
	case failed && doubt:
		return ReasonInDoubt
	case failed && acted:
		return ReasonFailed
	}
	return ""
}
