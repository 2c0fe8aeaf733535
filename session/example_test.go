package session_test

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/holdpoint/ai"
	"github.com/holdpoint/ai/session"
)

// A payment waits in a folder until somebody decides, and runs once.
func Example() {
	ctx := context.Background()
	dir, err := os.MkdirTemp("", "sessions")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	store, err := session.OpenDir(dir)
	if err != nil {
		panic(err)
	}

	var tools ai.Registry
	ai.DefineTool(&tools, "pay", "Pays somebody.", func(_ context.Context, _ *ai.ToolCall, in payment) (string, error) {
		fmt.Println("paying", in.To, in.Amount)
		return "paid", nil
	})
	approval := &ai.Approval{} // asks about every call
	sessions := &session.Manager{Store: store, Registry: &tools, Options: ai.GenerateOptions{
		Model: asks("bob"), // in real life the model of a provider
		Turn:  ai.ResolveOptions{Middleware: []*ai.Middleware{approval.Middleware()}},
	}}

	// The process that talks to the user.
	if _, err := sessions.Generate(ctx, "ann/1", &session.Input{Prompt: "Pay bob."}); err != nil {
		panic(err)
	}

	// The process of whoever decides, a week later.
	page, err := sessions.List(ctx, nil)
	if err != nil {
		panic(err)
	}
	p := page.Pending[0]
	fmt.Println(p.Session, "asks:", p.Tool, string(p.Effective))
	yes := &session.Decision{ID: "click 1", Pending: p.ID, Verdict: session.Approve, By: "carol", Digest: p.Digest}
	if err := sessions.Decide(ctx, p.Session, yes); err != nil {
		panic(err)
	}

	// Any process that carries out what was decided.
	result, err := sessions.Run(ctx, p.Session)
	if err != nil {
		panic(err)
	}
	fmt.Println(result.Response.Text())

	err = sessions.Decide(ctx, p.Session, &session.Decision{Pending: p.ID, Verdict: session.Deny, By: "dave"})
	var late *session.ConflictError
	if errors.As(err, &late) {
		fmt.Println("too late:", late.Won.Verdict, "by", late.Won.By)
	}
	// Output:
	// ann/1 asks: pay {"to":"bob","amount":1}
	// paying bob 1
	// done
	// too late: approve by carol
}

// The audit is the log: who decided what, and what came of it.
func ExampleManager_Audit() {
	ctx := context.Background()
	var tools ai.Registry
	ai.DefineTool(&tools, "pay", "Pays somebody.", func(context.Context, *ai.ToolCall, payment) (string, error) { return "paid", nil })
	approval := &ai.Approval{}
	sessions := &session.Manager{Store: &session.MemoryStore{}, Registry: &tools, Options: ai.GenerateOptions{
		Model: asks("bob"), Turn: ai.ResolveOptions{Middleware: []*ai.Middleware{approval.Middleware()}},
	}}
	result, err := sessions.Generate(ctx, "s", &session.Input{Prompt: "Pay bob."})
	if err != nil {
		panic(err)
	}
	no := &session.Decision{Pending: result.Pending[0].ID, Verdict: session.Deny, By: "carol", Reason: "not today"}
	if err := sessions.Decide(ctx, "s", no); err != nil {
		panic(err)
	}
	if _, err := sessions.Run(ctx, "s"); err != nil {
		panic(err)
	}
	for r, err := range sessions.Audit(ctx, "s") {
		if err != nil {
			panic(err)
		}
		switch r.Event {
		case session.EventProposed, session.EventOffered:
			fmt.Println(r.Event, r.Tool, string(r.Input))
		case session.EventDecided:
			fmt.Println(r.Event, r.Decision.Verdict, "by", r.Decision.By)
		case session.EventOutcome:
			fmt.Println(r.Event, r.Outcome)
		}
	}
	// Output:
	// proposed pay {"to":"bob","amount":1}
	// outcome asked
	// offered pay {"to":"bob","amount":1}
	// decided deny by carol
	// outcome denied
}
