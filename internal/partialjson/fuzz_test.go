package partialjson_test

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/holdpoint/ai/internal/partialjson"
)

// snapshot is a view and how it looked when it was taken.
type snapshot struct {
	value  partialjson.Value
	looked string
}

func take(p *partialjson.Parser) snapshot {
	v := p.Value()
	return snapshot{v, string(v.AppendJSON(nil, true))}
}

// feed parses a text cut into pieces whose lengths come from cuts, over and over,
// and takes a snapshot behind each. No cuts means one piece.
func feed(text string, cuts []byte) (*partialjson.Parser, []snapshot) {
	p := &partialjson.Parser{}
	shots := []snapshot{take(p)}
	for i := 0; text != ""; i++ {
		n := len(text)
		if len(cuts) > 0 {
			n = min(n, 1+int(cuts[i%len(cuts)]))
		}
		_ = p.Feed(text[:n])
		shots = append(shots, take(p))
		text = text[n:]
	}
	_ = p.End()
	return p, append(shots, take(p))
}

// plainValue is a view as encoding/json decodes such a value with UseNumber.
func plainValue(v partialjson.Value) any {
	switch v.Kind() {
	case partialjson.Bool:
		return v.Text() == "true"
	case partialjson.Number:
		return json.Number(v.Text())
	case partialjson.String:
		return v.Text()
	case partialjson.Array:
		list := make([]any, v.Len())
		for i := range list {
			list[i] = plainValue(v.Index(i))
		}
		return list
	case partialjson.Object:
		object := make(map[string]any)
		for key, value := range v.Members() {
			object[key] = plainValue(value)
		}
		return object
	}
	return nil
}

// begins reports whether the final value b begins with a.
func begins(a, b partialjson.Value) bool {
	switch {
	case a.Kind() == partialjson.None:
		return true
	case a.Kind() != b.Kind(), a.Complete() && !b.Complete(), a.Len() > b.Len():
		return false
	case a.Complete() && a.Len() != b.Len():
		return false
	}
	switch a.Kind() {
	case partialjson.Array:
		for i := range a.Len() {
			if last := i == a.Len()-1; !last && !a.Index(i).Complete() || !begins(a.Index(i), b.Index(i)) {
				return false
			}
		}
		return true
	case partialjson.Object:
		for key, value := range a.Members() {
			if !begins(value, b.Field(key)) {
				return false
			}
		}
		return true
	}
	return a.Text() == b.Text() || !a.Complete() && strings.HasPrefix(b.Text(), a.Text())
}

// givesKeysOnce reports whether no object in a valid text has a key twice.
func givesKeysOnce(text string) bool {
	dec := json.NewDecoder(strings.NewReader(text))
	var seen []map[string]bool // of the open containers; nil for an array
	isKey := false
	for {
		token, err := dec.Token()
		if err != nil {
			return true
		}
		switch token {
		case json.Delim('{'):
			seen, isKey = append(seen, map[string]bool{}), true
			continue
		case json.Delim('['):
			seen, isKey = append(seen, nil), false
			continue
		case json.Delim('}'), json.Delim(']'):
			seen = seen[:len(seen)-1]
		default:
			if isKey {
				key, open := token.(string), seen[len(seen)-1]
				if open[key] {
					return false
				}
				open[key], isKey = true, false
				continue
			}
		}
		isKey = len(seen) > 0 && seen[len(seen)-1] != nil
	}
}

// check makes sure of all that holds for any text, however it is cut.
func check(t *testing.T, text string, cuts []byte) {
	t.Helper()
	p, shots := feed(text, cuts)
	final := p.Value()
	once := json.Valid([]byte(text)) && givesKeysOnce(text)
	for i, s := range shots {
		require.Equal(t, s.looked, string(s.value.AppendJSON(nil, true)), "snapshot %d has changed", i)
		require.True(t, s.looked == "" || json.Valid([]byte(s.looked)), "snapshot %d: %q", i, s.looked)
		require.True(t, !once || begins(s.value, final), "snapshot %d is %s", i, s.looked)
	}
	require.Equal(t, json.Valid([]byte(text)), p.Err() == nil, "%v", p.Err())
	whole, _ := feed(text, nil)
	require.Equal(t, whole.Err(), p.Err(), "a fault is found at the same place however the text is cut")
	require.Equal(t, whole.Value().AppendJSON(nil, true), final.AppendJSON(nil, true))
	if p.Err() != nil {
		return
	}
	require.True(t, final.Complete())
	want := decoded(t, text)
	require.Equal(t, want, plainValue(final))
	require.Equal(t, want, decoded(t, string(final.AppendJSON(nil, false))))
}

func decoded(t *testing.T, text string) any {
	t.Helper()
	dec := json.NewDecoder(bytes.NewReader([]byte(text)))
	dec.UseNumber()
	var v any
	require.NoError(t, dec.Decode(&v))
	return v
}

func FuzzPartial(f *testing.F) {
	for _, text := range texts {
		f.Add(text, []byte{})
		f.Add(text, []byte{0})
		f.Add(text, []byte{2, 0, 19})
	}
	f.Fuzz(func(t *testing.T, text string, cuts []byte) {
		const most = 1000 // each snapshot is looked at twice, so that the work is quadratic
		check(t, text[:min(len(text), most)], cuts)
	})
}
