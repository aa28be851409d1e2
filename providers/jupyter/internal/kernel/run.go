package kernel

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/toolcell/toolcell/codeinterp/driver"
	"github.com/toolcell/toolcell/providers/jupyter/internal/server"
	"github.com/toolcell/toolcell/providers/jupyter/internal/wire"
)

const (
	// halfGrace is the wait for the second sign of the end, idle or execute_reply, after
	// the first.
	halfGrace = 5 * time.Second

	// slowGrace is the further wait while the kernel is asked.
	slowGrace = 3 * halfGrace

	// After silence without a message the server is asked for the kernel's state, after
	// firstSilence the first time.
	silence      = 3 * time.Second
	firstSilence = time.Second

	// probeAfter is how long after an interrupt the kernel is asked whether
	// the run is over.
	probeAfter = 250 * time.Millisecond

	// killGrace is how long to wait for the last messages of a killed kernel.
	killGrace = 500 * time.Millisecond

	// killLimit bounds the end of the kernel's process.
	killLimit = server.KillTimeout + 2*time.Second

	// cancelLimit bounds it if the caller has gone. Jupyter gives a kernel
	// 2.5 s to end by itself.
	cancelLimit = 2800 * time.Millisecond
)

// ErrNeverRan is a run that did not begin and can be made in another kernel: its request
// was not sent, or the server had no such kernel any more.
var ErrNeverRan = fmt.Errorf("%w before the run began", errDied)

// An Order is a program and how it is run.
type Order struct {
	Program *driver.Program
	Out     *driver.Output

	// Kill ends the kernel's process. Nil for a foreign kernel.
	Kill func(ctx context.Context) error

	// Shared says that other clients use the kernel. The program then begins when the
	// kernel begins it, and is not interrupted or killed before.
	Shared bool
}

// An Ending is how a program ended, besides its outcome.
type Ending struct {
	driver.Outcome

	// Left says that the program may still run.
	Left bool

	// Queued says that it waits behind another client's program, and may run later.
	Queued bool
}

// A runner follows one program to its end.
type runner struct {
	k   *Kernel
	ctx context.Context
	Order
	e     *execution
	fresh bool
	end   time.Time

	killed  bool
	killErr error
	queued  bool  // it was killed before the kernel began it
	noIdle  bool  // one sign of the end is missing
	away    error // why the server cannot be reached
}

// Run runs a program in a kernel that is ready. The end of ctx kills it.
func (k *Kernel) Run(ctx context.Context, o Order) (Ending, error) {
	r := &runner{k: k, ctx: ctx, Order: o, e: k.newExecution(o)}
	err := r.follow()
	p := r.e.progress()
	switch {
	case err != nil:
	case r.queued && r.killErr == nil:
		err = ErrWithdrawn
	// After a gap it may have begun.
	case !r.killed && !p.death && !p.gap && p.dropped():
		err = server.Unavailable("the kernel dropped the program after a program of another client failed; try again")
	}
	if err != nil {
		r.e.finish()
		return Ending{}, err
	}
	// The rest is no run time.
	o.Program.End()
	r.e.calls.stop()
	return r.finish()
}

// finish collects the outcome of a run that has ended.
func (r *runner) finish() (Ending, error) {
	if r.end.IsZero() {
		r.end = time.Now()
	}
	r.e.update(func(p *progress) { p.past = true })
	r.inquire()
	p := r.e.progress()
	unreceived := !p.busy && !p.gap
	switch {
	case !p.death || r.killed:
	case unreceived && p.reported.IsZero() && r.k.isGone():
		// Removed from the server, as idle kernels are, which does not remove
		// a busy kernel: the request was not received.
		r.e.finish()
		return Ending{}, ErrNeverRan
	// The request may wait for the kernel's next process. It may also have run: a process
	// that dies at once can lose the report of the begin. And a program can forge the report
	// of its death, and continue.
	case unreceived, !p.reported.IsZero() && r.Kill != nil && !r.k.isShared(r.ctx):
		if !p.reported.IsZero() {
			r.end = p.reported
		}
		r.kill()
		r.killed = r.killErr != nil
	}
	r.e.finish()
	r.showPayload()
	return r.ending(), nil
}

