package jupyter

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"sync/atomic"
	"time"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/providers/jupyter/internal/kernel"
	"github.com/toolcell/toolcell/providers/jupyter/internal/server"
)

// newKernel starts a kernel and waits until it is ready. One that dies at birth
// is started again.
func (rt *runtime) newKernel(ctx context.Context, kind kernel.Kind) (*kernel.Kernel, error) {
	// The driver, whose limit is the same, does not know what was waited for.
	ctx, cancel := context.WithTimeoutCause(ctx, rt.opts.StartTimeout*19/20,
		server.Unavailable("the kernel was not ready within %v", rt.opts.StartTimeout))
	defer cancel()
	for n := 1; ; n++ {
		k, err := rt.startHedged(ctx, kind)
		died := errors.Is(err, kernel.ErrGone)
		if !died && !failedToStart(err) {
			return k, err
		}
		rt.opts.Log.Warn("a kernel died while it was starting", "kernelspec", kind.Name, "start", n, "of", maxStarts)
		switch {
		case n < maxStarts:
		case died:
			return nil, server.Unavailable("the kernel %q died while it was starting, %d times", kind.Name, maxStarts)
		default:
			return nil, err
		}
	}
}

// failedToStart reports whether a server says that a kernel did not start. So it calls
// one that dies before the server has answered: the ports that Jupyter
// chooses for many at once are in use.
func failedToStart(err error) bool {
	e, refused := errors.AsType[*StatusError](err)
	return refused && e.Code == http.StatusInternalServerError && strings.HasPrefix(e.Request, "POST ")
}

// leastSilence is how long a kernel that starts has at least before another one is
// started beside it.
const leastSilence = 15 * time.Second

// startHedged starts a kernel. If it has said nothing after half of the time, another one
// is started beside it, and the first that is ready is taken: ipykernel that finds its
// ports in use can hang as its process ends, and to its server it goes on starting.
func (rt *runtime) startHedged(ctx context.Context, kind kernel.Kind) (*kernel.Kernel, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	type result struct {
		k   *kernel.Kernel
		err error
	}
	all := make(chan result, 2) // as many as there can be
	var started atomic.Bool
	one := func() {
		k, err := rt.startOne(ctx, kind, func() { started.Store(true) })
		all <- result{k, err}
	}
	late := time.NewTimer(leastSilence)
	defer late.Stop()
	if end, ok := ctx.Deadline(); ok {
		late.Reset(max(time.Until(end)/2, leastSilence))
	}
	go one()
	for n := 1; ; {
		select {
		case b := <-all:
			if n--; b.err != nil && n > 0 {
				continue
			}
			if n > 0 {
				cancel()
				rt.drop(func() *kernel.Kernel { return (<-all).k })
			}
			return b.k, b.err
		case <-late.C:
			if started.Load() {
				rt.opts.Log.Warn("a kernel says nothing, and another one is started beside it", "kernelspec", kind.Name)
				n++
				go one()
			}
		}
	}
}

// drop discards, in the background, the kernel that late returns, if it is not nil.
func (rt *runtime) drop(late func() *kernel.Kernel) {
	end := func() {
		if k := late(); k != nil {
			_ = rt.discard(context.Background(), k)
		}
	}
	if !rt.background(end) {
		end()
	}
}

// startOne starts a kernel, and calls started when it is the server's.
func (rt *runtime) startOne(ctx context.Context, kind kernel.Kind, started func()) (*kernel.Kernel, error) {
	if !rt.begin() {
		return nil, codeinterp.ErrClosed
	}
	h, err := rt.c.StartKernel(ctx, kind.Name, func(left *server.Handle) {
		if left != nil {
			rt.leave(*left)
		}
		rt.work.Done()
	})
	if err != nil {
		return nil, err
	}
	started()
	k := kernel.New(&rt.cfg, kind, h)
	if err := k.Ensure(ctx, nil); err != nil {
		return nil, errors.Join(err, rt.takeBack(ctx, k))
	}
	return k, nil
}
