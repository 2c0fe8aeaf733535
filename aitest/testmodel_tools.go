package aitest

import (
	"context"
	"fmt"
	"slices"
	"sync"

	"github.com/holdpoint/ai"
)

// kitTools are the tools of TestModel. They keep a record of what ran.
type kitTools struct {
	ai.Registry

	mu  sync.Mutex
	ran []string
}

type (
	cityInput struct {
		City string `json:"city"`
	}
	amountInput struct {
		Amount int64 `json:"amount"`
	}
	partInput struct {
		Part string `json:"part"`
	}
)

// dotPNG is an image, in base64.
const dotPNG = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAAAAAA6fptVAAAACklEQVR42mNgAAAAAgAB5Sfe/AAAAABJRU5ErkJggg=="

func dotPart() *ai.MediaPart {
	return &ai.MediaPart{Media: ai.Media{ContentType: "image/png", URL: "data:image/png;base64," + dotPNG}}
}

func newKitTools(t *modelTest) *kitTools {
	t.Helper()
	k := &kitTools{}
	ai.DefineTool(&k.Registry, "look", "Look at the weather of a city.",
		func(_ context.Context, _ *ai.ToolCall, in cityInput) (string, error) {
			return "sunny in " + in.City, k.did("look " + in.City)
		})
	ai.DefineTool(&k.Registry, "pay", "Pay an amount, once somebody has agreed.",
		func(_ context.Context, call *ai.ToolCall, in amountInput) (string, error) {
			if !call.Resumed() {
				return "", call.Interrupt("Pay?")
			}
			return fmt.Sprintf("receipt over %d", in.Amount), k.did(fmt.Sprint("pay ", in.Amount))
		})
	ai.DefineTool(&k.Registry, "double", "Double an amount.",
		func(_ context.Context, _ *ai.ToolCall, in amountInput) (int64, error) {
			return 2 * in.Amount, k.did(fmt.Sprint("double ", in.Amount))
		})
	ai.DefineTool(&k.Registry, "ping", "Ask whether anybody is there.",
		func(context.Context, *ai.ToolCall, struct{}) (string, error) {
			return "somebody is there", k.did("ping")
		})
	ai.DefineTool(&k.Registry, "print", "Print a page.",
		func(context.Context, *ai.ToolCall, struct{}) (string, error) {
			return "", &ai.ModelError{Text: "the printer is on fire"}
		})
	ai.DefineMultipartTool(&k.Registry, "draw", "Draw a dot.",
		func(context.Context, *ai.ToolCall, struct{}) (*ai.MultipartResult[string], error) {
			return &ai.MultipartResult[string]{Output: "here is a dot", Content: ai.Parts{dotPart()}}, k.did("draw")
		})
	ai.DefineTool(&k.Registry, "work-orders/order_part", "Order a part, once somebody has agreed.",
		func(_ context.Context, call *ai.ToolCall, in partInput) (string, error) {
			if !call.Resumed() {
				return "", call.Interrupt("Order?")
			}
			return "delivery note for a " + in.Part, k.did("order " + in.Part)
		})
	return k
}

// did records that a tool ran.
func (k *kitTools) did(what string) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.ran = append(k.ran, what)
	return nil
}

// checkRan fails the test unless exactly these calls ran, in any order.
func (k *kitTools) checkRan(t *modelTest, want ...string) {
	t.Helper()
	k.mu.Lock()
	defer k.mu.Unlock()
	got := slices.Sorted(slices.Values(k.ran))
	if slices.Sort(want); !slices.Equal(got, want) {
		t.Errorf("these calls ran: %q, expected %q", got, want)
	}
}

func (k *kitTools) definitions(t *modelTest) []*ai.ToolDefinition {
	t.Helper()
	set, err := k.AllTools(t.ctx)
	if err != nil {
		t.Fatalf("the tools: %v", err)
	}
	return set.Definitions()
}

// Replies that several cases give.

func callReply(calls ...WireCall) *WireReply { return &WireReply{Calls: calls} }

func lookCall(ref, city string) WireCall {
	return WireCall{Ref: ref, Name: "look", Arguments: fmt.Sprintf(`{"city":%q}`, city)}
}

func payCall(ref string, amount int) WireCall {
	return WireCall{Ref: ref, Name: "pay", Arguments: fmt.Sprintf(`{"amount":%d}`, amount)}
}

func doneReply() *WireReply { return &WireReply{Text: "All done."} }
