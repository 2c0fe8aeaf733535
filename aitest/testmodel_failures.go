package aitest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/holdpoint/ai"
)

func testErrors(t *modelTest) {
	for _, c := range []struct {
		status int
		kind   error
	}{
		{400, ai.ErrInvalidArgument},
		{401, ai.ErrUnauthorized},
		{403, ai.ErrUnauthorized},
		{404, ai.ErrNotFound},
		{413, ai.ErrContextLength},
		{429, ai.ErrRateLimited},
		{500, ai.ErrUnavailable},
		{503, ai.ErrOverloaded},
		{529, ai.ErrOverloaded},
	} {
		t.at("status %d", c.status).bothWays(func(t *modelTest, streamed bool) {
			reply := &WireReply{Status: c.status}
			if c.status == 429 || c.status == 503 {
				reply.RetryAfter = 7 * time.Second
			}
			w := t.open(reply)
			_, err := w.generate(t.ask("Hello"), streamed)
			t.checkProviderError(err, c.kind, reply)
			w.bodies(1)
		})
	}
}

func (t *modelTest) checkProviderError(err, kind error, reply *WireReply) {
	t.Helper()
	var failure *ai.ProviderError
	if !errors.As(err, &failure) {
		t.Errorf("the error is %v, expected an *ai.ProviderError", err)
		return
	}
	if !errors.Is(err, kind) {
		t.Errorf("the error %v is not of the kind %q", err, kind)
	}
	if failure.Provider == "" || failure.Err == nil {
		t.Errorf("the error names no provider or has no cause: %+v", failure)
	}
	if failure.StatusCode != reply.Status {
		t.Errorf("the status of the error is %d, expected %d", failure.StatusCode, reply.Status)
	}
	if failure.RetryAfter != reply.RetryAfter {
		t.Errorf("the error asks to wait for %v, expected %v", failure.RetryAfter, reply.RetryAfter)
	}
}

// testCut breaks off replies in their middle.
func testCut(t *modelTest) {
	first, second := lookCall("call_1", "Rome"), lookCall("call_2", "Oslo")
	for _, c := range []struct {
		name  string
		reply *WireReply
	}{
		{"text", &WireReply{Text: "One, two, three, four, five, six.", Piece: 5, Cut: true}},
		{"call", &WireReply{Calls: []WireCall{first}, Piece: 5, Cut: true}},
		{"last call", &WireReply{Calls: []WireCall{first, second}, Piece: 5, Cut: true}},
	} {
		t.at("%s", c.name).bothWays(func(t *modelTest, streamed bool) {
			w := t.open(c.reply)
			_, err := w.generate(t.ask("Hello"), streamed)
			if !errors.Is(err, ai.ErrUnavailable) {
				t.Errorf("a reply that broke off gives the error %v, expected an ErrUnavailable", err)
			}
			var failure *ai.ProviderError
			if !errors.As(err, &failure) {
				t.Errorf("the error is %v, expected an *ai.ProviderError", err)
			}
			w.bodies(1)

			w = t.open(c.reply)
			tools := newKitTools(t)
			if _, err = w.run(tools, &ai.GenerateOptions{Prompt: "Hello"}, streamed); !errors.Is(err, ai.ErrUnavailable) {
				t.Errorf("a conversation that broke off gives the error %v, expected an ErrUnavailable", err)
			}
			tools.checkRan(t)
			w.bodies(1)
		})
	}
}

// testLength has the provider end a reply in its last call.
func testLength(t *modelTest) {
	t.bothWays(func(t *modelTest, streamed bool) {
		w := t.open(&WireReply{Text: "One, two", FinishReason: ai.FinishLength})
		if resp := w.answer(t.ask("Count."), streamed); resp.FinishReason != ai.FinishLength {
			t.Errorf("the finish reason is %q, expected %q", resp.FinishReason, ai.FinishLength)
		}

		cut := callReply(lookCall("call_1", "Rome"), payCall("call_2", 12))
		cut.FinishReason = ai.FinishLength
		w = t.open(cut, callReply(lookCall("call_3", "Rome")), doneReply())
		tools := newKitTools(t)
		resp := w.mustRun(tools, &ai.GenerateOptions{Prompt: "Look and pay."}, streamed)
		if resp.Text() != "All done." {
			t.Errorf("the conversation ends with %q", resp.Text())
		}
		tools.checkRan(t, "look Rome")
		sent := w.bodies(3)
		if n := len(sent[1].find("Send it again.")); n != 2 {
			t.Errorf("%d calls are to be sent again, expected 2: %s", n, sent[1].data)
		}
		sent[2].checkAnswers(t, answered{"call_3", "sunny in Rome"})
	})
}

