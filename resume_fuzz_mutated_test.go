package ai_test

import (
	"encoding/json"
	"maps"
	"slices"
	"testing"

	"github.com/holdpoint/ai"
)

// FuzzResumeMutated resumes the seeds with parts of the histories and answers
// moved, copied, removed and replaced. Unlike arbitrary bytes, that stays JSON.
func FuzzResumeMutated(f *testing.F) {
	seeds := resumeSeeds(f)
	for i := range seeds {
		f.Add(byte(i), byte(i), []byte{0, 1, 2}, byte(i))
		f.Add(byte(i), byte(i+1), []byte{1, byte(3 * i), 7, 2, 5, byte(i)}, byte(i))
	}
	a := newArena(f)
	f.Fuzz(func(t *testing.T, history, answered byte, program []byte, flags byte) {
		whole := map[string]any{
			"message": decode[any](t, seeds[int(history)%len(seeds)].message),
			"answers": decode[any](t, seeds[int(answered)%len(seeds)].answers),
		}
		program = program[:min(len(program), 60)]
		for ; len(program) >= 3 && len(jsonOf(t, whole)) < 1<<14; program = program[3:] {
			mutate3(t, whole, program[0], program[1], program[2])
		}
		var m ai.Message
		var given *ai.Answers
		if json.Unmarshal([]byte(jsonOf(t, whole["message"])), &m) != nil || json.Unmarshal([]byte(jsonOf(t, whole["answers"])), &given) != nil {
			return
		}
		opts := &ai.ResolveOptions{Partial: flags&1 != 0, Sequential: flags&2 != 0}
		if flags&4 != 0 {
			opts.OnError = ai.ReportErrors
		}
		_ = a.check(t, &m, given, opts)
	})
}

// place is where a JSON value stands.
type place struct {
	object map[string]any
	list   []any
	key    string
	index  int
}

func (p *place) get() any {
	if p.object != nil {
		return p.object[p.key]
	}
	return p.list[p.index]
}

func (p *place) set(v any) {
	if p.object != nil {
		p.object[p.key] = v
		return
	}
	p.list[p.index] = v
}

// placesIn lists the places of a JSON value, those of objects in key order.
func placesIn(v any) []*place {
	var places []*place
	switch v := v.(type) {
	case map[string]any:
		for _, key := range slices.Sorted(maps.Keys(v)) {
			places = append(places, &place{object: v, key: key})
			places = append(places, placesIn(v[key])...)
		}
	case []any:
		for i, e := range v {
			places = append(places, &place{list: v, index: i})
			places = append(places, placesIn(e)...)
		}
	}
	return places
}

// mutate3 changes one place: to the value of another place, to one of the plain
// values, to a list with one element more, or by taking it away.
func mutate3(t *testing.T, whole map[string]any, what, where, from byte) {
	t.Helper()
	places := placesIn(whole)
	at := places[(int(where)+256*int(what>>6))%len(places)]
	other := places[(int(from)+256*int(what>>4&3))%len(places)]
	copied := decode[any](t, jsonOf(t, other.get()))
	switch what & 7 {
	case 0, 1, 2:
		at.set(copied)
	case 3:
		to := mutations[1:]
		at.set(decode[any](t, to[int(from)%len(to)]))
	case 4:
		if list, ok := at.get().([]any); ok {
			at.set(append(slices.Clip(list), copied))
		}
	case 5:
		if _, top := at.object["message"]; at.object != nil && !top {
			delete(at.object, at.key)
		}
	case 6:
		if into, ok := at.get().(map[string]any); ok && other.object != nil {
			into[other.key] = copied
		}
	default:
		was := at.get()
		if !within(was, other) {
			at.set(copied)
			other.set(was)
		}
	}
}

// within says whether a place is inside a value, so that putting the value there
// would make it hold itself.
func within(v any, p *place) bool {
	for _, q := range placesIn(v) {
		if q.key == p.key && q.index == p.index && q.object != nil == (p.object != nil) {
			return true // maybe; that is enough not to
		}
	}
	return false
}
