package machine

import (
	"runtime"
	"sync/atomic"
	"time"

	"github.com/toolcell/toolcell/providers/inmemory/quickjs/system"
)

const (
	// grace is for how long a program that has to end may go on. Time that the machine
	// spends on other processes does not count, up to maxGrace, or to starvedGrace where
	// this one has hardly come to compute.
	grace        = 40 * time.Millisecond
	maxGrace     = 80 * time.Millisecond
	starvedGrace = time.Second
	starved      = 15 * time.Millisecond
	// again is after what time it is interrupted once more: handlers of the interrupt
	// take time too.
	again = 10 * time.Millisecond
	// every so many yields the goroutine lets others run, also the collector's.
	scheduleEvery = 4
)

// A Watch is what looks after a program, at each yield.
type Watch struct {
	// Breathe is called at each yield while the program may go on. It may be nil.
	Breathe func()
	// Interrupt asks the program to end, so that its state is kept. It is called on the
	// program's goroutine, again and again.
	Interrupt func()

	stopping atomic.Bool
	yields   int
	since    time.Time // when the program first learned that it has to end
	next     time.Time
	outside  time.Duration
	computed time.Duration // by the process until since
}

// Begin prepares for a run of the program.
func (w *Watch) Begin() {
	w.stopping.Store(false)
	w.since, w.outside = time.Time{}, 0
}

// Stop has the program end soon. It may be called from any goroutine.
func (w *Watch) Stop() { w.stopping.Store(true) }

// Outside calls do, which waits in the host. That time is not the program's.
func (w *Watch) Outside(do func()) {
	start := time.Now()
	do()
	w.outside += time.Since(start)
}

// Look is for each yield. It panics with ErrKilled where the program has had its time to end.
func (w *Watch) Look() {
	if w.yields++; w.yields%scheduleEvery == 0 {
		runtime.Gosched()
	}
	if !w.stopping.Load() {
		if w.Breathe != nil {
			w.Breathe()
		}
		return
	}
	now := time.Now()
	if w.since.IsZero() {
		w.since, w.next, w.outside, w.computed = now, now, 0, system.CPUTime()
	}
	if w.patienceEnded(now.Sub(w.since) - w.outside) {
		panic(ErrKilled)
	}
	if !now.Before(w.next) && w.Interrupt != nil {
		w.next = now.Add(again)
		w.Interrupt()
	}
}

// patienceEnded reports whether a program that has had to end for so long has had its time.
func (w *Watch) patienceEnded(passed time.Duration) bool {
	if passed <= grace {
		return false
	}
	computed := system.CPUTime() - w.computed
	return computed >= grace || passed >= maxGrace && computed >= starved || passed >= starvedGrace
}
