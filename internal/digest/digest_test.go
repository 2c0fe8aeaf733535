package digest_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/holdpoint/ai/internal/digest"
)

func TestOf(t *testing.T) {
	t.Parallel()
	require.Equal(t, digest.Of("d", "a", "b"), digest.Of("d", "a", "b"))
	for _, other := range [][]string{{"ab", ""}, {"a"}, {"b", "a"}, {"a", "b", ""}, {"1:a", "b"}} {
		require.NotEqual(t, digest.Of("d", "a", "b"), digest.Of("d", other...), other)
	}
	require.NotEqual(t, digest.Of("d", "a"), digest.Of("e", "a"))
}

func TestJSON(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		`{"b": 1, "a": [1.0, 9007199254740993]}`: `{"a":[1.0,9007199254740993],"b":1}`,
		`"\u0041"`:                               `"A"`,
		``:                                       ``,
		`{`:                                      `{`,
	} {
		require.Equal(t, want, digest.JSON(json.RawMessage(in)))
	}
}
