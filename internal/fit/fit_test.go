package fit_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/stretchr/testify/require"

	"github.com/holdpoint/ai/internal/fit"
)

// parse reads JSON the way the validator does.
func parse(tb testing.TB, text string) any {
	tb.Helper()
	doc, err := jsonschema.UnmarshalJSON(strings.NewReader(text))
	require.NoError(tb, err, text)
	return doc
}

func mustCompile(tb testing.TB, schema string) *fit.Program {
	tb.Helper()
	p, ok := fit.Compile(parse(tb, schema), nil)
	require.True(tb, ok, "declined: %s", schema)
	return p
}

// validator is the authority that the package must never contradict.
func validator(schema any, assertFormat bool) (*jsonschema.Schema, error) {
	c := jsonschema.NewCompiler()
	if assertFormat {
		c.AssertFormat()
	}
	if err := c.AddResource("mem:///schema", schema); err != nil {
		return nil, err
	}
	return c.Compile("mem:///schema")
}

// A fitCase lists texts by what the package and the validator say of them.
type fitCase struct {
	schema string
	fits   []string // yes from both
	bad    []string // no from the validator, hence not known
	asks   []string // yes from the validator, but not decided here
}

func (fc *fitCase) run(t *testing.T, opts *fit.Options) {
	t.Helper()
	doc := parse(t, fc.schema)
	p, ok := fit.Compile(doc, opts)
	require.True(t, ok, "declined: %s", fc.schema)
	v, err := validator(doc, opts != nil && opts.AssertFormat)
	require.NoError(t, err, fc.schema)
	for _, s := range fc.fits {
		require.True(t, p.Fits([]byte(s)), "%s should fit %s", s, fc.schema)
		require.NoError(t, v.Validate(parse(t, s)), "%s against %s", s, fc.schema)
	}
	for _, s := range fc.bad {
		require.False(t, p.Fits([]byte(s)), "%s should not fit %s", s, fc.schema)
		require.Error(t, v.Validate(parse(t, s)), "%s against %s", s, fc.schema)
	}
	for _, s := range fc.asks {
		require.False(t, p.Fits([]byte(s)), "%s should not be known to fit %s", s, fc.schema)
		require.NoError(t, v.Validate(parse(t, s)), "%s against %s", s, fc.schema)
	}
}

func TestObjectKeywords(t *testing.T) {
	t.Parallel()
	for name, fc := range map[string]fitCase{
		"properties": {
			schema: `{"properties":{"a":{"type":"string"},"b":{"type":"integer"}}}`,
			fits:   []string{`{}`, `{"a":"x"}`, `{"b":1,"a":"x"}`, `{"c":[true]}`, `[]`, `1`, `"x"`, `null`},
			bad:    []string{`{"a":1}`, `{"a":"x","b":"1"}`},
		},
		"required": {
			schema: `{"type":"object","properties":{"a":true},"required":["a","z"]}`,
			fits:   []string{`{"a":1,"z":2}`, `{"z":null,"q":0,"a":null}`},
			bad:    []string{`{}`, `{"a":1}`, `{"z":1}`, `{"Z":1,"a":1}`, `[]`},
		},
		"additionalProperties false": {
			schema: `{"properties":{"a":{},"":{}},"additionalProperties":false}`,
			fits:   []string{`{}`, `{"a":1}`, `{"":1}`, `{"\u0061":1}`, `3`},
			bad:    []string{`{"b":1}`, `{"a":1,"b":1}`, `{"A":1}`},
		},
		"additionalProperties schema": {
			schema: `{"properties":{"a":true},"required":["r"],"additionalProperties":{"type":"integer"}}`,
			fits:   []string{`{"a":"x","b":1,"r":1}`, `{"r":1.0}`},
			bad:    []string{`{"a":"x","b":"x","r":1}`, `{"r":"x"}`},
			asks:   []string{`{"r":1,"\u0062":2}`},
		},
		"required but never allowed": {
			schema: `{"required":["r"],"additionalProperties":false}`,
			bad:    []string{`{}`, `{"r":1}`},
		},
		"false property": {
			schema: `{"properties":{"a":false}}`,
			fits:   []string{`{}`, `{"b":1}`},
			bad:    []string{`{"a":1}`},
		},
		"minProperties and maxProperties": {
			schema: `{"minProperties":1,"maxProperties":2}`,
			fits:   []string{`{"a":1}`, `{"a":1,"b":2}`, `[]`},
			bad:    []string{`{}`, `{"a":1,"b":2,"c":3}`},
		},
		"no properties": {
			schema: `{"maxProperties":0}`,
			fits:   []string{`{}`, `{ }`},
			bad:    []string{`{"a":1}`},
		},
		"names of all sorts": {
			schema: `{"properties":{"é\"\n":{"type":"null"},"日本":{"type":"null"}},"additionalProperties":false}`,
			fits:   []string{`{"é\"\n":null}`, `{"\u00e9\u0022\u000A":null,"日\u672c":null}`},
			bad:    []string{`{"é":null}`, `{"\u65e5":null}`},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			fc.run(t, nil)
		})
	}
}

