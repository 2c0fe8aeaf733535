package ai_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/holdpoint/ai"
)

// viewsOf streams arguments as deltas of n bytes, and gives the view of each event.
func viewsOf(t testing.TB, text string, n int) []*ai.PartialInput {
	t.Helper()
	var views []*ai.PartialInput
	tools := newLoopTools()
	for c, err := range ai.Stream(t.Context(), &tools.Registry, &ai.GenerateOptions{
		Model: cutUp("look", text, n), Prompt: "go", ReturnToolRequests: true,
	}) {
		if err != nil {
			t.Fatal(err)
		}
		if c.Tool != nil {
			views = append(views, c.Tool.Value)
		}
	}
	return views
}

// cutUp is a model that asks for one call, its arguments in deltas of n bytes.
func cutUp(name, text string, n int) ai.Model {
	req := ai.NewToolRequest(name, "1", text)
	chunks := []*ai.Chunk{event(ai.ToolStart, 0, "1", name, "")}
	for rest := text; rest != ""; {
		chunks = append(chunks, event(ai.ToolDelta, 0, "", "", rest[:min(n, len(rest))]))
		rest = rest[min(n, len(rest)):]
	}
	return sends(append(chunks, event(ai.ToolEnd, 0, "", "", "", req)), says(req), nil)
}

// viewOf is the view of arguments of which this much has come.
func viewOf(t testing.TB, text string) *ai.PartialInput {
	t.Helper()
	return viewsOf(t, text, max(len(text), 1))[1]
}

func TestPartialInput(t *testing.T) {
	t.Parallel()
	p := viewOf(t, `{"path":"a.txt","edits":[{"old":"x","new":"y"},{"old":"so`)
	require.Equal(t, []string{"path", "edits"}, p.Keys())
	require.Equal(t, 2, p.Len())
	require.False(t, p.Complete())
	path, ok := p.Field("path").Text()
	require.True(t, ok)
	require.Equal(t, "a.txt", path)
	require.True(t, p.Field("path").Complete())

	edits := p.Field("edits")
	require.Equal(t, 2, edits.Len())
	require.Nil(t, edits.Keys())
	_, ok = edits.Text()
	require.False(t, ok)
	require.True(t, edits.Index(0).Complete())
	text, ok := edits.Index(1).Field("old").Text()
	require.True(t, ok)
	require.Equal(t, "so", text)
	require.False(t, edits.Index(1).Field("old").Complete())
	require.Nil(t, edits.Index(1).Field("new"))
	require.Nil(t, edits.Index(2))
	require.Nil(t, edits.Field("old"))
	require.Nil(t, p.Index(0))
	require.Equal(t, `{"path":"a.txt","edits":[{"old":"x","new":"y"},{"old":"so"}]}`, shownValue(t, p))
}

func TestPartialInputNil(t *testing.T) {
	t.Parallel()
	var p *ai.PartialInput
	for _, p := range []*ai.PartialInput{p, {}, p.Field("a").Index(0)} {
		require.Nil(t, p.Field("a"))
		require.Nil(t, p.Index(0))
		require.Nil(t, p.Keys())
		require.Zero(t, p.Len())
		require.False(t, p.Complete())
		text, ok := p.Text()
		require.False(t, ok)
		require.Empty(t, text)
		v := "as it was"
		require.NoError(t, p.Decode(&v))
		require.Equal(t, "as it was", v)
	}
}

type trip struct {
	From, To string
	Seats    int
	Leaves   time.Time
	Photo    []byte
	Stops    []struct{ City string }
	Other    any
}

// Decoding takes what is there: what is missing or cut is left out.
func TestPartialInputDecode(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]trip{
		`{`:                                  {},
		`{"From":"Ro`:                        {From: "Ro"},
		`{"From":"Rome","To`:                 {From: "Rome"},
		`{"Seats":1`:                         {},
		`{"Seats":12,`:                       {Seats: 12},
		`{"From":"Rome","Leaves":"2026-01`:   {From: "Rome"},
		`{"Leaves":"2026-01-02T03:04:05Z"`:   {Leaves: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)},
		`{"Seats":1,"Photo":"aGVsb`:          {Seats: 1},
		`{"Photo":"aGVsbG8="`:                {Photo: []byte("hello")},
		`{"Stops":[{"City":"Bonn"},{"City"`:  {Stops: []struct{ City string }{{"Bonn"}, {}}},
		`{"Other":9007199254740993,"From":`:  {Other: json.Number("9007199254740993")},
		`{"Other":{"a":[1,2],"b":"c`:         {Other: map[string]any{"a": []any{json.Number("1"), json.Number("2")}, "b": "c"}},
		`{"From":"Rome"} and something more`: {From: "Rome"},
	} {
		var got trip
		require.NoError(t, viewOf(t, text).Decode(&got), text)
		require.Equal(t, want, got, text)
	}
}

func TestPartialInputDecodeWhatDoesNotFit(t *testing.T) {
	t.Parallel()
	var got trip
	err := viewOf(t, `{"From":"Rome","Seats":"two","To":"Os`).Decode(&got)
	require.ErrorIs(t, err, ai.ErrInvalidArgument)
	require.ErrorContains(t, err, "ai: the arguments so far: ")
	require.ErrorContains(t, err, "Seats")

	var number int
	require.NoError(t, viewOf(t, `{"n":"1`).Field("n").Decode(&number), "a text that grows may become anything")
	require.Error(t, viewOf(t, `{"n":"1"`).Field("n").Decode(&number))
}

// A view that is kept stays as it was.
func TestPartialInputKept(t *testing.T) {
	t.Parallel()
	text := `{"list":[` + strings.Repeat(`{"City":"Zo\u00eb 😀"},`, 50) + `null],"City":"Rome"}`
	views := viewsOf(t, text, 1)
	for i, p := range views[1 : len(views)-1] {
		require.Equal(t, shownValue(t, viewOf(t, text[:i+1])), shownValue(t, p))
	}
	require.True(t, views[len(views)-1].Complete())
	require.JSONEq(t, text, shownValue(t, views[len(views)-1]))
}
