package anthropic

import (
	"encoding/json"
	"fmt"

	"github.com/holdpoint/ai"
	"github.com/holdpoint/ai/internal/adapter"
)

// conversation is a history in the terms of the API: roles alternate, and the
// results of calls stand at the beginning of the user message behind them.
type conversation struct {
	system   []block
	messages []message
	// container is the one that the turn in progress runs in. Empty means none.
	container string
	// tools are the tools called, by name once, in order.
	tools []*ai.ToolDefinition

	ids    ids
	calls  []*call // of the last assistant message, until they are settled
	beside []block // what has to wait for the next user message
}

// message is a message of the API.
type message struct {
	Role    string  `json:"role"`
	Content []block `json:"content"`
}

// The roles of the API.
const (
	roleUser      = "user"
	roleAssistant = "assistant"
)

// readConversation turns messages into what the API takes.
func readConversation(messages []*ai.Message) (*conversation, error) {
	c := &conversation{ids: ids{}}
	for i, m := range messages {
		if m == nil {
			return nil, adapter.Invalid("ai: anthropic: message %d is nil", i)
		}
		if err := c.read(m); err != nil {
			return nil, &placedError{fmt.Sprintf("ai: anthropic: message %d (%s): ", i, m.Role), err}
		}
	}
	if err := c.settle(); err != nil {
		return nil, &placedError{"ai: anthropic: ", err}
	}
	c.trimEnd()
	return c, nil
}

func (c *conversation) read(m *ai.Message) error {
	switch m.Role {
	case ai.RoleSystem:
		blocks, err := c.blocks(m, systemBlock)
		c.system = append(c.system, blocks...)
		return err
	case ai.RoleTool:
		return c.readResults(m)
	case ai.RoleUser:
		if err := c.settle(); err != nil {
			return err
		}
		c.container = ""
		blocks, err := c.blocks(m, userBlock)
		c.add(roleUser, blocks)
		return err
	case ai.RoleModel:
		if err := c.settle(); err != nil {
			return err
		}
		c.container = containerOf(m, c.container)
		blocks, err := c.blocks(m, c.assistantBlock)
		c.add(roleAssistant, blocks)
		return err
	}
	return adapter.Invalid("there is no such role")
}

// blocks turns the parts of a message into blocks, and puts the cache breakpoint
// of the message, where it has one, at the last of them that takes one.
func (c *conversation) blocks(m *ai.Message, of func(ai.Part) (block, error)) ([]block, error) {
	var blocks []block
	for i, p := range m.Content {
		b, err := of(p)
		if err != nil {
			return nil, &placedError{fmt.Sprintf("part %d: ", i), err}
		}
		if b != nil {
			blocks = append(blocks, b)
		}
	}
	return blocks, cacheAt(blocks, m.Metadata)
}

func cacheAt(blocks []block, md ai.Metadata) error {
	extra, err := own(md)
	if err != nil || extra["cache_control"] == nil {
		return err
	}
	for i := len(blocks) - 1; i >= 0; i-- {
		if !isThinking(blocks[i]) {
			blocks[i].merge(block{"cache_control": extra["cache_control"]})
			return nil
		}
	}
	return nil
}

// containerOf is the container a model message says it ran in, else the one before.
func containerOf(m *ai.Message, before string) string {
	var kept struct {
		Container struct {
			ID string `json:"id"`
		} `json:"container"`
	}
	if json.Unmarshal(m.Metadata[provider], &kept) == nil && kept.Container.ID != "" {
		return kept.Container.ID
	}
	return before
}

// add appends blocks to the last message, where it has the role, or to a new one.
func (c *conversation) add(role string, blocks []block) {
	if len(blocks) == 0 {
		return
	}
	if role == roleUser {
		c.trimThinking()
	}
	if n := len(c.messages); n > 0 && c.messages[n-1].Role == role {
		c.messages[n-1].Content = append(c.messages[n-1].Content, blocks...)
		return
	}
	c.messages = append(c.messages, message{role, blocks})
}

// trimThinking takes thinking from the end of an assistant message, where the API
// refuses it: the model was cut short before it said or did something.
func (c *conversation) trimThinking() {
	n := len(c.messages)
	if n == 0 || c.messages[n-1].Role != roleAssistant {
		return
	}
	last := c.messages[n-1].Content
	for len(last) > 0 && isThinking(last[len(last)-1]) {
		last = last[:len(last)-1]
	}
	c.messages[n-1].Content = last
	if len(last) == 0 {
		c.messages = c.messages[:n-1]
	}
}

func isThinking(b block) bool {
	return b.kind() == "thinking" || b.kind() == "redacted_thinking"
}

// trimEnd takes trailing space from a conversation that ends with text of the
// assistant, for the model to go on with: the API refuses it.
func (c *conversation) trimEnd() {
	c.trimThinking()
	n := len(c.messages)
	if n == 0 || c.messages[n-1].Role != roleAssistant {
		return
	}
	last := c.messages[n-1].Content
	if b := last[len(last)-1]; b.kind() == "text" {
		b["text"] = encode(trimRight(text(b["text"])))
	}
}
