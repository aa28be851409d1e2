package kept

import (
	"context"
	"fmt"
	"io"
	"net"
	"slices"
	"sync"
	"time"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/codeinterp/driver"
	"github.com/toolcell/toolcell/internal/keeper"
)

const (
	startLease = 5 * time.Second // at least, for the host that has started the keeper
	maxLate    = 1 << 20         // bytes of output between runs
)

// A Server is the keeper's end of a context.
type Server struct {
	Session driver.Session
	Spool   int           // bytes
	Lease   time.Duration // how long it serves while no host has the context
	Grace   time.Duration // for a run that is interrupted at its timeout
	Hello   func() Hello

	life context.Context // ends with the service
	end  context.CancelFunc

	mu      sync.Mutex
	holder  chan struct{} // closed when the host that has the context has gone; nil without one
	lease   *time.Timer
	run     *run // the last one, nil if its end needs no report
	started bool // a program has begun
	runs    int  // since the state was empty
	late    *driver.Output
	closers []*conn // hosts that wait for the end
}

// Serve serves hosts until ctx or the lease ends, or a host ends the context.
func (s *Server) Serve(ctx context.Context, ln *net.UnixListener) {
	s.life, s.end = context.WithCancel(ctx)
	s.lease = time.AfterFunc(max(s.Lease, startLease), s.end)
	context.AfterFunc(s.life, func() { ln.Close() })
	for {
		socket, err := keeper.Accept(ln)
		if err != nil {
			break
		}
		go s.answer(newConn(socket))
	}
	s.end()
}

// Wait waits for the run in progress, which Serve has ended.
func (s *Server) Wait() {
	if r := s.last(); r != nil {
		<-r.done
	}
}

// Closed tells the hosts that ended the context that it has ended, or why not.
func (s *Server) Closed(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, c := range s.closers {
		_ = c.Encode(&Reply{Err: NewError(err)})
	}
}

// KeepLate takes output that is no run's.
func (s *Server) KeepLate(o codeinterp.Output) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.late == nil {
		s.late = driver.NewOutput(&codeinterp.RunOptions{MaxOutput: maxLate})
	}
	o.Late = true
	o.Data = slices.Clone(o.Data)
	s.late.Add(o)
}

// takeLate returns and removes it.
func (s *Server) takeLate() (res codeinterp.Result) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.late != nil {
		s.late.Finish(&res)
		s.late = nil
	}
	return res
}

// answer serves one connection.
func (s *Server) answer(c *conn) {
	defer c.Close()
	_ = c.SetReadDeadline(time.Now().Add(patience))
	var q Request
	if c.Decode(&q) != nil {
		return
	}
	_ = c.SetReadDeadline(time.Time{})
	var err error
	switch q.Op {
	case hold:
		s.hold(c)
		return
	case Run:
		var r *run
		if r, err = s.start(&q); err == nil {
			r.stream(c, 0)
			return
		}
	case Resume:
		if run := s.last(); run != nil {
			run.stream(c, q.After)
			return
		}
		err = codeinterp.ErrNoRun
	case Interrupt:
		if run := s.last(); run != nil {
			err = run.interrupt()
		}
	case Reset:
		if run := s.last(); run != nil {
			run.cancel()
			<-run.done
		}
		err = s.Session.Reset(s.life)
		s.mu.Lock()
		s.run, s.started = nil, false
		s.mu.Unlock()
	case Release, Late: // the host goes in good order
		for _, o := range q.Outputs {
			s.KeepLate(o)
		}
		if q.Op == Release {
			s.mu.Lock()
			s.run = nil
			s.mu.Unlock()
		}
	case Close:
		s.mu.Lock()
		s.closers = append(s.closers, c)
		s.mu.Unlock()
		s.end()
		select {} // the process ends
	}
	_ = c.Encode(&Reply{Err: NewError(err)})
}

func (s *Server) last() *run {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.run
}

// hold gives the context to a host until its connection ends. The lease runs while no host
// has it.
func (s *Server) hold(c *conn) {
	mine, err := make(chan struct{}), error(nil)
	s.mu.Lock()
	switch {
	case s.holder != nil:
		err = fmt.Errorf("%w: another process has the context", codeinterp.ErrCapacity)
	case !s.lease.Stop():
		err = fmt.Errorf("%w: its lease has ended", codeinterp.ErrContext)
	default:
		s.holder = mine
	}
	s.mu.Unlock()
	if err != nil {
		_ = c.Encode(&Reply{Err: NewError(err)})
		return
	}
	hello := s.Hello()
	s.mu.Lock()
	hello.Empty, hello.Pending = !s.started, s.run != nil && !s.run.got
	s.mu.Unlock()
	if c.Encode(&Reply{Hello: &hello}) == nil {
		_, _ = io.Copy(io.Discard, c)
	}
	s.mu.Lock()
	s.holder = nil
	s.lease.Reset(s.Lease)
	s.mu.Unlock()
	close(mine)
}
