package conformance

import (
	"context"
	"crypto/rand"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/toolcell/toolcell/codeinterp"
)

// A toy is a provider that keeps the whole contract, of a language made of
// line commands; see program. It is what the suite is tested with.
type toy struct {
	mu       sync.Mutex
	closed   chan struct{}
	active   sync.WaitGroup // calls, and what they leave running
	contexts []*toyContext
}

// A toyStateful is a toy with contexts.
type toyStateful struct{ *toy }

var (
	_ codeinterp.StatefulInterpreter = toyStateful{}
	_ codeinterp.ContextManager      = toyStateful{}
	_ codeinterp.Describer           = toyStateful{}
)

// A toyContext is a machine and the queue before it.
type toyContext struct {
	info    codeinterp.ContextInfo
	env     map[string]string
	deleted chan struct{}
	queue   fifo

	mu      sync.Mutex // guards what follows
	machine *machine
	current *toyRun
}

func newToy() toy { return toy{closed: make(chan struct{})} }

func newToyStateful() (codeinterp.CodeInterpreter, error) {
	t := newToy()
	return toyStateful{&t}, nil
}

func newToyStateless() (codeinterp.CodeInterpreter, error) {
	t := newToy()
	return &t, nil
}

func toyErr(op string, err error) error {
	if err == nil {
		return nil
	}
	return &codeinterp.Error{Provider: "toy", Op: op, Err: err}
}

func (t *toy) Languages() []string { return []string{"toy"} }

func (t *toy) Describe() codeinterp.Info {
	return codeinterp.Info{Provider: "toy", Languages: []codeinterp.LanguageInfo{{Name: "toy", Runtime: "toy 1"}},
		Isolation: codeinterp.Isolation{Backend: "engine", Filesystem: codeinterp.ReachBlocked, Network: codeinterp.ReachBlocked,
			Processes: codeinterp.ReachBlocked, Signals: codeinterp.ReachBlocked}}
}

// enter starts a call, unless the toy is closed.
func (t *toy) enter(ctx context.Context) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	select {
	case <-t.closed:
		return codeinterp.ErrClosed
	default:
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	t.active.Add(1)
	return nil
}

func (t *toy) RunCode(ctx context.Context, language, code string, opts *codeinterp.RunOptions) (codeinterp.Result, error) {
	if _, err := codeinterp.ResolveLanguage(language, t.Languages()); err != nil {
		return codeinterp.NotRun(), toyErr("run", err)
	}
	o, err := codeinterp.CheckRun(code, opts)
	if err == nil {
		err = t.enter(ctx)
	}
	if err != nil {
		return codeinterp.NotRun(), toyErr("run", err)
	}
	defer t.active.Done()
	m := newMachine(&t.active, nil)
	defer m.destroy()
	res, err := newToyRun(m, &o, t.closed, nil).run(ctx, code)
	res.StateLost, res.ExecutionCount = false, 0
	return res, toyErr("run", err)
}

func (t *toy) Close() error {
	t.mu.Lock()
	select {
	case <-t.closed:
	default:
		close(t.closed)
	}
	contexts := t.contexts
	t.contexts = nil
	t.mu.Unlock()
	for _, c := range contexts {
		c.destroy()
	}
	t.active.Wait()
	return nil
}

func (t toyStateful) CreateContext(ctx context.Context, language string, opts *codeinterp.ContextOptions) (codeinterp.ContextID, error) {
	language, err := codeinterp.ResolveLanguage(language, t.Languages())
	if err != nil {
		return "", toyErr("create context", err)
	}
	o, err := codeinterp.CheckContext(opts)
	if err == nil {
		err = t.enter(ctx)
	}
	if err != nil {
		return "", toyErr("create context", err)
	}
	defer t.active.Done()
	now := time.Now()
	c := &toyContext{env: o.Env, deleted: make(chan struct{}), machine: newMachine(&t.active, o.Env),
		info: codeinterp.ContextInfo{ID: codeinterp.ContextID(rand.Text()), Language: language, Cwd: o.Cwd, Created: now, LastUsed: now}}
	c.machine.cwd = o.Cwd
	t.mu.Lock()
	defer t.mu.Unlock()
	select {
	case <-t.closed:
		return "", toyErr("create context", codeinterp.ErrClosed)
	default:
	}
	t.contexts = append(t.contexts, c)
	return c.info.ID, nil
}

