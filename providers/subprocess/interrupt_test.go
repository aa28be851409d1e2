//go:build real && unix

package subprocess_test

import (
	"strings"
	"testing"
	"time"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/internal/tier"
	"github.com/toolcell/toolcell/providers/subprocess"
)

// TestInterruptStays interrupts programs at many moments, those of their beginning and
// end included: each interrupt ends its own run, and none the next one.
func TestInterruptStays(t *testing.T) {
	rounds := 4
	if tier.Full {
		rounds = 100
	}
	const grace = 20 * time.Second
	ci := open(t, subprocess.Options{Grace: grace})
	for _, tt := range []struct{ language, set, busy, short, next, want string }{
		{"python", "x = 5", "while True: pass", "import time\nt = time.time() + %s\nwhile time.time() < t: pass", "s = sum(range(20000)); x", "5"},
		{"javascript", "let x = 5", "for (;;);", "const t = Date.now() + 1000 * %s; while (Date.now() < t);", "let s = 0; for (let i = 0; i < 100000; i++) s += i; x", "5"},
		{"bash", "x=5", "while :; do :; done", "sleep %s", "for i in {1..200}; do :; done; echo $x", "5\n"},
	} {
		t.Run(tt.language, func(t *testing.T) {
			n := newNotebook(t, ci, tt.language)
			n.run(tt.set, nil)
			lost := 0
			for k := range rounds {
				code := tt.busy
				if k%2 == 1 { // it ends by itself just when it is interrupted
					code = strings.ReplaceAll(tt.short, "%s", "0.06")
				}
				stop := keepInterrupting(n, time.Duration(k%20)*time.Millisecond)
				res := n.run(code, nil)
				stop()
				switch {
				case res.StateLost && k%2 == 1:
					lost++
					n.run(tt.set, nil)
				case res.StateLost, k%2 == 0 && res.Cause != codeinterp.CauseInterrupt, res.Duration >= grace/2: // when it is sent once more
					t.Fatalf("round %d: got %s, cause %q", k, summary(res), res.Cause)
				}
				res = n.run(tt.next, nil)
				if got := res.Stdout() + res.Text(); res.Status != codeinterp.StatusOK || got != tt.want || res.StateLost {
					t.Fatalf("round %d, the run after: got %s, cause %q, stderr %s", k, summary(res), res.Cause, res.Stderr())
				}
			}
			if lost > 0 {
				t.Logf("%d of %d lost their state", lost, rounds)
			}
		})
	}
}

// keepInterrupting interrupts n's run after d, or as soon as there is one,
// until stop is called.
func keepInterrupting(n *notebook, d time.Duration) (stop func()) {
	done, gone := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(gone)
		for {
			select {
			case <-done:
				return
			case <-time.After(d):
				_ = n.ci.InterruptContext(n.t.Context(), n.id)
			}
		}
	}()
	return func() {
		close(done)
		<-gone
	}
}
