package inmemory

import (
	"testing"
	"time"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/codeinterp/driver"
)

// TestOverKeepsOutput: what a program has printed is not lost with the call of the host
// that ends its engine.
func TestOverKeepsOutput(t *testing.T) {
	r := &run{slots: newScheduler(1), out: driver.NewOutput(&codeinterp.RunOptions{MaxOutput: -1}), stopper: newStopper()}
	r.batch.last = time.Now().Add(time.Hour) // what is printed waits for more
	r.Write(codeinterp.Stdout, []byte("early"))
	r.over.Store(true)
	func() {
		defer func() {
			if v := recover(); v != errOver {
				t.Errorf("a run that is over shows something: got %v", v)
			}
		}()
		r.Show(codeinterp.Output{Kind: codeinterp.Display})
	}()
	r.ended = true
	r.flushBatch(true)
	var res codeinterp.Result
	r.out.Finish(&res)
	if res.Stdout() != "early" {
		t.Errorf("got %q, want early", res.Stdout())
	}
}
