package session

import (
	"bytes"
	"encoding/json"
	"fmt"
	"time"

	"github.com/holdpoint/ai"
)

// format is the version of the entries that this package writes.
const format = 1

// kind is what an entry is about.
type kind string

const (
	kindInput    kind = "input"    // messages of the caller
	kindSaid     kind = "said"     // messages that no call made: a reply, or an inner opening
	kindStarted  kind = "started"  // a call is about to start
	kindOutcome  kind = "outcome"  // a call has ended, for now or for good
	kindPaused   kind = "paused"   // people are asked
	kindDecided  kind = "decided"  // somebody answered
	kindClaimed  kind = "claimed"  // an owner begins to run the session
	kindReleased kind = "released" // it has ended
	kindDeleted  kind = "deleted"  // the session is gone
)

// entry is one fact in a log. Which fields are set depends on its kind.
type entry struct {
	V    int       `json:"v"`
	Kind kind      `json:"kind"`
	At   time.Time `json:"at"` // the writer's clock; the store's is in the batch

	// Path leads to the inner conversation that it is about.
	Path ai.Path `json:"path,omitempty"`
	// Messages of an input or an opening; one of a reply.
	Messages []*ai.Message `json:"messages,omitempty"`
	Reply    *replyEntry   `json:"reply,omitempty"`
	Call     *callEntry    `json:"call,omitempty"`
	Asked    []*asking     `json:"asked,omitempty"`
	Decision *Decision     `json:"decision,omitempty"`
	Claim    *claimEntry   `json:"claim,omitempty"`
}

// replyEntry is what a model said beside its message.
type replyEntry struct {
	FinishReason  ai.FinishReason `json:"finishReason"`
	FinishMessage string          `json:"finishMessage,omitempty"`
	Usage         ai.Usage        `json:"usage,omitzero"`
}

// callEntry is the start or the outcome of a call.
type callEntry struct {
	Ref     string `json:"ref"`
	Name    string `json:"name"`              // the full name
	Attempt int    `json:"attempt,omitempty"` // 0 where it settled without one
	// Digest is of what runs, Definition of the tool alone.
	Digest     string `json:"digest,omitempty"`
	Definition string `json:"definition,omitempty"`
	// State is the metadata of the tool request as an unfinished turn records it,
	// without the conversations inside, which have entries of their own.
	State ai.Metadata `json:"state,omitempty"`
	// Outcome of an ending: how it ended.
	Outcome ending `json:"outcome,omitempty"`
	Late    bool   `json:"late,omitempty"`
	// Text is what went wrong, for the audit.
	Text string `json:"text,omitempty"`
}

// ending is how a call ended, as the audit says it.
type ending string

const (
	endedWell   ending = "success"
	endedAsking ending = "asked"
	endedFailed ending = "failed" // the turn failed by it
	endedDoubt  ending = "in doubt"
)

// claimEntry is the beginning of a run.
type claimEntry struct {
	Owner  string `json:"owner"`  // random, minted for the run
	Before Owner  `json:"before"` // what was known of the owner before it
}

// encode makes the JSON of an entry, with what people and models wrote left as
// it is.
func (e *entry) encode(now time.Time) (json.RawMessage, error) {
	e.V, e.At = format, now.UTC()
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(e); err != nil {
		return nil, fmt.Errorf("session: an entry of kind %s does not encode: %w", e.Kind, err)
	}
	return bytes.TrimSuffix(buf.Bytes(), []byte("\n")), nil
}

// decodeEntry reads an entry. One of a kind or a version that is not known is
// ErrNewerFormat.
func decodeEntry(data json.RawMessage) (*entry, error) {
	var head struct {
		V    int  `json:"v"`
		Kind kind `json:"kind"`
	}
	if err := json.Unmarshal(data, &head); err != nil {
		return nil, fmt.Errorf("%w: an entry is not JSON: %w", ErrCorrupt, err)
	}
	if head.V > format || !head.Kind.known() {
		return nil, fmt.Errorf("%w: an entry of kind %q, version %d", ErrNewerFormat, head.Kind, head.V)
	}
	e := &entry{}
	if err := json.Unmarshal(data, e); err != nil {
		return nil, fmt.Errorf("%w: an entry of kind %s: %w", ErrCorrupt, head.Kind, err)
	}
	return e, nil
}

func (k kind) known() bool {
	switch k {
	case kindInput, kindSaid, kindStarted, kindOutcome, kindPaused, kindDecided, kindClaimed, kindReleased, kindDeleted:
		return true
	}
	return false
}
