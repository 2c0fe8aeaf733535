package main

import (
	"bufio"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// stateFile is a name for a state file that is not there yet.
func stateFile(t *testing.T) string {
	t.Helper()
	return filepath.Join(t.TempDir(), "transfer.json")
}

// play runs the program on one input and returns all that it printed.
func play(t *testing.T, file string, lines ...string) string {
	t.Helper()
	out, err := try(file, lines...)
	require.NoError(t, err)
	return out
}

func try(file string, lines ...string) (string, error) {
	var out strings.Builder
	in := bufio.NewReader(strings.NewReader(strings.Join(lines, "\n")))
	err := run(context.Background(), file, &terminal{in: in, out: &out, echo: true})
	return out.String(), err
}

// accounts reads who has what from the file.
func accounts(t *testing.T, file string) map[string]cents {
	t.Helper()
	st, err := (&store{file: file}).load()
	require.NoError(t, err)
	return st.Accounts
}

// asked lists the lines in which the program asked before it paid.
func asked(out string) []string {
	var list []string
	for line := range strings.Lines(out) {
		if question, _, found := strings.Cut(line, " ["); found && strings.HasPrefix(line, "Pay ") {
			list = append(list, question)
		}
	}
	return list
}

func TestYesPays(t *testing.T) {
	t.Parallel()
	for _, yes := range []string{"y", "yes", "YES", " y ", "Yes.", "20", "$20.00"} {
		t.Run(yes, func(t *testing.T) {
			t.Parallel()
			file := stateFile(t)
			out := play(t, file, "pay bob 20", yes)
			require.Equal(t, []string{"Pay bob $20.00? You have $100.00."}, asked(out))
			require.Contains(t, out, "\nPaid bob $20.00. You have $80.00 left.\n")
			require.Equal(t, map[string]cents{own: 8000, "alice": 5000, "bob": 3250, "eve": 0}, accounts(t, file))
		})
	}
}

func TestNoPaysNothing(t *testing.T) {
	t.Parallel()
	for answer, want := range map[string]string{
		"n":                  "You said no.",
		"no":                 "You said no.",
		"No, too expensive.": "You said no: too expensive.",
		"n he owes me":       "You said no: he owes me.",
		"no all":             "You said no: all.",
	} {
		t.Run(answer, func(t *testing.T) {
			t.Parallel()
			file := stateFile(t)
			out := play(t, file, "pay bob 20", answer, "balance")
			require.Contains(t, out, "\nNot paid: $20.00 to bob. "+want+"\n")
			require.Contains(t, out, "\nYou have $100.00.\n")
			require.Equal(t, newState().Accounts, accounts(t, file))
		})
	}
}

func TestAmountIsEdited(t *testing.T) {
	t.Parallel()
	file := stateFile(t)
	out := play(t, file, "pay bob 20", "15.50", "balance bob")
	require.Len(t, asked(out), 1, "an edited amount is a yes to that amount")
	require.Contains(t, out, "\nPaid bob $15.50, not $20.00. You have $84.50 left.\n")
	require.Contains(t, out, "\nbob has $28.00.\n")
}

func TestBadAnswerAsksAgain(t *testing.T) {
	t.Parallel()
	for answer, want := range map[string]string{
		"":                "that is no answer",
		"maybe":           "that is no answer",
		"yes but later":   "that is no answer",
		"yes all":         "that is no answer",
		"balance":         "that is no answer",
		"15.505":          "that is no answer",
		"1e2":             "that is no answer",
		"0":               "$0.00 can't be paid: a payment is between $0.01 and $10000.00",
		"-5":              "-$5.00 can't be paid: a payment is between $0.01 and $10000.00",
		"10000.01":        "$10000.01 can't be paid: a payment is between $0.01 and $10000.00",
		"999,999,999,999": "$999999999999.00 can't be paid: a payment is between $0.01 and $10000.00",
		"100.01":          "$100.01 can't be paid: you have $100.00",
	} {
		t.Run(answer, func(t *testing.T) {
			t.Parallel()
			file := stateFile(t)
			out := play(t, file, "pay bob 20", answer, "y")
			require.Contains(t, out, "\nSorry, "+want)
			require.Equal(t, []string{"Pay bob $20.00? You have $100.00.", "Pay bob $20.00? You have $100.00."}, asked(out))
			require.Equal(t, cents(8000), accounts(t, file)[own])
		})
	}
}

func TestLeavingAtTheQuestionAsksItAgain(t *testing.T) {
	t.Parallel()
	for name, rest := range map[string][]string{
		"end of input": nil,
		"quit":         {"quit", "y"},
		"exit":         {"EXIT", "y"},
		"bad answer":   {"well"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			file := stateFile(t)
			first := play(t, file, append([]string{"pay bob 20"}, rest...)...)
			require.Contains(t, first, "The question stays open.")
			require.Equal(t, newState().Accounts, accounts(t, file))
			again := play(t, file)
			require.Contains(t, again, "Welcome back. You left at a question:\n")
			require.Equal(t, asked(first)[:1], asked(again))
			last := play(t, file, "y")
			require.Equal(t, asked(again), asked(last))
			require.Equal(t, cents(8000), accounts(t, file)[own])
		})
	}
}

func TestMoneyThatMovedDoesNotMoveAgain(t *testing.T) {
	t.Parallel()
	file := stateFile(t)
	play(t, file, "pay bob 20", "y")
	for range 3 {
		out := play(t, file, "y", "20")
		require.Contains(t, out, "Welcome back. You have $80.00.")
		require.Empty(t, asked(out))
	}
	require.Equal(t, cents(3250), accounts(t, file)["bob"])
}

