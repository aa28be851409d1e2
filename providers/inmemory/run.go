package inmemory

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/internal/outbuf"
	"github.com/toolcell/toolcell/providers/inmemory/engine"
)

const (
	// patience is how many milliseconds an engine may go on after its run was
	// stopped before it is abandoned. Time in the caller's OnOutput does not
	// count, and on a machine that is too busy to tick every millisecond,
	// neither does the time between ticks.
	patience = 400

	// slowCallback is after what time in OnOutput a run gives up its slot.
	slowCallback = 5 * time.Millisecond

	// Writes are joined up to this size, or for this time.
	maxBatch = 4 << 10
	batchFor = time.Millisecond
)

// Why a run was stopped, other than by the caller's ctx, Close or Delete.
var (
	errTimeout   = errors.New("timeout")
	errRestart   = errors.New("context restarted")
	errInterrupt = errors.New("interrupted")
	errAbandoned = errors.New("inmemory: the run is over")
)

// A run is one program's execution and the engine's host. The goroutine that
// runs the engine has a slot of the scheduler whenever it computes.
type run struct {
	slots *scheduler
	opts  codeinterp.RunOptions
	out   *outbuf.Collector
	ctx   context.Context // of the run; its cause says why it was stopped
	stop  context.CancelCauseFunc

	since   time.Time    // when the slot was granted, for Breathe
	leaving atomic.Int64 // when OnOutput was called, 0 outside of it
	over    atomic.Bool  // the run was given up: the engine must not go on

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

// newRun returns a run that holds a slot.
func newRun(ctx context.Context, slots *scheduler, opts codeinterp.RunOptions) *run {
	r := &run{slots: slots, opts: opts, slot: true}
	r.out = outbuf.New(&r.opts)
	r.ctx, r.stop = context.WithCancelCause(ctx)
	return r
}

// Write implements engine.Host.
func (r *run) Write(kind codeinterp.Kind, p []byte) {
	r.batch.mu.Lock()
	defer r.batch.mu.Unlock()
	if r.over.Load() {
		panic(errAbandoned)
	}
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

// flush passes on what was batched. The batch is locked.
func (r *run) flush() {
	if b := r.batch.buf; len(b) > 0 {
		r.batch.buf = b[:0]
		r.emit(func() { r.out.Write(r.batch.kind, b) })
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

// emit calls put, which may call the caller back. A callback that takes long
// does not hold up other programs.
func (r *run) emit(put func()) {
	if r.over.Load() {
		panic(errAbandoned)
	}
	if r.opts.OnOutput == nil {
		put()
		return
	}
	start := time.Now()
	r.leaving.Store(start.UnixNano())
	slow := time.AfterFunc(slowCallback, r.leave)
	put()
	slow.Stop()
	r.enter()
	r.leaving.Store(0)
	if r.over.Load() {
		panic(errAbandoned)
	}
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
	if r.over.Load() {
		r.slots.release()
		return
	}
	r.slot = true
}

// Idle implements engine.Host.
func (r *run) Idle(wait func()) {
	if r.over.Load() {
		panic(errAbandoned)
	}
	r.flushBatch(true)
	r.leave()
	wait()
	r.enter()
}

// Breathe implements engine.Host.
func (r *run) Breathe() {
	if r.over.Load() {
		panic(errAbandoned)
	}
	if len(r.batch.buf) > 0 {
		r.flushBatch(false)
	}
	if r.slots.waiting.Load() == 0 {
		return
	}
	if now := time.Now(); now.Sub(r.since) < slice {
		return
	}
	r.leave()
	r.enter()
}

// giveUp waits, after the run was stopped, until it is done or the engine's
// patience is used up. It returns false in the latter case.
func (r *run) giveUp(done <-chan engine.Outcome) (engine.Outcome, bool) {
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	for waited := 0; waited < patience; {
		select {
		case out := <-done:
			return out, true
		case <-tick.C:
			if r.leaving.Load() == 0 {
				waited++
			}
		}
	}
	r.over.Store(true)
	r.leave()
	return engine.Outcome{}, false
}

// result puts together what the run came to.
func (r *run) result(out engine.Outcome, started time.Time) (codeinterp.Result, error) {
	res := codeinterp.Result{ExitCode: out.ExitCode, Error: out.Error, Cause: out.Cause, StateLost: out.Lost, Duration: time.Since(started)}
	var err error
	switch {
	case out.Stopped && r.ctx.Err() != nil:
		err = r.stopped(&res, context.Cause(r.ctx), out.Lost)
	case out.Lost:
		res.Status, res.ExitCode = codeinterp.StatusLost, codeinterp.ExitKilled
	case out.ExitCode != 0:
		res.Status = codeinterp.StatusError
	default:
		res.Status = codeinterp.StatusOK
	}
	r.flushBatch(true)
	if out.Value != nil && !out.Stopped {
		r.emit(func() { r.out.Add(*out.Value) })
	}
	r.out.Finish(&res)
	return res, err
}

// stopped fills in the result of a run that was stopped.
func (r *run) stopped(res *codeinterp.Result, cause error, lost bool) error {
	res.Error = nil
	switch {
	case errors.Is(cause, errTimeout):
		res.Status, res.ExitCode = codeinterp.StatusTimeout, codeinterp.ExitTimeout
		return nil
	case errors.Is(cause, errRestart):
		res.Status, res.ExitCode, res.Cause = codeinterp.StatusLost, codeinterp.ExitKilled, codeinterp.CauseRestart
		res.StateLost = true
		return nil
	case errors.Is(cause, errInterrupt):
		res.Status, res.ExitCode, res.Cause = codeinterp.StatusError, codeinterp.ExitCanceled, codeinterp.CauseInterrupt
		res.Error = &codeinterp.ProgramError{Name: "InternalError", Message: "interrupted", Traceback: []string{"InternalError: interrupted"}}
		if lost {
			res.Status, res.ExitCode = codeinterp.StatusLost, codeinterp.ExitKilled
		}
		return nil
	case errors.Is(cause, codeinterp.ErrClosed), errors.Is(cause, codeinterp.ErrContext):
		res.Status, res.ExitCode, res.Cause = codeinterp.StatusLost, codeinterp.ExitKilled, codeinterp.CauseClosed
		res.StateLost = true
		return cause
	}
	res.Status, res.ExitCode = codeinterp.StatusCanceled, codeinterp.ExitCanceled
	return cause
}
