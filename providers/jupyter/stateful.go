package jupyter

import (
	"context"
	"errors"
	"sync"

	"github.com/toolcell/toolcell/codeinterp"
)

// A Stateful interpreter also keeps contexts, each a kernel of its own. It is
// safe for concurrent use.
type Stateful struct {
	*Interpreter

	cmu      sync.Mutex
	contexts map[codeinterp.ContextID]*kernelContext
}

var (
	_ codeinterp.StatefulInterpreter = (*Stateful)(nil)
	_ codeinterp.ContextManager      = (*Stateful)(nil)
)

// NewStateful is New, with contexts.
func NewStateful(ctx context.Context, opts *Options) (*Stateful, error) {
	it, err := open(ctx, opts)
	if err != nil {
		return nil, wrap("connect", err)
	}
	return &Stateful{Interpreter: it, contexts: map[codeinterp.ContextID]*kernelContext{}}, nil
}

// CreateContext starts a kernel, or takes a warm one. Cwd is a directory of
// the kernel's host; one that cannot be entered is ErrInvalid, and "." is where
// the server starts its kernels. Where it is empty, Python, Deno and bash
// kernels start in a new private directory, which lasts as long as the
// context; other kernels start where the server starts them.
func (s *Stateful) CreateContext(ctx context.Context, language string, opts *codeinterp.ContextOptions) (codeinterp.ContextID, error) {
	id, err := s.create(ctx, language, opts)
	return id, wrap("create context", err)
}

func (s *Stateful) create(ctx context.Context, language string, opts *codeinterp.ContextOptions) (codeinterp.ContextID, error) {
	language, err := codeinterp.ResolveLanguage(language, s.languages)
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
	if !s.begin() {
		return "", codeinterp.ErrClosed
	}
	defer s.ops.Done()
	within, cancel := s.bound(ctx)
	defer cancel()
	for again := false; ; again = true {
		k, err := s.kernel(within, s.runtimes[language], again)
		if err != nil {
			return "", err
		}
		c := newContext(s, language, o, k)
		err = c.start(within)
		if err == nil {
			return c.id, s.add(c)
		}
		_ = s.discard(k)
		if !errors.Is(err, errNeverRan) || again {
			return "", err
		}
	}
}

// add registers a context, unless the interpreter was closed meanwhile.
func (s *Stateful) add(c *kernelContext) error {
	s.cmu.Lock()
	s.mu.Lock()
	shut := s.shut
	s.mu.Unlock()
	if !shut {
		s.contexts[c.id] = c
	}
	s.cmu.Unlock()
	if shut {
		_ = s.discard(c.k)
		return codeinterp.ErrClosed
	}
	c.rest()
	return nil
}

func (s *Stateful) find(id codeinterp.ContextID) (*kernelContext, error) {
	s.cmu.Lock()
	defer s.cmu.Unlock()
	c, ok := s.contexts[id]
	if !ok {
		s.mu.Lock()
		defer s.mu.Unlock()
		if s.shut {
			return nil, codeinterp.ErrClosed
		}
		return nil, codeinterp.ErrContext
	}
	return c, nil
}

// RunInContext runs code in a context's kernel. A kernel that is gone, by a
// crash, a restart of the server or its culling, is replaced, and
// Result.StateLost tells it.
func (s *Stateful) RunInContext(ctx context.Context, id codeinterp.ContextID, code string, opts *codeinterp.RunOptions) (codeinterp.Result, error) {
	res, err := s.runIn(ctx, id, code, opts)
	return res, wrap("run in context", err)
}

func (s *Stateful) runIn(ctx context.Context, id codeinterp.ContextID, code string, opts *codeinterp.RunOptions) (codeinterp.Result, error) {
	c, err := s.find(id)
	if err != nil {
		return codeinterp.NotRun(), err
	}
	_, o, done, err := s.enter(ctx, c.language, code, opts)
	if err != nil {
		return codeinterp.NotRun(), err
	}
	defer done()
	return c.run(ctx, code, o)
}

// DeleteContext ends the context's runs and deletes its kernel. Where the
// server cannot be reached the context is gone all the same, the error says
// so, and Close tries again.
func (s *Stateful) DeleteContext(ctx context.Context, id codeinterp.ContextID) error {
	return wrap("delete context", s.remove(ctx, id))
}

func (s *Stateful) remove(_ context.Context, id codeinterp.ContextID) error {
	c, err := s.find(id)
	if err != nil {
		return err
	}
	s.cmu.Lock()
	_, live := s.contexts[id]
	delete(s.contexts, id)
	s.cmu.Unlock()
	if !live {
		return codeinterp.ErrContext
	}
	if !s.begin() {
		return codeinterp.ErrClosed
	}
	defer s.ops.Done()
	return c.end()
}

// Close is Interpreter.Close, and ends the contexts.
func (s *Stateful) Close() error {
	s.closed.Do(func() { s.closeEr = wrap("close", s.close(s.endAll)) })
	return s.closeEr
}

// endAll ends the contexts, all at once.
func (s *Stateful) endAll() {
	s.cmu.Lock()
	all := s.contexts
	s.contexts = map[codeinterp.ContextID]*kernelContext{}
	s.cmu.Unlock()
	var wg sync.WaitGroup
	for _, c := range all {
		wg.Go(func() { _ = c.end() })
	}
	wg.Wait()
}
