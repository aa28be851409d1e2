package driver

import (
	"context"
	"runtime"
	"sync"
)

// Workers are goroutines for calls of the runtime. They are reused: growing the stack
// of a new goroutine takes longer than a small program in this process.
type workers struct {
	mu     sync.Mutex
	idle   []chan job // the last one is the warmest
	closed bool
}

// A job is a run, whose ending goes to done, or another call of the runtime, whose end
// calls finished.
type job struct {
	run  *run
	ctx  context.Context
	done chan<- ending

	call, finished func()
}

// start gives the job to a worker.
func (w *workers) start(j job) {
	w.mu.Lock()
	if n := len(w.idle); n > 0 {
		jobs := w.idle[n-1]
		w.idle = w.idle[:n-1]
		w.mu.Unlock()
		jobs <- j
		return
	}
	w.mu.Unlock()
	go w.loop(make(chan job, 1), j)
}

func (w *workers) loop(jobs chan job, j job) {
	for ok := true; ok && w.do(jobs, j); {
		j = job{} // what a run leaves behind is not kept with its worker
		j, ok = <-jobs
	}
}

// do does a job and reports whether the worker stays. It becomes idle before the end
// of the job is reported, so that the next job finds it.
func (w *workers) do(jobs chan job, j job) (kept bool) {
	end, exited := ending{}, true
	defer func() {
		if j.run == nil {
			kept = !exited && w.keep(jobs)
			j.finished()
			return
		}
		if exited { // the session ended its goroutine
			end.broken, end.err = true, errNoReturn
		}
		j.run.endProgram() // from now on an interrupt would hit what runs next
		end.at, end.session = j.run.endedAt(), j.run.session
		kept = !exited && w.keep(jobs)
		j.done <- end
	}()
	if j.run == nil {
		j.call()
	} else {
		j.run.work(j.ctx, &end)
	}
	exited = false
	return
}

// keep adds a worker to the idle ones, if there is room.
func (w *workers) keep(jobs chan job) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.closed || len(w.idle) >= runtime.GOMAXPROCS(0) {
		return false
	}
	w.idle = append(w.idle, jobs)
	return true
}

// close ends the idle workers; the others end with their jobs.
func (w *workers) close() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.closed = true
	for _, jobs := range w.idle {
		close(jobs)
	}
	w.idle = nil
}
