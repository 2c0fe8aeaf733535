package aitest

import (
	"strings"

	"github.com/holdpoint/ai"
)

func testCall(t *modelTest) {
	t.bothWays(func(t *modelTest, streamed bool) {
		w := t.open(callReply(lookCall("call_1", "Rome")))
		resp := w.answer(t.ask("How is Rome?"), streamed)
		if resp.FinishReason != ai.FinishStop {
			t.Errorf("the finish reason is %q, expected %q", resp.FinishReason, ai.FinishStop)
		}
		t.checkCalls(resp.Message, lookCall("call_1", "Rome"))
		w.bodies(1)

		w = t.open(&WireReply{Text: "I will look.", Calls: []WireCall{lookCall("call_1", "Rome")}}, doneReply())
		tools := newKitTools(t)
		done := w.mustRun(tools, &ai.GenerateOptions{Prompt: "How is Rome?"}, streamed)
		if done.Text() != "All done." {
			t.Errorf("the conversation ends with %q", done.Text())
		}
		tools.checkRan(t, "look Rome")
		sent := w.bodies(2)[1]
		sent.checkAnswers(t, answered{"call_1", "sunny in Rome"})
		if !sent.says("I will look.") {
			t.Errorf("the text beside the call was not sent back: %s", sent.data)
		}
	})
}

// checkCalls fails the test unless the tool requests of a message are these.
func (t *modelTest) checkCalls(m *ai.Message, want ...WireCall) {
	t.Helper()
	requests := m.ToolRequests()
	if len(requests) != len(want) {
		t.Fatalf("the reply has %d tool requests, expected %d: %s", len(requests), len(want), jsonText(m))
	}
	for i, req := range requests {
		got := req.ToolRequest
		if got.Name != want[i].Name {
			t.Errorf("tool request %d is for %q, expected %q", i, got.Name, want[i].Name)
		}
		if got.Ref != want[i].Ref && !t.kit.NoRefs {
			t.Errorf("the ref of tool request %d is %q, expected %q", i, got.Ref, want[i].Ref)
		}
		if !sameJSON(string(got.Input), want[i].Arguments) {
			t.Errorf("the input of tool request %d is %s, expected %s", i, got.Input, want[i].Arguments)
		}
		if _, wrong := req.Metadata["argumentsError"]; wrong {
			t.Errorf("tool request %d says that its arguments are no JSON object: %s", i, jsonText(req))
		}
	}
}

// sameJSON reports whether two texts hold the same values with the same digits,
// in the same order.
func sameJSON(a, b string) bool {
	one, err := parseBody([]byte(a))
	if err != nil {
		return false
	}
	two, err := parseBody([]byte(b))
	if err != nil || len(one.values) != len(two.values) {
		return false
	}
	for i := range one.values {
		if one.values[i].text != two.values[i].text {
			return false
		}
	}
	return true
}

func testParallelCalls(t *modelTest) {
	for _, piece := range []int{0, 3} {
		t.at("pieces of %d", piece).bothWays(func(t *modelTest, streamed bool) {
			reply := callReply(lookCall("call_b", "Rome"), lookCall("call_a", "Oslo"), lookCall("call_c", "Bern"))
			reply.Piece = piece
			w := t.open(reply, doneReply())
			tools := newKitTools(t)
			resp := w.mustRun(tools, &ai.GenerateOptions{Prompt: "How are Rome, Oslo and Bern?"}, streamed)
			t.checkCalls(resp.Messages[1], reply.Calls...)
			tools.checkRan(t, "look Rome", "look Oslo", "look Bern")
			w.bodies(2)[1].checkAnswers(t,
				answered{"call_b", "sunny in Rome"}, answered{"call_a", "sunny in Oslo"}, answered{"call_c", "sunny in Bern"})
		})
	}
}

func testRefsMissing(t *modelTest) { t.unclearRefs("", "", "") }

func testRefsDoubled(t *modelTest) { t.unclearRefs("call_1", "call_1", "call_1") }

// unclearRefs runs calls whose ids do not tell them apart, in two turns.
func (t *modelTest) unclearRefs(refs ...string) {
	t.bothWays(func(t *modelTest, streamed bool) {
		turn := callReply(lookCall(refs[0], "Rome"), lookCall(refs[1], "Oslo"))
		w := t.open(turn, callReply(lookCall(refs[2], "Bern")), doneReply())
		tools := newKitTools(t)
		resp := w.mustRun(tools, &ai.GenerateOptions{Prompt: "How are Rome, Oslo and Bern?"}, streamed)
		tools.checkRan(t, "look Rome", "look Oslo", "look Bern")
		CheckHistory(t, resp.Messages)
		first := resp.Messages[1].ToolRequests()
		if len(first) != 2 {
			t.Fatalf("the first reply has %d calls, expected 2", len(first))
		}
		a, b := first[0].ToolRequest.Ref, first[1].ToolRequest.Ref
		if a == "" || b == "" || a == b {
			t.Errorf("the refs of the calls are %q and %q, expected two", a, b)
		}
		sent := w.bodies(3)
		sent[1].checkAnswers(t, answered{a, "sunny in Rome"}, answered{b, "sunny in Oslo"})
		for _, output := range []string{"sunny in Rome", "sunny in Oslo", "sunny in Bern"} {
			if n := len(sent[2].find(output)); n != 1 {
				t.Errorf("the output %q is %d times in the last request, expected once: %s", output, n, sent[2].data)
			}
		}
	})
}

