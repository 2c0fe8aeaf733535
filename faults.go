package ai

import (
	"cmp"
	"fmt"
	"maps"
	"math/big"
	"slices"
	"strconv"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"
)

const (
	maxListed  = 12  // members, names or alternatives a text lists
	maxNested  = 3   // faults told of the closest alternative
	maxNearest = 100 // unknown properties that are compared with the declared ones
)

// A faultTeller words the validator's error tree.
type faultTeller struct {
	value   any // the value that does not fit
	places  func() map[string]*jsonschema.Schema
	broken  map[string]string         // see schema
	compare int                       // how many unknown properties may still be compared
	keys    map[int]map[string]string // see holder
}

// faults words err, which validating value gave.
func (s *schema) faults(value any, err *jsonschema.ValidationError) []Fault {
	t := &faultTeller{value: value, places: s.places, broken: s.broken, compare: maxNearest}
	return t.sorted(err)
}

// sorted returns the faults of err by path and text, each once, not too many.
func (t *faultTeller) sorted(err *jsonschema.ValidationError) []Fault {
	faults := sortFaults(t.tell(err))
	return faults[:min(len(faults), maxFaults)]
}

// sortFaults sorts by path and text, in place, and drops what stands twice.
func sortFaults(faults []Fault) []Fault {
	slices.SortFunc(faults, func(a, b Fault) int {
		return cmp.Or(cmp.Compare(a.Path, b.Path), cmp.Compare(a.text(), b.text()))
	})
	return slices.Compact(faults)
}

// tell returns a fault for each leaf below err; alternatives count as leaves.
func (t *faultTeller) tell(err *jsonschema.ValidationError) []Fault {
	switch k := err.ErrorKind.(type) {
	case *kind.AnyOf:
		return []Fault{t.alternatives(err)}
	case *kind.OneOf:
		if len(k.Subschemas) == 0 {
			return []Fault{t.alternatives(err)}
		}
		return []Fault{t.fault(err, "a value that fits exactly one alternative", fmt.Sprintf(
			"%s, which fits alternatives %d and %d", t.got(err), k.Subschemas[0]+1, k.Subschemas[1]+1))}
	case *kind.Required:
		return t.missing(err, k.Missing, "")
	case *kind.DependentRequired:
		return t.missing(err, k.Missing, k.Prop)
	case *kind.Dependency:
		return t.missing(err, k.Missing, k.Prop)
	case *kind.AdditionalProperties:
		return t.unknown(err, k.Properties)
	case *kind.PropertyNames:
		return []Fault{t.propertyName(err, k.Property)}
	case *kind.Contains, *kind.MinContains, *kind.MaxContains, *kind.ContentSchema:
		return []Fault{t.leaf(err)}
	}
	if len(err.Causes) == 0 {
		return []Fault{t.leaf(err)}
	}
	var faults []Fault
	for _, cause := range err.Causes {
		faults = append(faults, t.tell(cause)...)
	}
	return faults
}

func (t *faultTeller) fault(err *jsonschema.ValidationError, expected, got string) Fault {
	return Fault{Path: dottedPath(err.InstanceLocation), Expected: cutText(expected, maxExpected), Got: got}
}

// leaf words an error that has no parts.
func (t *faultTeller) leaf(err *jsonschema.ValidationError) Fault {
	if why := t.broken[err.SchemaURL]; why != "" {
		return t.fault(err, "a value that fits the schema here, "+why, t.got(err))
	}
	switch k := err.ErrorKind.(type) {
	case *kind.Type:
		return t.fault(err, typeWords(k.Want), t.got(err))
	case *kind.Enum:
		return t.fault(err, memberWords(k.Want), t.got(err))
	case *kind.Const:
		return t.fault(err, showValue(k.Want), t.got(err))
	case *kind.Format:
		return t.fault(err, formatWords(k.Want), t.got(err))
	case *kind.Pattern:
		return t.fault(err, patternWords(k.Want), t.got(err))
	case *kind.ContentEncoding:
		return t.fault(err, "a string in "+k.Want, t.got(err))
	case *kind.FalseSchema:
		return t.fault(err, "nothing here", t.got(err))
	case *kind.Not:
		return t.fault(err, "a value that the schema does not exclude", t.got(err))
	case *kind.UniqueItems:
		return t.fault(err, "items that all differ", fmt.Sprintf("equal items at %d and %d", k.Duplicates[0], k.Duplicates[1]))
	case *kind.RefCycle:
		return t.fault(err, "a schema that does not refer to itself", "one that does")
	}
	if expected, ok := sizeWords(err.ErrorKind); ok {
		return t.fault(err, expected, t.got(err)+t.size(err))
	}
	return t.fault(err, "a value that fits the schema", t.got(err))
}

