package jupyter

import (
	"context"
	"errors"
	"net/http"
	"strings"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/providers/jupyter/internal/kernel"
	"github.com/toolcell/toolcell/providers/jupyter/internal/server"
)

// maxStarts is how often a kernel is started that dies before it is ready: the ports that
// servers choose for kernels can collide.
const maxStarts = 3

// newKernel starts a kernel and waits until it is ready.
func (rt *runtime) newKernel(ctx context.Context, kind kernel.Kind) (*kernel.Kernel, error) {
	// The driver, whose limit is the same, does not know what was waited for.
	ctx, cancel := context.WithTimeoutCause(ctx, rt.opts.StartTimeout*19/20,
		server.Unavailable("the kernel was not ready within %v", rt.opts.StartTimeout))
	defer cancel()
	for n := 1; ; n++ {
		k, err := rt.tryStart(ctx, kind)
		died := errors.Is(err, kernel.ErrGone)
		// Servers answer so if a kernel dies before they answer.
		e, refused := errors.AsType[*StatusError](err)
		failed := refused && e.Code == http.StatusInternalServerError && strings.HasPrefix(e.Request, "POST ")
		if !died && !failed {
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

// tryStart is newKernel, once. The kernel of a caller that has gone is deleted when it has
// started.
func (rt *runtime) tryStart(ctx context.Context, kind kernel.Kind) (*kernel.Kernel, error) {
	type started struct {
		id  string
		err error
	}
	ch := make(chan started) // unbuffered: either the caller has the kernel or it is deleted
	if !rt.background(func() {
		id, err := rt.c.StartKernel(rt.starts, kind.Name)
		select {
		case ch <- started{id, err}:
		case <-ctx.Done():
			if err == nil {
				_ = rt.discard(context.Background(), kernel.New(rt.c, kind, id))
			}
		}
	}) {
		return nil, codeinterp.ErrClosed
	}
	select {
	case s := <-ch:
		if s.err != nil {
			return nil, s.err
		}
		k := kernel.New(rt.c, kind, s.id)
		if err := k.Ensure(ctx, nil); err != nil {
			return nil, errors.Join(err, rt.takeBack(ctx, k))
		}
		return k, nil
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}
