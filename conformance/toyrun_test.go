package conformance

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/internal/outbuf"
)

// An ending is why a run was stopped from outside.
type ending int

const (
	endNone ending = iota
	endTimeout
	endCanceled
	endInterrupt
	endRestart
	endClosed
	endDeleted
)

// toyGrace is how long an interrupted program may take to end by itself.
const toyGrace = 100 * time.Millisecond

// A toyRun is one run of a program on a machine.
type toyRun struct {
	m       *machine
	opts    *codeinterp.RunOptions
	out     *outbuf.Collector
	closed  <-chan struct{}
	deleted <-chan struct{}

	mu     sync.Mutex
	reason ending
	cause  error
	stop   chan struct{} // closed when the program is to end
	kill   chan struct{} // closed when it has to
}

func newToyRun(m *machine, opts *codeinterp.RunOptions, closed, deleted <-chan struct{}) *toyRun {
	return &toyRun{m: m, opts: opts, out: outbuf.New(opts), closed: closed, deleted: deleted,
		stop: make(chan struct{}), kill: make(chan struct{})}
}

// end stops the run for a reason. The first reason wins.
func (r *toyRun) end(reason ending, cause error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.reason != endNone {
		return
	}
	r.reason, r.cause = reason, cause
	close(r.stop)
	if reason >= endRestart {
		close(r.kill)
		return
	}
	time.AfterFunc(toyGrace, func() { close(r.kill) })
}

// ended returns why the run was stopped.
func (r *toyRun) ended() (ending, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.reason, r.cause
}

// watch stops the run when one of the things happens that stop it; the
// function it returns ends the watch.
func (r *toyRun) watch(ctx context.Context) func() {
	done := make(chan struct{})
	var timeout <-chan time.Time
	if r.opts.Timeout > 0 {
		timeout = time.After(r.opts.Timeout)
	}
	var wg sync.WaitGroup
	wg.Go(func() {
		select {
		case <-done:
		case <-timeout:
			r.end(endTimeout, nil)
		case <-ctx.Done():
			r.end(endCanceled, context.Cause(ctx))
		case <-r.closed:
			r.end(endClosed, codeinterp.ErrClosed)
		case <-r.deleted:
			r.end(endDeleted, codeinterp.ErrContext)
		}
	})
	return func() { close(done); wg.Wait() }
}

// run runs code and tells how it ended.
func (r *toyRun) run(ctx context.Context, code string) (codeinterp.Result, error) {
	unwatch := r.watch(ctx)
	start := time.Now()
	res := codeinterp.Result{Status: codeinterp.StatusOK, ExecutionCount: r.m.begin(r)}
	restore := r.m.setEnv(r.opts.Env)
	how := r.m.execute(r, code)
	restore()
	res.Duration = time.Since(start)
	r.m.finish(r)
	unwatch()
	err := r.outcome(&res, how)
	r.out.Finish(&res)
	return res, err
}

// outcome fills in the status. What stopped the run from outside wins over what
// the program says.
func (r *toyRun) outcome(res *codeinterp.Result, how error) error {
	reason, cause := r.ended()
	killed := errors.Is(how, errToyKilled) || reason >= endRestart
	if killed {
		r.m.reset()
		res.StateLost = reason != endRestart
	}
	set := func(status codeinterp.Status, exit int, cause codeinterp.Cause) {
		res.Status, res.ExitCode, res.Cause = status, exit, cause
	}
	var exit toyExit
	var pe *codeinterp.ProgramError
	if errors.As(how, &pe) {
		res.Error = pe
	}
	switch {
	case reason == endTimeout:
		set(codeinterp.StatusTimeout, codeinterp.ExitTimeout, "")
	case reason == endCanceled:
		set(codeinterp.StatusCanceled, codeinterp.ExitCanceled, "")
		return cause
	case reason == endRestart:
		set(codeinterp.StatusLost, codeinterp.ExitKilled, codeinterp.CauseRestart)
	case reason == endClosed || reason == endDeleted:
		set(codeinterp.StatusLost, codeinterp.ExitKilled, codeinterp.CauseClosed)
		return cause
	case reason == endInterrupt && killed:
		set(codeinterp.StatusLost, codeinterp.ExitKilled, codeinterp.CauseInterrupt)
	case reason == endInterrupt:
		set(codeinterp.StatusError, 130, codeinterp.CauseInterrupt)
	case killed:
		set(codeinterp.StatusLost, codeinterp.ExitKilled, codeinterp.CauseSignal)
	case errors.As(how, &exit) && exit != 0:
		set(codeinterp.StatusError, int(exit), "")
	case pe != nil:
		set(codeinterp.StatusError, 1, "")
	}
	return nil
}

// pause waits; it reports false where the run was stopped.
func (r *toyRun) pause(d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return !r.stopped()
	case <-r.stop:
		return false
	}
}

func (r *toyRun) stopped() bool {
	select {
	case <-r.stop:
		return true
	default:
		return false
	}
}

// A toyExit is a program's exit code.
type toyExit int

func (toyExit) Error() string { return "exit" }
