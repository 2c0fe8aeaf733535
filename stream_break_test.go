package ai_test

import (
	"context"
	"errors"
	"runtime"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/holdpoint/ai"
	"github.com/holdpoint/ai/aitest"
)

// slowTools have a tool that reports progress for three seconds, unless its
// context ends, and counts what it started and ended.
type slowTools struct {
	ai.Registry
	started, ended atomic.Int64
}

func newSlowTools() *slowTools {
	s := &slowTools{}
	ai.DefineTool(&s.Registry, "dig", "Dig.", func(ctx context.Context, call *ai.ToolCall, _ struct{}) (string, error) {
		s.started.Add(1)
		defer s.ended.Add(1)
		for range 3 {
			select {
			case <-time.After(time.Second):
			case <-ctx.Done():
				return "", ctx.Err()
			}
			if err := call.Emit(&ai.TextPart{Text: "1 m"}); err != nil {
				return "", err
			}
		}
		return "dug", nil
	})
	return s
}

// digTwice is a conversation with two turns of two calls each. asked counts the
// requests that reach the model.
func digTwice(asked *atomic.Int64) ai.Model {
	dig := func(refs ...string) ai.Parts {
		parts := ai.Parts{&ai.TextPart{Text: "I dig."}}
		for _, ref := range refs {
			parts = append(parts, aitest.Request("dig", ref, nil))
		}
		return parts
	}
	return ai.ModelFunc(func(ctx context.Context, req *ai.ModelRequest, emit func(*ai.Chunk) error) (*ai.ModelResponse, error) {
		asked.Add(1)
		said := ai.Parts{&ai.TextPart{Text: "Done."}}
		if n := len(req.Messages); n < 5 {
			said = dig([]string{"1", "3"}[n/3], []string{"2", "4"}[n/3])
		}
		for _, p := range said {
			if err := emit(&ai.Chunk{Content: ai.Parts{p}}); err != nil {
				return nil, err
			}
			time.Sleep(time.Second)
		}
		return &ai.ModelResponse{Message: modelSays(said...), FinishReason: ai.FinishStop}, nil
	})
}

// A reader may go at any point. When the loop is left, everything has stopped:
// the bubble would not end with a goroutine left in it, and nothing starts later.
func TestStreamBreakAtEveryPoint(t *testing.T) {
	t.Parallel()
	whole := 0
	synctest.Test(t, func(t *testing.T) {
		var asked atomic.Int64
		chunks, resp, err := collect(t, ai.Stream(t.Context(), &newSlowTools().Registry, &ai.GenerateOptions{Model: digTwice(&asked), Prompt: "dig"}))
		require.NoError(t, err)
		require.Equal(t, "Done.", resp.Text())
		whole = len(chunks)
	})
	require.Equal(t, 5+6+1+5+6+1+1, whole)
	for point := range whole {
		synctest.Test(t, func(t *testing.T) { breakAt(t, point) })
	}
}

func breakAt(t *testing.T, point int) {
	tools := newSlowTools()
	var asked atomic.Int64
	n := 0
	for _, err := range ai.Stream(t.Context(), &tools.Registry, &ai.GenerateOptions{Model: digTwice(&asked), Prompt: "dig"}) {
		require.NoError(t, err)
		if n == point {
			break
		}
		n++
	}
	require.Equal(t, tools.started.Load(), tools.ended.Load(), "what was running has ended, point %d", point)
	started, requests := tools.started.Load(), asked.Load()
	time.Sleep(time.Minute)
	require.Equal(t, started, tools.started.Load(), "nothing starts later, point %d", point)
	require.Equal(t, requests, asked.Load(), "point %d", point)
}

