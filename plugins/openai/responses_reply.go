package openai

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/holdpoint/ai"
	"github.com/holdpoint/ai/internal/adapter"
)

// responseEvent is an event of a stream, or as much of it as is used.
type responseEvent struct {
	Type         string          `json:"type"`
	OutputIndex  int             `json:"output_index"`
	SummaryIndex int             `json:"summary_index"`
	Delta        string          `json:"delta"`
	Item         json.RawMessage `json:"item"`
	Response     json.RawMessage `json:"response"`
}

// outputItem is an item of the output, perhaps still growing.
type outputItem struct {
	kind    string
	call    *adapter.Call
	custom  *customCall
	text    *adapter.Block
	summary int // the part of the summary that came last
}

// responsesReply collects a reply.
type responsesReply struct {
	reply      adapter.Reply
	tools      *toolKit
	items      map[int]*outputItem // by output index
	refusal    string
	incomplete string // why the reply is not complete
	usage      ai.Usage
}

// item of the API, whole.
type wireItem struct {
	ID        string   `json:"id"`
	Type      string   `json:"type"`
	CallID    string   `json:"call_id"`
	Name      string   `json:"name"`
	Arguments flexible `json:"arguments"`
	Input     string   `json:"input"`
	Content   []struct {
		Type    string `json:"type"`
		Text    string `json:"text"`
		Refusal string `json:"refusal"`
	} `json:"content"`
	Summary []struct {
		Text string `json:"text"`
	} `json:"summary"`
}

// event takes an event. It reports whether the reply has ended.
func (r *responsesReply) event(ctx context.Context, e *responseEvent, data []byte) (bool, error) {
	switch e.Type {
	case "response.output_item.added":
		_, err := r.begin(e.OutputIndex, e.Item)
		return false, err
	case "response.output_item.done":
		return false, r.item(e.OutputIndex, e.Item)
	case "response.output_text.delta", "response.refusal.delta", "response.reasoning_text.delta":
		return false, r.grow(e)
	case "response.reasoning_summary_text.delta":
		return false, r.summarize(e)
	case "response.function_call_arguments.delta", "response.custom_tool_call_input.delta":
		return false, r.argue(e)
	case "response.completed", "response.incomplete", "response.failed":
		var end responseEnd
		if err := json.Unmarshal(e.Response, &end); err != nil {
			return false, adapter.Failure(ctx, provider, 0, nil, err)
		}
		return true, r.end(ctx, &end)
	case "error":
		return false, failed(ctx, errorOf(data))
	}
	return false, nil
}

// errorOf is the error of an error event, which stands in it or is it.
func errorOf(data []byte) json.RawMessage {
	var e struct {
		Error json.RawMessage `json:"error"`
	}
	if json.Unmarshal(data, &e) == nil && len(e.Error) > 0 && string(e.Error) != "null" {
		return e.Error
	}
	return data
}

// begin makes an item, once.
func (r *responsesReply) begin(index int, raw json.RawMessage) (*outputItem, error) {
	if it := r.items[index]; it != nil {
		return it, nil
	}
	var w wireItem
	if err := json.Unmarshal(raw, &w); err != nil {
		return nil, fmt.Errorf("ai: openai: an output item can't be read: %w", err)
	}
	it := &outputItem{kind: w.Type}
	r.items[index] = it
	var err error
	switch w.Type {
	case "function_call":
		it.call, err = r.reply.Call(w.CallID, w.Name)
	case "custom_tool_call":
		if it.call, err = r.reply.Call(w.CallID, w.Name); err == nil {
			property := r.tools.custom[w.Name]
			if property == "" {
				property = "input"
			}
			it.custom = &customCall{call: it.call, property: property}
		}
	case "message":
		it.text = r.reply.Text()
	case "reasoning":
		it.text = r.reply.Reasoning()
	}
	return it, err
}

func (r *responsesReply) grow(e *responseEvent) error {
	it := r.items[e.OutputIndex]
	if it == nil || it.text == nil {
		return fmt.Errorf("ai: openai: text came for output item %d, which has not begun", e.OutputIndex)
	}
	if e.Type == "response.refusal.delta" {
		r.refusal += e.Delta
	}
	return it.text.Add(e.Delta)
}

