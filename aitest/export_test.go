package aitest

import "testing"

// StoreRules yields each rule of the contract, to be checked by itself.
func StoreRules(yield func(name string, check func(t testing.TB, one, other Store)) bool) {
	for _, rule := range storeRules {
		check := func(t testing.TB, one, other Store) { rule.check(&storeTest{TB: t, one: one, other: other}) }
		if !yield(rule.name, check) {
			return
		}
	}
}
