package ai

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"net"
	"net/netip"
	"net/url"
	"reflect"
	"regexp"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestOutputAgrees(t *testing.T) {
	t.Parallel()
	for _, typ := range append(agreeTypes(), reflect.TypeFor[agreeBig](), reflect.TypeFor[error](), reflect.TypeFor[struct{ E fmt.Stringer }](), reflect.TypeFor[struct{ *agreeInner }]()) {
		t.Run(typ.String(), func(t *testing.T) {
			t.Parallel()
			raw, s := inferred(t, typ, output)
			random := rand.New(rand.NewPCG(1, 2))
			for i := range 100 {
				v := reflect.New(typ)
				if i > 0 { // the first is the zero value
					fill(v.Elem(), random, 4)
				}
				for _, data := range [][]byte{encoded(t, v.Interface()), encoded(t, v.Elem().Interface())} {
					require.Empty(t, s.check(data), "%s\n%s", data, raw)
				}
			}
		})
	}
}

func TestInputAgrees(t *testing.T) {
	t.Parallel()
	for _, typ := range agreeTypes() {
		t.Run(typ.String(), func(t *testing.T) {
			t.Parallel()
			raw, s := inferred(t, typ, input)
			random := rand.New(rand.NewPCG(3, 4))
			fits := 0
			for i := range 500 {
				v := reflect.New(typ)
				fill(v.Elem(), random, 4)
				data := mutated(t, encoded(t, v.Interface()), i%4, random)
				if s.check(data) != nil {
					continue
				}
				fits++
				// As tools do, those whose types hold an interface with the digits kept.
				require.NoError(t, decodeArguments(data, reflect.New(typ).Interface(), decodeNumbers), "%s\n%s", data, raw)
			}
			require.Positive(t, fits)
		})
	}
}

func inferred(t *testing.T, typ reflect.Type, dir direction) (json.RawMessage, *schema) {
	t.Helper()
	raw, err := inferSchema(typ, dir)
	require.NoError(t, err)
	s, err := compileSchema(raw, true)
	require.NoError(t, err, string(raw))
	return raw, s
}

func encoded(t *testing.T, v any) []byte {
	t.Helper()
	data, err := json.Marshal(v)
	require.NoError(t, err)
	return data
}

// fill gives v a random value of at most depth levels.
func fill(v reflect.Value, r *rand.Rand, depth int) {
	switch p := v.Addr().Interface().(type) {
	case *time.Time:
		*p = time.Unix(r.Int64N(1<<36), r.Int64N(1e9)).In(time.FixedZone("", r.IntN(48*1800)-24*1800/60*60))
		return
	case *json.Number:
		*p = json.Number(pick(r, "", "0", "-1.5e300", "123456789012345678901234567890"))
		return
	case *json.RawMessage:
		*p = json.RawMessage(pick(r, "null", `{"a":[1,null]}`, "1e999"))
		return
	case *any:
		*p = pick[any](r, nil, true, "x", 1.5, []any{}, map[string]any{"a": nil})
		return
	case *netip.Addr:
		*p = pick(r, netip.Addr{}, netip.MustParseAddr("10.0.0.1"), netip.MustParseAddr("::1"))
		return
	case *net.IP:
		*p = pick(r, nil, net.IPv4(10, 0, 0, 1), net.ParseIP("::1"))
		return
	case **url.Userinfo:
		return
	}
	fillKind(v, r, depth)
}

func fillKind(v reflect.Value, r *rand.Rand, depth int) {
	switch k := v.Kind(); {
	case k == reflect.Bool:
		v.SetBool(r.IntN(2) == 0)
	case k == reflect.String:
		v.SetString(pick(r, "", "a", "\"<é\U0001F600>\\", "null", "12"))
	case isUnsignedKind(k):
		v.SetUint(pick(r, 0, 1, math.MaxUint64, r.Uint64()) >> (64 - v.Type().Bits()))
	case isIntegerKind(k):
		v.SetInt(pick(r, 0, -1, math.MinInt64, math.MaxInt64, r.Int64()) >> (64 - v.Type().Bits()))
	case k == reflect.Float32:
		v.SetFloat(pick(r, 0, -1.5, math.MaxFloat32, -math.MaxFloat32, math.SmallestNonzeroFloat32))
	case k == reflect.Float64:
		v.SetFloat(pick(r, 0, -1.5, math.MaxFloat64, -math.MaxFloat64, math.SmallestNonzeroFloat64, r.NormFloat64()))
	default:
		fillContainer(v, r, depth-1)
	}
}

