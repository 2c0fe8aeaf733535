package aitest_test

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"sync"

	"github.com/holdpoint/ai"
)

// brokenRequests are adapters that send the wrong thing.
func brokenRequests() []brokenAdapter {
	return []brokenAdapter{
		{"a request that is changed", "text", "changed the request", changesRequest},
		{"what the user said is lost", "text", "does not hold what the user said", onParts(func(*ai.TextPart) ai.Part {
			return &ai.TextPart{Text: "hi"}
		})},
		{"instructions that are dropped", "system", "instructions are 0 times", onRequest(func(req *ai.ModelRequest) {
			req.Messages = req.Messages[1:]
		})},
		{"instructions sent twice", "system", "instructions are 2 times", onRequest(func(req *ai.ModelRequest) {
			req.Messages = append(req.Messages, ai.TextMessage(ai.RoleUser, req.Messages[0].Text()))
		})},
		{"one of two user messages", "conversation", `"second" is 0 times`, onRequest(func(req *ai.ModelRequest) {
			req.Messages = slices.Delete(req.Messages, 1, 2)
		})},
		{"messages out of order", "conversation", "stands before an earlier one", onRequest(func(req *ai.ModelRequest) {
			slices.Reverse(req.Messages)
		})},
		{"an image dropped", "media_input", "image is not in the request", onParts(func(*ai.MediaPart) ai.Part {
			return &ai.TextPart{Text: "(an image)"}
		})},
		{"an image refused without saying so", "media_input", "expected an ErrInvalidArgument", refusesMedia},
		{"a signature that is not sent back", "reasoning_sent_back", "was not sent back", onParts(func(p *ai.ReasoningPart) ai.Part {
			return &ai.ReasoningPart{Reasoning: p.Reasoning}
		})},
		{"results with the refs of others", "parallel_calls", "goes with ref", swapsResults},
		{"results out of order", "parallel_calls", "stands before that of an earlier call", onRequest(func(req *ai.ModelRequest) {
			slices.Reverse(req.Messages[len(req.Messages)-1].Content)
		})},
		{"a result that is dropped", "parallel_calls", "calls without a result", onRequest(func(req *ai.ModelRequest) {
			last := req.Messages[len(req.Messages)-1]
			last.Content = last.Content[:1]
		})},
		{"a result sent twice", "pause", "is 2 times in the request", onParts(func(p *ai.ToolResponsePart) ai.Part {
			return &ai.ToolResponsePart{ToolResponse: ai.ToolResponse{
				Name: p.ToolResponse.Name, Ref: p.ToolResponse.Ref, Output: p.ToolResponse.Output,
				Content: ai.Parts{&ai.MediaPart{Media: ai.Media{URL: p.ForModel().Text}}},
			}}
		})},
		{"text beside a call that is dropped", "call", "text beside the call", onParts(func(p *ai.TextPart) ai.Part {
			return &ai.TextPart{Text: strings.TrimPrefix(p.Text, "I will look.")}
		})},
		{"digits read as a float", "digits", "9007199254740993 is not in the request", onParts(func(p *ai.ToolRequestPart) ai.Part {
			var v any
			_ = json.Unmarshal(p.ToolRequest.Input, &v)
			p.ToolRequest.Input, _ = json.Marshal(v)
			return p
		})},
		{"full names", "names", "another name than order_part", onRequest(func(req *ai.ModelRequest) {
			for i, def := range req.Tools {
				d := *def
				_, _ = d.Metadata.Decode("originalName", &d.Name)
				req.Tools[i] = &d
			}
		})},
		{"a tool choice that is ignored", "tool_choice", "is the one with", onRequest(func(req *ai.ModelRequest) {
			req.ToolChoice = ""
		})},
		{"an answer that waits for the rest", "partial_answers", `"receipt over 34" is 0 times`, onParts(func(p *ai.ToolResponsePart) ai.Part {
			if strings.Contains(p.ForModel().Text, "34") {
				p.ToolResponse.Output = json.RawMessage(`"wait"`)
			}
			return p
		})},
		{"a denial without its reason", "denial", `"Denied: too expensive" is 0 times`, onParts(func(p *ai.ToolResponsePart) ai.Part {
			p.ToolResponse.Output = json.RawMessage("null")
			return p
		})},
		{"an error without its text", "error_result", "the printer is on fire", onParts(func(p *ai.ToolResponsePart) ai.Part {
			if string(p.Metadata["isError"]) == "true" {
				p.ToolResponse.Output = json.RawMessage(`"error"`)
			}
			return p
		})},
		{"an image of a result that is dropped", "media_result", "image is not in the request", onParts(func(p *ai.ToolResponsePart) ai.Part {
			p.ToolResponse.Content = nil
			return p
		})},
		{"open calls that are sent", "open_calls", "expected an ErrFailedPrecondition", onRequest(func(req *ai.ModelRequest) {
			req.Messages = append(req.Messages, ai.TextMessage(ai.RoleUser, "go on"))
		})},
		{"what is another provider's", "foreign_history", "what another provider has left", onParts(func(p *ai.TextPart) ai.Part {
			return &ai.TextPart{Text: p.Text + string(p.Metadata["other"])}
		})},
		{"ids of another provider", "foreign_history", "answers no call", onParts(func(p *ai.ToolResponsePart) ai.Part {
			p.ToolResponse.Ref += "x"
			return p
		})},
		{"malformed arguments sent as they came", "arguments_malformed", "are no object", onParts(func(p *ai.ToolRequestPart) ai.Part {
			p.ToolRequest.Input = json.RawMessage("[]")
			return p
		})},
	}
}

