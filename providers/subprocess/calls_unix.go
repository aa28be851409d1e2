//go:build unix

package subprocess

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/codeinterp/driver"
	"github.com/toolcell/toolcell/internal/frames"
	"github.com/toolcell/toolcell/internal/pytools"
)

const (
	// maxCalls is how many calls of a process may be open, each of which costs
	// the host a goroutine. The drivers refuse more than half of that.
	maxCalls = 8192

	// maxCallID bounds the id that a driver gives a call.
	maxCallID = 64
)

// A runCalls is what a run knows of the functions that its program can call.
type runCalls struct {
	prog          *driver.Program
	ctx           context.Context // ends with the run
	over          context.CancelFunc
	interruptSent chan struct{} // closed when the program has its interrupt
	once          sync.Once
}

func newRunCalls(prog *driver.Program) *runCalls {
	ctx, over := context.WithCancel(context.Background())
	return &runCalls{prog: prog, ctx: ctx, over: over, interruptSent: make(chan struct{})}
}

// interrupted lets the calls that ended with the run tell it to the program.
func (c *runCalls) interrupted() { c.once.Do(func() { close(c.interruptSent) }) }

// offer returns the frame that makes the functions known, nil where the driver
// knows them. p.writing need not be held: no run is in progress.
func (p *process) offer(functions []codeinterp.Function) []byte {
	names := pytools.Names(functions)
	if p.lang.kind != pythonKind {
		names = slices.DeleteFunc(names, func(name string) bool { return name == "" })
	}
	if p.lang.Driver == nil || !p.lang.Driver.Functions || slices.Equal(names, p.offered) {
		return nil
	}
	p.offered = names
	return frames.Encode(frames.Names, names...)
}

// call serves a call of the program, behind the output that was printed before.
func (p *process) call(f *frames.Frame) error {
	id := string(f.Field(1))
	if f.Len() != 4 || id == "" || len(id) > maxCallID {
		return fmt.Errorf("%w: a call of %d fields, with an id of %d bytes", frames.ErrFrame, f.Len(), len(id))
	}
	f.Release() // as in show; the driver package bounds the arguments of a run's calls
	p.drainStreams()
	r := p.current(f)
	p.mu.Lock()
	p.calls++
	many := p.calls > maxCalls
	p.mu.Unlock()
	if many {
		return fmt.Errorf("%w: more than %d calls at once", frames.ErrFrame, maxCalls)
	}
	if r == nil {
		go p.attended(nil, id, nil, driver.ErrEnded) // its answer may wait for the program to read
		return nil
	}
	r.calls.prog.Start(r.calls.ctx, string(f.Field(2)), json.RawMessage(f.Field(3)),
		func(value json.RawMessage, err error) { p.attended(r, id, value, err) })
	return nil
}

// attended answers a call. Whoever waits for an answer that the end of the run
// prevents gets an error once the program was interrupted, or at that end.
func (p *process) attended(r *run, id string, value json.RawMessage, err error) {
	// Only now, since a call that was answered and not read still has its goroutine.
	defer func() {
		p.mu.Lock()
		p.calls--
		p.mu.Unlock()
	}()
	if errors.Is(err, driver.ErrEnded) && r != nil {
		select {
		case <-r.calls.interruptSent:
		case <-r.done:
		}
	}
	p.answer(r, id, value, err)
}

// answer sends the answer to a call. It waits for a program that does not read
// as long as its run goes on.
func (p *process) answer(r *run, id string, value json.RawMessage, err error) {
	e, failed := errors.AsType[*codeinterp.FunctionError](err)
	frame := func() []byte {
		switch {
		case failed:
			return frames.Encode(frames.Answer, id, "error", e.Message)
		case err != nil && r != nil:
			return frames.Encode(frames.Answer, id, "ended", "the run has ended")
		case err != nil: // it came of an earlier run
			return frames.Encode(frames.Answer, id, "error", "the run has ended")
		case len(value) == 0:
			return frames.Encode(frames.Answer, id, "ok", "null")
		}
		return frames.Encode(frames.Answer, id, "ok", string(value))
	}
	// Of one that was read in part the rest never comes. A process that has closed its
	// channel is about to end, and would be reported as killed: listen handles it.
	if err := p.writeAs(r, frame); errors.Is(err, errNotReading) {
		p.breaks(err)
		p.sb.Kill()
	}
}

// writeAs is write for a frame that only r's program waits for: while r goes on,
// that may take any time, since what computes does not read. The frame is made
// once it is its turn, so that those that wait are there once.
func (p *process) writeAs(r *run, frame func() []byte) error {
	p.answering.Lock() // so that what is more urgent waits for one of them at most
	defer p.answering.Unlock()
	p.writing.Lock()
	defer p.writing.Unlock()
	b := frame()
	for late := 0; len(b) > 0; {
		n, err := p.writeChunk(b)
		if b = b[n:]; err == nil {
			late = 0
			continue
		}
		if !errors.Is(err, errNotReading) {
			return err
		}
		// Once more after the run's end: it may have ended while this chunk was
		// waiting.
		if late++; r == nil || late > 1 && isDone(r.done) {
			return err
		}
	}
	return nil
}

func isDone(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}
