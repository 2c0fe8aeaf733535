package aitest

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/holdpoint/ai"
)

// TestModel tests a model adapter: the contract of ai.Model, and that whatever
// becomes of tool calls ends in a request that the provider takes. Each case is a
// subtest; they run side by side. Run it with the race detector.
func TestModel(t *testing.T, kit *ModelKit) {
	kit.check(t)
	for _, c := range modelCases() {
		t.Run(c.name, func(t *testing.T) {
			if reason, skip := kit.Skip[c.name]; skip {
				t.Skip(reason)
			}
			t.Parallel()
			c.test(t, kit)
		})
	}
}

// modelCase is one case of TestModel.
type modelCase struct {
	name string
	run  func(t *modelTest)
}

func (c modelCase) test(t testing.TB, kit *ModelKit) {
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	c.run(&modelTest{TB: t, kit: kit, ctx: ctx})
}

func modelCases() []modelCase {
	return []modelCase{
		{"text", testText},
		{"text_streamed", testTextStreamed},
		{"system", testSystem},
		{"conversation", testConversation},
		{"media_input", testMediaInput},
		{"blocked", testBlocked},
		{"reasoning", testReasoning},
		{"reasoning_sent_back", testReasoningSentBack},
		{"usage", testUsage},
		{"usage_cached", testUsageCached},
		{"usage_reasoning", testUsageReasoning},
		{"call", testCall},
		{"parallel_calls", testParallelCalls},
		{"refs_missing", testRefsMissing},
		{"refs_doubled", testRefsDoubled},
		{"arguments_streamed", testArgumentsStreamed},
		{"arguments_empty", testArgumentsEmpty},
		{"arguments_malformed", testArgumentsMalformed},
		{"digits", testDigits},
		{"names", testNames},
		{"tool_choice", testToolChoice},
		{"pause", testPause},
		{"partial_answers", testPartialAnswers},
		{"denial", testDenial},
		{"error_result", testErrorResult},
		{"media_result", testMediaResult},
		{"open_calls", testOpenCalls},
		{"foreign_history", testForeignHistory},
		{"errors", testErrors},
		{"cut", testCut},
		{"length", testLength},
		{"cancel", testCancel},
		{"emit_error", testEmitError},
		{"break", testBreak},
		{"concurrent", testConcurrent},
	}
}

// check fails the test where the kit itself is wrong.
func (k *ModelKit) check(t testing.TB) {
	t.Helper()
	if k.Open == nil {
		t.Fatalf("aitest: the kit has no Open")
	}
	for _, name := range slices.Sorted(maps.Keys(k.Skip)) {
		isCase := slices.ContainsFunc(modelCases(), func(c modelCase) bool { return c.name == name })
		if !isCase || k.Skip[name] == "" {
			t.Errorf("aitest: the kit skips %q: that is no case of TestModel, or the reason is missing", name)
		}
	}
}

// patience is how long a case waits for what should come at once.
const patience = 30 * time.Second

// modelTest is a run of one case.
type modelTest struct {
	testing.TB
	kit   *ModelKit
	ctx   context.Context
	where string // goes in front of failures
}

// Errorf says where in the case it happened.
func (t *modelTest) Errorf(format string, args ...any) {
	t.Helper()
	t.TB.Errorf("%s%s", t.where, fmt.Sprintf(format, args...))
}

// Fatalf says where in the case it happened.
func (t *modelTest) Fatalf(format string, args ...any) {
	t.Helper()
	t.TB.Fatalf("%s%s", t.where, fmt.Sprintf(format, args...))
}

// at is the test in one round of a loop.
func (t *modelTest) at(format string, args ...any) *modelTest {
	c := *t
	c.where += fmt.Sprintf(format, args...) + ": "
	return &c
}

// bothWays runs a test without and with streaming.
func (t *modelTest) bothWays(run func(t *modelTest, streamed bool)) {
	run(t.at("whole"), false)
	run(t.at("streamed"), true)
}

