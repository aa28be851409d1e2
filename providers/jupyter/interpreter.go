package jupyter

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/toolcell/toolcell/codeinterp"
)

const provider = "jupyter"

// restartWindow is how long after a kernel's death a server may restart it.
const restartWindow = 5 * time.Second

// An Interpreter runs each piece of code in a kernel of its own. It is safe
// for concurrent use.
type Interpreter struct {
	c         *client
	opts      Options
	runtimes  map[string]runtime
	languages []string

	closing chan struct{}
	closed  sync.Once
	closeEr error
	mu      sync.Mutex
	shut    bool
	ops     sync.WaitGroup // calls in progress, and work in the background
	orphans []handle       // kernels that could not be deleted yet
	pool    *pool
}

var (
	_ codeinterp.CodeInterpreter = (*Interpreter)(nil)
	_ codeinterp.Describer       = (*Interpreter)(nil)
)

// New connects to a server and learns its languages. A server that is starting
// is waited for. ctx bounds New alone.
func New(ctx context.Context, opts *Options) (*Interpreter, error) {
	it, err := open(ctx, opts)
	return it, wrap("connect", err)
}

func open(ctx context.Context, opts *Options) (*Interpreter, error) {
	o, err := opts.check()
	if err != nil {
		return nil, err
	}
	it := &Interpreter{opts: o, closing: make(chan struct{})}
	if it.c, err = newClient(&it.opts); err != nil {
		return nil, err
	}
	if err := it.c.ensureServer(ctx); err != nil {
		it.c.close()
		return nil, err
	}
	if it.runtimes, err = it.c.runtimes(ctx); err != nil {
		it.c.close()
		return nil, err
	}
	it.languages = slices.Sorted(maps.Keys(it.runtimes))
	if it.pool, err = newPool(it, o.Warm); err != nil {
		it.c.close()
		return nil, err
	}
	return it, nil
}

// Languages lists the languages that the server's kernels serve.
func (it *Interpreter) Languages() []string { return slices.Clone(it.languages) }

// RunCode starts a kernel, or takes a warm one, runs code in it and deletes
// it. The kernel is gone when RunCode returns, unless the program left nothing
// that could run on.
func (it *Interpreter) RunCode(ctx context.Context, language, code string, opts *codeinterp.RunOptions) (codeinterp.Result, error) {
	res, err := it.runCode(ctx, language, code, opts)
	return res, wrap("run", err)
}

func (it *Interpreter) runCode(ctx context.Context, language, code string, opts *codeinterp.RunOptions) (codeinterp.Result, error) {
	rt, o, done, err := it.enter(ctx, language, code, opts)
	if err != nil {
		return codeinterp.NotRun(), err
	}
	defer done()
	for again := false; ; again = true {
		k, err := it.kernel(ctx, rt, again)
		if err != nil {
			return codeinterp.NotRun(), err
		}
		dead, idle := false, false
		kill := func(bool) error {
			dead = true
			return it.discard(k)
		}
		res, err := it.runPrepared(ctx, k, code, o, true, control{closing: it.closing, kill: kill, idle: &idle})
		if !dead {
			it.retire(k, idle || res.Status == codeinterp.StatusError && k.idle())
		}
		if errors.Is(err, errNeverRan) && !again {
			continue
		}
		res.StateLost = false
		return res, err
	}
}

// enter checks a run's arguments and registers it as a call in progress.
func (it *Interpreter) enter(ctx context.Context, language, code string, opts *codeinterp.RunOptions) (runtime, codeinterp.RunOptions, func(), error) {
	language, err := codeinterp.ResolveLanguage(language, it.languages)
	if err != nil {
		return runtime{}, codeinterp.RunOptions{}, nil, err
	}
	rt := it.runtimes[language]
	o, err := codeinterp.CheckRun(code, opts)
	if err != nil {
		return rt, o, nil, err
	}
	if err := checkRequest(code); err != nil {
		return rt, o, nil, err
	}
	if ctx.Err() != nil {
		return rt, o, nil, context.Cause(ctx)
	}
	if !it.begin() {
		return rt, o, nil, codeinterp.ErrClosed
	}
	return rt, o, it.ops.Done, nil
}

// maxRequest is what servers accept in one message by default, less what
// stands around the code. A larger one costs the socket.
const maxRequest = 10<<20 - 4<<10