func TestStreamBreakWaitsForAToolThatIgnoresItsContext(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var r ai.Registry
		var done, late atomic.Bool
		ai.DefineTool(&r, "dig", "Dig.", func(_ context.Context, call *ai.ToolCall, _ struct{}) (string, error) {
			if err := call.Emit(&ai.TextPart{Text: "1 m"}); err != nil {
				return "", err
			}
			time.Sleep(time.Hour)
			late.Store(call.Emit(&ai.TextPart{Text: "100 m"}) != nil)
			done.Store(true)
			return "dug", nil
		})
		m := aitest.NewModel(t, aitest.ToolRequests(aitest.Request("dig", "1", nil)))
		start := time.Now()
		for c, err := range ai.Stream(t.Context(), &r, &ai.GenerateOptions{Model: m, Prompt: "dig"}) {
			require.NoError(t, err)
			if c.Role == ai.RoleTool {
				break
			}
		}
		require.Equal(t, time.Second, time.Since(start), "the grace period")
		require.False(t, done.Load())
		time.Sleep(2 * time.Hour)
		require.True(t, done.Load())
		require.True(t, late.Load(), "nobody is there for what it emits")
	})
}

// The rules say that an error of emit ends the call. A model that goes on does
// no harm: nothing that it asks for is run.
func TestStreamBreakWithAModelThatIgnoresIt(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		tools := newSlowTools()
		asked, refused := 0, 0
		m := ai.ModelFunc(func(_ context.Context, _ *ai.ModelRequest, emit func(*ai.Chunk) error) (*ai.ModelResponse, error) {
			asked++
			for range 5 {
				if emit(&ai.Chunk{Content: ai.Parts{&ai.TextPart{Text: "a"}}}) != nil {
					refused++
				}
			}
			return &ai.ModelResponse{Message: modelSays(aitest.Request("dig", "1", nil))}, nil
		})
		for range ai.Stream(t.Context(), &tools.Registry, &ai.GenerateOptions{Model: m, Prompt: "dig"}) {
			break
		}
		require.Equal(t, 4, refused)
		require.Equal(t, 1, asked)
		require.Zero(t, tools.started.Load())
	})
}

func TestStreamReaderPanics(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		tools := newSlowTools()
		var asked atomic.Int64
		require.PanicsWithValue(t, "reader", func() {
			for c := range ai.Stream(t.Context(), &tools.Registry, &ai.GenerateOptions{Model: digTwice(&asked), Prompt: "dig"}) {
				if c.Role == ai.RoleTool {
					panic("reader")
				}
			}
		})
		require.EqualValues(t, 2, tools.started.Load())
		require.EqualValues(t, 2, tools.ended.Load(), "it is waited for")
	})
}

func TestStreamCallersContextEnds(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		tools := newSlowTools()
		var asked atomic.Int64
		ctx, cancel := context.WithTimeout(t.Context(), 2500*time.Millisecond)
		defer cancel()
		_, resp, err := collect(t, ai.Stream(ctx, &tools.Registry, &ai.GenerateOptions{Model: digTwice(&asked), Prompt: "dig"}))
		require.Nil(t, resp)
		require.ErrorIs(t, err, context.DeadlineExceeded)
		require.Zero(t, tools.started.Load())

		ctx, cancel = context.WithTimeout(t.Context(), 4500*time.Millisecond)
		defer cancel()
		_, _, err = collect(t, ai.Stream(ctx, &tools.Registry, &ai.GenerateOptions{Model: digTwice(&asked), Prompt: "dig"}))
		require.ErrorIs(t, err, context.DeadlineExceeded)
		var turn *ai.TurnError
		require.ErrorAs(t, err, &turn)
		require.Len(t, turn.Open(), 2)
		require.Len(t, requireHistory(t, err), 2)
		require.EqualValues(t, 2, tools.ended.Load())
	})
}

