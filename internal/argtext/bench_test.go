package argtext_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/holdpoint/ai/internal/argtext"
)

// object is an object of about size bytes of the kind that tools for text get.
func object(size int) string {
	var b strings.Builder
	b.WriteString(`{"edits":[`)
	for i := 0; b.Len() < size; i++ {
		if i > 0 {
			b.WriteByte(',')
		}
		fmt.Fprintf(&b, `{"path":"dir/file%d.go","line":%d,"all":true,"text":"func f() {\n\treturn \"x\"\n}"}`, i, i)
	}
	b.WriteString(`]}`)
	return b.String()
}

// texts are the kinds of texts that are read, of about size bytes each.
func texts(size int) map[string]string {
	whole := object(size)
	quoted, _ := json.Marshal(whole)
	return map[string]string{
		"object":   whole,
		"control":  strings.ReplaceAll(whole, `\n`, "\n"),
		"doubled":  string(quoted),
		"fence":    "```json\n" + whole + "\n```",
		"repeated": whole + " " + whole,
		"repeats":  strings.Repeat("{ }{}", size/5),
		"python":   strings.ReplaceAll(whole, "true", "True"),
		"cut off":  whole[:len(whole)-1],
		"nested":   strings.Repeat(`{"a":[`, size/6),
		"tokens":   "{}" + strings.Repeat("</s>", size/4),
	}
}

func BenchmarkParse(b *testing.B) {
	for _, size := range []int{10 << 10, 100 << 10, 1 << 20, 10 << 20} {
		for name, text := range texts(size) {
			b.Run(fmt.Sprintf("%s/%dKB", name, size>>10), func(b *testing.B) {
				b.SetBytes(int64(len(text)))
				b.ReportAllocs()
				for b.Loop() {
					_, _ = argtext.Parse(text, nil)
				}
			})
		}
	}
}

// BenchmarkUnmarshal is what reading the same object costs encoding/json.
func BenchmarkUnmarshal(b *testing.B) {
	for _, size := range []int{10 << 10, 100 << 10, 1 << 20, 10 << 20} {
		b.Run(fmt.Sprintf("%dKB", size>>10), func(b *testing.B) {
			text := []byte(object(size))
			b.SetBytes(int64(len(text)))
			for b.Loop() {
				var v any
				if err := json.Unmarshal(text, &v); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
