package ai_test

import (
	"encoding/json"
	"testing"

	"github.com/holdpoint/ai"
	"github.com/stretchr/testify/require"
)

// FuzzMessageJSON checks that what decodes is written as the same value, digits
// included, and that writing is stable.
func FuzzMessageJSON(f *testing.F) {
	for _, seed := range []string{
		`{"role":"user","content":[{"text":"<hi>\u2028\ud800"}],"metadata":{"b":1,"a":{}}}`,
		`{"content":[{"metadata":{"interrupt":true},"toolRequest":{"input":{"n":9007199254740993},"name":"pay","ref":"b"}}],"role":"model"}`,
		`{"role":"tool","content":[{"toolResponse":{"name":"n","ref":"","output":null,"content":[{"media":{"url":"u","contentType":null}}]}}]}`,
		`{"role":"model","content":[{"data":null},{"text":null},{"custom":{"a":1,"a":2}},{"resource":{"uri":"u"}},{"new":[1e400,1.50]}]}`,
		` { "role" : "system" , "content" : null , "metadata" : { } , "x" : [ 1 , "]}" ] } `,
		`{"role":"user","content":[{"reasoning":"r","text":null,"x":{}}],"a":1,"b":2,"c":3,"d":4,"e":5,"f":6,"g":7,"h":8}`,
		`{"role":"user","rol\u0065":"user"}`,
		`{"role":"user","content":[{"text":"a","media":{}}]}`,
		`{"role":"model","content":[{"toolRequest":{"name":"n","partial":false,"Name":1}}]} x`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		var m ai.Message
		if err := m.UnmarshalJSON(data); err != nil {
			require.ErrorIs(t, err, ai.ErrInvalidArgument)
			return
		}
		out, err := m.MarshalJSON()
		require.NoError(t, err)
		require.Equal(t, messageValue(t, data), messageValue(t, out))

		var again ai.Message
		require.NoError(t, json.Unmarshal(out, &again))
		require.Equal(t, string(out), wireText(t, again))
		require.Equal(t, m.Text(), again.Text())
		require.Len(t, again.ToolRequests(), len(m.ToolRequests()))
	})
}

// messageValue is the JSON value of a message. Absent and null content are the
// one thing that does not come back as it was.
func messageValue(t *testing.T, data []byte) map[string]any {
	t.Helper()
	v, ok := wireNumbers(t, data).(map[string]any)
	require.True(t, ok)
	if v["content"] == nil {
		v["content"] = []any{}
	}
	return v
}
