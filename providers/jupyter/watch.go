package jupyter

import (
	"context"
	"errors"
	"time"
)

// A watch looks after the connection of a run: it asks for the kernel's state
// when nothing comes, and dials anew when the socket is lost.
type watch struct {
	r         *runner
	sock      *socket
	quiet     *time.Timer
	halfTimer <-chan time.Time
	back      chan error
	away      bool // reconnecting
	cancel    context.CancelFunc
	ctx       context.Context
	polling   chan struct{}
}

func newWatch(r *runner, s *socket) *watch {
	ctx, cancel := context.WithCancel(context.WithoutCancel(r.ctx))
	return &watch{r: r, sock: s, quiet: time.NewTimer(firstSilence), back: make(chan error, 1),
		ctx: ctx, cancel: cancel, polling: make(chan struct{}, 1)}
}

func (w *watch) end() {
	w.cancel()
	w.quiet.Stop()
}

// half starts the wait for the second sign of the end.
func (w *watch) half(is bool) {
	if is && w.halfTimer == nil {
		w.halfTimer = time.After(halfGrace)
	}
}

// lost is closed when the socket is, while nothing is done about it.
func (w *watch) lost() <-chan struct{} {
	if w.away {
		return nil
	}
	return w.sock.lost
}

// poll asks the server for the kernel's state, if the run was silent for long
// enough. A kernel that is gone ends the run.
func (w *watch) poll() {
	k := w.r.k
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
	case w.polling <- struct{}{}:
	default:
		return
	}
	go func() {
		defer func() { <-w.polling }()
		k.check(w.ctx)
	}()
}

// check asks the server whether the kernel is gone, which it need not tell by
// itself, and reports it.
func (k *kernel) check(ctx context.Context) bool {
	st, err := k.c.kernelState(ctx, k.handle.kernel, requestTimeout)
	gone := isGone(err) || err == nil && st.State == "dead"
	if gone {
		k.died(true)
	}
	return gone
}

// guard checks the kernel now and then, until stop is called: one that is gone
// never answers.
func (k *kernel) guard(ctx context.Context) (stop func()) {
	ctx, cancel := context.WithCancel(ctx)
	go func() {
		for pause := firstSilence; ; pause = silence {
			select {
			case <-time.After(pause):
				k.check(ctx)
			case <-ctx.Done():
				return
			}
		}
	}()
	return cancel
}

// reconnect dials anew and, once the server has replayed what it kept, asks
// the kernel for a sign: it answers only after the run is over.
func (w *watch) reconnect() {
	w.away = true
	k, limit := w.r.k, w.r.k.c.opts.ReconnectTimeout
	go func() {
		ctx, cancel := context.WithTimeoutCause(w.ctx, limit, unavailable("the server did not come back within %v", limit))
		defer cancel()
		if err := k.connect(ctx); err != nil {
			w.back <- err
			return
		}
		w.back <- nil
	}()
}

// returned takes the outcome of a reconnect and reports whether the run is
// over with it.
func (w *watch) returned(err error) bool {
	w.away = false
	k := w.r.k
	switch {
	case errors.Is(err, errGone):
		return false // the death comes through the queue
	case err != nil:
		w.r.ended, w.r.down = stopServer, err
		return true
	}
	w.r.gap = true
	k.mu.Lock()
	w.sock = k.sock
	k.mu.Unlock()
	go w.r.probe(w.ctx)
	return false
}
