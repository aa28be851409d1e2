package kept

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/toolcell/toolcell/codeinterp"
)

func text(s string) codeinterp.Output {
	return codeinterp.Output{Kind: codeinterp.Stdout, Data: []byte(s)}
}

// all reads a spool that has ended.
func all(r *reader) string {
	defer r.close()
	var list []string
	for {
		o, gap, ok := r.next()
		if gap.Last > 0 {
			list = append(list, fmt.Sprintf("gap %d-%d", gap.First, gap.Last))
		}
		if !ok {
			return strings.Join(list, " ")
		}
		list = append(list, string(o.Data))
	}
}

// TestSpool: a reader gets what came after the output that it has, or which outputs are
// missing.
func TestSpool(t *testing.T) {
	s := newSpool(3 * (128 + 1))
	late := text("l")
	late.Late = true
	s.add(late)
	s.add(text("1"))
	s.add(text("2"))
	for after, want := range map[int]string{0: "l 1 2", 1: "2", 2: ""} {
		if r := s.newReader(after); after < 2 {
			s2 := r
			for _, w := range strings.Fields(want) {
				if o, gap, ok := s2.next(); !ok || string(o.Data) != w || gap.Last != 0 {
					t.Errorf("after %d: %q %+v %t, want %q", after, o.Data, gap, ok, w)
				}
			}
			r.close()
		} else {
			r.close()
		}
	}
	for n := 3; n <= 7; n++ {
		s.add(text(fmt.Sprint(n)))
	}
	s.end()
	for after, want := range map[int]string{0: "gap 1-4 5 6 7", 2: "gap 3-4 5 6 7", 4: "5 6 7", 6: "7", 7: ""} {
		if got := all(s.newReader(after)); got != want {
			t.Errorf("after %d: %q, want %q", after, got, want)
		}
	}
}

// TestWriterWaits: a writer waits for a reader that is slow, and not for one that has gone.
func TestWriterWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSpool(4 * 129)
		r := s.newReader(0)
		added := 0
		go func() {
			for range 20 {
				s.add(text("x"))
				added++
			}
			s.end()
		}()
		synctest.Wait()
		if added != 2 {
			t.Errorf("%d outputs were added before the reader read", added)
		}
		if o, gap, ok := r.next(); !ok || gap.Last != 0 || string(o.Data) != "x" {
			t.Error(o, gap, ok)
		}
		synctest.Wait()
		if added != 3 {
			t.Errorf("%d outputs were added", added)
		}
		r.close()
		synctest.Wait()
		if got := all(s.newReader(1)); added != 20 || !strings.HasPrefix(got, "gap 2-16 x") {
			t.Errorf("%d, %q", added, got)
		}
	})
}
