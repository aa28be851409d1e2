package inmemory

import (
	"sync"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/providers/inmemory/engine"
)

// Workers are the goroutines that engines run on. They are kept between runs,
// since an engine needs a large stack, and since one that cannot be stopped
// has to be left to itself.
type workers struct {
	mu     sync.Mutex
	idle   []*worker // the last one is the warmest
	max    int
	closed bool
}

type worker struct {
	jobs chan *job
	done chan engine.Outcome // of capacity 1
}

// A job is one call of an instance.
type job struct {
	inst    engine.Instance
	program engine.Program
	run     *run
	done    chan engine.Outcome // the worker's
	after   func()              // called once the instance has returned, unless nil

	mu       sync.Mutex
	returned bool
}

// start has a worker do the job. Its outcome comes on j.done, unless the job is
// abandoned.
func (w *workers) start(j *job) {
	w.mu.Lock()
	var next *worker
	if n := len(w.idle); n > 0 {
		next = w.idle[n-1]
		w.idle = w.idle[:n-1]
	}
	w.mu.Unlock()
	if next == nil {
		next = &worker{jobs: make(chan *job, 1), done: make(chan engine.Outcome, 1)}
		go next.loop(w)
	}
	j.done = next.done
	next.jobs <- j
}

func (k *worker) loop(w *workers) {
	for j := range k.jobs {
		out := j.call()
		j.mu.Lock()
		j.returned = true
		after := j.after
		j.mu.Unlock()
		if after != nil {
			after()
			return
		}
		j.done <- out
		if !w.put(k) {
			return
		}
	}
}

// put keeps an idle worker, if there is room.
func (w *workers) put(k *worker) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.closed || len(w.idle) >= w.max {
		return false
	}
	w.idle = append(w.idle, k)
	return true
}

// close ends the idle workers; the others end with their jobs.
func (w *workers) close() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.closed = true
	for _, k := range w.idle {
		close(k.jobs)
	}
	w.idle = nil
}

// call runs the program. A panic of the engine costs its state and nothing
// else.
func (j *job) call() (out engine.Outcome) {
	defer func() {
		if p := recover(); p != nil {
			out = engine.Outcome{ExitCode: codeinterp.ExitKilled, Lost: true, Stopped: j.run.ctx.Err() != nil,
				Error: &codeinterp.ProgramError{Name: "InternalError", Message: "the engine failed"}}
		}
	}()
	return j.inst.Run(j.run.ctx, j.program, j.run)
}

// abandon arranges for after to be called once the instance has returned. It
// returns false, without doing so, if it has.
func (j *job) abandon(after func()) bool {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.returned {
		return false
	}
	j.after = after
	return true
}
