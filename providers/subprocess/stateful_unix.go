//go:build unix

package subprocess

import (
	"cmp"
	"context"
	"crypto/rand"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"golang.org/x/sync/semaphore"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/internal/outbuf"
	"github.com/toolcell/toolcell/internal/sandbox"
)

// A Stateful is an [Interpreter] with contexts: each has a process of its own,
// in which its programs run one after the other.
type Stateful struct {
	*Interpreter

	mu       sync.Mutex
	contexts map[codeinterp.ContextID]*session
	starting int
}

var (
	_ codeinterp.StatefulInterpreter = (*Stateful)(nil)
	_ codeinterp.ContextManager      = (*Stateful)(nil)
	_ codeinterp.Describer           = (*Stateful)(nil)
)

// NewStateful returns an interpreter with contexts. opts may be nil. It fails
// as [New] does, and where a language of opts has no Driver.
func NewStateful(opts *Options) (*Stateful, error) {
	i, err := open(opts, true)
	if err != nil {
		return nil, &codeinterp.Error{Provider: provider, Op: "new", Err: err}
	}
	return &Stateful{Interpreter: i, contexts: map[codeinterp.ContextID]*session{}}, nil
}

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

// CreateContext starts a context's process. See
// [codeinterp.StatefulInterpreter].
func (s *Stateful) CreateContext(ctx context.Context, name string, opts *codeinterp.ContextOptions) (codeinterp.ContextID, error) {
	id, err := s.createContext(ctx, name, opts)
	return id, wrap("create context", err)
}

func (s *Stateful) createContext(ctx context.Context, name string, opts *codeinterp.ContextOptions) (codeinterp.ContextID, error) {
	l, err := s.resolve(name)
	if err != nil {
		return "", err
	}
	o, err := codeinterp.CheckContext(opts)
	if err != nil {
		return "", err
	}
	if ctx.Err() != nil {
		return "", context.Cause(ctx)
	}
	if o.Cwd != "" {
		if o.Cwd, err = directory(o.Cwd); err != nil {
			return "", err
		}
	}
	if err := s.enter(); err != nil {
		return "", err
	}
	if err := s.reserve(); err != nil {
		s.active.Done()
		return "", err
	}
	c, err := s.newSession(ctx, l, o)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.starting--
	if err == nil && s.life.Err() != nil {
		err = codeinterp.ErrClosed
	}
	if err != nil {
		if c != nil {
			go c.close(s)
		} else {
			s.active.Done()
		}
		return "", err
	}
	s.contexts[c.id] = c
	c.unhook = context.AfterFunc(s.life, func() { s.drop(c, codeinterp.ErrClosed) })
	return c.id, nil
}

// directory checks a Cwd.
func directory(path string) (string, error) {
	if !filepath.IsAbs(path) {
		return "", fmt.Errorf("%w: Cwd is not absolute", codeinterp.ErrInvalid)
	}
	if info, err := os.Stat(path); err != nil || !info.IsDir() {
		return "", fmt.Errorf("%w: Cwd is no directory", codeinterp.ErrInvalid)
	}
	return filepath.Clean(path), nil
}

// reserve takes one of the places for contexts.
func (s *Stateful) reserve() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.contexts)+s.starting >= s.opts.MaxContexts {
		return fmt.Errorf("%w: %d contexts are open; delete one", codeinterp.ErrCapacity, s.opts.MaxContexts)
	}
	s.starting++
	return nil
}

func (s *Stateful) newSession(ctx context.Context, l *language, o codeinterp.ContextOptions) (*session, error) {
	if o.Cwd != "" {
		if err := s.sandbox.Reachable(o.Cwd); err != nil {
			return nil, fmt.Errorf("%w: Cwd: %w", codeinterp.ErrInvalid, err)
		}
	}
	c := &session{id: codeinterp.ContextID(rand.Text()), lang: l, opts: o, created: time.Now(), queue: semaphore.NewWeighted(1)}
	c.lastUsed = c.created
	c.life, c.end = context.WithCancelCause(context.Background())
	p, err := s.lodge(ctx, l, &place{cwd: o.Cwd, env: o.Env})
	if err != nil {
		return nil, err
	}
	c.p = p
	c.place = place{dir: p.place.dir, cwd: o.Cwd, env: o.Env}
	if _, err := p.greeting(ctx); err != nil {
		return c, err
	}
	return c, nil
}

