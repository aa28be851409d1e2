package inmemory

import (
	"context"
	"crypto/rand"
	"fmt"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/providers/inmemory/engine"
	"github.com/toolcell/toolcell/providers/inmemory/memfs"
	"golang.org/x/sync/semaphore"
)

// A Stateful interpreter also keeps contexts, each an instance of its engine
// with a file system of its own.
type Stateful struct {
	*Interpreter

	mu       sync.Mutex
	contexts map[codeinterp.ContextID]*state
}

var (
	_ codeinterp.StatefulInterpreter = (*Stateful)(nil)
	_ codeinterp.ContextManager      = (*Stateful)(nil)
	_ codeinterp.Describer           = (*Stateful)(nil)
)

// NewStateful returns an interpreter with contexts. o may be nil.
func NewStateful(o *Options) (*Stateful, error) {
	p, err := newInterpreter(o)
	if err != nil {
		return nil, &codeinterp.Error{Provider: provider, Op: "open", Err: err}
	}
	return &Stateful{Interpreter: p, contexts: map[codeinterp.ContextID]*state{}}, nil
}

// A state is a context.
type state struct {
	id       codeinterp.ContextID
	language string
	cwd      string
	env      map[string]string
	files    *memfs.FS
	created  time.Time
	turn     *semaphore.Weighted // held by the run whose turn it is

	life context.Context // ends with the context, the cause says why
	end  context.CancelCauseFunc

	reset atomic.Bool // the instance is to be replaced before the next run

	// Of the run whose turn it is.
	inst  engine.Instance // nil where the state is gone
	told  bool            // that it is gone was told, or there was none
	count int

	mu       sync.Mutex
	lastUsed time.Time
	current  *run
	ended    chan struct{} // closed when current has ended; nil unless somebody waits
	queued   int
}

// CreateContext implements codeinterp.StatefulInterpreter. Cwd is a directory
// of the context's own file system and is created.
func (s *Stateful) CreateContext(ctx context.Context, language string, opts *codeinterp.ContextOptions) (codeinterp.ContextID, error) {
	id, err := s.createContext(ctx, language, opts)
	return id, wrap("create context", err)
}

func (s *Stateful) createContext(ctx context.Context, language string, opts *codeinterp.ContextOptions) (codeinterp.ContextID, error) {
	name, err := codeinterp.ResolveLanguage(language, s.names)
	if err != nil {
		return "", err
	}
	o, err := codeinterp.CheckContext(opts)
	if err != nil {
		return "", err
	}
	if err := s.enter(ctx); err != nil {
		return "", err
	}
	defer s.pending.Done()
	c := &state{id: codeinterp.ContextID(rand.Text()), language: name, cwd: memfs.Clean(".", o.Cwd), env: o.Env,
		files: memfs.New(&s.opts.Files), created: time.Now(), turn: semaphore.NewWeighted(1), told: true}
	c.lastUsed = c.created
	if err := c.files.MkdirAll(c.cwd); err != nil {
		return "", fmt.Errorf("%w: the context's directory: %v", codeinterp.ErrInvalid, err)
	}
	if c.inst, err = s.languages[name].instance(s.budget, c.files, c.cwd); err != nil {
		return "", err
	}
	c.life, c.end = context.WithCancelCause(s.life)
	s.mu.Lock()
	full := s.opts.MaxContexts > 0 && len(s.contexts) >= s.opts.MaxContexts
	if !full {
		s.contexts[c.id] = c
	}
	s.mu.Unlock()
	if full {
		c.end(nil)
		c.inst.Close()
		return "", fmt.Errorf("%w: %d contexts, which is the limit; delete one first", codeinterp.ErrCapacity, s.opts.MaxContexts)
	}
	return c.id, nil
}

// context returns a live context.
func (s *Stateful) context(id codeinterp.ContextID) (*state, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if c := s.contexts[id]; c != nil {
		return c, nil
	}
	return nil, codeinterp.ErrContext
}

// RunInContext implements codeinterp.StatefulInterpreter.
func (s *Stateful) RunInContext(ctx context.Context, id codeinterp.ContextID, code string, opts *codeinterp.RunOptions) (codeinterp.Result, error) {
	res, err := s.runInContext(ctx, id, code, opts)
	return res, wrap("run in context", err)
}

func (s *Stateful) runInContext(ctx context.Context, id codeinterp.ContextID, code string, opts *codeinterp.RunOptions) (codeinterp.Result, error) {
	o, err := codeinterp.CheckRun(code, opts)
	if err != nil {
		return codeinterp.NotRun(), err
	}
	if err := s.enter(ctx); err != nil {
		return codeinterp.NotRun(), err
	}
	defer s.pending.Done()
	c, err := s.context(id)
	if err != nil {
		return codeinterp.NotRun(), err
	}
	if err := c.await(ctx); err != nil {
		return codeinterp.NotRun(), err
	}
	defer c.pass()
	if err := s.acquire(ctx, c.life); err != nil {
		return codeinterp.NotRun(), err
	}
	gone, err := s.revive(c)
	if err != nil {
		s.slots.release()
		return codeinterp.NotRun(), err
	}
	return s.runNow(ctx, c, o, code, gone)
}

