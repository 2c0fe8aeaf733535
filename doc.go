// Package ai runs the tools a language model asks for, can stop at any call to
// ask a person, and carries on from exactly there, in another process if need be.
//
// # Tools
//
// A [Tool] is a function with a name, a description and two JSON schemas.
// [DefineTool] makes one of a Go function, infers the schemas from its types and
// puts it into a [Registry]; [NewTool] takes a whole [ToolDefinition] and leaves
// it unregistered; [RawTool] is for tools that take and give JSON, and [Prompt]
// for those that hand the conversation to other instructions. A [ToolSet] is what
// one request offers to the model, under names that every provider takes. Nothing
// outside it can be called.
//
// # A turn
//
// A turn is one model message with its tool requests. [Resolve] runs them side
// by side, as [ResolveOptions] say, and once all are settled returns the tool
// message that answers them, in request order. [Middleware] stands around each
// call, a [Journal] is told of each start and end. Arguments that do not fit the
// schema go back to the model as an [ArgumentError]; an [ErrorPolicy] decides what
// else does.
//
// # Interrupts and answers
//
// A tool stops to ask by returning what [ToolCall.Interrupt] gives it. The turn is
// then paused: its results so far, and who asked what, stand in the metadata of the
// model message, and [Message.Interrupts] lists the questions. [Resume] goes on
// with [Answers]: [Restart] runs a call, with new input if wanted, and the tool
// finds [ToolCall.Resumed]; [Respond] gives the result instead; [Deny] says no.
// Everything is checked before anything runs. With ResolveOptions.Partial, answers
// may come one by one. A tool that always asks is made by [DefineInterrupt].
//
// # The loop
//
// [Generate] is model, turn, model, turn until there is nothing left to do, a call
// asks, or a limit is reached:
//
//	resp, err := ai.Generate(ctx, &tools, &ai.GenerateOptions{Model: m, Prompt: "Pay Bob 20."})
//	for err == nil && resp.FinishReason == ai.FinishInterrupted {
//		answers := ask(resp.Interrupts())
//		resp, err = ai.Generate(ctx, &tools, &ai.GenerateOptions{Model: m, Messages: resp.Messages, Resume: answers})
//	}
//
// A [Model] is anything with its one method. [Stream] is Generate as an iterator
// of [Chunk] values; [ToolCall.Emit] sends progress into it. A tool may host an
// inner conversation with [ToolCall.Generate]: its questions come out with a
// [Path], which the answers carry back.
//
// # Errors
//
// errors.Is tells the kind: [ErrInvalidArgument], [ErrNotFound],
// [ErrFailedPrecondition], [ErrAborted]. What a failed run has to hand over is in
// the error: a [TurnError] holds the message with all that did run, a
// [GenerateError] the whole history. Both can be resumed. A [CallError] says whether
// the call may have acted.
//
// # Histories
//
// Messages are JSON, as Genkit writes it, and may be stored and sent anywhere.
// Unknown kinds and keys, falsy values and the digits of numbers survive.
// [Repair] closes what was left open for good.
//
// The package trusts whoever holds the history, and whoever may send answers
// approves. It counts starts, not effects: a call that the history knows to be
// started is not started again unless its tool is declared idempotent, or an answer
// names it or a question of a conversation that it hosts. What came of a call whose
// process died, nobody can say; [ToolCall.Key] is the same on each attempt, for
// tools that can tell.
//
// # Files
//
//   - message.go, parts.go, metadata.go: the wire; *_json.go read and write it
//   - tool.go, rawtool.go, prompt.go: kinds of tools; schema*.go, infer*.go,
//     arguments.go, faults*.go: what fits them; fitting*.go, sampling.go,
//     tool_digits.go: how arguments are made to fit
//   - registry.go, provider.go, names.go, toolset.go: where tools are found
//   - resolve.go, resume.go: a turn; turn.go, schedule.go, attempt.go, settle.go,
//     finish.go, marks.go: how it runs
//   - call.go, inner.go, result.go, middleware.go: what a call sees and gives
//   - interrupt.go, answers.go, match.go: questions, answers, what belongs to what
//   - model.go, generate.go, reply.go, stream.go: the loop
//   - history.go, repair.go: whether a conversation is complete
//   - errors.go: what can go wrong
package ai
