package openai

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"

	"github.com/openai/openai-go/v3/packages/ssestream"

	"github.com/holdpoint/ai"
	"github.com/holdpoint/ai/internal/adapter"
)

// events reads the events of a stream until take says that it is over, or the stream
// ends. It closes the stream.
func events(ctx context.Context, res *http.Response, take func(data []byte) (over bool, err error)) error {
	decoder := ssestream.NewDecoder(res)
	defer decoder.Close()
	for decoder.Next() {
		data := bytes.TrimSpace(decoder.Event().Data)
		if len(data) == 0 {
			continue // a comment, to keep the connection open
		}
		if over, err := take(data); over || err != nil {
			return err
		}
	}
	if err := decoder.Err(); err != nil {
		return adapter.Failure(ctx, provider, 0, nil, err)
	}
	return context.Cause(ctx)
}

func (c *Chat) stream(ctx context.Context, body object, reply *chatReply) (*ai.ModelResponse, error) {
	res, err := post(ctx, &c.client, "chat/completions", body)
	if err != nil {
		return nil, err
	}
	done := false
	err = events(ctx, res, func(data []byte) (bool, error) {
		if done = string(data) == "[DONE]"; done {
			return true, nil
		}
		var chunk chatChunk
		if err := json.Unmarshal(data, &chunk); err != nil {
			return false, adapter.Failure(ctx, provider, 0, nil, err)
		}
		return false, reply.add(ctx, &chunk)
	})
	if err != nil {
		return nil, err
	}
	if !done && !reply.finished {
		return nil, adapter.Failure(ctx, provider, 0, nil, errCutShort)
	}
	return reply.response(ctx)
}
