package ai

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"reflect"
	"strings"
	"testing"

	"github.com/invopop/jsonschema"
	"github.com/stretchr/testify/require"
)

func TestInferSchema(t *testing.T) {
	t.Parallel()
	// The schemas by name of the sample, in the bytes that are expected but for
	// spaces. Without an output that is the same as the input.
	var want map[string]struct{ Input, Output json.RawMessage }
	raw, err := os.ReadFile("testdata/schema/inferred.json")
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(raw, &want))
	samples := inferSamples()
	require.Len(t, want, len(samples))
	for name, typ := range samples {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := want[name]
			if len(w.Output) == 0 {
				w.Output = w.Input
			}
			requireInferred(t, typ, output, w.Output)
			if len(w.Input) > 0 {
				requireInferred(t, typ, input, w.Input)
			}
		})
	}
}

func requireInferred(t *testing.T, typ reflect.Type, dir direction, want json.RawMessage) {
	t.Helper()
	var compact bytes.Buffer
	require.NoError(t, json.Compact(&compact, want))
	raw, err := inferSchema(typ, dir)
	require.NoError(t, err)
	require.Equal(t, compact.String(), string(raw))
}

func TestInferSchemaTags(t *testing.T) {
	t.Parallel()
	type inner struct {
		X string `json:"x"`
	}
	tests := []struct {
		name  string
		field any // a struct with the one field A
		want  string
	}{
		{"description", struct {
			A string `jsonschema:"description=one\\, two <three>,title=T"`
		}{}, `{"title":"T","description":"one, two <three>","type":"string"}`},
		{"long description", struct {
			A *string `jsonschema_description:"a, b"`
		}{}, `{"description":"a, b","type":"string"}`},
		{"description of a struct", struct {
			A *inner `jsonschema:"description=in"`
		}{}, `{"description":"in","type":"object","properties":{"x":{"type":"string"}},"required":["x"],"additionalProperties":false}`},
		{"description of anything", struct {
			A any `jsonschema:"description=anything"`
		}{}, `{"description":"anything"}`},
		{"enum", struct {
			A *string `jsonschema:"enum=a,enum=b,default=a,example=b"`
		}{}, `{"type":"string","enum":["a","b"],"default":"a","examples":["b"]}`},
		{"text", struct {
			A string `jsonschema:"minLength=1,maxLength=3,pattern=^[<&]$,format=email"`
		}{}, `{"type":"string","format":"email","pattern":"^[<&]$","minLength":1,"maxLength":3}`},
		{"tighter bounds", struct {
			A *uint8 `jsonschema:"minimum=1,maximum=100,default=7"`
		}{}, `{"type":"integer","minimum":1,"maximum":100,"default":7}`},
		{"wider bounds", struct {
			A int8 `jsonschema:"minimum=-1000,maximum=1000,multipleOf=2"`
		}{}, `{"type":"integer","minimum":-128,"maximum":127,"multipleOf":2}`},
		{"bounds that are none", struct {
			A uint8 `jsonschema:"minimum=few,maximum="`
		}{}, `{"type":"integer","minimum":0,"maximum":255}`},
		{"exclusive bounds", struct {
			A int8 `jsonschema:"exclusiveMinimum=0,exclusiveMaximum=9223372036854775807"`
		}{}, `{"type":"integer","minimum":-128,"exclusiveMinimum":0,"maximum":127,"exclusiveMaximum":9223372036854775807}`},
		{"items", struct {
			A []uint8x `jsonschema:"minItems=1,maxItems=2,uniqueItems=true,maximum=9,minimum=-1,default=1,default=2"`
		}{}, `{"type":"array","minItems":1,"maxItems":2,"uniqueItems":true,"items":{"type":"integer","minimum":0,"maximum":9},"default":[1,2]}`},
		{"items that are text", struct {
			A []string `jsonschema:"enum=x,enum=y,default=x"`
		}{}, `{"type":"array","items":{"type":"string","enum":["x","y"]},"default":["x"]}`},
		{"nullable", struct {
			A int8 `jsonschema:"nullable,description=d"`
		}{}, `{"description":"d","type":["integer","null"],"minimum":-128,"maximum":127}`},
		{"nullable enum", struct {
			A *string `jsonschema:"nullable,enum=a"`
		}{}, `{"anyOf":[{"type":"string","enum":["a"]},{"type":"null"}]}`},
		{"other keywords", struct {
			A string `jsonschema_extras:"x-kind=secret"`
		}{}, `{"type":"string","x-kind":"secret"}`},
		{"quoted", struct {
			A int8 `json:",string" jsonschema:"description=n"`
		}{}, `{"description":"n","type":"string","format":"int8","pattern":"^(0|-?[1-9][0-9]*)$"}`},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			raw, err := inferSchema(reflect.TypeOf(test.field), input)
			require.NoError(t, err)
			var s struct{ Properties struct{ A json.RawMessage } }
			require.NoError(t, json.Unmarshal(raw, &s))
			require.Equal(t, test.want, string(s.Properties.A))
			_, err = compileSchema(raw, true)
			require.NoError(t, err)
		})
	}
}

type uint8x uint16

func (uint8x) JSONSchemaExtend(s *jsonschema.Schema) { s.Maximum = "255" }

func TestInferSchemaHidden(t *testing.T) {
	t.Parallel()
	typ := reflect.TypeFor[struct {
		A string `json:"a"`
		B string `json:"b" jsonschema:"-"`
	}]()
	raw, err := inferSchema(typ, input)
	require.NoError(t, err)
	require.Equal(t, `{"type":"object","properties":{"a":{"type":"string"}},"required":["a"],"additionalProperties":false}`, string(raw))
	raw, err = inferSchema(typ, output)
	require.NoError(t, err)
	require.Equal(t, `{"type":"object","properties":{"a":{"type":"string"},"b":{"type":"string"}},"required":["a","b"],"additionalProperties":false}`, string(raw))
}

func TestInferSchemaNeedsOneOf(t *testing.T) {
	t.Parallel()
	_, s := inferred(t, reflect.TypeFor[struct {
		A string `json:"a,omitempty" jsonschema:"oneof_required=by a"`
		B string `json:"b,omitempty" jsonschema:"oneof_required=by b"`
	}](), input)
	require.Empty(t, s.check([]byte(`{"a":"x"}`)))
	require.Empty(t, s.check([]byte(`{"b":"x"}`)))
	require.NotEmpty(t, s.check([]byte(`{}`)))
	require.NotEmpty(t, s.check([]byte(`{"a":"x","b":"y"}`)))
}

func Example_inferSchema() {
	type payment struct {
		Amount   uint32  `json:"amount" jsonschema:"description=in cents,minimum=1"`
		Currency string  `json:"currency" jsonschema:"enum=EUR,enum=USD"`
		Note     *string `json:"note" jsonschema:"maxLength=140"`
	}
	raw, err := inferSchema(reflect.TypeFor[payment](), input)
	if err != nil {
		panic(err)
	}
	fmt.Println(strings.ReplaceAll(string(raw), `,"`, ",\n\""))
	// Output:
	// {"type":"object",
	// "properties":{"amount":{"description":"in cents",
	// "type":"integer",
	// "minimum":1,
	// "maximum":4294967295},
	// "currency":{"type":"string",
	// "enum":["EUR",
	// "USD"]},
	// "note":{"type":"string",
	// "maxLength":140}},
	// "required":["amount",
	// "currency"],
	// "additionalProperties":false}
}
