package partialjson

import "hash/maphash"

// index finds members of an object by key. It is immutable: a view that holds one
// is not touched by what comes later.
type index struct {
	seed maphash.Seed
	root *node
}

// node holds one key; below it, each of the others stands where the next three
// bits of its hash lead. Nobody can foretell the hashes, so that no choice of keys
// makes the tree deep.
type node struct {
	key  string
	at   int // the position of the last member with the key
	kids [8]*node
}

func newIndex(members []member) *index {
	x := &index{seed: maphash.MakeSeed()}
	for i, m := range members {
		x = x.with(m.key, i)
	}
	return x
}

// with is an index in which the key leads to a position.
func (x *index) with(key string, at int) *index {
	return &index{seed: x.seed, root: x.root.with(maphash.String(x.seed, key), key, at)}
}

// with copies the nodes on the way.
func (n *node) with(hash uint64, key string, at int) *node {
	if n == nil {
		return &node{key: key, at: at}
	}
	c := *n
	if n.key == key {
		c.at = at
	} else {
		c.kids[hash%8] = n.kids[hash%8].with(hash/8, key, at)
	}
	return &c
}

// find is the position of a key, or -1.
func (x *index) find(key string) int {
	hash := maphash.String(x.seed, key)
	for n := x.root; n != nil; {
		if n.key == key {
			return n.at
		}
		n, hash = n.kids[hash%8], hash/8
	}
	return -1
}
