package quickjs

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/providers/inmemory/engine"
	"github.com/toolcell/toolcell/providers/inmemory/quickjs/system"
)

const (
	// grace is how long a program that has to end may go on computing
	// before its memory is revoked. Time in the host does not count, nor does
	// time that the machine spends on other processes, up to maxGrace, or to
	// starvedGrace where this one has hardly come to compute at all.
	grace        = 40 * time.Millisecond
	maxGrace     = 80 * time.Millisecond
	starvedGrace = time.Second
	starved      = 15 * time.Millisecond

	// watchEvery is how often a program that has to end is looked at. A
	// machine that is too busy for that counts less time.
	watchEvery = time.Millisecond
)

// A watcher stops the program in progress once the ctx of its run is done, first
// so that the state is kept, and where that does not help by revoking the memory.
// It serves all runs with that ctx.
type watcher struct {
	in     *instance
	done   <-chan struct{} // of the ctx
	remove func() bool
	over   atomic.Bool    // no run is in progress
	ended  sync.WaitGroup // stop

	mu    sync.Mutex
	fired bool // stop was called
}

// watch returns the watcher of a run that begins, nil where nothing can end ctx.
func (in *instance) watch(ctx context.Context) *watcher {
	done := ctx.Done()
	if done == nil {
		return nil
	}
	if w := in.watcher; w != nil && w.done == done && w.again() {
		return w
	}
	in.unwatch()
	w := &watcher{in: in, done: done}
	w.ended.Add(1)
	w.remove = context.AfterFunc(ctx, w.stop)
	in.watcher = w
	return w
}

// unwatch drops the watcher. There is no run in progress.
func (in *instance) unwatch() {
	if in.watcher != nil {
		in.watcher.remove()
		in.watcher = nil
	}
}

// again begins to watch another run, unless ctx is done.
func (w *watcher) again() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.fired {
		return false
	}
	w.over.Store(false)
	return true
}

func (w *watcher) stop() {
	defer w.ended.Done()
	w.mu.Lock()
	w.fired = true
	w.mu.Unlock()
	in := w.in
	tick := time.NewTicker(watchEvery)
	defer tick.Stop()
	var inside, computed time.Duration
	for before := system.CPUTime(); !w.over.Load(); {
		// Again and again: the engine may write over the counter that is poked.
		in.vm.stop()
		<-tick.C
		now := system.CPUTime()
		if !in.outside.Load() {
			inside += watchEvery
			computed += now - before
		}
		before = now
		if patienceEnded(inside, computed) {
			in.vm.heap.revoke()
			return
		}
	}
}

// patienceEnded reports whether a program that has to end has had its time,
// having been in the engine for so long, while the process computed for so long.
func patienceEnded(inside, computed time.Duration) bool {
	return min(inside, computed) >= grace || inside >= maxGrace && computed >= starved || inside >= starvedGrace
}

// finish ends the watch of a run and reports whether ctx ended the program.
func (w *watcher) finish() bool {
	if w == nil {
		return false
	}
	// Before fired is looked at: a stop that comes later finds the run over.
	w.over.Store(true)
	w.mu.Lock()
	fired := w.fired
	w.mu.Unlock()
	if fired {
		w.ended.Wait()
	}
	return fired
}

// lost is the outcome where the engine was broken off or broke by itself.
func (in *instance) lost(panicked any, stopped bool) engine.Outcome {
	out := engine.Outcome{ExitCode: codeinterp.ExitKilled, Lost: true, Stopped: stopped}
	switch heap := in.vm.heap; {
	case stopped || panicked == nil:
	case heap.host || isExhausted(panicked):
		// What the engine does not look at, it then uses; and the C library's stack is
		// not of the heap.
		heap.host = true
		out.Cause = codeinterp.CauseMemory
		out.Error = &codeinterp.ProgramError{Name: "InternalError", Message: "out of memory" + heap.why() + "; the context starts empty on its next run"}
	default:
		out.Error = &codeinterp.ProgramError{Name: "InternalError", Message: "the JavaScript engine failed; the context starts empty on its next run"}
	}
	return out
}

// isExhausted reports whether the C library panicked since the machine has no more
// memory.
func isExhausted(panicked any) bool {
	return strings.HasSuffix(fmt.Sprint(panicked), "OOM")
}

// begin forgets what was refused to an earlier program.
func (h *region) begin() { h.failed, h.others, h.host = false, false, false }

// why says of whose memory there was too little, if it was not the program's own.
func (h *region) why() string {
	switch {
	case h.host:
		return ": this machine has no more to give"
	case h.others:
		return ": what all contexts together may take is used up, most of it perhaps by others"
	}
	return ""
}
