package ai

import (
	"context"
	"maps"
	"slices"
	"sync"
)

// innerCalls are the conversations that one call hosts.
type innerCalls struct {
	mu      sync.Mutex
	record  map[string]*conversation // by branch; replaced, never changed in place
	answers map[string]*Answers
	entered map[string]bool // branches of this run of the tool
	opts    *ResolveOptions // of the turn that runs the host
}

// start takes over what the history holds.
func (c *innerCalls) start(record map[string]*conversation, answers map[string]*Answers, opts *ResolveOptions) {
	c.record, c.answers, c.opts = record, answers, opts
}

// again lets an idempotent tool that is run once more enter its branches again.
func (c *innerCalls) again() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.entered = nil
}

// enter begins a branch, once per run of the tool.
func (c *innerCalls) enter(host *ToolCall, branch string) (*conversation, *Answers, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if branch == "" {
		return nil, nil, invalidf("ai: tool request %s: an inner conversation needs a branch name", label(host.Name, host.Ref))
	}
	if c.entered[branch] {
		return nil, nil, invalidf("ai: tool request %s: branch %q is used twice", label(host.Name, host.Ref), branch)
	}
	if c.entered == nil {
		c.entered = make(map[string]bool)
	}
	c.entered[branch] = true
	return c.record[branch], c.answers[branch], nil
}

func (c *innerCalls) keep(branch string, conv *conversation) {
	c.mu.Lock()
	defer c.mu.Unlock()
	next := maps.Clone(c.record)
	if next == nil {
		next = make(map[string]*conversation)
	}
	next[branch] = conv
	c.record = next
	if _, used := c.answers[branch]; used {
		c.answers = maps.Clone(c.answers)
		c.answers[branch] = nil // they were for where it stood before
	}
}

func (c *innerCalls) export() map[string]*conversation {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.record
}

// pausedMessage is the model message that a conversation waits at, or nil.
func (c *conversation) pausedMessage() *Message {
	if c == nil || c.FinishReason != "" || len(c.Messages) == 0 {
		return nil
	}
	last := c.Messages[len(c.Messages)-1]
	if last.Role != RoleModel || len(last.ToolRequests()) == 0 {
		return nil
	}
	return last
}

// open reports whether the conversation waits at a request without a result.
func (c *conversation) open() bool {
	last := c.pausedMessage()
	return last != nil && slices.ContainsFunc(last.ToolRequests(), func(p *ToolRequestPart) bool {
		_, settled := p.Metadata[keyPendingOutput]
		return !settled
	})
}

// response is a finished conversation as Generate returned it.
func (c *conversation) response() *Response {
	r := &Response{Messages: c.Messages, FinishReason: c.FinishReason, FinishMessage: c.FinishMessage}
	for _, m := range c.Messages {
		if m.Role == RoleModel {
			r.Message = m
		}
	}
	return r
}

// Generate runs a conversation inside this call, under a branch name that tells
// it from others the call may host. The first time it starts it; when the call
// runs again it goes on where it stood, with the answers meant for it, or
// returns the finished result without running anything. The record wins over
// opts.Messages, System and Prompt.
//
// Where the inner conversation stops to ask, the error says so and is to be
// returned by the tool: the whole call then waits. A failure inside is returned
// as Generate returns it and can be resumed likewise. The tool's own code around
// this runs again on each resumption, so acts of its own belong into tools.
// A branch is used once per run of the tool; several may run side by side.
// opts.Turn.Journal and Identify default to the outer turn's; its middleware is not
// inherited.
func (c *ToolCall) Generate(ctx context.Context, branch string, r *Registry, opts *GenerateOptions) (*Response, error) {
	if c.state == nil {
		return Generate(ctx, r, opts)
	}
	in := &c.state.inner
	prior, answers, err := in.enter(c, branch)
	if err != nil {
		return nil, err
	}
	if prior != nil && prior.FinishReason != "" {
		return prior.response(), nil
	}
	o, err := c.innerOptions(branch, opts)
	if err != nil {
		return nil, err
	}
	o.Turn.opening = prior == nil
	if prior != nil {
		o.Messages, o.System, o.Prompt, o.Resume = prior.Messages, "", "", nil
	}
	if prior.open() {
		o.Resume, o.Turn.Partial = answers, in.opts.Partial
		if answers == nil {
			o.Resume, o.Turn.Partial = &Answers{}, true
		}
	}
	resp, err := Generate(ctx, r, o)
	return in.outcome(branch, resp, err)
}

func (c *ToolCall) innerOptions(branch string, opts *GenerateOptions) (*GenerateOptions, error) {
	var o GenerateOptions
	if opts != nil {
		o = *opts
	}
	var err error
	if o.Turn.path, err = c.Path.down(c.Ref, branch); err != nil {
		return nil, err
	}
	o.Turn.Seal = nil // the outermost message covers what is inside it
	if outer := c.state.inner.opts; o.Turn.Journal == nil && outer != nil {
		o.Turn.Journal, o.Turn.Identify = outer.Journal, outer.Identify
	}
	return &o, nil
}

// outcome records where the conversation stands now.
func (c *innerCalls) outcome(branch string, resp *Response, err error) (*Response, error) {
	if err != nil {
		if failed := asGenerateError(err); failed != nil {
			c.keep(branch, &conversation{Messages: failed.Messages})
		}
		return nil, err
	}
	if resp.FinishReason == FinishInterrupted {
		c.keep(branch, &conversation{Messages: resp.Messages})
		return nil, &InterruptError{Data: jsonTrue, inner: true}
	}
	conv := &conversation{Messages: resp.Messages, FinishReason: resp.FinishReason, FinishMessage: resp.FinishMessage}
	if conv.FinishReason == "" {
		conv.FinishReason = FinishUnknown
	}
	c.keep(branch, conv)
	return resp, nil
}