// summarize adds to a summary, whose parts are paragraphs.
func (r *responsesReply) summarize(e *responseEvent) error {
	if it := r.items[e.OutputIndex]; it != nil && e.SummaryIndex > it.summary {
		it.summary = e.SummaryIndex
		e.Delta = "\n\n" + e.Delta
	}
	return r.grow(e)
}

func (r *responsesReply) argue(e *responseEvent) error {
	it := r.items[e.OutputIndex]
	if it == nil || it.call == nil {
		return fmt.Errorf("ai: openai: arguments came for output item %d, which is no call", e.OutputIndex)
	}
	if it.custom != nil {
		return it.custom.add(e.Delta)
	}
	return it.call.Add(e.Delta)
}

// item takes an item that is whole: what of it was not streamed is added.
func (r *responsesReply) item(index int, raw json.RawMessage) error {
	it, err := r.begin(index, raw)
	if err != nil {
		return err
	}
	var w wireItem
	if err := json.Unmarshal(raw, &w); err != nil {
		return fmt.Errorf("ai: openai: an output item can't be read: %w", err)
	}
	switch it.kind {
	case "function_call":
		return r.endCall(it, &w)
	case "custom_tool_call":
		if !it.custom.begun {
			if err := it.custom.add(w.Input); err != nil {
				return err
			}
		}
		return it.custom.end()
	case "message":
		return r.endMessage(it, &w)
	case "reasoning":
		return r.endReasoning(it, &w, raw)
	}
	// The provider's own tools, whose items are sent back as they came.
	return r.reply.Add(&ai.CustomPart{Custom: raw, Metadata: own(object{"item": raw})})
}

func (r *responsesReply) endCall(it *outputItem, w *wireItem) error {
	if it.call.Arguments() == "" {
		if err := it.call.Add(string(w.Arguments)); err != nil {
			return err
		}
	}
	return it.call.End()
}

func (r *responsesReply) endMessage(it *outputItem, w *wireItem) error {
	if it.text.Len() > 0 {
		return nil
	}
	for _, c := range w.Content {
		r.refusal += c.Refusal
		if err := it.text.Add(c.Text + c.Refusal); err != nil {
			return err
		}
	}
	return nil
}

// endReasoning keeps the item, to be sent back: the provider wants it before what it
// led to.
func (r *responsesReply) endReasoning(it *outputItem, w *wireItem, raw json.RawMessage) error {
	it.text.Metadata = own(object{"item": input(raw)})
	if it.text.Len() > 0 {
		return nil
	}
	var paragraphs []string
	for _, s := range w.Summary {
		paragraphs = append(paragraphs, s.Text)
	}
	for _, c := range w.Content {
		paragraphs = append(paragraphs, c.Text)
	}
	return it.text.Add(strings.Join(paragraphs, "\n\n"))
}

// input is an item of the output as the input takes it: without its status, which the
// API refuses where it is null.
func input(raw json.RawMessage) json.RawMessage {
	var members map[string]json.RawMessage
	if json.Unmarshal(raw, &members) != nil {
		return raw
	}
	for key, value := range members {
		if string(value) == "null" || key == "status" {
			delete(members, key)
		}
	}
	return encode(members)
}

// response is the reply once all of it is there. A call that is still open was cut
// off with the message.
func (r *responsesReply) response() (*ai.ModelResponse, error) {
	if err := r.reply.EndCalls(); err != nil {
		return nil, err
	}
	resp := &ai.ModelResponse{Message: r.reply.Message(), FinishReason: ai.FinishStop, Usage: r.usage}
	switch {
	case r.refusal != "":
		resp.FinishReason, resp.FinishMessage = ai.FinishBlocked, r.refusal
	case r.incomplete == "max_output_tokens":
		resp.FinishReason = ai.FinishLength
	case r.incomplete == "content_filter":
		resp.FinishReason, resp.FinishMessage = ai.FinishBlocked, "The reply was cut off by the provider's content filter."
	case r.incomplete != "":
		resp.FinishReason, resp.FinishMessage = ai.FinishOther, fmt.Sprintf("The provider gave the reason %q.", r.incomplete)
	}
	return resp, nil
}
