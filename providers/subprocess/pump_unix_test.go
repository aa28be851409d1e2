//go:build unix

package subprocess

import (
	"os"
	"strings"
	"testing"
	"time"

	"github.com/toolcell/toolcell/codeinterp"
)

type gathered struct{ strings.Builder }

func (g *gathered) deliver(_ codeinterp.Kind, b []byte) { g.Write(b) }
func (g *gathered) buffer(n int) []byte                 { return make([]byte, n) }
func (g *gathered) adopt(_ codeinterp.Kind, b []byte)   { g.Write(b) }

// TestPumpNotScheduled: of a process that is gone all is delivered that it wrote, and
// its streams have ended where nobody else has them, also where the host has not come to
// read them in time.
func TestPumpNotScheduled(t *testing.T) {
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
		// Without the goroutines that newPump starts.
		late := &pump{kind: codeinterp.Stdout, file: r, raw: raw, sink: &got, done: make(chan struct{})}
		ended := &pump{kind: codeinterp.Stderr, sink: &errs, done: make(chan struct{})}
		close(ended.done)
		const much = 40_000 // fits into a pipe
		if _, err := w.WriteString(strings.Repeat("x", much)); err != nil {
			t.Fatal(err)
		}
		if !held {
			w.Close()
		}
		p := &process{streams: [2]*pump{late, ended}}
		if is := p.drained(10 * time.Millisecond); is == held || got.Len() != much {
			t.Errorf("held %v: drained %v, %d bytes of %d", held, is, got.Len(), much)
		}
		w.Close()
		r.Close()
	}
}
