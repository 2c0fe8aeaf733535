package main

import (
	"context"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/holdpoint/ai"
)

// clerk is a model made of rules, so that the example runs without a provider.
// It turns sentences into tool requests, and tool responses into sentences.
type clerk struct{}

// Generate answers the last message.
func (clerk) Generate(_ context.Context, req *ai.ModelRequest, _ func(*ai.Chunk) error) (*ai.ModelResponse, error) {
	last := req.Messages[len(req.Messages)-1]
	reply := &ai.Message{Role: ai.RoleModel}
	if last.Role == ai.RoleTool {
		requests := req.Messages[len(req.Messages)-2].ToolRequests()
		reply.Content = ai.Parts{&ai.TextPart{Text: report(requests, last)}}
	} else {
		reply.Content = interpret(last.Text())
	}
	return &ai.ModelResponse{Message: reply, FinishReason: ai.FinishStop}, nil
}

const helpText = `I look up balances and pay people. You can say:
  balance                     what you have
  balance bob                 what bob has
  pay bob 20                  also: send $20.50 to bob
  pay bob 20 and eve 5        two payments, two questions
  help, quit
Before money moves I ask: answer yes, no (with a reason), or another amount.`

// verbs ask for a payment.
var verbs = []string{"pay", "send", "transfer", "give", "wire"}

// interpret turns a sentence into tool requests, or into a text where it asks
// for nothing that can be done.
func interpret(sentence string) ai.Parts {
	words := strings.FieldsFunc(strings.ToLower(sentence), func(r rune) bool { return strings.ContainsRune(" ?!", r) })
	for i, w := range words {
		words[i] = strings.TrimRight(w, ".:;")
	}
	has := func(list ...string) bool {
		return slices.ContainsFunc(words, func(w string) bool { return slices.Contains(list, w) })
	}
	balance := has("balance", "balances")
	switch {
	case has("pay", "transfer", "wire"), has(verbs...) && !balance: // "give me my balance" is no payment
		return payments(words)
	case balance, has("have", "has"):
		return balances(words)
	case has("help", "hello", "hi"):
		return say(helpText)
	}
	return say(`I only look up balances and pay people. Try "balance", "pay bob 20" or "help".`)
}

func say(text string) ai.Parts { return ai.Parts{&ai.TextPart{Text: text}} }

// want is a tool request. It has no ref: the library gives it one.
func want(tool string, input any) ai.Part {
	data, err := json.Marshal(input)
	if err != nil {
		panic(err) // strings and integers always encode
	}
	return &ai.ToolRequestPart{ToolRequest: ai.ToolRequest{Name: tool, Input: data}}
}

var nameForm = regexp.MustCompile(`^\pL[\pL\pN_-]*$`)

// fillers are the words of a payment that say nothing.
var fillers = append([]string{"please", "to", "the", "dollar", "dollars"}, verbs...)

const whomHowMuch = `I did not understand whom to pay how much. Say a name and an amount for each payment: "pay bob 20", or "pay bob 20 and eve 5".`

// payments reads `pay bob 20 and eve 5`: a name and an amount for each payment,
// and nothing that it does not know, since "don't pay bob 20" is no payment.
func payments(words []string) ai.Parts {
	words = slices.DeleteFunc(words, func(w string) bool { return slices.Contains(fillers, strings.TrimRight(w, ",")) })
	var parts ai.Parts
	for _, clause := range clauses(words) {
		in, problem := clausePayment(clause)
		if problem != "" {
			return say(problem)
		}
		parts = append(parts, want("transfer", in))
	}
	if parts == nil {
		return say(whomHowMuch)
	}
	return parts
}

// clausePayment reads one payment, or says what is wrong with the words.
func clausePayment(clause []string) (payment, string) {
	var names []string
	var amounts []cents
	for _, w := range clause {
		amount, ok := parseAmount(w)
		switch {
		case ok:
			amounts = append(amounts, amount)
		case strings.ContainsAny(w[:1], "0123456789$.-+"):
			return payment{}, fmt.Sprintf("%s is not an amount I know. Write dollars and cents, such as 20 or 20.50.", w)
		default:
			names = append(names, w)
		}
	}
	if len(names) != 1 || len(amounts) != 1 || !nameForm.MatchString(names[0]) {
		return payment{}, whomHowMuch
	}
	return payment{To: account(names[0]), Cents: amounts[0]}, ""
}

