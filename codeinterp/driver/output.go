package driver

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/toolcell/toolcell/codeinterp"
)

const maxCallbackErrs = 10

var errCallbackExited = errors.New("OnOutput ended its goroutine")

// An Output takes the output of one run. It calls OnOutput, keeps the head and the
// tail of what exceeds MaxOutput, applies display updates and clears, and fills the
// Result, which reports every loss in Truncated. Methods may be called from any
// goroutine. They return after OnOutput, which is called once at a time, so a slow
// OnOutput slows the writer.
type Output struct {
	mu       sync.Mutex
	onOutput func(codeinterp.Output) error
	kept     keeper
	partial  [2][]byte // an unfinished UTF-8 sequence, per stream
	clear    bool      // a Clear{Wait} is pending
	done     bool
	muted    atomic.Bool
	mute     chan struct{} // closed by Mute; nil where there is no OnOutput
	pending  chan error    // of a call of OnOutput that Mute freed the writer from
	unseen   int           // outputs that were not passed on
	errs     []error
	nerrs    int
	lost     []codeinterp.Truncation

	relay bool // see Config.Relay

	errorBefore int64 // bytes of the program's error that were dropped before it came here
}

// NewOutput returns an Output for a run with the given, checked, options.
func NewOutput(opts *codeinterp.RunOptions) *Output {
	c := &Output{}
	c.init(opts)
	return c
}

func (c *Output) init(opts *codeinterp.RunOptions) {
	c.onOutput, c.kept.max = opts.OnOutput, opts.MaxOutput
	c.kept.head = c.kept.one[:0]
	if c.onOutput != nil {
		c.mute = make(chan struct{})
	}
}

// Live reports whether output is passed to OnOutput, so that a call takes as long as
// OnOutput.
func (c *Output) Live() bool { return c.onOutput != nil && !c.muted.Load() }

// Write copies a chunk of a stream. After Finish it returns false and does nothing.
func (c *Output) Write(kind codeinterp.Kind, p []byte) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.done {
		return false
	}
	i := int(kind - codeinterp.Stdout)
	p = append(c.partial[i], p...)
	whole := len(p) - incomplete(p)
	c.partial[i] = slices.Clone(p[whole:])
	if whole > 0 {
		c.take(codeinterp.Output{Kind: kind, Data: p[:whole:whole]})
	}
	return true
}

// Stream returns a writer of Write. After Finish its error is io.ErrClosedPipe.
func (c *Output) Stream(kind codeinterp.Kind) io.Writer { return stream{c, kind} }

type stream struct {
	c    *Output
	kind codeinterp.Kind
}

func (s stream) Write(p []byte) (int, error) {
	if !s.c.Write(s.kind, p) {
		return 0, io.ErrClosedPipe
	}
	return len(p), nil
}

// Add takes an output that is not cut into chunks: a display, a value, a clear, or a
// late one of any kind. The Output takes ownership of its memory. After Finish it
// returns false and does nothing.
func (c *Output) Add(o codeinterp.Output) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.done {
		return false
	}
	if !o.Late { // late output does not split characters of the program's own
		c.flush()
	}
	c.take(o)
	return true
}

// Lost records output, or a part of the program's error, that was dropped before it
// came here. What was kept of it is written as usual. Losses by the limit add up per
// stream. After Finish Lost does nothing.
func (c *Output) Lost(t codeinterp.Truncation) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.done {
		return
	}
	lost := max(t.Bytes-t.Kept, 0)
	if c.relay && t.Bytes >= 0 {
		t.Bytes, t.Kept = lost, 0
	} else if t.Reason == codeinterp.TruncatedByLimit && t.Bytes >= 0 {
		if t.Stream == errorStream {
			c.errorBefore = plus(c.errorBefore, lost)
			return
		}
		if kind := kindOf(t.Stream); kind > 0 {
			c.kept.before[kind] = plus(c.kept.before[kind], lost)
			return
		}
	}
	// Once per stream and reason, since a connection can break many times.
	for i, have := range c.lost {
		if have.Stream == t.Stream && have.Reason == t.Reason {
			if c.relay && t.Bytes >= 0 && have.Bytes >= 0 {
				c.lost[i].Bytes += lost
			}
			return
		}
	}
	c.lost = append(c.lost, t)
}