func TestArrayAndStringKeywords(t *testing.T) {
	t.Parallel()
	for name, fc := range map[string]fitCase{
		"items": {
			schema: `{"type":"array","items":{"type":"boolean"}}`,
			fits:   []string{`[]`, `[ ]`, `[true,false]`, ` [ true , false ] `},
			bad:    []string{`[1]`, `[true,null]`, `{}`},
		},
		"items false": {
			schema: `{"items":false}`,
			fits:   []string{`[]`, `{}`},
			bad:    []string{`[1]`},
		},
		"minItems and maxItems": {
			schema: `{"minItems":1,"maxItems":2}`,
			fits:   []string{`[1]`, `[1,2]`, `{}`},
			bad:    []string{`[]`, `[1,2,3]`},
		},
		"no items": {
			schema: `{"maxItems":0}`,
			fits:   []string{`[]`},
			bad:    []string{`[1]`},
		},
		"minLength and maxLength": {
			schema: `{"minLength":2,"maxLength":3}`,
			fits:   []string{`"ab"`, `"abc"`, `"éé"`, `"日本語"`, `"\u00e9\u00E9"`, `"\ud83d\ude00\n😀"`, `1`},
			bad:    []string{`"a"`, `"é"`, `"\ud83d\ude00"`, `"😀"`, `"abcd"`, `"\n\n\n\n"`, `"\u00e9aéb"`},
		},
		"pattern": {
			schema: `{"pattern":"^a[é\\n]?$"}`,
			fits:   []string{`"a"`, `"aé"`, `"a\u00e9"`, `"a\n"`, `7`},
			bad:    []string{`"b"`, `"a\u0020"`, `"ae"`},
		},
		"pattern with a length": {
			schema: `{"pattern":"b","maxLength":2}`,
			fits:   []string{`"b"`, `"ab"`},
			bad:    []string{`"a"`, `"aab"`},
		},
		"escapes": {
			schema: `{"const":"\"\\/\b\f\n\r\té😀"}`,
			fits:   []string{`"\"\\/\b\f\n\r\té😀"`, `"\u0022\u005C\/\u0008\u000c\u000A\u000d\u0009\u00E9\uD83D\uDE00"`},
			bad:    []string{`"\"\\/\b\f\n\r\té\ud83d\ude01"`, `"\"\\/bfnrté😀"`},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			fc.run(t, nil)
		})
	}
}

