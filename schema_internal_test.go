package ai

import (
	"encoding/json"
	"os"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestCheckFaults(t *testing.T) {
	t.Parallel()
	var cases []struct {
		Name   string
		Schema json.RawMessage
		Data   json.RawMessage
		Text   *string
		Faults []string
	}
	raw, err := os.ReadFile("testdata/schema/faults.json")
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(raw, &cases))
	for _, c := range cases {
		t.Run(c.Name, func(t *testing.T) {
			t.Parallel()
			s, err := compileSchema(c.Schema, false)
			require.NoError(t, err)
			data := c.Data
			if c.Text != nil {
				data = json.RawMessage(*c.Text)
			}
			for range 3 { // maps are in another order each time
				got := []string{}
				for _, f := range s.check(data) {
					got = append(got, f.String())
				}
				require.Equal(t, c.Faults, got)
			}
		})
	}
}

func TestCheckFits(t *testing.T) {
	t.Parallel()
	tests := []struct{ name, schema, data string }{
		{"no schema", ``, `not even JSON`},
		{"blank schema", " \n", `1`},
		{"empty schema", `{}`, `[1,{"a":null}]`},
		{"true", `true`, `null`},
		{"digits", `{"const":9007199254740993}`, `9007199254740993`},
		{"integer with a point", `{"type":"integer"}`, `3.0`},
		{"format is a note", `{"format":"date-time"}`, `"yesterday"`},
		{"format without a check", `{"$schema":"http://json-schema.org/draft-07/schema#","format":"colour"}`, `"x"`},
		{"reference", `{"$ref":"#/$defs/a","$defs":{"a":{"type":"string"}}}`, `"x"`},
		{"reference by $id", `{"$id":"https://example.com/a","properties":{"x":{"$ref":"https://example.com/b"}},"$defs":{"b":{"$id":"b","type":"integer"}}}`, `{"x":1}`},
		{"relative $id", `{"$id":"one","properties":{"x":{"$id":"two","type":"integer"}}}`, `{"x":1}`},
		{"draft 4", `{"$schema":"http://json-schema.org/draft-04/schema#","id":"x","maximum":5,"exclusiveMaximum":true}`, `4`},
		{"draft 6", `{"$schema":"http://json-schema.org/draft-06/schema#","exclusiveMaximum":5}`, `4`},
		{"draft 2019", `{"$schema":"https://json-schema.org/draft/2019-09/schema","$recursiveAnchor":true,"items":{"$recursiveRef":"#"}}`, `[[]]`},
		{"deep", `{}`, strings.Repeat("[", 9000) + strings.Repeat("]", 9000)},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			s, err := compileSchema(json.RawMessage(test.schema), false)
			require.NoError(t, err)
			require.Nil(t, s.check(json.RawMessage(test.data)))
		})
	}
}

func TestCheckFormats(t *testing.T) {
	t.Parallel()
	tests := []struct {
		format string
		fits   []string
		not    []string
	}{
		{"date-time", []string{"2020-01-02T03:04:05Z", "2020-01-02T03:04:05.25+01:00"}, []string{"2020-01-02", "2020-01-02t03:04:05z", "2016-12-31T23:59:60Z"}},
		{"int8", []string{"0", "-128", "127"}, []string{"", "128", "-129", "+1", "01", "-0", "1.0", "1e1", " 1"}},
		{"uint16", []string{"0", "65535"}, []string{"-1", "65536", "00"}},
		{"float", []string{"0", "-1.5", "3.4e38"}, []string{"", "1e39", "Inf", "0x1p2", ".5", "null", " 1", "1_0"}},
		{"double", []string{"1e308", "1E-400"}, []string{"1e309", "NaN", "+1"}},
		{"email", []string{"a@example.com"}, []string{"a"}},
	}
	for _, test := range tests {
		t.Run(test.format, func(t *testing.T) {
			t.Parallel()
			s, err := compileSchema(json.RawMessage(`{"format":"`+test.format+`"}`), true)
			require.NoError(t, err)
			for _, text := range test.fits {
				require.Empty(t, s.check(encoded(t, text)), text)
			}
			for _, text := range test.not {
				require.Len(t, s.check(encoded(t, text)), 1, text)
			}
			require.Empty(t, s.check([]byte(`7`)), "formats are about strings")
		})
	}
}

func TestCompileSchemaErrors(t *testing.T) {
	t.Parallel()
	deep := strings.Repeat(`{"items":`, 300) + `{}` + strings.Repeat(`}`, 300)
	tests := []struct{ name, schema, want string }{
		{"no JSON", `{"type":`, "not JSON: unexpected EOF"},
		{"two values", `{} {}`, "not JSON: invalid character after top-level value"},
		{"no schema", `"string"`, `does not compile: #: expected a boolean or an object, got string "string"`},
		{"unknown type", `{"properties":{"a":{"type":"strin"}}}`, `does not compile: #/properties/a/type: expected one of 2 alternatives (closest is 1: expected one of "array", `},
		{"bad bound", `{"properties":{"a":{"minLength":-1},"b":{"required":true}}}`, `does not compile: #/properties/a/minLength: expected at least 0, got number -1; #/properties/b/required: expected an array, got boolean true`},
		{"reference to a bad place", `{"$ref":"#/a/0","a":[{"type":1}]}`, `does not compile: #/a/0/type: expected`},
		{"unknown draft", `{"$schema":"https://example.com/draft"}`, `a schema may not refer to other documents`},
		{"deep", deep, "nests 301 levels deep, at most 256 are supported"},
		{"large number", `{"maximum":1e99999}`, "holds the number 1e99999, which is too large"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			s, err := compileSchema(json.RawMessage(test.schema), false)
			require.ErrorContains(t, err, test.want)
			require.Nil(t, s)
			require.NotContains(t, err.Error(), schemaURL)
			wd, wdErr := os.Getwd()
			require.NoError(t, wdErr)
			require.NotContains(t, err.Error(), wd)
			require.Less(t, len(err.Error()), 2000)
		})
	}
}

