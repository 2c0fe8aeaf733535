package session

import (
	"context"
	"encoding/json"
	"iter"
	"time"

	"github.com/holdpoint/ai"
)

// Record is one line of a session's audit: one thing that happened to one call, or
// to the conversation.
type Record struct {
	// At is when it was written, by the writer's clock.
	At time.Time `json:"at"`
	// Event is what happened.
	Event Event `json:"event"`
	// Path leads to the conversation inside a call. Empty at the top.
	Path ai.Path `json:"path,omitempty"`
	// Ref and Tool name the call. Empty where it is about none.
	Ref  string `json:"ref,omitempty"`
	Tool string `json:"tool,omitempty"`
	// Attempt is the start it is about. Zero where it is about none.
	Attempt int `json:"attempt,omitempty"`
	// Input are the arguments: as the model proposed them, as they were offered to a
	// person, as a person edited them, or as they ran.
	Input json.RawMessage `json:"input,omitempty"`
	// Pending is the id of the asking.
	Pending string `json:"pending,omitempty"`
	// Decision is what was decided, and by whom.
	Decision *Decision `json:"decision,omitempty"`
	// Outcome says how the call ended.
	Outcome string `json:"outcome,omitempty"`
	// Output is what the call gave. Nil where it gave nothing.
	Output json.RawMessage `json:"output,omitempty"`
	// Late says that the outcome came after the call had been given up.
	Late bool `json:"late,omitempty"`
	// Text is what went wrong, or what was said.
	Text string `json:"text,omitempty"`
}

// Event is what a Record is about.
type Event string

// The events.
const (
	EventInput    Event = "input"    // the user said something
	EventReply    Event = "reply"    // the model said something
	EventProposed Event = "proposed" // the model asked for a call
	EventOffered  Event = "offered"  // somebody was asked about it
	EventDecided  Event = "decided"  // somebody decided
	EventStarted  Event = "started"  // it was started
	EventOutcome  Event = "outcome"  // it ended
	EventClaimed  Event = "claimed"  // somebody began to run the session
	EventReleased Event = "released" // they let it go
)

// Audit yields what happened in a session, in the order of the log.
func (m *Manager) Audit(ctx context.Context, id string) iter.Seq2[*Record, error] {
	return func(yield func(*Record, error) bool) {
		if m.Store == nil {
			yield(nil, m.check())
			return
		}
		log, err := m.Store.Read(ctx, id, Revision{})
		if err != nil {
			yield(nil, err)
			return
		}
		s := newState(id)
		for _, b := range log.Batches {
			for _, data := range b.Entries {
				if !s.audit(data, yield) {
					return
				}
			}
		}
	}
}

// audit yields the records of one entry. It is false where that was the last.
func (s *state) audit(data json.RawMessage, yield func(*Record, error) bool) bool {
	e, err := decodeEntry(data)
	if err == nil {
		err = s.apply(e)
	}
	if err != nil {
		yield(nil, err)
		return false
	}
	for _, r := range s.records(e) {
		r.At, r.Path = e.At, e.Path
		if r.Event == EventOffered {
			r.Path = s.askings[r.Pending].Path
		}
		if !yield(r, nil) {
			return false
		}
	}
	return true
}

// records describes an entry that was just applied.
func (s *state) records(e *entry) []*Record {
	switch e.Kind {
	case kindInput:
		return texts(EventInput, e.Messages)
	case kindSaid:
		return said(e)
	case kindStarted, kindOutcome:
		return []*Record{s.callRecord(e)}
	case kindPaused:
		return s.offers(e)
	case kindDecided:
		return []*Record{{Event: EventDecided, Pending: e.Decision.Pending, Ref: s.askings[e.Decision.Pending].Ref, Decision: e.Decision, Input: e.Decision.Input}}
	case kindClaimed:
		return []*Record{{Event: EventClaimed, Text: string(e.Claim.Before)}}
	case kindReleased:
		return []*Record{{Event: EventReleased}}
	}
	return nil
}

func texts(event Event, messages []*ai.Message) []*Record {
	var list []*Record
	for _, m := range messages {
		if text := m.Text(); text != "" {
			list = append(list, &Record{Event: event, Text: text})
		}
	}
	return list
}

func said(e *entry) []*Record {
	if e.Reply == nil {
		return texts(EventInput, e.Messages)
	}
	list := texts(EventReply, e.Messages)
	for _, req := range e.Messages[0].ToolRequests() {
		list = append(list, &Record{
			Event: EventProposed, Ref: req.ToolRequest.Ref, Tool: req.ToolRequest.Name, Input: req.ToolRequest.Input,
		})
	}
	return list
}

func (s *state) offers(e *entry) []*Record {
	var list []*Record
	for _, a := range e.Asked {
		r := &Record{Event: EventOffered, Ref: a.Ref, Pending: a.ID, Text: string(a.Reason)}
		if conv, err := s.top.find(a.Path); err == nil {
			if c := conv.call(a.Ref); c != nil {
				r.Tool, r.Input = c.name(), c.effective()
			}
		}
		list = append(list, r)
	}
	return list
}

func (s *state) callRecord(e *entry) *Record {
	c := e.Call
	r := &Record{
		Event: EventStarted, Ref: c.Ref, Tool: c.Name, Attempt: c.Attempt, Input: c.State[keyEffective],
		Late: c.Late, Text: c.Text,
	}
	if r.Input == nil {
		if conv, err := s.top.find(e.Path); err == nil {
			if open := conv.call(c.Ref); open != nil {
				r.Input = open.part.ToolRequest.Input
			}
		}
	}
	if e.Kind == kindOutcome {
		r.Event, r.Outcome, r.Output = EventOutcome, string(c.Outcome), c.State[keyPendingOutput]
	}
	return r
}
