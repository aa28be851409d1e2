//go:build unix

package pump

import (
	"os"
	"strings"
	"testing"
	"time"

	"github.com/toolcell/toolcell/codeinterp"
)

type gathered struct{ strings.Builder }

func (g *gathered) Deliver(_ codeinterp.Kind, b []byte) { g.Write(b) }

// TestDrained: what a process has written is delivered, and its streams have ended unless
// another process has them, also if the host did not read them in time.
func TestDrained(t *testing.T) {
	for _, held := range []bool{false, true} {
		r, w, err := os.Pipe()
		if err != nil {
			t.Fatal(err)
		}
		raw, err := r.SyscallConn()
		if err != nil {
			t.Fatal(err)
		}
		var got, errs gathered
		// Without the goroutines that New starts.
		late := &Pump{kind: codeinterp.Stdout, file: r, raw: raw, sink: &got, done: make(chan struct{})}
		ended := &Pump{kind: codeinterp.Stderr, sink: &errs, done: make(chan struct{})}
		close(ended.done)
		const much = 40_000 // fits into a pipe
		if _, err := w.WriteString(strings.Repeat("x", much)); err != nil {
			t.Fatal(err)
		}
		if !held {
			w.Close()
		}
		if is := Drained(10*time.Millisecond, late, ended); is == held || got.Len() != much {
			t.Errorf("held %v: drained %v, %d bytes of %d", held, is, got.Len(), much)
		}
		w.Close()
		r.Close()
	}
}
