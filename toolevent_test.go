package ai_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/holdpoint/ai"
)

// eventWords gives the events of requests among chunks: kind and delta.
func eventWords(chunks []*ai.Chunk) []string {
	var list []string
	for _, c := range chunks {
		if c.Tool != nil && c.Tool.Kind != ai.ToolProgress {
			list = append(list, strings.TrimSpace(string(c.Tool.Kind)+" "+c.Tool.Delta))
		}
	}
	return list
}

// event is a chunk as an adapter sends it.
func event(kind ai.ToolEventKind, index int, ref, name, delta string, content ...ai.Part) *ai.Chunk {
	return &ai.Chunk{Content: content, Tool: &ai.ToolEvent{Kind: kind, Index: index, Ref: ref, Name: name, Delta: delta}}
}

// sends is a model that streams chunks and then returns what it has said, or an
// error. It answers a tool message with a text.
func sends(chunks []*ai.Chunk, said *ai.ModelResponse, err error) ai.Model {
	return ai.ModelFunc(func(_ context.Context, req *ai.ModelRequest, emit func(*ai.Chunk) error) (*ai.ModelResponse, error) {
		if len(req.Messages) > 1 {
			return &ai.ModelResponse{Message: modelSays(&ai.TextPart{Text: "done"})}, nil
		}
		for _, c := range chunks {
			before := chunkDump(c)
			if err := emit(c); err != nil {
				return nil, err
			}
			if before != chunkDump(c) {
				panic("the adapter's chunk was changed")
			}
		}
		return said, err
	})
}

func chunkDump(c *ai.Chunk) string {
	text := fmt.Sprintf("%d %+v ", c.Index, c.Tool) + dump(&ai.Message{Role: c.Role, Content: c.Content})
	if c.Tool != nil {
		text += fmt.Sprintf("%+v", *c.Tool)
	}
	return text
}

func says(parts ...ai.Part) *ai.ModelResponse {
	return &ai.ModelResponse{Message: modelSays(parts...), FinishReason: ai.FinishStop}
}

// shownValue is what a view shows, as JSON text.
func shownValue(t *testing.T, p *ai.PartialInput) string {
	t.Helper()
	var raw json.RawMessage
	require.NoError(t, p.Decode(&raw))
	return string(raw)
}

func stream(t *testing.T, tools *loopTools, m ai.Model) ([]*ai.Chunk, *ai.Response, error) {
	t.Helper()
	return collect(t, ai.Stream(t.Context(), &tools.Registry, &ai.GenerateOptions{Model: m, Prompt: "go"}))
}

// Two requests whose pieces are mixed: each event has the ref that the whole
// request has, the name as soon as it is known, and what its own arguments come to.
func TestToolEventsInterleaved(t *testing.T) {
	t.Parallel()
	rome, oslo := look("", "Rome"), look("late", "Oslo")
	m := sends([]*ai.Chunk{
		event(ai.ToolStart, 0, "", "", ""),
		event(ai.ToolDelta, 0, "", "look", `{"Ci`),
		event(ai.ToolStart, 1, "", "look", ""),
		event(ai.ToolDelta, 1, "late", "", `{"City":"O`),
		event(ai.ToolDelta, 0, "", "", `ty":"Ro`),
		event(ai.ToolDelta, 1, "", "", `slo"}`),
		{Content: ai.Parts{&ai.TextPart{Text: "…"}}},
		event(ai.ToolEnd, 1, "", "", "", oslo),
		event(ai.ToolDelta, 0, "", "", `me"}`),
		event(ai.ToolEnd, 0, "", "", "", rome),
	}, says(&ai.TextPart{Text: "…"}, rome, oslo), nil)
	tools := newLoopTools()
	chunks, resp, err := stream(t, tools, m)
	require.NoError(t, err)
	refs := refsOfRequests(resp.Messages[1])
	require.Len(t, refs, 2)
	require.NotEqual(t, "late", refs[1], "the reader was told another one before")
	require.Equal(t, refs, refsOf(resp.Messages[2]))

	type shown struct{ kind, name, value string }
	want := [][]shown{
		{{"start", "", ""}, {"delta", "look", `{}`}, {"delta", "look", `{"City":"Ro"}`}, {"delta", "look", `{"City":"Rome"}`}, {"end", "look", `{"City":"Rome"}`}},
		{{"start", "look", ""}, {"delta", "look", `{"City":"O"}`}, {"delta", "look", `{"City":"Oslo"}`}, {"end", "look", `{"City":"Oslo"}`}},
	}
	got := make([][]shown, 2)
	for _, c := range chunks {
		if e := c.Tool; e != nil {
			require.Equal(t, refs[e.Index], e.Ref)
			got[e.Index] = append(got[e.Index], shown{string(e.Kind), e.Name, shownValue(t, e.Value)})
			require.Equal(t, e.Kind == ai.ToolEnd, len(c.Content) == 1)
		}
	}
	require.Equal(t, want, got)
	require.Equal(t, []string{"0 model …", "0 model look#" + refs[1] + "?", "0 model look#" + refs[0] + "?"}, chunkLines(chunks[:10]))
	require.EqualValues(t, 2, tools.looked.Load())
}

