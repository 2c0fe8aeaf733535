package anthropic

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"

	sdk "github.com/anthropics/anthropic-sdk-go/v2"
	"github.com/anthropics/anthropic-sdk-go/v2/option"
	"github.com/anthropics/anthropic-sdk-go/v2/packages/ssestream"
)

// event is an event of a stream, or as much of it as is used. It is read here
// and not by the SDK, whose events cost many times the allocations.
type event struct {
	Type         string          `json:"type"`
	Index        int             `json:"index"`
	Message      answer          `json:"message"`       // of message_start
	ContentBlock json.RawMessage `json:"content_block"` // of content_block_start
	Delta        delta           `json:"delta"`
	Usage        usage           `json:"usage"` // of message_delta

	data []byte // all of it
}

// delta is what a block or the message gains.
type delta struct {
	Type        string          `json:"type"`
	Text        string          `json:"text"`
	Thinking    string          `json:"thinking"`
	Signature   string          `json:"signature"`
	PartialJSON string          `json:"partial_json"`
	Citation    json.RawMessage `json:"citation"`
	ending
}

// ending says how a message ended.
type ending struct {
	StopReason   string          `json:"stop_reason"`
	StopSequence json.RawMessage `json:"stop_sequence"`
	StopDetails  struct {
		Category    string `json:"category"`
		Explanation string `json:"explanation"`
	} `json:"stop_details"`
	Container json.RawMessage `json:"container"`
}

// answer is a message of the model, or the beginning of one.
type answer struct {
	ID      string            `json:"id"`
	Content []json.RawMessage `json:"content"`
	Usage   usage             `json:"usage"`
	ending
}

// usage counts tokens. What is absent is nil: a later count replaces an earlier
// one only where it is there.
type usage struct {
	Input         *int `json:"input_tokens"`
	CacheCreation *int `json:"cache_creation_input_tokens"`
	CacheRead     *int `json:"cache_read_input_tokens"`
	Output        *int `json:"output_tokens"`
	Details       struct {
		Thinking *int `json:"thinking_tokens"`
	} `json:"output_tokens_details"`
}

// whole gets the answer in one piece.
func (m *Model) whole(ctx context.Context, params *sdk.MessageNewParams, opts []option.RequestOption, reply *collector) error {
	got, err := m.client.Messages.New(ctx, *params, opts...)
	if err != nil {
		return failure(ctx, err)
	}
	var a answer
	if err := json.Unmarshal([]byte(got.RawJSON()), &a); err != nil {
		return failure(ctx, err)
	}
	if err := reply.start(&a); err != nil {
		return err
	}
	reply.end(&a.ending)
	return reply.finish()
}

// stream gets the answer event by event. The connection is closed when it returns.
func (m *Model) stream(ctx context.Context, params *sdk.MessageNewParams, opts []option.RequestOption, reply *collector) error {
	var resp *http.Response
	opts = append(opts, option.WithResponseBodyInto(&resp))
	if err := m.client.Messages.NewStreaming(ctx, *params, opts...).Err(); err != nil {
		return failure(ctx, err)
	}
	events := ssestream.NewDecoder(resp)
	defer func() { _ = events.Close() }()
	var e event
	for events.Next() {
		e = event{data: events.Event().Data}
		if len(bytes.TrimSpace(e.data)) == 0 {
			continue
		}
		if err := json.Unmarshal(e.data, &e); err != nil {
			return failure(ctx, err)
		}
		switch e.Type {
		case "message_stop":
			return reply.finish()
		case "error":
			return failure(ctx, errorOf(resp, e.data))
		}
		if err := reply.event(&e); err != nil {
			return err
		}
	}
	if err := events.Err(); err != nil {
		return failure(ctx, err)
	}
	return failure(ctx, errCutShort)
}

// errorOf is the SDK's error of an error event.
func errorOf(resp *http.Response, data []byte) error {
	err := &sdk.Error{
		Request: resp.Request, Response: resp, StatusCode: resp.StatusCode, RequestID: resp.Header.Get("request-id"),
	}
	if bad := err.UnmarshalJSON(data); bad != nil {
		return bad
	}
	return err
}
