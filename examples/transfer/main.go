// Command transfer is a bank assistant at the terminal: it looks up balances,
// and pays nobody before a person has said yes, no, or another amount.
//
// The conversation and the accounts are kept in one file. Leaving at a question
// and starting again asks the same question.
//
// It also reads from a pipe:
//
//	printf 'pay bob 20\ny\n' | go run ./examples/transfer
package main

import (
	"bufio"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"

	"github.com/holdpoint/ai"
)

func main() {
	file := flag.String("file", "transfer.json", "the file that keeps the conversation and the accounts")
	flag.Parse()
	if flag.NArg() > 0 {
		fmt.Fprintln(os.Stderr, "transfer: requests are typed once it runs; the command line takes only -file")
		os.Exit(2)
	}
	// What comes out of a pipe is not visible on the screen, so it is echoed.
	info, err := os.Stdin.Stat()
	piped := err != nil || info.Mode()&os.ModeCharDevice == 0
	t := &terminal{in: bufio.NewReader(os.Stdin), out: os.Stdout, echo: piped}
	if err := run(context.Background(), *file, t); err != nil {
		fmt.Fprintln(os.Stderr, "transfer:", err)
		os.Exit(1)
	}
}

// run talks until the input ends or the person leaves. Ctrl-C needs no care:
// whatever is to last is in the file before anybody is asked anything.
func run(ctx context.Context, file string, t *terminal) error {
	s, err := open(file)
	if err != nil {
		return err
	}
	questions, err := s.questions()
	if err != nil {
		return err
	}
	t.greet(len(s.messages) > 0, len(questions), s.bank.own())
	for {
		err := s.round(ctx, t)
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

// session is one conversation and the bank it is about.
type session struct {
	store    *store
	bank     *bank
	messages []*ai.Message
}

func open(file string) (*session, error) {
	st := &store{file: file}
	saved, err := st.load()
	if err != nil {
		return nil, err
	}
	b, err := newBank(saved.Accounts)
	if err != nil {
		return nil, err
	}
	return &session{store: st, bank: b, messages: saved.Messages}, nil
}

// questions are the calls that wait for an answer. They are read from the
// history, so it makes no difference whether the program was started anew.
func (s *session) questions() ([]*ai.Interrupt, error) {
	if len(s.messages) == 0 {
		return nil, nil
	}
	return s.messages[len(s.messages)-1].Interrupts()
}

// round gets one line from the person, a request or an answer, and does what it
// says. The error is io.EOF once the person has left.
func (s *session) round(ctx context.Context, t *terminal) error {
	questions, err := s.questions()
	if err != nil {
		return err
	}
	if len(questions) > 0 {
		answers, err := t.ask(s.bank, questions)
		if err != nil {
			return err
		}
		return s.step(ctx, t, &ai.GenerateOptions{Resume: answers})
	}
	request, err := t.request()
	if err != nil {
		return err
	}
	return s.step(ctx, t, &ai.GenerateOptions{Prompt: request})
}

// step lets the assistant go on and saves what came of it, also where it failed.
func (s *session) step(ctx context.Context, t *terminal, opts *ai.GenerateOptions) error {
	opts.Model, opts.Tools, opts.Messages = clerk{}, s.bank.tools, s.messages
	opts.Repair = true       // a call that failed in an earlier run does not block this one
	opts.Turn.Partial = true // several questions may be answered one by one
	resp, err := ai.Generate(ctx, nil, opts)
	var failed *ai.GenerateError
	switch {
	case err == nil:
		s.messages = resp.Messages
	case errors.As(err, &failed):
		s.messages = failed.Messages
	default:
		return err
	}
	if saveErr := s.store.save(&state{Accounts: s.bank.export(), Messages: s.messages}); saveErr != nil {
		return errors.Join(err, saveErr)
	}
	if err == nil && resp.FinishReason != ai.FinishInterrupted {
		t.say(resp.Text())
	}
	return err
}