func changesRequest(good ai.Model) ai.ModelFunc {
	return func(ctx context.Context, req *ai.ModelRequest, emit func(*ai.Chunk) error) (*ai.ModelResponse, error) {
		resp, err := good.Generate(ctx, req, emit)
		req.Messages = append(req.Messages, resp.Message)
		return resp, err
	}
}

func refusesMedia(good ai.Model) ai.ModelFunc {
	return func(ctx context.Context, req *ai.ModelRequest, emit func(*ai.Chunk) error) (*ai.ModelResponse, error) {
		for _, p := range req.Messages[0].Content {
			if _, ok := p.(*ai.MediaPart); ok {
				return nil, errors.New("no images")
			}
		}
		return good.Generate(ctx, req, emit)
	}
}

func swapsResults(good ai.Model) ai.ModelFunc {
	return onRequest(func(req *ai.ModelRequest) {
		parts := req.Messages[len(req.Messages)-1].Content
		if len(parts) < 2 {
			return
		}
		a, b := parts[0].(*ai.ToolResponsePart), parts[1].(*ai.ToolResponsePart)
		a.ToolResponse.Output, b.ToolResponse.Output = b.ToolResponse.Output, a.ToolResponse.Output
		parts[0], parts[1] = b, a
	})(good)
}

// brokenReplies are adapters that misread what the provider says.
func brokenReplies() []brokenAdapter {
	return []brokenAdapter{
		{"text that loses its end", "text", "the text is", onReply(func(resp *ai.ModelResponse, _ bool) {
			resp.Message.Content = ai.Parts{&ai.TextPart{Text: resp.Message.Text()[:5]}}
		})},
		{"a reply of another role", "text", `of role "user"`, onReply(func(resp *ai.ModelResponse, _ bool) {
			resp.Message.Role = ai.RoleUser
		})},
		{"no finish reason", "text", "finish reason of the reply is", onReply(func(resp *ai.ModelResponse, _ bool) {
			resp.FinishReason = ""
		})},
		{"a reply that differs when streamed", "text_streamed", "differs when it is streamed", onReply(func(resp *ai.ModelResponse, streamed bool) {
			if streamed {
				resp.Usage.OutputTokens = 1
			}
		})},
		{"a blocked reply that looks whole", "blocked", "expected \"blocked\"", finishes(ai.FinishBlocked)},
		{"reasoning as text", "reasoning", "the text is", onReply(func(resp *ai.ModelResponse, _ bool) {
			for i, p := range resp.Message.Content {
				if r, ok := p.(*ai.ReasoningPart); ok {
					resp.Message.Content[i] = &ai.TextPart{Text: r.Reasoning}
				}
			}
		})},
		{"usage that is lost", "usage", "expected 100 tokens", onReply(func(resp *ai.ModelResponse, _ bool) {
			resp.Usage = ai.Usage{}
		})},
		{"usage that is made up", "usage", "did not say", onReply(func(resp *ai.ModelResponse, _ bool) {
			if resp.Usage == (ai.Usage{}) {
				resp.Usage.InputTokens = 1
			}
		})},
		{"cached tokens beside those of the input", "usage_cached", "expected 60 of 100", onReply(func(resp *ai.ModelResponse, _ bool) {
			resp.Usage.InputTokens -= resp.Usage.CachedInputTokens
		})},
		{"reasoning beside the tokens of the output", "usage_reasoning", "expected 15 of 20", onReply(func(resp *ai.ModelResponse, _ bool) {
			resp.Usage.OutputTokens -= resp.Usage.ReasoningTokens
		})},
		{"calls with another finish reason", "call", "the finish reason is", onReply(func(resp *ai.ModelResponse, _ bool) {
			resp.FinishReason = ai.FinishOther
		})},
		{"a call that is lost", "parallel_calls", "tool requests, expected 3", onReply(func(resp *ai.ModelResponse, _ bool) {
			if n := len(resp.Message.ToolRequests()); n > 1 {
				resp.Message.Content = resp.Message.Content[:n-1]
			}
		})},
		{"a ref that is made up", "call", "the ref of tool request 0", eachRequest(func(i int, req *ai.ToolRequest) {
			req.Ref = "mine"
		})},
		{"calls merged by a missing id", "refs_missing", "these calls ran", mergesByRef},
		{"calls merged by a doubled id", "refs_doubled", "these calls ran", mergesByRef},
		{"no arguments as null", "arguments_empty", "these calls ran", eachRequest(func(_ int, req *ai.ToolRequest) {
			req.Input = json.RawMessage("null")
			req.Name = "look"
		})},
		{"malformed arguments that are dropped", "arguments_malformed", "expected what was sent", onReply(func(resp *ai.ModelResponse, _ bool) {
			for _, req := range resp.Message.ToolRequests() {
				delete(req.Metadata, "argumentsError")
			}
		})},
		{"a reply cut by its length that looks whole", "length", `expected "length"`, finishes(ai.FinishLength)},
		{"one reply for all", "concurrent", "the replies are", sharesReply},
	}
}

