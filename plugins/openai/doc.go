// Package openai talks to OpenAI's models, and to the many servers that speak its
// wire: [Chat] is the chat completions API, [Responses] the responses API.
//
//	model := openai.NewChat("gpt-5", nil) // the key comes from OPENAI_API_KEY
//	local := openai.NewChat("qwen3", &openai.Options{
//		Client: []option.RequestOption{option.WithBaseURL("http://localhost:11434/v1"), option.WithAPIKey("none")},
//	})
//
// # What maps to what
//
//   - Tool results are sent in the order of their calls, directly behind them. An
//     error is text that says so. Chat completions take text only in a result: media
//     follow in a user message behind all results of the turn. Responses take images
//     and files in the result.
//   - Media in a user message are images, WAV and MP3 sound, and files. Sound and files
//     must be data: URLs, in responses files may be at a URL.
//   - Reasoning of chat completions is read from `reasoning_content`, `reasoning` and
//     `reasoning_details`; it is sent back only where [ChatConfig].SendReasoning says so,
//     since most servers refuse it. Responses are not stored at the provider: their
//     reasoning comes encrypted, is kept in the metadata, and is sent back.
//   - Strict sampling is the provider's. A grammar makes a custom tool, whose text is
//     the one string of the arguments.
//   - Failures are *ai.ProviderError. The SDK tries twice more by itself where the
//     provider is overloaded or can't be reached; option.WithMaxRetries(0) turns that off.
//   - What is opaque is kept in metadata under `openai` and sent to no other provider.
//
// Compatible servers differ. Arguments may come as an object, in one piece or many;
// ids may be missing, repeated or late; indexes may jump or be absent; calls may come
// with a finish reason of `stop`; the usage may be missing. All of that is read as it
// is meant.
package openai
