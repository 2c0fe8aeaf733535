package aitest

import (
	"encoding/json"
	"errors"
	"strings"

	"github.com/holdpoint/ai"
)

func testPause(t *modelTest) {
	t.bothWays(func(t *modelTest, streamed bool) {
		w := t.open(callReply(lookCall("call_1", "Rome"), payCall("call_2", 12)), doneReply())
		tools := newKitTools(t)
		paused := w.mustRun(tools, &ai.GenerateOptions{Prompt: "Look and pay."}, streamed)
		if paused.FinishReason != ai.FinishInterrupted {
			t.Fatalf("the finish reason is %q, expected %q", paused.FinishReason, ai.FinishInterrupted)
		}
		tools.checkRan(t, "look Rome")
		resp := w.mustRun(tools, &ai.GenerateOptions{
			Messages: Reload(t, paused.Messages), Resume: Reload(t, Approve(t, paused)),
		}, streamed)
		CheckHistory(t, resp.Messages)
		tools.checkRan(t, "look Rome", "pay 12")
		w.bodies(2)[1].checkAnswers(t, answered{"call_1", "sunny in Rome"}, answered{"call_2", "receipt over 12"})
	})
}

// testPartialAnswers answers the questions of one turn one after the other.
func testPartialAnswers(t *modelTest) {
	w := t.open(callReply(payCall("call_1", 12), lookCall("call_2", "Rome"), payCall("call_3", 34)), doneReply())
	tools := newKitTools(t)
	resp := w.mustRun(tools, &ai.GenerateOptions{Prompt: "Pay twice."}, false)
	for _, ref := range []string{"call_3", "call_1"} {
		w.bodies(1)
		answers := Answer(t, resp, func(it *ai.Interrupt) (ai.Part, error) {
			if amount := string(it.Request.ToolRequest.Input); strings.Contains(amount, "12") != (ref == "call_1") {
				return nil, nil
			}
			return ai.Restart(it.Request, nil)
		})
		resp = w.mustRun(tools, &ai.GenerateOptions{
			Messages: Reload(t, resp.Messages), Resume: Reload(t, answers), Turn: ai.ResolveOptions{Partial: true},
		}, false)
	}
	CheckHistory(t, resp.Messages)
	tools.checkRan(t, "look Rome", "pay 12", "pay 34")
	w.bodies(2)[1].checkAnswers(t,
		answered{"call_1", "receipt over 12"}, answered{"call_2", "sunny in Rome"}, answered{"call_3", "receipt over 34"})
}

func testDenial(t *modelTest) {
	w := t.open(callReply(payCall("call_1", 12)), doneReply())
	tools := newKitTools(t)
	paused := w.mustRun(tools, &ai.GenerateOptions{Prompt: "Pay."}, false)
	w.mustRun(tools, &ai.GenerateOptions{
		Messages: Reload(t, paused.Messages), Resume: Reload(t, Deny(t, paused, "too expensive")),
	}, false)
	tools.checkRan(t)
	w.bodies(2)[1].checkAnswers(t, answered{"call_1", "Denied: too expensive"})
}

func testErrorResult(t *modelTest) {
	call := WireCall{Ref: "call_1", Name: "print", Arguments: "{}"}
	misfit := WireCall{Ref: "call_2", Name: "pay", Arguments: `{"amount":"a fortune"}`}
	w := t.open(callReply(call, misfit), doneReply())
	tools := newKitTools(t)
	w.mustRun(tools, &ai.GenerateOptions{Prompt: "Print and pay."}, false)
	tools.checkRan(t)
	w.bodies(2)[1].checkAnswers(t, answered{"call_1", "the printer is on fire"}, answered{"call_2", "amount: expected"})
}

func testMediaResult(t *modelTest) {
	w := t.open(callReply(WireCall{Ref: "call_1", Name: "draw", Arguments: "{}"}), doneReply())
	tools := newKitTools(t)
	_, err := w.run(tools, &ai.GenerateOptions{Prompt: "Draw a dot."}, false)
	tools.checkRan(t, "draw")
	t.checkMedia(w, err, 2)
	if err == nil && !w.bodies(2)[1].says("here is a dot") {
		t.Errorf("the output beside the image is not in the request")
	}
}

// testOpenCalls calls the adapter with a history that nobody has answered yet.
func testOpenCalls(t *modelTest) {
	t.bothWays(func(t *modelTest, streamed bool) {
		w := t.open(doneReply())
		req := t.ask("Look.")
		req.Messages = append(req.Messages, modelMessage(Request("look", "call_1", json.RawMessage(`{"city":"Rome"}`))))
		resp, err := w.generate(req, streamed)
		if !errors.Is(err, ai.ErrFailedPrecondition) {
			t.Errorf("a history with an open call gives %v and the error %v, expected an ErrFailedPrecondition", jsonText(resp), err)
		}
		w.bodies(0)
	})
}

// foreign is what another provider has left, and no other may see.
const foreign = "opaque to all others"

// testForeignHistory goes on with what another provider began.
func testForeignHistory(t *modelTest) {
	w := t.open(doneReply(), callReply(lookCall("call_9", "Bern")), doneReply())
	w.answer(&ai.ModelRequest{Messages: foreignHistory(), Tools: newKitTools(t).definitions(t)}, false)
	tools := newKitTools(t)
	w.mustRun(tools, &ai.GenerateOptions{Messages: foreignHistory()}, true)
	for _, sent := range w.bodies(3) {
		if strings.Contains(string(sent.data), foreign) {
			t.Errorf("what another provider has left is in the request: %s", sent.data)
		}
		for _, output := range []string{"sunny in Rome", "sunny in Oslo", "Both are sunny."} {
			if n := len(sent.find(output)); n != 1 {
				t.Errorf("%q is %d times in the request, expected once: %s", output, n, sent.data)
			}
		}
	}
}

// foreignHistory has refs and metadata as no single provider writes them.
func foreignHistory() []*ai.Message {
	mark := func() ai.Metadata { return ai.Metadata{"other": json.RawMessage(`{"signature":"` + foreign + `"}`)} }
	refs := []string{"other:call/1 #" + strings.Repeat("long", 30), ""}
	first := Request("look", refs[0], json.RawMessage(`{"city":"Rome"}`))
	second := Request("look", refs[1], json.RawMessage(`{"city":"Oslo"}`))
	first.Metadata, second.Metadata = mark(), mark()
	result := func(ref, output string) *ai.ToolResponsePart {
		return &ai.ToolResponsePart{
			ToolResponse: ai.ToolResponse{Name: "look", Ref: ref, Output: json.RawMessage(output)}, Metadata: mark(),
		}
	}
	return []*ai.Message{
		ai.TextMessage(ai.RoleSystem, "Be brief."),
		{Role: ai.RoleUser, Content: ai.Parts{&ai.TextPart{Text: "How are Rome and Oslo?", Metadata: mark()}}, Metadata: mark()},
		{Role: ai.RoleModel, Metadata: mark(), Content: ai.Parts{
			&ai.ReasoningPart{Reasoning: "I have to look.", Metadata: mark()}, first, second,
		}},
		{Role: ai.RoleTool, Content: ai.Parts{result(refs[0], `"sunny in Rome"`), result(refs[1], `"sunny in Oslo"`)}},
		{Role: ai.RoleModel, Content: ai.Parts{
			&ai.ReasoningPart{Reasoning: "Nothing more to do.", Metadata: mark()},
			&ai.TextPart{Text: "Both are sunny.", Metadata: mark()},
		}},
		ai.TextMessage(ai.RoleUser, "And Bern?"),
	}
}
