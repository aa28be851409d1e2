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

	"golang.org/x/sync/semaphore"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/internal/frames"
)

// maxAhead is how many frames are read before they are served, so that the end of a program
// is noticed while a slow OnOutput takes what it has shown.
const maxAhead = 8

// A message is a frame of the driver's, and when it came; or the error of reading one; or
// a request for the message that all before it were served.
type message struct {
	frames.Frame
	at     time.Time
	err    error
	served chan struct{}
}

// read reads the control channel to its end. The memory of large frames is taken from room.
func (p *process) read(room *semaphore.Weighted) {
	defer close(p.came)
	in := frames.NewReader(p.ctl)
	take := func(n int) (free func(), err error) {
		// A frame that waits to be served holds no room.
		served := make(chan struct{})
		p.came <- message{served: served}
		<-served
		if err := room.Acquire(p.open, int64(n)); err != nil {
			return nil, err
		}
		return func() { room.Release(int64(n)) }, nil
	}
	for {
		f, err := frames.Read(in, take)
		if err == nil && f.Kind == frames.Done {
			p.markOver(&f)
		}
		if p.came <- (message{Frame: f, at: time.Now(), err: err}); err != nil {
			return
		}
	}
}

// listen serves the driver's frames until the channel ends or the driver breaks the
// protocol.
func (p *process) listen() {
	for m := range p.came {
		if m.served != nil {
			close(m.served)
			continue
		}
		err := m.err
		if err == nil {
			err = p.serve(&m)
			m.Release()
		}
		if err != nil {
			p.unreadable(err)
			break
		}
	}
	close(p.served)
	for m := range p.came { // dropped
		if m.Release(); m.served != nil {
			close(m.served)
		}
	}
}

// unreadable ends a driver whose channel has ended or cannot be read any more.
func (p *process) unreadable(err error) {
	if !errors.Is(err, io.EOF) && !errors.Is(err, os.ErrClosed) && !errors.Is(err, syscall.ECONNRESET) {
		p.breaks(err) // how the program ended is not known, even if it ends well by itself
	} else if p.once.Load() {
		return // that of a single run closes it as the process ends
	} else {
		err = errors.New("the driver closed its control channel")
	}
	select {
	case <-p.sb.Done(): // it is about to end by itself
	case <-time.After(drainTimeout):
		p.breaks(err)
		p.sb.Kill()
	}
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
		if isDone(p.greeted) {
			return fmt.Errorf("%w: a second hello", frames.ErrFrame)
		}
		p.hello = string(f.Field(0))
		close(p.greeted)
		return nil
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
	case frames.Forked:
		p.forking.take(f.Number(0), f.Number(1))
		return nil
	case frames.Waited:
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
	f.Release() // OnOutput may take any time: no other process is to wait for it
	p.drainStreams()
	if r := p.current(f); r != nil {
		r.out.Add(o)
	} else if o.Kind == codeinterp.Display { // a clear has nothing of its own to withdraw
		p.deliverLate(o)
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
	p.drainStreams() // what was written before comes before it
	p.deliverLate(codeinterp.Output{Kind: kind, Data: f.Field(1)})
	number := f.Number(2)
	if number <= 0 {
		return nil
	}
	return p.send(frames.Ack, strconv.Itoa(number)) // the program goes on now
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
