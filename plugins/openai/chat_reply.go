package openai

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/holdpoint/ai"
	"github.com/holdpoint/ai/internal/adapter"
)

// chatChunk is a reply, or a piece of a streamed one: the two differ in one name. It
// is read here and not by the SDK, which refuses what some servers send.
type chatChunk struct {
	Choices []struct {
		Index        int         `json:"index"`
		Message      chatMessage `json:"message"`
		Delta        chatMessage `json:"delta"`
		FinishReason string      `json:"finish_reason"`
	} `json:"choices"`
	Usage *chatUsage      `json:"usage"`
	Error json.RawMessage `json:"error"`
}

type chatMessage struct {
	Content          content           `json:"content"`
	Refusal          string            `json:"refusal"`
	ReasoningContent string            `json:"reasoning_content"`
	Reasoning        string            `json:"reasoning"`
	ReasoningDetails []json.RawMessage `json:"reasoning_details"`
	ToolCalls        []chatCall        `json:"tool_calls"`
}

type chatCall struct {
	Index    *int   `json:"index"`
	ID       string `json:"id"`
	Function struct {
		Name      string   `json:"name"`
		Arguments flexible `json:"arguments"`
	} `json:"function"`
	Custom *struct {
		Name  string `json:"name"`
		Input string `json:"input"`
	} `json:"custom"`
}

type chatUsage struct {
	Prompt        int `json:"prompt_tokens"`
	Completion    int `json:"completion_tokens"`
	Total         int `json:"total_tokens"`
	PromptDetails struct {
		Cached int `json:"cached_tokens"`
	} `json:"prompt_tokens_details"`
	CompletionDetails struct {
		Reasoning int `json:"reasoning_tokens"`
	} `json:"completion_tokens_details"`
}

// chatReply collects a reply.
type chatReply struct {
	reply     adapter.Reply
	tools     *toolKit
	calls     []*openCall
	reasoning *adapter.Block
	field     string // that the reasoning came in
	details   []json.RawMessage
	refusal   string
	finish    string
	finished  bool
	usage     ai.Usage
}

func newChatReply(emit func(*ai.Chunk) error, tools *toolKit) *chatReply {
	return &chatReply{reply: adapter.Reply{Emit: emit}, tools: tools}
}

// openCall is a call whose arguments grow.
type openCall struct {
	*adapter.Call
	index  *int
	custom *customCall // nil for a function
}

// add takes a reply, or a piece of one.
func (r *chatReply) add(ctx context.Context, c *chatChunk) error {
	if len(c.Error) > 0 && string(c.Error) != "null" {
		return failed(ctx, c.Error)
	}
	if u := c.Usage; u != nil {
		r.usage = ai.Usage{
			InputTokens: u.Prompt, OutputTokens: u.Completion, TotalTokens: u.Total,
			CachedInputTokens: u.PromptDetails.Cached, ReasoningTokens: u.CompletionDetails.Reasoning,
		}
	}
	for i := range c.Choices {
		choice := &c.Choices[i]
		if choice.Index != 0 {
			continue // of several replies the first is taken
		}
		for _, m := range []*chatMessage{&choice.Message, &choice.Delta} {
			if err := r.message(m); err != nil {
				return err
			}
		}
		if choice.FinishReason != "" {
			r.finish, r.finished = choice.FinishReason, true
		}
	}
	return nil
}

func (r *chatReply) message(m *chatMessage) error {
	if err := r.reason(m); err != nil {
		return err
	}
	if err := r.reply.AddText(string(m.Content)); err != nil {
		return err
	}
	if m.Refusal != "" {
		r.refusal += m.Refusal
		if err := r.reply.AddText(m.Refusal); err != nil {
			return err
		}
	}
	for i := range m.ToolCalls {
		if err := r.call(&m.ToolCalls[i]); err != nil {
			return err
		}
	}
	return nil
}

