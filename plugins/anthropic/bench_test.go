package anthropic_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/holdpoint/ai"
	"github.com/holdpoint/ai/aitest"
	"github.com/holdpoint/ai/internal/wiretest"
)

// BenchmarkStream measures what one event of a stream costs, its share of the
// request included.
func BenchmarkStream(b *testing.B) {
	const events = 10_000
	replies := map[string]*aitest.WireReply{
		"text":      {Text: strings.Repeat("x", 20*events), Piece: 20},
		"arguments": {Calls: []aitest.WireCall{{Ref: "1", Name: "write", Arguments: fmt.Sprintf("{%q:%q}", "text", strings.Repeat("x", 20*events))}}, Piece: 20},
	}
	for name, reply := range replies {
		b.Run(name, func(b *testing.B) {
			stream := strings.Join((&scripted{reply}).events(), "")
			w := serve(b)
			b.ReportAllocs()
			seen := 0
			for b.Loop() {
				w.Add(wiretest.Answer("", stream))
				_, err := w.model(nil).Generate(b.Context(), ask("hi"), func(*ai.Chunk) error {
					seen++
					return nil
				})
				require.NoError(b, err)
			}
			require.GreaterOrEqual(b, seen, events)
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(seen), "ns/event")
		})
	}
}
