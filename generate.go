package ai

import (
	"context"
	"slices"
)

// DefaultMaxTurns is how many tool turns one call of Generate may take by default.
const DefaultMaxTurns = 5

// GenerateOptions say what Generate is to do.
type GenerateOptions struct {
	// Model answers. Required, unless the history was handed to a prompt that has
	// a model of its own.
	Model Model
	// System is the system message. It replaces one at the head of Messages. Empty
	// leaves that. A history that was handed to a prompt keeps the prompt's.
	System string
	// Prompt is a user message behind Messages. Empty means none. It can't be given
	// with Resume.
	Prompt string
	// Messages is the conversation so far. They are not changed.
	Messages []*Message
	// Tools are the tools on offer. Nil means all of the registry; a set without
	// tools means none.
	Tools *ToolSet
	// ToolChoice is passed to the model. Empty leaves it to the provider.
	ToolChoice ToolChoice
	// Config is passed to the model. Nil means the adapter's defaults.
	Config any
	// MaxTurns bounds the tool turns of this call; a resumption costs none.
	// Defaults to DefaultMaxTurns. It must not be negative.
	MaxTurns int
	// ReturnToolRequests returns the model's tool requests instead of running them.
	ReturnToolRequests bool
	// Resume answers the open tool requests of the last message. Nil means that
	// there are none.
	Resume *Answers
	// Repair closes tool requests without a response before anything else, but for
	// those that Resume is about: the last message is then left as it is. See the
	// function Repair.
	Repair bool
	// Turn holds all that concerns the running of tools.
	Turn ResolveOptions
}

// Response is what Generate returns.
type Response struct {
	// Message is the last model message: the reply, or the one whose calls wait
	// for answers.
	Message *Message `json:"message"`
	// Messages is the whole conversation, Message and what tools returned included.
	// It begins with the system message where there is one.
	Messages []*Message `json:"messages"`
	// FinishReason is FinishInterrupted where calls wait for answers, else the
	// model's.
	FinishReason FinishReason `json:"finishReason"`
	// FinishMessage explains the finish reason. May be empty.
	FinishMessage string `json:"finishMessage,omitempty"`
	// Usage sums the model calls of this call.
	Usage Usage `json:"usage,omitzero"`
}

// Text is the text of Message. A nil response has none.
func (r *Response) Text() string {
	if r == nil || r.Message == nil {
		return ""
	}
	return r.Message.Text()
}

// Interrupts lists the calls that wait for an answer. Empty unless FinishReason
// is FinishInterrupted.
func (r *Response) Interrupts() []*Interrupt {
	if r.FinishReason != FinishInterrupted {
		return nil
	}
	return interruptsOf(r.Message)
}

// interruptedMessage is Genkit's finish message for a paused conversation.
const interruptedMessage = "One or more tool calls resulted in interrupts."

// Generate asks the model, runs the tools it asks for, and so on until it
// answers without asking for tools, a call stops to ask, or a limit is reached.
// With Resume it first goes on with the last message. Nil registry means no tools
// beyond opts.Tools.
//
// An error before the conversation has grown is returned as it is; after that it
// is a *GenerateError, which holds the history. A history that no provider would
// take, because a tool request has not exactly one response in the next message
// or a response answers nothing, is ErrFailedPrecondition.
func Generate(ctx context.Context, r *Registry, opts *GenerateOptions) (*Response, error) {
	g, err := newGeneration(ctx, r, opts)
	if err != nil {
		return nil, err
	}
	return g.result(g.run(ctx))
}

// generation is one call of Generate.
type generation struct {
	registry *Registry
	opts     GenerateOptions
	model    Model      // the caller's, or that of the prompt in charge
	config   any        // likewise
	tools    *ToolSet   // likewise
	messages []*Message // owned; the messages themselves are shared and never changed
	grown    bool       // something was added that must not be lost
	usage    Usage
	emit     func(*Chunk) error // nil when nobody streams
	index    int                // of the next message in the stream
	sealing  *sealing           // nil without a seal
}

