package kept

import (
	"context"
	"fmt"
	"net"
	"os"
	"sync"
	"time"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/codeinterp/driver"
	"github.com/toolcell/toolcell/internal/keeper"
)

const (
	holdLimit  = time.Second      // for the host before to be gone
	maxHosts   = 64               // at once, of a shared keeper
	closeLimit = 10 * time.Second // for a keeper to end, whatever keeps it
)

// A Server is the keeper's end of a context or of a command, or of single runs. It has an
// interpreter with that alone, which knows all about its runs but their output.
type Server struct {
	Contexts *driver.Stateful
	ID       codeinterp.ContextID    // of the context
	Late     func(codeinterp.Output) // of the context's session
	Hello    Hello
	Spool    int  // bytes
	Shared   bool // by many hosts at once, whose runs end with them

	life context.Context // ends with the service
	end  context.CancelFunc
	room chan struct{} // for hosts

	mu    sync.Mutex
	hosts int // that there are
	lease time.Duration
	timer *time.Timer // ends the lease
	run   *run        // the last one, nil if there is none to resume or to report
	begun bool        // a program has begun
}

// Serve serves hosts, first the one that has sent q, until ctx or the lease ends, or a host
// ends the context, and closes the interpreter.
func (s *Server) Serve(ctx context.Context, ln *net.UnixListener, c *Conn, q *Request) {
	s.life, s.end = context.WithCancel(ctx)
	s.timer = time.AfterFunc(patience, s.end)
	s.room = make(chan struct{}, 1)
	if s.Shared {
		s.room = make(chan struct{}, maxHosts)
	}
	context.AfterFunc(s.life, func() { ln.Close() })
	go s.serve(c, q)
	for {
		socket, err := ln.AcceptUnix()
		if err != nil {
			break
		}
		go func() {
			c := NewConn(socket)
			defer c.Close()
			_ = c.SetReadDeadline(time.Now().Add(patience))
			if q, err := c.Read(); err == nil {
				_ = c.SetReadDeadline(time.Time{})
				s.serve(c, q)
			}
		}()
	}
	_ = s.close()
}

func (s *Server) close() error {
	keeper.EndWithin(closeLimit)
	return s.Contexts.Close()
}

// A host is a host that has the context, or one of those that share the keeper.
type host struct {
	s   *Server
	c   *Conn
	run *run // that it has begun or resumed
}

// serve serves one host until its connection ends. q is its first request.
func (s *Server) serve(c *Conn, q *Request) {
	if err := s.hold(q.Lease); err != nil {
		c.Answer(q, Answer(err))
		return
	}
	h := &host{s: s, c: c}
	defer h.leave()
	s.mu.Lock()
	hello := s.Hello
	hello.Empty, hello.PID = !s.begun, os.Getpid()
	s.mu.Unlock()
	c.Answer(q, &Reply{Hello: &hello})
	for {
		q, err := c.Read()
		if err != nil {
			return
		}
		h.take(q)
		r := h.run
		go func() {
			if c.Answer(q, h.answer(r, q)); q.Op == Close {
				s.end()
			}
		}()
	}
}

// hold makes room for a host. The lease runs while there is none.
func (s *Server) hold(lease time.Duration) error {
	select {
	case s.room <- struct{}{}:
	case <-time.After(holdLimit): // the keeper may have yet to notice that the host before has gone
		return fmt.Errorf("%w: another process has the context", codeinterp.ErrCapacity)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.hosts == 0 && !s.timer.Stop() {
		<-s.room
		return fmt.Errorf("%w: its lease has ended", codeinterp.ErrContext)
	}
	s.hosts, s.lease = s.hosts+1, lease
	return nil
}

// leave leaves the run to the next host, if there can be one.
func (h *host) leave() {
	s := h.s
	h.run.follow(nil)
	if h.run != nil && s.Shared {
		h.run.cancel()
	}
	if p, ok := codeinterp.Pauses(s.Contexts); ok {
		_ = p.Resume(s.life) // which the host cannot do any more
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.hosts--; s.hosts == 0 {
		s.timer.Reset(s.lease)
	}
	<-s.room
}

// take does what is to be done in the order of the requests.
func (h *host) take(q *Request) {
	switch q.Op {
	case Run, Single, Command:
		h.start(q)
	case Resume:
		h.s.mu.Lock()
		h.run = h.s.run
		h.s.mu.Unlock()
		h.run.follow(h)
	case stop:
		if h.run != nil {
			h.run.cancel()
		}
	case got:
		h.s.mu.Lock()
		h.run.got = true
		h.s.mu.Unlock()
	}
}

// answer does the rest, and returns the answer. r is the host's run.
func (h *host) answer(r *run, q *Request) *Reply {
	s := h.s
	pauses, _ := codeinterp.Pauses(s.Contexts)
	var err error
	switch q.Op {
	case Run, Single, Command, Resume, next, Input, Signal:
		switch {
		case r == nil:
			err = codeinterp.ErrNoRun
		case q.Op == Input || q.Op == Signal:
			err = r.take(q)
		default:
			return r.next(h, q.From)
		}
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
		if s.run == r || s.run != nil && s.run.got {
			s.run = nil
		}
		s.mu.Unlock()
	case Close:
		err = s.close()
	}
	return Answer(err)
}

// setBegun says whether a program has begun in the state. Of an empty one there is no run.
func (s *Server) setBegun(begun bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.begun = begun; !begun {
		s.run = nil
	}
}