// sizeWords words bounds, of numbers and of sizes.
func sizeWords(k jsonschema.ErrorKind) (string, bool) {
	switch k := k.(type) {
	case *kind.Minimum:
		return "at least " + ratText(k.Want), true
	case *kind.Maximum:
		return "at most " + ratText(k.Want), true
	case *kind.ExclusiveMinimum:
		return "more than " + ratText(k.Want), true
	case *kind.ExclusiveMaximum:
		return "less than " + ratText(k.Want), true
	case *kind.MultipleOf:
		return "a multiple of " + ratText(k.Want), true
	case *kind.MinLength:
		return "at least " + countOf(k.Want, "character"), true
	case *kind.MaxLength:
		return "at most " + countOf(k.Want, "character"), true
	case *kind.MinItems:
		return "at least " + countOf(k.Want, "item"), true
	case *kind.MaxItems:
		return "at most " + countOf(k.Want, "item"), true
	case *kind.AdditionalItems:
		return "fewer items, " + strconv.Itoa(k.Count) + " less", true
	case *kind.MinProperties:
		return "at least " + countOf(k.Want, "property"), true
	case *kind.MaxProperties:
		return "at most " + countOf(k.Want, "property"), true
	case *kind.Contains:
		return "at least one item of the kind that the schema asks for", true
	case *kind.MinContains:
		return "at least " + countOf(k.Want, "item") + " of the kind that the schema asks for", true
	case *kind.MaxContains:
		return "at most " + countOf(k.Want, "item") + " of the kind that the schema asks for", true
	}
	return "", false
}

// size adds the length of a string, which its text does not show.
func (t *faultTeller) size(err *jsonschema.ValidationError) string {
	var n int
	switch k := err.ErrorKind.(type) {
	case *kind.MinLength:
		n = k.Got
	case *kind.MaxLength:
		n = k.Got
	default:
		return ""
	}
	return " of " + countOf(n, "character")
}

// missing words each missing property; by is the property that asks for it.
func (t *faultTeller) missing(err *jsonschema.ValidationError, names []string, by string) []Fault {
	var faults []Fault
	for _, name := range names {
		expected := "property " + quoteText(name)
		if by != "" {
			expected += ", which " + quoteText(by) + " asks for"
		}
		faults = append(faults, t.fault(err, expected, ""))
	}
	return faults
}

// unknown words each property that is not declared.
func (t *faultTeller) unknown(err *jsonschema.ValidationError, names []string) []Fault {
	declared, patterns := t.declared(err.SchemaURL)
	slices.Sort(names)
	var faults []Fault
	for _, name := range names {
		expected := "no properties"
		near := ""
		if t.compare > 0 {
			t.compare--
			near = nearestName(name, declared)
		}
		switch {
		case near != "":
			expected = "property " + quoteText(near)
		case len(declared) > 0:
			expected = "only the properties " + joinWords(declared, quoteText, "and")
		case len(patterns) > 0:
			expected = "a property name matching " + joinWords(patterns, cutPattern, "or")
		}
		faults = append(faults, t.fault(err, expected, "unknown property "+quoteText(name)))
	}
	return faults
}

// declared returns the names and the patterns that the subschema at location
// has properties for, sorted.
func (t *faultTeller) declared(location string) (names, patterns []string) {
	s := t.places()[location]
	if s == nil {
		return nil, nil
	}
	for pattern := range s.PatternProperties {
		patterns = append(patterns, pattern.String())
	}
	slices.Sort(patterns)
	return slices.Sorted(maps.Keys(s.Properties)), patterns
}

