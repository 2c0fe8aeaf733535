package ai_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/holdpoint/ai"
	"github.com/stretchr/testify/require"
)

func TestPartsKeepWhatWasRead(t *testing.T) {
	t.Parallel()
	tests := []struct {
		text string
		want ai.Part // a pointer of the type the part must have
	}{
		{`{"text":"a"}`, &ai.TextPart{}},
		{`{"text":""}`, &ai.TextPart{}},
		{`{"text":"<b>&\"\\\n é 日本 😀"}`, &ai.TextPart{}},
		{`{"text":"a","metadata":{"k":1.50}}`, &ai.TextPart{}},
		{`{"metadata":{"k":1.50},"text":"a"}`, &ai.TextPart{}},
		{`{"text":"a","metadata":{}}`, &ai.TextPart{}},
		{`{"text":"a","metadata":null}`, &ai.TextPart{}},
		{`{"x":1,"text":"a","y":{"b":1,"a":9007199254740993}}`, &ai.TextPart{}},
		{`{"text":"a","media":null}`, &ai.TextPart{}},
		{`{"text":"a","Text":"b"}`, &ai.TextPart{}},
		{`{"media":{"contentType":"image/png","url":"data:image/png;base64,AA=="}}`, &ai.MediaPart{}},
		{`{"media":{"url":"u","contentType":"t","size":1.0}}`, &ai.MediaPart{}},
		{`{"media":{"url":"","contentType":null}}`, &ai.MediaPart{}},
		{`{"media":{}}`, &ai.MediaPart{}},
		{`{"reasoning":"hm","metadata":{"signature":"s"}}`, &ai.ReasoningPart{}},
		{`{"reasoning":""}`, &ai.ReasoningPart{}},
		{`{"data":{"b":1,"a":[1e400,1.50,-0.0]}}`, &ai.DataPart{}},
		{`{"data":null}`, &ai.DataPart{}},
		{`{"data":false,"metadata":{"k":null}}`, &ai.DataPart{}},
		{`{"data":0}`, &ai.DataPart{}},
		{`{"data":""}`, &ai.DataPart{}},
		{`{"text":null,"data":null}`, &ai.DataPart{}},
		{`{"custom":{"a":{"a":1,"a":2}}}`, &ai.CustomPart{}},
		{`{"custom":0}`, &ai.CustomPart{}},
		{`{"resource":{"uri":"file:///x"}}`, &ai.ResourcePart{}},
		{`{"resource":{"x":1,"uri":"file:///x"},"y":2}`, &ai.ResourcePart{}},
		{`{"toolRequest":{"name":"n","ref":"r","input":{"a":1},"partial":true}}`, &ai.ToolRequestPart{}},
		{`{"toolRequest":{"input":null,"name":"n"}}`, &ai.ToolRequestPart{}},
		{`{"toolRequest":{"name":"","ref":null,"partial":null}}`, &ai.ToolRequestPart{}},
		{`{"toolRequest":{"name":"n","ref":"","partial":false}}`, &ai.ToolRequestPart{}},
		{`{"toolRequest":{}}`, &ai.ToolRequestPart{}},
		{`{"toolRequest":{"Name":"x","name":"n"},"metadata":{"interrupt":true}}`, &ai.ToolRequestPart{}},
		{`{"metadata":{"interrupt":true},"toolRequest":{"input":9007199254740993,"name":"n","ref":"r"}}`, &ai.ToolRequestPart{}},
		{`{"toolResponse":{"name":"n","ref":"r","output":{"a":1}}}`, &ai.ToolResponsePart{}},
		{`{"toolResponse":{"name":"n","output":null}}`, &ai.ToolResponsePart{}},
		{`{"toolResponse":{"name":"n","output":""}}`, &ai.ToolResponsePart{}},
		{`{"toolResponse":{"name":"n","content":[]}}`, &ai.ToolResponsePart{}},
		{`{"toolResponse":{"name":"n","content":null}}`, &ai.ToolResponsePart{}},
		{`{"toolResponse":{"name":"n","content":[{"text":"a"},{"new":1},{"x":1,"media":{"url":"u"}}]}}`, &ai.ToolResponsePart{}},
		{`{"ToolRequest":{"name":"n"}}`, &ai.UnknownPart{}},
		{`{"text":null}`, &ai.UnknownPart{}},
		{`{"custom":null}`, &ai.UnknownPart{}},
		{`{"metadata":7}`, &ai.UnknownPart{}},
		{`{"hologram":{"depth":1.50},"metadata":{"b":1,"a":2}}`, &ai.UnknownPart{}},
		{`{}`, &ai.UnknownPart{}},
	}
	for _, tt := range tests {
		t.Run(tt.text, func(t *testing.T) {
			t.Parallel()
			var parts ai.Parts
			require.NoError(t, json.Unmarshal([]byte("["+tt.text+"]"), &parts))
			require.Len(t, parts, 1)
			require.IsType(t, tt.want, parts[0])
			require.Equal(t, "["+tt.text+"]", wireText(t, parts))
			require.Equal(t, tt.text, wireText(t, parts[0]), "the part alone")
			require.NoError(t, json.Unmarshal([]byte(tt.text), tt.want))
			require.Equal(t, tt.text, wireText(t, tt.want), "read alone")
		})
	}
}

