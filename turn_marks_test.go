package ai_test

import (
	"context"
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/holdpoint/ai"
)

// keysOf are the metadata keys of the request with the ref, sorted.
func keysOf(t *testing.T, m *ai.Message, ref string) string {
	t.Helper()
	return strings.Join(slices.Sorted(maps.Keys(requestOf(t, m, ref).Metadata)), " ")
}

// marksSet is tools that end in all the ways that leave a mark.
func marksSet(t *testing.T) *ai.ToolSet {
	t.Helper()
	return newSet(t, gives(t, "give", "1"), asks(t, "ask", "sure?", "1"), fails(t, "fail", errBroken), gives(t, "shop/buy", "1"),
		raw(t, "state", func(_ context.Context, call *ai.ToolCall) (*ai.ToolResult, error) {
			return nil, call.InterruptWithState("sure?", 5)
		}),
		raw(t, "rich", func(context.Context, *ai.ToolCall) (*ai.ToolResult, error) {
			return &ai.ToolResult{Content: ai.Parts{&ai.TextPart{Text: "x"}}, Metadata: ai.Metadata{"cost": json.RawMessage("1")}}, nil
		}))
}

// Which keys a request of an unfinished turn has, and which a finished turn
// leaves behind: no others are ever written.
func TestMetadataKeysOfRequests(t *testing.T) {
	t.Parallel()
	hook := &ai.Middleware{Name: "hook", Rewrite: func(_ context.Context, call *ai.ToolCall) (json.RawMessage, error) {
		if strings.Contains(string(call.Input), "rewrite") {
			return json.RawMessage(`{"n":2}`), nil
		}
		return nil, nil
	}}
	for _, test := range []struct {
		name, input      string
		gated            bool
		paused, finished string
	}{
		{"give", `{}`, false, "pendingOutput", ""},
		{"give", `{"rewrite":1}`, false, "effectiveInput pendingOutput", "effectiveInput"},
		{"give", `[]`, false, "argumentsError pendingMetadata pendingOutput", "argumentsError"},
		{"buy", `{}`, false, "originalName pendingOutput", "originalName"},
		{"rich", `{}`, false, "pendingContent pendingMetadata pendingOutput", ""},
		{"ask", `{}`, false, "callKey interrupt", "resolvedInterrupt"},
		{"ask", `{"rewrite":1}`, false, "callKey effectiveInput interrupt", "effectiveInput resolvedInterrupt"},
		{"state", `{}`, false, "callKey interrupt interruptState", "resolvedInterrupt"},
		{"give", `{}`, true, "callKey interrupt interruptState interruptedBy", "interruptedBy resolvedInterrupt"},
		{"fail", `{}`, false, "callKey failure", ""},
		{"nobody", `{}`, false, "callKey failure", ""},
	} {
		t.Run(test.name+" "+test.paused, func(t *testing.T) {
			t.Parallel()
			set := marksSet(t)
			opts := &ai.ResolveOptions{Middleware: []*ai.Middleware{hook}}
			if test.gated {
				opts.Middleware = append(opts.Middleware, gate("gate", &diary{}, nil))
			}
			// The second call keeps the turn unfinished.
			res, err := resolve(t, set, opts, wish(test.name, "a", test.input), wish("ask", "b", ""))
			var m *ai.Message
			if strings.Contains(test.paused, "failure") {
				_, m = failed(t, err)
			} else {
				require.NoError(t, err)
				m = res.Model
			}
			require.Equal(t, test.paused, keysOf(t, m, "a"))

			answers := responds(no(t, requestOf(t, m, "b"), ""))
			if !strings.Contains(test.paused, "pendingOutput") {
				answers.Respond = append(answers.Respond, no(t, requestOf(t, m, "a"), ""))
			}
			res, err = resume(t, set, m, answers, opts)
			finished(t, res, err)
			require.Equal(t, test.finished, keysOf(t, res.Model, "a"))
		})
	}
}

// What a call that was not started has: its mark, and what finds its tool again.
func TestMetadataKeysOfCallsNotStarted(t *testing.T) {
	t.Parallel()
	set := marksSet(t)
	res, err := resolve(t, set, &ai.ResolveOptions{Sequential: true}, wish("ask", "a", ""), wish("give", "b", ""), wish("buy", "c", ""))
	require.NoError(t, err)
	require.Equal(t, "notStarted", keysOf(t, res.Model, "b"))
	require.Equal(t, "notStarted originalName", keysOf(t, res.Model, "c"))
}

// A call that settles after a question says so while others stay open.
func TestResolvedInterruptWhileOthersStayOpen(t *testing.T) {
	t.Parallel()
	set := marksSet(t)
	m := pause(t, set, nil, wish("ask", "a", ""), wish("ask", "b", ""))
	res, err := resume(t, set, m, restarts(yes(t, requestOf(t, m, "a"))), &ai.ResolveOptions{Partial: true})
	require.NoError(t, err)
	require.JSONEq(t, `{"resolvedInterrupt":"sure?","pendingOutput":1}`, jsonOf(t, requestOf(t, res.Model, "a").Metadata))
	require.Equal(t, "callKey interrupt", keysOf(t, res.Model, "b"))
}

// Answers of askers that were answered are kept while the call asks elsewhere,
// and go with the call's end.
func TestAnsweredIsKeptUntilTheCallSettles(t *testing.T) {
	t.Parallel()
	set := marksSet(t)
	var d diary
	opts := &ai.ResolveOptions{Middleware: []*ai.Middleware{gate("gate", &d, nil)}}
	m := pause(t, set, opts, wish("ask", "a", ""))
	res, err := resume(t, set, m, as(t, "amy", requestOf(t, m, "a")), opts)
	require.NoError(t, err)
	require.Equal(t, "answered callKey interrupt", keysOf(t, res.Model, "a"))
	require.JSONEq(t, `{"gate":{"resumed":{"by":"amy"},"state":"state of gate"}}`, string(requestOf(t, res.Model, "a").Metadata["answered"]))
	res, err = resume(t, set, res.Model, restarts(yes(t, requestOf(t, res.Model, "a"))), opts)
	finished(t, res, err)
	require.Equal(t, "resolvedInterrupt", keysOf(t, res.Model, "a"))
}
