package ai_test

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/holdpoint/ai"
)

// chunkList takes what calls emit.
type chunkList struct {
	mu   sync.Mutex
	list []*ai.Chunk
}

func (l *chunkList) emit(c *ai.Chunk) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.list = append(l.list, c)
	return nil
}

// What a call emits is a tool response under the name and ref of its request,
// marked partial, and in order.
func TestEmit(t *testing.T) {
	t.Parallel()
	set := newSet(t, raw(t, "work-orders/order", func(_ context.Context, call *ai.ToolCall) (*ai.ToolResult, error) {
		require.NoError(t, call.Emit(&ai.TextPart{Text: "looking"}))
		require.NoError(t, call.Emit(&ai.TextPart{Text: "found"}, &ai.DataPart{Data: []byte(`{"n":1}`)}))
		return &ai.ToolResult{Output: []byte(`"done"`)}, nil
	}))
	var chunks chunkList
	res, err := resolve(t, set, &ai.ResolveOptions{Emit: chunks.emit}, wish("order", "a", ""))
	finished(t, res, err)
	require.Len(t, chunks.list, 2)
	require.JSONEq(t, `{"role":"tool","index":0,"content":[{"toolResponse":{"name":"order","ref":"a","content":[{"text":"looking"}]},
		"metadata":{"partial":true}}],"tool":{"kind":"progress","index":0,"ref":"a","name":"order"}}`, jsonOf(t, chunks.list[0]))
	require.JSONEq(t, `{"role":"tool","index":0,"content":[{"toolResponse":{"name":"order","ref":"a","content":[{"text":"found"},{"data":{"n":1}}]},
		"metadata":{"partial":true}}],"tool":{"kind":"progress","index":0,"ref":"a","name":"order"}}`, jsonOf(t, chunks.list[1]))
	require.Equal(t, []string{`"done"`}, outputsOf(t, res.Tool), "progress is no result")
	require.Nil(t, res.Tool.Content[0].(*ai.ToolResponsePart).ToolResponse.Content)
}

// Middleware emits for the call it stands around, and a minted ref is the one
// that the response will have.
func TestEmitOfMiddleware(t *testing.T) {
	t.Parallel()
	m := &ai.Middleware{Name: "m", Wrap: func(ctx context.Context, call *ai.ToolCall, next ai.Next) (*ai.ToolResult, error) {
		require.NoError(t, call.Emit(&ai.TextPart{Text: "waiting"}))
		return next(ctx)
	}}
	var chunks chunkList
	res, err := resolve(t, newSet(t, gives(t, "look", "1")), &ai.ResolveOptions{Emit: chunks.emit, Middleware: []*ai.Middleware{m}}, wish("look", "", ""))
	finished(t, res, err)
	progress := chunks.list[0].Content[0].(*ai.ToolResponsePart).ToolResponse
	require.NotEmpty(t, progress.Ref)
	require.Equal(t, refsOf(res.Tool), []string{progress.Ref})
}

// Calls that run side by side emit side by side.
func TestEmitFromSeveralCalls(t *testing.T) {
	t.Parallel()
	set := newSet(t, raw(t, "look", func(_ context.Context, call *ai.ToolCall) (*ai.ToolResult, error) {
		var wg sync.WaitGroup
		for range 10 {
			wg.Go(func() { _ = call.Emit(&ai.TextPart{Text: call.Ref}) })
		}
		wg.Wait()
		return &ai.ToolResult{}, nil
	}))
	var parts []ai.Part
	for i := range 10 {
		parts = append(parts, wish("look", fmt.Sprint(i), ""))
	}
	var chunks chunkList
	res, err := resolve(t, set, &ai.ResolveOptions{Emit: chunks.emit}, parts...)
	finished(t, res, err)
	require.Len(t, chunks.list, 100)
	for _, c := range chunks.list {
		response := c.Content[0].(*ai.ToolResponsePart).ToolResponse
		require.Equal(t, response.Ref, response.Content[0].(*ai.TextPart).Text)
		require.Equal(t, response.Ref, fmt.Sprint(c.Tool.Index), "the event is that of the request")
	}
}

// Where nobody streams, Emit does nothing, during the call and after it.
func TestEmitToNobody(t *testing.T) {
	t.Parallel()
	var kept *ai.ToolCall
	set := newSet(t, raw(t, "look", func(_ context.Context, call *ai.ToolCall) (*ai.ToolResult, error) {
		kept = call
		return &ai.ToolResult{}, call.Emit(&ai.TextPart{Text: "hello"})
	}))
	res, err := resolve(t, set, nil, wish("look", "a", ""))
	finished(t, res, err)
	require.NoError(t, kept.Emit(&ai.TextPart{Text: "late"}))
	require.NoError(t, (&ai.ToolCall{}).Emit(&ai.TextPart{Text: "by hand"}))
}

// Once the call is over, however it ended, nothing of it reaches the stream.
func TestEmitAfterTheCall(t *testing.T) {
	t.Parallel()
	for name, end := range map[string]func(call *ai.ToolCall) (*ai.ToolResult, error){
		"result": func(*ai.ToolCall) (*ai.ToolResult, error) { return &ai.ToolResult{}, nil },
		"error":  func(*ai.ToolCall) (*ai.ToolResult, error) { return nil, errBroken },
		"asks":   func(call *ai.ToolCall) (*ai.ToolResult, error) { return nil, call.Interrupt(nil) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var kept *ai.ToolCall
			var chunks chunkList
			set := newSet(t, raw(t, "look", func(_ context.Context, call *ai.ToolCall) (*ai.ToolResult, error) {
				kept = call
				return end(call)
			}))
			_, _ = resolve(t, set, &ai.ResolveOptions{Emit: chunks.emit}, wish("look", "a", ""))
			err := kept.Emit(&ai.TextPart{Text: "late"})
			require.ErrorIs(t, err, ai.ErrAborted)
			require.ErrorContains(t, err, "look#a is over")
			require.Empty(t, chunks.list)
		})
	}
}

// The same for a call that was given up: the error tells it to stop.
func TestEmitOfACallGivenUp(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var late error
		var chunks chunkList
		set := newSet(t, raw(t, "look", func(_ context.Context, call *ai.ToolCall) (*ai.ToolResult, error) {
			require.NoError(t, call.Emit(&ai.TextPart{Text: "in time"}))
			time.Sleep(time.Hour)
			late = call.Emit(&ai.TextPart{Text: "late"})
			return nil, late
		}))
		_, err := resolve(t, set, &ai.ResolveOptions{Emit: chunks.emit, Timeout: time.Second}, wish("look", "a", ""))
		require.Equal(t, ai.FailedTimeout, onlyCall(t, err).Kind)
		time.Sleep(time.Hour)
		synctest.Wait()
		require.ErrorIs(t, late, ai.ErrAborted)
		require.Len(t, chunks.list, 1)
	})
}

// The reader's error is the tool's to act on.
func TestEmitToAReaderThatHasGone(t *testing.T) {
	t.Parallel()
	set := newSet(t, raw(t, "look", func(_ context.Context, call *ai.ToolCall) (*ai.ToolResult, error) {
		return nil, call.Emit(&ai.TextPart{Text: "anybody?"})
	}))
	_, err := resolve(t, set, &ai.ResolveOptions{Emit: func(*ai.Chunk) error { return errBroken }}, wish("look", "a", ""))
	require.ErrorIs(t, err, errBroken)
	require.Equal(t, ai.FailedTool, onlyCall(t, err).Kind)
}
