package openai

import (
	"context"
	"encoding/json"
	"errors"

	sdk "github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"

	"github.com/holdpoint/ai"
	"github.com/holdpoint/ai/internal/adapter"
)

// Responses is a model behind the responses API. Replies are not stored at the
// provider unless the config says so. It is safe for concurrent use.
type Responses struct {
	client sdk.Client
	name   string
	config any
}

// NewResponses makes a model of a name that the provider knows, such as "gpt-5". A
// key that is missing is an error of the first call.
func NewResponses(name string, opts *Options) *Responses {
	if opts == nil {
		opts = &Options{}
	}
	return &Responses{client: sdk.NewClient(opts.Client...), name: name, config: opts.Config}
}

// Generate sends the conversation and returns the reply.
func (r *Responses) Generate(ctx context.Context, req *ai.ModelRequest, emit func(*ai.Chunk) error) (*ai.ModelResponse, error) {
	config, err := configOf[ResponsesConfig](req.Config, r.config)
	if err != nil {
		return nil, err
	}
	tools, err := newToolKit(req.Tools)
	if err != nil {
		return nil, err
	}
	body, err := config.body(r.name, req, tools)
	if err != nil {
		return nil, err
	}
	reply := &responsesReply{reply: adapter.Reply{Emit: emit}, tools: tools, items: map[int]*outputItem{}}
	if emit == nil {
		err = r.whole(ctx, body, reply)
	} else {
		body["stream"] = true
		err = r.stream(ctx, body, reply)
	}
	if err != nil {
		return nil, err
	}
	return reply.response()
}

func (r *Responses) whole(ctx context.Context, body object, reply *responsesReply) error {
	var data []byte
	err := r.client.Post(ctx, "responses", nil, &data, option.WithRequestBody("application/json", []byte(encode(body))))
	if err != nil {
		return failure(ctx, err)
	}
	var end responseEnd
	if err := json.Unmarshal(data, &end); err != nil {
		return adapter.Failure(ctx, provider, 0, nil, err)
	}
	for i, item := range end.Output {
		if err := reply.item(i, item); err != nil {
			return err
		}
	}
	return reply.end(ctx, &end)
}

func (r *Responses) stream(ctx context.Context, body object, reply *responsesReply) error {
	res, err := post(ctx, &r.client, "responses", body)
	if err != nil {
		return err
	}
	ended := false
	err = events(ctx, res, func(data []byte) (bool, error) {
		var e responseEvent
		if err := json.Unmarshal(data, &e); err != nil {
			return false, adapter.Failure(ctx, provider, 0, nil, err)
		}
		var err error
		ended, err = reply.event(ctx, &e, data)
		return ended, err
	})
	if err == nil && !ended {
		err = adapter.Failure(ctx, provider, 0, nil, errCutShort)
	}
	return err
}

// responseEnd is a response as it ends: whole, or with the last event of a stream.
type responseEnd struct {
	Status            string            `json:"status"`
	Output            []json.RawMessage `json:"output"`
	Error             json.RawMessage   `json:"error"`
	IncompleteDetails struct {
		Reason string `json:"reason"`
	} `json:"incomplete_details"`
	Usage struct {
		Input        int `json:"input_tokens"`
		Output       int `json:"output_tokens"`
		Total        int `json:"total_tokens"`
		InputDetails struct {
			Cached int `json:"cached_tokens"`
		} `json:"input_tokens_details"`
		OutputDetails struct {
			Reasoning int `json:"reasoning_tokens"`
		} `json:"output_tokens_details"`
	} `json:"usage"`
}

// end takes what is said of the response as a whole.
func (r *responsesReply) end(ctx context.Context, e *responseEnd) error {
	if len(e.Error) > 0 && string(e.Error) != "null" {
		return failed(ctx, e.Error)
	}
	switch e.Status {
	case "failed", "cancelled":
		return adapter.Failure(ctx, provider, 0, nil, errors.New("the response is "+e.Status))
	case "incomplete":
		r.incomplete = e.IncompleteDetails.Reason
		if r.incomplete == "" {
			r.incomplete = "unknown"
		}
	}
	r.usage = ai.Usage{
		InputTokens: e.Usage.Input, OutputTokens: e.Usage.Output, TotalTokens: e.Usage.Total,
		CachedInputTokens: e.Usage.InputDetails.Cached, ReasoningTokens: e.Usage.OutputDetails.Reasoning,
	}
	return nil
}