func refsOfRequests(m *ai.Message) []string {
	var refs []string
	for _, req := range m.ToolRequests() {
		refs = append(refs, req.ToolRequest.Ref)
	}
	return refs
}

// However a request comes, its reader finds the same: start, deltas, and an end
// with the whole request.
func TestToolEventsOfAnyModel(t *testing.T) {
	t.Parallel()
	rome, text := look("1", "Rome"), &ai.TextPart{Text: "a"}
	whole := &ai.Chunk{Content: ai.Parts{text, rome, text}}
	start, delta, end := event(ai.ToolStart, 0, "1", "look", ""), event(ai.ToolDelta, 0, "", "", `{"City":"Rome"}`), event(ai.ToolEnd, 0, "", "", "", rome)
	said := says(text, rome, text)
	for name, tt := range map[string]struct {
		sent []*ai.Chunk
		want []string
	}{
		"events":             {[]*ai.Chunk{{Content: ai.Parts{text}}, start, delta, end, {Content: ai.Parts{text}}}, []string{"a", "start", "delta", "end", "a"}},
		"whole":              {[]*ai.Chunk{whole}, []string{"a", "start", "delta", "end", "a"}},
		"nothing":            {nil, []string{"a", "start", "delta", "end", "a"}},
		"without deltas":     {[]*ai.Chunk{start, end}, []string{"start", "delta", "end"}},
		"without an end":     {[]*ai.Chunk{start, delta, {Content: ai.Parts{text}}}, []string{"start", "delta", "a", "end"}},
		"only a start":       {[]*ai.Chunk{start}, []string{"start", "delta", "end"}},
		"only the text":      {[]*ai.Chunk{{Content: ai.Parts{text}}, {Content: ai.Parts{text}}}, []string{"a", "a", "start", "delta", "end"}},
		"all in one event":   {[]*ai.Chunk{event(ai.ToolStart, 0, "1", "look", `{"City":"Rome"}`), end}, []string{"start", "delta", "end"}},
		"the rest at an end": {[]*ai.Chunk{start, event(ai.ToolDelta, 0, "", "", `{"City"`), event(ai.ToolEnd, 0, "", "", `:"Rome"}`, rome)}, []string{"start", "delta", "delta", "end"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			chunks, resp, err := stream(t, newLoopTools(), sends(tt.sent, said, nil))
			require.NoError(t, err)
			var got []string
			deltas := ""
			for _, c := range chunks {
				if c.Index > 0 {
					break
				}
				if c.Tool == nil {
					got = append(got, "a")
					continue
				}
				require.Equal(t, "1", c.Tool.Ref)
				require.Equal(t, "look", c.Tool.Name)
				got = append(got, string(c.Tool.Kind))
				deltas += c.Tool.Delta
				if c.Tool.Kind == ai.ToolEnd {
					require.Equal(t, ai.Parts{rome}, c.Content)
					require.True(t, c.Tool.Value.Complete())
				}
			}
			require.Equal(t, tt.want, got)
			require.JSONEq(t, `{"City":"Rome"}`, deltas)
			require.Equal(t, "done", resp.Text())
		})
	}
}