func TestPartsFields(t *testing.T) {
	t.Parallel()
	const text = `[
		{"text":"a\u0041\ud83d\ude00","metadata":{"k":[1.0]}},
		{"media":{"url":"u","contentType":"t"}},
		{"reasoning":"r"},
		{"data":[1.50]},
		{"custom":{"c":1e400}},
		{"resource":{"uri":"x:y"}},
		{"toolRequest":{"name":"n","ref":"1","input":null,"partial":true},"metadata":{"interrupt":true}},
		{"toolResponse":{"name":"n","ref":"1","output":0,"content":[{"text":"in"}]}},
		{"toolRequest":{"name":"n"}}
	]`
	raw := func(s string) json.RawMessage { return json.RawMessage(s) }
	var got ai.Parts
	require.NoError(t, json.Unmarshal([]byte(text), &got))
	require.Equal(t, &ai.TextPart{Text: "aA😀", Metadata: ai.Metadata{"k": raw("[1.0]")}}, got[0])
	media, ok := got[1].(*ai.MediaPart)
	require.True(t, ok)
	require.Equal(t, "t", media.Media.ContentType)
	require.Equal(t, "u", media.Media.URL)
	require.Equal(t, &ai.ReasoningPart{Reasoning: "r"}, got[2])
	require.Equal(t, &ai.DataPart{Data: raw("[1.50]")}, got[3])
	require.Equal(t, &ai.CustomPart{Custom: raw(`{"c":1e400}`)}, got[4])
	require.Equal(t, &ai.ResourcePart{Resource: ai.Resource{URI: "x:y"}}, got[5])
	require.Equal(t, &ai.ToolRequestPart{
		ToolRequest: ai.ToolRequest{Name: "n", Ref: "1", Input: raw("null"), Partial: true},
		Metadata:    ai.Metadata{"interrupt": raw("true")},
	}, got[6])
	require.Equal(t, &ai.ToolResponsePart{ToolResponse: ai.ToolResponse{
		Name: "n", Ref: "1", Output: raw("0"), Content: ai.Parts{&ai.TextPart{Text: "in"}},
	}}, got[7])
	require.Equal(t, &ai.ToolRequestPart{ToolRequest: ai.ToolRequest{Name: "n"}}, got[8], "absent input is nil")
}

