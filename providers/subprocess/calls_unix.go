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
	"github.com/toolcell/toolcell/internal/pytools"
	"github.com/toolcell/toolcell/providers/subprocess/internal/frames"
)

const (
	// maxCalls is how many calls of a process may be open, each of which costs
	// the host a goroutine. The drivers refuse more than half of that.
	maxCalls = 8192

	// maxCallID bounds the id that a driver gives a call.
	maxCallID = 64

	// maxUnread is how many bytes of answers may wait to be read before no
	// further call is served.
	maxUnread = 64 << 20
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

// call serves a call of the program. It waits for the output that was
// printed before, and for functions that are quick.
func (p *process) call(f *frames.Frame) error {
	id := string(f.Field(1))
	if f.Len() != 4 || id == "" || len(id) > maxCallID {
		return fmt.Errorf("%w: a call of %d fields, with an id of %d bytes", frames.ErrFrame, f.Len(), len(id))
	}
	args := json.RawMessage(f.Field(3))
	free, ok := p.budget.Call(&p.args, len(args))
	if !ok {
		// It is refused below, when the frame's memory was given back.
		args, free = nil, func() {}
	}
	f.Release() // as in show
	p.drainStreams()
	r := p.current(f)
	p.mu.Lock()
	p.calls++
	many := p.calls > maxCalls
	p.mu.Unlock()
	if many {
		free()
		return fmt.Errorf("%w: more than %d calls at once", frames.ErrFrame, maxCalls)
	}
	name := string(f.Field(2))
	if r == nil || args == nil || p.unread.Bytes() > maxUnread {
		// Beside: its answer may wait for the program to read, and listen must go on.
		go p.attend(r, id, name, args, free)
		return nil
	}
	answer := func(value json.RawMessage, err error) { p.attended(r, id, value, err, free) }
	turn, ok := p.quick.begin(r)
	if !ok {
		r.calls.prog.Start(r.calls.ctx, name, args, answer)
		return nil
	}
	return p.serveHere(turn, func() { r.calls.prog.Serve(r.calls.ctx, name, args, answer) })
}

// attend serves a call of r, which may be over, and answers it; without args
// there was no room for them.
func (p *process) attend(r *run, id, name string, args json.RawMessage, free func()) {
	value, err := json.RawMessage(nil), driver.ErrEnded
	if args == nil {
		err = &codeinterp.FunctionError{Function: name, Message: fmt.Sprintf("there is no room for more arguments of open calls: those of all programs may have %d bytes", frames.MaxOpenArgs)}
	} else if r != nil {
		value, err = r.calls.prog.Call(r.calls.ctx, name, args)
	}
	p.attended(r, id, value, err, free)
}

// attended answers a call. Whoever waits for an answer that the end of the run
// prevents gets an error once the program was interrupted, or at that end.
func (p *process) attended(r *run, id string, value json.RawMessage, err error, free func()) {
	// Only now, since a call that was answered and not read still has its goroutine.
	defer func() {
		p.mu.Lock()
		p.calls--
		p.mu.Unlock()
	}()
	free() // a program that does not read its answer must not delay others
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
	size := len(value)
	if failed {
		size = len(e.Message)
	}
	p.unread.Add(size) // first: the call's turn is another's by now
	defer p.unread.Add(-size)
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
