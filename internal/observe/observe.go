// Package observe reports the runs of an interpreter as events and scrubs secrets from
// all that comes out of them. The tools and the workspaces share it.
package observe

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/internal/scrub"
)

// A Kind says what an [Event] is about.
type Kind uint8

// The kinds. Each run has one start, any number of outputs and calls, and one end. A
// run that was refused or invalid has an end only. A call that is answered from memory
// has one event, [Remembered].
const (
	Start      Kind = iota + 1
	Output          // Event.Output
	LateOutput      // Event.Output of a program that had ended before this run
	End             // Event.Result and Event.Err
	Call            // Event.Call, a call of a function that has ended
	Remembered      // Event.Result: a call that was answered from memory, without a run
	Network         // Event.Network, which may come after the end
)

// An Event is something that happened in a run.
type Event struct {
	Kind      Kind
	Op        codeinterp.Op // what runs: code, or a command of the shell
	CallID    string
	Tool      string               // empty for runs that no tool asked for
	ContextID codeinterp.ContextID // empty for runs without a context
	Language  string               // empty for runs in a context
	Code      string               // of Start: the program, or the command
	Started   bool                 // of End: there was a Start
	Output    codeinterp.Output
	Call      *codeinterp.CallRecord
	Network   *codeinterp.NetworkEvent
	Result    *codeinterp.Result
	Err       error
}

// A scopeKey is the key of what the ctx of a call says about events: the sink of those
// of the next run, or the run that functions are called in.
type scopeKey struct{}

func sinkOf(ctx context.Context) func(Event) error {
	sink, _ := ctx.Value(scopeKey{}).(func(Event) error)
	return sink
}

// With returns a ctx for a call of a tool, whose run reports its events to sink.
// Calls of tools by the program that runs are not reported to it.
func With(ctx context.Context, sink func(Event) error) context.Context {
	return context.WithValue(ctx, scopeKey{}, sink)
}

// Report passes an event that is not part of a run to the sink of ctx, if any.
func Report(ctx context.Context, e Event) {
	if sink := sinkOf(ctx); sink != nil {
		_ = Recover(func() error { return sink(e) })
	}
}

// An Observer scrubs secrets from runs and reports their events.
type Observer struct {
	secrets *scrub.Set
	onEvent func(Event) error // nil: no events
}

// From returns an Observer that reports to the sink of ctx, if any.
func From(ctx context.Context, secrets *scrub.Set) Observer {
	return Observer{secrets, sinkOf(ctx)}
}

// Run calls f with opts, whose OnOutput, OnNetwork and Functions it replaces. ev says which run it
// is.
func (o Observer) Run(ctx context.Context, ev Event, opts codeinterp.RunOptions, f func(context.Context, *codeinterp.RunOptions) (codeinterp.Result, error)) (codeinterp.Result, error) {
	var r *runObserver
	if o.onEvent != nil {
		r = &runObserver{o: o, ev: ev}
		ctx = codeinterp.OnStart(context.WithValue(ctx, scopeKey{}, r), r.start)
		opts.Functions = Functions(opts.Functions)
		opts.OnNetwork = r.network(opts.OnNetwork)
	}
	next := opts.OnOutput
	var stream *scrub.Stream
	// Left unset if unused: without OnOutput a run costs a provider less.
	if r != nil || next != nil {
		opts.OnOutput = r.tee(next)
		if o.secrets != nil {
			stream = o.secrets.Stream(opts.OnOutput)
			opts.OnOutput = stream.Output
		}
	}
	returned := false
	defer func() {
		if !returned {
			r.finish(Event{Err: fmt.Errorf("%w: panic in the interpreter", codeinterp.ErrUnavailable)})
		}
	}()
	res, err := f(ctx, &opts)
	returned = true
	var held error
	if stream != nil {
		// What was held back is output too, and comes before the run's end.
		held = Recover(stream.Flush)
	}
	res, err = o.secrets.Result(res), o.secrets.Error(err)
	if res.Status != codeinterp.StatusNotRun && res.Status != "" {
		r.start()
	}
	// The end is the last event: calls that are not reported yet go before it.
	seen := r.end(res.Calls)
	ended := res
	ended.Outputs = nil // they were events of their own
	res.CallbackErr = o.secrets.Error(errors.Join(held, seen, r.finish(Event{Result: &ended, Err: err}), res.CallbackErr))
	return res, err
}

// Recover calls f and returns its panic as an error.
func Recover(f func() error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic in a callback: %v", p)
		}
	}()
	return f()
}

// Options tunes [Middleware].
type Options struct {
	OnEvent func(Event) error // nil: no events
	Secrets *scrub.Set        // nil: none
	NewID   func() string     // makes the ids of runs; nil means 128 random bits
}

// Middleware observes programs that run code themselves, beside the tools. What stands
// outside of it, such as [codeinterp.Log], sees scrubbed Results and errors only.
func Middleware(opts Options) codeinterp.Middleware {
	newID := opts.NewID
	if newID == nil {
		newID = rand.Text
	}
	return Observer{opts.Secrets, opts.OnEvent}.Middleware(func(c codeinterp.Call) Event {
		return Event{Op: c.Op, CallID: newID(), ContextID: c.Context, Language: c.Language, Code: c.Code}
	})
}

// Middleware observes all runs. event says which run a call is.
func (o Observer) Middleware(event func(codeinterp.Call) Event) codeinterp.Middleware {
	return func(next codeinterp.Handler) codeinterp.Handler {
		return func(ctx context.Context, c codeinterp.Call) (codeinterp.Reply, error) {
			if c.NewContext != nil && len(c.NewContext.Functions) > 0 {
				opts := *c.NewContext
				opts.Functions = Functions(opts.Functions)
				c.NewContext = &opts
			}
			if c.Op == codeinterp.OpCallFunction {
				return next(ctx, c) // its program may read the error as it is
			}
			if !c.Op.Runs() {
				r, err := next(ctx, c)
				return r, o.secrets.Error(err)
			}
			var opts codeinterp.RunOptions
			if c.Run != nil {
				opts = *c.Run
			}
			var reply codeinterp.Reply
			var err error
			reply.Result, err = o.Run(ctx, event(c), opts, func(ctx context.Context, opts *codeinterp.RunOptions) (codeinterp.Result, error) {
				c.Run = opts
				r, err := next(ctx, c)
				return r.Result, err
			})
			return reply, err
		}
	}
}
