package fit_test

import (
	"math/big"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/holdpoint/ai/internal/fit"
)

// trickyNumbers sit where floats, int64, uint64 or counts of digits end.
var trickyNumbers = []string{
	"0", "-0", "0.0", "0e7", "0e-30", "1", "-1", "1.0", "10e-1", "0.1", "0.10", "1e-1", "0.30000000000000004", "0.3", "1.5", "-1.5", "15e-1",
	"3", "9", "10", "99", "100",
	"1e2", "1e20", "1e21", "1e-20", "-1e-20", "100000000000000000000", "9007199254740992", "9007199254740993", "-9007199254740993", "9007199254740992.5",
	"9007199254740993e-1", "9223372036854775807", "9223372036854775808", "-9223372036854775808", "18446744073709551615", "18446744073709551615.0",
	"1844674407370955161.5",
	"1844674407370955161", "10000000000000000000", "9999999999999999999", "1e19",
	"10000000000000000000000000", "1.00000000000000000000000", "0.00000000000000000000010",
	"100000000000000000000000.00e-3", "1e288", "-1e288", "1.7976931348623157e304", "1e-300",
}

// TestNumbers checks each number against each as the value of each keyword:
// all are exact, so the answer is exactly what arithmetic says.
func TestNumbers(t *testing.T) {
	t.Parallel()
	for _, limit := range trickyNumbers {
		b, _ := new(big.Rat).SetString(limit)
		for keyword, fits := range map[string]func(sign int) bool{
			"minimum":          func(sign int) bool { return sign >= 0 },
			"maximum":          func(sign int) bool { return sign <= 0 },
			"exclusiveMinimum": func(sign int) bool { return sign > 0 },
			"exclusiveMaximum": func(sign int) bool { return sign < 0 },
			"const":            func(sign int) bool { return sign == 0 },
		} {
			p := mustCompile(t, `{"`+keyword+`":`+limit+`}`)
			for _, value := range trickyNumbers {
				a, _ := new(big.Rat).SetString(value)
				require.Equal(t, fits(a.Cmp(b)), p.Fits([]byte(value)), "%s with %s %s", value, keyword, limit)
			}
		}
	}
}

func TestIntegers(t *testing.T) {
	t.Parallel()
	p := mustCompile(t, `{"type":"integer"}`)
	for _, value := range trickyNumbers {
		a, _ := new(big.Rat).SetString(value)
		require.Equal(t, a.IsInt(), p.Fits([]byte(value)), value)
	}
	require.True(t, p.Fits([]byte("123456789012345678901234567890")), "digits alone are an integer, however many")
	require.True(t, p.Fits([]byte("123400000000000000000000000000.000000")), "zeros need no room")
	require.False(t, p.Fits([]byte("123456789012345678901234567890.0")), "more digits than are kept")
}

func TestMultipleOf(t *testing.T) {
	t.Parallel()
	for _, fc := range []fitCase{
		{schema: `{"multipleOf":3}`, fits: []string{`0`, `3`, `-9`, `9.0`, `3e0`, `3e2`, `"x"`}, bad: []string{`1`, `3.5`, `-10`, `1e2`}, asks: []string{`3e40`}},
		{schema: `{"multipleOf":0.01}`, fits: []string{`0.07`, `1`, `4.35`, `19.99`, `-0.03`, `1e2`}, bad: []string{`0.075`, `0.001`}},
		{schema: `{"multipleOf":1e-8}`, fits: []string{`12391239123`, `0.00000001`}, bad: []string{`0.000000015`}},
		{schema: `{"type":"integer","multipleOf":5,"minimum":10,"exclusiveMaximum":20}`, fits: []string{`10`, `15`}, bad: []string{`5`, `12`, `20`, `12.5`}},
	} {
		fc.run(t, nil)
	}
}

// Numbers that are not kept exactly are left to the validator.
func TestHugeNumbers(t *testing.T) {
	t.Parallel()
	for _, fc := range []fitCase{
		{schema: `{"minimum":0}`, asks: []string{`18446744073709551616`, `0.123456789012345678901`, `1e1000`, `123456789012345678901234567890`}},
		{schema: `{"type":"number"}`, fits: []string{`18446744073709551616`, `0.123456789012345678901`, `1e-999`}, asks: []string{`1e289`, `1e400`, `1e-1000`}},
		{schema: `{"maximum":1.7976931348623157e308}`, fits: []string{`18446744073709551615e288`}, bad: []string{`2e308`}},
		{schema: `{"enum":[5]}`, bad: []string{`50000000000000000000000`}},
	} {
		fc.run(t, nil)
	}
	p := mustCompile(t, `{"type":"number"}`)
	require.True(t, p.Fits([]byte("0."+strings.Repeat("0", 497)+"1")))
	require.False(t, p.Fits([]byte("0."+strings.Repeat("0", 498)+"1")))
	require.False(t, p.Fits([]byte(`1e99999999999999999999`)))
	_, ok := fit.Compile(parse(t, `{"maximum":123456789012345678901}`), nil)
	require.False(t, ok)
}
