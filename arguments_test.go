package ai_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"github.com/holdpoint/ai"
)

func TestFaultString(t *testing.T) {
	t.Parallel()
	tests := []struct {
		fault ai.Fault
		want  string
	}{
		{ai.Fault{Path: "edits.0.oldText", Expected: "a string", Got: "null"}, "edits.0.oldText: expected a string, got null"},
		{ai.Fault{Expected: "an object", Got: "array []"}, "expected an object, got array []"},
		{ai.Fault{Path: "edits.0", Expected: `property "oldText"`}, `edits.0: missing property "oldText"`},
	}
	for _, test := range tests {
		require.Equal(t, test.want, test.fault.String())
	}
}

func TestArgumentErrorText(t *testing.T) {
	t.Parallel()
	fault := ai.Fault{Path: "amount", Expected: "an integer", Got: `string "five"`}
	one := &ai.ArgumentError{Tool: "pay", Ref: "call_1", Faults: []ai.Fault{fault}, Arguments: json.RawMessage(`{"secret":1}`)}
	require.Equal(t, `ai: arguments of pay#call_1 do not fit: amount: expected an integer, got string "five"`, one.Error())
	require.Equal(t, `The arguments of pay do not fit: amount: expected an integer, got string "five"`, one.ModelText())

	two := &ai.ArgumentError{Tool: "pay", Faults: []ai.Fault{{Expected: `property "to"`}, fault}}
	require.Equal(t, "ai: arguments of pay do not fit:\n\tmissing property \"to\"\n\tamount: expected an integer, got string \"five\"", two.Error())
	require.Equal(t, "The arguments of pay do not fit:\n- missing property \"to\"\n- amount: expected an integer, got string \"five\"", two.ModelText())

	none := &ai.ArgumentError{Tool: "pay"}
	require.Equal(t, "The arguments of pay do not fit: no reason given", none.ModelText())
}

func TestArgumentErrorIsBounded(t *testing.T) {
	t.Parallel()
	e := &ai.ArgumentError{Tool: "pay"}
	for i := range 25 {
		e.Faults = append(e.Faults, ai.Fault{Path: fmt.Sprint(i), Expected: "a string", Got: "null"})
	}
	require.Equal(t, 22, strings.Count(e.ModelText(), "\n")+1)
	require.True(t, strings.HasSuffix(e.ModelText(), "\n- and 5 more"), e.ModelText())
	require.True(t, strings.HasSuffix(e.Error(), "\n\tand 5 more"), e.Error())

	long := strings.Repeat("é", 100_000)
	e = &ai.ArgumentError{Tool: long, Ref: long}
	for range 25 {
		e.Faults = append(e.Faults, ai.Fault{Path: long, Expected: strings.Repeat("x", 1000), Got: "null"})
	}
	for _, text := range []string{e.Error(), e.ModelText()} {
		require.Less(t, len(text), 8000)
		require.True(t, utf8.ValidString(text))
		require.Contains(t, text, "and 21 more")
	}
}

func TestArgumentErrorKind(t *testing.T) {
	t.Parallel()
	err := fmt.Errorf("wrapped: %w", &ai.ArgumentError{Tool: "pay"})
	require.ErrorIs(t, err, ai.ErrInvalidArgument)
	require.NotErrorIs(t, err, errors.ErrUnsupported)
	var args *ai.ArgumentError
	require.ErrorAs(t, err, &args)
	require.Equal(t, "pay", args.Tool)
}

func ExampleArgumentError() {
	err := &ai.ArgumentError{
		Tool: "pay",
		Ref:  "call_1",
		Faults: []ai.Fault{
			{Expected: `property "currency"`},
			{Path: "amount", Expected: "an integer", Got: `string "five"`},
		},
		Arguments: []byte(`{"amount":"five"}`),
	}
	fmt.Println(err)
	fmt.Println()
	fmt.Println(err.ModelText())
	// Output:
	// ai: arguments of pay#call_1 do not fit:
	// 	missing property "currency"
	// 	amount: expected an integer, got string "five"
	//
	// The arguments of pay do not fit:
	// - missing property "currency"
	// - amount: expected an integer, got string "five"
}
