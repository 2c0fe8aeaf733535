package coerce_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/stretchr/testify/require"

	"github.com/holdpoint/ai/internal/coerce"
	"github.com/holdpoint/ai/internal/fit"
)

// A load is a kind of arguments: a schema, and values of any size that fit it
// but for one fault.
type load struct {
	name, schema string
	value        func(size int) string
}

// repeated makes {"list":[…],"n":"1"} of at least size bytes.
func repeated(size int, item string) string {
	return `{"list":[` + strings.Repeat(item+",", size/(len(item)+1)) + item + `],"n":"1"}`
}

func listOf(items string) string {
	return `{"type":"object","properties":{"list":{"type":"array","items":` + items + `},"n":{"type":"integer"}},"required":["list","n"]}`
}

func loads() []load {
	edit := `{"type":"object","properties":{"path":{"type":"string"},"line":{"type":"integer","minimum":0},"all":{"type":"boolean"},` +
		`"mode":{"enum":["insert","replace"]},"text":{"type":"string"}},"required":["path","text"],"additionalProperties":false}`
	point := `{"type":"object","properties":{"x":{"type":"number"},"y":{"type":"number"}},"required":["x","y"]}`
	union := `{"anyOf":[{"type":"string"},{"type":"array","items":{"type":"string"}},{"$ref":"#/$defs/p"}]}`
	return []load{
		{"edits", listOf(edit), func(size int) string {
			return repeated(size, `{"path":"dir/file.go","line":12,"all":true,"mode":"insert","text":"func f() {\n\treturn \"x\"\n}"}`)
		}},
		{"text", `{"properties":{"text":{"type":"string"},"n":{"type":"integer"}}}`, func(size int) string {
			return `{"text":"` + strings.Repeat(`func f() {\n\treturn \"x\"\n}\n`, size/28) + `","n":"1"}`
		}},
		{"words", listOf(`{"type":"string"}`), func(size int) string { return repeated(size, `"some words"`) }},
		{"integers", listOf(`{"type":"integer"}`), func(size int) string { return repeated(size, `1234567`) }},
		{"unions", strings.Replace(listOf(union), "{", `{"$defs":{"p":`+point+`},`, 1), func(size int) string {
			return repeated(size, `{"x":1.5,"y":2.25},["a","b"],"c"`)
		}},
		{"faults", listOf(`{"type":"integer"}`), func(size int) string { return repeated(size, `"1234567"`) }},
		{"json", listOf(`{"type":"integer"}`), func(size int) string {
			return `{"list":"[` + strings.Repeat("1234567,", size/8) + `1]","n":1}`
		}},
	}
}

// quick is the fast path that the library puts before the validator.
func quick(b *testing.B, schema string) func([]byte) bool {
	b.Helper()
	doc, err := jsonschema.UnmarshalJSON(strings.NewReader(schema))
	require.NoError(b, err)
	program, ok := fit.Compile(doc, nil)
	if !ok {
		return nil
	}
	return program.Fits
}

func BenchmarkCoerce(b *testing.B) {
	for _, l := range loads() {
		sch := compile(b, l.schema)
		for _, size := range []int{10 << 10, 100 << 10, 1 << 20, 10 << 20} {
			data := []byte(l.value(size))
			run := func(name string, f func()) {
				b.Run(fmt.Sprintf("%s/%s/%dKB", l.name, name, size>>10), func(b *testing.B) {
					b.SetBytes(int64(len(data)))
					b.ReportAllocs()
					for b.Loop() {
						f()
					}
				})
			}
			coerced := func(opts *coerce.Options) func() {
				return func() {
					if _, changes, ok := coerce.Coerce(sch, data, opts); !ok || len(changes) == 0 {
						b.Fatal("not coerced")
					}
				}
			}
			run("quick", coerced(&coerce.Options{Fits: quick(b, l.schema)}))
			run("validator", coerced(nil))
			run("unmarshal", func() {
				var v any
				require.NoError(b, json.Unmarshal(data, &v))
			})
			run("validate", func() {
				v, _ := jsonschema.UnmarshalJSON(bytes.NewReader(data))
				_ = sch.Validate(v)
			})
		}
	}
}
