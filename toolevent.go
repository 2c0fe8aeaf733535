package ai

// ToolEvent is what happens to one tool request while its message is streamed,
// or to the call while it runs.
//
// The events of a request are a start, any number of deltas and an end, in that
// order; the texts of the deltas, joined, are its arguments as the model sent
// them. Events of several requests may be mixed. A stream that breaks off leaves
// out the end. All events are provisional: an end says that the arguments are
// complete, not that they fit or that the call will run.
type ToolEvent struct {
	// Kind is what happened.
	Kind ToolEventKind `json:"kind"`
	// Index counts the tool requests of the message from 0, in the order in which
	// they stand in it.
	Index int `json:"index"`
	// Ref is the ref of the request. A model adapter leaves it empty until it knows
	// it; a reader of Stream finds it in every event, minted where the model has none.
	Ref string `json:"ref,omitempty"`
	// Name is the tool's name as the model sees it; empty until it is known.
	Name string `json:"name,omitempty"`
	// Delta is the new piece of the arguments' text. Set in deltas only.
	Delta string `json:"delta,omitempty"`
	// Value is the arguments so far, as far as they can be told. It is set by
	// Stream, not by adapters, in every event but progress.
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
