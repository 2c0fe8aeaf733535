package ai

import (
	"context"
	"encoding/json"
)

// Middleware stands around every tool call of a turn. The registry's comes
// first, then the request's; the first one is outermost. Its functions are
// called from several goroutines at once.
type Middleware struct {
	// Name tells who asked when the middleware interrupts a call. It must be
	// unique in its chain, the same after a deploy, and not "tool" or "journal".
	Name string
	// Rewrite may change the arguments: it returns the new ones, or nil to leave
	// them. All rewrites of a call run before any Wrap; what comes out is
	// validated again and is what an approver is shown. A call that is resumed
	// with its recorded arguments is not rewritten again. Nil means none.
	Rewrite func(ctx context.Context, call *ToolCall) (json.RawMessage, error)
	// Wrap may ask (call.Interrupt), answer or refuse without calling next, or
	// observe. It can't change the arguments. next runs the rest of the chain and
	// the tool; it works once per attempt, more often only where the tool is
	// idempotent by declaration. A panic further in reaches it as an error. Nil
	// means none.
	Wrap func(ctx context.Context, call *ToolCall, next Next) (*ToolResult, error)
}

// Next runs the rest of the chain. Exactly one of the result and the error is
// nil. It fails once the call is over.
type Next func(ctx context.Context) (*ToolResult, error)

// checkMiddleware makes sure that answers find the one who asked.
func checkMiddleware(chain []*Middleware) error {
	if len(chain) == 0 {
		return nil
	}
	seen := make(map[string]bool, len(chain))
	for i, m := range chain {
		switch {
		case m == nil:
			return invalidf("ai: middleware %d is nil", i)
		case m.Name == "" || m.Name == toolAsker || m.Name == journalAsker:
			return invalidf("ai: middleware %d needs a name other than %q", i, m.Name)
		case seen[m.Name]:
			return invalidf("ai: two middlewares are named %q", m.Name)
		}
		seen[m.Name] = true
	}
	return nil
}