// MayLack records that an unknown amount of output of these kinds, or of every kind if
// there is none, may have been dropped before it came here.
func (c *Output) MayLack(reason codeinterp.TruncationReason, kinds ...codeinterp.Kind) {
	if len(kinds) == 0 {
		kinds = []codeinterp.Kind{codeinterp.Stdout, codeinterp.Stderr, codeinterp.Display, codeinterp.Value}
	}
	for _, k := range kinds {
		c.Lost(codeinterp.Truncation{Stream: k.String(), Bytes: -1, Reason: reason})
	}
}

// Mute stops calling OnOutput, so that a run that is being ended does not wait for it.
// Output is kept as before; CallbackErr reports what OnOutput did not see. Mute does
// not wait for a call in progress and unblocks its writer; only Finish waits for that
// call.
func (c *Output) Mute() {
	// Without mu, which the writer that waits for OnOutput holds.
	if !c.relay && !c.muted.Swap(true) && c.mute != nil {
		close(c.mute)
	}
}

// Unmute calls OnOutput again, after a call in progress has returned. It must not be
// called concurrently with Mute.
func (c *Output) Unmute() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.muted.Swap(false) && c.mute != nil {
		c.mute = make(chan struct{})
	}
}

// Finish waits for a call of OnOutput in progress and puts the outputs, the
// truncations and the errors of OnOutput into res. Only the first call has an effect.
func (c *Output) Finish(res *codeinterp.Result) {
	c.mu.Lock()
	if c.done {
		c.mu.Unlock()
		return
	}
	c.flush()
	c.done = true // no more writers, so the rest needs no lock
	c.mu.Unlock()
	// No call outlives its run.
	if c.pending != nil {
		c.note(<-c.pending)
	}
	res.Outputs = c.kept.outputs()
	res.Truncated = append(c.kept.truncated(), c.kept.lacking(c.lost)...)
	boundError(res, c.kept.max >= 0, c.errorBefore)
	res.CallbackErr = c.callbackErr()
}

func kindOf(stream string) codeinterp.Kind {
	for k := codeinterp.Stdout; k <= codeinterp.Value; k++ {
		if k.String() == stream {
			return k
		}
	}
	return 0
}

// callbackErr joins the errors of OnOutput.
func (c *Output) callbackErr() error {
	if c.nerrs > len(c.errs) {
		c.errs = append(c.errs, fmt.Errorf("and %d more errors of OnOutput", c.nerrs-len(c.errs)))
	}
	if c.unseen > 0 {
		c.errs = append(c.errs, fmt.Errorf("OnOutput did not see %d outputs: the run was being stopped", c.unseen))
	}
	return errors.Join(c.errs...)
}

// flush passes on unfinished UTF-8 sequences.
func (c *Output) flush() {
	for i, p := range c.partial {
		if len(p) > 0 {
			c.partial[i] = nil
			c.take(codeinterp.Output{Kind: codeinterp.Stdout + codeinterp.Kind(i), Data: p})
		}
	}
}

// take calls OnOutput and keeps o.
func (c *Output) take(o codeinterp.Output) {
	switch {
	case c.onOutput == nil:
	case c.muted.Load():
		c.unseen++
	default:
		c.call(o)
	}
	if c.relay {
		return
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
	// A display that was dropped or never existed counts as a new one.
	o.Update = false
	c.kept.add(o)
}

// call calls OnOutput on a goroutine of its own, so that one that ends its
// goroutine, as testing's FailNow does, does not end the run's.
func (c *Output) call(o codeinterp.Output) {
	// A call from before Unmute may still be in progress.
	if !c.await() {
		c.unseen++
		return
	}
	done := make(chan error, 1)
	go func() {
		err := errCallbackExited
		defer func() {
			if p := recover(); p != nil {
				err = fmt.Errorf("panic in OnOutput: %v", p)
			}
			done <- err
		}()
		err = c.onOutput(o)
	}()
	c.pending = done
	c.await()
}

// await waits for the call in progress, if any. It returns false if Mute was called.
func (c *Output) await() bool {
	if c.pending == nil {
		return true
	}
	select {
	case err := <-c.pending:
		c.pending = nil
		c.note(err)
		return true
	case <-c.mute:
		return false
	}
}

func (c *Output) note(err error) {
	if err == nil {
		return
	}
	if c.nerrs++; c.nerrs <= maxCallbackErrs {
		c.errs = append(c.errs, err)
	}
}
