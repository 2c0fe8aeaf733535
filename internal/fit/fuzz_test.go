package fit_test

import (
	"bytes"
	"encoding/json"
	"math/rand/v2"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/stretchr/testify/require"

	"github.com/holdpoint/ai/internal/fit"
)

// generated is a schema that both the validator and the package compile.
type generated struct {
	root      map[string]any
	text      string
	program   *fit.Program
	validator *jsonschema.Schema
}

// generate makes a schema of data; ok is false when one of the two refuses it.
func generate(t *testing.T, data []byte, assertFormat bool) (g generated, ok bool) {
	t.Helper()
	m := schemaMaker{dice: dice{data}}
	g.root = m.root()
	text, err := json.Marshal(g.root)
	require.NoError(t, err)
	g.text = string(text)
	doc := parse(t, g.text)
	if g.program, ok = fit.Compile(doc, &fit.Options{AssertFormat: assertFormat}); !ok {
		return g, false
	}
	g.validator, err = validator(doc, assertFormat)
	return g, err == nil
}

// check reports what both say, and fails if the package says yes wrongly.
func (g *generated) check(t *testing.T, text string) (fits, valid bool) {
	t.Helper()
	fits = g.program.Fits([]byte(text))
	doc, err := jsonschema.UnmarshalJSON(strings.NewReader(text))
	valid = err == nil && accepts(g.validator, doc)
	if fits {
		require.True(t, json.Valid([]byte(text)), "%q is no JSON", text)
		require.True(t, utf8.ValidString(text), "%q", text)
		require.True(t, valid, "%s does not fit %s", text, g.text)
		require.NoError(t, json.Unmarshal([]byte(text), new(any)), text)
		require.False(t, hasDouble(t, json.NewDecoder(strings.NewReader(text))), "%s has a key twice", text)
	}
	return fits, valid
}

// accepts asks the validator, which panics on numbers with exponents that
// math/big refuses.
func accepts(v *jsonschema.Schema, doc any) (ok bool) {
	defer func() {
		if recover() != nil {
			ok = false
		}
	}()
	return v.Validate(doc) == nil
}

// hasDouble reports whether an object of the next value has a key twice.
func hasDouble(t *testing.T, dec *json.Decoder) bool {
	t.Helper()
	token, err := dec.Token()
	require.NoError(t, err)
	delim, ok := token.(json.Delim)
	if !ok {
		return false
	}
	keys := map[any]bool{}
	double := false
	for dec.More() {
		if delim == '{' {
			key, err := dec.Token()
			require.NoError(t, err)
			double = double || keys[key]
			keys[key] = true
		}
		double = hasDouble(t, dec) || double
	}
	_, err = dec.Token()
	require.NoError(t, err)
	return double
}

// FuzzFits checks that a yes is never wrong.
func FuzzFits(f *testing.F) {
	f.Add([]byte{}, []byte{}, `{"a":1}`, false)
	f.Add([]byte{5, 3, 0, 1}, []byte{1, 2, 3}, `{"a":"x","b":1.5}`, false)
	f.Add([]byte{13, 1, 1, 1}, []byte{9, 9, 9}, `[null,"\ud83d\ude00"]`, true)
	r := rand.New(rand.NewPCG(1, 2))
	for range 32 {
		f.Add(randomBytes(r), randomBytes(r), `"x"`, true)
	}
	f.Fuzz(func(t *testing.T, schema, data []byte, raw string, assertFormat bool) {
		if len(raw) > 1<<12 {
			t.Skip()
		}
		g, ok := generate(t, schema, assertFormat)
		if !ok {
			t.Skip()
		}
		g.check(t, raw)
		m := textMaker{dice: dice{data}, root: g.root}
		for range 4 {
			m.Reset()
			m.value(g.root)
			g.check(t, m.String())
		}
	})
}

// FuzzGrammar checks that exactly the texts of JSON fit the schema true, apart
// from those that are stricter by design.
func FuzzGrammar(f *testing.F) {
	for _, s := range append(trickyNumbers, `{"a":[1,{"b":"\u00e9"}],"c":null}`, ` [true, false ] `, `"\ud83d\ude00\n"`, `{"a":1,"a":2}`, "\"\xff\"") {
		f.Add([]byte(s))
	}
	p := mustCompile(f, `true`)
	f.Fuzz(func(t *testing.T, data []byte) {
		if p.Fits(data) {
			require.True(t, json.Valid(data), "%q", data)
			require.False(t, hasDouble(t, json.NewDecoder(bytes.NewReader(data))))
			return
		}
		// Plain texts have nothing that the package is stricter about.
		plain := json.Valid(data) && utf8.Valid(data) && !bytes.ContainsAny(data, `\{`) && len(data) < 200 && !bytes.ContainsAny(data, "eE")
		require.False(t, plain, "%q", data)
	})
}

func randomBytes(r *rand.Rand) []byte {
	b := make([]byte, 100+r.IntN(400))
	for i := range b {
		b[i] = byte(r.Uint32())
	}
	return b
}

// TestMostGeneratedTextsAreDecided runs the generators over random bytes. The
// answers must be right, and must not be "not known" too often.
func TestMostGeneratedTextsAreDecided(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(3, 4))
	schemas, compiled, valids, fitting := 0, 0, 0, 0
	for range 1500 {
		schemas++
		g, ok := generate(t, randomBytes(r), r.IntN(2) == 0)
		if !ok {
			continue
		}
		compiled++
		m := textMaker{dice: dice{nil}, root: g.root}
		for range 10 {
			m.data = randomBytes(r)
			m.Reset()
			m.value(g.root)
			fits, valid := g.check(t, m.String())
			if valid {
				valids++
			}
			if fits {
				fitting++
			}
		}
	}
	t.Logf("of %d schemas %d are compiled; of %d fitting texts %d are known to fit", schemas, compiled, valids, fitting)
	require.Greater(t, compiled*3, schemas)
	require.Greater(t, valids, 2000)
	require.Greater(t, fitting*10, valids*8)
}
