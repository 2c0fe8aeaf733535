package main

import (
	"context"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/holdpoint/ai"
)

// cents is an amount of money. Fractions of a cent can't be written down.
type cents int64

// String writes the amount in dollars: $20.00.
func (c cents) String() string {
	sign := ""
	if c < 0 {
		sign, c = "-", -c
	}
	return fmt.Sprintf("%s$%d.%02d", sign, c/100, c%100)
}

// maxPayment is the most that one payment may move. The schema of payment says
// the same.
const maxPayment cents = 1_000_000

// amountsAllowed is said where an amount does not fit the schema.
var amountsAllowed = fmt.Sprintf("a payment is between %v and %v", cents(1), maxPayment)

var amountForm = regexp.MustCompile(`^(-?)\$?(\d{1,12}|\d{1,3}(?:,\d{3}){1,3})(?:\.(\d{1,2}))?$`)

// parseAmount reads dollars and cents: 20, 20.5, $20.50, 1,000. It keeps the
// sign, since it is the tool's schema that says which amounts may be paid.
func parseAmount(text string) (cents, bool) {
	m := amountForm.FindStringSubmatch(text)
	if m == nil {
		return 0, false
	}
	digits := m[1] + strings.ReplaceAll(m[2], ",", "") + (m[3] + "00")[:2]
	n, err := strconv.ParseInt(digits, 10, 64)
	return cents(n), err == nil
}

// own is the account of the person at the terminal.
const own = "you"

// bank holds the accounts in memory and offers the tools. Money moves in
// transferTool and nowhere else.
type bank struct {
	tools    *ai.ToolSet
	transfer *ai.TypedTool[payment, receipt]

	mu       sync.Mutex
	accounts map[string]cents
}

// payment is the input of the tool transfer.
type payment struct {
	To    string `json:"to" jsonschema:"minLength=1,description=the name of the payee"`
	Cents cents  `json:"cents" jsonschema:"minimum=1,maximum=1000000,description=the amount in cents"`
}

// receipt is the output of the tool transfer.
type receipt struct {
	To      string `json:"to"`
	Paid    cents  `json:"paid" jsonschema:"description=in cents"`
	Balance cents  `json:"balance" jsonschema:"description=what is left in your account; in cents"`
}

// holder is the input of the tool balance.
type holder struct {
	Name string `json:"name" jsonschema:"minLength=1,description=whose account; you for your own"`
}

// holding is the output of the tool balance.
type holding struct {
	Name    string `json:"name"`
	Balance cents  `json:"balance" jsonschema:"description=in cents"`
}

func newBank(accounts map[string]cents) (*bank, error) {
	b := &bank{accounts: maps.Clone(accounts)}
	balance, err := ai.NewTool(&ai.ToolDefinition{
		Name: "balance", Description: "Looks up what an account holds.", ReadOnly: true,
	}, b.balanceTool)
	if err != nil {
		return nil, err
	}
	b.transfer, err = ai.NewTool(&ai.ToolDefinition{
		Name: "transfer", Description: "Pays somebody from your account, once you have agreed.",
		Exclusive: true, // which of two payments still finds the money must not depend on luck
	}, b.transferTool)
	if err != nil {
		return nil, err
	}
	b.tools, err = ai.NewToolSet(balance, b.transfer)
	return b, err
}

func (b *bank) balanceTool(_ context.Context, _ *ai.ToolCall, in holder) (holding, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	balance, ok := b.accounts[in.Name]
	if !ok {
		return holding{}, b.unknown(in.Name)
	}
	return holding{Name: in.Name, Balance: balance}, nil
}

// transferTool refuses what can't be paid, asks about the rest, and pays when it
// is run again with the answer.
func (b *bank) transferTool(_ context.Context, call *ai.ToolCall, in payment) (receipt, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if err := b.payable(in); err != nil {
		return receipt{}, err
	}
	if !call.Resumed() {
		return receipt{}, call.Interrupt(fmt.Sprintf("Pay %s %v?", in.To, in.Cents))
	}
	b.accounts[own] -= in.Cents
	b.accounts[in.To] += in.Cents
	return receipt{To: in.To, Paid: in.Cents, Balance: b.accounts[own]}, nil
}

// check says why a payment can't be made, as the tool would.
func (b *bank) check(in payment) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.payable(in)
}

// payable is check for those who hold the lock.
func (b *bank) payable(in payment) error {
	if _, ok := b.accounts[in.To]; !ok {
		return b.unknown(in.To)
	}
	if in.To == own {
		return &ai.ModelError{Text: "that is your own account"}
	}
	if balance := b.accounts[own]; in.Cents > balance {
		return &ai.ModelError{Text: fmt.Sprintf("you have %v", balance)}
	}
	return nil
}

// unknown refuses a name and says which ones there are.
func (b *bank) unknown(name string) error {
	var names []string
	for known := range b.accounts {
		if known != own {
			names = append(names, known)
		}
	}
	slices.Sort(names)
	return &ai.ModelError{Text: fmt.Sprintf("there is no account of %s, only of %s", name, strings.Join(names, ", "))}
}

// own is what the person at the terminal has.
func (b *bank) own() cents {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.accounts[own]
}

// export is a copy of the accounts.
func (b *bank) export() map[string]cents {
	b.mu.Lock()
	defer b.mu.Unlock()
	return maps.Clone(b.accounts)
}
