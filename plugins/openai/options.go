package openai

import (
	"encoding/json"

	sdk "github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"
	"github.com/openai/openai-go/v3/responses"

	"github.com/holdpoint/ai"
	"github.com/holdpoint/ai/internal/adapter"
)

// provider is the name of this adapter in errors, and the key of what is its own
// in metadata.
const provider = "openai"

// Options are for NewChat and NewResponses. Nil is all defaults.
type Options struct {
	// Client are the options of the SDK's client, such as the key, the base URL and
	// the number of retries. They come after what the SDK takes from the environment:
	// OPENAI_API_KEY, OPENAI_BASE_URL and others.
	Client []option.RequestOption
	// Config is for requests that bring none: a *ChatConfig or a *ResponsesConfig.
	// Nil means the zero one.
	Config any
}

// ChatConfig goes into ai.ModelRequest.Config of a Chat, as a value or a pointer. It
// takes the place of the one in Options, as a whole.
type ChatConfig struct {
	// Params is what the API takes beside the conversation, in the SDK's terms. Model
	// defaults to the name given to NewChat. Messages, Tools and ToolChoice are made of
	// the request and must be empty.
	Params sdk.ChatCompletionNewParams `json:"params,omitzero"`
	// SendReasoning sends the model's reasoning back with its messages, as DeepSeek and
	// some others want it. Most refuse or ignore it.
	SendReasoning bool `json:"sendReasoning,omitempty"`
	// NoStreamUsage leaves stream_options out, for servers that refuse it. Streams then
	// mostly come without usage.
	NoStreamUsage bool `json:"noStreamUsage,omitempty"`
}

// ResponsesConfig goes into ai.ModelRequest.Config of a Responses, as a value or a
// pointer. It takes the place of the one in Options, as a whole.
type ResponsesConfig struct {
	// Params is what the API takes beside the conversation, in the SDK's terms. Model
	// defaults to the name given to NewResponses, Store to false, Include to the
	// encrypted reasoning. Input and ToolChoice are made of the request and must be
	// empty. Tools, such as the provider's own, come behind those of the request.
	Params responses.ResponseNewParams `json:"params,omitzero"`
}

// configOf reads the configuration of a request: its own, else the model's.
func configOf[C any](passed, fallback any) (*C, error) {
	for _, v := range []any{passed, fallback} {
		switch c := v.(type) {
		case nil:
		case C:
			return &c, nil
		case *C:
			if c != nil {
				return c, nil
			}
		default:
			return nil, adapter.Invalid("ai: openai: the config is a %T, expected a %T", v, new(C))
		}
	}
	return new(C), nil
}

// params makes of the SDK's parameters the members of a request. Those named must not
// be set: they are made of the conversation.
func params(typed any, name string, made ...string) (object, error) {
	data, err := json.Marshal(typed)
	if err != nil {
		return nil, adapter.Invalid("ai: openai: the params of the config do not encode: %w", err)
	}
	raw := map[string]json.RawMessage{}
	if err := json.Unmarshal(data, &raw); err != nil {
		return nil, adapter.Invalid("ai: openai: the params of the config are no JSON object")
	}
	for _, key := range made {
		if v, ok := raw[key]; ok && string(v) != "null" && string(v) != "[]" {
			return nil, adapter.Invalid("ai: openai: the config holds %q, which is made of the request", key)
		}
		delete(raw, key)
	}
	body := object{}
	for key, v := range raw {
		body[key] = v
	}
	if m := string(raw["model"]); m == "" || m == `""` {
		body["model"] = name
	}
	return body, nil
}

// choose says in a request whether tools may, must or must not be called.
func choose(body object, req *ai.ModelRequest, tools int) error {
	switch req.ToolChoice {
	case "":
		return nil
	case ai.ToolChoiceAuto, ai.ToolChoiceRequired, ai.ToolChoiceNone:
	default:
		return adapter.Invalid("ai: openai: tool choice %q is not supported", req.ToolChoice)
	}
	if tools == 0 {
		if req.ToolChoice == ai.ToolChoiceRequired {
			return adapter.Invalid("ai: openai: a tool must be called, but none is on offer")
		}
		return nil
	}
	body["tool_choice"] = string(req.ToolChoice)
	return nil
}
