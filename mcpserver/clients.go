package mcpserver

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/toolcell/toolcell/codeinterp"
)

// errNoList is why contexts are not listed for clients that share an identity.
var errNoList = fmt.Errorf("%w: this client has no identity of its own; "+
	"use the contextIds that create_code_context returned", codeinterp.ErrRefused)

// clients gives every client its own contexts and its own share of the interpreters. It
// is a middleware of each interpreter, which every operation passes.
type clients struct {
	limits Limits
	total  codeinterp.Middleware // of all clients together

	mu     sync.Mutex
	byKey  map[any]*client
	closed bool
	work   sync.WaitGroup // deletions in progress
}

// A client is one session, or one owner of calls without a session.
type client struct {
	key      any
	limit    codeinterp.Middleware // for all interpreters together
	contexts map[codeinterp.ContextID]*lease
	calls    int // and deletions in progress
	gone     bool
	life     context.Context // ends when it is gone
	end      context.CancelCauseFunc
}

// An interpreter is the next handler of one interpreter.
type interpreter struct{ next codeinterp.Handler }

// A lease is a client's hold on a context.
type lease struct {
	in    *interpreter
	busy  int
	timer *time.Timer
}

type clientKey struct{}

// withClient returns a ctx whose calls belong to the client of that key.
func withClient(ctx context.Context, key any) context.Context {
	return context.WithValue(ctx, clientKey{}, key)
}

func newClients(l Limits) *clients {
	return &clients{limits: l, total: l.total(), byKey: map[any]*client{}}
}

// middleware puts the clients in front of an interpreter.
func (cs *clients) middleware(next codeinterp.Handler) codeinterp.Handler {
	in := &interpreter{next}
	return func(ctx context.Context, call codeinterp.Call) (codeinterp.Reply, error) {
		if call.Op == codeinterp.OpDescribe {
			return cs.limits.perClient()(next)(ctx, call)
		}
		c, err := cs.enter(ctx.Value(clientKey{}))
		if err != nil {
			return codeinterp.Reply{Result: codeinterp.NotRun()}, failed(call.Op, err)
		}
		defer cs.leave(c)
		if call.Op == codeinterp.OpCommand || call.Op == codeinterp.OpTerminal {
			var over func()
			if ctx, over, err = cs.outlive(ctx, c); err != nil {
				return codeinterp.Reply{Result: codeinterp.NotRun()}, failed(call.Op, err)
			}
			defer over()
		}
		return cs.serve(ctx, c, call, in)
	}
}

// serve serves a client's call of an interpreter.
func (cs *clients) serve(ctx context.Context, c *client, call codeinterp.Call, in *interpreter) (codeinterp.Reply, error) {
	switch {
	case call.Op.Calls():
		return in.next(ctx, call) // by a program that passed the limits
	case call.Op == codeinterp.OpList:
		return cs.list(ctx, c, call, in)
	case call.Context == "" && call.Op.Runs():
		return c.limit(in.next)(ctx, call)
	case call.Context == "" && call.Op.Creates():
		return cs.create(ctx, c, call, in)
	}
	// Every other operation needs a context of the client.
	return cs.use(ctx, c, call, in)
}

// outlive returns a ctx for a command, which may outlive its call but not its client.
// close waits for over.
func (cs *clients) outlive(ctx context.Context, c *client) (_ context.Context, over func(), err error) {
	cs.mu.Lock()
	defer cs.mu.Unlock()
	if c.gone {
		return nil, nil, errGone
	}
	cs.work.Add(1)
	ctx, cancel := context.WithCancelCause(ctx)
	unlink := context.AfterFunc(c.life, func() { cancel(context.Cause(c.life)) })
	return ctx, func() {
		unlink()
		cancel(nil)
		cs.work.Done()
	}, nil
}

// errGone is why calls of a client that is gone are refused.
var errGone = fmt.Errorf("%w: %w", codeinterp.ErrClosed, errSessionOver)

func failed(op codeinterp.Op, err error) error {
	return &codeinterp.Error{Provider: "mcp", Op: op.String(), Err: err}
}

// enter returns the client of that key, or a new one, and keeps it until leave.
func (cs *clients) enter(key any) (*client, error) {
	cs.mu.Lock()
	defer cs.mu.Unlock()
	if cs.closed {
		return nil, codeinterp.ErrClosed
	}
	if key == nil {
		return nil, fmt.Errorf("%w: the call belongs to no client", codeinterp.ErrRefused)
	}
	c := cs.byKey[key]
	if c == nil {
		c = &client{key: key, limit: cs.limits.perClient(), contexts: map[codeinterp.ContextID]*lease{}}
		c.life, c.end = context.WithCancelCause(context.Background())
		cs.byKey[key] = c
	}
	// After the end of its session a client would never be released.
	if ss, ok := key.(*session); c.gone || ok && ss.over() {
		cs.forget(c)
		return nil, errGone
	}
	c.calls++
	return c, nil
}

