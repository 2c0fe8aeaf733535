package ai

import (
	"io"
	"net/url"
	"reflect"
	"strings"
	"sync"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"
)

func inferSameNameA() reflect.Type {
	type node struct {
		A    int   `json:"a"`
		Next *node `json:"next,omitempty"`
	}
	return reflect.TypeFor[*node]()
}

func inferSameNameB() reflect.Type {
	type node struct {
		B    string `json:"b"`
		Next *node  `json:"next,omitempty"`
	}
	return reflect.TypeFor[*node]()
}

func TestInferSchemaSameName(t *testing.T) {
	t.Parallel()
	typ := reflect.StructOf([]reflect.StructField{
		{Name: "A", Type: inferSameNameA(), Tag: `json:"x,omitempty"`},
		{Name: "B", Type: inferSameNameB(), Tag: `json:"y,omitempty"`},
		{Name: "C", Type: reflect.TypeFor[*inferPair[string, []url.URL]](), Tag: `json:"z,omitempty"`},
	})
	raw, s := inferred(t, typ, input)
	require.Contains(t, string(raw), `"$ref":"#/$defs/node"`)
	require.Contains(t, string(raw), `"$ref":"#/$defs/node_2"`)
	require.Contains(t, string(raw), `"$ref":"#/$defs/inferPair_string_URL"`)
	require.Empty(t, s.check([]byte(`{"x":{"a":1,"next":{"a":2}},"y":{"b":"1","next":{"b":"2"}}}`)))
	require.Len(t, s.check([]byte(`{"x":{"a":1,"next":{"b":"2"}},"y":{"b":"1","next":{"a":2}}}`)), 4)
}

type (
	share0 struct{ A, B, C share1 }
	share1 struct{ A, B, C share2 }
	share2 struct{ A, B, C share3 }
	share3 struct{ A, B, C share4 }
	share4 struct{ A, B, C share5 }
	share5 struct{ A, B, C share6 }
	share6 struct {
		V int8      `json:"v"`
		P []*share6 `json:"p,omitempty"`
	}
)

func TestInferSchemaSharesWhatIsLarge(t *testing.T) {
	t.Parallel()
	for _, dir := range []direction{input, output} {
		raw, s := inferred(t, reflect.TypeFor[share0](), dir)
		require.Less(t, len(raw), 3000, string(raw))
		require.True(t, strings.HasPrefix(string(raw), `{"type":"object","properties":{"A":{"$ref":"#/$defs/share1"}`), string(raw))
		require.Empty(t, s.check(encoded(t, share0{})))
	}
}

func TestInferSchemaErrors(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name string
		typ  reflect.Type
		dir  direction
		want string
	}{
		{"chan", reflect.TypeFor[chan int](), output, "chan int is of kind chan, which has no JSON form"},
		{"func", reflect.TypeFor[struct{ A []map[string]func() }](), input, "field A[][]: func() is of kind func, which has no JSON form"},
		{"complex", reflect.TypeFor[struct {
			A struct {
				B *complex64 `json:"b"`
			} `json:"a"`
		}](), output, "field a.b: complex64 is of kind complex64, which has no JSON form"},
		{"unsafe", reflect.TypeFor[[]unsafe.Pointer](), input, "field []: unsafe.Pointer is of kind unsafe.Pointer, which has no JSON form"},
		{"key", reflect.TypeFor[struct{ M map[float64]int }](), output, "field M: float64 is a map key that has no JSON form"},
		{"key that is encoded only", reflect.TypeFor[map[agreeKeyOut]int](), input, "ai.agreeKeyOut is a map key that has no JSON form"},
		{"interface", reflect.TypeFor[struct{ R io.Reader }](), input, "field R: io.Reader is an interface that nothing can be decoded into"},
		{"error of URL", reflect.TypeFor[struct{ U *url.Error }](), input, "field U.Err: error is an interface"},
		{"embedded pointer", reflect.TypeFor[struct{ *inferBase }](), input, "field id: *ai.inferBase is an embedded pointer"},
		{"pointer to itself", reflect.TypeFor[inferSelf](), output, "ai.inferSelf is a pointer to itself"},
		{"panic", reflect.TypeFor[struct{ A inferBroken }](), input, "describing it panicked: broken"},
		{"number in a tag", reflect.TypeFor[struct {
			A float64 `jsonschema:"enum=NaN"`
		}](), input, "invalid number literal"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			raw, err := inferSchema(test.typ, test.dir)
			require.ErrorContains(t, err, test.want)
			require.Nil(t, raw)
		})
	}
	_, err := inferSchema(reflect.TypeFor[map[agreeKeyOut]int](), output)
	require.NoError(t, err)
}

type agreeKeyOut struct{ v string }

func (k agreeKeyOut) MarshalText() ([]byte, error) { return []byte(k.v), nil }

func TestInferSchemaIsStable(t *testing.T) {
	t.Parallel()
	for _, typ := range agreeTypes() {
		want, err := inferSchema(typ, output)
		require.NoError(t, err)
		var group sync.WaitGroup
		for range 8 {
			group.Go(func() {
				raw, err := inferSchema(typ, output)
				if err != nil || string(raw) != string(want) {
					t.Errorf("%s: %s, %v", typ, raw, err)
				}
			})
		}
		group.Wait()
		require.NotContains(t, string(want), `"$schema"`)
		require.NotContains(t, string(want), `"$id"`)
		require.NotContains(t, string(want), nullKey)
	}
}
