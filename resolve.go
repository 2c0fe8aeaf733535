package ai

import "context"

// Resolution is what became of a model message.
type Resolution struct {
	// Model is the model message: as it was where all went through, else revised,
	// with the state of each call in the metadata of its request.
	Model *Message
	// Tool is the tool message that answers it, in request order. Nil while
	// anything is open, and where the message has no tool requests.
	Tool *Message
	// Transfer is set where a call of a finished turn hands the conversation over.
	Transfer *Transfer
}

// Interrupts lists the calls that wait for an answer, in request order.
func (r *Resolution) Interrupts() []*Interrupt {
	if r.Tool != nil {
		return nil
	}
	return interruptsOf(r.Model)
}

// Resolve runs the tool requests of a model message, side by side unless the
// options say otherwise, and returns once all of them are settled. The message
// is not changed. Results are in request order.
//
// Calls have goroutines of their own, where a panic or runtime.Goexit is a
// failure of the call. Only where neither the context nor a timeout can cut it
// short does the last one share the caller's, which its runtime.Goexit then ends.
//
// Where calls stopped to ask, the resolution has no tool message: its revised
// model message, stored anywhere as JSON, is what Resume goes on from. Where
// calls failed, the error is a *TurnError that holds the same. Anything else is
// an error before the first call. A message that a turn has already worked on is
// ErrFailedPrecondition: that is what Resume is for.
func Resolve(ctx context.Context, tools *ToolSet, model *Message, opts *ResolveOptions) (*Resolution, error) {
	g, err := newSealing(opts)
	if err != nil {
		return nil, err
	}
	return g.closeTurn(resolve(ctx, tools, model, opts))
}

func resolve(ctx context.Context, tools *ToolSet, model *Message, opts *ResolveOptions) (*Resolution, error) {
	t, err := newTurn(tools, model, opts)
	if err != nil {
		return nil, err
	}
	for i := range t.slots {
		s := &t.slots[i]
		if s.marks.paused() || s.marks.resolvedInterrupt != nil || s.marks.effectiveInput != nil {
			return nil, preconditionf("ai: tool request %s was worked on before: the message is to be resumed, not resolved", s.part.label())
		}
		s.readArguments()
		s.status = isPlanned
	}
	return t.execute(ctx)
}

// readArguments keeps arguments that are no JSON object as text, so that the
// message stays valid and can go to any provider again.
func (s *slot) readArguments() {
	input := inputOf(&s.part.ToolRequest)
	if s.marks.argumentsError != nil || isObject(input) {
		return
	}
	s.dirty = true
	s.marks.argumentsError = &argumentsError{Text: string(input), Problem: describe(input)}
}
