package kernel

import (
	"hash/maphash"
	"slices"
)

var idSeed = maphash.MakeSeed()

// recent are the ids of the last messages: a server that replays what it kept for us sends
// some of it twice.
type recent struct {
	ids  [1024]uint64
	next int
}

// before reports whether a message of this id came before, and remembers it.
func (r *recent) before(id string) bool {
	if id == "" {
		return false
	}
	sum := maphash.String(idSeed, id)
	if slices.Contains(r.ids[:], sum) {
		return true
	}
	r.ids[r.next] = sum
	r.next = (r.next + 1) % len(r.ids)
	return false
}
