package ai

// ToolEvent is what happens to one tool request while its message is streamed,
// or to the call while it runs.
//
// The events of a request are a start, any number of deltas and an end, in that
// order; the texts of the deltas, joined, are its arguments as the model sent
// them. Events of several requests may be mixed. All are provisional: an end says
// that the arguments are complete, not that they fit or that the call will run. A
// stream that breaks off, or a message that the provider cuts off, leaves out
// the end.
//
// A reader of Stream finds these events whatever the model streams: of requests
// that it streams whole, or not at all, they are made. A model adapter starts its
// requests in the order of Index, a request that it streams as content counted
// too. A chunk of it with a start or a delta has no content; one with an end has the
// whole request and nothing else. Events that are out of place fail the call of
// the model.
type ToolEvent struct {
	// Kind is what happened.
	Kind ToolEventKind `json:"kind"`
	// Index counts the tool requests of the message from 0, in the order in which
	// they appeared.
	Index int `json:"index"`
	// Ref is the ref of the request. A model adapter leaves it empty until it knows
	// it; a reader of Stream finds it in every event, the same one that the request
	// has in the response. One is minted where the model has none when the request
	// appears, or one that is taken.
	Ref string `json:"ref,omitempty"`
	// Name is the tool's name as the model sees it; empty until it is known. An
	// adapter need not repeat it.
	Name string `json:"name,omitempty"`
	// Delta is the new piece of the arguments' text. Set in deltas only.
	Delta string `json:"delta,omitempty"`
	// Value is the arguments so far, as far as they can be told. It is set by
	// Stream, not by adapters, in every event but progress; nil means that there
	// is nothing yet.
	Value *PartialInput `json:"-"`
}

// ToolEventKind says what a ToolEvent is about.
type ToolEventKind string

// The kinds of tool events.
const (
	ToolStart    ToolEventKind = "start"    // the request has appeared
	ToolDelta    ToolEventKind = "delta"    // a piece of its arguments has come
	ToolEnd      ToolEventKind = "end"      // its arguments are complete
	ToolProgress ToolEventKind = "progress" // the running call has emitted something
)