// checkRequest refuses code that is too large once it is escaped.
func checkRequest(code string) error {
	if len(code) < maxRequest/6 {
		return nil
	}
	b, err := json.Marshal(code)
	if err == nil && len(b) > maxRequest {
		err = fmt.Errorf("%w: code of %d bytes takes %d in a message, and servers accept %d; put data into a file",
			codeinterp.ErrInvalid, len(code), len(b), maxRequest)
	}
	return err
}

// begin registers a call in progress, if the interpreter is open.
func (it *Interpreter) begin() bool {
	it.mu.Lock()
	defer it.mu.Unlock()
	if it.shut {
		return false
	}
	it.ops.Add(1)
	return true
}

// bound returns a context that also ends when the interpreter closes.
func (it *Interpreter) bound(ctx context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancelCause(ctx)
	stop := make(chan struct{})
	go func() {
		select {
		case <-it.closing:
			cancel(codeinterp.ErrClosed)
		case <-stop:
		case <-ctx.Done():
		}
	}()
	return ctx, func() { close(stop); cancel(nil) }
}

// kernel returns a kernel that is ready. It can be a warm one, unless it is to
// be new, since one of those was found dead.
func (it *Interpreter) kernel(ctx context.Context, rt runtime, isNew bool) (*kernel, error) {
	if !isNew {
		if k := it.pool.take(rt.language); k != nil {
			return k, nil
		}
	}
	return it.newKernel(ctx, rt)
}

func (it *Interpreter) newKernel(ctx context.Context, rt runtime) (*kernel, error) {
	ctx, cancel := it.bound(ctx)
	defer cancel()
	it.ops.Add(1)
	h, err := it.c.startKernel(ctx, rt.name, it.ops.Done)
	if err != nil {
		return nil, err
	}
	k := newKernel(it.c, rt, h)
	if err := k.ensure(ctx); err != nil {
		if derr := it.discard(k); derr != nil {
			err = errors.Join(err, derr)
		}
		if errors.Is(err, errGone) {
			err = unavailable("the kernel %q died while it was starting", rt.name)
		}
		return nil, err
	}
	return k, nil
}

// discard deletes a kernel on the server and drops its socket. One that cannot
// be deleted is remembered, and tried again by Close.
//
// A server that is about to restart a kernel that died can do so after the
// deletion, so those are deleted again.
func (it *Interpreter) discard(k *kernel) error {
	if k.diedLately() {
		it.ops.Add(1)
		go func() {
			defer it.ops.Done()
			time.Sleep(restartWindow)
			_ = it.c.deleteKernel(context.Background(), k.handle)
		}()
	}
	err := it.c.deleteKernel(context.Background(), k.handle)
	if err != nil {
		it.leave(k)
	}
	k.drop()
	return err
}

// leave remembers a kernel that could not be ended.
func (it *Interpreter) leave(k *kernel) {
	k.drop()
	it.mu.Lock()
	defer it.mu.Unlock()
	it.orphans = append(it.orphans, k.handle)
}

// retire deletes the kernel of a run that has ended: in the background where
// nothing of the program runs on, and else at once.
func (it *Interpreter) retire(k *kernel, idle bool) {
	if idle {
		it.ops.Go(func() { _ = it.discard(k) })
		return
	}
	if clear := k.rt.dialect.clear; clear != "" && !k.isDown() {
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		_ = k.hidden(ctx, clear)
	}
	_ = it.discard(k)
}

// Close ends all runs, deletes the kernels that this client started, and
// returns when that is done. An error tells of kernels that are still there.
func (it *Interpreter) Close() error {
	it.closed.Do(func() { it.closeEr = wrap("close", it.close(nil)) })
	return it.closeEr
}

// close runs more before the last kernels go.
func (it *Interpreter) close(more func()) error {
	it.mu.Lock()
	it.shut = true
	it.mu.Unlock()
	close(it.closing)
	it.pool.close()
	if more != nil {
		more()
	}
	it.ops.Wait()
	it.mu.Lock()
	orphans := it.orphans
	it.orphans = nil
	it.mu.Unlock()
	var errs []error
	for _, h := range orphans {
		if err := it.c.deleteKernel(context.Background(), h); err != nil {
			errs = append(errs, fmt.Errorf("kernel %s is still there: %w", h.kernel, err))
		}
	}
	it.c.close()
	return errors.Join(errs...)
}

// wrap puts the provider's error around err, once.
func wrap(op string, err error) error {
	if err == nil {
		return nil
	}
	if _, ok := errors.AsType[*codeinterp.Error](err); ok {
		return err
	}
	return &codeinterp.Error{Provider: provider, Op: op, Err: err}
}
