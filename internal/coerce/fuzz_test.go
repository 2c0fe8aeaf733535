package coerce_test

import (
	"encoding/json"
	"math/rand/v2"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/stretchr/testify/require"

	"github.com/holdpoint/ai/internal/coerce"
)

// decode reads JSON as the validator does.
func decode(tb testing.TB, text string) any {
	tb.Helper()
	v, err := jsonschema.UnmarshalJSON(strings.NewReader(text))
	require.NoError(tb, err, text)
	return v
}

// FuzzCoerce checks what holds for every schema and value: what comes out
// fits, what fits is not touched, the changes lead from the one to the other,
// and the package agrees with the validator about what fits.
func FuzzCoerce(f *testing.F) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 200 {
		f.Add(randomBytes(r, 80), randomBytes(r, 30))
	}
	f.Fuzz(func(t *testing.T, schema, data []byte) {
		sch, text, ok := generate(t, schema)
		if !ok {
			t.Skip()
		}
		m := maker{dice: dice{data}}
		for range 3 {
			checkCoerce(t, sch, text, m.value(3))
			checkCoerce(t, sch, text, `{"a":`+m.value(2)+`,"b":`+m.value(2)+`}`)
		}
	})
}

func checkCoerce(t *testing.T, sch *jsonschema.Schema, schema, data string) {
	t.Helper()
	about := data + " under " + schema
	sent := decode(t, data)
	valid := sch.Validate(sent) == nil
	if fits, ok := coerce.Fits(sch, []byte(data)); ok {
		require.Equal(t, valid, fits, about)
	}
	out, changes, ok := coerce.Coerce(sch, json.RawMessage(data), nil)
	again, changesAgain, okAgain := coerce.Coerce(sch, json.RawMessage(data), nil)
	require.Equal(t, ok, okAgain, about)
	require.Equal(t, string(out), string(again), about)
	require.Equal(t, changes, changesAgain, about)
	if valid {
		require.True(t, ok, about)
		require.Equal(t, data, string(out))
		require.Empty(t, changes)
		return
	}
	if !ok {
		require.Nil(t, out)
		return
	}
	require.NotEmpty(t, changes, about)
	got := decode(t, string(out))
	require.NoError(t, sch.Validate(got), "%s became %s", about, out)
	require.Equal(t, got, replay(t, sent, changes), about)
}

// replay makes the changes to a value.
func replay(t *testing.T, v any, changes []coerce.Change) any {
	t.Helper()
	for _, c := range changes {
		var steps []string
		if c.Path != "" {
			steps = strings.Split(c.Path, ".")
		}
		v = replaced(t, v, steps, c)
	}
	return v
}

// replaced returns v with one change made.
func replaced(t *testing.T, v any, steps []string, c coerce.Change) any {
	t.Helper()
	if len(steps) == 0 {
		require.Equal(t, decode(t, string(c.From)), v)
		require.NotNil(t, c.To)
		return decode(t, string(c.To))
	}
	switch v := v.(type) {
	case []any:
		i, err := strconv.Atoi(steps[0])
		require.NoError(t, err)
		v = slices.Clone(v)
		v[i] = replaced(t, v[i], steps[1:], c)
		return v
	case map[string]any:
		require.Contains(t, v, steps[0])
		if c.To == nil && len(steps) == 1 {
			require.Nil(t, v[steps[0]])
			delete(v, steps[0])
			return v
		}
		v[steps[0]] = replaced(t, v[steps[0]], steps[1:], c)
		return v
	}
	require.Fail(t, "no such path", "%s in %v", c.Path, v)
	return nil
}

// FuzzCoerceText feeds texts that need not be JSON.
func FuzzCoerceText(f *testing.F) {
	f.Add([]byte{1}, `{"a":"1","b":null}`)
	f.Add([]byte{2, 3}, `{"a":"[1,\"{}\"]"}`)
	f.Add([]byte{}, `{"a":1e999999999}`)
	f.Add([]byte{}, "{\"\xff\":\"\xff\"}")
	f.Fuzz(func(t *testing.T, schema []byte, data string) {
		sch, text, ok := generate(t, schema)
		if !ok {
			t.Skip()
		}
		out, changes, ok := coerce.Coerce(sch, json.RawMessage(data), &coerce.Options{ToolName: "a"})
		if !ok {
			return
		}
		got := decode(t, string(out))
		require.NoError(t, sch.Validate(got), "%s under %s", out, text)
		if len(changes) == 0 {
			require.Equal(t, data, string(out))
			return
		}
		require.Error(t, sch.Validate(decode(t, data)), "%s under %s", data, text)
		require.False(t, reflect.DeepEqual(decode(t, data), got))
	})
}
