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

// An Output takes the output of one run: it feeds OnOutput, keeps the head and the
// tail of what exceeds MaxOutput, applies display updates and clears, and fills the
// Result. Result.Truncated reports every loss. Its methods may be called from any
// goroutine and return after the callback, of which there is one call at a
// time, so a slow callback holds the writer back.
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

	errorBefore int64 // bytes of the program's error that were dropped before it came here
}

// NewOutput returns an Output for a run with the given, checked, options.
func NewOutput(opts *codeinterp.RunOptions) *Output {
	c := &Output{onOutput: opts.OnOutput, kept: keeper{max: opts.MaxOutput}}
	c.kept.head = c.kept.one[:0]
	if c.onOutput != nil {
		c.mute = make(chan struct{})
	}
	return c
}

// Live says whether what comes is passed on to OnOutput, so that a call may take
// as long as that does.
func (c *Output) Live() bool { return c.onOutput != nil && !c.muted.Load() }

// Write takes a chunk of a stream and copies it. It reports false, and takes
// nothing, once Finish was called.
func (c *Output) Write(kind codeinterp.Kind, p []byte) bool {
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

// Spare returns a buffer of at least n bytes for [Output.Own]: memory of
// output that was dropped, if it is not shared.
func (c *Output) Spare(n int) []byte {
	c.mu.Lock()
	defer c.mu.Unlock()
	// OnOutput may keep the memory of what it has seen.
	if b := c.kept.spare; c.onOutput == nil && cap(b) >= n {
		c.kept.spare = nil
		return b[:n]
	}
	return make([]byte, n)
}

// Own is Write for a chunk whose memory is the Output's from then on.
func (c *Output) Own(kind codeinterp.Kind, p []byte) bool {
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

// copied returns a copy of p, in memory of dropped output where nothing
// else can hold that.
func (c *Output) copied(p []byte) []byte {
	if b := c.kept.spare; c.onOutput == nil && cap(b) >= len(p) {
		c.kept.spare = nil
		return append(b[:0], p...)
	}
	return slices.Clone(p)
}

// Add takes an output that is not cut into chunks: a display, a value, a
// clear, or a late one of any kind. The Output owns its memory from then
// on. It reports false, and takes nothing, once Finish was called.
func (c *Output) Add(o codeinterp.Output) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.done {
		return false
	}
	if !o.Late { // which is in no order with the program's own, and is to break no character of that
		c.flush()
	}
	c.take(o)
	return true
}

// Lost records what was dropped before it came here, of output or of the
// program's error; what of it was kept does come here. What is dropped of one
// stream by the limit adds up. After Finish Lost has no effect.
func (c *Output) Lost(t codeinterp.Truncation) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.done {
		return
	}
	if lost := max(t.Bytes-t.Kept, 0); t.Reason == codeinterp.TruncatedByLimit && t.Bytes >= 0 {
		if t.Stream == errorStream {
			c.errorBefore = plus(c.errorBefore, lost)
			return
		}
		if kind := kindOf(t.Stream); kind > 0 {
			c.kept.before[kind] = plus(c.kept.before[kind], lost)
			return
		}
	}
	// Once for each stream and reason: a connection can break any number of times.
	for _, have := range c.lost {
		if have.Stream == t.Stream && have.Reason == t.Reason {
			return
		}
	}
	c.lost = append(c.lost, t)
}

// MayLack records that output of these kinds, of every kind where none is named, may
// have been dropped before it came here, of unknown size.
func (c *Output) MayLack(reason codeinterp.TruncationReason, kinds ...codeinterp.Kind) {
	if len(kinds) == 0 {
		kinds = []codeinterp.Kind{codeinterp.Stdout, codeinterp.Stderr, codeinterp.Display, codeinterp.Value}
	}
	for _, k := range kinds {
		c.Lost(codeinterp.Truncation{Stream: k.String(), Bytes: -1, Reason: reason})
	}
}

// Mute stops calling OnOutput: a run that is being ended does not wait for a
// slow one. What comes is kept as before, and what OnOutput did not see is
// reported in CallbackErr. Mute does not wait for a call in progress, and frees the
// writer that made it; from then on only Finish waits for that call.
func (c *Output) Mute() {
	// Without mu, which is held by the writer that waits for OnOutput.
	if !c.muted.Swap(true) && c.mute != nil {
		close(c.mute)
	}
}

// Unmute takes Mute back. OnOutput is called again, once the call that was in
// progress is over. It is not to be called beside Mute.
func (c *Output) Unmute() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.muted.Swap(false) && c.mute != nil {
		c.mute = make(chan struct{})
	}
}

// Finish ends the collection and puts the outputs, the truncations and the
// callback's errors into res, once a call of OnOutput in progress is over. Only
// the first call has an effect.
func (c *Output) Finish(res *codeinterp.Result) {
	c.mu.Lock()
	if c.done {
		c.mu.Unlock()
		return
	}
	c.flush()
	c.done = true // there are no writers any more, so the rest needs no lock
	c.mu.Unlock()
	// A call that Mute freed its writer from: no call outlives its run.
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

func (c *Output) callbackErr() error {
	if c.nerrs > len(c.errs) {
		c.errs = append(c.errs, fmt.Errorf("and %d more errors of OnOutput", c.nerrs-len(c.errs)))
	}
	if c.unseen > 0 {
		c.errs = append(c.errs, fmt.Errorf("%d outputs came too late for OnOutput: the run was being ended", c.unseen))
	}
	return errors.Join(c.errs...)
}

// flush passes on what is held of unfinished UTF-8 sequences.
func (c *Output) flush() {
	for i, p := range c.partial {
		if len(p) > 0 {
			c.partial[i] = nil
			c.take(codeinterp.Output{Kind: codeinterp.Stdout + codeinterp.Kind(i), Data: p})
		}
	}
}

// take calls back and keeps.
func (c *Output) take(o codeinterp.Output) {
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
	// The display was dropped, or never was: what comes for it counts as a new one.
	o.Update = false
	c.kept.add(o)
}

// call calls OnOutput on a goroutine of its own, so that one that ends its
// goroutine, as testing's FailNow does, does not end the run's.
func (c *Output) call(o codeinterp.Output) {
	// A call from before Unmute may still be going on, and calls are serial.
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

// await waits for the call in progress, if there is one, unless Mute frees it.
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
