package partialjson_test

import (
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/holdpoint/ai/internal/partialjson"
)

// texts are valid and broken ones, each with something that a cut can hit.
var texts = []string{
	``, ` `, `{}`, `[]`, ` [ ] `, `""`, `0`, `-0`, `true`, `false`, `null`, "\t{\n}\r ",
	`{"text":"a growing text","n":12,"list":[1,[2.5e+3,-0.1E-2],{"deep":{"er":[]}}],"ok":true,"no":null}`,
	`"\"\\\/\b\f\n\r\t\u0041\u00e9\u20AC"`, `"é€😀"`, `{"é😀":"ü"}`,
	`"\ud83d\ude00"`, `"\ud83d"`, `"\ude00"`, `"\ud83dx"`, `"\ud83d\n"`, `"\ud83d\u0041"`, `"\ud83d\ud83d\ude00"`, `"\ude00\ud83d\ude00"`, `"\ud83d😀"`, `"\ufffd"`,
	"\"\xff\"", "\"a\xe2\x82\"", "\"\xe2\x82\\n\xf0\x9f\x98\"", "\"\xe0\x80\x80\"", "\"\xed\xa0\xbd\xed\xb8\x80\"", "\"\xf0\x9f\x98\x80\xf0\x9f\"", "{\"\xff\":1}",
	`12345678901234567890.123e-400`, `[0,-0,1E5,1e+5]`, `01`, `-`, `1.`, `1.e`, `1e`, `1e+`, `1e++1`, `1e5+1`, `1.2.3`, `1e5.0`, `.5`, `+1`, `[1,]`, `[-]`, `1 2`, `-a`, `1x`,
	`{"a":1,"a":"two"}`, `{"a":{"b":1},"a":{"c":2},"b":3}`, `{"":0,"":""}`,
	`{"a":1,"b":2,"c":3,"d":4,"e":5,"f":6,"g":7,"h":8,"i":9,"j":10,"a":"again","k":11,"a":{"x":"y"}}`,
	`{`, `{"`, `{"a`, `{"a"`, `{"a":`, `{"a":"`, `{"a":"b`, `{"a":"b"`, `{"a":"b",`, `[`, `[1`, `[1,`, `["`, `[tru`, `nul`,
	`{,}`, `{"a" 1}`, `{"a":1 "b"}`, `{1:2}`, `{"a":}`, `{"a":1,}`, `[1 2]`, `[}`, `{]`, `[1}`, `{"a":1]`, `]`, `}`, `{}x`, `[] []`, `{"a":1}}`,
	`truE`, `nul!`, `"\x"`, `"\u12g4"`, `"\u"`, "\"\n\"", "\"\\u\x100000\"", "\"\x00\"", `'a'`, "\xef\xbb\xbf{}", `// c`, `NaN`,
}

func TestEveryCutOfEveryText(t *testing.T) {
	t.Parallel()
	for _, text := range texts {
		t.Run(text, func(t *testing.T) {
			t.Parallel()
			check(t, text, nil)
			for first := range min(len(text), 200) {
				check(t, text, []byte{byte(first), 255})
			}
			for _, step := range []byte{0, 1, 2, 4, 19} {
				check(t, text, []byte{step})
			}
		})
	}
}

