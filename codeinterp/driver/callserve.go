package driver

import (
	"context"
	"encoding/json"
	"errors"

	"github.com/toolcell/toolcell/codeinterp"
)

// A pendingCall is a call in progress.
type pendingCall struct {
	calls    *calls
	rec      *record
	function *codeinterp.Function
	args     json.RawMessage
	all      context.Context // of all calls
	answer   func(json.RawMessage, error)
	answered bool // with calls.mu held
}

// call implements Program.Call.
func (c *calls) call(ctx context.Context, name string, args json.RawMessage) (value json.RawMessage, err error) {
	done := make(chan struct{})
	c.start(ctx, name, args, func(v json.RawMessage, e error) {
		value, err = v, e
		close(done)
	})
	<-done
	return value, err
}

// start implements Program.Start.
func (c *calls) start(ctx context.Context, name string, args json.RawMessage, answer func(json.RawMessage, error)) {
	if len(args) == 0 {
		args = json.RawMessage("{}")
	}
	rec, all, err := c.register(name, args)
	if err != nil {
		go answer(nil, err)
		return
	}
	p := &pendingCall{calls: c, rec: rec, args: args, all: all, answer: answer}
	if err = c.check(p); err != nil {
		go p.respond(nil, err, nil)
		return
	}
	ctx, cancel := p.derive(ctx)
	go p.serve(ctx, cancel)
}

// serve waits for the call's turn and calls the function.
func (p *pendingCall) serve(ctx context.Context, cancel context.CancelFunc) {
	c := p.calls
	select {
	case <-ctx.Done():
		cancel()
		err := context.Cause(ctx)
		p.respond(nil, err, func() { c.functionReturned(p, err) })
		return
	case c.served <- none{}: // first in, first out
	}
	// The time for a call excludes waiting for its turn.
	if c.limits.Timeout > 0 {
		ctx, cancel = p.timed(ctx, cancel)
	}
	var value json.RawMessage
	err := errExited
	defer func() {
		p.respond(value, err, func() {
			<-c.served
			c.functionReturned(p, err)
		})
		cancel()
	}()
	value, err = invoke(ctx, p.function, codeinterp.FunctionCall{Number: p.rec.Number, Name: p.function.Name, Args: p.args,
		Language: c.run.slot.opts.Language, Context: c.run.slot.id, Show: c.run.out.Add})
	if cause := context.Cause(ctx); err != nil && errors.Is(cause, errCallTimeout) {
		err = errors.Join(cause, err) // this answer may come before AfterFunc's
	}
}

// respond answers the call, once. It releases resources first, with calls.mu held, so
// that a program that calls again at once finds its turn free.
func (p *pendingCall) respond(value json.RawMessage, err error, release func()) {
	c := p.calls
	if err == nil {
		value, err = c.result(value)
	}
	if err != nil {
		value, err = nil, c.explain(p.rec.Name, err)
	}
	if p.all.Err() != nil {
		value, err = nil, ErrEnded
	}
	c.mu.Lock()
	first := !p.answered
	p.answered = true
	if first {
		if full := c.addResult(len(value)); full != nil {
			value, err = nil, c.explain(p.rec.Name, full)
		}
		c.recordAnswer(p.rec, value, err)
	}
	if release != nil {
		release()
	}
	runs := first && c.waits == 0 && c.limits.ExcludeFromTimeout && !c.ended
	c.mu.Unlock()
	if runs { // the timeout runs again
		s := c.run.slot
		s.mu.Lock()
		s.wakeRun()
		s.mu.Unlock()
	}
	if first {
		p.answer(value, err)
		c.resultRead(len(value))
	}
}

// abandon answers a call whose ctx has ended. The function may go on.
func (p *pendingCall) abandon(ctx context.Context) { p.respond(nil, context.Cause(ctx), nil) }

// derive returns a ctx with the values of p.all that ends with the session's ctx and
// with p.all. calls.end abandons the call if p.all ends.
func (p *pendingCall) derive(ctx context.Context) (context.Context, context.CancelFunc) {
	both, cancel := context.WithCancelCause(p.all)
	if ctx.Done() == nil {
		return both, func() { cancel(nil) }
	}
	stop := context.AfterFunc(ctx, func() {
		cancel(errGivenUp)
		p.abandon(both)
	})
	return both, func() { stop(); cancel(nil) }
}

func (p *pendingCall) timed(ctx context.Context, outer context.CancelFunc) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithTimeoutCause(ctx, p.calls.limits.Timeout, errCallTimeout)
	keep := context.AfterFunc(ctx, func() { p.abandon(ctx) })
	// keep first, so that the end of ctx does not abandon an answered call.
	return ctx, func() { keep(); cancel(); outer() }
}
