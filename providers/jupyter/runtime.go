package jupyter

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/toolcell/toolcell/codeinterp/driver"
	"github.com/toolcell/toolcell/providers/jupyter/internal/kernel"
	"github.com/toolcell/toolcell/providers/jupyter/internal/server"
)

const provider = "jupyter"

const (
	// patience is how long a call may take that ends something: servers wait
	// some seconds for a kernel that does not answer before they kill it.
	patience = 30 * time.Second
)

// A runtime starts kernels for the driver.
type runtime struct {
	opts      Options
	c         *server.Client
	kinds     map[string]kernel.Kind
	languages []string
	pool      *pool

	closing context.Context // ends with Close
	close   context.CancelFunc
	starts  context.Context // of kernels; ends when Close gives them up
	giveUp  context.CancelFunc
	work    sync.WaitGroup // in the background

	mu      sync.Mutex
	closed  bool
	orphans []string // kernels that could not be deleted yet
}

// open connects to a server. A nil error comes with a runtime to close.
func open(ctx context.Context, opts *Options) (*runtime, error) {
	o, err := opts.check()
	if err != nil {
		return nil, err
	}
	rt := &runtime{opts: o}
	if rt.c, err = server.New(o.server()); err != nil {
		return nil, err
	}
	rt.closing, rt.close = context.WithCancel(context.Background())
	rt.starts, rt.giveUp = context.WithCancel(context.Background())
	if err := rt.learn(ctx); err != nil {
		rt.close()
		rt.giveUp()
		rt.c.Close()
		return nil, err
	}
	return rt, nil
}

// learn asks the server for its languages.
func (rt *runtime) learn(ctx context.Context) error {
	if err := rt.c.EnsureServer(ctx); err != nil {
		return err
	}
	list, err := rt.c.Specs(ctx)
	if err != nil {
		return err
	}
	if rt.kinds, err = pick(list, rt.opts.Kernels); err != nil {
		return err
	}
	rt.languages = slices.Sorted(maps.Keys(rt.kinds))
	rt.pool, err = newPool(rt, rt.opts.Warm)
	return err
}

// config is what the driver has to know. A context may need time for a server
// that is starting, and for its kernel.
func (rt *runtime) config() driver.Config {
	return driver.Config{Grace: rt.opts.Grace, Patience: patience, Idle: rt.opts.ContextIdle, StartLimit: rt.opts.StartTimeout}
}

// Start implements driver.Runtime.
func (rt *runtime) Start(ctx context.Context, o driver.Options) (driver.Session, error) {
	kind := rt.kinds[o.Language]
	if o.Cwd == "" && (kind.Moves() || rt.opts.Dir != ".") {
		o.Cwd = rt.opts.Dir
	}
	for tries := 1; ; tries++ {
		k, err := rt.pool.take(kind.Language), error(nil)
		if k == nil {
			if k, err = rt.newKernel(ctx, kind); err != nil {
				return nil, err
			}
		}
		s := newSession(rt, kind, o, k)
		if err = s.furnish(ctx); err == nil {
			return s, nil
		}
		err = errors.Join(err, rt.takeBack(ctx, k))
		// A warm kernel may have died.
		if tries == maxStarts || !errors.Is(err, kernel.ErrNeverRan) {
			return nil, err
		}
	}
}

// background calls f in the background, unless the runtime is closed.
func (rt *runtime) background(f func()) bool {
	rt.mu.Lock()
	defer rt.mu.Unlock()
	if !rt.closed {
		rt.work.Go(f)
	}
	return !rt.closed
}

// discard deletes a kernel on the server and drops its socket. One that cannot
// be deleted is remembered, and tried again by Close.
func (rt *runtime) discard(ctx context.Context, k *kernel.Kernel) error {
	err := k.Delete(ctx)
	if err != nil {
		rt.mu.Lock()
		defer rt.mu.Unlock()
		if !slices.Contains(rt.orphans, k.ID) {
			rt.orphans = append(rt.orphans, k.ID)
		}
	}
	return err
}

// discardLater discards a kernel in the background, at once if Close is under way.
func (rt *runtime) discardLater(k *kernel.Kernel) (done <-chan error) {
	ch := make(chan error, 1)
	end := func() { ch <- rt.discard(context.Background(), k) }
	if !rt.background(end) {
		end()
	}
	return ch
}

// discardWithin is discard, which continues in the background once ctx has ended.
func (rt *runtime) discardWithin(ctx context.Context, k *kernel.Kernel) error {
	select {
	case err := <-rt.discardLater(k):
		return err
	case <-ctx.Done():
		return nil // Close tries again, and reports the failure
	}
}

// leaveLimit is how long a call waits for its kernel's end after its ctx.
const leaveLimit = 2 * time.Second

// takeBack discards a kernel that was started in vain, also if ctx has ended.
func (rt *runtime) takeBack(ctx context.Context, k *kernel.Kernel) error {
	long, cancel := context.WithCancel(context.WithoutCancel(ctx))
	defer cancel()
	defer context.AfterFunc(ctx, func() { time.AfterFunc(leaveLimit, cancel) })()
	return rt.discardWithin(long, k)
}

// finishLimit is how long Close waits for the background. The answer to a kernel's start is
// the one thing there that may take longer, and the kernel has to be deleted then.
const finishLimit = server.KillTimeout - 4*time.Second

// orphanLimit is how long Close tries to delete kernels that could not be deleted before.
const orphanLimit = 5 * time.Second

// Close implements driver.Runtime: it deletes, all at once, the warm kernels and
// those that could not be deleted before.
func (rt *runtime) Close(ctx context.Context) error {
	rt.close()
	rt.mu.Lock()
	rt.closed = true
	rt.mu.Unlock()
	late := time.AfterFunc(finishLimit, rt.giveUp)
	rt.work.Wait()
	late.Stop()
	rt.giveUp()
	rt.mu.Lock()
	// After the work, which can leave kernels behind.
	orphans := rt.orphans
	rt.orphans = nil
	rt.mu.Unlock()
	ctx, cancel := context.WithTimeoutCause(ctx, orphanLimit, server.Unavailable("the server did not delete it within %v", orphanLimit))
	defer cancel()
	errs := make([]error, len(orphans))
	var all sync.WaitGroup
	for i, id := range orphans {
		all.Go(func() {
			if err := rt.c.DeleteKernel(ctx, id); err != nil {
				errs[i] = fmt.Errorf("kernel %s is still there: %w", id, err)
			}
		})
	}
	all.Wait()
	rt.c.Close()
	return errors.Join(errs...)
}