func TestStreamErrorEndsTheStream(t *testing.T) {
	t.Parallel()
	_, _, err := collect(t, ai.Stream(t.Context(), nil, nil))
	require.ErrorIs(t, err, ai.ErrInvalidArgument)
	require.EqualError(t, err, "ai: generate: no options")

	tools := newLoopTools()
	m := aitest.NewModel(t, aitest.ToolRequests(look("1", "Rome")), aitest.Fail(errTooMany))
	chunks, _, err := collect(t, ai.Stream(t.Context(), &tools.Registry, &ai.GenerateOptions{Model: m, Prompt: "go"}))
	require.ErrorIs(t, err, errTooMany)
	require.Equal(t, []string{"0 model look#1?", `1 tool look#1="sunny in Rome"`}, chunkLines(chunks))
	require.Len(t, requireHistory(t, err), 3)

	m = aitest.NewModel(t, aitest.ToolRequests(aitest.Request("print", "1", nil)))
	_, _, err = collect(t, ai.Stream(t.Context(), &tools.Registry, &ai.GenerateOptions{Model: m, Prompt: "go"}))
	require.ErrorIs(t, err, errBroken)
	require.Len(t, requireHistory(t, err), 2)
}

// Nothing of a reply that broke off is run, and nothing of it is kept.
func TestStreamThatBreaksOff(t *testing.T) {
	t.Parallel()
	tools, reset := newLoopTools(), errors.New("connection reset")
	m := aitest.NewModel(t, &aitest.Reply{Content: ai.Parts{&ai.TextPart{Text: "Let me see."}, look("1", "Rome")}, Err: reset})
	chunks, _, err := collect(t, ai.Stream(t.Context(), &tools.Registry, &ai.GenerateOptions{Model: m, Prompt: "go"}))
	require.ErrorIs(t, err, reset)
	requirePlain(t, err)
	require.Equal(t, []string{"0 model Let ", "0 model me ", "0 model see.", "0 model look#1?"}, chunkLines(chunks))
	require.Zero(t, tools.looked.Load())
}

func TestStreamEachIterationRunsAnew(t *testing.T) {
	t.Parallel()
	tools := newLoopTools()
	m := aitest.NewModelFunc(t, func(_ context.Context, req *ai.ModelRequest) *aitest.Reply {
		if len(req.Messages) == 1 {
			return aitest.ToolRequests(look("1", "Rome"))
		}
		return aitest.Text("done")
	})
	stream := ai.Stream(t.Context(), &tools.Registry, &ai.GenerateOptions{Model: m, Prompt: "go"})
	require.Empty(t, m.Requests(), "nothing happens before somebody reads")
	first, firstResp, err := collect(t, stream)
	require.NoError(t, err)
	second, secondResp, err := collect(t, stream)
	require.NoError(t, err)
	require.Equal(t, first, second)
	require.Equal(t, firstResp, secondResp)
	require.Len(t, m.Requests(), 4)
	require.EqualValues(t, 2, tools.looked.Load())
}

// panickyProvider breaks on a goroutine that is not the caller's.
type panickyProvider struct{ fickleProvider }

func (panickyProvider) Tools(context.Context) ([]ai.Tool, error) { panic("provider") }

// The goroutine is ours, so that nobody else could catch what happens on it.
func TestStreamPanics(t *testing.T) {
	t.Parallel()
	var r ai.Registry
	require.NoError(t, r.AddProvider(&panickyProvider{}))
	var panicked *ai.PanicError
	_, _, err := collect(t, ai.Stream(t.Context(), &r, &ai.GenerateOptions{Model: aitest.NewModel(t), Prompt: "go"}))
	require.ErrorAs(t, err, &panicked)
	require.Equal(t, "provider", panicked.Value)

	m := ai.ModelFunc(func(context.Context, *ai.ModelRequest, func(*ai.Chunk) error) (*ai.ModelResponse, error) {
		panic("model")
	})
	_, _, err = collect(t, ai.Stream(t.Context(), nil, &ai.GenerateOptions{Model: m, Prompt: "go"}))
	require.ErrorAs(t, err, &panicked)
	require.Equal(t, "model", panicked.Value)

	m = func(context.Context, *ai.ModelRequest, func(*ai.Chunk) error) (*ai.ModelResponse, error) {
		runtime.Goexit()
		return nil, nil
	}
	_, _, err = collect(t, ai.Stream(t.Context(), nil, &ai.GenerateOptions{Model: m, Prompt: "go"}))
	require.EqualError(t, err, "ai: the model ended its goroutine")
}
