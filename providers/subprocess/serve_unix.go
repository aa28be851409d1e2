//go:build unix

package subprocess

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"syscall"
	"time"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/providers/subprocess/internal/frames"
)

// listen serves the control channel until it ends or the driver breaks the
// protocol, or another goroutine does.
func (p *process) listen() {
	for {
		m := p.next()
		err := m.err
		if err == nil {
			err = p.serve(&m)
			m.Release()
		}
		if err == nil {
			continue
		}
		if errors.Is(err, errRelieved) {
			return
		}
		if !errors.Is(err, io.EOF) && !errors.Is(err, os.ErrClosed) && !errors.Is(err, syscall.ECONNRESET) {
			// What follows cannot be read, so that how the program ended is not
			// known, even if it ends well by itself.
			p.breaks(err)
			p.breakOff(err)
		} else if !p.once.Load() {
			// That of a single run closes it as the process ends.
			p.breakOff(errors.New("the driver closed its control channel"))
		}
		p.dropAhead()
		close(p.readDone)
		return
	}
}

// A message is a frame of the driver's, and when it came.
type message struct {
	frames.Frame
	at  time.Time
	err error
}

func (p *process) next() message {
	if ahead := p.ahead; ahead != nil {
		p.ahead = nil
		close(ahead.wanted)
		return <-ahead.came
	}
	return p.read(nil)
}

// read reads a frame. One that takes room is read once it is wanted.
func (p *process) read(wanted <-chan struct{}) message {
	f, err := frames.Read(p.in, &frameRoom{p, wanted})
	if err == nil && f.Kind == frames.Done {
		p.markOver(&f)
	}
	return message{f, time.Now(), err}
}

// A frameRoom is where the memory of a process's large frames comes from.
type frameRoom struct {
	p      *process
	wanted <-chan struct{} // nil: it is
}

func (l *frameRoom) Take(n int) (free func(), err error) {
	if l.wanted != nil {
		select {
		case <-l.wanted:
		case <-l.p.open.Done():
			return nil, os.ErrClosed
		}
	}
	return l.p.budget.Frame(l.p.open, n)
}

// markOver notes that the run in progress is over, before its output is taken:
// because of a done frame, or because the process is gone.
func (p *process) markOver(done *frames.Frame) {
	p.mu.Lock()
	r := p.run
	p.mu.Unlock()
	if r != nil && (done == nil || done.Number(0) == r.seq) {
		r.over()
	}
}

// An ahead is a frame that is read while the one before it is served.
type ahead struct {
	wanted chan struct{} // closed when that one has been
	came   chan message
}

// readAhead reads the next frame while this one is served, so that it is known when it
// came. Often it came with this one.
func (p *process) readAhead() {
	a := &ahead{make(chan struct{}), make(chan message, 1)}
	p.ahead = a
	if p.in.HasFrame() {
		a.came <- p.read(a.wanted)
		return
	}
	go func() { a.came <- p.read(a.wanted) }()
}

// dropAhead gives back the room of a frame that is not served.
func (p *process) dropAhead() {
	if a := p.ahead; a != nil {
		close(a.wanted)
		go func() {
			m := <-a.came
			m.Release()
		}()
	}
}

// breakOff kills a driver that cannot be spoken to any more, unless it is
// about to end by itself.
func (p *process) breakOff(why error) {
	select {
	case <-p.sb.Done():
		return
	case <-time.After(drainTimeout):
	}
	p.breaks(why)
	p.sb.Kill()
}

// breaks notes why the driver cannot be spoken to.
func (p *process) breaks(why error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.broken == nil {
		p.broken = why
	}
}

// serve handles one frame of the driver.
func (p *process) serve(m *message) error {
	switch f := &m.Frame; f.Kind {
	case frames.Hello:
		select {
		case p.hello <- string(f.Field(0)):
			return nil
		default:
			return fmt.Errorf("%w: a second hello", frames.ErrFrame)
		}
	case frames.Ready:
		return p.takeReady(f)
	case frames.Show:
		return p.show(f)
	case frames.Call:
		return p.call(f)
	case frames.Completed:
		return p.completed(f)
	case frames.Late:
		return p.addLate(f)
	case frames.Truncated:
		return p.addTruncated(f)
	case frames.Done:
		return p.finish(f, m.at)
	case frames.Forked, frames.Waited:
		if s := p.place.forks; s != nil {
			s.report(f)
			return nil
		}
	}
	return fmt.Errorf("%w: type %q", frames.ErrFrame, m.Kind)
}