func TestValueKeywords(t *testing.T) {
	t.Parallel()
	for name, fc := range map[string]fitCase{
		"type list": {
			schema: `{"type":["integer","null"]}`,
			fits:   []string{`1`, `null`, `-0`, `2e3`},
			bad:    []string{`1.5`, `"1"`, `true`, `[]`, `{}`},
		},
		"enum": {
			schema: `{"enum":["a","é","x\"y",1,2.50,null,true]}`,
			fits: []string{`"a"`, `"\u0061"`, `"é"`, `"\u00e9"`, `"x\"y"`, `1`, `1.0`, `10e-1`, `2.5`, `25e-1`,
				`null`, `true`},
			bad: []string{`"b"`, `"A"`, `2`, `false`, `[]`, `{}`, `"x\\\"y"`},
		},
		"enum with type": {
			schema: `{"type":["string","integer"],"enum":["a",1.5,2,null]}`,
			fits:   []string{`"a"`, `2`, `2.0`},
			bad:    []string{`1.5`, `null`, `1`},
		},
		"long enum": {
			schema: `{"enum":["a","b","c","d","e","f","g","h","i","j","k","l","m","n","o","p","q","r"]}`,
			fits:   []string{`"a"`, `"r"`, `"\u0072"`},
			bad:    []string{`"s"`, `""`},
		},
		"empty enum":   {schema: `{"enum":[]}`, bad: []string{`"a"`, `1`, `null`, `{}`, `[]`, `true`}},
		"const string": {schema: `{"const":"a"}`, fits: []string{`"a"`}, bad: []string{`"b"`, `1`}},
		"const null":   {schema: `{"const":null}`, fits: []string{`null`}, bad: []string{`0`, `false`, `""`}},
		"const number": {schema: `{"const":0}`, fits: []string{`0`, `-0`, `0.0`, `0e9`}, bad: []string{`1`, `false`}},
		"const false":  {schema: `{"const":false}`, fits: []string{`false`}, bad: []string{`true`, `0`, `null`}},
		"true":         {schema: `true`, fits: []string{`1`, `{"a":[{"b":null}]}`}},
		"false":        {schema: `false`, bad: []string{`1`, `{}`, `null`}},
		"empty":        {schema: `{}`, fits: []string{`1`, `[{"a":"b"}]`, `"x"`}},
		"annotations": {
			schema: `{"$schema":"https://json-schema.org/draft/2020-12/schema","title":"t","description":"d","default":1,
				"examples":[1],"$comment":"c","deprecated":true,"readOnly":true,"writeOnly":false,"format":"email",
				"contentEncoding":"base64","contentMediaType":"application/json","x-order":3,"example":4,"nullable":true,
				"type":"string"}`,
			fits: []string{`"not base64!"`},
			bad:  []string{`null`, `1`},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			fc.run(t, nil)
		})
	}
}

func TestReferences(t *testing.T) {
	t.Parallel()
	for name, fc := range map[string]fitCase{
		"definitions": {
			schema: `{"properties":{"a":{"$ref":"#/$defs/n","description":"d"},"b":{"$ref":"#/definitions/x~1y%20~0"}},
				"$defs":{"n":{"type":"integer"}},"definitions":{"x/y ~":{"type":"string"}}}`,
			fits: []string{`{"a":1,"b":"x"}`},
			bad:  []string{`{"a":"x"}`, `{"b":1}`},
		},
		"root is a reference": {
			schema: `{"$schema":"https://json-schema.org/draft/2020-12/schema","$ref":"#/$defs/tree",
				"$defs":{"tree":{"type":"object","properties":{"kids":{"type":"array","items":{"$ref":"#"}}},
				"additionalProperties":false}}}`,
			fits: []string{`{}`, `{"kids":[{"kids":[]},{}]}`},
			bad:  []string{`{"kids":[{"kids":[1]}]}`, `[]`},
		},
		"list": {
			schema: `{"type":"object","properties":{"next":{"anyOf":[{"$ref":"#"},{"type":"null"}]}},"required":["next"]}`,
			fits:   []string{`{"next":null}`, `{"next":{"next":{"next":null}}}`},
			bad:    []string{`{"next":{}}`, `{"next":1}`, `null`},
		},
		"into an array": {
			schema: `{"properties":{"a":{"anyOf":[{"type":"string"},{"type":"integer"}]},"b":{"$ref":"#/properties/a/anyOf/1"}}}`,
			fits:   []string{`{"a":"x","b":1}`, `{"a":1}`},
			bad:    []string{`{"b":"x"}`, `{"a":true}`},
		},
		"chain": {
			schema: `{"$ref":"#/$defs/a","$defs":{"a":{"$ref":"#/$defs/b"},"b":{"allOf":[{"$ref":"#/$defs/c"}]},"c":{"type":"null"}}}`,
			fits:   []string{`null`},
			bad:    []string{`1`},
		},
		"draft-07": {
			schema: `{"$schema":"http://json-schema.org/draft-07/schema#","properties":{"a":{"$ref":"#/definitions/n","title":"t"}},
				"definitions":{"n":{"type":"integer","exclusiveMinimum":3}}}`,
			fits: []string{`{"a":4}`},
			bad:  []string{`{"a":3}`},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			fc.run(t, nil)
		})
	}
}

