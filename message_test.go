package ai_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/holdpoint/ai"
	"github.com/stretchr/testify/require"
)

// wireText encodes v the way a program does that wants no HTML escapes.
func wireText(t *testing.T, v any) string {
	t.Helper()
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	require.NoError(t, enc.Encode(v))
	return strings.TrimSuffix(buf.String(), "\n")
}

func TestMessageKeepsWhatWasRead(t *testing.T) {
	t.Parallel()
	tests := map[string]string{
		"canonical":              `{"role":"user","content":[{"text":"hi"}],"metadata":{"a":1}}`,
		"every role: system":     `{"role":"system","content":[]}`,
		"every role: model":      `{"role":"model","content":[]}`,
		"every role: tool":       `{"role":"tool","content":[]}`,
		"sorted keys":            `{"content":[{"text":"hi"}],"metadata":{"a":1},"role":"user"}`,
		"unknown keys":           `{"id":"x","role":"user","n":9007199254740993,"content":[],"o":{"b":1.50,"a":[null,1e400]}}`,
		"keys in another case":   `{"role":"user","content":[],"Role":"robot","CONTENT":7,"MetaData":[]}`,
		"empty metadata":         `{"role":"user","content":[],"metadata":{}}`,
		"null metadata":          `{"metadata":null,"role":"user","content":[]}`,
		"more keys than usual":   `{"role":"user","content":[],"a":1,"b":2,"c":3,"d":4,"e":5,"f":6,"g":7,"h":8,"i":9,"j":10}`,
		"unknown key with quote": `{"role":"user","content":[],"a\"b\n":"<&>"}`,
		"twice inside a value":   `{"role":"user","content":[],"x":{"a":1,"a":2},"metadata":{"m":{"b":1,"b":2}}}`,
	}
	for name, text := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var m ai.Message
			require.NoError(t, json.Unmarshal([]byte(text), &m))
			require.Equal(t, text, wireText(t, m), "a value")
			require.Equal(t, text, wireText(t, &m), "a pointer")
		})
	}
}

func TestMessageWritesItsOwnForm(t *testing.T) {
	t.Parallel()
	tests := map[string]struct{ in, want string }{
		"null content":    {`{"role":"user","content":null}`, `{"role":"user","content":[]}`},
		"absent content":  {`{"role":"user"}`, `{"role":"user","content":[]}`},
		"content at end":  {`{"x":1,"role":"user"}`, `{"x":1,"role":"user","content":[]}`},
		"white space":     {" {\n\"role\" : \"user\" ,\t\"content\" : [ ] , \"x\" : [ 1 , { } ] }\r\n", `{"role":"user","content":[],"x":[1,{}]}`},
		"escaped names":   {`{"\u0072ole":"\u0075ser","cont\u0065nt":[]}`, `{"role":"user","content":[]}`},
		"sorted metadata": {`{"role":"user","content":[],"metadata":{"b":1,"a":{"d":1,"c":2}}}`, `{"role":"user","content":[],"metadata":{"a":{"d":1,"c":2},"b":1}}`},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var m ai.Message
			require.NoError(t, m.UnmarshalJSON([]byte(tt.in)))
			require.Equal(t, tt.want, wireText(t, m))
		})
	}
}

func TestMessageRefuses(t *testing.T) {
	t.Parallel()
	tests := []struct{ name, in, want string }{
		{"no object", `[]`, "ai: message must be a JSON object"},
		{"null", `null`, "ai: message must be a JSON object"},
		{"no role", `{"content":[]}`, "ai: role must be system, user, model or tool"},
		{"null role", `{"role":null}`, "ai: role must be system, user, model or tool"},
		{"unknown role", `{"role":"robot"}`, "ai: role must be system, user, model or tool"},
		{"role of another type", `{"role":["user"]}`, "ai: role must be system, user, model or tool"},
		{"role in another case", `{"Role":"user"}`, "ai: role must be system, user, model or tool"},
		{"content no array", `{"role":"user","content":"hi"}`, "ai: content must be a JSON array"},
		{"content an object", `{"role":"user","content":{}}`, "ai: content must be a JSON array"},
		{"metadata no object", `{"role":"user","metadata":[1]}`, "ai: metadata must be a JSON object"},
		{"a key twice", `{"role":"user","role":"user"}`, `ai: message has the key "role" twice`},
		{"an unknown key twice", `{"x":1,"role":"user","x":1}`, `ai: message has the key "x" twice`},
		{"a key twice in two spellings", `{"role":"user","rol\u0065":"user"}`, `ai: message has the key "role" twice`},
		{"a late key twice", `{"role":"user","a":1,"b":2,"c":3,"d":4,"e":5,"f":6,"g":7,"h":8,"i":9,"h":1}`, `ai: message has the key "h" twice`},
		{"a late key like an early one", `{"role":"user","a":1,"b":2,"c":3,"d":4,"e":5,"f":6,"g":7,"h":8,"a":1}`, `ai: message has the key "a" twice`},
		{"a metadata key twice", `{"role":"user","metadata":{"a":1,"a":1}}`, `ai: metadata has the key "a" twice`},
		{"part no object", `{"role":"user","content":[{"text":"a"},"b"]}`, "ai: content[1] must be a JSON object"},
		{"part null", `{"role":"user","content":[null]}`, "ai: content[0] must be a JSON object"},
		{"deep inside", `{"role":"tool","content":[{"toolResponse":{"content":[{"media":{"url":1}}]}}]}`, "ai: content[0].toolResponse.content[0].media.url must be a string"},
		{"a huge name", `{"role":"user","` + strings.Repeat("k", 1000) + `":1,"` + strings.Repeat("k", 1000) + `":1}`, `ai: message has the key "` + strings.Repeat("k", 64) + `" twice`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			m := ai.TextMessage(ai.RoleUser, "before")
			err := json.Unmarshal([]byte(tt.in), m)
			require.EqualError(t, err, tt.want)
			require.ErrorIs(t, err, ai.ErrInvalidArgument)
			require.Equal(t, ai.TextMessage(ai.RoleUser, "before"), m, "the message is left alone")
		})
	}
}

