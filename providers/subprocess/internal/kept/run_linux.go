package kept

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/codeinterp/driver"
)

// A run is a run in a keeper.
type run struct {
	spool  *spool
	begun  chan struct{} // closed when the program has begun
	done   chan struct{} // closed when it has ended, or never begins
	cancel context.CancelFunc
	holder <-chan struct{} // closed when the host that started it has gone

	// Set before done is closed.
	end  end
	lost []codeinterp.Truncation

	gate  sync.Mutex // held while the program is handed over or interrupted
	open  bool       // interrupts may be sent; guarded by gate
	start time.Time

	timedOut atomic.Bool
	got      bool // a host has got the end; guarded by Server.mu
	s        *Server
}

// start starts a run. The host that asks for it has got the end of the last one.
func (s *Server) start(q *Request) (*run, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.run != nil {
		select {
		case <-s.run.done:
		default:
			return nil, fmt.Errorf("%w: a run is in progress", codeinterp.ErrCapacity)
		}
	}
	r := &run{spool: newSpool(s.Spool), begun: make(chan struct{}), done: make(chan struct{}), holder: s.holder, s: s}
	var ctx context.Context
	ctx, r.cancel = context.WithCancel(s.life)
	if s.run = r; r.holder == nil {
		gone := make(chan struct{})
		close(gone)
		r.holder = gone
	}
	go r.execute(ctx, q)
	return r, nil
}

// execute runs the program to its end.
func (r *run) execute(ctx context.Context, q *Request) {
	defer close(r.done)
	defer r.cancel()
	p := &driver.Program{Code: q.Code, Stdin: q.Stdin, Env: q.Env, Artifacts: q.Artifacts, Network: q.Network}
	if q.HasStdin && p.Stdin == nil {
		p.Stdin = []byte{}
	}
	p.OnHandOver, p.OnEnd = func(f func() error) error { return r.handOver(f, q.Timeout) }, r.close
	r.start = time.Now()
	out := driver.NewRelay(func(o codeinterp.Output) error { r.spool.add(o); return nil },
		func(t codeinterp.Truncation) {
			if len(r.lost) < maxLost {
				r.lost = append(r.lost, t)
			}
		})
	o, err := r.s.Session.Run(ctx, p, out)
	out.Finish(&codeinterp.Result{})
	r.end.Outcome, r.end.Err, r.end.Unknown, r.end.Duration = o, NewError(err), NewError(o.Unknown), time.Since(r.start)
	r.end.Outcome.Unknown, r.end.TimedOut = nil, r.timedOut.Load()
	r.s.mu.Lock()
	if o.Fresh {
		r.s.runs = 0
	}
	r.s.runs++
	r.end.Outcome.Count = r.s.runs
	r.s.mu.Unlock()
	r.spool.end()
}

// handOver hands the program over. As in the driver, an interrupt waits for that, and none is
// sent after close.
func (r *run) handOver(f func() error, timeout time.Duration) error {
	r.gate.Lock()
	defer r.gate.Unlock()
	late := r.s.takeLate()
	for _, o := range late.Outputs {
		r.spool.add(o)
	}
	r.lost = append(r.lost, late.Truncated...)
	r.start = time.Now()
	if f != nil {
		if err := f(); err != nil {
			return err
		}
	}
	r.open = true
	select {
	case <-r.begun: // it starts again
		return nil
	default:
	}
	r.s.mu.Lock()
	r.s.started = true
	r.s.mu.Unlock()
	close(r.begun)
	if timeout > 0 {
		go r.watch(timeout)
	}
	return nil
}

func (r *run) close() {
	r.gate.Lock()
	defer r.gate.Unlock()
	r.open = false
}

// interrupt interrupts the program unless it is over.
func (r *run) interrupt() error {
	r.gate.Lock()
	defer r.gate.Unlock()
	if !r.open {
		return nil
	}
	return r.s.Session.Interrupt(r.s.life)
}

// maxLost is how many losses of a run are kept apart from those of the spool.
const maxLost = 1000

// watch stops the program at its timeout, if the host that does so has gone.
func (r *run) watch(timeout time.Duration) {
	select {
	case <-time.After(timeout):
	case <-r.done:
		return
	}
	select {
	case <-r.holder:
	case <-r.done:
		return
	}
	r.timedOut.Store(true)
	_ = r.interrupt()
	select {
	case <-time.After(r.s.Grace):
		r.cancel()
	case <-r.done:
	}
}

// stream sends the output of a run to a host, and its end, which the host confirms.
func (r *run) stream(c *conn, after int) {
	in := r.spool.newReader(after)
	gone := make(chan struct{})
	go func() {
		defer close(gone)
		defer in.close()
		for q := (Request{}); q.Op != got && c.Decode(&q) == nil; {
			if q.Op == stop {
				r.cancel()
				continue
			}
			r.s.mu.Lock()
			r.got = true
			r.s.mu.Unlock()
		}
	}()
	select {
	case <-r.begun:
	case <-r.done:
	case <-gone:
		return
	}
	select {
	case <-r.begun:
		if c.Encode(&Reply{Begun: true}) != nil {
			return
		}
	default:
	}
	if !r.streamOutput(c, in) {
		return
	}
	select {
	case <-r.done:
	case <-gone:
		return
	}
	for _, t := range r.lost {
		_ = c.Encode(&Reply{Lost: &t})
	}
	_ = c.SetDeadline(time.Now().Add(patience))
	_ = c.Encode(&Reply{End: &r.end})
	<-gone
}

// streamOutput sends what a reader reads, and reports whether it could.
func (r *run) streamOutput(c *conn, in *reader) bool {
	for {
		o, gap, ok := in.next()
		if gap.Last > 0 {
			text := fmt.Sprintf("Outputs %d to %d of this run are missing: the last %d bytes are kept.\n", gap.First, gap.Last, r.s.Spool)
			_ = c.Encode(&Reply{Output: &codeinterp.Output{Kind: codeinterp.Stderr, Data: []byte(text), Late: true}})
			for _, t := range gap.Lost {
				_ = c.Encode(&Reply{Lost: &t})
			}
		}
		if !ok {
			return true
		}
		if c.Encode(&Reply{Output: &o}) != nil {
			return false
		}
	}
}
