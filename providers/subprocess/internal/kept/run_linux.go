package kept

import (
	"context"
	"slices"
	"sync"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/codeinterp/driver"
	"github.com/toolcell/toolcell/internal/keeper"
)

// A run is a run in a keeper.
type run struct {
	s      *Server
	begun  chan struct{} // closed when the program has begun
	done   chan struct{} // closed when it has ended, or never begins
	life   context.Context
	cancel context.CancelFunc // ends life

	mu     sync.Mutex
	host   *keeper.Conn            // gets the output as it comes; nil if it has gone
	output *driver.Output          // what is kept for others
	lost   []codeinterp.Truncation // what was dropped before the host came

	// Set before done is closed.
	res codeinterp.Result
	err error

	// Guarded by Server.mu.
	of  int  // the Server's count of hosts when the last one followed it
	got bool // that one has got the end
}

// runKey is the key of the run in the ctx of its session.
type runKey struct{}

func (s *Server) newOutput() *driver.Output {
	return driver.NewOutput(&codeinterp.RunOptions{MaxOutput: s.Spool})
}

// start starts a run of a host's, after that of the host before, which it reports.
func (s *Server) start(q *keeper.Request, c *keeper.Conn) *run {
	r := &run{s: s, begun: make(chan struct{}), done: make(chan struct{}), host: c, output: s.newOutput()}
	r.life, r.cancel = context.WithCancel(context.WithValue(s.life, runKey{}, r))
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
func (r *run) execute(q *keeper.Request) {
	o := q.RunOptions()
	o.OnOutput = r.add
	r.res, r.err = r.s.Contexts.RunInContext(r.life, r.s.ID, q.Code, o)
}

// Watch prepares the session of a Server's run, which is about to run p. It returns a ctx
// that ends the run without grace.
func Watch(ctx context.Context, p *driver.Program) (context.Context, context.CancelFunc) {
	r := ctx.Value(runKey{}).(*run)
	p.OnBegin = func() {
		r.mu.Lock()
		defer r.mu.Unlock()
		if !r.hasBegun() { // it may start again
			close(r.begun)
			r.send(&keeper.Reply{Begun: true})
		}
		r.s.setBegun(true)
	}
	ctx, cancel := context.WithCancel(ctx)
	context.AfterFunc(r.life, cancel)
	return ctx, cancel
}

func (r *run) hasBegun() bool {
	select {
	case <-r.begun:
		return true
	default:
		return false
	}
}

// add passes on an output and keeps it. It waits for a host that is slow.
func (r *run) add(o codeinterp.Output) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.send(&keeper.Reply{Output: &o})
	r.output.Add(o)
	return nil
}

// send sends something to the host, if there is one. r.mu is held.
func (r *run) send(m *keeper.Reply) {
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
	if r.host = c; r.hasBegun() {
		r.send(&keeper.Reply{Begun: true})
	}
	var res codeinterp.Result
	r.output.Finish(&res)
	r.output = r.s.newOutput()
	for _, o := range res.Outputs {
		r.send(&keeper.Reply{Output: &o})
		r.output.Add(o)
	}
	for _, t := range res.Truncated {
		r.output.Lost(t)
	}
	r.lost = res.Truncated
}

// serve serves the host that follows the run to its end, which the host confirms.
func (r *run) serve(c *keeper.Conn) {
	gone := make(chan struct{})
	go func() {
		defer close(gone)
		for q := (keeper.Request{}); c.Decode(&q) == nil; {
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
	end := r.res
	end.Truncated = slices.Concat(end.Truncated, r.lost)
	r.mu.Unlock()
	_ = c.Encode(&keeper.Reply{End: &end, Err: keeper.NewError(r.err)})
	<-gone
}

// report reports a run of the host before by late output.
func (r *run) report() {
	if r.res.Status == codeinterp.StatusNotRun {
		return
	}
	for _, t := range r.res.Truncated {
		r.output.Lost(t)
	}
	driver.ReportRun(r.s.Late, r.output, outcome(&r.res, r.err))
}
