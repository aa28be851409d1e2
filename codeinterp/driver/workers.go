package driver

import (
	"context"
	"runtime"
	"sync"
	"time"
)

// Workers are the goroutines that the runtime is called on. They are kept from run to
// run: the stack of a new one grows by being copied, which takes longer than a
// small program does in a runtime in this process.
type workers struct {
	mu     sync.Mutex
	idle   []chan job // the last one is the warmest
	closed bool
}

// A job is a run's work, what it comes to goes to done, which is the slot's; or
// it is another call of the runtime, of which tell tells the end.
type job struct {
	run  *run
	ctx  context.Context
	done chan<- ending

	call, tell func()
}

// start has a worker do the job.
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

// do does a job, and reports whether the worker was kept. It is so before the
// job's end is reported, so that the next job finds it.
func (w *workers) do(jobs chan job, j job) (kept bool) {
	if j.run == nil {
		return w.other(jobs, j)
	}
	end, exited := ending{}, true
	defer func() {
		if exited { // the session ended its goroutine
			end.broken, end.err = true, errNoReturn
		}
		end.at, end.session = time.Now(), j.run.session
		j.run.shut() // from now on an interrupt would hit what runs next
		kept = !exited && w.keep(jobs)
		j.done <- end
	}()
	j.run.work(j.ctx, &end)
	exited = false
	return
}

// other is do for what is not a run.
func (w *workers) other(jobs chan job, j job) (kept bool) {
	exited := true
	defer func() {
		kept = !exited && w.keep(jobs)
		j.tell()
	}()
	j.call()
	exited = false
	return
}

// keep keeps a worker that is about to be idle, if there is room.
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
