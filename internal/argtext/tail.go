package argtext

import (
	"bytes"
	"encoding/json"
	"strings"
	"unicode"
	"unicode/utf8"
)

// objects reads an object and what stands behind it: the same object again, or
// prose. Anything else may be the arguments of another call, or the rest of
// these, so it is refused.
func (r *reader) objects(s span) (json.RawMessage, *Error) {
	m := &mender{reader: r, span: s, pos: s.start, copied: s.start}
	if !m.value() {
		return nil, m.err
	}
	first, repeats := m.taken(s.start), repeats{}
	for rest := trim(span{s.text, m.pos, s.end}); rest.start < rest.end; rest = trim(span{s.text, m.pos, s.end}) {
		if s.text[rest.start] != '{' {
			return first, r.prose(rest)
		}
		m = &mender{reader: r, span: s, pos: rest.start, copied: rest.start}
		if !m.value() {
			return nil, m.err
		}
		if !repeats.same(first, m.taken(rest.start)) {
			return nil, r.problem(rest.start, "a second object that differs from the first")
		}
		r.note(ruleRepeated)
	}
	return first, nil
}

// prose takes text behind an object for an afterthought, if that is asked for.
// Brackets and names of members could be arguments, so they are none.
func (r *reader) prose(rest span) *Error {
	text := rest.String()
	first, _ := utf8.DecodeRuneInString(text)
	if !r.probable || !unicode.IsLetter(first) || strings.ContainsAny(text, "{}[]") || strings.Contains(text, `":`) {
		return r.problem(rest.start, "text behind the object")
	}
	r.note(ruleProse)
	return nil
}

// repeats compares objects with the first one of a text.
type repeats struct{ compact []byte }

// same reports whether two objects differ at most in white space.
func (c *repeats) same(first, other []byte) bool {
	if bytes.Equal(first, other) {
		return true
	}
	if c.compact == nil {
		c.compact = compact(first)
	}
	return bytes.Equal(c.compact, compact(other))
}

func compact(data []byte) []byte {
	var b bytes.Buffer
	if err := json.Compact(&b, data); err != nil {
		return data
	}
	return b.Bytes()
}

// trimTokens leaves out control tokens at the end, and the space before them.
func trimTokens(s span) (out span, found bool) {
	for {
		n := tokenAtEnd(s.String())
		if n == 0 {
			return s, found
		}
		s.end -= n
		s, found = trim(s), true
	}
}

// tokenAtEnd returns the length of the control token that text ends with. The
// tokens are those with which models end a call, a turn or a text; servers
// that should have cut them off sometimes don't.
func tokenAtEnd(text string) int {
	if !strings.HasSuffix(text, ">") {
		return 0
	}
	for _, token := range []string{
		"<|call|>", "<|end|>", "<|return|>", // gpt-oss
		"<|im_end|>", "<|endoftext|>", "</tool_call>", "</tool_calls>", // ChatML, Qwen, Hermes
		"<|eot_id|>", "<|eom_id|>", "<|end_of_text|>", "<|eot|>", "<|eom|>", "</function>", // Llama
		"</s>",                                                       // Mistral
		"<end_of_turn>", "<eos>", "<tool_call|>", "<|tool_response>", // Gemma
		"<｜tool▁call▁end｜>", "<｜tool▁calls▁end｜>", "<｜end▁of▁sentence｜>", // DeepSeek
		"<|tool_call_end|>", "<|tool_calls_section_end|>", // Kimi
		"<|observation|>",                         // GLM
		"<|END_ACTION|>", "<|END_OF_TURN_TOKEN|>", // Command
	} {
		if strings.HasSuffix(text, token) {
			return len(token)
		}
	}
	return 0
}
