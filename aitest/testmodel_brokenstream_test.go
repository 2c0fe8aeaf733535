package aitest_test

import (
	"context"
	"errors"
	"io"
	"time"

	"github.com/holdpoint/ai"
)

// brokenStreams are adapters that emit the wrong thing.
func brokenStreams() []brokenAdapter {
	return []brokenAdapter{
		{"a piece that is not streamed", "text_streamed", "the text of the chunks", onChunk(func(c *ai.Chunk) []*ai.Chunk {
			if t, ok := text(c); ok && t.Text == "世" {
				return nil
			}
			return []*ai.Chunk{c}
		})},
		{"characters that are cut", "text_streamed", "a chunk cuts a character", onChunk(func(c *ai.Chunk) []*ai.Chunk {
			if t, ok := text(c); ok {
				return []*ai.Chunk{textChunk(t.Text[:1]), textChunk(t.Text[1:])}
			}
			return []*ai.Chunk{c}
		})},
		{"text all at once", "text_streamed", "in 1 chunks", emitsAtTheEnd},
		{"chunks of another role", "text", `a chunk is of role ""`, onChunk(func(c *ai.Chunk) []*ai.Chunk {
			return []*ai.Chunk{{Content: c.Content, Tool: c.Tool}}
		})},
		{"requests that are not streamed", "arguments_streamed", "was not streamed", onEvents(func(*ai.Chunk) []*ai.Chunk { return nil })},
		{"requests without a start", "arguments_streamed", "out of order", onKind(ai.ToolStart, func(*ai.Chunk) []*ai.Chunk { return nil })},
		{"two starts", "arguments_streamed", "out of order", onKind(ai.ToolStart, func(c *ai.Chunk) []*ai.Chunk { return []*ai.Chunk{c, c} })},
		{"requests without an end", "arguments_streamed", "has no end", onKind(ai.ToolEnd, func(*ai.Chunk) []*ai.Chunk { return nil })},
		{"an end without the request", "arguments_streamed", "does not hold the whole request", onKind(ai.ToolEnd, func(c *ai.Chunk) []*ai.Chunk {
			return []*ai.Chunk{{Role: c.Role, Tool: c.Tool}}
		})},
		{"a delta behind the end", "arguments_streamed", "behind its end", onKind(ai.ToolEnd, func(c *ai.Chunk) []*ai.Chunk {
			late := *c.Tool
			late.Kind, late.Delta = ai.ToolDelta, "{}"
			return []*ai.Chunk{c, {Role: c.Role, Tool: &late}}
		})},
		{"deltas that lose a piece", "arguments_streamed", "arguments of tool request 0", onKind(ai.ToolDelta, func(c *ai.Chunk) []*ai.Chunk {
			if c.Tool.Delta == "🌍" {
				return nil
			}
			return []*ai.Chunk{c}
		})},
		{"deltas of another request", "parallel_calls", "arguments of tool request", onKind(ai.ToolDelta, func(c *ai.Chunk) []*ai.Chunk {
			c.Tool.Index = 0
			return []*ai.Chunk{c}
		})},
		{"a name that changes", "arguments_streamed", "changes from", onKind(ai.ToolDelta, func(c *ai.Chunk) []*ai.Chunk {
			c.Tool.Name = ""
			return []*ai.Chunk{c}
		})},
		{"requests that are not in the reply", "arguments_streamed", "but the reply has 1", onReply(func(resp *ai.ModelResponse, streamed bool) {
			if n := len(resp.Message.Content); streamed && n > 2 {
				resp.Message.Content = resp.Message.Content[:n-1]
			}
		})},
	}
}

func text(c *ai.Chunk) (*ai.TextPart, bool) {
	if len(c.Content) == 0 {
		return nil, false
	}
	t, ok := c.Content[0].(*ai.TextPart)
	return t, ok
}

func textChunk(text string) *ai.Chunk {
	return &ai.Chunk{Role: ai.RoleModel, Content: ai.Parts{&ai.TextPart{Text: text}}}
}

func onEvents(change func(*ai.Chunk) []*ai.Chunk) func(ai.Model) ai.ModelFunc {
	return onChunk(func(c *ai.Chunk) []*ai.Chunk {
		if c.Tool == nil {
			return []*ai.Chunk{c}
		}
		return change(c)
	})
}

func onKind(kind ai.ToolEventKind, change func(*ai.Chunk) []*ai.Chunk) func(ai.Model) ai.ModelFunc {
	return onEvents(func(c *ai.Chunk) []*ai.Chunk {
		if c.Tool.Kind != kind {
			return []*ai.Chunk{c}
		}
		return change(c)
	})
}