func newGeneration(ctx context.Context, r *Registry, opts *GenerateOptions) (*generation, error) {
	if opts == nil {
		return nil, invalidf("ai: generate: no options")
	}
	g := &generation{registry: r, opts: *opts}
	if g.opts.MaxTurns == 0 {
		g.opts.MaxTurns = DefaultMaxTurns
	}
	messages, err := g.history()
	if err != nil {
		return nil, err
	}
	prompt, err := transferredTo(messages)
	if err != nil {
		return nil, err
	}
	g.open(messages, prompt != "")
	if err := g.unseal(); err != nil {
		return nil, err
	}
	return g, g.equip(ctx, prompt)
}

// history checks the options, and makes of the caller's messages what the
// conversation goes on from.
func (g *generation) history() ([]*Message, error) {
	o, messages := &g.opts, g.opts.Messages
	switch {
	case o.MaxTurns < 0:
		return nil, invalidf("ai: generate: MaxTurns is %d; it must not be negative", o.MaxTurns)
	case o.Resume != nil && o.Prompt != "":
		return nil, invalidf("ai: generate: a prompt can't be given with answers: resume first")
	case len(messages) == 0 && o.Prompt == "":
		return nil, invalidf("ai: generate: there is neither a message nor a prompt")
	}
	if err := checkMessages(messages); err != nil {
		return nil, err
	}
	if o.Repair {
		n := len(messages)
		if o.Resume != nil && n > 0 {
			n--
		}
		messages = append(Repair(messages[:n]), messages[n:]...)
	}
	return messages, checkHistory(messages, o.Resume != nil, o.Prompt != "")
}

// open makes the generation's own list of the messages, with the system message
// and the prompt in their places. The instructions of a history that was handed
// over are its own.
func (g *generation) open(messages []*Message, handedOver bool) {
	o := &g.opts
	g.messages = make([]*Message, 0, len(messages)+8)
	if o.System != "" && !handedOver {
		g.messages = append(g.messages, TextMessage(RoleSystem, o.System))
		if len(messages) > 0 && messages[0].Role == RoleSystem {
			messages = messages[1:]
		}
	}
	g.messages = append(g.messages, messages...)
	if o.Prompt != "" {
		g.messages = append(g.messages, TextMessage(RoleUser, o.Prompt))
	}
}

// equip finds the model and the tools: the caller's, or those of the prompt that
// the conversation was handed to.
func (g *generation) equip(ctx context.Context, prompt string) error {
	if prompt != "" {
		return g.adopt(ctx, prompt)
	}
	if g.opts.Model == nil {
		return invalidf("ai: generate: no model")
	}
	g.model, g.config = g.opts.Model, g.opts.Config
	if g.tools = g.opts.Tools; g.tools != nil {
		return nil
	}
	var err error
	g.tools, err = g.registry.AllTools(ctx)
	return err
}

// run is the loop: model, turn, model, turn.
func (g *generation) run(ctx context.Context) (*Response, error) {
	if g.opts.Turn.opening {
		if err := g.journal(ctx, g.messages, nil); err != nil {
			return nil, err
		}
	}
	paused, err := g.resume(ctx)
	if paused != nil || err != nil {
		return paused, err
	}
	for turns := 0; ; turns++ {
		reply, err := g.callModel(ctx)
		if err != nil {
			return nil, err
		}
		asked := len(reply.Message.ToolRequests()) > 0
		if !asked || g.opts.ReturnToolRequests {
			return g.response(reply.FinishReason, reply.FinishMessage), nil
		}
		if turns >= g.opts.MaxTurns {
			return nil, abortedf("ai: the model asked for tools after %d tool turns, the most that MaxTurns allows", turns)
		}
		paused, err := g.turn(ctx, reply)
		if paused != nil || err != nil {
			return paused, err
		}
	}
}

// resume goes on with the last message, where there is something to go on with.
func (g *generation) resume(ctx context.Context) (*Response, error) {
	last := g.messages[len(g.messages)-1]
	if g.opts.Resume == nil && (last.Role != RoleModel || len(last.ToolRequests()) == 0) {
		return nil, nil
	}
	if last.Role != RoleModel {
		return nil, preconditionf("ai: there is nothing to resume: the last message is of role %q", last.Role)
	}
	t, err := newTurn(g.tools, last, g.turnOptions())
	if err != nil {
		return nil, err
	}
	if g.opts.Resume != nil && !t.anyOpen() {
		return nil, nothingOpen()
	}
	t.sealing = g.sealing
	res, err := t.resume(ctx, g.opts.Resume)
	return g.resolved(ctx, res, err)
}

