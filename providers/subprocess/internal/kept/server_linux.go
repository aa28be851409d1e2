package kept

import (
	"context"
	"fmt"
	"io"
	"net"
	"sync"
	"time"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/codeinterp/driver"
	"github.com/toolcell/toolcell/internal/keeper"
)

const (
	startLease = 5 * time.Second  // at least, for the host that has started the keeper
	closeLimit = 10 * time.Second // for a keeper to end, whatever keeps it
)

// A Server is the keeper's end of a context or of a command. It has an interpreter with that
// alone, which knows all about its runs but their output.
type Server struct {
	Contexts *driver.Stateful
	ID       codeinterp.ContextID    // of the context
	Late     func(codeinterp.Output) // of the context's session
	Hello    Hello
	Spool    int           // bytes
	Lease    time.Duration // how long it serves while no host has the context

	life context.Context // ends with the service
	end  context.CancelFunc

	mu    sync.Mutex
	held  bool // a host has the context
	hosts int  // that have had it
	lease *time.Timer
	run   *run // the last one, nil if there is none to resume or to report
	begun bool // a program has begun
}

// Serve serves hosts until ctx or the lease ends, or a host ends the context, and closes
// the interpreter.
func (s *Server) Serve(ctx context.Context, ln *net.UnixListener) {
	s.life, s.end = context.WithCancel(ctx)
	s.lease = time.AfterFunc(max(s.Lease, startLease), s.end)
	context.AfterFunc(s.life, func() { ln.Close() })
	for {
		socket, err := keeper.Accept(ln)
		if err != nil {
			break
		}
		go s.answer(keeper.NewConn(socket))
	}
	_ = s.close()
}

func (s *Server) close() error {
	keeper.EndWithin(closeLimit)
	return s.Contexts.Close()
}

// answer serves one connection.
func (s *Server) answer(c *keeper.Conn) {
	defer c.Close()
	_ = c.SetReadDeadline(time.Now().Add(patience))
	var q Request
	if c.Decode(&q) != nil {
		return
	}
	_ = c.SetReadDeadline(time.Time{})
	pauses, _ := codeinterp.Pauses(s.Contexts)
	var err error
	switch q.Op {
	case hold:
		s.hold(c)
		return
	case Run, Command:
		s.start(&q, c).serve(c)
		return
	case Resume:
		if r := s.last(); r != nil {
			r.resume(c)
			r.serve(c)
			return
		}
		err = codeinterp.ErrNoRun
	case Input, Signal:
		err = s.last().take(&q)
	case Interrupt:
		err = s.Contexts.InterruptContext(s.life, s.ID)
	case Restart:
		err = s.Contexts.RestartContext(s.life, s.ID)
		s.setBegun(false)
	case Pause:
		err = pauses.Pause(s.life)
	case EndPause:
		err = pauses.Resume(s.life)
	case Release:
		s.mu.Lock()
		if s.run.knownTo(s.hosts) {
			s.run = nil
		}
		s.mu.Unlock()
	case Close:
		err = s.close()
		defer s.end()
	}
	_ = c.Encode(Answer(err))
}

func (s *Server) last() *run {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.run
}

// setBegun says whether a program has begun in the state. Of an empty one there is no run.
func (s *Server) setBegun(begun bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.begun = begun; !begun {
		s.run = nil
	}
}

// hold gives the context to a host until its connection ends. The lease runs while no host
// has it.
func (s *Server) hold(c *keeper.Conn) {
	s.mu.Lock()
	var err error
	switch {
	case s.held:
		err = fmt.Errorf("%w: another process has the context", codeinterp.ErrCapacity)
	case !s.lease.Stop():
		err = fmt.Errorf("%w: its lease has ended", codeinterp.ErrContext)
	default:
		s.held = true
		s.hosts++
	}
	r, hello := Answer(err), s.Hello
	hello.Empty, r.Hello = !s.begun, &hello
	s.mu.Unlock()
	if sent := c.Encode(r); err != nil {
		return
	} else if sent == nil {
		_, _ = io.Copy(io.Discard, c)
	}
	if p, ok := codeinterp.Pauses(s.Contexts); ok {
		_ = p.Resume(s.life) // which the host cannot do any more
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.held = false
	s.lease.Reset(s.Lease)
}
