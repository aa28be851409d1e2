package kept

import (
	"context"
	"io"
	"slices"
	"sync"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/codeinterp/driver"
	"github.com/toolcell/toolcell/internal/keeper"
)

// A run is a run in a keeper.
type run struct {
	s *Server

	// Of a command.
	input   *io.PipeReader
	feed    *io.PipeWriter
	signals chan codeinterp.Signal

	done   chan struct{} // closed when it has ended, or never begins
	life   context.Context
	cancel context.CancelFunc // ends life

	mu    sync.Mutex
	begun bool                    // the program has
	host  *keeper.Conn            // gets the output as it comes; nil if it has gone
	kept  spool                   // the output, for others
	lost  []codeinterp.Truncation // what was dropped before the host came

	// Set before done is closed.
	res codeinterp.Result
	err error

	// Guarded by Server.mu.
	of  int  // the Server's count of hosts when the last one followed it
	got bool // that one has got the end
}

// start starts a run of a host's, after that of the host before, which it reports.
func (s *Server) start(q *Request, c *keeper.Conn) *run {
	r := &run{s: s, done: make(chan struct{}), host: c, kept: spool{max: s.Spool}, signals: make(chan codeinterp.Signal)}
	r.input, r.feed = io.Pipe()
	r.life, r.cancel = context.WithCancel(s.life)
	s.mu.Lock()
	defer s.mu.Unlock()
	former := s.run
	if former.knownTo(s.hosts) {
		former = nil
	}
	s.run, r.of = r, s.hosts
	go func() {
		defer close(r.done)
		defer r.cancel()
		if former != nil {
			select {
			case <-former.done:
				former.report()
				former = nil
			case <-r.life.Done():
			}
		}
		if r.execute(q); r.res.Status == codeinterp.StatusNotRun {
			s.mu.Lock()
			defer s.mu.Unlock()
			s.run = former
		}
	}()
	return r
}

// knownTo reports whether there is nothing of a run that a host does not know. Server.mu is
// held.
func (r *run) knownTo(host int) bool { return r == nil || r.got || r.of == host }

// execute runs the program to its end.
func (r *run) execute(q *Request) {
	o := &q.Options
	if o.OnOutput = r.add; q.HasStdin && o.Stdin == nil {
		o.Stdin = []byte{}
	}
	ctx := driver.OnBegin(r.life, r.begin)
	if q.Op == Run {
		r.res, r.err = r.s.Contexts.RunInContext(ctx, r.s.ID, q.Code, &o.RunOptions)
		return
	}
	o.Input, o.Signals = r.input, r.signals
	shell, _ := codeinterp.Commands(r.s.Contexts)
	r.res, r.err = shell.RunCommand(ctx, q.Code, o)
}

// take gives a command a signal, or input as soon as it takes it.
func (r *run) take(q *Request) error {
	if r == nil {
		return codeinterp.ErrNoRun
	}
	if q.Op == Signal {
		select {
		case r.signals <- q.Signal:
		case <-r.done:
		}
		return nil
	}
	if q.Last {
		return r.feed.Close()
	}
	_, err := r.feed.Write(q.Data)
	return err
}

// begin notes that the program has begun.
func (r *run) begin() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.begun { // it may start again
		r.send(&Reply{Begun: true})
	}
	r.begun = true
	r.s.setBegun(true)
}

// add passes on an output and keeps it. It waits for a host that is slow.
func (r *run) add(o codeinterp.Output) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.send(&Reply{Output: &o})
	r.kept.add(o)
	return nil
}

// send sends something to the host, if there is one. r.mu is held.
func (r *run) send(m *Reply) {
	if r.host != nil && r.host.Encode(m) != nil {
		r.host = nil
	}
}

// resume sends what is kept of the output to another host, which gets the rest as it
// comes.
func (r *run) resume(c *keeper.Conn) {
	r.s.mu.Lock()
	r.of = r.s.hosts
	r.s.mu.Unlock()
	r.mu.Lock()
	defer r.mu.Unlock()
	missed, lost := r.kept.missed()
	if r.host, r.lost = c, lost; r.begun {
		r.send(&Reply{Begun: true, Missed: missed})
	}
	for i := range r.kept.list {
		r.send(&Reply{Output: &r.kept.list[i]})
	}
}

// serve serves the host that follows the run to its end, which the host confirms.
func (r *run) serve(c *keeper.Conn) {
	gone := make(chan struct{})
	go func() {
		defer close(gone)
		for q := (Request{}); c.Decode(&q) == nil; {
			if q.Op == got {
				r.s.mu.Lock()
				defer r.s.mu.Unlock()
				r.got = true
				return
			}
			r.cancel() // stop
		}
	}()
	select {
	case <-r.done:
	case <-gone:
		return
	}
	r.mu.Lock()
	end, reply := r.res, Answer(r.err)
	end.Truncated, reply.End = slices.Concat(end.Truncated, r.lost), &end
	r.mu.Unlock()
	_ = c.Encode(reply)
	<-gone
}

// report reports a run of the host before by late output.
func (r *run) report() {
	if r.res.Status == codeinterp.StatusNotRun {
		return
	}
	out := driver.NewOutput(&codeinterp.RunOptions{MaxOutput: r.s.Spool})
	for _, o := range r.kept.list {
		out.Add(o)
	}
	_, lost := r.kept.missed()
	for _, t := range slices.Concat(r.res.Truncated, lost) {
		out.Lost(t)
	}
	driver.ReportRun(r.s.Late, out, outcome(&r.res, r.err))
}
