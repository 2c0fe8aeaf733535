package ai

import (
	"encoding/json"
	"math/big"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestPlainSpelling(t *testing.T) {
	t.Parallel()
	tests := []struct{ name, in, out string }{
		{"fraction of zero", `[3.0,-3.00,10.0]`, `[3,-3,10]`},
		{"exponent", `[1e2,1E+2,-1.5e1,30e-1,1200e-2]`, `[100,100,-15,3,12]`},
		{"zero", `[-0,0.0,-0.0,0e5,0e99999999999999999999,-0e-99999999999999999999]`, `[0,0,0,0,0,0]`},
		{"the largest of a type", `[1.8446744073709551615e19,-9223372036854775808.0,1e19]`, `[18446744073709551615,-9223372036854775808,10000000000000000000]`},
		{"small ones with many digits", `[0.0000000000000000000000000000000003e34,3.` + strings.Repeat("0", 500) + `]`, `[3,3]`},
		{"in objects", `{"3.0":3.0,"a":{"b":[ 2.0 ]}}`, `{"3.0":3,"a":{"b":[ 2 ]}}`},
		{"behind strings", `["\"","\\",4.0,"4.0\\\"4.0"]`, `["\"","\\",4,"4.0\\\"4.0"]`},
		{"alone", `7.0`, `7`},
		{"escapes", `{"\u0061":"\u0032020\/\u003c\n\""}`, `{"a":"2020/<\n\""}`},
		{"plain", `[0,1,-1,100,null,true,"3.0"]`, ``},
		{"no integers", `[0.5,1e-1,-1.5e0,15e-2,3.10]`, ``},
		{"larger than any type", `[1e20,1e999,1e99999999999999999999,-1e-99999999999999999999]`, ``},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			out, ok := plainSpelling(json.RawMessage(test.in))
			require.Equal(t, test.out != "", ok)
			if ok {
				require.Equal(t, test.out, string(out))
			} else {
				require.Equal(t, test.in, string(out))
			}
		})
	}
}

// What is written otherwise is the same value, in a text that is still JSON.
func FuzzPlainSpelling(f *testing.F) {
	for _, seed := range []string{`3.0`, `-1.50e1`, `{"a":[1e2,"\u0022"]}`, `0.00e-3`, `12345678901234567890.0`} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if !json.Valid([]byte(text)) {
			return
		}
		out, ok := plainSpelling(json.RawMessage(text))
		require.True(t, json.Valid(out))
		if !ok {
			require.Equal(t, text, string(out))
		}
		if numberTooLarge(text) {
			return
		}
		if was, isNumber := new(big.Rat).SetString(strings.TrimSpace(text)); isNumber {
			is, _ := new(big.Rat).SetString(strings.TrimSpace(string(out)))
			require.Zero(t, was.Cmp(is))
		}
	})
}
