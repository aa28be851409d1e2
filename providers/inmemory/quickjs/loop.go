package quickjs

import (
	"container/heap"
	"time"
	"unsafe"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/providers/inmemory/engine"
	lib "modernc.org/libquickjs"
)

// maxTimers bounds how many timers a program may have at once.
const maxTimers = 100_000

// A loop is what a program left to do: timers, and promises that were
// rejected without anyone taking notice.
type loop struct {
	timers timers
	strong int // of timers, those that keep the program running
	byID   map[int32]*timer
	lastID int32
	seq    uint64
	ticks  []tick // of process.nextTick, oldest first

	rejected []rejection // oldest first
}

// The host's side of a timer, a tick and a rejection takes so much of Go's heap, at
// most, which counts as memory of the context's.
const (
	timerSize     = 256
	tickSize      = 64
	rejectionSize = 192
)

// A tick is a callback that runs before the pending reactions of promises.
type tick struct {
	fn   value
	args []value
}

type timer struct {
	id    int32
	at    time.Time
	seq   uint64
	delay time.Duration
	every time.Duration // -1 where it fires once
	fn    value
	self  value // what the program has of it
	args  []value
	weak  bool // it does not keep the program running
	index int  // in timers, -1 if none
}

type rejection struct {
	promise, reason value
	counted         bool
}

// timers is a heap, the next one first.
type timers []*timer

func (t timers) Len() int { return len(t) }
func (t timers) Less(i, j int) bool {
	if !t[i].at.Equal(t[j].at) {
		return t[i].at.Before(t[j].at)
	}
	return t[i].seq < t[j].seq
}
func (t timers) Swap(i, j int) { t[i], t[j] = t[j], t[i]; t[i].index, t[j].index = i, j }
func (t *timers) Push(x any)   { x.(*timer).index = len(*t); *t = append(*t, x.(*timer)) }
func (t *timers) Pop() any {
	old := *t
	last := old[len(old)-1]
	old[len(old)-1] = nil
	*t = old[:len(old)-1]
	last.index = -1
	return last
}

// add schedules a timer and takes over its values.
func (l *loop) add(t *timer) {
	if l.byID == nil {
		l.byID = map[int32]*timer{}
	}
	// Ids wrap around in a context that lives long, and some may still be in use.
	for l.lastID++; l.lastID <= 0 || l.byID[l.lastID] != nil; l.lastID++ {
		l.lastID = max(l.lastID, 0)
	}
	t.id = l.lastID
	l.byID[t.id] = t
	l.push(t)
}

func (l *loop) push(t *timer) {
	l.seq++
	t.seq = l.seq
	heap.Push(&l.timers, t)
	l.strong += t.strength()
}

// pop takes the next timer.
func (l *loop) pop() {
	l.strong -= heap.Pop(&l.timers).(*timer).strength()
}

func (t *timer) strength() int {
	if t.weak {
		return 0
	}
	return 1
}

// weaken sets whether a timer keeps the program running.
func (l *loop) weaken(t *timer, weak bool) {
	before := t.strength()
	t.weak = weak
	if t.index >= 0 {
		l.strong += t.strength() - before
	}
}

func (l *loop) remove(vm *vm, id int32) {
	t := l.byID[id]
	if t == nil {
		return
	}
	delete(l.byID, id)
	if t.index >= 0 {
		heap.Remove(&l.timers, t.index)
		l.strong -= t.strength()
		t.free(vm)
	} else {
		t.every = -1 // it is being called
	}
}

func (t *tick) free(vm *vm) {
	vm.free(t.fn)
	vm.drop(tickSize, t.args)
}

func (t *timer) free(vm *vm) {
	vm.free(t.fn)
	vm.free(t.self)
	vm.drop(timerSize, t.args)
}

func (r rejection) free(vm *vm) {
	vm.free(r.promise)
	vm.free(r.reason)
	if r.counted {
		vm.heap.letGo(rejectionSize)
	}
}

// reset drops all of it, and the pending jobs, without running any.
func (l *loop) reset(vm *vm) {
	for _, t := range l.timers {
		t.free(vm)
	}
	for _, r := range l.rejected {
		r.free(vm)
	}
	for _, t := range l.ticks {
		t.free(vm)
	}
	l.timers, l.byID, l.rejected, l.ticks, l.strong = nil, nil, nil, nil, 0
	vm.dropJobs()
}

