package anthropic

import (
	"encoding/json"

	"github.com/holdpoint/ai"
)

// paused reports whether the provider waits for the reply to be gone on with. One
// with tool calls waits for their results instead.
func (c *collector) paused() bool {
	return c.ending.StopReason == "pause_turn" && c.reply.Calls() == 0
}

// said is the reply so far, for the request that goes on with it. Nil before the
// first answer.
func (c *collector) said() *ai.Message {
	if c.ending.StopReason == "" {
		return nil
	}
	return c.message()
}

// message is the reply.
func (c *collector) message() *ai.Message {
	m := c.reply.Message()
	kept := block{}
	if c.id != "" {
		kept["id"] = encode(c.id)
	}
	for key, value := range map[string]json.RawMessage{
		"container": c.ending.Container, "stop_sequence": c.ending.StopSequence,
	} {
		if !isNone(value) {
			kept[key] = value
		}
	}
	m.Metadata = kept.metadata()
	return m
}

// response is the reply, which has ended.
func (c *collector) response() *ai.ModelResponse {
	resp := &ai.ModelResponse{Message: c.message(), Usage: c.usage()}
	resp.FinishReason, resp.FinishMessage = c.ending.reason()
	return resp
}

func (e *ending) reason() (reason ai.FinishReason, message string) {
	switch e.StopReason {
	case "end_turn", "stop_sequence", "tool_use":
		return ai.FinishStop, ""
	case "max_tokens":
		return ai.FinishLength, ""
	case "model_context_window_exceeded":
		return ai.FinishLength, "the reply filled the context window of the model"
	case "pause_turn":
		return ai.FinishOther, "the provider paused the turn"
	case "refusal":
		if e.StopDetails.Explanation != "" {
			return ai.FinishBlocked, e.StopDetails.Explanation
		}
		return ai.FinishBlocked, e.StopDetails.Category
	case "":
		return ai.FinishUnknown, ""
	}
	return ai.FinishOther, e.StopReason
}

// update takes the counts that are there.
func (u *usage) update(v *usage) {
	for _, f := range []struct{ to, from **int }{
		{&u.Input, &v.Input}, {&u.CacheCreation, &v.CacheCreation}, {&u.CacheRead, &v.CacheRead},
		{&u.Output, &v.Output}, {&u.Details.Thinking, &v.Details.Thinking},
	} {
		if *f.from != nil {
			*f.to = *f.from
		}
	}
}

// usage counts all requests of the reply. Those tokens that were written to the
// cache or read from it the API counts apart; here they are among the input.
func (c *collector) usage() ai.Usage {
	read := count(c.last.CacheRead)
	input := count(c.last.Input) + count(c.last.CacheCreation) + read
	output := count(c.last.Output)
	u := c.before
	u.InputTokens += input
	u.OutputTokens += output
	u.TotalTokens += input + output
	u.CachedInputTokens += read
	u.ReasoningTokens += count(c.last.Details.Thinking)
	return u
}

func count(n *int) int {
	if n == nil {
		return 0
	}
	return *n
}