func emitsAtTheEnd(good ai.Model) ai.ModelFunc {
	return func(ctx context.Context, req *ai.ModelRequest, emit func(*ai.Chunk) error) (*ai.ModelResponse, error) {
		resp, err := good.Generate(ctx, req, nil)
		if err == nil && emit != nil {
			err = emit(textChunk(resp.Message.Text()))
		}
		return resp, err
	}
}

// brokenFailures are adapters that do the wrong thing when something ends early.
func brokenFailures() []brokenAdapter {
	return []brokenAdapter{
		{"errors without a type", "errors", "expected an *ai.ProviderError", onError(func(err error) error {
			return errors.New(err.Error())
		})},
		{"errors of another kind", "errors", "is not of the kind", onProviderError(func(e *ai.ProviderError) {
			e.Kind = ai.ErrUnavailable
		})},
		{"errors without the wait", "errors", "asks to wait for 0s", onProviderError(func(e *ai.ProviderError) { e.RetryAfter = 0 })},
		{"errors without the status", "errors", "the status of the error is 0", onProviderError(func(e *ai.ProviderError) { e.StatusCode = 0 })},
		{"errors without the provider", "errors", "names no provider", onProviderError(func(e *ai.ProviderError) { e.Provider = "" })},
		{"tries that nobody asked for", "errors", "the provider got 2 requests", triesAgain},
		{"a response beside an error", "errors", "a response beside the error", responseBesideError},
		{"neither a response nor an error", "errors", "neither a message nor an error", onError(func(error) error { return nil })},
		{"a cut reply that looks whole", "cut", "gives the error <nil>", ignoresCuts},
		{"a cut that is an error like any", "cut", "expected an ErrUnavailable", onError(func(error) error { return io.ErrUnexpectedEOF })},
		{"a context that is ignored", "cancel", "did not return within", ignoresContext},
		{"a context's end without its cause", "cancel", "expected the cause", onError(func(error) error { return context.Canceled })},
		{"a context's end as the provider's failure", "cancel", "is one of the provider", onError(func(err error) error {
			return &ai.ProviderError{Provider: "memory", Kind: ai.ErrUnavailable, Err: err}
		})},
		{"an error of emit that is ignored", "emit_error", "emit was called again after it had failed", ignoresEmit},
		{"an error of emit that is hidden", "emit_error", "expected the cause", onError(func(error) error { return io.ErrClosedPipe })},
	}
}

func triesAgain(good ai.Model) ai.ModelFunc {
	return func(ctx context.Context, req *ai.ModelRequest, emit func(*ai.Chunk) error) (*ai.ModelResponse, error) {
		if resp, err := good.Generate(ctx, req, emit); err == nil {
			return resp, nil
		}
		return good.Generate(ctx, req, emit)
	}
}

func responseBesideError(good ai.Model) ai.ModelFunc {
	return func(ctx context.Context, req *ai.ModelRequest, emit func(*ai.Chunk) error) (*ai.ModelResponse, error) {
		resp, err := good.Generate(ctx, req, emit)
		if err != nil {
			resp = &ai.ModelResponse{}
		}
		return resp, err
	}
}

func ignoresCuts(good ai.Model) ai.ModelFunc {
	return func(ctx context.Context, req *ai.ModelRequest, emit func(*ai.Chunk) error) (*ai.ModelResponse, error) {
		resp, err := good.Generate(ctx, req, emit)
		if errors.Is(err, ai.ErrUnavailable) {
			return &ai.ModelResponse{Message: ai.TextMessage(ai.RoleModel, ""), FinishReason: ai.FinishStop}, nil
		}
		return resp, err
	}
}

// ignoresContext waits much longer than its caller, but not for ever.
func ignoresContext(good ai.Model) ai.ModelFunc {
	return func(_ context.Context, req *ai.ModelRequest, emit func(*ai.Chunk) error) (*ai.ModelResponse, error) {
		ctx, cancel := context.WithTimeout(context.Background(), time.Hour)
		defer cancel()
		return good.Generate(ctx, req, emit)
	}
}

func ignoresEmit(good ai.Model) ai.ModelFunc {
	return func(ctx context.Context, req *ai.ModelRequest, emit func(*ai.Chunk) error) (*ai.ModelResponse, error) {
		return good.Generate(ctx, req, func(c *ai.Chunk) error {
			_ = emit(c)
			return nil
		})
	}
}