func TestUnions(t *testing.T) {
	t.Parallel()
	for name, fc := range map[string]fitCase{
		"anyOf with null": {
			schema: `{"anyOf":[{"type":"object","properties":{"a":{"type":"integer"}},"required":["a"]},{"type":"null"}],"default":null}`,
			fits:   []string{`null`, `{"a":1}`},
			bad:    []string{`{}`, `1`, `{"a":null}`},
		},
		"oneOf by type": {
			schema: `{"oneOf":[{"type":"string","maxLength":2},{"type":"number"},{"type":"array","items":{"type":"null"}},{"const":true}]}`,
			fits:   []string{`"ab"`, `1.5`, `[null]`, `true`},
			bad:    []string{`"abc"`, `[1]`, `false`, `{}`},
		},
		"by enum": {
			schema: `{"anyOf":[{"enum":["a","b"]},{"enum":[1,null]}]}`,
			fits:   []string{`"a"`, `1`, `null`},
			bad:    []string{`"c"`, `2`, `true`},
		},
		"one branch": {
			schema: `{"allOf":[{"anyOf":[{"oneOf":[{"type":"string"},{"type":"null"}]}]}],"title":"t"}`,
			fits:   []string{`"a"`, `null`},
			bad:    []string{`1`},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			fc.run(t, nil)
		})
	}
}

func TestFormats(t *testing.T) {
	t.Parallel()
	dateTime := fitCase{
		schema: `{"properties":{"t":{"type":"string","format":"date-time"}}}`,
		fits: []string{`{"t":"2024-02-29T23:59:59Z"}`, `{"t":"2000-02-29T00:00:00.1234567890Z"}`, `{"t":"0000-12-31T12:00:00+23:59"}`,
			`{"t":"2023-01-31T00:00:00-00:00"}`, `{"t":"\u0032023-01-31T00:00:00Z"}`},
		bad: []string{`{"t":""}`, `{"t":"2023-02-29T00:00:00Z"}`, `{"t":"1900-02-29T00:00:00Z"}`, `{"t":"2023-04-31T00:00:00Z"}`,
			`{"t":"2023-13-01T00:00:00Z"}`, `{"t":"2023-00-01T00:00:00Z"}`, `{"t":"2023-01-00T00:00:00Z"}`, `{"t":"2023-01-01 00:00:00Z"}`,
			`{"t":"2023-01-01T24:00:00Z"}`, `{"t":"2023-01-01T00:60:00Z"}`, `{"t":"2023-01-01T00:00:61Z"}`, `{"t":"2023-01-01T00:00:00"}`,
			`{"t":"2023-01-01T00:00:00.Z"}`, `{"t":"2023-01-01T00:00:00+24:00"}`, `{"t":"2023-01-01T00:00:00+01"}`, `{"t":"2023-01-01T00:00:00 Z"}`},
		asks: []string{`{"t":"1998-12-31T23:59:60Z"}`, `{"t":"2023-01-01t00:00:00Z"}`, `{"t":"2023-01-01T00:00:00z"}`, `{"t":"2023-01-01T+1:00:00Z"}`},
	}
	dateTime.run(t, &fit.Options{AssertFormat: true})
	for _, text := range dateTime.fits {
		var v struct{ T string }
		require.NoError(t, json.Unmarshal([]byte(text), &v))
		require.NoError(t, new(time.Time).UnmarshalText([]byte(v.T)), "time.Time takes what fits")
	}
	draft07 := dateTime
	draft07.schema = `{"$schema":"http://json-schema.org/draft-07/schema#",` + dateTime.schema[1:]
	draft07.run(t, nil)

	others := fitCase{
		schema: `{"properties":{"d":{"format":"date"},"t":{"format":"time"},"u":{"format":"uuid"}}}`,
		fits:   []string{`{"d":"2024-02-29","t":"01:02:03.5-07:30","u":"0f8fad5b-D9CB-469f-a165-70867728950e"}`, `{"d":1,"t":2,"u":3}`},
		bad: []string{`{"d":"2024-2-29"}`, `{"d":"2024-02-30"}`, `{"t":"01:02Z"}`, `{"t":"01-02-03Z"}`, `{"u":"0f8fad5b-D9CB-469f-a165-70867728950"}`,
			`{"u":"0f8fad5bxD9CB-469f-a165-70867728950e"}`, `{"u":"gf8fad5b-D9CB-469f-a165-70867728950e"}`},
	}
	others.run(t, &fit.Options{AssertFormat: true})

	ignored := fitCase{schema: `{"format":"date-time"}`, fits: []string{`"yesterday"`}}
	ignored.run(t, nil)
	ignored.run(t, &fit.Options{})
}

