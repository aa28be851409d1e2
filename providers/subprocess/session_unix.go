//go:build unix

package subprocess

import (
	"context"
	"sync"
	"time"

	"golang.org/x/sync/semaphore"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/internal/outbuf"
	"github.com/toolcell/toolcell/internal/sandbox"
)

// A session is a context.
type session struct {
	id      codeinterp.ContextID
	lang    *language
	opts    codeinterp.ContextOptions
	place   place
	created time.Time
	life    context.Context // ends with DeleteContext or Close
	end     context.CancelCauseFunc
	unhook  func() bool         // from the interpreter's Close
	queue   *semaphore.Weighted // held by the run in progress

	mu       sync.Mutex
	p        *process
	lost     bool // the state went, and nobody was told yet
	restart  context.CancelCauseFunc
	stop     chan struct{} // closed by InterruptContext
	running  bool
	waiting  int
	runs     int
	lastUsed time.Time
}

// close ends the context's process, waits for its run and removes what it
// lived in.
func (c *session) close(s *Stateful) {
	defer s.active.Done()
	if c.life.Err() == nil {
		c.end(codeinterp.ErrClosed)
	}
	_ = c.queue.Acquire(context.Background(), 1)
	c.mu.Lock()
	p := c.p
	c.p = nil
	c.mu.Unlock()
	if p != nil {
		p.kill()
	}
	if c.place.dir != "" {
		_ = sandbox.RemoveAll(c.place.dir)
	}
	c.queue.Release(1)
}

// wait queues for the context.
func (c *session) wait(ctx context.Context) error {
	c.mu.Lock()
	c.waiting++
	c.mu.Unlock()
	defer func() {
		c.mu.Lock()
		c.waiting--
		c.mu.Unlock()
	}()
	queued, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	defer context.AfterFunc(c.life, func() { cancel(context.Cause(c.life)) })()
	if err := c.queue.Acquire(queued, 1); err != nil {
		return context.Cause(queued)
	}
	switch {
	case c.life.Err() != nil:
		c.queue.Release(1)
		return context.Cause(c.life)
	case ctx.Err() != nil:
		c.queue.Release(1)
		return context.Cause(ctx)
	}
	return nil
}

// run runs code. The caller holds the queue.
func (c *session) run(ctx context.Context, s *Stateful, code string, o *codeinterp.RunOptions) (codeinterp.Result, error) {
	life, restart := context.WithCancelCause(c.life)
	defer restart(nil)
	stop := make(chan struct{})
	c.mu.Lock()
	c.running, c.restart, c.stop = true, restart, stop
	c.mu.Unlock()
	defer func() {
		c.mu.Lock()
		c.running, c.restart, c.stop, c.lastUsed = false, nil, nil, time.Now()
		c.mu.Unlock()
	}()
	p, lost, err := c.process(ctx, s)
	if err != nil {
		return codeinterp.NotRun(), err
	}
	out := outbuf.New(o)
	pr := c.lang.prepare(code)
	var res codeinterp.Result
	if pr.failed != nil {
		for _, late := range p.takeLate() {
			out.Add(late)
		}
		res = pr.refused(out)
	} else {
		x := &execution{p: p, opts: o, out: out, prog: pr, life: life, stop: stop, grace: s.opts.Grace}
		res, err = x.run(ctx)
	}
	if res.Status == codeinterp.StatusNotRun {
		c.mu.Lock()
		c.lost = c.lost || lost
		c.mu.Unlock()
		return res, err
	}
	c.runs++
	res.ExecutionCount = c.runs
	res.StateLost = res.StateLost || lost
	if res.Cause == codeinterp.CauseRestart {
		res.StateLost = false
	}
	c.mu.Lock()
	p.told = p.told || res.StateLost || res.Cause == codeinterp.CauseRestart
	c.mu.Unlock()
	return res, err
}

// process returns the context's process, a new one where the old one is gone.
// lost tells that the state went unnoticed.
func (c *session) process(ctx context.Context, s *Stateful) (p *process, lost bool, err error) {
	c.mu.Lock()
	p, lost = c.p, c.lost
	c.lost = false
	c.mu.Unlock()
	if p != nil {
		select {
		case <-p.sb.Done():
			p.kill()
			lost = lost || !p.told
		default:
			return p, lost, nil
		}
	}
	p, err = s.launch(c.lang, &c.place)
	if err == nil {
		if _, err = p.greeting(ctx); err != nil {
			p.kill()
		}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if err != nil {
		c.p, c.lost = nil, lost
		return nil, lost, err
	}
	c.p = p
	return p, lost, nil
}

func (c *session) info() codeinterp.ContextInfo {
	c.mu.Lock()
	defer c.mu.Unlock()
	cwd := c.opts.Cwd
	if cwd == "" && c.p != nil {
		cwd = c.p.inside
	}
	return codeinterp.ContextInfo{
		ID: c.id, Language: c.lang.Name, Cwd: cwd, Created: c.created, LastUsed: c.lastUsed,
		Busy: c.running, Queued: c.waiting,
	}
}
