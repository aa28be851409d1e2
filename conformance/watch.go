package conformance

import (
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/toolcell/toolcell/codeinterp"
)

// A watched run is what the suite saw of one run, for the invariants.
type watched struct {
	opts codeinterp.RunOptions
	res  codeinterp.Result
	err  error
	wall time.Duration

	mu      sync.Mutex          // a provider may call OnOutput twice at once
	live    []codeinterp.Output // what OnOutput saw, unless it was too much
	size    int
	turn    chan struct{} // of capacity 1, full during a call of the check's own callback
	calls   atomic.Int32  // calls of OnOutput in progress
	overlap atomic.Bool   // two calls at once
	over    atomic.Bool   // the run has returned
}

// keepLive bounds what a watched run remembers of its live output.
const keepLive = 4 << 20

// watch makes a run, hands its outputs to the check's own callback, if any,
// and tests the invariants.
func (e *env) watch(code string, opts *codeinterp.RunOptions, run func(*codeinterp.RunOptions) (codeinterp.Result, error)) (codeinterp.Result, error) {
	w := &watched{size: -1, turn: make(chan struct{}, 1)}
	// Without options a check tries just that, so that the run has no callback.
	if opts != nil {
		w.opts = *opts
		w.size = 0
		o := *opts
		o.OnOutput = w.callback(opts.OnOutput, func() {
			e.s.breach("CallbacksEnd", fmt.Errorf("%s: OnOutput was called after the run had returned; code %s", e.where, quote(code)))
		})
		opts = &o
	}
	start := time.Now()
	// A panic of the provider fails the clause, also on a goroutine of a check's own,
	// and no invariant beside.
	err := try(func() { w.res, w.err = run(opts) })
	w.wall = time.Since(start)
	w.over.Store(true)
	if err != nil {
		return w.res, err
	}
	for _, inv := range invariants {
		if err := try(func() { inv.holds(w) }); err != nil {
			e.s.breach(inv.name, fmt.Errorf("%s: %w\n  result: %s, code %s", e.where, err, describe(w.res), quote(code)))
		}
	}
	return w.res, w.err
}

// callback returns the OnOutput of a watched run.
func (w *watched) callback(next func(codeinterp.Output) error, late func()) func(codeinterp.Output) error {
	return func(o codeinterp.Output) error {
		if w.calls.Add(1) > 1 {
			w.overlap.Store(true)
		}
		defer w.calls.Add(-1)
		if w.over.Load() {
			late()
			return nil
		}
		w.mu.Lock()
		if w.size += o.Size(); w.size <= keepLive {
			w.live = append(w.live, o)
		}
		w.mu.Unlock()
		if next == nil {
			return nil
		}
		// Calls that overlap are for the invariant, and are not to race within
		// the check.
		w.turn <- struct{}{}
		defer func() { <-w.turn }()
		return next(o)
	}
}

// replay applies the live outputs as a Result does: display updates and clears
// applied, chunks of one stream joined. It reports false where they were not
// all remembered.
func (w *watched) replay() ([]codeinterp.Output, bool) {
	if w.size < 0 || w.size > keepLive {
		return nil, false
	}
	var list []codeinterp.Output
	pending := false
	for _, o := range w.live {
		if o.Kind == codeinterp.Clear {
			if pending = o.Wait; !o.Wait {
				list = nil
			}
			continue
		}
		if pending {
			pending, list = false, nil
		}
		if o.Update && update(list, o) {
			continue
		}
		o.Update = false
		list = append(list, o)
	}
	return joined(list), true
}

// update puts o's bundle into the displays of its id, and reports whether
// there was one.
func update(list []codeinterp.Output, o codeinterp.Output) bool {
	found := false
	for i := range list {
		if d := &list[i]; d.Kind == codeinterp.Display && d.DisplayID == o.DisplayID {
			d.Bundle, d.Metadata, found = o.Bundle, o.Metadata, true
		}
	}
	return found
}

// joined joins the neighbouring chunks of each stream.
func joined(list []codeinterp.Output) []codeinterp.Output {
	var out []codeinterp.Output
	for _, o := range list {
		if n := len(out); n > 0 && isStream(o.Kind) && out[n-1].Kind == o.Kind && out[n-1].Late == o.Late {
			out[n-1].Data = append(out[n-1].Data, o.Data...)
			continue
		}
		// The append above must not write into memory of the provider's.
		o.Data = slices.Clip(o.Data)
		out = append(out, o)
	}
	return out
}

func isStream(k codeinterp.Kind) bool { return k == codeinterp.Stdout || k == codeinterp.Stderr }