func testArgumentsStreamed(t *modelTest) {
	const args = `{"city": "Z\u00fcrich \ud83c\udf0d \"世界\" \\\n🌍", "more": [1.50, -2e3, true, null, {"é": "x"}]}`
	want := WireCall{Ref: "call_1", Name: "look", Arguments: args}
	for _, piece := range []int{1, 2, 3, 5, 7, 20, 1000} {
		t := t.at("pieces of %d", piece)
		reply := callReply(want, WireCall{Ref: "call_2", Name: "pay", Arguments: `{"amount": 12}`})
		reply.Piece, reply.Text = piece, "Let me look."
		w := t.open(reply, reply)
		whole, streamed := w.answer(t.ask("How is it?"), false), w.answer(t.ask("How is it?"), true)
		t.checkCalls(streamed.Message, reply.Calls...)
		if a, b := shape(whole), shape(streamed); a != b {
			t.Errorf("the reply differs when it is streamed:\n\twhole    %s\n\tstreamed %s", a, b)
		}
		w.bodies(2)
	}
}

func testArgumentsEmpty(t *modelTest) {
	for _, args := range []string{"", "{}"} {
		t.at("arguments %q", args).bothWays(func(t *modelTest, streamed bool) {
			w := t.open(callReply(WireCall{Ref: "call_1", Name: "ping", Arguments: args}), doneReply())
			tools := newKitTools(t)
			w.mustRun(tools, &ai.GenerateOptions{Prompt: "Is anybody there?"}, streamed)
			tools.checkRan(t, "ping")
			w.bodies(2)[1].checkAnswers(t, answered{"call_1", "somebody is there"})
		})
	}
}

func testArgumentsMalformed(t *modelTest) {
	for _, args := range []string{`the city of Rome`, `{"city": "Ro`, `["Rome"]`} {
		t.at("arguments %s", args).bothWays(func(t *modelTest, streamed bool) {
			call := WireCall{Ref: "call_1", Name: "look", Arguments: args}
			w := t.open(callReply(call))
			resp := w.answer(t.ask("How is Rome?"), streamed)
			requests := resp.Message.ToolRequests()
			if len(requests) != 1 {
				t.Fatalf("the reply has %d tool requests, expected one", len(requests))
			}
			if got := arguments(requests[0]); got != args {
				t.Errorf("the arguments are %q, expected what was sent", got)
			}

			w = t.open(callReply(call, lookCall("call_2", "Oslo")), doneReply())
			tools := newKitTools(t)
			history := w.mustRun(tools, &ai.GenerateOptions{Prompt: "How are Rome and Oslo?"}, streamed).Messages
			t.checkSecond(w, tools, Reload(t, history))
		})
	}
}

// checkSecond looks at what became of a malformed call with a sound one beside it.
func (t *modelTest) checkSecond(w *wire, tools *kitTools, history []*ai.Message) {
	t.Helper()
	CheckHistory(t, history)
	w.bodies(2)[1].checkAnswers(t, answered{"call_2", "sunny in Oslo"})
	tools.mu.Lock()
	defer tools.mu.Unlock()
	for _, ran := range tools.ran {
		if ran != "look Oslo" && !strings.HasPrefix(ran, "look Ro") {
			t.Errorf("a call ran that nobody asked for: %s", ran)
		}
	}
}

func testDigits(t *modelTest) {
	const digits = "9007199254740993" // a float64 would make it end in 2
	t.bothWays(func(t *modelTest, streamed bool) {
		call := WireCall{Ref: "call_1", Name: "double", Arguments: `{"amount":` + digits + `}`}
		w := t.open(callReply(call), doneReply())
		tools := newKitTools(t)
		resp := w.mustRun(tools, &ai.GenerateOptions{Prompt: "Double it."}, streamed)
		t.checkCalls(resp.Messages[1], call)
		tools.checkRan(t, "double "+digits)
		data := string(w.bodies(2)[1].data)
		for _, number := range []string{digits, "18014398509481986"} {
			if !strings.Contains(data, number) {
				t.Errorf("%s is not in the request: %s", number, data)
			}
		}
	})
}

func testNames(t *modelTest) {
	t.bothWays(func(t *modelTest, streamed bool) {
		call := WireCall{Ref: "call_1", Name: "order_part", Arguments: `{"part":"gasket"}`}
		w := t.open(callReply(call), doneReply())
		tools := newKitTools(t)
		paused := w.mustRun(tools, &ai.GenerateOptions{Prompt: "Order a gasket."}, streamed)
		w.mustRun(tools, &ai.GenerateOptions{
			Messages: Reload(t, paused.Messages), Resume: Reload(t, Approve(t, paused)),
		}, streamed)
		tools.checkRan(t, "order gasket")
		for i, sent := range w.bodies(2) {
			if !sent.says("order_part") || sent.says("work-orders/") {
				t.Errorf("request %d has the tool under another name than order_part: %s", i+1, sent.data)
			}
		}
		w.bodies(2)[1].checkAnswers(t, answered{"call_1", "delivery note for a gasket"})
	})
}

func testToolChoice(t *modelTest) {
	choices := []ai.ToolChoice{ai.ToolChoiceAuto, ai.ToolChoiceRequired, ai.ToolChoiceNone, ""}
	w := t.open(doneReply(), doneReply(), doneReply(), doneReply())
	for _, choice := range choices {
		req := t.ask("Hello")
		req.ToolChoice = choice
		w.answer(req, false)
	}
	seen := map[string]ai.ToolChoice{}
	for i, sent := range w.bodies(len(choices))[:3] {
		if other, same := seen[string(sent.data)]; same {
			t.Errorf("the request with tool choice %q is the one with %q: %s", choices[i], other, sent.data)
		}
		seen[string(sent.data)] = choices[i]
	}
}
