package anthropic

import (
	"encoding/json"
	"strings"

	sdk "github.com/anthropics/anthropic-sdk-go/v2"
	"github.com/anthropics/anthropic-sdk-go/v2/option"
	"github.com/anthropics/anthropic-sdk-go/v2/packages/param"

	"github.com/holdpoint/ai"
	"github.com/holdpoint/ai/internal/adapter"
)

// The defaults of Config.
const (
	defaultMaxTokens = 16384
	defaultMaxPauses = 10
)

// Config goes into ai.ModelRequest.Config, as a value or a pointer. It takes the
// place of the one in Options, as a whole.
type Config struct {
	// Params is what the API takes beside the conversation, in the SDK's terms:
	// thinking, stop sequences, output format, service tier and so on.
	//
	// Model defaults to the name given to New, MaxTokens to 16384. Tools, such as
	// the provider's own, come behind those of the request. ToolChoice is for the
	// choice of one tool by name; it excludes that of the request. Messages and
	// System must be empty: they are made of the conversation. Container defaults
	// to the one a running turn of the provider's tools is in.
	Params sdk.MessageNewParams `json:"params,omitzero"`
	// Betas are sent in the anthropic-beta header. Defaults to none.
	Betas []string `json:"betas,omitempty"`
	// DisableParallelToolUse allows one tool call per reply at most.
	DisableParallelToolUse bool `json:"disableParallelToolUse,omitempty"`
	// MaxPauses is how often one reply is gone on with after the provider paused it,
	// which it does with long turns of its own tools. Defaults to 10; less than 0
	// means never. A reply that is still paused then ends as ai.FinishOther, and can
	// be gone on with by sending the history that ends with it.
	MaxPauses int `json:"maxPauses,omitempty"`
}

func (c *Config) maxPauses() int {
	if c.MaxPauses == 0 {
		return defaultMaxPauses
	}
	return max(0, c.MaxPauses)
}

func (c *Config) options() []option.RequestOption {
	if len(c.Betas) == 0 {
		return nil
	}
	return []option.RequestOption{option.WithHeaderAdd("anthropic-beta", strings.Join(c.Betas, ","))}
}

// params makes the request. said is what the reply holds so far; nil at first.
func (c *Config) params(req *ai.ModelRequest, said *ai.Message) (*sdk.MessageNewParams, error) {
	conv, err := readConversation(history(req, said))
	if err != nil {
		return nil, err
	}
	p := c.Params
	if p.MaxTokens == 0 {
		p.MaxTokens = defaultMaxTokens
	}
	p.System, p.Messages = nil, nil
	for _, b := range conv.system {
		p.System = append(p.System, param.Override[sdk.TextBlockParam](b))
	}
	for _, m := range conv.messages {
		p.Messages = append(p.Messages, param.Override[sdk.MessageParam](m))
	}
	if len(p.Messages) == 0 {
		return nil, adapter.Invalid("ai: anthropic: there is nothing to send: every message is empty or a system message")
	}
	if conv.container != "" && param.IsOmitted(p.Container) {
		p.Container.OfString = param.NewOpt(conv.container)
	}
	if err := c.addTools(&p, req, conv); err != nil {
		return nil, err
	}
	return &p, nil
}

// addTools adds the tools and what the model may do with them.
func (c *Config) addTools(p *sdk.MessageNewParams, req *ai.ModelRequest, conv *conversation) error {
	defs, choice := req.Tools, req.ToolChoice
	if len(defs) == 0 && len(p.Tools) == 0 && choice != ai.ToolChoiceRequired && len(conv.tools) > 0 {
		// A history with calls has to come with tools, which here must not be called.
		defs, choice = conv.tools, ai.ToolChoiceNone
	}
	own, budget := p.Tools, newStrictBudget()
	p.Tools = nil
	for _, def := range defs {
		tool, err := budget.tool(def)
		if err != nil {
			return err
		}
		p.Tools = append(p.Tools, param.Override[sdk.ToolUnionParam](tool))
	}
	p.Tools = append(p.Tools, own...)
	return c.addChoice(p, choice)
}

// addChoice says whether tools may, must or must not be called.
func (c *Config) addChoice(p *sdk.MessageNewParams, choice ai.ToolChoice) error {
	isSet := !param.IsOmitted(p.ToolChoice)
	if len(p.Tools) == 0 {
		if choice == ai.ToolChoiceRequired || isSet {
			return adapter.Invalid("ai: anthropic: a tool must be called, but none is on offer")
		}
		return nil
	}
	if isSet {
		if choice != "" || c.DisableParallelToolUse {
			return adapter.Invalid("ai: anthropic: the tool choice of the config excludes that of the request and DisableParallelToolUse")
		}
		return nil
	}
	kind, ok := map[ai.ToolChoice]string{
		"": "auto", ai.ToolChoiceAuto: "auto", ai.ToolChoiceRequired: "any", ai.ToolChoiceNone: "none",
	}[choice]
	if !ok {
		return adapter.Invalid("ai: anthropic: tool choice %q is not supported", choice)
	}
	if choice == "" && !c.DisableParallelToolUse {
		return nil
	}
	b := block{"type": encode(kind)}
	if c.DisableParallelToolUse && kind != "none" {
		b["disable_parallel_tool_use"] = json.RawMessage("true")
	}
	p.ToolChoice = param.Override[sdk.ToolChoiceUnionParam](b)
	return nil
}