func TestMessageRefusesTextThatIsNoJSON(t *testing.T) {
	t.Parallel()
	for _, text := range []string{``, ` `, `{`, `{"role":"user"} x`, `{"role":"user"}{}`, `{"role":"user",}`, `{"role":"us`, `{"role" "user"}`, "\xff"} {
		t.Run(text, func(t *testing.T) {
			t.Parallel()
			var m ai.Message
			err := m.UnmarshalJSON([]byte(text))
			require.EqualError(t, err, "ai: message is not valid JSON")
			require.ErrorIs(t, err, ai.ErrInvalidArgument)
			require.Error(t, json.Unmarshal([]byte(text), &m))
		})
	}
}

func TestMessageReplacesWhatWasThere(t *testing.T) {
	t.Parallel()
	m := ai.Message{Metadata: ai.Metadata{"a": json.RawMessage("1")}}
	require.NoError(t, json.Unmarshal([]byte(`{"x":1,"role":"user","content":[{"text":"a"}]}`), &m))
	require.NoError(t, json.Unmarshal([]byte(`{"role":"model","content":[{"text":"b"}]}`), &m))
	require.Equal(t, `{"role":"model","content":[{"text":"b"}]}`, wireText(t, m))
	require.Equal(t, *ai.TextMessage(ai.RoleModel, "b"), m, "nothing is remembered of an ordinary message")
}

func TestMessageDoesNotKeepTheBytesRead(t *testing.T) {
	t.Parallel()
	const text = `{"x":[1],"role":"user","content":[{"data":[2]},{"new":3},{"toolRequest":{"name":"n","input":[4]}}],"metadata":{"k":[5]}}`
	data := []byte(text)
	var m ai.Message
	require.NoError(t, m.UnmarshalJSON(data))
	for i := range data {
		data[i] = '!'
	}
	require.Equal(t, text, wireText(t, m))
}

func TestMessageWritesChanges(t *testing.T) {
	t.Parallel()
	const read = `{"content":[{"text":"a"}],"x":1.0,"role":"user","metadata":{"k":1}}`
	tests := []struct {
		name   string
		in     string
		change func(m *ai.Message)
		want   string
	}{
		{
			"a changed field stays in its place", read,
			func(m *ai.Message) { m.Role = ai.RoleTool; m.Content = nil },
			`{"content":[],"x":1.0,"role":"tool","metadata":{"k":1}}`,
		}, {
			"an emptied field goes", read,
			func(m *ai.Message) { m.Metadata = nil },
			`{"content":[{"text":"a"}],"x":1.0,"role":"user"}`,
		}, {
			"a new field is appended", `{"content":[],"x":1.0,"role":"user"}`,
			func(m *ai.Message) { m.Metadata = ai.Metadata{"k": json.RawMessage(" 1 ")} },
			`{"content":[],"x":1.0,"role":"user","metadata":{"k":1}}`,
		}, {
			"an empty field that is filled", `{"metadata":{},"role":"user","content":[]}`,
			func(m *ai.Message) { m.Metadata = ai.Metadata{"k": json.RawMessage("1")} },
			`{"metadata":{"k":1},"role":"user","content":[]}`,
		}, {
			"canonical order", `{"role":"user","content":[],"metadata":{"k":1}}`,
			func(m *ai.Message) { m.Metadata = nil },
			`{"role":"user","content":[]}`,
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			var m ai.Message
			require.NoError(t, json.Unmarshal([]byte(tt.in), &m))
			before := m
			tt.change(&m)
			require.Equal(t, tt.want, wireText(t, m))
			require.Equal(t, tt.in, wireText(t, before), "a copy made before is not changed")
		})
	}
}

