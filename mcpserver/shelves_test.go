package mcpserver

import (
	"fmt"
	"testing"
)

// TestShelves: however many clients a party has, it keeps its share of the files,
// and nothing of another's goes for it.
func TestShelves(t *testing.T) {
	rs := newResources()
	one, other := party{of: "one", among: 2}, party{of: "other", among: 2}
	file := make([]byte, 8<<20)
	rs.keep("its client", other, []*resource{{name: "of a context"}, {data: file}})
	for n := range 100 {
		rs.keep(n, one, []*resource{{data: file}, {data: file}})
		if len(rs.of(n)) == 0 {
			t.Fatalf("client %d has none of what it was given just now", n)
		}
	}
	var sum int
	for n := range 100 {
		for _, r := range rs.of(n) {
			sum += len(r.data)
		}
	}
	if sum != maxKeptBytes/2 || len(rs.of("its client")) != 2 || len(rs.of(99)) == 0 {
		t.Errorf("%d bytes are kept for one, %d files for the other", sum, len(rs.of("its client")))
	}
	for n := range 100 {
		rs.keep([2]int{n}, party{of: owner(fmt.Sprint(n)), among: 2}, []*resource{{data: file}, {data: file}})
	}
	sum = 0
	for _, s := range rs.byKey {
		sum += int(s.bytes)
	}
	if sum > maxKeptBytes {
		t.Errorf("%d bytes are kept for all", sum)
	}
}