func TestPartsCanonicalForm(t *testing.T) {
	t.Parallel()
	meta := ai.Metadata{"k": json.RawMessage(" [ 1.50 ] ")}
	tests := []struct {
		in   ai.Part
		want string
	}{
		{&ai.TextPart{}, `{"text":""}`},
		{&ai.TextPart{Text: "<&>\u2028", Metadata: meta}, `{"text":"<&>\u2028","metadata":{"k":[1.50]}}`},
		{&ai.TextPart{Text: "\xff"}, `{"text":"\ufffd"}`},
		{&ai.TextPart{Metadata: ai.Metadata{}}, `{"text":""}`},
		{&ai.MediaPart{Media: ai.Media{ContentType: "t", URL: "u"}, Metadata: meta}, `{"media":{"contentType":"t","url":"u"},"metadata":{"k":[1.50]}}`},
		{&ai.MediaPart{}, `{"media":{}}`},
		{&ai.ReasoningPart{Metadata: meta}, `{"reasoning":"","metadata":{"k":[1.50]}}`},
		{&ai.DataPart{Metadata: meta}, `{"data":null,"metadata":{"k":[1.50]}}`},
		{&ai.CustomPart{Custom: json.RawMessage(`{ }`), Metadata: meta}, `{"custom":{},"metadata":{"k":[1.50]}}`},
		{&ai.ResourcePart{Resource: ai.Resource{URI: "u"}, Metadata: meta}, `{"resource":{"uri":"u"},"metadata":{"k":[1.50]}}`},
		{&ai.ToolRequestPart{}, `{"toolRequest":{}}`},
		{
			&ai.ToolRequestPart{ToolRequest: ai.ToolRequest{Name: "n", Ref: "r", Input: json.RawMessage("null"), Partial: true}, Metadata: meta},
			`{"toolRequest":{"name":"n","ref":"r","input":null,"partial":true},"metadata":{"k":[1.50]}}`,
		},
		{
			&ai.ToolResponsePart{ToolResponse: ai.ToolResponse{Name: "n", Ref: "r", Output: json.RawMessage("false"), Content: ai.Parts{&ai.TextPart{}}}, Metadata: meta},
			`{"toolResponse":{"name":"n","ref":"r","output":false,"content":[{"text":""}]},"metadata":{"k":[1.50]}}`,
		},
		{&ai.ToolResponsePart{ToolResponse: ai.ToolResponse{Name: "n", Content: ai.Parts{}}}, `{"toolResponse":{"name":"n"}}`},
		{&ai.UnknownPart{JSON: json.RawMessage(` { "new" : 1.50 } `)}, `{"new":1.50}`},
	}
	for _, tt := range tests {
		t.Run(tt.want, func(t *testing.T) {
			t.Parallel()
			require.Equal(t, tt.want, wireText(t, tt.in))
			marshaler, ok := tt.in.(json.Marshaler)
			require.True(t, ok)
			out, err := marshaler.MarshalJSON()
			require.NoError(t, err)
			require.Equal(t, tt.want, string(out), "without encoding/json around it")
		})
	}
	require.Equal(t, "[]", wireText(t, ai.Parts(nil)))
	require.Equal(t, "[]", wireText(t, ai.Parts{}))
}

func TestPartsRefuse(t *testing.T) {
	t.Parallel()
	tests := []struct{ in, want string }{
		{`{}`, "ai: parts must be a JSON array"},
		{`"a"`, "ai: parts must be a JSON array"},
		{`[1]`, "ai: parts[0] must be a JSON object"},
		{`[{"text":1}]`, "ai: parts[0].text must be a string"},
		{`[{"reasoning":[]}]`, "ai: parts[0].reasoning must be a string"},
		{`[{"media":"u"}]`, "ai: parts[0].media must be a JSON object"},
		{`[{"media":{"contentType":1}}]`, "ai: parts[0].media.contentType must be a string"},
		{`[{"media":{"url":"a","url":"b"}}]`, `ai: parts[0].media has the key "url" twice`},
		{`[{"resource":[]}]`, "ai: parts[0].resource must be a JSON object"},
		{`[{"resource":{"uri":true}}]`, "ai: parts[0].resource.uri must be a string"},
		{`[{"toolRequest":[]}]`, "ai: parts[0].toolRequest must be a JSON object"},
		{`[{"toolRequest":{"ref":1}}]`, "ai: parts[0].toolRequest.ref must be a string"},
		{`[{"toolRequest":{"partial":"yes"}}]`, "ai: parts[0].toolRequest.partial must be a boolean"},
		{`[{"toolRequest":{"x":1,"x":2}}]`, `ai: parts[0].toolRequest has the key "x" twice`},
		{`[{"toolResponse":{"name":{}}}]`, "ai: parts[0].toolResponse.name must be a string"},
		{`[{"toolResponse":{"content":{}}}]`, "ai: parts[0].toolResponse.content must be a JSON array"},
		{`[{"toolResponse":{"content":[[]]}}]`, "ai: parts[0].toolResponse.content[0] must be a JSON object"},
		{`[{"text":"a","metadata":"m"}]`, "ai: parts[0].metadata must be a JSON object"},
		{`[{"text":"a"},{"text":"a","metadata":{"k":1,"k":1}}]`, `ai: parts[1].metadata has the key "k" twice`},
		{`[{"text":"a","text":"a"}]`, `ai: parts[0] has the key "text" twice`},
		{`[{"new":1,"new":1}]`, `ai: parts[0] has the key "new" twice`},
		{`[{"text":"a","media":{"url":"u"}}]`, "ai: parts[0] must be of one kind, not text and media"},
		{`[{"toolResponse":{},"x":1,"toolRequest":{}}]`, "ai: parts[0] must be of one kind, not toolResponse and toolRequest"},
		{`[{"data":null,"text":"a"}]`, "ai: parts[0] must be of one kind, not data and text"},
	}
	for _, tt := range tests {
		t.Run(tt.in, func(t *testing.T) {
			t.Parallel()
			parts := ai.Parts{&ai.TextPart{Text: "before"}}
			err := json.Unmarshal([]byte(tt.in), &parts)
			require.EqualError(t, err, tt.want)
			require.ErrorIs(t, err, ai.ErrInvalidArgument)
			require.Equal(t, ai.Parts{&ai.TextPart{Text: "before"}}, parts)
		})
	}
}

