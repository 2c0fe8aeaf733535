package coerce

import "github.com/santhosh-tekuri/jsonschema/v6"

// Fits reports what the package thinks of data, for comparison with the
// validator; ok is false when it has no opinion.
func Fits(sch *jsonschema.Schema, data []byte) (fits, ok bool) {
	n, ok := parse(data, 0)
	if !ok {
		return false, false
	}
	r := newRun(sch)
	fits = r.fits(sch, n)
	return fits, !r.lost
}
