package main

import (
	"testing"

	"github.com/holdpoint/ai"
	"github.com/stretchr/testify/require"
)

func TestInterpret(t *testing.T) {
	t.Parallel()
	bob, eve := `transfer {"to":"bob","cents":2000}`, `transfer {"to":"eve","cents":500}`
	own := `balance {"name":"you"}`
	for sentence, want := range map[string][]string{
		"pay bob 20":                            {bob},
		"Pay Bob $20.00!":                       {bob},
		"please send 20 dollars to bob.":        {bob},
		"give bob 20, please":                   {bob},
		"pay bob 20 and eve 5":                  {bob, eve},
		"pay bob 20, eve 5":                     {bob, eve},
		"pay bob 20 & pay eve 5":                {bob, eve},
		"transfer 20 to bob, and then 5 to eve": {bob, eve},
		"pay bob 20 and":                        {bob},
		"pay bob 20 and bob 20":                 {bob, bob},
		"pay bob 1,000":                         {`transfer {"to":"bob","cents":100000}`},
		"pay bob -1":                            {`transfer {"to":"bob","cents":-100}`},
		"pay me 5":                              {`transfer {"to":"you","cents":500}`},
		"don't pay bob 20":                      nil,
		"never pay bob 20":                      nil,
		"pay bob":                               nil,
		"pay 20":                                nil,
		"pay":                                   nil,
		"pay bob twenty":                        nil,
		"pay bob 20 or 30":                      nil,
		"pay bob and eve 20":                    nil,
		"pay bob 20.001":                        nil,
		"pay bob 1e3":                           nil,
		"balance":                               {own},
		"what is my balance?":                   {own},
		"give me my balance":                    {own},
		"how much do I have?":                   {own},
		"balance bob":                           {`balance {"name":"bob"}`},
		"What's Bob's balance?":                 {`balance {"name":"bob"}`},
		"how much do bob and eve have":          {`balance {"name":"bob"}`, `balance {"name":"eve"}`},
		"help":                                  nil,
		"colourless green ideas":                nil,
		"?!":                                    nil,
		"&":                                     nil,
	} {
		t.Run(sentence, func(t *testing.T) {
			t.Parallel()
			message := &ai.Message{Role: ai.RoleModel, Content: interpret(sentence)}
			var got []string
			for _, r := range message.ToolRequests() {
				got = append(got, r.ToolRequest.Name+" "+string(r.ToolRequest.Input))
			}
			require.Equal(t, want, got)
			require.Equal(t, want == nil, message.Text() != "", "it asks for tools or says something")
		})
	}
}

func TestParseAmount(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]cents{
		"0": 0, "20": 2000, "020": 2000, "20.5": 2050, "20.05": 2005, "$20": 2000, "-1": -100, "-$0.01": -1,
		"1,000": 100000, "1,234,567.89": 123456789, "999999999999": 99999999999900,
	} {
		got, ok := parseAmount(text)
		require.True(t, ok, text)
		require.Equal(t, want, got, text)
	}
	for _, text := range []string{
		"", "$", "-", ".", ".5", "5.", "1.234", "1,00", "1,0000", ",5", "1.000,00", "1e3", "0x10", "+5", "--5",
		"5 5", "٢٠", "NaN", "1000000000000",
	} {
		_, ok := parseAmount(text)
		require.False(t, ok, text)
	}
}

func TestCentsAreWrittenInDollars(t *testing.T) {
	t.Parallel()
	for c, want := range map[cents]string{0: "$0.00", 1: "$0.01", 2050: "$20.50", -5: "-$0.05", maxPayment: "$10000.00"} {
		require.Equal(t, want, c.String())
	}
}