func TestMessageEncodingErrors(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name string
		in   ai.Message
		want string
	}{
		{"zero", ai.Message{}, "ai: role must be system, user, model or tool"},
		{"unknown role", ai.Message{Role: "robot"}, "ai: role must be system, user, model or tool"},
		{"nil part", ai.Message{Role: "user", Content: ai.Parts{&ai.TextPart{}, nil}}, "ai: content[1] must not be nil"},
		{"nil pointer", ai.Message{Role: "user", Content: ai.Parts{(*ai.TextPart)(nil)}}, "ai: content[0] must not be nil"},
		{"metadata", ai.Message{Role: "user", Metadata: ai.Metadata{"k": json.RawMessage("{")}}, "ai: metadata.k is not valid JSON"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			_, err := tt.in.MarshalJSON()
			require.EqualError(t, err, tt.want)
			_, err = json.Marshal([]*ai.Message{&tt.in})
			require.ErrorContains(t, err, tt.want)
			require.ErrorIs(t, err, ai.ErrInvalidArgument)
		})
	}
}

func TestMessageText(t *testing.T) {
	t.Parallel()
	m := ai.Message{Content: ai.Parts{
		&ai.TextPart{Text: "a"},
		&ai.ReasoningPart{Reasoning: "hm"},
		&ai.ToolRequestPart{},
		&ai.TextPart{Text: "b"},
	}}
	require.Equal(t, "ab", m.Text())
	require.Empty(t, (&ai.Message{}).Text())
	require.Equal(t, "x", ai.TextMessage(ai.RoleSystem, "x").Text())
	require.Equal(t, `{"role":"system","content":[{"text":"x"}]}`, wireText(t, ai.TextMessage(ai.RoleSystem, "x")))
}

func TestMessageToolRequests(t *testing.T) {
	t.Parallel()
	one, two := &ai.ToolRequestPart{}, &ai.ToolRequestPart{}
	m := ai.Message{Content: ai.Parts{one, &ai.TextPart{}, two, &ai.ToolResponsePart{}}}
	requests := m.ToolRequests()
	require.Len(t, requests, 2)
	require.Same(t, one, requests[0])
	require.Same(t, two, requests[1])
	require.Nil(t, ai.TextMessage(ai.RoleUser, "x").ToolRequests())
}

// The files are conversations that Genkit wrote: before a pause, paused, and
// after it.
func TestGenkitHistoriesRoundTrip(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("testdata/wire/*.json")
	require.NoError(t, err)
	require.NotEmpty(t, files)
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			t.Parallel()
			data, err := os.ReadFile(file)
			require.NoError(t, err)
			var doc map[string]json.RawMessage
			require.NoError(t, json.Unmarshal(data, &doc))
			requireSameValue[[]*ai.Message](t, doc["history"])
			requireSameValue[[]*ai.Message](t, doc["next"])
			requireSameValue[ai.Parts](t, doc["reply"])
			var resume map[string]json.RawMessage
			if doc["resume"] != nil {
				require.NoError(t, json.Unmarshal(doc["resume"], &resume))
			}
			requireSameValue[[]*ai.ToolResponsePart](t, resume["respond"])
			requireSameValue[[]*ai.ToolRequestPart](t, resume["restart"])
			requireSameValue[ai.Metadata](t, resume["metadata"])
		})
	}
}

// requireSameValue decodes text, where there is any, as a T and encodes it. Keys
// of metadata may come back in another order.
func requireSameValue[T any](t *testing.T, text json.RawMessage) {
	t.Helper()
	if text == nil {
		return
	}
	var v T
	require.NoError(t, json.Unmarshal(text, &v))
	require.Equal(t, wireNumbers(t, text), wireNumbers(t, []byte(wireText(t, v))))
}

// wireNumbers decodes text with the digits of numbers kept.
func wireNumbers(t *testing.T, text []byte) any {
	t.Helper()
	dec := json.NewDecoder(bytes.NewReader(text))
	dec.UseNumber()
	var v any
	require.NoError(t, dec.Decode(&v))
	return v
}

func ExampleMessage() {
	const text = `{"role":"model","content":[
		{"text":"I will look."},
		{"toolRequest":{"name":"find","ref":"1","input":{"id":9007199254740993}}},
		{"hologram":{"depth":1.50}}
	]}`
	var m ai.Message
	if err := json.Unmarshal([]byte(text), &m); err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(m.Text())
	for _, r := range m.ToolRequests() {
		fmt.Println(r.ToolRequest.Name, string(r.ToolRequest.Input))
	}
	out, err := json.Marshal(m.Content[2])
	fmt.Println(string(out), err)
	// Output:
	// I will look.
	// find {"id":9007199254740993}
	// {"hologram":{"depth":1.50}} <nil>
}
