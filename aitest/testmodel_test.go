package aitest_test

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/holdpoint/ai"
	"github.com/holdpoint/ai/aitest"
)

func TestTestModelPassesAGoodAdapter(t *testing.T) {
	t.Parallel()
	aitest.TestModel(t, &aitest.ModelKit{Open: openMemory})
}

func TestTestModelChecksTheKit(t *testing.T) {
	t.Parallel()
	for want, kit := range map[string]*aitest.ModelKit{
		"no Open":                       {},
		`skips "txet": that is no case`: {Open: openMemory, Skip: map[string]string{"txet": "a reason"}},
		`or the reason is missing`:      {Open: openMemory, Skip: map[string]string{"text": ""}},
	} {
		failures := runFake(t, func(tb *fakeTB) { kit.Check(tb) })
		require.Len(t, failures, 1)
		require.Contains(t, failures[0], want)
	}
}

// An adapter that breaks one rule fails the case about it, at once by the
// clock of its bubble, and passes without the fault.
func TestTestModelCatchesBrokenAdapters(t *testing.T) {
	t.Parallel()
	for _, b := range brokenAdapters() {
		t.Run(b.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				require.Contains(t, aitest.ModelCases(), b.fails)
				failures := runFake(t, func(tb *fakeTB) {
					aitest.RunModelCase(tb, b.fails, &aitest.ModelKit{Open: b.open})
				})
				time.Sleep(2 * time.Hour) // for what a broken adapter leaves running
				require.NotEmpty(t, failures)
				require.Contains(t, strings.Join(failures, "\n"), b.want)
			})
		})
	}
}

// Every case is there because an adapter can fail it.
func TestTestModelCasesAreAllCovered(t *testing.T) {
	t.Parallel()
	var covered []string
	for _, b := range brokenAdapters() {
		covered = append(covered, b.fails)
	}
	for _, name := range aitest.ModelCases() {
		if name == "break" {
			continue // Stream itself does this; what an adapter can break of it, cancel finds
		}
		require.Contains(t, covered, name)
	}
}

// brokenAdapter is a good adapter with one fault around it.
type brokenAdapter struct {
	name  string
	fails string // the case that finds it
	want  string // is in the failures
	fault func(good ai.Model) ai.ModelFunc
}

func (b *brokenAdapter) open(t testing.TB, replies ...*aitest.WireReply) *aitest.WireModel {
	w := openMemory(t, replies...)
	w.Model = b.fault(w.Model)
	return w
}

func brokenAdapters() []brokenAdapter {
	return slices.Concat(brokenRequests(), brokenReplies(), brokenStreams(), brokenFailures())
}

// onRequest changes a copy of the request.
func onRequest(change func(req *ai.ModelRequest)) func(ai.Model) ai.ModelFunc {
	return func(good ai.Model) ai.ModelFunc {
		return func(ctx context.Context, req *ai.ModelRequest, emit func(*ai.Chunk) error) (*ai.ModelResponse, error) {
			c := copyOf(req)
			change(c)
			return good.Generate(ctx, c, emit)
		}
	}
}

// copyOf copies a request as deep as JSON goes.
func copyOf(req *ai.ModelRequest) *ai.ModelRequest {
	c := *req
	data, err := json.Marshal(req.Messages)
	if err == nil {
		c.Messages = nil
		err = json.Unmarshal(data, &c.Messages)
	}
	if err != nil {
		panic(err)
	}
	return &c
}

// onParts changes the parts of the request, of those that are a P.
func onParts[P ai.Part](change func(P) ai.Part) func(ai.Model) ai.ModelFunc {
	return onRequest(func(req *ai.ModelRequest) {
		for _, m := range req.Messages {
			for i, p := range m.Content {
				if p, ok := p.(P); ok {
					m.Content[i] = change(p)
				}
			}
		}
	})
}

// onReply changes the response, whether it was streamed or not.
func onReply(change func(resp *ai.ModelResponse, streamed bool)) func(ai.Model) ai.ModelFunc {
	return func(good ai.Model) ai.ModelFunc {
		return func(ctx context.Context, req *ai.ModelRequest, emit func(*ai.Chunk) error) (*ai.ModelResponse, error) {
			resp, err := good.Generate(ctx, req, emit)
			if err == nil {
				change(resp, emit != nil)
			}
			return resp, err
		}
	}
}

// onChunk changes what is emitted, chunk by chunk: to any number of them.
func onChunk(change func(c *ai.Chunk) []*ai.Chunk) func(ai.Model) ai.ModelFunc {
	return func(good ai.Model) ai.ModelFunc {
		return func(ctx context.Context, req *ai.ModelRequest, emit func(*ai.Chunk) error) (*ai.ModelResponse, error) {
			if emit == nil {
				return good.Generate(ctx, req, nil)
			}
			return good.Generate(ctx, req, func(c *ai.Chunk) error {
				for _, c := range change(c) {
					if err := emit(c); err != nil {
						return err
					}
				}
				return nil
			})
		}
	}
}

// onError changes the error.
func onError(change func(err error) error) func(ai.Model) ai.ModelFunc {
	return func(good ai.Model) ai.ModelFunc {
		return func(ctx context.Context, req *ai.ModelRequest, emit func(*ai.Chunk) error) (*ai.ModelResponse, error) {
			resp, err := good.Generate(ctx, req, emit)
			if err != nil {
				err = change(err)
			}
			return resp, err
		}
	}
}

func onProviderError(change func(e *ai.ProviderError)) func(ai.Model) ai.ModelFunc {
	return onError(func(err error) error {
		var failure *ai.ProviderError
		if errors.As(err, &failure) {
			change(failure)
		}
		return err
	})
}