func TestCheckIsBounded(t *testing.T) {
	t.Parallel()
	tree := `{"type":"object","additionalProperties":false,"properties":{"k":{"type":"array","items":{"$ref":"#"}}}}`
	tests := []struct{ name, schema, data string }{
		{"many items", `{"items":{"type":"string"}}`, "[" + strings.Repeat("1,", 50_000) + "1]"},
		{"many unknown properties", `{"additionalProperties":false,"properties":{"a":{}}}`, manyKeys(20_000)},
		{"many bad names", `{"additionalProperties":{"propertyNames":{"maxLength":1}}}`, `{"a":` + manyKeys(20_000) + `}`},
		{"many missing", `{"required":["` + strings.Join(names(5000), `","`) + `"]}`, `{}`},
		{"long text", `{"type":"integer"}`, `"` + strings.Repeat("é", 1_000_000) + `"`},
		{"long key", `{"additionalProperties":false}`, `{"` + strings.Repeat("k", 1_000_000) + `":1}`},
		{"large object", `{"type":"integer"}`, manyKeys(20_000)},
		{"large members", `{"enum":["` + strings.Join(names(5000), `","`) + `"]}`, `1`},
		{"deep", tree, strings.Repeat(`{"k":[`, 3000) + `1` + strings.Repeat(`]}`, 3000)},
		{"deep alternatives", `{"anyOf":[{"type":"string"},{"type":"array","items":{"$ref":"#"}},{"type":"object"}]}`, strings.Repeat(`[`, 90) + `1` + strings.Repeat(`]`, 90)},
		{"large exponent", `{"type":"number","maximum":1}`, `1e999999999`},
		{"many digits", `{"type":"integer"}`, strings.Repeat("9", 1_000_000)},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			s, err := compileSchema(json.RawMessage(test.schema), false)
			require.NoError(t, err)
			faults := s.check(json.RawMessage(test.data))
			require.NotEmpty(t, faults)
			require.LessOrEqual(t, len(faults), maxFaults)
			for _, f := range faults {
				require.Less(t, len(f.String()), 2500)
			}
			e := &ArgumentError{Tool: "t", Faults: faults, Arguments: json.RawMessage(test.data)}
			require.Less(t, len(e.Error()), 8000)
			require.Less(t, len(e.ModelText()), 8000)
			require.Equal(t, faults, s.check(json.RawMessage(test.data)))
		})
	}
}

func names(n int) []string {
	list := make([]string, n)
	for i := range list {
		list[i] = strings.Repeat("x", 3) + string(rune('0'+i/1000)) + string(rune('0'+i/100%10)) + string(rune('0'+i/10%10)) + string(rune('0'+i%10))
	}
	return list
}

func manyKeys(n int) string {
	return `{"` + strings.Join(names(n), `":1,"`) + `":1}`
}

func TestSchemaServesManyAtOnce(t *testing.T) {
	t.Parallel()
	s, err := compileSchema([]byte(`{"properties":{"a":{"type":"integer"}},"additionalProperties":false}`), true)
	require.NoError(t, err)
	var group sync.WaitGroup
	for range 8 {
		group.Go(func() {
			for range 100 {
				if s.check([]byte(`{"a":1}`)) != nil || len(s.check([]byte(`{"a":"x","b":2}`))) != 2 {
					t.Error("another verdict")
				}
			}
		})
	}
	group.Wait()
}

func FuzzSchemaCheck(f *testing.F) {
	raw, err := os.ReadFile("testdata/schema/faults.json")
	require.NoError(f, err)
	var cases []struct{ Schema, Data json.RawMessage }
	require.NoError(f, json.Unmarshal(raw, &cases))
	for _, c := range cases {
		f.Add([]byte(c.Schema), []byte(c.Data), false)
		f.Add([]byte(c.Schema), []byte(c.Data), true)
	}
	f.Fuzz(func(t *testing.T, schema, data []byte, inferred bool) {
		s, err := compileSchema(schema, inferred)
		if err != nil {
			require.Nil(t, s)
			return
		}
		faults := s.check(data)
		require.LessOrEqual(t, len(faults), maxFaults)
		require.Equal(t, faults, s.check(data))
		if s != nil && !json.Valid(data) {
			require.NotEmpty(t, faults)
		}
		e := &ArgumentError{Tool: "t", Faults: faults}
		require.Less(t, len(e.ModelText()), 16_000)
	})
}
