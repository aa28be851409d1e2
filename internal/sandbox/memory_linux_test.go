package sandbox

import (
	"os"
	"testing"
	"time"

	"github.com/toolcell/toolcell/internal/procfs"
)

// TestMeasuredAgain has a tree grow while its memory is measured, and stand
// still then: it is looked at until a measurement began after that.
func TestMeasuredAgain(t *testing.T) {
	const limit = 1 << 40
	p := newProc(&Sandbox{mode: Landlock}, &plan{limits: Limits{Memory: limit}})
	p.usage.p = p
	u := &p.usage
	look := func() {
		// Resident by what it says, which counts shared pages, not by what it has.
		st := procfs.Stat{PID: os.Getpid(), RSS: 2 * limit, Threads: 1}
		s := &sum{}
		s.add(&member{Stat: st, tree: u})
		u.update(s)
		u.check(s.members)
	}
	u.measuring.Store(true)
	for range 3 * stillLooks {
		look()
	}
	if !u.active {
		t.Fatal("not looked at any more, though it was not measured")
	}
	u.measuring.Store(false)
	look()
	for u.measuring.Load() {
		time.Sleep(time.Millisecond)
	}
	if look(); u.active {
		t.Error("looked at for ever, though it was measured and stands still")
	}
}
