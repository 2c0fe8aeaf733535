package fit_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func BenchmarkFits(b *testing.B) {
	for _, bc := range []struct{ name, schema, data string }{
		{
			name:   "one field",
			schema: `{"type":"object","properties":{"City":{"type":"string"}},"required":["City"],"additionalProperties":false}`,
			data:   `{"City":"Paris"}`,
		},
		{
			name: "ten fields",
			schema: `{"type":"object","properties":{
				"from":{"type":"string","minLength":3,"maxLength":3},"to":{"type":"string","minLength":3,"maxLength":3},
				"class":{"enum":["economy","business","first"]},"adults":{"type":"integer","minimum":1,"maximum":9},
				"children":{"type":"integer","minimum":0,"maximum":9},"budget":{"type":"number","exclusiveMinimum":0},
				"currency":{"enum":["EUR","USD","GBP"]},"flexible":{"type":"boolean"},"note":{"type":["string","null"]},
				"date":{"type":"string","format":"date"}},
				"required":["from","to","class","adults","date"],"additionalProperties":false}`,
			data: `{"from":"CDG","to":"JFK","class":"business","adults":2,"children":0,"budget":1499.50,"currency":"EUR",` +
				`"flexible":true,"note":null,"date":"2031-05-04"}`,
		},
		{
			name: "nested arrays",
			schema: `{"type":"object","properties":{"rows":{"type":"array","items":{"type":"array","items":
				{"type":"number","minimum":-1000}}}},"required":["rows"]}`,
			data: `{"rows":[` + strings.Repeat(`[1,2.5,-3,4e1,500,66,7.75,8],`, 31) + `[0]]}`,
		},
		{
			name:   "long string",
			schema: `{"type":"object","properties":{"text":{"type":"string"}}}`,
			data:   `{"text":"` + strings.Repeat(`A line of plain words, as files have.\n`, 100) + `"}`,
		},
	} {
		p := mustCompile(b, bc.schema)
		data := []byte(bc.data)
		require.True(b, p.Fits(data))
		b.Run(bc.name+"/fits", func(b *testing.B) {
			b.ReportAllocs()
			b.SetBytes(int64(len(data)))
			for b.Loop() {
				p.Fits(data)
			}
		})
		b.Run(bc.name+"/json.Valid", func(b *testing.B) {
			b.ReportAllocs()
			b.SetBytes(int64(len(data)))
			for b.Loop() {
				json.Valid(data)
			}
		})
	}
}