func (t *faultTeller) propertyName(err *jsonschema.ValidationError, name string) Fault {
	sub := &faultTeller{value: name, places: t.places, broken: t.broken}
	var wants []string
	for _, cause := range err.Causes {
		for _, f := range sub.tell(cause) {
			wants = append(wants, f.Expected)
		}
	}
	slices.Sort(wants)
	expected := "another property name"
	if len(wants) > 0 {
		expected = "property names that are " + strings.Join(slices.Compact(wants), " and ")
	}
	return Fault{Path: t.holder(len(err.InstanceLocation), name), Expected: cutText(expected, maxExpected), Got: "property name " + quoteText(name)}
}

// alternatives words a value that fits none of several schemas: as the list
// of types where nothing but the type is wrong, else by the faults of the
// alternative that is closest to fitting.
func (t *faultTeller) alternatives(err *jsonschema.ValidationError) Fault {
	depth := len(err.InstanceLocation)
	best, lowest := 0, -1
	var types []string
	for i, cause := range err.Causes {
		if k, ok := onlyKind(cause, depth).(*kind.Type); ok {
			types = append(types, k.Want...)
		}
		if d := t.distance(cause, depth); lowest < 0 || d < lowest {
			best, lowest = i, d
		}
	}
	if len(types) > 0 && lowest >= farOff {
		return t.fault(err, typeWords(types), t.got(err))
	}
	if len(err.Causes) == 0 {
		return t.fault(err, "a value that fits one of several alternatives", t.got(err))
	}
	closest := t.closest(err.Causes[best], dottedPath(err.InstanceLocation))
	return t.fault(err, fmt.Sprintf("one of %s (closest is %d: %s)",
		countOf(len(err.Causes), "alternative"), best+1, cutText(closest, maxExpected-50)), t.got(err))
}

// closest tells the faults of one alternative for the value at path, with
// paths that begin there.
func (t *faultTeller) closest(cause *jsonschema.ValidationError, path string) string {
	faults := t.sorted(cause)
	var lines []string
	for i, f := range faults {
		if i == maxNested {
			lines = append(lines, fmt.Sprintf("and %d more", len(faults)-i))
			break
		}
		if path != "" {
			f.Path = strings.TrimPrefix(strings.TrimPrefix(f.Path, path), ".")
		}
		lines = append(lines, f.String())
	}
	return strings.Join(lines, "; ")
}

// farOff is the distance of an alternative for another type of value.
const farOff = 1 << 20

// distance says how far a value is from fitting the schema that gave err.
// Being of another type counts most, and a member that is not allowed, which
// often names the alternative, counts more than other faults.
func (t *faultTeller) distance(err *jsonschema.ValidationError, depth int) int {
	if t.broken[err.SchemaURL] != "" {
		return farOff - 1 // nobody can do anything about it
	}
	switch err.ErrorKind.(type) {
	case *kind.Type:
		if len(err.InstanceLocation) == depth {
			return farOff
		}
		return 1
	case *kind.Const, *kind.Enum:
		return 8
	case *kind.AnyOf, *kind.OneOf:
		return 4
	}
	sum := 0
	for _, cause := range err.Causes {
		sum = min(sum+t.distance(cause, depth), farOff)
	}
	return max(sum, 1)
}

// onlyKind returns the kind of error behind references and groups of one.
func onlyKind(err *jsonschema.ValidationError, depth int) jsonschema.ErrorKind {
	for len(err.Causes) == 1 {
		switch err.ErrorKind.(type) {
		case *kind.Reference, *kind.Group, *kind.AllOf:
			err = err.Causes[0]
			continue
		}
		break
	}
	if len(err.InstanceLocation) != depth {
		return nil
	}
	return err.ErrorKind
}

// ratText writes n in full where that is short.
func ratText(n *big.Rat) string {
	const maxDigits = 20
	if n.IsInt() {
		if text := n.Num().String(); len(text) <= maxDigits {
			return text
		}
	}
	if digits, exact := n.FloatPrec(); exact && digits > 0 && digits <= maxDigits {
		return cutText(n.FloatString(digits), maxGot)
	}
	f, _ := n.Float64()
	return strconv.FormatFloat(f, 'g', -1, 64)
}
