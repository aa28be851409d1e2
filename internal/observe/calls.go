package observe

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/toolcell/toolcell/codeinterp"
)

// A runObserver watches one run. It is nil if there is no OnEvent.
// Functions find it in their ctx.
type runObserver struct {
	o  Observer
	ev Event // says which run it is

	mu      sync.Mutex // held while an event is passed on
	started bool
	seen    []uint64 // a bit for each number of a call that was reported
	ended   bool     // no further calls are
	errs    []error
}

// start reports that the run goes to the provider, once.
func (r *runObserver) start() {
	if r != nil {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.startLocked()
	}
}

func (r *runObserver) startLocked() {
	if r.started || r.ended {
		return
	}
	r.started = true
	if err := r.pass(Event{Kind: Start, Code: r.o.secrets.Scrub(r.ev.Code)}); err != nil {
		r.errs = append(r.errs, err)
	}
}

// finish reports the end of the run.
func (r *runObserver) finish(e Event) error {
	if r == nil {
		return nil
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.ended = true
	e.Kind, e.Started = End, r.started
	return r.pass(e)
}

// pass passes on an event that it completes. mu is held.
func (r *runObserver) pass(e Event) error {
	e.Op, e.CallID, e.Tool, e.ContextID, e.Language = r.ev.Op, r.ev.CallID, r.ev.Tool, r.ev.ContextID, r.ev.Language
	return Recover(func() error { return r.o.onEvent(e) })
}

// tee passes outputs on as events and to next.
func (r *runObserver) tee(next func(codeinterp.Output) error) func(codeinterp.Output) error {
	if r == nil {
		return next
	}
	return func(out codeinterp.Output) error {
		e := Event{Kind: Output, Output: out}
		if out.Late {
			e.Kind = LateOutput
		}
		r.mu.Lock()
		r.startLocked()
		err := r.pass(e)
		r.mu.Unlock()
		if next != nil {
			err = errors.Join(err, next(out))
		}
		return err
	}
}

// network passes network events on as events and to next.
func (r *runObserver) network(next func(codeinterp.NetworkEvent)) func(codeinterp.NetworkEvent) {
	return func(n codeinterp.NetworkEvent) {
		if next != nil {
			defer next(n)
		}
		n.Host, n.Path, n.Reason = r.o.secrets.Scrub(n.Host), r.o.secrets.Scrub(n.Path), r.o.secrets.Scrub(n.Reason)
		r.mu.Lock()
		defer r.mu.Unlock()
		r.startLocked()
		if err := r.pass(Event{Kind: Network, Network: &n}); err != nil {
			r.errs = append(r.errs, err)
		}
	}
}

// Functions returns functions whose calls are events of the run that they are called
// in. It is for interpreters that give functions to runs themselves; those of
// RunOptions and ContextOptions are events anyway. A call is one event, however often
// it passes.
func Functions(list []codeinterp.Function) []codeinterp.Function {
	list = slices.Clone(list)
	for i := range list {
		next := list[i].Call
		if next == nil {
			continue // it will be refused
		}
		list[i].Call = func(ctx context.Context, c codeinterp.FunctionCall) (json.RawMessage, error) {
			r, ok := ctx.Value(scopeKey{}).(*runObserver)
			if !ok {
				return next(ctx, c)
			}
			// next may be observed again, further in: it finds no run then, and the
			// call stays one event.
			return r.serve(context.WithValue(ctx, scopeKey{}, nil), c, next)
		}
	}
	return list
}

// serve serves a call and reports it, also if it panics.
func (r *runObserver) serve(ctx context.Context, c codeinterp.FunctionCall, next func(context.Context, codeinterp.FunctionCall) (json.RawMessage, error)) (v json.RawMessage, err error) {
	start := time.Now()
	rec := codeinterp.CallRecord{Number: c.Number, Name: c.Name, Args: beginning(c.Args)}
	returned := false
	defer func() {
		if !returned {
			err = errors.New("the function panicked")
		}
		rec.Result, rec.Duration, rec.Err = beginning(v), time.Since(start), err
		if err != nil {
			rec.Result, rec.Error = "", codeinterp.FunctionMessage(err)
		}
		r.report(rec)
	}()
	v, err = next(ctx, c)
	returned = true
	return v, err
}

// report makes an event of a call, unless it was reported.
func (r *runObserver) report(rec codeinterp.CallRecord) {
	r.mu.Lock()
	defer r.mu.Unlock()
	word, bit := rec.Number/64, uint64(1)<<(rec.Number%64)
	for len(r.seen) <= word {
		r.seen = append(r.seen, 0)
	}
	if r.seen[word]&bit != 0 {
		return
	}
	// Marked also if the run has ended: its end reported this call.
	r.seen[word] |= bit
	if r.ended {
		return
	}
	r.o.secrets.Record(&rec)
	if err := r.pass(Event{Kind: Call, Call: &rec}); err != nil {
		r.errs = append(r.errs, err)
	}
}

// end reports the calls that no function has: those that were refused, and those
// that have not returned. What returns later is no event.
func (r *runObserver) end(list []codeinterp.CallRecord) error {
	if r == nil {
		return nil
	}
	for _, rec := range list {
		r.report(rec)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.ended = true
	return errors.Join(r.errs...)
}

// beginning returns the part of p that fits into a record.
func beginning(p []byte) string {
	return strings.ToValidUTF8(string(p[:min(len(p), codeinterp.MaxRecorded)]), "")
}