var errEnough = errors.New("the test has seen enough")

// held is a reply that never ends.
func held() *WireReply {
	return &WireReply{Text: "One, two, three, four, five, six.", Piece: 5, Hold: true}
}

func testCancel(t *modelTest) {
	t.bothWays(func(t *modelTest, streamed bool) {
		w := t.open(held())
		ctx, cancel := context.WithCancelCause(t.ctx)
		defer cancel(nil)
		var emit func(*ai.Chunk) error
		if streamed {
			emit = func(*ai.Chunk) error { cancel(errEnough); return nil }
		} else {
			go w.whenAsked(ctx, func() { cancel(errEnough) })
		}
		var err error
		t.soon("Generate, once its context had ended,", func() { _, err = w.model.Generate(ctx, t.ask("Count."), emit) })
		t.checkEnough(err)
		w.idle()
		w.bodies(1)

		w = t.open(held())
		_, err = w.model.Generate(ctx, t.ask("Count."), emit)
		t.checkEnough(err)
		w.bodies(0)
	})
}

// whenAsked runs a function once the provider has a request.
func (w *wire) whenAsked(ctx context.Context, run func()) {
	for len(w.from.Requests()) == 0 {
		select {
		case <-ctx.Done():
			return
		case <-time.After(time.Millisecond):
		}
	}
	run()
}

func (t *modelTest) checkEnough(err error) {
	t.Helper()
	if !errors.Is(err, errEnough) {
		t.Errorf("the error is %v, expected the cause: %v", err, errEnough)
	}
	var failure *ai.ProviderError
	if errors.As(err, &failure) {
		t.Errorf("the caller's own error is one of the provider: %v", err)
	}
}

func testEmitError(t *modelTest) {
	t.heldTwice(func(t *modelTest, w *wire, isLast func(*ai.Chunk) bool) {
		_, err := w.model.Generate(t.ctx, t.ask("Count."), func(c *ai.Chunk) error {
			if isLast(c) {
				return errEnough
			}
			return nil
		})
		t.checkEnough(err)
	})
}

func testBreak(t *modelTest) {
	t.heldTwice(func(t *modelTest, w *wire, isLast func(*ai.Chunk) bool) {
		tools := newKitTools(t)
		for c := range ai.Stream(t.ctx, &tools.Registry, &ai.GenerateOptions{Model: w.model, Prompt: "Count."}) {
			if c == nil || isLast(c) {
				break
			}
		}
		tools.checkRan(t)
	})
}

// heldTwice reads a reply that never ends up to its first piece of text, and one
// up to its first call.
func (t *modelTest) heldTwice(read func(t *modelTest, w *wire, isLast func(*ai.Chunk) bool)) {
	calls := &WireReply{Text: "Let me look.", Calls: []WireCall{lookCall("call_1", "Rome"), lookCall("call_2", "Oslo")}, Hold: true}
	for _, c := range []struct {
		name   string
		reply  *WireReply
		isLast func(*ai.Chunk) bool
	}{
		{"text", held(), func(*ai.Chunk) bool { return true }},
		{"call", calls, func(c *ai.Chunk) bool {
			_, whole := onlyRequest(c.Content)
			return c.Tool != nil || whole
		}},
	} {
		t := t.at("%s", c.name)
		w := t.open(c.reply)
		t.soon("the model, once nobody read on,", func() { read(t, w, c.isLast) })
		w.idle()
		w.bodies(1)
	}
}

// testConcurrent asks one adapter many questions at once.
func testConcurrent(t *modelTest) {
	const n = 8
	var replies []*WireReply
	var want []string
	for i := range n {
		want = append(want, strings.Repeat(fmt.Sprintf("answer %d. ", i), 20))
		replies = append(replies, &WireReply{Text: want[i], Piece: 7})
	}
	w := t.open(replies...)
	got := make([]string, n)
	var all sync.WaitGroup
	for i := range n {
		all.Go(func() {
			resp, err := w.generate(t.ask(fmt.Sprintf("question %d", i)), i%2 == 0)
			if err != nil {
				t.Errorf("Generate failed: %v", err)
				return
			}
			got[i] = resp.Message.Text()
		})
	}
	t.soon("Generate", all.Wait)
	slices.Sort(got)
	if !slices.Equal(got, want) {
		t.Errorf("the replies are %q, expected %q", got, want)
	}
	w.bodies(n)
}
