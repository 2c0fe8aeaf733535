package argtext_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/holdpoint/ai/internal/argtext"
)

// A parseCase says what becomes of a text, by default and with probable
// repairs. An empty rule with an object means that the text is returned as it
// is; an empty object means an error.
type parseCase struct {
	name   string
	text   string
	object string // exact repairs only
	rule   string
	likely string // with probable repairs, where that differs
	why    string // rule of likely
}

func (c *parseCase) run(t *testing.T) {
	t.Helper()
	t.Parallel()
	likely, why := c.likely, c.why
	if c.object != "" {
		likely, why = c.object, c.rule
	}
	check(t, c.text, nil, c.object, c.rule)
	check(t, c.text, &argtext.Options{Probable: true}, likely, why)
	if _, err := argtext.Parse(c.text, nil); err != nil {
		var problem *argtext.Error
		require.ErrorAs(t, err, &problem)
		require.Equal(t, c.likely != "", problem.Probable, problem.Problem)
	}
}

func check(t *testing.T, text string, opts *argtext.Options, object, rule string) {
	t.Helper()
	res, err := argtext.Parse(text, opts)
	if object == "" {
		require.Error(t, err, "%q became %v", text, res)
		require.Nil(t, res)
		return
	}
	require.NoError(t, err, "%q", text)
	require.Equal(t, object, string(res.Object))
	require.Equal(t, rule, res.Rule)
}

func runCases(t *testing.T, cases []parseCase) {
	t.Helper()
	for _, c := range cases {
		if c.name == "" {
			c.name = c.text
		}
		t.Run(c.name, func(t *testing.T) { c.run(t) })
	}
}

func TestParseTakesObjectsAsTheyAre(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		`{}`, " {\"b\" : 1.50 ,\n\"a\":[1e3,-0,{}]}\n", `{"a":1,"a":2}`, `{"s":"{}\"[]\\ \u00e9 \ud800"}`,
		`{"n":12345678901234567890.10,"t":true,"f":false,"z":null}`, "{\"raw\":\"\xff\"}",
		`{"x":` + strings.Repeat("[", 9999) + strings.Repeat("]", 9999) + `}`,
	} {
		check(t, text, nil, text, "")
		check(t, text, &argtext.Options{Probable: true}, text, "")
	}
}

