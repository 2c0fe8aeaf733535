package aitest

import (
	"bytes"
	"encoding/json"
	"testing"

	"github.com/holdpoint/ai"
)

// Reload takes a value through JSON and returns what another process would
// read: a history from a database, answers from a client. It fails the test
// where the way there and back is not the same.
func Reload[T any](t testing.TB, value T) T {
	t.Helper()
	var read T
	data, err := encode(value)
	if err == nil {
		err = json.Unmarshal(data, &read)
	}
	if err != nil {
		t.Fatalf("aitest: reload: %v", err)
	}
	again, err := encode(read)
	if err != nil {
		t.Fatalf("aitest: reload: %v", err)
	}
	if !bytes.Equal(data, again) {
		t.Fatalf("aitest: reload: what was read differs from what was written:\n\twrote %s\n\tread  %s", data, again)
	}
	return read
}

// encode leaves < and > and & as they are, so that a value's text does not change.
func encode(value any) ([]byte, error) {
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	err := enc.Encode(value)
	return bytes.TrimSuffix(buf.Bytes(), []byte("\n")), err
}

// Approve answers every interrupt of a paused response with a restart. A
// question that takes a response only needs Answer.
func Approve(t testing.TB, resp *ai.Response) *ai.Answers {
	t.Helper()
	return Answer(t, resp, func(it *ai.Interrupt) (ai.Part, error) { return ai.Restart(it.Request, nil) })
}

// Deny answers every interrupt of a paused response with a no.
func Deny(t testing.TB, resp *ai.Response, reason string) *ai.Answers {
	t.Helper()
	return Answer(t, resp, func(it *ai.Interrupt) (ai.Part, error) { return ai.Deny(it.Request, reason) })
}

// Answer asks a function for the answer to each interrupt of a paused response,
// in their order: what ai.Respond, ai.Restart and ai.Deny return. Nil leaves the
// call open. It fails the test where the response is not paused.
func Answer(t testing.TB, resp *ai.Response, decide func(*ai.Interrupt) (ai.Part, error)) *ai.Answers {
	t.Helper()
	if resp == nil || resp.FinishReason != ai.FinishInterrupted {
		t.Fatalf("aitest: there is nothing to answer: the response is not interrupted")
	}
	answers := &ai.Answers{}
	for _, it := range resp.Interrupts() {
		part, err := decide(it)
		if err != nil {
			t.Fatalf("aitest: answer to %s: %v", label(it.Request.ToolRequest.Name, it.Request.ToolRequest.Ref), err)
		}
		switch p := part.(type) {
		case nil:
		case *ai.ToolResponsePart:
			answers.Respond = append(answers.Respond, p)
		case *ai.ToolRequestPart:
			answers.Restart = append(answers.Restart, p)
		default:
			t.Fatalf("aitest: a %T is no answer: it takes a tool response or a tool request", part)
		}
	}
	return answers
}
