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
	o, err := s.admit(ctx, code, opts)
	if err != nil {
		return codeinterp.NotRun(), err
	}
	defer s.active.Done()
	if err := c.wait(ctx); err != nil {
		return codeinterp.NotRun(), err
	}
	defer c.queue.Release(1)
	return c.run(ctx, s, code, &o)
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