func (cs *clients) leave(c *client) {
	cs.mu.Lock()
	defer cs.mu.Unlock()
	c.calls--
	cs.forget(c)
}

// forget drops a client that has nothing left. The caller holds mu.
func (cs *clients) forget(c *client) {
	if c.calls == 0 && len(c.contexts) == 0 && cs.byKey[c.key] == c {
		delete(cs.byKey, c.key)
		c.end(nil)
	}
}

// create serves a call that makes a context, which becomes the client's.
func (cs *clients) create(ctx context.Context, c *client, call codeinterp.Call, in *interpreter) (codeinterp.Reply, error) {
	r, err := c.limit(in.next)(ctx, call)
	if err != nil {
		return r, err
	}
	cs.mu.Lock()
	gone := c.gone
	l := &lease{in: in}
	if gone {
		cs.deleting(c)
	} else {
		l.timer = time.AfterFunc(cs.limits.idle(), func() { cs.expire(c, r.Context, l) })
		c.contexts[r.Context] = l
	}
	cs.mu.Unlock()
	// The client has gone in the meantime.
	if gone {
		cs.delete(c, l, r.Context)
		return codeinterp.Reply{}, failed(call.Op, errGone)
	}
	return r, nil
}

// use serves a call on a context of the client's own.
func (cs *clients) use(ctx context.Context, c *client, call codeinterp.Call, in *interpreter) (r codeinterp.Reply, err error) {
	cs.mu.Lock()
	l := c.contexts[call.Context]
	// The id must not reach a context of another interpreter.
	if l == nil || l.in != in {
		cs.mu.Unlock()
		return codeinterp.Reply{Result: codeinterp.NotRun()}, failed(call.Op, codeinterp.ErrContext)
	}
	l.busy++
	// If it has fired, expire waits for mu and finds the lease busy.
	l.timer.Stop()
	cs.mu.Unlock()

	if call.Op.Creates() {
		r, err = cs.create(ctx, c, call, in)
	} else {
		r, err = c.limit(in.next)(ctx, call)
	}

	cs.mu.Lock()
	defer cs.mu.Unlock()
	l.busy--
	switch {
	// Deleted in the meantime, or the client is gone: no timer is left.
	case c.contexts[call.Context] != l:
	case errors.Is(err, codeinterp.ErrContext) || call.Op.Deletes() && err == nil:
		delete(c.contexts, call.Context)
	case l.busy == 0:
		l.timer.Reset(cs.limits.idle())
	}
	return r, err
}

func (cs *clients) list(ctx context.Context, c *client, call codeinterp.Call, in *interpreter) (codeinterp.Reply, error) {
	if ctx.Value(clientKey{}) == anyone {
		return codeinterp.Reply{}, failed(call.Op, errNoList)
	}
	r, err := c.limit(in.next)(ctx, call)
	cs.mu.Lock()
	defer cs.mu.Unlock()
	r.Contexts = slices.DeleteFunc(r.Contexts, func(i codeinterp.ContextInfo) bool { return c.contexts[i.ID] == nil })
	return r, err
}

// expire deletes a context that is idle for too long.
func (cs *clients) expire(c *client, id codeinterp.ContextID, l *lease) {
	cs.mu.Lock()
	if c.contexts[id] != l || l.busy > 0 {
		cs.mu.Unlock()
		return
	}
	delete(c.contexts, id)
	cs.deleting(c)
	cs.mu.Unlock()
	cs.delete(c, l, id)
}

// deleting announces a delete. The caller holds mu.
func (cs *clients) deleting(c *client) {
	cs.work.Add(1)
	c.calls++
}

// delete deletes a context that its client did not delete. It was announced.
func (cs *clients) delete(c *client, l *lease, id codeinterp.ContextID) {
	defer cs.work.Done()
	defer cs.leave(c)
	// An error has no caller; the provider's Close deletes what is left.
	c.limit(l.in.next)(context.Background(), codeinterp.Call{Op: codeinterp.OpDelete, Context: id})
}

// release ends a client: its contexts are deleted, its calls refused.
func (cs *clients) release(key any) {
	cs.mu.Lock()
	defer cs.mu.Unlock()
	if c := cs.byKey[key]; c != nil {
		cs.drop(c)
	}
}

// drop is release. The caller holds mu.
func (cs *clients) drop(c *client) {
	c.gone = true
	c.end(errGone)
	for id, l := range c.contexts {
		l.timer.Stop()
		delete(c.contexts, id)
		cs.deleting(c)
		go cs.delete(c, l, id) // mu is held
	}
	cs.forget(c)
}

// close releases every client and waits until their contexts are deleted.
func (cs *clients) close() {
	cs.mu.Lock()
	cs.closed = true
	for _, c := range cs.byKey {
		cs.drop(c)
	}
	cs.mu.Unlock()
	cs.work.Wait()
}