// turn runs the tool requests of a reply.
func (g *generation) turn(ctx context.Context, reply *ModelResponse) (*Response, error) {
	if notice := unfit(reply.FinishReason); notice != "" {
		res, err := g.refuse(ctx, reply.Message, notice)
		if err != nil {
			return nil, err
		}
		paused, err := g.resolved(ctx, res, nil)
		if paused == nil && err == nil && reply.FinishReason != FinishLength {
			paused = g.response(reply.FinishReason, reply.FinishMessage)
		}
		return paused, err
	}
	res, err := resolve(ctx, g.tools, reply.Message, g.turnOptions())
	return g.resolved(ctx, res, err)
}

// turnOptions are the caller's, with the chunks of calls led into the stream.
func (g *generation) turnOptions() *ResolveOptions {
	o := g.opts.Turn
	o.earlier = earlierIn(g.messages[:len(g.messages):len(g.messages)])
	if g.emit == nil {
		return &o
	}
	index, also := g.index, o.Emit
	o.Emit = func(c *Chunk) error {
		c.Index = index
		if also != nil {
			if err := also(c); err != nil {
				return err
			}
		}
		return g.emit(c)
	}
	return &o
}

// resolved takes over what became of the last message. The response is nil
// where the loop goes on.
func (g *generation) resolved(ctx context.Context, res *Resolution, err error) (*Response, error) {
	end := len(g.messages) - 1
	// Not errors.As: the cause of a context that ended may be the failure of
	// another conversation.
	if failed, ok := err.(*TurnError); ok {
		g.messages[end], g.grown = failed.Model, true
	}
	if err != nil {
		return nil, err
	}
	g.messages[end] = res.Model
	if res.Tool == nil {
		return g.response(FinishInterrupted, interruptedMessage), nil
	}
	g.messages = append(g.messages, res.Tool)
	g.grown = true
	if g.emit != nil {
		if err := g.emit(&Chunk{Role: RoleTool, Index: g.index, Content: res.Tool.Content}); err != nil {
			return nil, err
		}
	}
	g.index++
	if res.Transfer == nil {
		return nil, nil
	}
	g.messages = handOver(g.messages, res.Transfer)
	return nil, g.adopt(ctx, res.Transfer.Prompt)
}

// response is the conversation as it stands.
func (g *generation) response(reason FinishReason, message string) *Response {
	g.keepRequests()
	r := &Response{Messages: slices.Clip(g.messages), FinishReason: reason, FinishMessage: message, Usage: g.usage}
	for i := len(g.messages) - 1; i >= 0 && r.Message == nil; i-- {
		if g.messages[i].Role == RoleModel {
			r.Message = g.messages[i]
		}
	}
	return r
}

// result hands over the history beside an error, once there is something in it
// that the caller does not have. Whatever leaves is sealed where a seal is set.
func (g *generation) result(resp *Response, err error) (*Response, error) {
	if err != nil && !g.grown {
		return nil, err
	}
	g.keepRequests()
	bare, last, sealErr := g.seal()
	if sealErr != nil {
		return nil, sealErr
	}
	if err == nil {
		if resp.Message == bare {
			resp.Message = last
		}
		resp.Messages = slices.Clip(g.messages)
		return resp, nil
	}
	if failed, ok := err.(*TurnError); ok && bare != last {
		failed.Model = last
	}
	return nil, &GenerateError{Messages: slices.Clip(g.messages), Usage: g.usage, Err: err}
}

// keepRequests makes the calls of the last message that did not get to run fit
// for a history: it encodes whatever the model sent as their arguments, and the
// full names stand with them, since another set may read short ones differently.
func (g *generation) keepRequests() {
	last := &g.messages[len(g.messages)-1]
	if (*last).Role != RoleModel {
		return
	}
	*last = withRequests(withRequests(*last, keptArguments), g.tools.named)
}

// asGenerateError finds a GenerateError that is about this conversation, not one
// of a conversation further in.
func asGenerateError(err error) *GenerateError {
	failed, _ := err.(*GenerateError)
	return failed
}
