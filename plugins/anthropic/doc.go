// Package anthropic is a model adapter for Anthropic's Messages API, on the
// official SDK (API version 2026-10-21).
//
//	m := anthropic.New("claude-sonnet-5", nil) // the key is in ANTHROPIC_API_KEY
//	resp, err := ai.Generate(ctx, &tools, &ai.GenerateOptions{Model: m, Prompt: "…"})
//
// # Conversations
//
// System messages, wherever they stand, become the system prompt. Messages of one
// role that follow each other are sent as one. Tool responses are sent in the user
// message behind their calls, in the order of the calls, in front of all else.
// Text that is empty or nothing but space is left out, since the API refuses it;
// so is thinking at the end of a message, and space at the end of a conversation
// that the model is to go on with.
//
// The API wants ids of calls that are unique and of letters, digits, - and _. Refs
// that are not are sent as something else, the same on every run; refs that are
// missing get one by position. So are names of tools that no tool can have. A call without its response is
// ErrFailedPrecondition. Calls in the history of a request without tools come with
// a stand-in for each tool, of which none may be called.
//
// Other parts are sent like this; what can't be sent is ErrInvalidArgument.
//
//   - Media: JPEG, PNG, GIF and WebP images and PDF documents, from data: and
//     http(s) URLs; text/* from data: URLs, as plain text documents. In tool results
//     too; but those of a result that is an error stand behind the results, and those
//     of a model message in the next user message, each with a line that says so.
//   - Tool results: as ai.ToolResponsePart.ForModel has them. is_error is set
//     wherever the call did not succeed, a denial included.
//   - Data as JSON text; resources as text that names the URI.
//   - Reasoning: a thinking block of this provider goes back as it came, in its
//     place. That of others, or without a signature, is left out.
//   - Custom parts whose metadata has the key "anthropic" hold a content block, which
//     is sent as it is: server_tool_use, web_search_tool_result and so on, or one of
//     yours, such as a document in the Files API. Others are left out.
//
// # Metadata
//
// The object under "anthropic" in the metadata of a part holds members of its
// content block that the part has no field for. In replies these are signature,
// data (of redacted thinking), citations, caller and so on; all are sent back. In
// what you send they may be cache_control, and title, context and citations of
// documents:
//
//	{"text": "…", "metadata": {"anthropic": {"cache_control": {"type": "ephemeral"}}}}
//
// The same goes for tool definitions (cache_control, defer_loading,
// input_examples, …). cache_control in the metadata of a message is that of its
// last block. The metadata of a reply has its id, and its container, stop_sequence
// where there are any; a container is named again for as long as the turn goes on.
//
// # Settings
//
// Config.Params holds what the API takes beside the conversation. Version
// 2026-10-21 has no temperature, top_p and top_k. What the SDK does not know yet
// can be set with Params.SetExtraFields.
//
// # Tools
//
// ai.ToolChoiceAuto, ToolChoiceRequired and ToolChoiceNone are auto, any and none.
// ai.Sampling: strict tools are supported, grammars are not. Strict schemas lose
// bounds of numbers and lengths of arrays, which the API does not sample by, to
// their descriptions; arguments are held to them afterwards all the same. A tool
// that prefers to be strict is sampled freely where its schema is recursive, or
// where the request has more of them than the API takes (20 tools, 16 places that
// take several types). A schema with a choice at its root, which the API refuses,
// is sent without it: the properties move up, the rest into the description.
//
// # Replies
//
// A reply is the same whether or not it is streamed. Without a listener it comes
// in one piece, unless MaxTokens is so high that the SDK insists on streaming.
// end_turn, stop_sequence and tool_use are ai.FinishStop; max_tokens and
// model_context_window_exceeded ai.FinishLength; refusal ai.FinishBlocked, with
// the explanation. Where the provider pauses a turn of its own tools
// (pause_turn), Generate goes on by itself and returns one reply: see
// Config.MaxPauses.
//
// Usage: cache_creation_input_tokens and cache_read_input_tokens are among
// InputTokens, thinking_tokens among OutputTokens; all requests of a reply count.
//
// # Errors
//
// Failures are *ai.ProviderError with the SDK's *Error inside, which has the
// request id. Their kind follows from the API's error type; ErrContextLength and
// ErrContentFilter among invalid requests from its message. An error in the
// middle of a stream is told like any other, with a StatusCode of 0. Code is the
// error_code, else the type. The SDK tries twice more after connection errors and
// the statuses 408, 409, 429 and from 500, and waits before that for as long as
// Retry-After says; option.WithMaxRetries in Options.Client changes the number. A
// stream that has begun is not tried again.
package anthropic
