package driver

import (
	"context"
	"encoding/json"
	"errors"

	"github.com/toolcell/toolcell/codeinterp"
)

// A pendingCall is one that a function of the host is to answer.
type pendingCall struct {
	calls    *calls
	rec      *record
	function *codeinterp.Function
	args     json.RawMessage
	all      context.Context // of all calls
	answer   func(json.RawMessage, error)
	answered bool // with calls.mu held
}

// call is Program.Call.
func (c *calls) call(ctx context.Context, name string, args json.RawMessage) (value json.RawMessage, err error) {
	done := make(chan struct{})
	c.start(ctx, name, args, func(v json.RawMessage, e error) {
		value, err = v, e
		close(done)
	})
	<-done
	return value, err
}

// start is Program.Start.
func (c *calls) start(ctx context.Context, name string, args json.RawMessage, answer func(json.RawMessage, error)) {
	if serve := c.accept(ctx, name, args, answer); serve != nil {
		go serve()
	}
}

// serve is Program.Serve.
func (c *calls) serve(ctx context.Context, name string, args json.RawMessage, answer func(json.RawMessage, error)) {
	if serve := c.accept(ctx, name, args, answer); serve != nil {
		serve()
	}
}

// admit returns what serves a call, nil for one that is refused, which it answers.
func (c *calls) accept(ctx context.Context, name string, args json.RawMessage, answer func(json.RawMessage, error)) (serve func()) {
	if len(args) == 0 {
		args = json.RawMessage("{}")
	}
	rec, all, err := c.enter(name, args)
	if err != nil {
		go answer(nil, err)
		return nil
	}
	p := &pendingCall{calls: c, rec: rec, args: args, all: all, answer: answer}
	if err = c.check(p); err != nil {
		go p.respond(nil, err, nil)
		return nil
	}
	ctx, cancel := p.derive(ctx)
	return func() { p.serve(ctx, cancel) }
}

// serve waits for the call's turn and calls the function.
func (p *pendingCall) serve(ctx context.Context, cancel context.CancelFunc) {
	c := p.calls
	if err := c.turn(ctx); err != nil {
		cancel()
		p.respond(nil, err, func() { c.leave(p, err) })
		return
	}
	// The time for a call begins with its turn: waiting behind others is not its
	// fault.
	if c.limits.Timeout > 0 {
		ctx, cancel = p.timed(ctx, cancel)
	}
	var value json.RawMessage
	err := errExited
	defer func() {
		p.respond(value, err, func() {
			c.expect(-1)
			c.pass()
			c.leave(p, err)
		})
		cancel()
	}()
	value, err = invoke(ctx, p.function, codeinterp.FunctionCall{Number: p.rec.Number, Name: p.function.Name, Args: p.args,
		Language: c.run.slot.opts.Language, Context: c.run.slot.id, Show: c.run.out.Add})
	if cause := context.Cause(ctx); err != nil && errors.Is(cause, errCallTimeout) {
		err = errors.Join(cause, err) // which may be the answer before AfterFunc's
	}
}

// settle answers the call, once. What it took is given back before that, with
// calls.mu held: a program that calls again at once finds its turn free.
func (p *pendingCall) respond(value json.RawMessage, err error, release func()) {
	c := p.calls
	if err == nil {
		value, err = c.result(value)
	}
	if err != nil {
		value, err = nil, c.explain(p.rec.Name, err)
	}
	if p.all.Err() != nil { // also where the function is quicker than its being given up
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
	if runs { // the time goes on
		s := c.run.slot
		s.mu.Lock()
		s.wakeRun()
		s.mu.Unlock()
	}
	if first {
		p.answer(value, err)
		c.took(len(value))
	}
}

// giveUp answers a call whose ctx has ended, though the function may go on.
func (p *pendingCall) abandon(ctx context.Context) { p.respond(nil, context.Cause(ctx), nil) }

// derive returns a ctx that ends with the session's and with that of all calls,
// and has the values of that. The end of all calls gives the call up by itself,
// see calls.end.
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
	// keep first: the end of ctx would give up a call that has its answer.
	return ctx, func() { keep(); cancel(); outer() }
}