// What is no object is streamed as it came, and stands in the end as a history
// holds it.
func TestToolEventsOfArgumentsThatAreNoObject(t *testing.T) {
	t.Parallel()
	for text, shown := range map[string]string{`{"City":"Ro`: `{"City":"Ro"}`, `[1,2`: `[1]`, `nonsense`: ``, `{"City":"Rome"}}`: `{"City":"Rome"}`} {
		kept := ai.NewToolRequest("look", "1", text)
		raw := &ai.ToolRequestPart{ToolRequest: ai.ToolRequest{Name: "look", Ref: "1", Input: json.RawMessage(text)}}
		for name, req := range map[string]*ai.ToolRequestPart{"kept": kept, "raw": raw} {
			for _, sent := range [][]*ai.Chunk{nil, {{Content: ai.Parts{req}}}} {
				chunks, _, err := stream(t, newLoopTools(), sends(sent, says(req), nil))
				require.NoError(t, err, name)
				require.Equal(t, []string{"start", "delta " + text, "end"}, eventWords(chunks))
				require.Equal(t, ai.Parts{kept}, chunks[2].Content)
				require.Equal(t, shown, shownValue(t, chunks[2].Tool.Value))
			}
		}
	}
}

// A message that was cut off runs none of its calls, and its reader is not told
// that one is complete which was cut.
func TestToolEventsOfAMessageCutOff(t *testing.T) {
	t.Parallel()
	rome, cut := look("1", "Rome"), ai.NewToolRequest("look", "2", `{"City":"Os`)
	said := says(rome, cut)
	said.FinishReason = ai.FinishLength
	tools := newLoopTools()
	chunks, resp, err := stream(t, tools, sends([]*ai.Chunk{
		{Content: ai.Parts{rome}}, event(ai.ToolStart, 1, "2", "look", ""), event(ai.ToolDelta, 1, "", "", `{"City":"Os`),
	}, said, nil))
	require.NoError(t, err)
	require.Equal(t, []string{"start", `delta {"City":"Rome"}`, "end", "start", `delta {"City":"Os`}, eventWords(chunks))
	require.Zero(t, tools.looked.Load())
	for _, p := range resp.Messages[2].Content {
		require.Contains(t, string(p.(*ai.ToolResponsePart).ToolResponse.Output), "Send it again.")
	}
	require.Len(t, resp.Messages[2].Content, 2)
	require.Equal(t, "done", resp.Text(), "the model was asked again")
}

// Of a stream that broke nothing runs, not even what was complete.
func TestToolEventsOfABrokenStream(t *testing.T) {
	t.Parallel()
	tools := newLoopTools()
	chunks, _, err := stream(t, tools, sends([]*ai.Chunk{
		{Content: ai.Parts{look("1", "Rome")}}, event(ai.ToolStart, 1, "2", "look", ""), event(ai.ToolDelta, 1, "", "", `{"City":"Oslo"}`),
	}, nil, errBroken))
	require.ErrorIs(t, err, errBroken)
	requirePlain(t, err)
	require.Equal(t, []string{"start", `delta {"City":"Rome"}`, "end", "start", `delta {"City":"Oslo"}`}, eventWords(chunks))
	require.Zero(t, tools.looked.Load())
}

// A request that the model marks partial is passed on as it is.
func TestToolEventsNotOfPartialRequests(t *testing.T) {
	t.Parallel()
	partial := look("1", "Ro")
	partial.ToolRequest.Partial = true
	chunks, _, err := stream(t, newLoopTools(), sends([]*ai.Chunk{{Content: ai.Parts{partial}}, {Content: ai.Parts{look("1", "Rome")}}}, says(look("1", "Rome")), nil))
	require.NoError(t, err)
	require.Equal(t, ai.Parts{partial}, chunks[0].Content)
	require.Nil(t, chunks[0].Tool)
	require.Equal(t, []string{"start", `delta {"City":"Rome"}`, "end"}, eventWords(chunks))
}
