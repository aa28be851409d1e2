package kernel

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/toolcell/toolcell/providers/jupyter/internal/server"
)

// A watch supervises the connection of a run: it asks for the kernel's state when no
// message comes, and dials again when the socket is lost. Only the run's own goroutine reads
// its channels and calls its methods.
type watch struct {
	r          *runner
	sock       *socket
	quiet      *time.Timer
	halfTimer  <-chan time.Time // the second sign of the end is missing
	probeTimer <-chan time.Time // after an interrupt
	beginTimer <-chan time.Time // the kernel works at the request, and has not said that it began
	redialled  chan error
	away       bool // reconnecting
	probed     bool // after the interrupt
	halfProbed bool // as half of the end was there
	ctx        context.Context
	cancel     context.CancelFunc
	work       sync.WaitGroup
	polling    chan struct{}
}

func newWatch(r *runner, s *socket) *watch {
	ctx, cancel := context.WithCancel(r.ctx)
	return &watch{r: r, sock: s, quiet: time.NewTimer(firstSilence), redialled: make(chan error, 1),
		ctx: ctx, cancel: cancel, polling: make(chan struct{}, 1)}
}

// end ends the watch and waits for its goroutines.
func (w *watch) end() {
	w.cancel()
	w.quiet.Stop()
	w.work.Wait()
}

// startTimers starts the timers that the progress requires.
func (w *watch) startTimers(p progress) {
	if p.half() && w.halfTimer == nil {
		w.halfTimer = time.After(halfGrace)
	}
	if w.beginTimer == nil && p.busy && !w.r.e.hasBegun() {
		w.beginTimer = time.After(busyBegins)
	}
	if p.interrupted && !w.probed {
		w.probed, w.probeTimer = true, time.After(probeAfter)
	}
}

// lost is closed when the socket is lost, nil while it is being replaced.
func (w *watch) lost() <-chan struct{} {
	if w.away {
		return nil
	}
	return w.sock.lost
}

// poll asks the server for the kernel's state if the run has been silent long enough. A
// kernel that is gone ends the run; one that is idle is asked itself.
func (w *watch) poll() {
	p := w.r.e.progress()
	limit := silence
	if !p.busy {
		limit = firstSilence
	}
	if rest := limit - time.Since(p.active); rest > 0 {
		w.quiet.Reset(rest)
		return
	}
	w.quiet.Reset(silence)
	select {
	// One at a time, for a slow server.
	case w.polling <- struct{}{}:
	default:
		return
	}
	away := w.away // a copy: the field is that of the run's goroutine
	w.work.Go(func() {
		defer func() { <-w.polling }()
		// A kernel that should run the program and is said not to is asked itself.
		if st, err := w.r.k.check(w.ctx); err == nil && notRunning(st) && !away {
			ctx, cancel := context.WithTimeout(w.ctx, silence)
			defer cancel()
			w.r.probe(ctx)
		}
	})
}

// notRunning reports whether the server says that a kernel runs nothing. A server that
// missed its first status calls it starting.
func notRunning(st server.Kernel) bool { return st.State == "idle" || st.State == "starting" }

// probe asks the kernel for a sign, which comes after the run: an interrupt can make the
// kernel lose the report of the end.
func (w *watch) probe() {
	w.probeTimer = nil
	w.work.Go(func() { w.r.probe(w.ctx) })
}

// probe reports whether the kernel has answered.
func (r *runner) probe(ctx context.Context) bool {
	k := r.k
	k.mu.Lock()
	before := k.identity
	k.mu.Unlock()
	m, err := k.ask(ctx, "shell", "kernel_info_request", struct{}{})
	if err != nil {
		return errors.Is(err, errDied)
	}
	if other := m.Header.Session; before != "" && other != before {
		// In this order: noteIdentity alone would forget the process without ending the run.
		k.noteEnd(lost, "")
		k.noteIdentity(other)
	} else {
		r.e.q.put(event{kind: evAnswered})
	}
	return true
}

// reconnect dials anew and, once the server has replayed what it kept, asks
// the kernel for a sign: it answers only after the run is over.
func (w *watch) reconnect() {
	w.away = true
	k, limit := w.r.k, ReconnectTimeout
	w.work.Go(func() {
		ctx, cancel := context.WithTimeoutCause(w.ctx, limit, server.Unavailable("the server did not come back within %v", limit))
		defer cancel()
		w.redialled <- k.Connect(ctx)
	})
}

// returned takes the result of a reconnect and reports whether the run is over.
func (w *watch) returned(err error) bool {
	w.away = false
	k := w.r.k
	switch {
	case errors.Is(err, ErrGone):
		return false // the death comes through the queue
	case w.ctx.Err() != nil:
		return false // the order to stop comes
	case err != nil:
		w.r.away = err
		return true
	}
	_, w.sock = k.present()
	w.r.e.calls.reconnected()
	w.work.Go(func() { w.r.probe(w.ctx) })
	return false
}