// lookup finds a context and starts a call.
func (t toyStateful) lookup(ctx context.Context, id codeinterp.ContextID) (*toyContext, error) {
	if err := t.enter(ctx); err != nil {
		return nil, err
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, c := range t.contexts {
		if c.info.ID == id {
			return c, nil
		}
	}
	t.active.Done()
	return nil, codeinterp.ErrContext
}

func (t toyStateful) RunInContext(ctx context.Context, id codeinterp.ContextID, code string, opts *codeinterp.RunOptions) (codeinterp.Result, error) {
	o, err := codeinterp.CheckRun(code, opts)
	if err != nil {
		return codeinterp.NotRun(), toyErr("run in context", err)
	}
	c, err := t.lookup(ctx, id)
	if err != nil {
		return codeinterp.NotRun(), toyErr("run in context", err)
	}
	defer t.active.Done()
	if err := c.queue.lock(ctx, t.closed, c.deleted); err != nil {
		return codeinterp.NotRun(), toyErr("run in context", err)
	}
	defer c.queue.unlock()
	res, err := c.begin(&o, t.closed).run(ctx, code)
	c.end()
	return res, toyErr("run in context", err)
}

func (c *toyContext) begin(o *codeinterp.RunOptions, closed chan struct{}) *toyRun {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.info.LastUsed, c.info.Busy = time.Now(), true
	c.current = newToyRun(c.machine, o, closed, c.deleted)
	return c.current
}

func (c *toyContext) end() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.current, c.info.Busy = nil, false
}

// destroy ends the context's run and frees its machine.
func (c *toyContext) destroy() {
	c.mu.Lock()
	defer c.mu.Unlock()
	select {
	case <-c.deleted:
	default:
		close(c.deleted)
	}
	c.machine.destroy()
}

func (t toyStateful) DeleteContext(ctx context.Context, id codeinterp.ContextID) error {
	c, err := t.lookup(ctx, id)
	if err != nil {
		return toyErr("delete context", err)
	}
	defer t.active.Done()
	t.mu.Lock()
	t.contexts = slices.DeleteFunc(t.contexts, func(other *toyContext) bool { return other == c })
	t.mu.Unlock()
	c.destroy()
	return nil
}

func (t toyStateful) ListContexts(ctx context.Context) ([]codeinterp.ContextInfo, error) {
	if err := t.enter(ctx); err != nil {
		return nil, toyErr("list contexts", err)
	}
	defer t.active.Done()
	t.mu.Lock()
	defer t.mu.Unlock()
	var list []codeinterp.ContextInfo
	for _, c := range t.contexts {
		c.mu.Lock()
		info := c.info
		c.mu.Unlock()
		info.Queued = c.queue.waiting()
		list = append(list, info)
	}
	return list, nil
}

func (t toyStateful) RestartContext(ctx context.Context, id codeinterp.ContextID) error {
	c, err := t.lookup(ctx, id)
	if err != nil {
		return toyErr("restart context", err)
	}
	defer t.active.Done()
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.current != nil {
		c.current.end(endRestart, nil)
		return nil
	}
	c.machine.reset()
	return nil
}

func (t toyStateful) InterruptContext(ctx context.Context, id codeinterp.ContextID) error {
	c, err := t.lookup(ctx, id)
	if err != nil {
		return toyErr("interrupt context", err)
	}
	defer t.active.Done()
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.current != nil {
		c.current.end(endInterrupt, nil)
	}
	return nil
}

// A fifo is a lock whose waiters are served in order.
type fifo struct {
	mu    sync.Mutex
	held  bool
	queue []chan struct{}
}

func (f *fifo) lock(ctx context.Context, closed, deleted <-chan struct{}) error {
	f.mu.Lock()
	if !f.held {
		f.held = true
		f.mu.Unlock()
		return nil
	}
	turn := make(chan struct{})
	f.queue = append(f.queue, turn)
	f.mu.Unlock()
	var err error
	select {
	case <-turn:
	case <-ctx.Done():
		err = context.Cause(ctx)
	case <-closed:
		err = codeinterp.ErrClosed
	case <-deleted:
		err = codeinterp.ErrContext
	}
	for _, ended := range []struct {
		c   <-chan struct{}
		err error
	}{{deleted, codeinterp.ErrContext}, {closed, codeinterp.ErrClosed}, {ctx.Done(), context.Cause(ctx)}} {
		select {
		case <-ended.c:
			err = ended.err
		default:
		}
	}
	if err != nil {
		f.leave(turn)
	}
	return err
}

// leave gives up a place in the queue, or the lock where its turn had come.
func (f *fifo) leave(turn chan struct{}) {
	f.mu.Lock()
	i := slices.Index(f.queue, turn)
	if i >= 0 {
		f.queue = slices.Delete(f.queue, i, i+1)
	}
	f.mu.Unlock()
	if i < 0 {
		f.unlock()
	}
}

func (f *fifo) unlock() {
	f.mu.Lock()
	defer f.mu.Unlock()
	if len(f.queue) == 0 {
		f.held = false
		return
	}
	close(f.queue[0])
	f.queue = f.queue[1:]
}

func (f *fifo) waiting() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return len(f.queue)
}

var errToyKilled = errors.New("killed")