func (r *chatReply) reason(m *chatMessage) error {
	text, field := m.ReasoningContent, "reasoning_content"
	if text == "" {
		text, field = m.Reasoning, "reasoning"
	}
	r.details = append(r.details, m.ReasoningDetails...)
	if text == "" && len(m.ReasoningDetails) == 0 {
		return nil
	}
	if r.reasoning == nil {
		r.reasoning = r.reply.Reasoning()
	}
	if text != "" {
		r.field = field
	}
	return r.reasoning.Add(text)
}

// call takes a call or a piece of one.
func (r *chatReply) call(d *chatCall) error {
	name, text := d.Function.Name, string(d.Function.Arguments)
	if d.Custom != nil {
		name, text = d.Custom.Name, d.Custom.Input
	}
	c := r.find(d, name, text)
	if c == nil {
		call, err := r.reply.Call(d.ID, name)
		if err != nil {
			return err
		}
		c = &openCall{Call: call, index: d.Index}
		if d.Custom != nil {
			property := cmp.Or(r.tools.custom[name], "input")
			c.custom = &customCall{call: call, property: property}
		}
		r.calls = append(r.calls, c)
	}
	c.Ref, c.Name = cmp.Or(c.Ref, d.ID), cmp.Or(c.Name, name)
	if c.custom != nil {
		return c.custom.add(text)
	}
	return c.Add(text)
}

// find is the call that a piece belongs to; nil means that it begins a new one.
// Servers tell calls apart by index, by id, by both, or only by beginning anew.
func (r *chatReply) find(d *chatCall, name, text string) *openCall {
	for i := len(r.calls) - 1; i >= 0; i-- {
		c := r.calls[i]
		switch {
		case d.Index != nil && c.index != nil && *d.Index != *c.index:
			continue
		case d.ID != "" && c.Ref != "" && d.ID != c.Ref:
			if d.Index == nil {
				continue
			}
			return nil // the same index for all calls
		case name != "" && text != "" && c.complete():
			return nil
		case d.Index == nil && d.ID == "" && name != "" && name != c.Name && c.Name != "":
			return nil
		}
		return c
	}
	return nil
}

// complete reports whether the arguments are all there.
func (c *openCall) complete() bool {
	return c.custom == nil && c.Arguments() != "" && json.Valid([]byte(c.Arguments()))
}

// response is the reply once all of it is there.
func (r *chatReply) response(ctx context.Context) (*ai.ModelResponse, error) {
	for _, c := range r.calls {
		end := c.End
		if c.custom != nil {
			end = c.custom.end
		}
		if err := end(); err != nil {
			return nil, err
		}
	}
	if r.reasoning != nil {
		kept := object{}
		if r.field != "" {
			kept["field"] = r.field
		}
		if len(r.details) > 0 {
			kept["reasoning_details"] = r.details
		}
		r.reasoning.Metadata = own(kept)
	}
	message := r.reply.Message()
	if len(message.Content) == 0 && !r.finished {
		return nil, adapter.Failure(ctx, provider, 0, nil, errors.New("the reply is empty"))
	}
	reason, explained := r.ended()
	return &ai.ModelResponse{Message: message, FinishReason: reason, FinishMessage: explained, Usage: r.usage}, nil
}

// ended says why the reply ended.
func (r *chatReply) ended() (ai.FinishReason, string) {
	if r.refusal != "" {
		return ai.FinishBlocked, r.refusal
	}
	switch r.finish {
	case "stop", "tool_calls", "function_call":
		return ai.FinishStop, ""
	case "length":
		return ai.FinishLength, ""
	case "content_filter":
		return ai.FinishBlocked, "The reply was cut off by the provider's content filter."
	case "":
		if len(r.calls) > 0 {
			return ai.FinishStop, ""
		}
		return ai.FinishUnknown, ""
	}
	return ai.FinishOther, fmt.Sprintf("The provider gave the reason %q.", r.finish)
}
