package jupyter

import (
	"context"
	"errors"
	"time"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/internal/outbuf"
)

const (
	// halfGrace is how long to wait for the second sign of the end, idle or
	// execute_reply, after the first.
	halfGrace = 5 * time.Second

	// silence is after how long without a message the server is asked for
	// the kernel's state; the first time sooner.
	silence      = 3 * time.Second
	firstSilence = time.Second

	// probeAfter is how long after an interrupt the kernel is asked whether
	// the run is over.
	probeAfter = 250 * time.Millisecond

	// killGrace is how long to wait for the last messages of a killed kernel.
	killGrace = 500 * time.Millisecond
)

// A stop is why a run is ended before its time.
type stop uint8

const (
	stopNone stop = iota
	stopTimeout
	stopCanceled
	stopInterrupt
	stopRestart
	stopDeleted
	stopClosed
	stopServer // the server did not come back
)

// An order ends a run. done takes one error, once that is done.
type order struct {
	why  stop
	done chan error
}

// A control is how others end a run: by an order, or by closing one of the
// channels.
type control struct {
	orders  <-chan order
	deleted <-chan struct{}
	closing <-chan struct{}
	// kill ends the kernel's process. It restarts the kernel, if again is
	// set, and deletes it otherwise.
	kill func(again bool) error
	// idle, unless nil, is set where nothing of the program runs on after
	// it ended well.
	idle *bool
}

// A runner follows one run to its end.
type runner struct {
	k    *kernel
	ctx  context.Context
	code string
	opts codeinterp.RunOptions
	ctl  control
	e    *execution
	out  *outbuf.Collector

	ended   stop
	killed  bool
	killErr error
	gap     bool // output may be missing: the socket was replaced
	noIdle  bool // the kernel did not say that its output has ended
	resent  bool
	down    error // why the server is out of reach
}

// run runs code in a kernel that is ready.
func (k *kernel) runCode(ctx context.Context, code string, opts codeinterp.RunOptions, ctl control) (codeinterp.Result, error) {
	r := &runner{k: k, ctx: ctx, code: code, opts: opts, ctl: ctl, out: outbuf.New(&opts)}
	start := time.Now()
	for {
		r.e = k.newExecution(r.out)
		err := r.follow(code, start)
		if err != nil {
			r.e.finish()
			return codeinterp.NotRun(), err
		}
		if p := r.e.progress(); r.ended == stopNone && !p.death && p.reply != nil && p.reply.aborted() && !r.resent {
			r.resent = true
			r.e.finish()
			continue
		} else if r.ended == stopNone && p.reply != nil && p.reply.aborted() {
			r.e.finish()
			return codeinterp.NotRun(), unavailable("the kernel aborted the request twice")
		}
		break
	}
	took := time.Since(start)
	r.settle()
	if p := r.e.progress(); p.reply != nil && ctl.idle != nil {
		*ctl.idle = p.reply.Expressions[idleExpression].isTrue() && !k.isDown()
	}
	if p := r.e.progress(); r.ended == stopNone && p.death && !p.busy && !r.gap {
		// The request may wait for the next process of the kernel.
		r.killErr = ctl.kill(false)
		r.e.finish()
		return codeinterp.NotRun(), errors.Join(errNeverRan, r.killErr)
	}
	r.e.finish()
	if r.e.progress().replaced {
		k.mu.Lock()
		k.stateLost = true
		k.mu.Unlock()
	}
	r.fetchSpill()
	return r.result(took)
}

// follow sends the request and returns when the run has ended.
func (r *runner) follow(code string, start time.Time) error {
	k := r.k
	k.mu.Lock()
	s := k.sock
	k.mu.Unlock()
	err := k.send(s, "shell", r.e.id, "execute_request", executeRequest{
		Code: code, StoreHistory: true, Expressions: r.expressions(),
	})
	if err != nil {
		return err
	}
	var timer <-chan time.Time
	if r.opts.Timeout > 0 {
		t := time.NewTimer(time.Until(start.Add(r.opts.Timeout)))
		defer t.Stop()
		timer = t.C
	}
	w := newWatch(r, s)
	defer w.end()
	for {
		p := r.e.progress()
		if p.over() {
			return nil
		}
		w.half(p.half())
		select {
		case <-r.e.wake:
		case <-timer:
			r.end(stopTimeout)
			return nil
		case <-r.ctx.Done():
			r.end(stopCanceled)
			return nil
		case o := <-r.ctl.orders:
			r.end(o.why)
			o.done <- r.killErr
			return nil
		case <-r.ctl.deleted:
			r.end(stopDeleted)
			return nil
		case <-r.ctl.closing:
			r.end(stopClosed)
			return nil
		case <-w.halfTimer:
			r.noIdle = !p.idle
			return nil
		case <-w.quiet.C:
			w.poll()
		case <-w.lost():
			w.reconnect()
		case err := <-w.back:
			if done := w.returned(err); done {
				return nil
			}
		}
	}
}

// expressions are what the kernel shall evaluate after the program.
func (r *runner) expressions() map[string]string {
	if expr := r.k.rt.dialect.idle; expr != "" && r.ctl.idle != nil {
		return map[string]string{idleExpression: expr}
	}
	return map[string]string{}
}

// end climbs the ladder: interrupt, grace, kill. A restart, deletion or close
// goes to the kill at once.
func (r *runner) end(why stop) {
	r.ended = why
	if why <= stopInterrupt && r.interrupt() {
		return
	}
	r.out.Mute()
	r.killed = true
	r.killErr = r.ctl.kill(why <= stopRestart)
	r.await(killGrace)
}

// interrupt interrupts the kernel and reports whether the run ended within the
// grace. It does not leave the interrupt to hit what comes after the run.
func (r *runner) interrupt() bool {
	k, grace := r.k, r.k.c.opts.Grace
	sent := make(chan struct{})
	go func() {
		defer close(sent)
		if k.rt.InterruptMode == "message" {
			k.mu.Lock()
			s, session := k.sock, k.session
			k.mu.Unlock()
			_ = k.send(s, "control", session+"_hi", "interrupt_request", struct{}{})
		}
		_ = k.c.interruptKernel(r.ctx, k.handle.kernel, grace)
	}()
	ended := r.await(probeAfter)
	if !ended {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(r.ctx), grace)
		defer cancel()
		go r.probe(ctx)
		ended = r.await(grace - probeAfter)
	}
	if !ended {
		r.out.Mute() // the end may be there, behind a slow OnOutput
		ended = r.await(killGrace)
	}
	<-sent
	return ended
}

// probe asks the kernel for a sign, which comes only after the run: an
// interrupt can hit the kernel while it reports the end, which is lost then.
func (r *runner) probe(ctx context.Context) {
	k := r.k
	k.mu.Lock()
	process := k.process
	k.mu.Unlock()
	m, err := k.ask(ctx, "shell", "kernel_info_request", struct{}{})
	switch {
	case err != nil:
	case process != "" && m.Header.Session != process:
		k.died(false)
	default:
		r.e.q.put(event{kind: evAnswered})
	}
}

// await waits for the run's end.
func (r *runner) await(d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	for !r.e.progress().over() {
		select {
		case <-r.e.wake:
		case <-t.C:
			return r.e.progress().over()
		}
	}
	return true
}
