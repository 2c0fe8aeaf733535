package ai_test

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/holdpoint/ai"
	"github.com/stretchr/testify/require"
)

func TestMetadataDecode(t *testing.T) {
	t.Parallel()
	m := ai.Metadata{
		"number": json.RawMessage("9007199254740993"),
		"object": json.RawMessage(`{"n":1.50}`),
		"null":   json.RawMessage("null"),
		"broken": json.RawMessage(`1 2`),
		"unset":  nil,
	}
	var n int64
	found, err := m.Decode("number", &n)
	require.NoError(t, err)
	require.True(t, found)
	require.Equal(t, int64(9007199254740993), n)

	var v any
	found, err = m.Decode("object", &v)
	require.NoError(t, err)
	require.True(t, found)
	require.Equal(t, map[string]any{"n": json.Number("1.50")}, v)

	found, err = m.Decode("null", &v)
	require.NoError(t, err)
	require.True(t, found, "presence counts, not the value")
	require.Nil(t, v)

	n = 7
	found, err = m.Decode("absent", &n)
	require.NoError(t, err)
	require.False(t, found)
	require.Equal(t, int64(7), n)

	found, err = ai.Metadata(nil).Decode("number", &n)
	require.NoError(t, err)
	require.False(t, found)
}

func TestMetadataDecodeErrors(t *testing.T) {
	t.Parallel()
	m := ai.Metadata{"object": json.RawMessage(`{}`), "broken": json.RawMessage(`1 2`), "unset": nil}
	var n int
	found, err := m.Decode("object", &n)
	require.True(t, found)
	require.ErrorContains(t, err, "ai: metadata.object does not decode into *int: json: ")
	require.ErrorIs(t, err, ai.ErrInvalidArgument)
	var typeError *json.UnmarshalTypeError
	require.ErrorAs(t, err, &typeError)

	_, err = m.Decode("broken", &n)
	require.EqualError(t, err, "ai: metadata.broken is not valid JSON")
	_, err = m.Decode("unset", &n)
	require.EqualError(t, err, "ai: metadata.unset is not valid JSON")
	_, err = m.Decode("object", n)
	require.ErrorContains(t, err, "ai: metadata.object does not decode into int: json: Unmarshal(non-pointer int)")
}

func TestMetadataSet(t *testing.T) {
	t.Parallel()
	var m ai.Metadata
	require.NoError(t, m.Set("html", "<a&b>"))
	require.NoError(t, m.Set("nil", nil))
	require.NoError(t, m.Set("raw", json.RawMessage(" [1.50] ")))
	require.NoError(t, m.Set("raw", json.RawMessage(" [2.50] ")))
	require.NoError(t, m.Set("number", json.Number("1e400")))
	require.Equal(t, ai.Metadata{
		"html":   json.RawMessage(`"<a&b>"`),
		"nil":    json.RawMessage("null"),
		"raw":    json.RawMessage("[2.50]"),
		"number": json.RawMessage("1e400"),
	}, m)
	require.Equal(t, `{"html":"<a&b>","nil":null,"number":1e400,"raw":[2.50]}`, wireText(t, m))
}

func TestMetadataSetLeavesTheMapOnError(t *testing.T) {
	t.Parallel()
	var m ai.Metadata
	err := m.Set("k", func() {})
	require.ErrorContains(t, err, "ai: metadata.k does not encode as JSON: json: unsupported type: func()")
	require.ErrorIs(t, err, ai.ErrInvalidArgument)
	require.Nil(t, m)

	require.NoError(t, m.Set("k", 1))
	require.Error(t, m.Set("k", json.RawMessage("{")))
	require.Equal(t, ai.Metadata{"k": json.RawMessage("1")}, m)
}

func TestMetadataJSON(t *testing.T) {
	t.Parallel()
	var m ai.Metadata
	require.NoError(t, json.Unmarshal([]byte(` { "b" : 1.50 , "a" : { "z" : 1, "y" : 2 } } `), &m))
	require.Equal(t, json.RawMessage("1.50"), m["b"])
	require.Equal(t, `{"a":{"z":1,"y":2},"b":1.50}`, wireText(t, m))

	require.NoError(t, json.Unmarshal([]byte(`{"c":null}`), &m))
	require.Equal(t, ai.Metadata{"c": json.RawMessage("null")}, m, "the old keys are gone")

	for _, text := range []string{"{}", "null"} {
		m = ai.Metadata{"k": json.RawMessage("1")}
		require.NoError(t, m.UnmarshalJSON([]byte(text)))
		require.Nil(t, m)
	}
	require.Equal(t, "null", wireText(t, m))
	require.Equal(t, "{}", wireText(t, ai.Metadata{}))
	require.Equal(t, `{"Metadata":{}}`, wireText(t, struct{ Metadata ai.Metadata }{ai.Metadata{}}))
}

func TestMetadataRefuses(t *testing.T) {
	t.Parallel()
	tests := []struct{ in, want string }{
		{`[]`, "ai: metadata must be a JSON object"},
		{`{"a":1,"b":2,"a":3}`, `ai: metadata has the key "a" twice`},
		{`{} {}`, "ai: metadata is not valid JSON"},
	}
	for _, tt := range tests {
		t.Run(tt.in, func(t *testing.T) {
			t.Parallel()
			m := ai.Metadata{"k": json.RawMessage("1")}
			err := m.UnmarshalJSON([]byte(tt.in))
			require.EqualError(t, err, tt.want)
			require.ErrorIs(t, err, ai.ErrInvalidArgument)
			require.Equal(t, ai.Metadata{"k": json.RawMessage("1")}, m)
		})
	}
	_, err := ai.Metadata{"a": json.RawMessage("1"), "b": nil}.MarshalJSON()
	require.EqualError(t, err, "ai: metadata.b is not valid JSON")
	require.ErrorIs(t, err, ai.ErrInvalidArgument)
}

func ExampleMetadata_Decode() {
	var m ai.Metadata
	if err := m.Set("interrupt", map[string]any{"question": "Pay 5 < 10?"}); err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(string(m["interrupt"]))

	var ask struct{ Question string }
	found, err := m.Decode("interrupt", &ask)
	fmt.Println(ask.Question, found, err)

	found, err = m.Decode("resumed", &ask)
	fmt.Println(found, err)
	// Output:
	// {"question":"Pay 5 < 10?"}
	// Pay 5 < 10? true <nil>
	// false <nil>
}