// soon runs a function that must return before long, and that must not end the test.
func (t *modelTest) soon(what string, run func()) {
	t.Helper()
	done := make(chan struct{})
	go func() {
		defer close(done)
		run()
	}()
	late := time.NewTimer(patience)
	defer late.Stop()
	select {
	case <-done:
	case <-late.C:
		t.Fatalf("%s did not return within %v", what, patience)
	}
}

// open starts a provider with these replies.
func (t *modelTest) open(replies ...*WireReply) *wire {
	t.Helper()
	w := t.kit.Open(t, replies...)
	return &wire{t: t, from: w, model: &watchedModel{t: t, model: w.Model}}
}

// wire is an adapter under test.
type wire struct {
	t     *modelTest
	from  *WireModel
	model ai.Model // watched
}

// generate calls the adapter.
func (w *wire) generate(req *ai.ModelRequest, streamed bool) (*ai.ModelResponse, error) {
	var emit func(*ai.Chunk) error
	if streamed {
		emit = func(*ai.Chunk) error { return nil }
	}
	return w.model.Generate(w.t.ctx, req, emit)
}

// answer is generate where nothing may fail.
func (w *wire) answer(req *ai.ModelRequest, streamed bool) *ai.ModelResponse {
	w.t.Helper()
	resp, err := w.generate(req, streamed)
	if err != nil {
		w.t.Fatalf("Generate failed: %v", err)
	}
	if resp == nil || resp.Message == nil {
		w.t.Fatalf("Generate returned no message")
	}
	return resp
}

// run is ai.Generate or ai.Stream.
func (w *wire) run(tools *kitTools, opts *ai.GenerateOptions, streamed bool) (resp *ai.Response, err error) {
	o := *opts
	o.Model = w.model
	if !streamed {
		return ai.Generate(w.t.ctx, &tools.Registry, &o)
	}
	for c, err := range ai.Stream(w.t.ctx, &tools.Registry, &o) {
		if err != nil {
			return nil, err
		}
		resp = c.Response
	}
	return resp, nil
}

// mustRun is run where nothing may fail.
func (w *wire) mustRun(tools *kitTools, opts *ai.GenerateOptions, streamed bool) *ai.Response {
	w.t.Helper()
	resp, err := w.run(tools, opts, streamed)
	if err != nil {
		w.t.Fatalf("the conversation failed: %v", err)
	}
	if resp == nil {
		w.t.Fatalf("the conversation has no response")
	}
	return resp
}

// bodies fails the test unless the provider got n requests, each of which it takes.
func (w *wire) bodies(n int) []*body {
	w.t.Helper()
	requests := w.from.Requests()
	if len(requests) != n {
		w.t.Fatalf("the provider got %d requests, expected %d", len(requests), n)
	}
	list := make([]*body, n)
	for i, data := range requests {
		w.t.Logf("%srequest %d: %s", w.t.where, i+1, data)
		w.from.Check(w.t, data)
		parsed, err := parseBody(data)
		if err != nil {
			w.t.Fatalf("request %d is no JSON: %v", i+1, err)
		}
		list[i] = parsed
	}
	return list
}

// idle fails the test where the adapter keeps a connection to the provider busy.
func (w *wire) idle() {
	w.t.Helper()
	if w.from.Wait != nil {
		w.t.soon("the end of the request to the provider", w.from.Wait)
	}
}

// ask is a request with one user message and every tool on offer.
func (t *modelTest) ask(text string) *ai.ModelRequest {
	return &ai.ModelRequest{
		Messages: []*ai.Message{ai.TextMessage(ai.RoleUser, text)},
		Tools:    newKitTools(t).definitions(t),
	}
}

// jsonText is the JSON of a value, to compare and to show.
func jsonText(v any) string {
	data, err := json.Marshal(v)
	if err != nil {
		return fmt.Sprintf("%T that does not encode: %v", v, err)
	}
	return string(data)
}
