package ai

import "context"

// A Model answers a conversation. Implementations, the adapters of providers,
// are safe for concurrent use.
//
//  1. Generate does not change the request, and does not keep it after it returns.
//  2. emit is nil when nobody streams. Else it is called with each piece of the
//     reply as it comes, from one goroutine at a time, and not after Generate has
//     returned. An error of emit ends the call: Generate returns it.
//  3. The response holds the whole reply, whether or not it was streamed.
//  4. A reply that broke off is an error. One that the provider ended is a
//     response that says so in its finish reason.
//  5. Generate returns soon after its context ends.
//  6. Tool requests are streamed as events: see ToolEvent. An adapter whose
//     provider sends them whole may stream each as content instead, from which
//     the events are made.
//  7. A failure of the provider is a *ProviderError.
type Model interface {
	Generate(ctx context.Context, req *ModelRequest, emit func(*Chunk) error) (*ModelResponse, error)
}

// ModelFunc is a Model made of a function.
type ModelFunc func(ctx context.Context, req *ModelRequest, emit func(*Chunk) error) (*ModelResponse, error)

// Generate calls the function.
func (f ModelFunc) Generate(ctx context.Context, req *ModelRequest, emit func(*Chunk) error) (*ModelResponse, error) {
	return f(ctx, req, emit)
}

// ToolChoice says whether the model may, must or must not ask for tools.
type ToolChoice string

// The tool choices. The zero value leaves it to the provider, which mostly
// means auto.
const (
	ToolChoiceAuto     ToolChoice = "auto"
	ToolChoiceRequired ToolChoice = "required"
	ToolChoiceNone     ToolChoice = "none"
)

// ModelRequest is what a model is asked.
type ModelRequest struct {
	// Messages is the conversation, the system message first where there is one.
	// Each tool request in it has exactly one tool response, in the next message.
	Messages []*Message `json:"messages"`
	// Tools are the tools on offer, under the names the model is to use.
	Tools []*ToolDefinition `json:"tools,omitempty"`
	// ToolChoice is the caller's. Empty leaves it to the provider.
	ToolChoice ToolChoice `json:"toolChoice,omitempty"`
	// Config is the caller's, for this model. Nil means the adapter's defaults.
	Config any `json:"config,omitempty"`
}

// ModelResponse is what a model answers.
type ModelResponse struct {
	// Message is the reply, of role model.
	Message *Message `json:"message"`
	// FinishReason says why the reply ended. Empty counts as unknown.
	FinishReason FinishReason `json:"finishReason,omitempty"`
	// FinishMessage explains it where the provider does. May be empty.
	FinishMessage string `json:"finishMessage,omitempty"`
	// Usage counts the tokens of this call. Zero where the provider does not say.
	Usage Usage `json:"usage,omitzero"`
}

// FinishReason says why a conversation came back.
type FinishReason string

// The finish reasons: Genkit's. An interrupted conversation goes on with Resume.
const (
	FinishStop        FinishReason = "stop"
	FinishLength      FinishReason = "length"
	FinishBlocked     FinishReason = "blocked"
	FinishInterrupted FinishReason = "interrupted"
	FinishAborted     FinishReason = "aborted"
	FinishOther       FinishReason = "other"
	FinishUnknown     FinishReason = "unknown"
)

// Usage counts tokens.
type Usage struct {
	// InputTokens are those of the request, cached ones included.
	InputTokens int `json:"inputTokens,omitempty"`
	// OutputTokens are those of the reply, reasoning included.
	OutputTokens int `json:"outputTokens,omitempty"`
	// TotalTokens is the provider's total, which may count more than the two.
	TotalTokens int `json:"totalTokens,omitempty"`
	// CachedInputTokens are those input tokens that the provider had cached.
	CachedInputTokens int `json:"cachedContentTokens,omitempty"`
	// ReasoningTokens are those output tokens spent on reasoning.
	ReasoningTokens int `json:"thoughtsTokens,omitempty"`
}

func (u *Usage) add(v Usage) {
	u.InputTokens += v.InputTokens
	u.OutputTokens += v.OutputTokens
	u.TotalTokens += v.TotalTokens
	u.CachedInputTokens += v.CachedInputTokens
	u.ReasoningTokens += v.ReasoningTokens
}

// Chunk is a piece of a streamed conversation. All but the last are provisional.
type Chunk struct {
	// Role is who speaks: model or tool.
	Role Role `json:"role,omitempty"`
	// Index counts the messages that this call of Stream adds, from 0.
	Index int `json:"index"`
	// Content are the parts of this piece: new text, a whole tool request beside the
	// event of its end, tool responses. A tool response with `partial` in its
	// metadata is progress. So is a tool request marked partial, which some models
	// send; the events are not about those.
	Content Parts `json:"content,omitempty"`
	// Tool is what happened to a tool request: see ToolEvent. Nil where the chunk is
	// about something else.
	Tool *ToolEvent `json:"tool,omitempty"`
	// Response is set in the last chunk only, which has nothing else. It replaces
	// all that came before.
	Response *Response `json:"-"`
}
