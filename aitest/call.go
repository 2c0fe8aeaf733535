package aitest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/holdpoint/ai"
)

// CallOptions say how a tool is called. Nil is a first call.
type CallOptions struct {
	// Resumed makes the call one that had asked and is restarted: true, or a value
	// that encodes as a JSON object, for ToolCall.DecodeResumed. Nil means that it
	// never asked.
	Resumed any
	// State is what the call had left with its question, for ToolCall.DecodeState.
	// Nil means none. It needs Resumed.
	State any
	// Original is the input that the restart replaced with the one given, for
	// ToolCall.DecodeOriginalInput. Nil means that it replaced none. It needs Resumed.
	Original any
}

// Outcome is what came of a call: Response or Interrupt is set.
type Outcome struct {
	// Response is the tool response of a call that ended, as the history gets it.
	Response *ai.ToolResponsePart
	// Interrupt is the question of a call that stopped to ask.
	Interrupt *ai.Interrupt
	// State is what the call left with its question. Nil without one.
	State json.RawMessage
}

// Call runs one call of a tool as a turn does: the input, encoded as JSON (nil
// is an empty object), is held to the schema, and so is the output. Input that
// does not fit is an *ai.ArgumentError, any other failure of the call an
// *ai.CallError; both are to be found with errors.As. A call that asked is called
// again with Resumed:
//
//	out, err := aitest.Call(ctx, pay, input, nil)                  // asks
//	out, err = aitest.Call(ctx, pay, input, &aitest.CallOptions{   // pays
//		Resumed: true, State: out.State,
//	})
func Call(ctx context.Context, tool ai.Tool, input any, opts *CallOptions) (*Outcome, error) {
	if opts == nil {
		opts = &CallOptions{}
	}
	if opts.Resumed == nil && (opts.State != nil || opts.Original != nil) {
		return nil, errors.New("aitest: state and original input need Resumed: a first call has neither")
	}
	set, err := ai.NewToolSet(tool)
	if err != nil {
		return nil, err
	}
	data, err := encodeInput(input)
	if err != nil {
		return nil, err
	}
	req := &ai.ToolRequestPart{ToolRequest: ai.ToolRequest{
		Name: set.Definitions()[0].Name, Ref: "call_1", Input: data,
	}}
	run := &ai.ResolveOptions{OnError: func(context.Context, *ai.CallError) bool { return false }}
	var res *ai.Resolution
	if opts.Resumed == nil {
		res, err = ai.Resolve(ctx, set, modelMessage(req), run)
	} else {
		res, err = resume(ctx, set, req, opts, run)
	}
	if failed, ok := err.(*ai.TurnError); ok && len(failed.Calls) == 1 {
		return nil, failed.Calls[0]
	}
	if err != nil {
		return nil, err
	}
	return outcome(res), nil
}

func modelMessage(req *ai.ToolRequestPart) *ai.Message {
	return &ai.Message{Role: ai.RoleModel, Content: ai.Parts{req}}
}

// resume writes the pause that a question leaves, and restarts it.
func resume(ctx context.Context, set *ai.ToolSet, req *ai.ToolRequestPart, opts *CallOptions, run *ai.ResolveOptions) (*ai.Resolution, error) {
	md := ai.Metadata{"interrupt": json.RawMessage("true")}
	if opts.State != nil {
		if err := md.Set("interruptState", opts.State); err != nil {
			return nil, err
		}
	}
	restart := &ai.RestartOptions[json.RawMessage]{Resumed: opts.Resumed}
	asked := *req
	asked.Metadata = md
	if opts.Original != nil {
		original, err := encodeInput(opts.Original)
		if err != nil {
			return nil, err
		}
		asked.ToolRequest.Input, restart.NewInput = original, &req.ToolRequest.Input
	}
	answer, err := ai.Restart(&asked, restart)
	if err != nil {
		return nil, err
	}
	answers := &ai.Answers{Restart: []*ai.ToolRequestPart{answer}}
	return ai.Resume(ctx, set, modelMessage(&asked), answers, run)
}

func encodeInput(input any) (json.RawMessage, error) {
	if input == nil {
		return json.RawMessage("{}"), nil
	}
	data, err := encode(input)
	if err != nil {
		return nil, fmt.Errorf("aitest: input: %w", err)
	}
	return data, nil
}

func outcome(res *ai.Resolution) *Outcome {
	if res.Tool != nil {
		return &Outcome{Response: res.Tool.Content[0].(*ai.ToolResponsePart)}
	}
	return &Outcome{
		Interrupt: res.Interrupts()[0],
		State:     res.Model.ToolRequests()[0].Metadata["interruptState"],
	}
}