func TestTwoPaymentsOfOneSentence(t *testing.T) {
	t.Parallel()
	both := map[string]cents{own: 7500, "alice": 5000, "bob": 3250, "eve": 500}
	none := newState().Accounts
	for name, tc := range map[string]struct {
		answers []string
		said    string
		want    map[string]cents
	}{
		"one by one":    {[]string{"y", "y"}, "Paid bob $20.00. You have $80.00 left.\nPaid eve $5.00. You have $75.00 left.\n", both},
		"both yes":      {[]string{"yes all"}, "Paid bob $20.00. You have $80.00 left.\nPaid eve $5.00. You have $75.00 left.\n", both},
		"both no":       {[]string{"no all"}, "Not paid: $20.00 to bob. You said no.\nNot paid: $5.00 to eve. You said no.\n", none},
		"yes and no":    {[]string{"y", "n why"}, "Paid bob $20.00. You have $80.00 left.\nNot paid: $5.00 to eve. You said no: why.\n", map[string]cents{own: 8000, "alice": 5000, "bob": 3250, "eve": 0}},
		"no and edited": {[]string{"n", "7"}, "Not paid: $20.00 to bob. You said no.\nPaid eve $7.00, not $5.00. You have $93.00 left.\n", map[string]cents{own: 9300, "alice": 5000, "bob": 1250, "eve": 700}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			file := stateFile(t)
			out := play(t, file, append([]string{"pay bob 20 and eve 5"}, tc.answers...)...)
			require.Contains(t, out, "2 payments wait for your answer:\n  1. Pay bob $20.00?\n  2. Pay eve $5.00?\n")
			require.Contains(t, out, tc.said)
			require.Equal(t, tc.want, accounts(t, file))
		})
	}
}

func TestLeavingBetweenTwoPayments(t *testing.T) {
	t.Parallel()
	file := stateFile(t)
	play(t, file, "pay bob 20 and eve 5", "y")
	require.Equal(t, map[string]cents{own: 8000, "alice": 5000, "bob": 3250, "eve": 0}, accounts(t, file))
	out := play(t, file, "y")
	require.Equal(t, []string{"Pay eve $5.00? You have $80.00."}, asked(out), "what was answered is not asked again")
	require.Contains(t, out, "Paid bob $20.00. You have $80.00 left.\nPaid eve $5.00. You have $75.00 left.\n")
	require.Equal(t, map[string]cents{own: 7500, "alice": 5000, "bob": 3250, "eve": 500}, accounts(t, file))
}

func TestMoneyRunsOutBetweenTwoPayments(t *testing.T) {
	t.Parallel()
	for _, answers := range [][]string{{"yes all"}, {"y", "y"}} {
		file := stateFile(t)
		out := play(t, file, append([]string{"pay bob 60 and eve 60"}, answers...)...)
		require.Contains(t, out, "Paid bob $60.00. You have $40.00 left.\nNot paid: $60.00 to eve. The reason: you have $40.00.\n")
		require.Equal(t, map[string]cents{own: 4000, "alice": 5000, "bob": 7250, "eve": 0}, accounts(t, file))
	}
}

func TestRefusedBeforeItIsAsked(t *testing.T) {
	t.Parallel()
	for request, want := range map[string]string{
		"pay bob 100.01":  "Not paid: $100.01 to bob. The reason: you have $100.00.",
		"pay mallory 5":   "Not paid: $5.00 to mallory. The reason: there is no account of mallory, only of alice, bob, eve.",
		"pay me 5":        "Not paid: $5.00 to you. The reason: that is your own account.",
		"pay bob 0":       "Not paid: $0.00 to bob. The reason: a payment is between $0.01 and $10000.00.",
		"pay bob -5":      "Not paid: -$5.00 to bob. The reason: a payment is between $0.01 and $10000.00.",
		"pay bob 10,001":  "Not paid: $10001.00 to bob. The reason: a payment is between $0.01 and $10000.00.",
		"pay bob 5.001":   "5.001 is not an amount I know.",
		"balance mallory": "I can't tell: there is no account of mallory, only of alice, bob, eve.",
	} {
		t.Run(request, func(t *testing.T) {
			t.Parallel()
			file := stateFile(t)
			out := play(t, file, request, "balance bob")
			require.Contains(t, out, "\n"+want)
			require.Contains(t, out, "\nbob has $12.50.\n", "the conversation goes on")
			require.Empty(t, asked(out))
			require.Equal(t, newState().Accounts, accounts(t, file))
		})
	}
}

func TestOneRefusedOneAsked(t *testing.T) {
	t.Parallel()
	file := stateFile(t)
	out := play(t, file, "pay mallory 5 and bob 20", "y")
	require.Equal(t, []string{"Pay bob $20.00? You have $100.00."}, asked(out))
	require.Contains(t, out, "Not paid: $5.00 to mallory. The reason: there is no account of mallory, only of alice, bob, eve.\nPaid bob $20.00. You have $80.00 left.\n")
}

func TestEmptyLinesAndLongLines(t *testing.T) {
	t.Parallel()
	file := stateFile(t)
	out := play(t, file, "", "   ", strings.Repeat("x", 1<<20), "balance")
	require.Contains(t, out, "I only look up balances and pay people.")
	require.Contains(t, out, "\nYou have $100.00.\n")
}

func TestControlCharactersAreNotPrinted(t *testing.T) {
	t.Parallel()
	out := play(t, stateFile(t), "pay bob 20", "no \x1b[2Jgo\taway\xff")
	require.Contains(t, out, "You said no: [2Jgo away\uFFFD.")
	require.NotContains(t, out, "\x1b")
}

func TestNothingIsWrittenBeforeTheFirstRequest(t *testing.T) {
	t.Parallel()
	file := stateFile(t)
	play(t, file, "quit")
	_, err := os.Stat(file)
	require.ErrorIs(t, err, os.ErrNotExist)
}
