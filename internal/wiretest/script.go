package wiretest

import (
	"io"
	"net/http"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/holdpoint/ai/aitest"
)

// Script is a reply of aitest.TestModel in the words of one wire.
type Script struct {
	// Reply is the reply.
	Reply *aitest.WireReply
	// Error is the body of an error of Reply.Status.
	Error string
	// Message is the reply in one piece, Events those of the reply as a stream.
	Message func() string
	Events  func() []string
	// IsPiece reports whether an event carries a piece of the content. Of a reply that
	// is cut or held, the last one is not sent whole.
	IsPiece func(event string) bool
}

// Serve answers a request with the reply.
func (s *Script) Serve(w http.ResponseWriter, r *http.Request) {
	switch {
	case s.Reply.Status != 0:
		header := http.Header{}
		if after := s.Reply.RetryAfter; after != 0 {
			header.Set("Retry-After", strconv.FormatFloat(after.Seconds(), 'f', -1, 64))
		}
		Status(s.Reply.Status, header, s.Error)(w, r)
	case IsStream(r):
		w.Header().Set("Content-Type", "text/event-stream")
		s.deliver(w, r, s.Events())
	default:
		w.Header().Set("Content-Type", "application/json")
		s.deliver(w, r, []string{s.Message()})
	}
}

func (s *Script) deliver(w http.ResponseWriter, r *http.Request, parts []string) {
	last := len(parts)
	if s.Reply.Cut || s.Reply.Hold {
		last = s.lastPiece(parts)
	}
	_, _ = io.WriteString(w, strings.Join(parts[:last], ""))
	switch {
	case s.Reply.Cut:
		_, _ = io.WriteString(w, parts[last][:len(parts[last])/2])
		_ = http.NewResponseController(w).Flush()
		panic(http.ErrAbortHandler)
	case s.Reply.Hold:
		_ = http.NewResponseController(w).Flush()
		<-r.Context().Done()
	}
}

// lastPiece is the last event with content, or the only part of a reply in one piece.
func (s *Script) lastPiece(parts []string) int {
	for i := len(parts) - 1; i > 0; i-- {
		if s.IsPiece(parts[i]) {
			return i
		}
	}
	return 0
}

// Pieces cuts a text for a wire that is JSON, so that no character is cut. A size of
// zero means one piece.
func Pieces(text string, size int) []string {
	var list []string
	for size > 0 && len(text) > size {
		n := size
		for n < len(text) && !utf8.RuneStart(text[n]) {
			n++
		}
		list, text = append(list, text[:n]), text[n:]
		if text == "" {
			return list
		}
	}
	return append(list, text)
}