func TestParseExact(t *testing.T) {
	t.Parallel()
	runCases(t, []parseCase{
		{name: "no text", text: "", object: "{}", rule: "empty"},
		{name: "blank", text: " \r\n\t", object: "{}", rule: "empty"},
		{text: " null ", object: "{}", rule: "empty"},
		{name: "byte order mark", text: "\uFEFF{\"a\":1}", object: `{"a":1}`, rule: "byte-order-mark"},
		{name: "byte order mark alone", text: "\uFEFF", object: `{}`, rule: "byte-order-mark+empty"},

		{name: "fence", text: "```json\n{\"a\":1}\n```", object: `{"a":1}`, rule: "fence"},
		{name: "fence without language", text: "\n````\n{}\n````\n", object: `{}`, rule: "fence"},
		{name: "fence on one line", text: "```{\"a\":1}```", object: `{"a":1}`, rule: "fence"},
		{name: "fence in the object", text: "{\"a\":\"```json\\n{}\\n```\"}", object: "{\"a\":\"```json\\n{}\\n```\"}"},
		{name: "open fence", text: "```json\n{\"a\":1}"},
		{name: "half a closing fence", text: "```json\n{\"a\":1}\n``"},
		{name: "empty fence", text: "```json\n```"},
		{name: "only ticks", text: "``````"},
		{name: "inline code", text: "`{\"a\":1}`"},
		{name: "text before the fence", text: "Here:\n```\n{}\n```"},
		{name: "text in the fence", text: "```\nrun {}\n```"},

		{text: `"{\"a\":\"b\\nc\"}"`, object: `{"a":"b\nc"}`, rule: "doubled-encoding"},
		{text: `"\"{\\\"a\\\":1}\""`, object: `{"a":1}`, rule: "doubled-encoding"},
		{text: `"{\"a\":\"\ud83d\ude00\u00e9\/\b\f\r\t\"}"`, object: "{\"a\":\"😀é/\\b\\f\\r\\t\"}", rule: "doubled-encoding+control-characters"},
		{text: `"{\"a\":\"\ud83d\"}"`},
		{text: `"{\"a\":\"\ude00\ud83d\"}"`},
		{text: `"{\"a\":\"\ud83dx\"}"`},
		{text: `"{}" {}`},
		{text: `"[1]"`},
		{text: `"null"`},
		{text: `""`},
		{text: `"a text"`},
		{text: `"{\"a\":1"`},
		{text: `"{\"a\":1}`},

		{text: `{"a":1}{"a":1}`, object: `{"a":1}`, rule: "repeated-object"},
		{text: "{\"a\":1}\n{ \"a\" : 1 }{\"a\":1}", object: `{"a":1}`, rule: "repeated-object"},
		{text: `{}{}`, object: `{}`, rule: "repeated-object"},
		{text: `{}{"a":1}`},
		{text: `{"a":1}{"a":1.0}`},
		{text: `{"a":1}{"b":1}`},
		{text: `{"a":1},{"a":1}`},
		{text: `{"a":1}{"a":1`},
		{text: `{"a":1}[]`},
		{text: `{"a":1}}`},

		{text: `{"a":1}<|call|>`, object: `{"a":1}`, rule: "control-token"},
		{text: "{\"a\":1}\n</tool_call>\n<|im_end|>\n", object: `{"a":1}`, rule: "control-token"},
		{text: `"{}"<|eot_id|>`, object: `{}`, rule: "control-token+doubled-encoding"},
		{text: `{"a":"<|call|>"}`, object: `{"a":"<|call|>"}`},
		{text: `{"a":"<|call|>`},
		{text: `{"a":1<|call|>`},
		{text: `<|call|>`},
		{text: `<|call|>{"a":1}`},
		{text: `{"a":1}<|cal`},
		{text: `{"a":1}<|never_heard_of|>`},

		{text: "{\"a\":\"x\ny\r\t\x00\x1f\b\f\"}", object: `{"a":"x\ny\r\t\u0000\u001f\b\f"}`, rule: "control-characters"},
		{text: "{\"a\nb\":1}", object: `{"a\nb":1}`, rule: "control-characters"},
		{text: "\"{\n\\\"a\\\":\\\"x\ny\\\"}\"", object: "{\n\"a\":\"x\\ny\"}", rule: "control-characters+doubled-encoding"},
		{text: "{\"a\":\x00 1}"},
		{text: "{\"a\":\"x\\\n\"}"},
		{text: "```\n{\"a\":\"x\ty\"}\n```<|end|>", object: `{"a":"x\ty"}`, rule: "control-token+fence+control-characters"},
	})
}

func TestParseProbable(t *testing.T) {
	t.Parallel()
	runCases(t, []parseCase{
		{text: `{"a":1,}`, likely: `{"a":1}`, why: "trailing-comma"},
		{text: `{"a":[1, 2 , ] , }`, likely: `{"a":[1, 2  ]  }`, why: "trailing-comma"},
		{text: `{,}`},
		{text: `{"a":[,]}`},
		{text: `{"a":1,,}`},
		{text: `{"a":1,`},

		{text: `{command:"ls", $x_1-y : 2}`, likely: `{"command":"ls", "$x_1-y" : 2}`, why: "unquoted-key"},
		{text: `{a b:1}`},
		{text: `{1a:1}`},
		{text: `{é:1}`},
		{text: `{true:1}`},
		{text: `{None:1}`},
		{text: `{a}`},
		{text: `{a`},
		{text: `{a:b}`},
		{text: `{"a":ls -l}`},

		{text: `{'a':'b'}`, likely: `{"a":"b"}`, why: "single-quotes"},
		{text: `{'a':'it\'s \"so\" "said"'}`, likely: `{"a":"it's \"so\" \"said\""}`, why: "single-quotes"},
		{text: `'{"a":1}'`, likely: `{"a":1}`, why: "single-quotes+doubled-encoding"},
		{text: `"{'a':1}"`, likely: `{"a":1}`, why: "doubled-encoding+single-quotes"},
		{text: `{'a':'it's'}`},
		{text: `{'a':'\x41'}`},
		{text: `{"a":"it\'s"}`},
		{text: `{'a":1}`},
		{text: `{'a':'b}`},

		{text: `{"a":[True,False,None]}`, likely: `{"a":[true,false,null]}`, why: "python-literal"},
		{text: `{"a":"True, None"}`, object: `{"a":"True, None"}`},
		{text: `{"a":Truex}`},
		{text: `{"a":TRUE}`},
		{text: `{"a":undefined}`},
		{text: `{"a":NaN}`},
		{text: `{"a":Tru`},

		{text: `{"a":1} Let me know, "please"!`, likely: `{"a":1}`, why: "prose"},
		{text: "{\"a\":1}\n\nÉcrit.", likely: `{"a":1}`, why: "prose"},
		{text: `{"a":1} then {"b":2}`},
		{text: `{"a":1} and "b":2`},
		{text: `{"a":1},"b":2}`},
		{text: `{"a":1} 5`},
		{text: `{"a":1 Let me know`},
		{text: `Sure: {"a":1}`},

		{text: "```\n{a:'b',}\n``` ", likely: `{"a":"b"}`, why: "fence+unquoted-key+single-quotes+trailing-comma"},
	})
}

