package aitest

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/holdpoint/ai"
)

// Reply is one answer of a Model. It must not be changed once a model has it.
type Reply struct {
	// Content is what the model says. It is copied for each use.
	Content ai.Parts
	// FinishReason defaults to ai.FinishStop.
	FinishReason ai.FinishReason
	// FinishMessage explains the finish reason. Defaults to none.
	FinishMessage string
	// Usage counts the tokens of this reply. Defaults to none.
	Usage ai.Usage
	// Err is returned instead of the reply. Where somebody streams, Content comes
	// first: a stream that broke. Nil means none.
	Err error
}

// Text is a reply of text.
func Text(text string) *Reply {
	return &Reply{Content: ai.Parts{&ai.TextPart{Text: text}}}
}

// ToolRequests is a reply that asks for tools. See Request.
func ToolRequests(requests ...*ai.ToolRequestPart) *Reply {
	r := &Reply{}
	for _, req := range requests {
		r.Content = append(r.Content, req)
	}
	return r
}

// Fail is a reply that is an error, such as a provider's 429.
func Fail(err error) *Reply {
	return &Reply{Err: err}
}

// Request is a model's request for a tool. An empty ref stands for a model that
// sends none. The input is encoded as JSON; nil means that there is none, and a
// json.RawMessage is taken as it is, valid or not. It panics where the input does
// not encode.
func Request(name, ref string, input any) *ai.ToolRequestPart {
	req := &ai.ToolRequestPart{ToolRequest: ai.ToolRequest{Name: name, Ref: ref}}
	raw, isRaw := input.(json.RawMessage)
	switch {
	case isRaw:
		req.ToolRequest.Input = raw
	case input != nil:
		data, err := encode(input)
		if err != nil {
			panic(fmt.Sprintf("aitest: input of tool request %s: %v", name, err))
		}
		req.ToolRequest.Input = data
	}
	return req
}

func (r *Reply) response() *ai.ModelResponse {
	resp := &ai.ModelResponse{
		Message:      &ai.Message{Role: ai.RoleModel, Content: cloneParts(r.Content)},
		FinishReason: r.FinishReason, FinishMessage: r.FinishMessage, Usage: r.Usage,
	}
	if resp.FinishReason == "" {
		resp.FinishReason = ai.FinishStop
	}
	return resp
}

// stream sends the content in pieces.
func stream(ctx context.Context, content ai.Parts, emit func(*ai.Chunk) error) error {
	requests := 0
	for _, part := range cloneParts(content) {
		var chunks []*ai.Chunk
		if req, ok := part.(*ai.ToolRequestPart); ok && req != nil && !req.ToolRequest.Partial {
			chunks = events(requests, req)
			requests++
		} else {
			for _, piece := range pieces(part) {
				chunks = append(chunks, &ai.Chunk{Role: ai.RoleModel, Content: ai.Parts{piece}})
			}
		}
		for _, c := range chunks {
			if ctx.Err() != nil {
				return context.Cause(ctx)
			}
			if err := emit(c); err != nil {
				return err
			}
		}
	}
	return nil
}

// events are those of a tool request, which is part of the last one.
func events(index int, req *ai.ToolRequestPart) []*ai.Chunk {
	event := ai.ToolEvent{Kind: ai.ToolStart, Index: index, Ref: req.ToolRequest.Ref, Name: req.ToolRequest.Name}
	chunk := func(kind ai.ToolEventKind, delta string) *ai.Chunk {
		e := event
		e.Kind, e.Delta = kind, delta
		return &ai.Chunk{Role: ai.RoleModel, Tool: &e}
	}
	chunks := []*ai.Chunk{chunk(ai.ToolStart, "")}
	for _, delta := range deltas(arguments(req)) {
		chunks = append(chunks, chunk(ai.ToolDelta, delta))
	}
	end := chunk(ai.ToolEnd, "")
	end.Content = ai.Parts{req}
	return append(chunks, end)
}

// arguments is the text of the arguments as the model sent it.
func arguments(req *ai.ToolRequestPart) string {
	var sent struct{ Text string }
	if found, err := req.Metadata.Decode("argumentsError", &sent); found && err == nil {
		return sent.Text
	}
	return string(req.ToolRequest.Input)
}

// deltas cuts a text into short pieces of whole characters.
func deltas(text string) []string {
	const size = 8
	var list []string
	for text != "" {
		n := min(size, len(text))
		for n < len(text) && !utf8.RuneStart(text[n]) {
			n++
		}
		list = append(list, text[:n])
		text = text[n:]
	}
	return list
}

// pieces splits plain text behind its spaces. Joined, they are the part again.
func pieces(part ai.Part) ai.Parts {
	text, ok := part.(*ai.TextPart)
	if !ok || text == nil || text.Metadata != nil {
		return ai.Parts{part}
	}
	var list ai.Parts
	for word := range strings.SplitAfterSeq(text.Text, " ") {
		if word != "" {
			list = append(list, &ai.TextPart{Text: word})
		}
	}
	return list
}
