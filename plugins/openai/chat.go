package openai

import (
	"context"
	"encoding/json"
	"net/http"

	sdk "github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"

	"github.com/holdpoint/ai"
	"github.com/holdpoint/ai/internal/adapter"
)

// Chat is a model behind the chat completions API, OpenAI's or that of a compatible
// server. It is safe for concurrent use.
type Chat struct {
	client sdk.Client
	name   string
	config any
}

// NewChat makes a model of a name that the server knows, such as "gpt-5". A key that
// is missing is an error of the first call.
func NewChat(name string, opts *Options) *Chat {
	if opts == nil {
		opts = &Options{}
	}
	return &Chat{client: sdk.NewClient(opts.Client...), name: name, config: opts.Config}
}

// Generate sends the conversation and returns the reply.
func (c *Chat) Generate(ctx context.Context, req *ai.ModelRequest, emit func(*ai.Chunk) error) (*ai.ModelResponse, error) {
	config, err := configOf[ChatConfig](req.Config, c.config)
	if err != nil {
		return nil, err
	}
	tools, err := newToolKit(req.Tools)
	if err != nil {
		return nil, err
	}
	body, err := config.body(c.name, req, tools)
	if err != nil {
		return nil, err
	}
	reply := newChatReply(emit, tools)
	if emit == nil {
		return c.whole(ctx, body, reply)
	}
	body["stream"] = true
	if !config.NoStreamUsage {
		if _, ok := body["stream_options"]; !ok {
			body["stream_options"] = object{"include_usage": true}
		}
	}
	return c.stream(ctx, body, reply)
}

// post sends a request whose answer the caller reads and closes.
func post(ctx context.Context, client *sdk.Client, path string, body object) (*http.Response, error) {
	var res *http.Response
	err := client.Post(ctx, path, nil, &res, option.WithRequestBody("application/json", []byte(encode(body))))
	if err != nil {
		return nil, failure(ctx, err)
	}
	return res, nil
}

func (c *Chat) whole(ctx context.Context, body object, reply *chatReply) (*ai.ModelResponse, error) {
	var data []byte
	err := c.client.Post(ctx, "chat/completions", nil, &data, option.WithRequestBody("application/json", []byte(encode(body))))
	if err != nil {
		return nil, failure(ctx, err)
	}
	var chunk chatChunk
	if err := json.Unmarshal(data, &chunk); err != nil {
		return nil, adapter.Failure(ctx, provider, 0, nil, err)
	}
	if err := reply.add(ctx, &chunk); err != nil {
		return nil, err
	}
	return reply.response(ctx)
}