func TestParseNever(t *testing.T) {
	t.Parallel()
	cases := []parseCase{
		{text: `[{"a":1}]`}, {text: `5`}, {text: `-1`}, {text: `true`}, {text: `nul`}, {text: `null null`}, {text: `hello`},
		{text: `{{"a":1}}`}, {text: `{"a":[<|"|>x<|"|>]}`}, {text: `{"a":"b",c":"d"}`}, {text: `{"p":"C:\Users\new"}`},
		{text: `{"a":01}`}, {text: `{"a":1.}`}, {text: `{"a":.5}`}, {text: `{"a":+1}`}, {text: `{"a":1e}`}, {text: `{"a":-}`},
		{text: `{"a":"\u12g4"}`}, {text: `{"a":"\u12`}, {text: `{"a":"\`}, {text: `{"a" 1}`}, {text: `{"a":1 "b":2}`},
		{text: `{"a":[1}`}, {text: `{"a":tru`}, {text: `{`}, {text: `{"`}, {text: `{"a`}, {text: `{"a"`}, {text: `{"a":`},
		{text: `// x` + "\n{}"}, {text: `{"a":1 /* x */}`},
		{name: "too deep", text: `{"x":` + strings.Repeat("[", 10000) + strings.Repeat("]", 10000) + `}`},
	}
	runCases(t, cases)
	layers := "{}"
	for range 9 {
		quoted, err := json.Marshal(layers)
		require.NoError(t, err)
		layers = string(quoted)
	}
	check(t, layers, nil, "", "")
}

func TestParseProblem(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		`[1]`:                              "expected a JSON object, got an array (at byte 1)",
		` 5`:                               "expected a JSON object, got a number (at byte 2)",
		`"x"`:                              "expected a JSON object, got a string (at byte 1)",
		"`x`":                              "expected a JSON object, got text (at byte 1)",
		`yes`:                              "expected a JSON object, got text (at byte 1)",
		`{"a":"line`:                       "the text is cut off: expected the end of the string (at byte 11)",
		`{"a":[1`:                          "the text is cut off: expected a comma or ] (at byte 8)",
		`{"a":1,}`:                         "unexpected '}', expected a key in quotes (at byte 8)",
		`{"a":"b",c":"d"}`:                 "unexpected 'c', expected a key in quotes (at byte 10)",
		`{"a":é}`:                          "unexpected 'é', expected a JSON value (at byte 6)",
		`{"p":"C:\Users"}`:                 `the string has the escape "\\U", which JSON has not (at byte 9)`,
		`{"a":1}{"a":2}`:                   "a second object that differs from the first (at byte 8)",
		`{"a":1} thanks`:                   "text behind the object (at byte 9)",
		`<|call|>`:                         "nothing but a control token (at byte 1)",
		"```json\n{}":                      "the fence does not end: the text is cut off (at byte 11)",
		"```\n```":                         "no JSON object inside (at byte 5)",
		`"{\"a\":}"`:                       "inside the string: unexpected '}', expected a JSON value (at byte 6)",
		`"{}" x`:                           "text behind the string (at byte 5)",
		`"{\"a\":\"\ud800\"}"`:             "a string with half a surrogate pair (at byte 1)",
		strings.Repeat(`{"a":`, 1e4) + `{`: "more than 10000 arrays and objects inside each other (at byte 50001)",
	} {
		_, err := argtext.Parse(text, nil)
		var problem *argtext.Error
		require.True(t, errors.As(err, &problem), "%.40q", text)
		require.Equal(t, want, problem.Problem)
		require.Equal(t, "ai: arguments are not a JSON object: "+want, err.Error())
	}
}
