package anthropic

import (
	"context"
	"slices"

	sdk "github.com/anthropics/anthropic-sdk-go/v2"
	"github.com/anthropics/anthropic-sdk-go/v2/option"

	"github.com/holdpoint/ai"
	"github.com/holdpoint/ai/internal/adapter"
)

// provider is the name of this adapter in errors, and the key of what is its own
// in metadata.
const provider = "anthropic"

// Model is a model of Anthropic's Messages API. It is safe for concurrent use.
type Model struct {
	client sdk.Client
	name   string
	config Config
}

// Options are for New. Nil is all defaults.
type Options struct {
	// Client are the options of the SDK's client, such as the key, the base URL and
	// the number of retries. They come after what the SDK takes from the
	// environment: ANTHROPIC_API_KEY, ANTHROPIC_BASE_URL and others.
	Client []option.RequestOption
	// Config is for requests that bring none. Nil means the zero Config.
	Config *Config
}

// New makes a model of a name that the provider knows, such as
// "claude-sonnet-5". A key that is missing is an error of the first call.
func New(name string, opts *Options) *Model {
	if opts == nil {
		opts = &Options{}
	}
	m := &Model{client: sdk.NewClient(opts.Client...), name: name}
	if opts.Config != nil {
		m.config = *opts.Config
	}
	return m
}

// Generate sends the conversation and returns the reply. Where the provider
// pauses a turn of its own tools, it goes on with it: see Config.MaxPauses.
func (m *Model) Generate(ctx context.Context, req *ai.ModelRequest, emit func(*ai.Chunk) error) (*ai.ModelResponse, error) {
	config, err := m.configOf(req.Config)
	if err != nil {
		return nil, err
	}
	reply := &collector{reply: adapter.Reply{Emit: emit}}
	for pauses := config.maxPauses(); ; pauses-- {
		params, err := config.params(req, reply.said())
		if err != nil {
			return nil, err
		}
		if err := m.exchange(ctx, params, config.options(), reply); err != nil {
			return nil, err
		}
		if !reply.paused() || pauses == 0 {
			return reply.response(), nil
		}
	}
}

// exchange sends one request and adds what comes back to the reply.
func (m *Model) exchange(ctx context.Context, params *sdk.MessageNewParams, opts []option.RequestOption, reply *collector) error {
	if reply.reply.Emit == nil && m.isShort(params) {
		return m.whole(ctx, params, opts, reply)
	}
	return m.stream(ctx, params, opts, reply)
}

// isShort reports whether the SDK sends the request without streaming, which it
// refuses where the reply may take too long.
func (m *Model) isShort(params *sdk.MessageNewParams) bool {
	_, err := sdk.CalculateNonStreamingTimeout(int(params.MaxTokens), params.Model, m.client.Options)
	return err == nil
}

// configOf is the configuration of one request.
func (m *Model) configOf(passed any) (*Config, error) {
	c := m.config
	switch p := passed.(type) {
	case nil:
	case Config:
		c = p
	case *Config:
		if p != nil {
			c = *p
		}
	default:
		return nil, adapter.Invalid("ai: anthropic: the config is a %T, expected an *anthropic.Config", passed)
	}
	if c.Params.Model == "" {
		c.Params.Model = m.name
	}
	if _, ok := c.Params.Overrides(); ok {
		return nil, adapter.Invalid("ai: anthropic: the params of the config are an override, which leaves no room for the conversation")
	}
	if len(c.Params.Messages) > 0 || len(c.Params.System) > 0 {
		return nil, adapter.Invalid("ai: anthropic: the config holds messages or a system prompt, which belong into the conversation")
	}
	return &c, nil
}

// history is the conversation with what the model has said so far in its place.
func history(req *ai.ModelRequest, said *ai.Message) []*ai.Message {
	if said == nil {
		return req.Messages
	}
	return append(slices.Clip(req.Messages), said)
}
