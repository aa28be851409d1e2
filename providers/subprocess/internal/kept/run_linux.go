package kept

import (
	"context"
	"io"
	"os"
	"slices"
	"sync"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/codeinterp/driver"
)

// A run is a run in a keeper.
type run struct {
	s       *Server
	input   *io.PipeReader
	feed    *io.PipeWriter
	signals chan codeinterp.Signal

	done   chan struct{} // closed when it has ended, or never begins
	life   context.Context
	cancel context.CancelFunc // ends life

	mu      sync.Mutex
	changed sync.Cond // something below has; on mu
	begun   bool      // the program has
	over    bool      // done is about to be closed
	host    *host     // gets the output; nil if it has gone
	sent    int       // the number of the next output that it gets
	spool

	// Set before over.
	res codeinterp.Result
	err error

	got bool // its host has got the end; guarded by Server.mu
}

// start starts a run of a host's, after that of the host before, which it reports.
func (h *host) start(q *Request) {
	s := h.s
	r := &run{s: s, done: make(chan struct{}), host: h, spool: spool{max: s.Spool, first: 1}, signals: make(chan codeinterp.Signal)}
	r.changed.L = &r.mu
	r.input, r.feed = io.Pipe()
	r.life, r.cancel = context.WithCancel(s.life)
	s.mu.Lock()
	defer s.mu.Unlock()
	former := s.run
	if former == h.run || former != nil && former.got {
		former = nil
	}
	s.run, h.run = r, r
	go func() {
		defer close(r.done)
		defer r.cancel()
		if former != nil && !s.Shared {
			select {
			case <-former.done:
				former.report()
				former = nil
			case <-r.life.Done():
			}
		}
		r.execute(q)
		r.change(func() { r.over = true })
		if r.res.Status == codeinterp.StatusNotRun {
			s.mu.Lock()
			defer s.mu.Unlock()
			s.run = former
		}
	}()
}

// change changes what is guarded by mu.
func (r *run) change(f func()) {
	r.mu.Lock()
	defer r.mu.Unlock()
	f()
	r.changed.Broadcast()
}

// execute runs the program to its end.
func (r *run) execute(q *Request) {
	o, s := &q.Options, r.s
	if o.OnOutput = r.add; q.HasStdin && o.Stdin == nil {
		o.Stdin = []byte{}
	}
	if q.HasInput {
		o.Input = r.input
	}
	if q.Files != "" {
		o.Files = os.DirFS(q.Files)
	}
	ctx := driver.OnBegin(r.life, func() {
		r.change(func() { r.begun = true })
		s.setBegun(true)
	})
	switch q.Op {
	case Run:
		r.res, r.err = s.Contexts.RunInContext(ctx, s.ID, q.Code, &o.RunOptions)
	case Single:
		r.res, r.err = s.Contexts.RunCode(ctx, s.Hello.Language, q.Code, &o.RunOptions)
	default:
		o.Signals = r.signals
		shell, _ := codeinterp.Commands(s.Contexts)
		r.res, r.err = shell.RunCommand(ctx, q.Code, o)
	}
}

// take gives a command a signal, or a program input as soon as it takes it.
func (r *run) take(q *Request) error {
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

// add keeps an output. It waits for a host that is slow.
func (r *run) add(o codeinterp.Output) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.put(o, r.sent)
	r.changed.Broadcast()
	for r.size > r.max {
		for r.host != nil && r.first >= r.sent {
			r.changed.Wait()
		}
		r.drop()
	}
	return nil
}

// follow makes a host the one that gets the output, from the begin on.
func (r *run) follow(h *host) {
	if r != nil {
		r.change(func() { r.host, r.sent = h, 0 })
	}
}

// next returns the output from a number on, once there is some, and the end of the run.
func (r *run) next(h *host, from int) *Reply {
	r.mu.Lock()
	defer r.mu.Unlock()
	for r.host == h && !r.over && (!r.begun || from >= r.end()) {
		r.changed.Wait()
	}
	if r.host != h {
		return &Reply{} // which is not read
	}
	p := &Reply{Begun: r.begun && from == 0, Next: r.end()}
	if from < r.first {
		p.Lost = r.lost()
	}
	p.Outputs = slices.Clone(r.list[max(from-r.first, 0):])
	r.sent = p.Next
	r.changed.Broadcast()
	if r.over {
		p.End, p.Err = &r.res, Answer(r.err).Err
	}
	return p
}

// report reports a run of the host before by late output.
func (r *run) report() {
	if r.res.Status == codeinterp.StatusNotRun {
		return
	}
	out := driver.NewOutput(&codeinterp.RunOptions{MaxOutput: r.s.Spool})
	for _, o := range r.list {
		out.Add(o)
	}
	for _, t := range slices.Concat(r.res.Truncated, r.lost()) {
		out.Lost(t)
	}
	driver.ReportRun(r.s.Late, out, outcome(&r.res, r.err))
}