func TestPartsOfNull(t *testing.T) {
	t.Parallel()
	parts := ai.Parts{&ai.TextPart{}}
	require.NoError(t, parts.UnmarshalJSON([]byte("null")))
	require.Nil(t, parts)
	require.EqualError(t, parts.UnmarshalJSON([]byte("[] []")), "ai: parts is not valid JSON")
}

func TestOnePartOfAKind(t *testing.T) {
	t.Parallel()
	tests := []struct {
		into json.Unmarshaler
		in   string
		want string
	}{
		{&ai.TextPart{}, `{"data":1}`, "ai: part must be a text part"},
		{&ai.MediaPart{}, `{"text":""}`, "ai: part must be a media part"},
		{&ai.ReasoningPart{}, `{"text":""}`, "ai: part must be a reasoning part"},
		{&ai.DataPart{}, `{"text":""}`, "ai: part must be a data part"},
		{&ai.CustomPart{}, `{"custom":null}`, "ai: part must be a custom part"},
		{&ai.ResourcePart{}, `{}`, "ai: part must be a resource part"},
		{&ai.ToolRequestPart{}, `{"toolResponse":{}}`, "ai: part must be a tool request"},
		{&ai.ToolResponsePart{}, `{"ToolResponse":{}}`, "ai: part must be a tool response"},
		{&ai.UnknownPart{}, `{"text":""}`, "ai: part must be of an unknown kind"},
		{&ai.ToolRequestPart{}, `{"toolRequest":{"name":1}}`, "ai: toolRequest.name must be a string"},
		{&ai.ToolRequestPart{}, `[]`, "ai: part must be a JSON object"},
		{&ai.ToolRequestPart{}, `{`, "ai: part is not valid JSON"},
		{&ai.ToolRequest{}, `{"name":1}`, "ai: toolRequest.name must be a string"},
		{&ai.ToolResponse{}, `7`, "ai: toolResponse must be a JSON object"},
		{&ai.Media{}, `{"url":1}`, "ai: media.url must be a string"},
		{&ai.Resource{}, `{"uri":"a"} 1`, "ai: resource is not valid JSON"},
	}
	for _, tt := range tests {
		t.Run(tt.want, func(t *testing.T) {
			t.Parallel()
			err := tt.into.UnmarshalJSON([]byte(tt.in))
			require.EqualError(t, err, tt.want)
			require.ErrorIs(t, err, ai.ErrInvalidArgument)
		})
	}
}

func TestObjectsInsideParts(t *testing.T) {
	t.Parallel()
	requireSameText[ai.Media](t, `{"url":"u","contentType":"t","x":1.0}`)
	requireSameText[ai.Resource](t, `{"x":1.0,"uri":"u"}`)
	requireSameText[ai.ToolRequest](t, `{"input":1.50,"name":"n","x":1.0}`)
	requireSameText[ai.ToolResponse](t, `{"content":[{"x":1.0,"text":"a"}],"name":"n"}`)
}

