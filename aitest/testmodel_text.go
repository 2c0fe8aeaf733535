package aitest

import (
	"errors"
	"strings"

	"github.com/holdpoint/ai"
)

// mixedText has characters of one to four bytes, and what JSON escapes.
const mixedText = "Grüße, 世界! 🌍 \"quoted\" \\ and <b>&amp;</b>\nA second line: né à Zürich, für 5 €."

func testText(t *modelTest) {
	t.bothWays(func(t *modelTest, streamed bool) {
		w := t.open(&WireReply{Text: mixedText})
		resp := w.answer(t.ask("Say "+mixedText), streamed)
		t.checkText(resp, mixedText)
		if !w.bodies(1)[0].says("Say " + mixedText) {
			t.Errorf("the request does not hold what the user said")
		}
	})
}

// checkText fails the test unless a reply is this text and ended by itself.
func (t *modelTest) checkText(resp *ai.ModelResponse, text string) {
	t.Helper()
	if got := resp.Message.Text(); got != text {
		t.Errorf("the text is %q, expected %q", got, text)
	}
	if calls := resp.Message.ToolRequests(); len(calls) > 0 {
		t.Errorf("the reply has tool requests: %s", jsonText(calls))
	}
	if resp.FinishReason != ai.FinishStop {
		t.Errorf("the finish reason is %q, expected %q", resp.FinishReason, ai.FinishStop)
	}
}

func testTextStreamed(t *modelTest) {
	for _, piece := range []int{1, 3, 20} {
		t := t.at("pieces of %d", piece)
		reply := &WireReply{Text: mixedText, Piece: piece}
		w := t.open(reply, reply)
		whole := w.answer(t.ask("Hello"), false)
		chunks := 0
		streamed, err := w.model.Generate(t.ctx, t.ask("Hello"), func(*ai.Chunk) error {
			chunks++
			return nil
		})
		if err != nil {
			t.Fatalf("Generate failed: %v", err)
		}
		t.checkText(streamed, mixedText)
		if chunks < 2 {
			t.Errorf("the text came in %d chunks, expected several", chunks)
		}
		if a, b := shape(whole), shape(streamed); a != b {
			t.Errorf("the reply differs when it is streamed:\n\twhole    %s\n\tstreamed %s", a, b)
		}
		w.bodies(2)
	}
}

// shape is a reply without what a provider may make up anew each time.
func shape(resp *ai.ModelResponse) string {
	lines := []string{string(resp.FinishReason), jsonText(resp.Usage)}
	for _, p := range resp.Message.Content {
		switch p := p.(type) {
		case *ai.TextPart:
			lines = append(lines, "text "+p.Text)
		case *ai.ReasoningPart:
			lines = append(lines, "reasoning "+p.Reasoning)
		case *ai.ToolRequestPart:
			lines = append(lines, "call "+p.ToolRequest.Name+" "+arguments(p))
		default:
			lines = append(lines, jsonText(ai.Parts{p}))
		}
	}
	return strings.Join(lines, "\n\t\t")
}

func testSystem(t *modelTest) {
	w := t.open(&WireReply{Text: "Hello."})
	req := t.ask("Hello")
	req.Messages = append([]*ai.Message{ai.TextMessage(ai.RoleSystem, "You are a lighthouse keeper.")}, req.Messages...)
	w.answer(req, false)
	if n := len(w.bodies(1)[0].find("You are a lighthouse keeper.")); n != 1 {
		t.Errorf("the instructions are %d times in the request, expected once", n)
	}
}

// testConversation sends messages of which some follow one of the same role, and
// some say nothing.
func testConversation(t *modelTest) {
	w := t.open(&WireReply{Text: "Hello."})
	req := t.ask("first")
	req.Messages = append(req.Messages,
		ai.TextMessage(ai.RoleUser, "second"),
		ai.TextMessage(ai.RoleModel, "third"),
		ai.TextMessage(ai.RoleModel, ""),
		ai.TextMessage(ai.RoleUser, "fourth"),
	)
	w.answer(req, false)
	sent := w.bodies(1)[0]
	at := -1
	for _, text := range []string{"first", "second", "third", "fourth"} {
		found := sent.find(text)
		if len(found) != 1 {
			t.Errorf("the text %q is %d times in the request, expected once: %s", text, len(found), sent.data)
			continue
		}
		before := at
		for at = range sent.values {
			if sent.values[at] == found[0] {
				break
			}
		}
		if at < before {
			t.Errorf("the text %q stands before an earlier one: %s", text, sent.data)
		}
	}
}

func testMediaInput(t *modelTest) {
	w := t.open(&WireReply{Text: "A dot."})
	req := t.ask("What is this?")
	req.Messages[0].Content = append(req.Messages[0].Content, dotPart())
	_, err := w.generate(req, false)
	t.checkMedia(w, err, 1)
}

