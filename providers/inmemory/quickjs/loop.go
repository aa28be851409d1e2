//go:build !(386 || arm || s390x)

package quickjs

import (
	"container/heap"
	"time"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/providers/inmemory/engine"
	"modernc.org/libc"
	lib "modernc.org/libquickjs"
)

// maxTimers bounds how many timers a program may have at once.
const maxTimers = 100_000

// A loop is what a program left to do: timers, and promises that were
// rejected without anyone taking notice.
type loop struct {
	timers   timers
	byID     map[int32]*timer
	lastID   int32
	seq      uint64
	rejected map[uintptr]rejection // by promise
}

type timer struct {
	id    int32
	at    time.Time
	seq   uint64
	every time.Duration // -1 where it fires once
	fn    value
	args  []value
	weak  bool // it does not keep the program running
	index int  // in timers, -1 if none
}

type rejection struct {
	promise, reason value
	seq             uint64
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
}

func (l *loop) remove(vm *vm, id int32) {
	t := l.byID[id]
	if t == nil {
		return
	}
	delete(l.byID, id)
	if t.index >= 0 {
		heap.Remove(&l.timers, t.index)
		t.free(vm)
	} else {
		t.every = -1 // it is being called
	}
}

func (t *timer) free(vm *vm) {
	vm.free(t.fn)
	for _, a := range t.args {
		vm.free(a)
	}
}

// waits reports whether a timer keeps the program running.
func (l *loop) waits() bool {
	for _, t := range l.timers {
		if !t.weak {
			return true
		}
	}
	return false
}

// reset drops all of it.
func (l *loop) reset(vm *vm) {
	if lib.XJS_IsJobPending(vm.tls, vm.rt) != 0 {
		vm.dropJobs()
	}
	for _, t := range l.timers {
		t.free(vm)
	}
	for _, r := range l.rejected {
		vm.free(r.promise)
		vm.free(r.reason)
	}
	l.timers, l.byID, l.rejected = nil, nil, nil
}

// dropJobs ends every pending job at its first call, without running it.
func (vm *vm) dropJobs() {
	vm.stopping.Store(true)
	for range 1 << 20 {
		at[lib.TJSContext](vm.ctx).Finterrupt_counter = 0
		n := lib.XJS_ExecutePendingJob(vm.tls, vm.rt, 0)
		if n == 0 {
			break
		}
		if n < 0 {
			vm.dropException()
		}
	}
	vm.stopping.Store(false)
}

// cRejected is called by the engine when a promise is rejected that nobody
// waits for, and when somebody comes to wait for it.
func cRejected(_ *libc.TLS, _ uintptr, promise, reason value, handled int32, opaque uintptr) {
	vm := at[vm](opaque)
	l := &vm.in.loop
	key := ptr(promise)
	if handled != 0 {
		if r, ok := l.rejected[key]; ok {
			delete(l.rejected, key)
			vm.free(r.promise)
			vm.free(r.reason)
		}
		return
	}
	if l.rejected == nil {
		l.rejected = map[uintptr]rejection{}
	}
	if _, ok := l.rejected[key]; !ok {
		l.seq++
		l.rejected[key] = rejection{vm.dup(promise), vm.dup(reason), l.seq}
	}
}

// firstRejected returns the reason of the oldest of them.
func (l *loop) firstRejected() value {
	first := rejection{seq: 1 << 63}
	for _, r := range l.rejected {
		if r.seq < first.seq {
			first = r
		}
	}
	return first.reason
}

// wait runs what is pending until the main promise, if any, is settled and
// nothing is left. ok is false where the program ended otherwise, and out
// says how.
func (in *instance) wait(main value) (out engine.Outcome, ok bool) {
	for {
		if out, ended := in.jobs(); ended {
			return out, false
		}
		if out, failed := in.unhandled(main); failed {
			return out, false
		}
		if len(in.loop.timers) == 0 || !in.loop.waits() && !in.pending(main) {
			break
		}
		if out, ended := in.nextTimer(); ended {
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

// jobs runs the pending reactions of promises.
func (in *instance) jobs() (engine.Outcome, bool) {
	vm := in.vm
	for {
		if vm.stopping.Load() {
			return in.ended()
		}
		n := lib.XJS_ExecutePendingJob(vm.tls, vm.rt, 0)
		if n < 0 {
			return in.failed(lib.XJS_GetException(vm.tls, vm.ctx)), true
		}
		if n == 0 && !vm.stopping.Load() {
			return engine.Outcome{}, false
		}
	}
}

// unhandled reports a promise that was rejected and that nobody waits for.
func (in *instance) unhandled(main value) (engine.Outcome, bool) {
	if isObject(main) && lib.XJS_PromiseState(in.vm.tls, in.vm.ctx, main) == lib.EJS_PROMISE_REJECTED {
		return in.failed(lib.XJS_PromiseResult(in.vm.tls, in.vm.ctx, main)), true
	}
	if len(in.loop.rejected) == 0 {
		return engine.Outcome{}, false
	}
	return in.failed(in.vm.dup(in.loop.firstRejected())), true
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
	heap.Pop(&in.loop.timers)
	v := in.vm.call(t.fn, undefined, t.args...)
	if t.every >= 0 {
		t.at = time.Now().Add(max(t.every, time.Millisecond))
		in.loop.push(t)
	} else {
		delete(in.loop.byID, t.id)
		t.free(in.vm)
	}
	if isException(v) {
		return in.failed(lib.XJS_GetException(in.vm.tls, in.vm.ctx)), true
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