// What is shown after each piece.
func TestShown(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct{ pieces, shown []string }{
		"a string from its opening quote": {
			[]string{`{`, `"a"`, `:`, ` `, `"`, `b`, `c"`, `}`},
			[]string{`{}`, `{}`, `{}`, `{}`, `{"a":""}`, `{"a":"b"}`, `{"a":"bc"}`, `{"a":"bc"}`},
		},
		"an escape when it is whole":    {[]string{`"a\`, `n`, `\u00`, `41`}, []string{`"a"`, `"a\u000a"`, `"a\u000a"`, `"a\u000aA"`}},
		"a pair when both halves are":   {[]string{`"\ud83d`, `\u`, `de00`}, []string{`""`, `""`, `"😀"`}},
		"a lone half when it is known":  {[]string{`"\ud83d`, `\`, `n`, `\ud83d`, `"`}, []string{`""`, `""`, `"` + "\ufffd" + `\u000a"`, `"` + "\ufffd" + `\u000a"`, `"` + "\ufffd" + `\u000a` + "\ufffd" + `"`}},
		"a UTF-8 sequence when it is":   {[]string{"\"\xf0", "\x9f\x98", "\x80", "\xc3", "x"}, []string{`""`, `""`, `"😀"`, `"😀"`, `"😀` + "\ufffd" + `x"`}},
		"a number at its delimiter":     {[]string{`[1`, `2`, ` `, `,-3`, `]`}, []string{`[]`, `[]`, `[12]`, `[12]`, `[12,-3]`}},
		"a literal at its last letter":  {[]string{`[tru`, `e`, `,nul`, `l`}, []string{`[]`, `[true]`, `[true]`, `[true,null]`}},
		"a container from its bracket":  {[]string{`{"a":[`, `{`, `"b":{`, `}`, `}]`}, []string{`{"a":[]}`, `{"a":[{}]}`, `{"a":[{"b":{}}]}`, `{"a":[{"b":{}}]}`, `{"a":[{"b":{}}]}`}},
		"the last value of a key":       {[]string{`{"a":1,`, `"a":`, `2`, `,`, `"a":"`}, []string{`{"a":1}`, `{"a":1}`, `{"a":1}`, `{"a":2}`, `{"a":""}`}},
		"all before a fault":            {[]string{`{"a":"b`, "\x01", `c"}`}, []string{`{"a":"b"}`, `{"a":"b"}`, `{"a":"b"}`}},
		"the value before another one":  {[]string{`[1] `, `x`, `[2]`}, []string{`[1]`, `[1]`, `[1]`}},
		"a number at the top level":     {[]string{`1`, `2`, "\n"}, []string{``, ``, `12`}},
		"keys that share a beginning":   {[]string{`{"a":1,"ab`, `":2,`, `"":3}`}, []string{`{"a":1}`, `{"a":1,"ab":2}`, `{"a":1,"ab":2,"":3}`}},
		"an escaped key":                {[]string{`{"\u00`, `e9":`, `"`}, []string{`{}`, `{}`, `{"é":""}`}},
		"nothing for white space alone": {[]string{" \n", "\t"}, []string{``, ``}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var p partialjson.Parser
			for i, piece := range tt.pieces {
				_ = p.Feed(piece)
				require.Equal(t, tt.shown[i], take(&p).looked, "after piece %d", i)
			}
		})
	}
}

func TestNumberAtTheEndOfTheText(t *testing.T) {
	t.Parallel()
	var p partialjson.Parser
	require.NoError(t, p.Feed("-1.5"))
	require.Equal(t, partialjson.None, p.Value().Kind())
	require.NoError(t, p.End())
	require.Equal(t, "-1.5", p.Value().Text())
	require.True(t, p.Value().Complete())
}

func TestFaults(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		``:               `at byte 0: expected a value, got the end of the text`,
		`{"a":"b`:        `at byte 7: expected the rest of a string, got the end of the text`,
		`[12`:            `at byte 3: expected the rest of a number, got the end of the text`,
		`[nul`:           `at byte 4: expected "l", got the end of the text`,
		`[1 2]`:          `at byte 3: expected ',' or a closing bracket, got "2"`,
		`[1}`:            `at byte 2: expected ',' or a closing bracket, got "}"`,
		`{"a" 1}`:        `at byte 5: expected ':', got "1"`,
		`{1}`:            `at byte 1: expected a key or '}', got "1"`,
		`{"a":1,}`:       `at byte 7: expected a key, got "}"`,
		`[1,]`:           `at byte 3: expected a value, got "]"`,
		`[}`:             `at byte 1: expected a value or ']', got "}"`,
		`{} x`:           `at byte 3: expected nothing more, got "x"`,
		`"\x"`:           `at byte 2: expected an escape, got "x"`,
		`"\u00g0"`:       `at byte 5: expected a hexadecimal digit, got "g"`,
		`01`:             `at byte 1: expected nothing more, got "1"`,
		`[1.x]`:          `at byte 3: expected the rest of a number, got "x"`,
		`[trUe]`:         `at byte 3: expected "ue", got "U"`,
		"\"a\n\"":        `at byte 2: expected the rest of a string, got "\n"`,
		"\xff":           `at byte 0: expected a value, got "\xff"`,
		nested(10_001):   `at byte 10000: more than 10000 containers are open`,
		`{"a":1,"b":2}]`: `at byte 13: expected nothing more, got "]"`,
	} {
		p, _ := feed(text, []byte{0})
		require.EqualError(t, p.Err(), want)
		require.EqualError(t, p.Feed("more"), want, "the first fault stays")
		require.EqualError(t, p.End(), want)
	}
}

func nested(depth int) string { return strings.Repeat("[", depth) + strings.Repeat("]", depth) }

// What is open below the depth that is shown is there once the container at that depth is closed.
func TestDepth(t *testing.T) {
	t.Parallel()
	p := &partialjson.Parser{}
	require.NoError(t, p.Feed(strings.Repeat(`[`, 64)+`"a`))
	require.Equal(t, strings.Repeat(`[`, 64)+`"a"`+strings.Repeat(`]`, 64), take(p).looked)
	require.NoError(t, p.Feed(`",[["b`))
	require.Equal(t, strings.Repeat(`[`, 64)+`"a"`+strings.Repeat(`]`, 64), take(p).looked)
	require.NoError(t, p.Feed(`"],1`))
	require.Equal(t, strings.Repeat(`[`, 64)+`"a"`+strings.Repeat(`]`, 64), take(p).looked)
	require.NoError(t, p.Feed(`]`))
	require.Equal(t, strings.Repeat(`[`, 64)+`"a",[["b"],1]`+strings.Repeat(`]`, 64), take(p).looked)

	for _, depth := range []int{63, 64, 65, 10_000} {
		check(t, nested(depth), []byte{250})
	}
}

func TestViews(t *testing.T) {
	t.Parallel()
	var p partialjson.Parser
	require.NoError(t, p.Feed(`{"n":1.0,"s":"x","list":[true,null,"`))
	v := p.Value()
	require.Equal(t, partialjson.Object, v.Kind())
	require.False(t, v.Complete())
	require.Empty(t, v.Text())
	require.Equal(t, 3, v.Len())
	require.Equal(t, "1.0", v.Field("n").Text())
	require.True(t, v.Field("n").Complete())
	require.Equal(t, partialjson.Value{}, v.Field("none"))
	require.Equal(t, partialjson.Value{}, v.Index(0), "an object has no elements")
	list := v.Field("list")
	require.Equal(t, 3, list.Len())
	require.Equal(t, "true", list.Index(0).Text())
	require.Equal(t, partialjson.Null, list.Index(1).Kind())
	require.Equal(t, partialjson.String, list.Index(2).Kind())
	require.False(t, list.Index(2).Complete())
	require.Equal(t, partialjson.Value{}, list.Index(3))
	require.Equal(t, partialjson.Value{}, list.Index(-1))
	require.Equal(t, partialjson.Value{}, list.Field(""), "an array has no keys")
	require.Equal(t, `{"n":1.0,"s":"x","list":[true,null]}`, string(v.AppendJSON(nil, false)))
	require.NoError(t, p.Feed(`"],"n":"again`))
	require.Equal(t, 3, p.Value().Len(), "a key that is given again counts once")
	require.False(t, partialjson.Value{}.Complete())
	require.Zero(t, partialjson.Value{}.Len())
	for range (partialjson.Value{}).Members() {
		t.Fatal("nothing has no members")
	}
	for key := range v.Members() {
		require.Equal(t, "n", key)
		break
	}
}

// Many keys, each in every earlier view and in none that is too early.
func TestManyKeys(t *testing.T) {
	t.Parallel()
	const n = 300
	var p partialjson.Parser
	require.NoError(t, p.Feed("{"))
	views := []partialjson.Value{p.Value()}
	for i := range n {
		require.NoError(t, p.Feed(fmt.Sprintf(`"k%d":%d,`, i, i)))
		views = append(views, p.Value())
	}
	for i := range n {
		require.NoError(t, p.Feed(fmt.Sprintf(`"k%d":"again",`, i)))
	}
	for have, v := range views {
		require.Equal(t, have, v.Len())
		for i := range n {
			want := ""
			if i < have {
				want = fmt.Sprint(i)
			}
			require.Equal(t, want, v.Field(fmt.Sprintf("k%d", i)).Text())
		}
	}
	require.Equal(t, n, p.Value().Len())
	for _, v := range p.Value().Members() {
		require.Equal(t, "again", v.Text())
	}
}

// Views are read by others while the parser goes on. Run with -race.
func TestViewsOnOtherGoroutines(t *testing.T) {
	t.Parallel()
	var text strings.Builder
	text.WriteString(`{"list":[`)
	for i := range 300 {
		fmt.Fprintf(&text, `{"id":%d,"name":"n\u00e4me %d"},`, i, i)
	}
	text.WriteString(`0]`)
	for i := range 100 {
		fmt.Fprintf(&text, `,"k%d":"%s"`, i%50, strings.Repeat("x", i))
	}
	text.WriteString(`}`)
	var p partialjson.Parser
	var wg sync.WaitGroup
	for rest := text.String(); rest != ""; {
		n := min(37, len(rest))
		require.NoError(t, p.Feed(rest[:n]))
		rest = rest[n:]
		s := take(&p)
		wg.Go(func() {
			if again := string(s.value.AppendJSON(nil, true)); s.looked != again {
				t.Errorf("%s has become %s", s.looked, again)
			}
			_ = s.value.Field("k7").Text()
		})
	}
	wg.Wait()
	require.NoError(t, p.End())
}