func TestPartsEncodingErrors(t *testing.T) {
	t.Parallel()
	bad := json.RawMessage("{")
	cycle := &ai.ToolResponsePart{}
	cycle.ToolResponse.Content = ai.Parts{cycle}
	tests := []struct {
		in   ai.Part
		want string
	}{
		{nil, "ai: parts[0] must not be nil"},
		{(*ai.UnknownPart)(nil), "ai: parts[0] must not be nil"},
		{&ai.DataPart{Data: bad}, "ai: parts[0].data is not valid JSON"},
		{&ai.CustomPart{Custom: bad}, "ai: parts[0].custom is not valid JSON"},
		{&ai.CustomPart{}, "ai: parts[0].custom must not be null"},
		{&ai.CustomPart{Custom: json.RawMessage("null")}, "ai: parts[0].custom must not be null"},
		{&ai.ToolRequestPart{ToolRequest: ai.ToolRequest{Input: bad}}, "ai: parts[0].toolRequest.input is not valid JSON"},
		{&ai.ToolResponsePart{ToolResponse: ai.ToolResponse{Output: json.RawMessage("1 2")}}, "ai: parts[0].toolResponse.output is not valid JSON"},
		{&ai.ToolResponsePart{ToolResponse: ai.ToolResponse{Content: ai.Parts{nil}}}, "ai: parts[0].toolResponse.content[0] must not be nil"},
		{&ai.TextPart{Metadata: ai.Metadata{"a b": bad}}, `ai: parts[0].metadata["a b"] is not valid JSON`},
		{&ai.UnknownPart{}, "ai: parts[0] is not valid JSON"},
		{&ai.UnknownPart{JSON: json.RawMessage(" [] ")}, "ai: parts[0] must be a JSON object"},
		{cycle, "ai: parts[0]" + strings.Repeat(".toolResponse.content[0]", 31) + ".toolResponse.content is nested too deeply"},
	}
	for _, tt := range tests {
		t.Run(tt.want, func(t *testing.T) {
			t.Parallel()
			out, err := ai.Parts{tt.in}.MarshalJSON()
			require.EqualError(t, err, tt.want)
			require.ErrorIs(t, err, ai.ErrInvalidArgument)
			require.Nil(t, out)
		})
	}
}

func TestPartsNestThirtyTwoDeep(t *testing.T) {
	t.Parallel()
	nested := func(depth int) string {
		return strings.Repeat(`[{"toolResponse":{"content":`, depth-1) + "[]" + strings.Repeat("}}]", depth-1)
	}
	requireSameText[ai.Parts](t, nested(32))
	var parts ai.Parts
	err := json.Unmarshal([]byte(nested(33)), &parts)
	require.EqualError(t, err, "ai: parts"+strings.TrimPrefix(strings.Repeat("[0].toolResponse.content", 32), ".")+" is nested too deeply")
}

// requireSameText decodes compact text as a T and encodes it.
func requireSameText[T any](t *testing.T, text string) {
	t.Helper()
	var v T
	require.NoError(t, json.Unmarshal([]byte(text), &v))
	require.Equal(t, text, wireText(t, v))
}

func TestPartWritesChanges(t *testing.T) {
	t.Parallel()
	const read = `{"metadata":{"interrupt":true},"toolRequest":{"input":{"a":1},"x":1.0,"name":"n","ref":""},"y":2}`
	tests := []struct {
		name   string
		change func(p *ai.ToolRequestPart)
		want   string
	}{
		{
			"new values in their old places",
			func(p *ai.ToolRequestPart) { p.ToolRequest.Input = json.RawMessage("2"); p.ToolRequest.Ref = "r" },
			`{"metadata":{"interrupt":true},"toolRequest":{"input":2,"x":1.0,"name":"n","ref":"r"},"y":2}`,
		}, {
			"emptied ones go, new ones come last",
			func(p *ai.ToolRequestPart) {
				p.Metadata, p.ToolRequest.Input, p.ToolRequest.Partial = nil, nil, true
			},
			`{"toolRequest":{"x":1.0,"name":"n","ref":"","partial":true},"y":2}`,
		}, {
			"another request in the same part",
			func(p *ai.ToolRequestPart) { p.ToolRequest = ai.ToolRequest{Name: "m"} },
			`{"metadata":{"interrupt":true},"toolRequest":{"name":"m"},"y":2}`,
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			var p ai.ToolRequestPart
			require.NoError(t, json.Unmarshal([]byte(read), &p))
			tt.change(&p)
			require.Equal(t, tt.want, wireText(t, p))
		})
	}
}
