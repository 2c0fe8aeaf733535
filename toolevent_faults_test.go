package ai_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/holdpoint/ai"
)

// An adapter whose events make no sense is told so, and nothing runs, whether or
// not it passes the error on.
func TestToolEventsOutOfPlace(t *testing.T) {
	t.Parallel()
	rome := look("1", "Rome")
	start, end := event(ai.ToolStart, 0, "1", "look", ""), event(ai.ToolEnd, 0, "", "", "", rome)
	delta := func(index int) *ai.Chunk { return event(ai.ToolDelta, index, "", "", "{") }
	partial := look("1", "Rome")
	partial.ToolRequest.Partial = true
	for name, tt := range map[string]struct {
		sent []*ai.Chunk
		want string
	}{
		"delta without a start":   {[]*ai.Chunk{delta(0)}, `event "delta" of tool request 0 can't be used: it was not started`},
		"delta of another":        {[]*ai.Chunk{start, delta(1)}, `event "delta" of tool request 1 can't be used: it was not started`},
		"negative delta":          {[]*ai.Chunk{start, delta(-1)}, `event "delta" of tool request -1 can't be used: it was not started`},
		"end without a start":     {[]*ai.Chunk{end}, `event "end" of tool request 0 can't be used: it was not started`},
		"a gap":                   {[]*ai.Chunk{start, event(ai.ToolStart, 2, "", "", "")}, `event "start" of tool request 2 can't be used: the next request to start is 1`},
		"a gap behind a whole":    {[]*ai.Chunk{{Content: ai.Parts{rome}}, start}, `event "start" of tool request 0 can't be used: the next request to start is 1`},
		"negative start":          {[]*ai.Chunk{event(ai.ToolStart, -1, "", "", "")}, `event "start" of tool request -1 can't be used: the next request to start is 0`},
		"two starts":              {[]*ai.Chunk{start, start}, `event "start" of tool request 0 can't be used: the next request to start is 1`},
		"two ends":                {[]*ai.Chunk{start, end, end}, `event "end" of tool request 0 can't be used: it has ended`},
		"delta behind the end":    {[]*ai.Chunk{start, end, delta(0)}, `event "delta" of tool request 0 can't be used: it has ended`},
		"delta behind a whole":    {[]*ai.Chunk{{Content: ai.Parts{rome}}, delta(0)}, `event "delta" of tool request 0 can't be used: it has ended`},
		"end without the request": {[]*ai.Chunk{start, event(ai.ToolEnd, 0, "", "", "")}, `event "end" of tool request 0 can't be used: the content of its chunk must be the whole request and nothing else`},
		"end with a partial one":  {[]*ai.Chunk{start, event(ai.ToolEnd, 0, "", "", "", partial)}, `event "end" of tool request 0 can't be used: the content of its chunk must be the whole request and nothing else`},
		"end with more":           {[]*ai.Chunk{start, event(ai.ToolEnd, 0, "", "", "", rome, rome)}, `event "end" of tool request 0 can't be used: the content of its chunk must be the whole request and nothing else`},
		"start with content":      {[]*ai.Chunk{event(ai.ToolStart, 0, "", "", "", rome)}, `event "start" of tool request 0 can't be used: its chunk has content`},
		"progress":                {[]*ai.Chunk{event(ai.ToolProgress, 0, "", "", "")}, `event "progress" of tool request 0 can't be used: a model sends start, delta and end`},
		"no kind":                 {[]*ai.Chunk{event("", 0, "", "", "")}, `event "" of tool request 0 can't be used: a model sends start, delta and end`},
		"end with a nil part":     {[]*ai.Chunk{start, event(ai.ToolEnd, 0, "", "", "", nil)}, "a chunk can't be used: part 0 of its content is nil"},
	} {
		for kind, m := range map[string]ai.Model{"passes it on": sends(tt.sent, says(rome), nil), "ignores it": deaf(tt.sent, says(rome))} {
			t.Run(name+"/"+kind, func(t *testing.T) {
				t.Parallel()
				tools := newLoopTools()
				_, _, err := stream(t, tools, m)
				requirePlain(t, err)
				require.EqualError(t, err, "ai: model: "+tt.want)
				require.Zero(t, tools.looked.Load())
			})
		}
	}
}

// deaf is a model that goes on where its chunks are refused.
func deaf(chunks []*ai.Chunk, said *ai.ModelResponse) ai.Model {
	return ai.ModelFunc(func(_ context.Context, _ *ai.ModelRequest, emit func(*ai.Chunk) error) (*ai.ModelResponse, error) {
		for _, c := range chunks {
			_ = emit(c)
		}
		if err := emit(&ai.Chunk{Content: ai.Parts{&ai.TextPart{Text: "more"}}}); err == nil {
			panic("a chunk is taken behind one that was refused")
		}
		return said, nil
	})
}

// Two requests that the whole reply has in another order keep their refs, by what
// is known of them.
func TestToolEventsInAnotherOrder(t *testing.T) {
	t.Parallel()
	rome, oslo, five := look("1", "Rome"), look("2", "Oslo"), pay("", 5)
	for name, tt := range map[string]struct{ streamed, said ai.Parts }{
		"by ref":  {ai.Parts{rome, oslo}, ai.Parts{oslo, rome}},
		"by name": {ai.Parts{five, look("", "Rome")}, ai.Parts{look("", "Rome"), five}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var sent []*ai.Chunk
			for i, p := range tt.streamed {
				req := p.(*ai.ToolRequestPart).ToolRequest
				sent = append(sent, event(ai.ToolStart, i, req.Ref, req.Name, string(req.Input)), event(ai.ToolEnd, i, "", "", "", p))
			}
			chunks, resp, err := stream(t, newLoopTools(), sends(sent, says(tt.said...), nil))
			require.NoError(t, err)
			refs := map[string]string{} // by arguments
			for _, req := range resp.Messages[1].ToolRequests() {
				refs[string(req.ToolRequest.Input)] = req.ToolRequest.Ref
			}
			require.Len(t, refs, 2)
			for _, req := range streamedRequests(chunks) {
				require.Equal(t, refs[string(req.ToolRequest.Input)], req.ToolRequest.Ref)
			}
		})
	}
}
