package partialjson

import "strings"

// The least and the greatest size of a block of text, unless a single token
// needs more.
const (
	smallBlock = 64
	largeBlock = 32 << 10
)

// token is the text of a string, key or number that is being read. Tokens share
// blocks of memory that only grow at their end, so that a text once returned
// stays what it is, and taking that of a growing token copies nothing.
type token struct {
	block strings.Builder
	start int // of the token in the block
}

// begin starts another token.
func (t *token) begin() { t.start = t.block.Len() }

// String is the text so far.
func (t *token) String() string { return t.block.String()[t.start:] }

func (t *token) add(text string) {
	t.reserve(len(text))
	t.block.WriteString(text)
}

func (t *token) addRune(r rune) {
	t.reserve(4)
	t.block.WriteRune(r)
}

// reserve makes room for n bytes. A token that outgrows its block takes one
// of twice its own size, so that its bytes are copied O(1) times each.
func (t *token) reserve(n int) {
	if t.block.Cap()-t.block.Len() >= n {
		return
	}
	text := t.String()
	size := min(max(2*t.block.Cap(), smallBlock), largeBlock)
	t.block.Reset()
	t.block.Grow(max(size, 2*(len(text)+n)))
	t.block.WriteString(text)
	t.start = 0
}
