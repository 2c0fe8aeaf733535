package partialjson_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/holdpoint/ai/internal/partialjson"
)

// loads are arguments of about n bytes, and how a reader looks at the field that
// grows in them.
var loads = []struct {
	name string
	make func(n int) string
	look func(partialjson.Value) int
}{
	{
		"text",
		func(n int) string {
			return `{"path":"a.txt","text":"` + strings.Repeat("All work and no play. ", n/22) + `"}`
		},
		func(v partialjson.Value) int { return len(v.Field("text").Text()) },
	},
	{
		"objects",
		func(n int) string {
			return `{"path":"a.txt","edits":[` + strings.Repeat(`{"line":12,"text":"abc","keep":true},`, n/37) + `{}]}`
		},
		func(v partialjson.Value) int {
			edits := v.Field("edits")
			return edits.Len() + len(edits.Index(edits.Len()-1).Field("text").Text())
		},
	},
	{
		"keys",
		func(n int) string {
			var b strings.Builder
			for i := 0; b.Len() < n; i++ {
				fmt.Fprintf(&b, `"k%d":%d,`, i, i)
			}
			return "{" + b.String() + `"":0}`
		},
		func(v partialjson.Value) int { return v.Len() + len(v.Field("k1").Text()) },
	},
	{
		"escapes",
		func(n int) string { return `{"text":"` + strings.Repeat(`é\n\"\ud83d\ude00`, n/18) + `"}` },
		func(v partialjson.Value) int { return len(v.Field("text").Text()) },
	},
	{
		"depth",
		func(n int) string {
			return strings.Repeat("[", 64) + strings.Repeat("1,", n/2) + "1" + strings.Repeat("]", 64)
		},
		func(v partialjson.Value) int { return v.Len() },
	},
}

// BenchmarkParser reads arguments in deltas, a field that grows read at each, and
// compares that with one json.Unmarshal of the whole. A delta of 0 is the latter.
func BenchmarkParser(b *testing.B) {
	for _, load := range loads {
		for _, size := range []int{10_000, 100_000, 1_000_000, 10_000_000} {
			text := load.make(size)
			for _, delta := range []int{0, 20, 1} {
				b.Run(fmt.Sprintf("load=%s/size=%d/delta=%d", load.name, size, delta), func(b *testing.B) {
					b.SetBytes(int64(len(text)))
					b.ReportAllocs()
					for b.Loop() {
						if delta == 0 {
							unmarshal(b, text)
						} else {
							parse(b, text, delta, load.look)
						}
					}
				})
			}
		}
	}
}

func unmarshal(b *testing.B, text string) {
	var v any
	if err := json.Unmarshal([]byte(text), &v); err != nil {
		b.Fatal(err)
	}
}

func parse(b *testing.B, text string, delta int, look func(partialjson.Value) int) {
	var p partialjson.Parser
	seen := 0
	for rest := text; rest != ""; {
		n := min(delta, len(rest))
		if err := p.Feed(rest[:n]); err != nil {
			b.Fatal(err)
		}
		seen += look(p.Value())
		rest = rest[n:]
	}
	if err := p.End(); err != nil || seen == 0 {
		b.Fatal(err)
	}
}
