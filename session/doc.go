// Package session keeps conversations of package ai in a log, so that a pause
// holds: over a crash, a deploy, a week, and two people who click at once.
//
// A [Manager] runs sessions on a [Store]. Generate adds a user's input and runs the
// model and its tools until it has answered or somebody has to be asked; what waits
// is in [Result.Pending], and for all sessions in Manager.List. Decide keeps an
// answer, once: whoever is first wins. Run carries it out, in whatever process.
//
// What is committed is in the log before it is shown, and each call is in it before
// it starts. So after a crash nothing that finished is run again, what was never
// started is started, and a call that started and was not heard of again runs again
// only where its tool says that this is harmless; else a person is asked, who is
// told what is known. Recover finds such sessions and goes on with them.
//
// This counts starts, not effects: a call that was started may or may not have
// acted when its process died. Model calls are made at least once; a reply that is
// in the log is never sampled again.
package session
