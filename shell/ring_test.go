package shell

import (
	"bytes"
	"math/rand/v2"
	"testing"

	"github.com/toolcell/toolcell/codeinterp"
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
			if total, dropped := r.size(); total != int64(len(all)) || dropped != int64(first) {
				t.Fatal(total, dropped)
			}
		}
	}
}

// TestRest: of what a command wrote, the ring gets what it has not seen.
func TestRest(t *testing.T) {
	out := func(kind codeinterp.Kind, text string) codeinterp.Output {
		return codeinterp.Output{Kind: kind, Data: []byte(text)}
	}
	gap := out(codeinterp.Stdout, "tail")
	gap.Dropped = 10
	for _, tt := range []struct {
		seen  string
		res   codeinterp.Result
		want  string
		total int64
	}{
		{"all", codeinterp.Result{Outputs: []codeinterp.Output{out(codeinterp.Stdout, "all")}}, "all", 3},
		{"al", codeinterp.Result{Outputs: []codeinterp.Output{out(codeinterp.Stdout, "all"), out(codeinterp.Stderr, " of it")}}, "all of it", 9},
		{"", codeinterp.Result{Outputs: []codeinterp.Output{out(codeinterp.Display, "x"), out(codeinterp.Stderr, "e")}}, "e", 1},
		{"hea", codeinterp.Result{Outputs: []codeinterp.Output{out(codeinterp.Stdout, "head"), gap}, Truncated: []codeinterp.Truncation{
			{Stream: "stdout", Bytes: 18, Kept: 8}, {Stream: "display", Bytes: 99}}}, "tail", 18},
		{"head and", codeinterp.Result{Truncated: []codeinterp.Truncation{{Stream: "stdout", Bytes: 18}}}, "", 18},
		{"more than there is", codeinterp.Result{Outputs: []codeinterp.Output{out(codeinterp.Stdout, "x")}}, "more than there is", 18},
	} {
		r := newRing(50)
		r.write([]byte(tt.seen))
		r.rest(&tt.res, int64(len(tt.seen)))
		r.end()
		c, _, err := r.read(0, 100)
		if string(c.Data) != tt.want || c.Next != tt.total || c.Missed != c.Offset || err != nil {
			t.Errorf("after %q: %+v %q, %v", tt.seen, c, c.Data, err)
		}
	}
}