// dropJobs frees the pending jobs, and those that this leads to: what is freed
// may be registered with a FinalizationRegistry.
func (vm *vm) dropJobs() {
	head := &at[lib.TJSRuntime](vm.rt).Fjob_list
	for end := uintptr(unsafe.Pointer(head)); head.Fnext != end; {
		addr := head.Fnext
		job := at[lib.TJSJobEntry](addr)
		next := at[lib.Tlist_head](job.Flink.Fnext)
		head.Fnext, next.Fprev = job.Flink.Fnext, end
		for _, v := range values(addr+unsafe.Sizeof(*job), int(job.Fargc)) {
			vm.free(v)
		}
		realm := job.Frealm
		lib.Xjs_free_rt(vm.tls, vm.rt, addr)
		// A job has a reference to its realm.
		lib.XJS_FreeContext(vm.tls, realm)
	}
}

// wait runs what is pending until the main promise, if any, is settled and
// nothing is left. ok is false where the program ended otherwise, and out
// says how.
func (in *instance) wait(main value) (out engine.Outcome, ok bool) {
	for {
		if out, ended := in.jobs(); ended {
			return out, false
		}
		if !in.pending(main) {
			in.take()
		}
		if out, failed := in.unhandled(main); failed {
			return out, false
		}
		if !in.calling() && (len(in.loop.timers) == 0 || in.loop.strong == 0 && !in.pending(main)) {
			break
		}
		if out, ended := in.next(); ended {
			return out, false
		}
	}
	if in.pending(main) {
		return engine.Outcome{ExitCode: exitUnsettled, Error: &codeinterp.ProgramError{
			Name: "Error", Message: "a top-level await waits for a promise that nothing can settle any more"}}, false
	}
	return out, true
}

func (in *instance) pending(main value) bool {
	return isObject(main) && lib.XJS_PromiseState(in.vm.tls, in.vm.ctx, main) == lib.EJS_PROMISE_PENDING
}

// jobs runs what process.nextTick was given and the pending reactions of
// promises, as node does: all ticks, then all reactions, until there is neither.
func (in *instance) jobs() (engine.Outcome, bool) {
	for {
		if out, ended := in.runTicks(); ended {
			return out, true
		}
		if out, ended := in.reactions(); ended {
			return out, true
		}
		if len(in.loop.ticks) == 0 {
			return engine.Outcome{}, false
		}
	}
}

func (in *instance) runTicks() (engine.Outcome, bool) {
	vm := in.vm
	for len(in.loop.ticks) > 0 {
		if vm.stopping.Load() {
			return in.ended()
		}
		t := in.loop.ticks[0]
		in.loop.ticks = in.loop.ticks[1:]
		v := vm.call(t.fn, undefined, t.args...)
		t.free(vm)
		if isException(v) {
			if out, ended := in.uncaught(); ended {
				return out, true
			}
			continue
		}
		vm.free(v)
	}
	return engine.Outcome{}, false
}

func (in *instance) reactions() (engine.Outcome, bool) {
	vm := in.vm
	for {
		if vm.stopping.Load() {
			return in.ended()
		}
		n := lib.XJS_ExecutePendingJob(vm.tls, vm.rt, 0)
		if n < 0 {
			if out, ended := in.uncaught(); ended {
				return out, true
			}
			continue
		}
		if n == 0 && !vm.stopping.Load() {
			return engine.Outcome{}, false
		}
	}
}

// nextTimer waits for the next timer and calls it.
func (in *instance) nextTimer() (engine.Outcome, bool) {
	t := in.loop.timers[0]
	if d := time.Until(t.at); d > 0 {
		in.sleep(d)
		if in.stop.Err() != nil {
			in.vm.stopping.Store(true)
		}
		if out, ended := in.ended(); ended {
			return out, true
		}
	} else if in.stop.Err() != nil {
		in.vm.stopping.Store(true)
		return in.ended()
	}
	// Before the call: the callback may clear its own timer, see remove.
	in.loop.pop()
	v := in.vm.call(t.fn, t.self, t.args...)
	if t.every >= 0 {
		// From now on, as node does, so that a slow callback is not called in a row; a
		// millisecond at least, or an interval of none would never let go.
		t.at = time.Now().Add(max(t.every, time.Millisecond))
		in.loop.push(t)
	} else {
		delete(in.loop.byID, t.id)
		t.free(in.vm)
	}
	if isException(v) {
		return in.uncaught()
	}
	in.vm.free(v)
	return in.ended()
}

func (in *instance) sleep(d time.Duration) {
	in.idle(func() {
		timer := time.NewTimer(d)
		defer timer.Stop()
		select {
		case <-timer.C:
		case <-in.stop.Done():
		}
	})
}

// idle waits while the program does nothing. wait has to end with in.stop.
func (in *instance) idle(wait func()) {
	in.outside.Store(true)
	in.host.Idle(wait)
	in.outside.Store(false)
}
