package inmemory

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/codeinterp/driver"
	"github.com/toolcell/toolcell/providers/inmemory/engine"
)

const (
	// overdue is after what time a program that was killed must not go on: its
	// next call of the host ends the engine.
	overdue = 500 * time.Millisecond

	// Writes are joined up to this size, or for this time.
	maxBatch = 4 << 10
	batchFor = time.Millisecond
)

// errOver is what ends an engine that goes on after its run.
var errOver = errors.New("inmemory: the run is over")

// A run is one program's execution and the engine's host. The goroutine that
// runs the engine has a slot of the scheduler whenever it computes.
type run struct {
	slots   *scheduler
	out     *driver.Output
	stopper // of the engine: it ends with the first order to stop

	since time.Time     // of the slot, from the first Breathe with it on
	away  time.Duration // spent in OnOutput
	over  atomic.Bool   // the engine must not go on
	ended bool          // it has returned

	mu   sync.Mutex
	slot bool // a slot is held

	batch batch
}

// A batch joins small writes that follow each other closely, so that a program
// that prints a million short lines does not cause a million callbacks.
type batch struct {
	mu   sync.Mutex
	kind codeinterp.Kind
	buf  []byte
	last time.Time // of the last flush
}

var _ engine.Host = (*run)(nil)

// A stopper is a ctx and what ends it. Few are ever used, so a session keeps one
// from run to run, once nothing of the run before can end it any more.
type stopper struct {
	ctx  context.Context
	stop context.CancelFunc
}

func newStopper() stopper {
	ctx, stop := context.WithCancel(context.Background())
	return stopper{ctx, stop}
}

// Write implements engine.Host.
func (r *run) Write(kind codeinterp.Kind, p []byte) {
	r.batch.mu.Lock()
	defer r.batch.mu.Unlock()
	r.mustGoOn()
	// Before what follows on the other stream, so that the order is kept.
	if kind != r.batch.kind {
		r.flush()
		r.batch.kind = kind
	}
	if len(r.batch.buf)+len(p) > maxBatch {
		r.flush()
	}
	if len(p) > maxBatch {
		r.emit(func() { r.out.Write(kind, p) })
		return
	}
	r.batch.buf = append(r.batch.buf, p...)
	if time.Since(r.batch.last) > batchFor {
		r.flush()
	}
}

// mustGoOn ends an engine that goes on after its run.
func (r *run) mustGoOn() {
	if r.over.Load() && !r.ended {
		panic(errOver)
	}
}

// flush passes on what was batched. The batch is locked.
func (r *run) flush() {
	if b := r.batch.buf; len(b) > 0 {
		r.emit(func() {
			r.batch.buf = b[:0] // not before: a run that is over keeps it for its end
			r.out.Write(r.batch.kind, b)
		})
		r.batch.last = time.Now()
	}
}

// flushBatch passes on what was batched, if it is old enough or due anyway.
func (r *run) flushBatch(due bool) {
	r.batch.mu.Lock()
	defer r.batch.mu.Unlock()
	if len(r.batch.buf) > 0 && (due || time.Since(r.batch.last) > batchFor) {
		r.flush()
	}
}

// Show implements engine.Host.
func (r *run) Show(o codeinterp.Output) {
	r.flushBatch(true)
	r.emit(func() { r.out.Add(o) })
}

// emit calls put, which may call the caller back: others can run meanwhile.
func (r *run) emit(put func()) {
	r.mustGoOn()
	// No callback runs then, since it could take long.
	if !r.out.Live() {
		put()
		return
	}
	start := time.Now()
	r.leave()
	put()
	r.away += time.Since(start)
	r.enter()
	r.mustGoOn()
}

// leave gives up the slot, enter takes one where none is held. A run that was
// stopped gets none and ends without.
func (r *run) leave() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.slot {
		r.slot = false
		r.slots.release()
	}
}

func (r *run) enter() {
	r.mu.Lock()
	held := r.slot
	r.mu.Unlock()
	if held || !r.slots.acquire(r.ctx) {
		return
	}
	r.since = time.Now()
	r.mu.Lock()
	defer r.mu.Unlock()
	// kill found no slot to give back before this one was granted.
	if r.over.Load() {
		r.slots.release()
		return
	}
	r.slot = true
}

// Idle implements engine.Host.
func (r *run) Idle(wait func()) {
	r.mustGoOn()
	r.flushBatch(true)
	r.leave()
	wait()
	r.enter()
}

// Breathe implements engine.Host.
func (r *run) Breathe() {
	r.mustGoOn()
	if len(r.batch.buf) > 0 {
		r.flushBatch(false)
	}
	if r.since.IsZero() {
		r.since = time.Now() // most programs end before
	}
	if r.slots.waiting.Load() == 0 || time.Since(r.since) < slice {
		return
	}
	r.leave()
	r.enter()
}

// in runs the program in an instance. A panic of the engine costs its state and
// nothing else.
func (r *run) in(inst engine.Instance, p engine.Program) (end engine.Outcome) {
	defer func() {
		if v := recover(); v != nil {
			end = engine.Outcome{ExitCode: codeinterp.ExitKilled, Lost: true, Stopped: r.ctx.Err() != nil,
				Error: &codeinterp.ProgramError{Name: "InternalError", Message: "the engine failed"}}
		}
	}()
	return inst.Run(r.ctx, p, r)
}

// kill ends the program at once. One that goes on nevertheless ends at its next
// call of the host, and delays no other run until then.
func (r *run) kill() {
	r.stop()
	time.AfterFunc(overdue, func() {
		r.over.Store(true)
		r.leave()
	})
}

// outcome is what the engine's end means to the driver. It passes on what is
// left of the output.
func (r *run) outcome(p *driver.Program, end engine.Outcome) driver.Outcome {
	r.ended = true
	p.End()
	o := driver.Outcome{ExitCode: end.ExitCode, Error: end.Error, Cause: end.Cause, Lost: end.Lost}
	if r.away > 0 || r.out.Live() { // else it is now, as the driver knows
		o.End = time.Now().Add(-r.away)
	}
	// That it was interrupted is the engine's word, and no error of the program.
	if end.Stopped && r.ctx.Err() != nil {
		o.Error = nil
	}
	if end.ErrorLost > 0 {
		r.out.Lost(codeinterp.Truncation{Stream: "error", Bytes: end.ErrorLost, Reason: codeinterp.TruncatedByLimit})
	}
	r.flushBatch(true)
	if end.Value != nil {
		r.emit(func() { r.out.Add(*end.Value) })
	}
	return o
}
