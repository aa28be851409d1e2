package kernel

import (
	"context"
	"errors"
	"time"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/providers/jupyter/internal/server"
)

// A deathReport says that the kernel's process has ended. It comes as a message of no
// request, which the server sends, a process that begins or ends, and whatever
// program can write to the kernel's sockets. While a program runs it is looked
// into: a program that is reported as ended must not continue.
type deathReport struct {
	to    process // lost or gone
	cause codeinterp.Cause
	at    time.Time
}

const (
	// verifyLimit is how long a kernel has to show whether its process is another.
	// One that just died needs that long to start on a busy machine.
	verifyLimit = 15 * time.Second

	// deadLimit is verifyLimit for a kernel that its server calls dead too.
	deadLimit = 1500 * time.Millisecond

	// elsewhereAfter is how long a kernel may stay silent before it is looked for at
	// another address.
	elsewhereAfter = 1500 * time.Millisecond
)

// errElsewhere is a socket that was given up, since the kernel may listen elsewhere.
var errElsewhere = errors.New("the kernel may have been started elsewhere")

// noteReport takes a report of the process's end. If no program runs, it is believed.
func (k *Kernel) noteReport(to process, cause codeinterp.Cause) {
	k.mu.Lock()
	run := k.run
	k.mu.Unlock()
	if run == nil || run.progress().past {
		k.noteEnd(to, cause)
		return
	}
	run.q.put(event{kind: evDeathReport, report: &deathReport{to, cause, time.Now()}})
}

// A verdict on a report of the kernel's death.
type verdict uint8

const (
	refuted   verdict = iota // the program's own process has answered
	confirmed                // another one has, or there is none; the run hears of it
	unknown                  // no answer came
)

// verify asks the kernel for its process, beside the program and behind it: the
// control channel of many kernels is served while they compute.
func (w *watch) verify(u *deathReport) {
	w.verifying = true
	r, sock := w.r, w.sock
	w.work.Go(func() {
		began := time.Now()
		for limit := askPause; ; limit = min(2*limit, 5*time.Second) {
			start := time.Now()
			v, most := r.identify(w.ctx, limit), verifyLimit
			if v == unknown {
				// The server may know more: a kernel that it has removed does not answer.
				if st, err := r.k.check(w.ctx); err == nil && st.State == "dead" {
					most = deadLimit
				}
			}
			switch {
			case r.k.isGone():
				v = confirmed // by the server
			case w.ctx.Err() != nil:
				return
			case v == unknown && time.Since(began) < most:
				if time.Since(began) > elsewhereAfter {
					sock.fail(errElsewhere) // once: the next socket is another
				}
				if server.Wait(w.ctx, askPause-time.Since(start)) != nil {
					return
				}
				continue
			}
			if v == unknown && (r.Kill == nil || r.k.isShared(w.ctx)) {
				r.k.noteEnd(u.to, u.cause) // it is not ours to end
				v = confirmed
			}
			w.verdicts <- v
			return
		}
	})
}

// identify asks once which process there is.
func (r *runner) identify(ctx context.Context, limit time.Duration) verdict {
	k := r.k
	k.mu.Lock()
	before := k.identity
	k.mu.Unlock()
	ctx, cancel := context.WithTimeout(ctx, limit)
	// A kernel that serves its control channel between programs only may answer here first.
	behind := make(chan struct{})
	go func() {
		defer close(behind)
		r.probe(ctx)
	}()
	defer func() { cancel(); <-behind }()
	m, err := k.ask(ctx, "control", "kernel_info_request", struct{}{})
	switch {
	case errors.Is(err, errDied):
		return confirmed // by the other question
	case err != nil:
		return unknown
	case m.Header.Session == before:
		return refuted
	}
	// First, as in probe: identified alone would forget the process without ending the run.
	k.noteLost("")
	k.noteIdentity(m.Header.Session)
	return confirmed
}

// apply acts upon a verdict, and reports whether the run is over with it.
func (w *watch) apply(v verdict) (over bool) {
	// A death that was confirmed is not looked into again: it may wait for OnOutput, and
	// the process that answers is the next one.
	w.verifying = v == confirmed
	switch v {
	case refuted:
		w.r.e.update(func(p *progress) { p.report = nil })
	case unknown:
		w.r.kill() // it is reported as ended, so it has to have
	}
	return v == unknown // a death comes through the queue, behind all output
}

// isShared reports whether other clients are connected too.
func (k *Kernel) isShared(ctx context.Context) bool {
	ctx, cancel := context.WithTimeout(ctx, aliveLimit)
	defer cancel()
	st, err := k.check(ctx)
	return err == nil && st.Connections > 1
}
