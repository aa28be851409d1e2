package shell

import (
	"bytes"
	"math/rand/v2"
	"testing"
)

// TestRing compares the ring with a slice that keeps everything.
func TestRing(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	for range 200 {
		r := newRing(1 + rnd.IntN(50))
		var all []byte
		for range 50 {
			b := make([]byte, rnd.IntN(80))
			for i := range b {
				b[i] = byte(rnd.IntN(256))
			}
			r.write(b)
			all = append(all, b...)
			offset, most := rnd.IntN(len(all)+1), 1+rnd.IntN(100)
			first := max(len(all)-r.keep, 0)
			from := max(offset, first)
			want := all[from:min(from+most, len(all))]
			c, _, err := r.read(int64(offset), most)
			if err != nil || !bytes.Equal(c.Data, want) || c.Offset != int64(from) || c.Missed != int64(from-offset) || c.Next != int64(from+len(want)) {
				t.Fatalf("%d of %d kept, from %d: %+v, %v", r.keep, len(all), offset, c, err)
			}
			if total, dropped := r.size(), r.first(); total != int64(len(all)) || dropped != int64(first) {
				t.Fatal(total, dropped)
			}
		}
	}
}
