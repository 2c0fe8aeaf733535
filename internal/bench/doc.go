// Package bench compares a turn of the library with the same turn in others. It
// is a module of its own, so that none of them comes near those who use the
// library. It holds benchmarks only.
package bench