// clauses cuts a sentence at "and", "then", "&" and commas at the end of a word.
func clauses(words []string) [][]string {
	var list [][]string
	var clause []string
	for _, w := range words {
		word := strings.TrimRight(w, ",")
		joint := word == "" || slices.Contains([]string{"and", "then", "&"}, word)
		if !joint {
			clause = append(clause, word)
		}
		if (joint || word != w) && len(clause) > 0 {
			list = append(list, clause)
			clause = nil
		}
	}
	if len(clause) > 0 {
		list = append(list, clause)
	}
	return list
}

// balances reads `balance bob`, `how much does eve have`, `what is my balance`.
func balances(words []string) ai.Parts {
	var names []string
	for _, w := range words {
		name := account(strings.TrimSuffix(strings.TrimRight(w, ","), "'s"))
		known := slices.Contains(chatter, name) || slices.Contains(verbs, name) || slices.Contains(names, name)
		if !known && nameForm.MatchString(name) {
			names = append(names, name)
		}
	}
	if names == nil {
		names = []string{own}
	}
	var parts ai.Parts
	for _, name := range names {
		parts = append(parts, want("balance", holder{Name: name}))
	}
	return parts
}

// chatter are the words of a question about balances that name nobody.
var chatter = strings.Fields(`balance balances have has how much money do does what whats is are the of
	in on and or please show tell account accounts there left got`)

// account maps the words a person has for themselves.
func account(name string) string {
	if slices.Contains([]string{"i", "me", "my", "mine", "myself", "you", "your"}, name) {
		return own
	}
	return name
}

// report says what came of each request.
func report(requests []*ai.ToolRequestPart, results *ai.Message) string {
	var lines []string
	for _, part := range results.Content {
		result, ok := part.(*ai.ToolResponsePart)
		if !ok {
			continue
		}
		i := slices.IndexFunc(requests, func(r *ai.ToolRequestPart) bool { return r.ToolRequest.Ref == result.ToolResponse.Ref })
		if i < 0 {
			continue
		}
		lines = append(lines, sentence(&requests[i].ToolRequest, result))
	}
	return strings.Join(lines, "\n")
}

// sentence says what came of one request.
func sentence(req *ai.ToolRequest, result *ai.ToolResponsePart) string {
	told := result.ForModel()
	if told.IsError {
		return failure(req, told.Text)
	}
	if req.Name == "balance" {
		var out holding
		if err := json.Unmarshal(result.ToolResponse.Output, &out); err != nil {
			return told.Text
		}
		if out.Name == own {
			return fmt.Sprintf("You have %v.", out.Balance)
		}
		return fmt.Sprintf("%s has %v.", out.Name, out.Balance)
	}
	var asked payment
	var out receipt
	if json.Unmarshal(req.Input, &asked) != nil || json.Unmarshal(result.ToolResponse.Output, &out) != nil {
		return told.Text
	}
	instead := ""
	if out.Paid != asked.Cents {
		instead = fmt.Sprintf(", not %v", asked.Cents)
	}
	return fmt.Sprintf("Paid %s %v%s. You have %v left.", out.To, out.Paid, instead, out.Balance)
}

// failure says why a request came to nothing.
func failure(req *ai.ToolRequest, why string) string {
	if strings.HasPrefix(why, "The arguments of ") {
		why = amountsAllowed
	}
	why = strings.TrimRight(why, ".")
	var asked payment
	if req.Name != "transfer" || json.Unmarshal(req.Input, &asked) != nil {
		return fmt.Sprintf("I can't tell: %s.", why)
	}
	if reason, denied := strings.CutPrefix(why, "Denied"); denied {
		return fmt.Sprintf("Not paid: %v to %s. You said no%s.", asked.Cents, asked.To, reason)
	}
	return fmt.Sprintf("Not paid: %v to %s. The reason: %s.", asked.Cents, asked.To, why)
}
