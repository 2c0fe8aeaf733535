// Package aitest helps to test programs that use package ai: their tools,
// their agents, and the pauses in between.
//
//   - A [Model] answers from a script and keeps what it was asked.
//   - [Call] runs one tool as a turn would, resumed or not.
//   - [Approve], [Deny] and [Answer] make the answers to a paused conversation,
//     and [Reload] takes it through JSON, as another process would get it.
//   - [CheckHistory] says whether a provider would take a conversation.
//
// What goes wrong is reported to the test that was passed in.
package aitest