// finishes says stop where the provider gave another reason.
func finishes(reason ai.FinishReason) func(ai.Model) ai.ModelFunc {
	return onReply(func(resp *ai.ModelResponse, _ bool) {
		if resp.FinishReason == reason {
			resp.FinishReason = ai.FinishStop
		}
	})
}

func eachRequest(change func(i int, req *ai.ToolRequest)) func(ai.Model) ai.ModelFunc {
	return onReply(func(resp *ai.ModelResponse, _ bool) {
		for i, p := range resp.Message.ToolRequests() {
			change(i, &p.ToolRequest)
		}
	})
}

// mergesByRef takes requests of one ref for one.
func mergesByRef(good ai.Model) ai.ModelFunc {
	return onReply(func(resp *ai.ModelResponse, _ bool) {
		seen := map[string]bool{}
		resp.Message.Content = slices.DeleteFunc(resp.Message.Content, func(p ai.Part) bool {
			req, ok := p.(*ai.ToolRequestPart)
			twice := ok && seen[req.ToolRequest.Ref]
			if ok {
				seen[req.ToolRequest.Ref] = true
			}
			return twice
		})
	})(good)
}

// sharesReply gives every caller the first reply.
func sharesReply(good ai.Model) ai.ModelFunc {
	var mu sync.Mutex
	var first *ai.ModelResponse
	return onReply(func(resp *ai.ModelResponse, _ bool) {
		mu.Lock()
		defer mu.Unlock()
		if first == nil {
			first = resp
		}
		*resp = *first
	})(good)
}