// Texts that callers could not decode, or would decode as something else than
// was checked, are never known to fit, whatever the validator says.
func TestStricterThanTheValidator(t *testing.T) {
	t.Parallel()
	many := func(n int) string {
		var sb strings.Builder
		for i := range n {
			sb.WriteString(`,"k` + strings.Repeat("x", i) + `":0`)
		}
		return "{" + sb.String()[1:] + "}"
	}
	cases := []fitCase{
		{
			schema: `{"properties":{"a":true}}`,
			fits:   []string{`{"a":1,"b":2,"B":3}`, `[{"b":1},{"b":1}]`, `{"b":{"b":{"b":1},"c":2},"c":1}`},
			asks: []string{`{"a":1,"a":1}`, `{"a":1,"\u0061":1}`, `{"A":1}`, `{"b":1,"b":1}`, `{"b":1,"c":{},"b":1}`,
				`{"x":{"b":1,"c":2,"b":3}}`, `{"\u0062":1}`, `{"b":1,"\u0062":1}`},
		},
		{schema: `{"properties":{"a":true,"A":true}}`, fits: []string{`{"a":1,"A":2}`}, asks: []string{`{"a":1,"A":2,"a":3}`}},
		{schema: `{"properties":{"task":true}}`, fits: []string{`{"tasks":1}`}, asks: []string{`{"TASK":1}`, `{"taſK":1}`}},
		{
			schema: `true`,
			fits: []string{`"\ud83d\ude00"`, `"\ufffd\u0000"`, many(64), "[[]" + strings.Repeat(`,[],{"a":{}}`, 300) + "]",
				strings.Repeat("[", 200) + strings.Repeat("]", 200)},
			asks: []string{"\"\xff\"", "{\"\xff\":1}", `"\ud800"`, `"\udc00"`, `"\ud800\ud800"`, `"\ud800\n"`, `{"\ud800":1}`,
				"\"\xed\xa0\x80\"", many(65), strings.Repeat("[", 201) + strings.Repeat("]", 201)},
		},
	}
	for _, fc := range cases {
		fc.run(t, nil)
	}
}

func TestGrammar(t *testing.T) {
	t.Parallel()
	p := mustCompile(t, `true`)
	for _, s := range []string{
		``, ` `, `{`, `}`, `[`, `]`, `[1`, `[1,`, `[1,]`, `[,1]`, `[1 2]`, `{,}`, `{"a"}`, `{"a":}`, `{"a":1,}`, `{"a":1 "b":2}`, `{a:1}`,
		`{'a':1}`, `{"a" 1}`, `{"a":1`, `{1:2}`, `"`, `"a`, `"\"`, `"\x"`, `"\u12"`, `"\u12g4"`, `"\u"`, "\"\n\"", "\"\x00\"", "\"\x1f\"", `'a'`,
		`tru`, `truex`, `True`, `nul`, `nulll`, `falsee`, `NaN`, `Infinity`, `-`, `+1`, `01`, `-01`, `1.`, `.1`, `1.e1`, `1e`, `1e+`, `1e+-1`, `0x1`, `1_0`, `1 1`,
		`1,`, `{}{}`, `[]]`, "\xef\xbb\xbf1", "1\x00", "\u00a01", "1\f", `/**/1`, `--1`, `- 1`, `"a"b`,
	} {
		require.False(t, p.Fits([]byte(s)), "%q", s)
	}
	for _, s := range []string{
		" \t\r\n1 \t\r\n", `[ ]`, `{ }`, `[ 1 , 2 ]`, `{ "a" : 1 , "b" : [ ] }`, `"\"\\\/\b\f\n\r\t\u00fF"`, "\"\x7f\"", `-0`, `0`, `-0.0e-0`, `1E5`,
		`1e+05`, `0.10`, `123456789012345678901234567890`, `1.23456789012345678901234567890`, `""`, `"12345678"`, `"1234567é"`, `"日本語のテキスト"`,
		`"12345678\n12345678"`, `true`, `false`, `null`,
	} {
		require.True(t, p.Fits([]byte(s)), "%q", s)
	}
}

func TestNoAllocations(t *testing.T) {
	p := mustCompile(t, `{"type":"object","properties":{"city":{"type":"string","maxLength":9,"pattern":"^P"},
		"days":{"type":"integer","minimum":1},"unit":{"enum":["C","F"]}},"required":["city"]}`)
	data := []byte(`{"city":"Paris","days":3,"\u0075nit":"C","more":[1,{"x":2.5}]}`)
	require.True(t, p.Fits(data))
	require.Zero(t, testing.AllocsPerRun(100, func() { p.Fits(data) }))
}
