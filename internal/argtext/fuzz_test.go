package argtext_test

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/holdpoint/ai/internal/argtext"
)

const space = " \t\r\n"

// isObject reports whether text is a JSON object, by encoding/json.
func isObject(text string) bool {
	return strings.HasPrefix(strings.TrimLeft(text, space), "{") && json.Valid([]byte(text))
}

// FuzzParse checks what holds for every text: what comes out is an object, an
// object stays as it is, a part of one is refused, and what exact repairs read
// is read the same with probable ones.
func FuzzParse(f *testing.F) {
	for _, text := range []string{
		"", "null", "{}", `{"a":[1.50,"x\n",{"b":null}]}`, "```json\n{\"a\":1}\n```", `"{\"a\":\"\ud83d\ude00\"}"`,
		`{"a":1}{"a": 1}`, "{\"a\":\"x\ny\"}<|call|>", `{a:'b',"c":[True,None,],}`, `{"a":1} and so on`, "\uFEFF{}",
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		exact, err := argtext.Parse(text, nil)
		likely, probableErr := argtext.Parse(text, &argtext.Options{Probable: true})
		if err == nil {
			checkResult(t, text, exact)
			require.NoError(t, probableErr)
			require.Equal(t, exact, likely)
		} else {
			require.False(t, isObject(text))
			var problem *argtext.Error
			require.ErrorAs(t, err, &problem)
			require.NotEmpty(t, problem.Problem)
			require.Equal(t, probableErr == nil, problem.Probable)
		}
		if probableErr == nil {
			checkResult(t, text, likely)
		}
		if isObject(text) && len(text) < 1000 {
			checkPrefixes(t, strings.TrimRight(text, space))
		}
	})
}

func checkResult(t *testing.T, text string, res *argtext.Result) {
	t.Helper()
	require.True(t, isObject(string(res.Object)), "%q became %q", text, res.Object)
	require.Equal(t, isObject(text), res.Rule == "")
	if res.Rule == "" {
		require.Equal(t, text, string(res.Object))
		return
	}
	again, err := argtext.Parse(string(res.Object), nil)
	require.NoError(t, err)
	require.True(t, bytes.Equal(res.Object, again.Object))
}

// checkPrefixes cuts an object off at each byte: nothing may be made of it but
// the empty object of an empty text.
func checkPrefixes(t *testing.T, object string) {
	t.Helper()
	for n := range object {
		if strings.Trim(object[:n], space) == "" {
			continue
		}
		for _, opts := range []*argtext.Options{nil, {Probable: true}} {
			res, err := argtext.Parse(object[:n], opts)
			require.Error(t, err, "%q of %q became %v", object[:n], object, res)
		}
	}
}

// FuzzParseCutOff checks that mended texts do not run either when they are cut
// off: what is read of a part is the same object, all of it.
func FuzzParseCutOff(f *testing.F) {
	f.Add(`{"a":["x\ny",{"b":"c"}]}`)
	f.Add(`{"a":1,"b":[true,null,"{}"],"c":"}"}`)
	f.Fuzz(func(t *testing.T, object string) {
		if !isObject(object) || len(object) > 300 {
			t.Skip()
		}
		quoted, err := json.Marshal(object)
		require.NoError(t, err)
		for _, text := range []string{
			"```json\n" + object + "\n```", string(quoted), object + object, object + "<|call|>", "\uFEFF" + object,
		} {
			checkCutOff(t, text)
		}
	})
}

func checkCutOff(t *testing.T, text string) {
	t.Helper()
	for _, opts := range []*argtext.Options{nil, {Probable: true}} {
		whole, err := argtext.Parse(text, opts)
		if err != nil {
			continue // such as a string that holds half a surrogate pair
		}
		for n := range text {
			part, err := argtext.Parse(text[:n], opts)
			if err != nil || strings.Trim(text[:n], space+"\uFEFF") == "" {
				continue
			}
			require.Equal(t, strip(string(whole.Object)), strip(string(part.Object)), "%q of %q", text[:n], text)
		}
	}
}

func strip(text string) string { return strings.Trim(text, space) }
