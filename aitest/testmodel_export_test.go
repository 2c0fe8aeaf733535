package aitest

import "testing"

// ModelCases are the names of the cases of TestModel.
func ModelCases() []string {
	var names []string
	for _, c := range modelCases() {
		names = append(names, c.name)
	}
	return names
}

// RunModelCase runs one case of TestModel as a test that may fail.
func RunModelCase(t testing.TB, name string, kit *ModelKit) {
	for _, c := range modelCases() {
		if c.name == name {
			c.test(t, kit)
		}
	}
}

// Check fails a test where the kit itself is wrong.
func (k *ModelKit) Check(t testing.TB) { k.check(t) }