// drop removes a context and ends its runs, for the reason given. It reports
// whether the context was still there.
func (s *Stateful) drop(c *session, why error) bool {
	s.mu.Lock()
	_, found := s.contexts[c.id]
	delete(s.contexts, c.id)
	s.mu.Unlock()
	if !found {
		return false
	}
	c.unhook()
	c.end(why)
	c.close(s)
	return true
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

// lookup returns the context with the id.
func (s *Stateful) lookup(id codeinterp.ContextID) (*session, error) {
	if s.life.Err() != nil {
		return nil, codeinterp.ErrClosed
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	c := s.contexts[id]
	if c == nil {
		return nil, fmt.Errorf("%w; create one", codeinterp.ErrContext)
	}
	return c, nil
}

// DeleteContext ends the context's process and everything that it started.
func (s *Stateful) DeleteContext(_ context.Context, id codeinterp.ContextID) error {
	c, err := s.lookup(id)
	if err == nil && !s.drop(c, codeinterp.ErrContext) {
		err = codeinterp.ErrContext
	}
	return wrap("delete context", err)
}

// RunInContext runs code in the context's process. See
// [codeinterp.StatefulInterpreter].
func (s *Stateful) RunInContext(ctx context.Context, id codeinterp.ContextID, code string, opts *codeinterp.RunOptions) (codeinterp.Result, error) {
	res, err := s.runInContext(ctx, id, code, opts)
	return res, wrap("run in context", err)
}

func (s *Stateful) runInContext(ctx context.Context, id codeinterp.ContextID, code string, opts *codeinterp.RunOptions) (codeinterp.Result, error) {
	c, err := s.lookup(id)
	if err != nil {
		return codeinterp.NotRun(), err
	}
	o, err := codeinterp.CheckRun(code, opts)
	if err != nil {
		return codeinterp.NotRun(), err
	}
	if ctx.Err() != nil {
		return codeinterp.NotRun(), context.Cause(ctx)
	}
	if err := s.enter(); err != nil {
		return codeinterp.NotRun(), err
	}
	defer s.active.Done()
	if err := c.wait(ctx); err != nil {
		return codeinterp.NotRun(), err
	}
	defer c.queue.Release(1)
	return c.run(ctx, s, code, &o)
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
	pr, err := c.lang.prepare(code)
	if err != nil {
		return codeinterp.NotRun(), err
	}
	var res codeinterp.Result
	if pr.failed != nil {
		res = codeinterp.Result{Status: codeinterp.StatusError, ExitCode: 1, Error: pr.failed}
		for _, late := range p.takeLate() {
			out.Add(late)
		}
		out.Finish(&res)
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

// ListContexts returns the live contexts, oldest first.
func (s *Stateful) ListContexts(context.Context) ([]codeinterp.ContextInfo, error) {
	if s.life.Err() != nil {
		return nil, wrap("list contexts", codeinterp.ErrClosed)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	list := make([]codeinterp.ContextInfo, 0, len(s.contexts))
	for _, c := range s.contexts {
		list = append(list, c.info())
	}
	slices.SortFunc(list, func(a, b codeinterp.ContextInfo) int {
		return cmp.Or(a.Created.Compare(b.Created), cmp.Compare(a.ID, b.ID))
	})
	return list, nil
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

// RestartContext ends the context's process; the next run gets a new one.
func (s *Stateful) RestartContext(_ context.Context, id codeinterp.ContextID) error {
	c, err := s.lookup(id)
	if err != nil {
		return wrap("restart context", err)
	}
	c.mu.Lock()
	restart, p := c.restart, c.p
	if restart != nil {
		restart(errRestart)
	}
	if p != nil && restart == nil {
		p.told = true
	}
	c.lost = false
	c.mu.Unlock()
	if p != nil {
		p.kill()
	}
	return nil
}

// InterruptContext interrupts the run in progress, as Ctrl-C would.
func (s *Stateful) InterruptContext(_ context.Context, id codeinterp.ContextID) error {
	c, err := s.lookup(id)
	if err != nil {
		return wrap("interrupt context", err)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.stop != nil {
		close(c.stop)
		c.stop = nil
	}
	return nil
}