// drainStreams delivers all that was written before the frame that is being served.
func (p *process) drainStreams() {
	for _, s := range p.streams {
		s.Drain()
	}
}

// flushPaced delivers what was written and waits for more to come with it.
func (p *process) flushPaced() {
	for _, s := range p.streams {
		s.DrainPaced()
	}
}

// current returns the run that the frame is about: nil if that has ended.
func (p *process) current(f *frames.Frame) *run {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.run == nil || p.run.seq != f.Number(0) {
		return nil
	}
	return p.run
}

func (p *process) show(f *frames.Frame) error {
	o, err := frames.DecodeShow(f)
	if err != nil {
		return err
	}
	number := f.Number(1)
	if number < 0 {
		return fmt.Errorf("%w: a show without a number", frames.ErrFrame)
	}
	if o.Kind == codeinterp.Value {
		p.readAhead()
	}
	f.Release() // OnOutput may take any time: no other process is to wait for it
	p.drainStreams()
	if r := p.current(f); r != nil {
		r.out.Add(o)
	} else if o.Kind == codeinterp.Display { // a clear has nothing of its own to withdraw
		p.late.add(o)
	}
	if number == 0 {
		return nil
	}
	return p.send(frames.Ack, strconv.Itoa(number))
}

// addLate takes output of an earlier run's threads.
func (p *process) addLate(f *frames.Frame) error {
	f.Release()
	kind := codeinterp.Stdout
	switch string(f.Field(0)) {
	case "stdout":
	case "stderr":
		kind = codeinterp.Stderr
	default:
		return fmt.Errorf("%w: late output of %q", frames.ErrFrame, f.Field(0))
	}
	p.mu.Lock()
	idle := p.run == nil
	p.mu.Unlock()
	number := f.Number(2)
	switch {
	case number > 0: // the program goes on once it is in its place
		p.drainStreams()
	case idle: // what was written before in another way comes before it
		p.late.wait()
		p.flushPaced()
	}
	p.late.add(codeinterp.Output{Kind: kind, Data: f.Field(1)})
	if number <= 0 {
		return nil
	}
	return p.send(frames.Ack, strconv.Itoa(number))
}

func (p *process) addTruncated(f *frames.Frame) error {
	n := f.Number(2)
	if n < 0 || n > frames.MaxLost {
		return fmt.Errorf("%w: truncated by %.30q", frames.ErrFrame, f.Field(2))
	}
	stream := string(f.Field(1))
	if stream != "display" && stream != "result" {
		return fmt.Errorf("%w: truncated %q", frames.ErrFrame, stream)
	}
	if r := p.current(f); r != nil {
		r.out.Lost(codeinterp.Truncation{Stream: stream, Bytes: int64(n), Reason: codeinterp.TruncatedByLimit})
	}
	return nil
}

// finish ends the run, which said so at the given time: what it wrote before
// belongs to it, and what comes later is late.
func (p *process) finish(f *frames.Frame, at time.Time) error {
	r := p.current(f)
	if r == nil {
		return fmt.Errorf("%w: the end of a run that is not in progress", frames.ErrFrame)
	}
	end, err := frames.DecodeReport(f)
	if err != nil {
		return err
	}
	f.Release() // as in show
	p.drainStreams()
	// What came late during the run belongs into its result.
	p.late.wait()
	if end.Lost > 0 {
		r.out.Lost(codeinterp.Truncation{Stream: "error", Bytes: end.Lost, Reason: codeinterp.TruncatedByLimit})
	}
	p.mu.Lock()
	// The process ended while OnOutput took the rest, and watch has ended the run.
	if p.run != r {
		p.mu.Unlock()
		return nil
	}
	p.run = nil
	p.mu.Unlock()
	r.end, r.ended = end, at
	close(r.done)
	return nil
}
