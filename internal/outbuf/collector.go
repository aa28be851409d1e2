// Package outbuf collects the output of one run: it feeds the live callback,
// keeps the head and the tail of what exceeds the limit, applies display
// updates and clears, and fills the Result.
//
// It holds no more than RunOptions.MaxOutput bytes plus a fixed overhead, at
// any rate of output.
package outbuf

import (
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/toolcell/toolcell/codeinterp"
)

const maxCallbackErrs = 10

var errExited = errors.New("OnOutput ended its goroutine")

// A Collector takes the output of one run. Its methods may be called from any
// goroutine and return after the callback, of which there is one call at a
// time, so a slow callback holds the writer back.
type Collector struct {
	mu       sync.Mutex
	onOutput func(codeinterp.Output) error
	kept     keeper
	partial  [2][]byte // an unfinished UTF-8 sequence, per stream
	clear    bool      // a Clear{Wait} is pending
	done     bool
	muted    atomic.Bool
	unseen   int // outputs that were not passed on
	errs     []error
	nerrs    int
	lost     []codeinterp.Truncation
}

// New returns a Collector for a run with the given, checked, options.
func New(opts *codeinterp.RunOptions) *Collector {
	return &Collector{onOutput: opts.OnOutput, kept: keeper{max: opts.MaxOutput}}
}

// Write takes a chunk of a stream and copies it. It reports false, and takes
// nothing, once Finish was called.
func (c *Collector) Write(kind codeinterp.Kind, p []byte) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.done {
		return false
	}
	i := int(kind - codeinterp.Stdout)
	whole := len(p) - incomplete(p)
	if len(c.partial[i]) > 0 {
		p = append(c.partial[i], p...)
		whole = len(p) - incomplete(p)
		c.partial[i] = nil
	} else if whole > 0 {
		rest := p[whole:]
		p = c.copied(p[:whole])
		c.partial[i] = slices.Clone(rest)
		c.take(codeinterp.Output{Kind: kind, Data: p})
		return true
	}
	c.partial[i] = slices.Clone(p[whole:])
	if whole > 0 {
		c.take(codeinterp.Output{Kind: kind, Data: p[:whole:whole]})
	}
	return true
}

// Spare returns a buffer of at least n bytes for [Collector.Own]: memory of
// output that was dropped, where there is some that nobody else can hold.
func (c *Collector) Spare(n int) []byte {
	c.mu.Lock()
	defer c.mu.Unlock()
	if b := c.kept.spare; c.onOutput == nil && cap(b) >= n {
		c.kept.spare = nil
		return b[:n]
	}
	return make([]byte, n)
}

// Own is Write for a chunk whose memory is the Collector's from then on.
func (c *Collector) Own(kind codeinterp.Kind, p []byte) bool {
	c.mu.Lock()
	i := int(kind - codeinterp.Stdout)
	if c.done || len(c.partial[i]) > 0 || incomplete(p) > 0 {
		c.mu.Unlock()
		return c.Write(kind, p)
	}
	defer c.mu.Unlock()
	c.take(codeinterp.Output{Kind: kind, Data: p})
	return true
}

// copied returns a copy of p, in memory of output that was dropped where nobody
// else can hold that.
func (c *Collector) copied(p []byte) []byte {
	if b := c.kept.spare; c.onOutput == nil && cap(b) >= len(p) {
		c.kept.spare = nil
		return append(b[:0], p...)
	}
	return slices.Clone(p)
}

// Add takes an output that is not cut into chunks: a display, a value, a
// clear, or a late one of any kind. The Collector owns its memory from then
// on. It reports false, and takes nothing, once Finish was called.
func (c *Collector) Add(o codeinterp.Output) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.done {
		return false
	}
	c.flush()
	c.take(o)
	return true
}

// Lost records output that was dropped before it came here.
func (c *Collector) Lost(t codeinterp.Truncation) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, have := range c.lost {
		if have.Stream == t.Stream && have.Reason == t.Reason {
			return
		}
	}
	c.lost = append(c.lost, t)
}

// Mute stops calling OnOutput: a run that is being ended does not wait for a
// slow one. What comes is kept as before, and what OnOutput did not see is
// told in CallbackErr. Mute does not wait for a call in progress.
func (c *Collector) Mute() { c.muted.Store(true) }

// Finish ends the collection and puts the outputs, the truncations and the
// callback's errors into res. Only the first call has an effect.
func (c *Collector) Finish(res *codeinterp.Result) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.done {
		return
	}
	c.flush()
	c.done = true
	res.Outputs = c.kept.outputs()
	res.Truncated = append(c.kept.truncated(), c.lost...)
	if c.nerrs > len(c.errs) {
		c.errs = append(c.errs, fmt.Errorf("and %d more errors of OnOutput", c.nerrs-len(c.errs)))
	}
	if c.unseen > 0 {
		c.errs = append(c.errs, fmt.Errorf("%d outputs came too late for OnOutput: the run was being ended", c.unseen))
	}
	res.CallbackErr = errors.Join(c.errs...)
}

// flush passes on what is held of unfinished UTF-8 sequences.
func (c *Collector) flush() {
	for i, p := range c.partial {
		if len(p) > 0 {
			c.partial[i] = nil
			c.take(codeinterp.Output{Kind: codeinterp.Stdout + codeinterp.Kind(i), Data: p})
		}
	}
}

// take calls back and keeps.
func (c *Collector) take(o codeinterp.Output) {
	switch {
	case c.onOutput == nil:
	case c.muted.Load():
		c.unseen++
	default:
		c.call(o)
	}
	if o.Kind == codeinterp.Clear {
		if c.clear = o.Wait; !o.Wait {
			c.kept.clear()
		}
		return
	}
	if c.clear {
		c.clear = false
		c.kept.clear()
	}
	if o.Update && c.kept.update(o) {
		return
	}
	o.Update = false
	c.kept.add(o)
}

// call calls OnOutput on a goroutine of its own, so that one that ends its
// goroutine, as testing's FailNow does, does not end the run's.
func (c *Collector) call(o codeinterp.Output) {
	done := make(chan error, 1)
	go func() {
		err := errExited
		defer func() {
			if p := recover(); p != nil {
				err = fmt.Errorf("panic in OnOutput: %v", p)
			}
			done <- err
		}()
		err = c.onOutput(o)
	}()
	if err := <-done; err != nil {
		c.fail(err)
	}
}

func (c *Collector) fail(err error) {
	if c.nerrs++; c.nerrs <= maxCallbackErrs {
		c.errs = append(c.errs, err)
	}
}