// follow sends the program and returns when it has ended.
func (r *runner) follow() error {
	k := r.k
	_, s := k.present()
	submit := func() error {
		r.fresh = k.countProgram() // first: the process can die of it
		err := k.send(nil, s, "shell", r.e.id, "execute_request", wire.ExecuteRequest{
			// Python takes a byte order mark in files only.
			Code: strings.TrimPrefix(r.Program.Code, "\ufeff"), StoreHistory: true, Expressions: map[string]string{},
			AllowStdin: r.e.calls != nil,
		})
		if err != nil {
			// The next program is still the first of the process.
			k.uncountProgram()
		}
		return err
	}
	var err error
	if r.Shared {
		err = submit()
	} else {
		// An interrupt waits until it is sent, so that none comes too early for the kernel.
		err = r.Program.HandOver(submit)
	}
	if errors.Is(err, errSocketLost) {
		return fmt.Errorf("%w: %w", ErrNeverRan, err)
	} else if err != nil {
		return err
	}
	return r.watch(s, false)
}

// watch returns when the program has ended. If probe is set, the kernel is asked at once
// for a sign that comes after it.
func (r *runner) watch(s *socket, probe bool) error {
	k, w := r.k, newWatch(r, s)
	defer w.end()
	if probe {
		w.probe()
	}
	for {
		p := r.e.progress()
		if p.over() {
			return nil
		}
		if p.replied {
			r.Program.End()
			if r.end.IsZero() { // the rest is time of OnOutput
				r.end = time.Now()
			}
		}
		w.startTimers(p)
		if !r.e.hasBegun() {
			r.Program.Busy(k.isBusyWithOthers())
		}
		select {
		case <-r.e.wake:
		case <-r.ctx.Done():
			r.kill()
			return nil
		case <-w.halfTimer:
			if !w.halfProbed {
				// A slow kernel answers after the program.
				w.halfProbed, w.halfTimer = true, time.After(slowGrace)
				w.probe()
				continue
			}
			// Without idle, output may be missing.
			r.noIdle = true
			return nil
		case <-w.beginTimer:
			r.e.begin()
		case <-w.quiet.C:
			w.poll()
		case <-w.probeTimer:
			w.probe()
		case <-w.lost():
			w.reconnect()
		case err := <-w.redialled:
			if done := w.returned(err); done {
				return nil
			}
		}
	}
}

// kill ends the kernel's process without grace. killErr is set if it cannot.
func (r *runner) kill() {
	r.killed = true
	if !r.e.hasBegun() && r.withdraw() {
		return
	}
	if r.Kill == nil {
		r.killErr = server.Unavailable("another client owns the kernel")
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(r.ctx), killLimit)
	defer cancel()
	ctx, giveUp := context.WithCancelCause(ctx)
	// If the caller's ctx has been over for cancelLimit.
	defer r.Program.AfterCancel(cancelLimit, func() {
		giveUp(server.Unavailable("the server had not done so %v after it was asked, and the caller's ctx is over", cancelLimit))
	})()
	if r.killErr = r.Kill(ctx); r.killErr == nil {
		r.await(context.WithoutCancel(ctx), killGrace)
	}
}

// aliveLimit is how long a server has to show a sign of life while a kernel is ended.
const aliveLimit = 2 * time.Second

// await waits for the run's end.
func (r *runner) await(ctx context.Context, d time.Duration) {
	t := time.NewTimer(d)
	defer t.Stop()
	for !r.e.progress().over() {
		select {
		case <-r.e.wake:
		case <-ctx.Done():
			return
		case <-t.C:
			return
		}
	}
}

// isShared reports whether other clients are connected too.
func (k *Kernel) isShared(ctx context.Context) bool {
	ctx, cancel := context.WithTimeout(ctx, aliveLimit)
	defer cancel()
	st, err := k.check(ctx)
	return err == nil && st.Connections > 1
}