// checkMedia fails the test unless the image is in request n, or there is no
// such request but an error that says why.
func (t *modelTest) checkMedia(w *wire, err error, n int) {
	t.Helper()
	if err != nil {
		if !errors.Is(err, ai.ErrInvalidArgument) {
			t.Errorf("an image that can't be sent is the error %v, expected an ErrInvalidArgument", err)
		}
		w.bodies(n - 1)
		return
	}
	if sent := w.bodies(n)[n-1]; !sent.says(dotPNG) {
		t.Errorf("the image is not in the request, and there was no error: %s", sent.data)
	}
}

func testBlocked(t *modelTest) {
	t.bothWays(func(t *modelTest, streamed bool) {
		w := t.open(&WireReply{Text: "I would", FinishReason: ai.FinishBlocked})
		resp := w.answer(t.ask("Something bad"), streamed)
		if resp.FinishReason != ai.FinishBlocked {
			t.Errorf("the finish reason is %q, expected %q", resp.FinishReason, ai.FinishBlocked)
		}
		w.bodies(1)
	})
}

func testReasoning(t *modelTest) {
	for _, piece := range []int{0, 5} {
		t.at("pieces of %d", piece).bothWays(func(t *modelTest, streamed bool) {
			w := t.open(&WireReply{Reasoning: "Let me see: ça va?", Signature: signature, Text: "Yes.", Piece: piece})
			resp := w.answer(t.ask("Is it so?"), streamed)
			t.checkText(resp, "Yes.")
			if got := reasoningOf(resp.Message); got != "Let me see: ça va?" {
				t.Errorf("the reasoning is %q", got)
			}
			w.bodies(1)
		})
	}
}

// signature is what a provider of TestModel wants back.
const signature = "c2lnbmVkIGJ5IHRoZSBwcm92aWRlcg=="

func testReasoningSentBack(t *modelTest) {
	t.bothWays(func(t *modelTest, streamed bool) {
		reply := callReply(lookCall("call_1", "Rome"))
		reply.Reasoning, reply.Signature = "I have to look.", signature
		w := t.open(reply, doneReply())
		tools := newKitTools(t)
		resp := w.mustRun(tools, &ai.GenerateOptions{Prompt: "How is Rome?"}, streamed)
		sent := w.bodies(2)[1]
		if !sent.says(signature) {
			t.Errorf("what the provider signed its reasoning with was not sent back: %s", sent.data)
		}
		tools.checkRan(t, "look Rome")

		later := t.open(doneReply())
		later.mustRun(tools, &ai.GenerateOptions{Messages: Reload(t, resp.Messages), Prompt: "And now?"}, streamed)
		if sent := later.bodies(1)[0]; !strings.Contains(string(sent.data), "sunny in Rome") {
			t.Errorf("the request does not hold what the tool returned: %s", sent.data)
		}
	})
}

func testUsage(t *modelTest) {
	t.usage(ai.Usage{InputTokens: 100, OutputTokens: 20, TotalTokens: 120}, func(t *modelTest, got ai.Usage) {
		if got.InputTokens != 100 || got.OutputTokens != 20 || (got.TotalTokens != 120 && got.TotalTokens != 0) {
			t.Errorf("the usage is %+v, expected 100 tokens in and 20 out, 120 in total", got)
		}
	})
	t.usage(ai.Usage{}, func(t *modelTest, got ai.Usage) {
		if got != (ai.Usage{}) {
			t.Errorf("the usage is %+v, where the provider did not say", got)
		}
	})
}

func testUsageCached(t *modelTest) {
	t.usage(ai.Usage{InputTokens: 100, CachedInputTokens: 60, OutputTokens: 20, TotalTokens: 120}, func(t *modelTest, got ai.Usage) {
		if got.InputTokens != 100 || got.CachedInputTokens != 60 {
			t.Errorf("the usage is %+v, expected 60 of 100 input tokens to be cached", got)
		}
	})
}

func testUsageReasoning(t *modelTest) {
	t.usage(ai.Usage{InputTokens: 100, OutputTokens: 20, ReasoningTokens: 15, TotalTokens: 120}, func(t *modelTest, got ai.Usage) {
		if got.OutputTokens != 20 || got.ReasoningTokens != 15 {
			t.Errorf("the usage is %+v, expected 15 of 20 output tokens to be reasoning", got)
		}
	})
}

func (t *modelTest) usage(said ai.Usage, check func(t *modelTest, got ai.Usage)) {
	t.bothWays(func(t *modelTest, streamed bool) {
		w := t.open(&WireReply{Text: "Hello.", Usage: said})
		check(t, w.answer(t.ask("Hello"), streamed).Usage)
		w.bodies(1)
	})
}