// await waits for the context's turn.
func (c *state) await(ctx context.Context) error {
	if c.turn.TryAcquire(1) {
		if c.life.Err() != nil {
			c.turn.Release(1)
			return context.Cause(c.life)
		}
		return nil
	}
	c.mu.Lock()
	c.queued++
	c.mu.Unlock()
	defer func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.queued--
	}()
	both, cancel := join(ctx, c.life)
	defer cancel(nil)
	if c.turn.Acquire(both, 1) != nil {
		return context.Cause(both)
	}
	if both.Err() != nil {
		c.turn.Release(1)
		return context.Cause(both)
	}
	return nil
}

// revive makes an instance where the context has none. gone tells that state
// was lost and that nobody was told yet.
func (s *Stateful) revive(c *state) (gone bool, err error) {
	c.renew()
	if c.inst != nil {
		return false, nil
	}
	if c.inst, err = s.languages[c.language].instance(s.budget, c.files, c.cwd); err != nil {
		return false, err
	}
	gone = !c.told
	c.told = true
	return gone, nil
}

// renew drops the instance where a restart asked for it.
func (c *state) renew() {
	if c.reset.Load() && c.reset.Swap(false) && c.inst != nil {
		c.inst.Close()
		c.inst = nil
		c.told = true
	}
}

func (s *Stateful) runNow(ctx context.Context, c *state, o codeinterp.RunOptions, code string, gone bool) (codeinterp.Result, error) {
	r := newRun(ctx, s.slots, o)
	c.begin(r)
	c.count++
	program := engine.Program{Name: "cell-" + strconv.Itoa(c.count) + extension(c.language), Code: code,
		Stdin: o.Stdin, Env: env(c.env, o.Env)}
	res, abandoned, err := s.execute(r, c.inst, program, c.life)
	res.ExecutionCount = c.count
	lost := abandoned || res.StateLost
	if lost && !abandoned {
		c.inst.Close()
	}
	if lost {
		c.inst = nil
		c.told = true
	}
	res.StateLost = res.StateLost || gone
	c.finish(res.Duration)
	return res, err
}

func (c *state) begin(r *run) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.current, c.lastUsed = r, time.Now()
	if c.reset.Load() {
		r.stop(errRestart)
	}
}

func (c *state) finish(d time.Duration) {
	c.renew()
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.ended != nil {
		close(c.ended)
	}
	c.current, c.ended, c.lastUsed = nil, nil, c.lastUsed.Add(d)
}

// DeleteContext implements codeinterp.StatefulInterpreter.
func (s *Stateful) DeleteContext(ctx context.Context, id codeinterp.ContextID) error {
	if err := s.enterAlways(ctx); err != nil {
		return wrap("delete context", err)
	}
	defer s.pending.Done()
	s.mu.Lock()
	c := s.contexts[id]
	delete(s.contexts, id)
	s.mu.Unlock()
	if c == nil {
		return wrap("delete context", codeinterp.ErrContext)
	}
	c.close(codeinterp.ErrContext)
	return nil
}

// close ends the context's runs and releases its instance.
func (c *state) close(cause error) {
	c.end(cause)
	_ = c.stopRun(context.Background(), cause)
	c.dispose()
}

// pass gives the turn to the next run.
func (c *state) pass() {
	c.turn.Release(1)
	if c.life.Err() != nil {
		c.dispose()
	}
}

// dispose closes the instance of a context that has ended, unless a run has
// its turn, which then does it.
func (c *state) dispose() {
	if !c.turn.TryAcquire(1) {
		return
	}
	if c.inst != nil {
		c.inst.Close()
		c.inst = nil
	}
	c.turn.Release(1)
}

// awaitEnd waits until the run in progress, which was stopped, has ended. It
// does not wait for a caller's OnOutput: meanwhile the program stands still,
// and it ends when OnOutput returns.
func (c *state) awaitEnd(ctx context.Context) error {
	c.mu.Lock()
	r := c.current
	if r == nil {
		c.mu.Unlock()
		return nil
	}
	if c.ended == nil {
		c.ended = make(chan struct{})
	}
	ended := c.ended
	c.mu.Unlock()
	tick := time.NewTicker(slowCallback)
	defer tick.Stop()
	for {
		select {
		case <-ended:
			return nil
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-tick.C:
			if start := r.leaving.Load(); start != 0 && time.Now().UnixNano()-start > int64(slowCallback) {
				return nil
			}
		}
	}
}

// Files returns the file system of a context, which its programs see as their
// own.
func (s *Stateful) Files(id codeinterp.ContextID) (*memfs.FS, error) {
	c, err := s.context(id)
	if err != nil {
		return nil, wrap("files", err)
	}
	return c.files, nil
}

// Close implements codeinterp.CodeInterpreter.
func (s *Stateful) Close() error {
	err := s.Interpreter.Close()
	s.mu.Lock()
	contexts := s.contexts
	s.contexts = map[codeinterp.ContextID]*state{}
	s.mu.Unlock()
	for _, c := range contexts {
		c.close(codeinterp.ErrClosed)
	}
	return err
}

// stopRun stops the run in progress and waits for its end. Without one it does
// nothing.
func (c *state) stopRun(ctx context.Context, cause error) error {
	c.mu.Lock()
	if c.current != nil {
		c.current.stop(cause)
	}
	c.mu.Unlock()
	return c.awaitEnd(ctx)
}
