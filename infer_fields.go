package ai

import (
	"cmp"
	"reflect"
	"slices"
	"strings"
	"unicode"
)

// A jsonField is a field of a struct as encoding/json sees it.
type jsonField struct {
	reflect.StructField
	key    string // the name in JSON
	tagged bool   // key comes from the tag
	way    []int  // the indexes that lead to the field through embedded structs

	omitEmpty, omitZero, quoted bool

	// optional is set behind an embedded pointer: nil, and the field is gone.
	optional bool
	// locked is an embedded pointer on the way that can't be set from outside
	// its package, so that the field can't be decoded.
	locked reflect.Type
}

// absent reports whether an encoded struct may lack the field.
func (f *jsonField) absent() bool {
	return f.omitEmpty || f.omitZero || f.optional
}

// omitsNil reports whether nil is left out rather than encoded as null.
func (f *jsonField) omitsNil() bool {
	if f.omitEmpty || f.Type.Kind() == reflect.Pointer {
		return f.omitEmpty || f.omitZero
	}
	return f.omitZero && !reflect.PointerTo(f.Type).Implements(reflect.TypeFor[interface{ IsZero() bool }]())
}

// An embedding is a struct whose fields are promoted.
type embedding struct {
	at       reflect.Type
	way      []int
	optional bool
	locked   reflect.Type
	times    int // how often structs of one level embed it
}

// jsonFields returns the fields that encoding/json encodes, in its order:
// those of embedded structs included, and of several with one name the
// shallowest; among equals the one with a tag; else none.
func jsonFields(t reflect.Type) []*jsonField {
	byKey := map[string][]*jsonField{}
	seen := map[reflect.Type]bool{}
	level := []*embedding{{at: t, times: 1}}
	for len(level) > 0 {
		var next []*embedding
		for _, e := range level {
			if !seen[e.at] {
				seen[e.at] = true
				next = e.collect(byKey, next)
			}
		}
		level = next
	}
	var fields []*jsonField
	for _, rivals := range byKey {
		if f := dominantField(rivals); f != nil {
			fields = append(fields, f)
		}
	}
	slices.SortFunc(fields, func(a, b *jsonField) int { return slices.Compare(a.way, b.way) })
	return fields
}

// collect adds the fields of e to byKey and what it embeds to next.
func (e *embedding) collect(byKey map[string][]*jsonField, next []*embedding) []*embedding {
	for i := range e.at.NumField() {
		f := readField(e.at.Field(i))
		if f == nil {
			continue
		}
		f.way, f.optional, f.locked = append(slices.Clip(e.way), i), e.optional, e.locked
		if !f.promotes() {
			for range min(e.times, 2) { // two of a kind hide each other
				byKey[f.key] = append(byKey[f.key], f)
			}
			continue
		}
		inner := f.embedding()
		at := slices.IndexFunc(next, func(o *embedding) bool { return o.at == inner.at })
		if at >= 0 {
			next[at].times++
			continue
		}
		next = append(next, inner)
	}
	return next
}

// promotes reports whether the field is an embedded struct without a name in
// JSON, whose fields take its place.
func (f *jsonField) promotes() bool {
	return f.Anonymous && !f.tagged && directType(f.Type).Kind() == reflect.Struct
}

func (f *jsonField) embedding() *embedding {
	e := &embedding{at: directType(f.Type), way: f.way, optional: f.optional, locked: f.locked, times: 1}
	if f.Type.Kind() == reflect.Pointer {
		e.optional = true
		if !f.IsExported() {
			e.locked = f.Type
		}
	}
	return e
}

// directType follows one pointer, as encoding/json does to learn about a field.
func directType(t reflect.Type) reflect.Type {
	if t.Name() == "" && t.Kind() == reflect.Pointer {
		return t.Elem()
	}
	return t
}

// readField reads the json tag of f, or returns nil if f is left out.
func readField(f reflect.StructField) *jsonField {
	if !f.IsExported() && !(f.Anonymous && directType(f.Type).Kind() == reflect.Struct) {
		return nil
	}
	tag := f.Tag.Get("json")
	if tag == "-" {
		return nil
	}
	name, options, _ := strings.Cut(tag, ",")
	field := &jsonField{StructField: f, key: f.Name}
	if validKey(name) {
		field.key, field.tagged = name, true
	}
	for option := range strings.SplitSeq(options, ",") {
		switch option {
		case "omitempty":
			field.omitEmpty = true
		case "omitzero":
			field.omitZero = true
		case "string":
			k := directType(f.Type).Kind()
			field.quoted = k == reflect.Bool || k == reflect.String || isIntegerKind(k) || isFloatKind(k)
		}
	}
	return field
}

// validKey reports whether encoding/json takes name from a tag.
func validKey(name string) bool {
	for _, r := range name {
		if !strings.ContainsRune("!#$%&()*+-./:;<=>?@[]^_{|}~ ", r) && !unicode.IsLetter(r) && !unicode.IsDigit(r) {
			return false
		}
	}
	return name != ""
}

// dominantField returns the field that hides the others of the same name, or nil
// if they hide each other.
func dominantField(rivals []*jsonField) *jsonField {
	order := func(a, b *jsonField) int {
		if c := cmp.Compare(len(a.way), len(b.way)); c != 0 || a.tagged == b.tagged {
			return c
		}
		if a.tagged {
			return -1
		}
		return 1
	}
	slices.SortStableFunc(rivals, order)
	if len(rivals) > 1 && order(rivals[0], rivals[1]) == 0 {
		return nil
	}
	return rivals[0]
}
