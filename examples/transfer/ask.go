package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode"

	"github.com/holdpoint/ai"
)

// terminal is where the person is.
type terminal struct {
	in   *bufio.Reader
	out  io.Writer
	echo bool // write down what was read
}

func (t *terminal) say(text string) { fmt.Fprintln(t.out, text) }

func (t *terminal) greet(again bool, questions int, balance cents) {
	switch {
	case questions > 0:
		t.say("Welcome back. You left at a question:")
	case again:
		t.say(fmt.Sprintf("Welcome back. You have %v.", balance))
	default:
		t.say(fmt.Sprintf("You have %v. Try: pay bob 20, balance, help, quit.", balance))
	}
}

// line reads one line, trimmed. At the end of the input, and where the person
// says so, it is io.EOF.
func (t *terminal) line(prompt string) (string, error) {
	fmt.Fprint(t.out, prompt)
	text, err := t.in.ReadString('\n')
	if err != nil && (text == "" || !errors.Is(err, io.EOF)) {
		t.say("")
		return "", err
	}
	text = strings.TrimSpace(strings.Map(printable, text))
	if t.echo {
		t.say(text)
	}
	switch strings.ToLower(text) {
	case "quit", "exit":
		return "", io.EOF
	}
	return text, nil
}

// printable makes spaces of tabs and of what a terminal takes for orders.
func printable(r rune) rune {
	if unicode.IsPrint(r) {
		return r
	}
	return ' '
}

// request reads what the person wants next.
func (t *terminal) request() (string, error) {
	for {
		text, err := t.line("> ")
		if err != nil || text != "" {
			return text, err
		}
	}
}

// ask puts the first of the questions to the person until there is an answer to
// it, or one to all of them.
func (t *terminal) ask(b *bank, questions []*ai.Interrupt) (*ai.Answers, error) {
	expected := "yes, no, another amount, quit"
	if len(questions) > 1 {
		expected = "yes, no, another amount, yes all, no all, quit"
		t.say(fmt.Sprintf("%d payments wait for your answer:", len(questions)))
		for i, q := range questions {
			t.say(fmt.Sprintf("  %d. %s", i+1, wording(q)))
		}
	}
	for {
		text, err := t.line(fmt.Sprintf("%s You have %v. [%s] ", wording(questions[0]), b.own(), expected))
		if errors.Is(err, io.EOF) {
			t.say("The question stays open. Start again to answer it.")
		}
		if err != nil {
			return nil, err
		}
		answers, err := parseAnswer(b, questions, text)
		if err == nil {
			return answers, nil
		}
		t.say("Sorry, " + err.Error() + ".")
	}
}

// wording is the question as the tool put it.
func wording(q *ai.Interrupt) string {
	var text string
	if err := json.Unmarshal(q.Data, &text); err != nil {
		return fmt.Sprintf("Run %s with %s?", q.Request.ToolRequest.Name, q.Effective)
	}
	return text
}

var errNoAnswer = errors.New("that is no answer: type yes, no (with a reason if you like), or the amount to pay instead, such as 15.50")

// parseAnswer turns what was typed into answers. Its error is for the person.
func parseAnswer(b *bank, questions []*ai.Interrupt, text string) (*ai.Answers, error) {
	first, rest, _ := strings.Cut(text, " ")
	rest = strings.TrimSpace(rest)
	asked := questions[:1]
	if len(questions) > 1 && strings.EqualFold(rest, "all") {
		asked, rest = questions, ""
	}
	switch strings.ToLower(strings.TrimRight(first, ",.:;!")) {
	case "y", "yes":
		if rest != "" {
			return nil, errNoAnswer
		}
		return approve(asked), nil
	case "n", "no":
		return deny(asked, rest), nil
	}
	if amount, ok := parseAmount(text); ok {
		return edit(b, questions[0], amount)
	}
	return nil, errNoAnswer
}

func approve(questions []*ai.Interrupt) *ai.Answers {
	answers := &ai.Answers{}
	for _, q := range questions {
		answers.Approve(q)
	}
	return answers
}

func deny(questions []*ai.Interrupt, reason string) *ai.Answers {
	answers := &ai.Answers{}
	for _, q := range questions {
		answers.Deny(q, reason)
	}
	return answers
}

// edit approves the payment with another amount, which has to fit the tool's
// schema and be there.
func edit(b *bank, q *ai.Interrupt, amount cents) (*ai.Answers, error) {
	var in payment
	if err := json.Unmarshal(q.Effective, &in); err != nil {
		return nil, err
	}
	if in.Cents == amount {
		return approve([]*ai.Interrupt{q}), nil
	}
	in.Cents = amount
	restart, err := b.transfer.Restart(q.Request, &ai.RestartOptions[payment]{NewInput: &in})
	if err != nil {
		return nil, err
	}
	if _, err := b.tools.Check(restart); err != nil {
		return nil, fmt.Errorf("%v can't be paid: %s", amount, amountsAllowed)
	}
	if err := b.check(in); err != nil {
		return nil, fmt.Errorf("%v can't be paid: %w", amount, err)
	}
	return &ai.Answers{Restart: []*ai.ToolRequestPart{restart}}, nil
}
