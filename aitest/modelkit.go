package aitest

import (
	"testing"
	"time"

	"github.com/holdpoint/ai"
)

// ModelKit is what TestModel needs to know of an adapter: how to make one that
// talks to a provider which answers from a script.
type ModelKit struct {
	// Open starts a provider on loopback that gives these replies on its own wire,
	// one to a request, and returns the adapter that talks to it, set not to try
	// again by itself. Both end with the test.
	Open func(t testing.TB, replies ...*WireReply) *WireModel
	// NoRefs says that the wire has no ids for tool requests, so that refs are
	// minted here and are not expected on the wire.
	NoRefs bool
	// Skip names cases of TestModel that the provider's wire can't express, each
	// with the reason. A name that is no case fails the test.
	Skip map[string]string
}

// WireModel is an adapter and what it has sent to its provider.
type WireModel struct {
	// Model is the adapter.
	Model ai.Model
	// Requests returns the bodies the provider got so far, in order.
	Requests func() [][]byte
	// Check fails the test unless the provider would take the body: each call
	// answered once, in its place, and all else that its documentation asks for.
	Check func(t testing.TB, body []byte)
	// Wait returns once the provider is answering no request any more, because it
	// is done or the adapter has gone away. Nil where the provider can't tell: then
	// nothing finds an adapter that leaves its connections open.
	Wait func()
}

// WireReply is what the provider answers to one request, in words that fit any
// wire. Reasoning comes first, then the text, then the calls.
type WireReply struct {
	// Reasoning is shown thinking. Empty means none.
	Reasoning string
	// Signature is what the provider wants to get back with the reasoning, or with
	// the first call where there is none, such as a signature or the encrypted form.
	// It is base64, and ignored where the wire has no such thing.
	Signature string
	// Text is the text. Empty means none.
	Text string
	// Calls are the tool calls.
	Calls []WireCall
	// FinishReason defaults to ai.FinishStop, which for a reply with calls is
	// whatever the wire says of those.
	FinishReason ai.FinishReason
	// Usage counts the tokens, in the terms of ai.Usage: cached ones are among those
	// of the input, those of the reasoning among those of the output. Zero means that
	// the provider does not say. What the wire has no place for is left out.
	Usage ai.Usage
	// Piece is the length of a streamed piece of text or arguments, in bytes, which
	// may cut a character where the wire can. Zero means all in one.
	Piece int
	// Cut breaks the connection in the middle of the last part of the reply.
	Cut bool
	// Hold sends everything but the last piece and then nothing until the client
	// goes away.
	Hold bool
	// Status is the HTTP status of an error to answer with, such as 429, with a body
	// as the provider sends it with that status. Zero means a reply.
	Status int
	// RetryAfter goes with an error. Zero means none.
	RetryAfter time.Duration
}

// WireCall is a tool call on a provider's wire.
type WireCall struct {
	// Ref is the provider's id. Empty means that it sends none.
	Ref string
	// Name is the name as the model sees it.
	Name string
	// Arguments is the text of the arguments, valid or not.
	Arguments string
}
