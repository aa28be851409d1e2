package kept

import (
	"context"
	"slices"
	"sync"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/codeinterp/driver"
)

// A run is a run in a keeper.
type run struct {
	s      *Server
	begun  chan struct{} // closed when the program has begun
	done   chan struct{} // closed when it has ended, or never begins
	life   context.Context
	cancel context.CancelFunc // ends life

	mu     sync.Mutex
	host   *conn                   // gets the output as it comes; nil if it has gone
	output *driver.Output          // what is kept for others
	lost   []codeinterp.Truncation // what came neither to the host nor to output
	behind []codeinterp.Truncation // what was dropped before the host came

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
func (s *Server) start(q *Request, c *conn) *run {
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
func (r *run) execute(q *Request) {
	o := q.Options
	if q.HasStdin && o.Stdin == nil {
		o.Stdin = []byte{}
	}
	o.OnOutput = func(o codeinterp.Output) error { r.add(o); return nil } // late output; see Relay
	r.res, r.err = r.s.Contexts.RunInContext(r.life, r.s.ID, q.Code, &o)
	if r.res.CallbackErr != nil { // it has not seen all of it
		for _, o := range r.res.Outputs {
			r.s.Late(o)
		}
	}
	r.res.Outputs, r.res.CallbackErr = nil, nil
}

// Relay returns what takes the output of a run of a Server, for the session that runs p, and
// a ctx that ends the run without grace. release is called after it.
func Relay(ctx context.Context, p *driver.Program) (_ context.Context, out *driver.Output, release func()) {
	r := ctx.Value(runKey{}).(*run)
	ctx, cancel := context.WithCancel(ctx)
	stop := context.AfterFunc(r.life, cancel)
	p.OnBegin = func() {
		r.mu.Lock()
		defer r.mu.Unlock()
		if !r.hasBegun() { // it may start again
			close(r.begun)
			r.send(&Reply{Begun: true})
		}
		r.s.setBegun(true)
	}
	// Unlike the driver's own, it never drops what OnOutput is too slow for.
	out = driver.NewRelay(func(o codeinterp.Output) error { r.add(o); return nil }, r.addLost)
	return ctx, out, func() {
		stop()
		cancel()
		out.Finish(&codeinterp.Result{})
	}
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
func (r *run) add(o codeinterp.Output) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.send(&Reply{Output: &o})
	r.output.Add(o)
}

// send sends something to the host, if there is one. r.mu is held.
func (r *run) send(m *Reply) {
	if r.host != nil && r.host.Encode(m) != nil {
		r.host = nil
	}
}

// maxLost bounds lost.
const maxLost = 1000

func (r *run) addLost(t codeinterp.Truncation) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.lost) < maxLost {
		r.lost = append(r.lost, t)
	}
}

// resume sends what is kept of the output to another host, which gets the rest as it
// comes.
func (r *run) resume(c *conn) {
	r.s.mu.Lock()
	r.of = r.s.hosts
	r.s.mu.Unlock()
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.host = c; r.hasBegun() {
		r.send(&Reply{Begun: true})
	}
	var res codeinterp.Result
	r.output.Finish(&res)
	r.output = r.s.newOutput()
	for _, o := range res.Outputs {
		r.send(&Reply{Output: &o})
		r.output.Add(o)
	}
	for _, t := range res.Truncated {
		r.output.Lost(t)
	}
	r.behind = res.Truncated
}

// serve serves the host that follows the run to its end, which the host confirms.
func (r *run) serve(c *conn) {
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
	end := r.res
	end.Truncated = slices.Concat(end.Truncated, r.behind, r.lost)
	r.mu.Unlock()
	_ = c.Encode(&Reply{End: &end, Err: NewError(r.err)})
	<-gone
}

// report reports a run of the host before by late output.
func (r *run) report() {
	if r.res.Status == codeinterp.StatusNotRun {
		return
	}
	for _, t := range slices.Concat(r.res.Truncated, r.lost) {
		r.output.Lost(t)
	}
	driver.ReportRun(r.s.Late, r.output, outcome(&r.res, r.err))
}