func fillContainer(v reflect.Value, r *rand.Rand, depth int) {
	empty := depth < 0 || r.IntN(3) == 0
	size := r.IntN(3)
	if empty {
		size = 0
	}
	switch v.Kind() {
	case reflect.Pointer:
		if !empty {
			p := reflect.New(v.Type().Elem())
			fill(p.Elem(), r, depth)
			v.Set(p)
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Field(i).CanSet() {
				fill(v.Field(i), r, depth+1)
			}
		}
	case reflect.Array:
		for i := range v.Len() {
			fill(v.Index(i), r, depth)
		}
	case reflect.Slice:
		if empty && r.IntN(2) == 0 {
			return
		}
		v.Set(reflect.MakeSlice(v.Type(), size, size))
		for i := range v.Len() {
			fill(v.Index(i), r, depth)
		}
	case reflect.Map:
		if empty && r.IntN(2) == 0 {
			return
		}
		v.Set(reflect.MakeMap(v.Type()))
		for range size {
			key, value := reflect.New(v.Type().Key()).Elem(), reflect.New(v.Type().Elem()).Elem()
			fill(key, r, depth+1)
			fill(value, r, depth)
			v.SetMapIndex(key, value)
		}
	}
}

func pick[T any](r *rand.Rand, of ...T) T { return of[r.IntN(len(of))] }

// mutated drops null members of a JSON text and changes some places, and how
// numbers and strings are written.
func mutated(t *testing.T, data []byte, times int, r *rand.Rand) []byte {
	t.Helper()
	d := json.NewDecoder(bytes.NewReader(data))
	d.UseNumber()
	var v any
	require.NoError(t, d.Decode(&v))
	v = withoutNulls(v)
	for range times {
		v = mutate(v, r)
	}
	return respelled(encoded(t, v), r)
}

// respelled writes some integers with a fraction or an exponent, and some
// characters of strings as escapes.
func respelled(data []byte, r *rand.Rand) []byte {
	data = regexp.MustCompile(`"(?:[^"\\]|\\.)*"|-?[0-9][-+.eE0-9]*`).ReplaceAllFunc(data, func(token []byte) []byte {
		if r.IntN(3) > 0 {
			return token
		}
		if token[0] != '"' {
			if bytes.ContainsAny(token, ".eE") {
				return token
			}
			return append(slices.Clone(token), pick(r, ".0", "e0", ".000E+00", "0e-1")...)
		}
		if len(token) > 2 && token[1] != '\\' && token[1] < 0x80 {
			return append(fmt.Appendf(nil, `"\u%04x`, token[1]), token[2:]...)
		}
		return token
	})
	if string(data) == "0" && r.IntN(3) == 0 {
		return []byte("-0")
	}
	return data
}

func withoutNulls(v any) any {
	switch v := v.(type) {
	case []any:
		for i := range v {
			v[i] = withoutNulls(v[i])
		}
	case map[string]any:
		for key, item := range v {
			if item == nil {
				delete(v, key)
			}
			withoutNulls(item)
		}
	}
	return v
}

func mutate(v any, r *rand.Rand) any {
	if r.IntN(4) > 0 {
		switch v := v.(type) {
		case []any:
			if len(v) > 0 {
				i := r.IntN(len(v))
				v[i] = mutate(v[i], r)
				return v
			}
			return append(v, mutate(nil, r))
		case map[string]any:
			return mutateObject(v, r)
		}
	}
	return pick[any](r, nil, true, false, "", "x", "true", "-0", "007", "300", "-1", "1e5", `"x"`, `"`, "\"\n\"", "1e999", "YQ==", "YQ",
		"2020-01-02T03:04:05Z", "2020-01-02t03:04:05z", "2020-12-31T23:59:60Z", "10.0.0.1", "::1", "fe80::1%eth0",
		json.Number("0"), json.Number("-1"), json.Number("127"), json.Number("128"), json.Number("256"), json.Number("65536"),
		json.Number("4294967296"), json.Number("9223372036854775808"), json.Number("18446744073709551616"),
		json.Number("1.5"), json.Number("1e39"), json.Number("-1e400"),
		[]any{}, []any{json.Number("1")}, []any{"x"}, map[string]any{}, map[string]any{"A": json.Number("1")})
}

func mutateObject(v map[string]any, r *rand.Rand) any {
	keys := make([]string, 0, len(v))
	for key := range v {
		keys = append(keys, key)
	}
	slices.Sort(keys)
	switch {
	case len(keys) > 0 && r.IntN(6) > 0:
		key := keys[r.IntN(len(keys))]
		v[key] = mutate(v[key], r)
	case len(keys) > 0 && r.IntN(2) > 0:
		delete(v, keys[r.IntN(len(keys))])
	default:
		v[pick(r, "A", "x", "-", "007", "300", "-0", "1", "-32769", "ID", "kids", "10.0.0.1")] = mutate(nil, r)
	}
	return v
}
