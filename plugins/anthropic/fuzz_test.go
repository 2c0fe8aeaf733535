package anthropic_test

import (
	"encoding/json"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/holdpoint/ai"
)

// roundTrip answers requests without a network.
type roundTrip func(*http.Request) *http.Response

func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r), nil }

func respond(r *http.Request, contentType, body string) *http.Response {
	return &http.Response{
		StatusCode: http.StatusOK, Header: http.Header{"Content-Type": {contentType}}, Request: r,
		Body: io.NopCloser(strings.NewReader(body)),
	}
}

// Whatever comes as a stream is a reply or an error, and a reply is one that can
// be written into a history.
func FuzzStream(f *testing.F) {
	for _, name := range names(f, "replies", ".sse") {
		f.Add(read(f, "replies", name+".sse"))
	}
	f.Add("data: {\"type\":\"error\"}\n\n")
	f.Fuzz(func(t *testing.T, events string) {
		client := &http.Client{Transport: roundTrip(func(r *http.Request) *http.Response {
			return respond(r, "text/event-stream", events)
		})}
		resp, err := modelAt("http://localhost", client, nil).Generate(t.Context(), ask("hi"), discard)
		require.NotEqual(t, err == nil, resp == nil)
		if err != nil {
			var failed *ai.ProviderError
			require.ErrorAs(t, err, &failed)
			return
		}
		_, err = json.Marshal(resp)
		require.NoError(t, err)
	})
}

// Whatever the history, what is sent is a request that the API takes.
func FuzzRequest(f *testing.F) {
	for _, seed := range []string{"", "\x01\x02\x01\x03\x05\x07\x02\x01", "\x02\x05\x05\x05\x09\x01\x03\x00\x04", strings.Repeat("\x02\x06\x07\x05\x01\x08", 9)} {
		f.Add([]byte(seed))
	}
	message := read(f, "replies", "text.json")
	f.Fuzz(func(t *testing.T, data []byte) {
		history := (&dice{data}).history()
		var sent []byte
		client := &http.Client{Transport: roundTrip(func(r *http.Request) *http.Response {
			sent, _ = io.ReadAll(r.Body)
			return respond(r, "application/json", message)
		})}
		_, err := modelAt("http://localhost", client, nil).Generate(t.Context(), &ai.ModelRequest{Messages: history}, nil)
		if err == nil {
			check(t, sent)
			return
		}
		require.ErrorContains(t, err, "there is nothing to send")
	})
}

// dice makes a history of bytes.
type dice struct{ data []byte }

// roll takes a byte as a number below n.
func (d *dice) roll(n int) int {
	if len(d.data) == 0 {
		return 0
	}
	b := d.data[0]
	d.data = d.data[1:]
	return int(b) % n
}

func pick[T any](d *dice, list ...T) T { return list[d.roll(len(list))] }

// history is one that any provider may have begun: each call has its response.
func (d *dice) history() []*ai.Message {
	var list []*ai.Message
	for len(d.data) > 0 {
		m := &ai.Message{Role: pick(d, ai.RoleUser, ai.RoleModel, ai.RoleModel, ai.RoleSystem)}
		for range d.roll(5) {
			m.Content = append(m.Content, d.part(m.Role))
		}
		list = append(list, m)
		if len(m.ToolRequests()) > 0 {
			list = append(list, d.results(m))
		}
	}
	return list
}

func (d *dice) part(role ai.Role) ai.Part {
	kinds := []func() ai.Part{
		func() ai.Part { return &ai.TextPart{Text: d.text()} },
		func() ai.Part { return &ai.DataPart{Data: json.RawMessage("[1]")} },
		func() ai.Part { return &ai.ReasoningPart{Reasoning: d.text(), Metadata: d.signature()} },
		func() ai.Part { return &ai.CustomPart{Custom: json.RawMessage(`{"type":"x"}`)} },
	}
	if role != ai.RoleSystem {
		kinds = append(kinds, func() ai.Part { return d.media() })
	}
	if role == ai.RoleModel {
		call := func() ai.Part {
			return &ai.ToolRequestPart{ToolRequest: ai.ToolRequest{
				Name: pick(d, "a", "b.c", "", strings.Repeat("n", 200)), Ref: pick(d, "1", "", "a:b", "a_b", "call_2", "a_b_2"),
			}}
		}
		kinds = append(kinds, call, call, call)
	}
	return kinds[d.roll(len(kinds))]()
}

func (d *dice) text() string { return pick(d, "a", "", " ", "b \n") }

func (d *dice) media() *ai.MediaPart {
	return &ai.MediaPart{Media: ai.Media{URL: pick(d, "data:image/png;base64,AAAA", "https://a.example/b.pdf", "data:text/plain,x")}}
}

func (d *dice) signature() ai.Metadata {
	return pick(d,
		ai.Metadata{"anthropic": json.RawMessage(`{"signature":"s"}`)}, ai.Metadata{"anthropic": json.RawMessage(`{"data":"d"}`)},
		nil, ai.Metadata{"google": json.RawMessage(`"s"`)},
	)
}

// results answers the calls of a message, the last one first if so rolled.
func (d *dice) results(m *ai.Message) *ai.Message {
	answer := &ai.Message{Role: ai.RoleTool}
	for _, r := range m.ToolRequests() {
		p := &ai.ToolResponsePart{ToolResponse: ai.ToolResponse{
			Name: r.ToolRequest.Name, Ref: r.ToolRequest.Ref, Output: json.RawMessage(pick(d, `"x"`, `""`, `null`, `{"a":1}`)),
		}}
		if d.roll(2) == 1 {
			p.ToolResponse.Content = ai.Parts{d.media(), &ai.TextPart{Text: d.text()}}
		}
		if d.roll(2) == 1 {
			p.Metadata = ai.Metadata{"isError": json.RawMessage("true")}
		}
		answer.Content = append(answer.Content, p)
	}
	if d.roll(2) == 1 {
		slices.Reverse(answer.Content)
	}
	if d.roll(3) == 1 {
		answer.Content = append(answer.Content, &ai.TextPart{Text: d.text()})
	}
	return answer
}
