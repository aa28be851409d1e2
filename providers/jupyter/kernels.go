package jupyter

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"strings"
	"time"

	"github.com/toolcell/toolcell/codeinterp"
)

// killTimeout bounds a call that ends a kernel: servers wait some 5 s for one
// that does not answer before they kill it.
const killTimeout = 20 * time.Second

// kernelModel is the server's description of a kernel.
type kernelModel struct {
	ID           string    `json:"id"`
	Name         string    `json:"name"`
	State        string    `json:"execution_state"`
	Connections  int       `json:"connections"`
	LastActivity time.Time `json:"last_activity"`
}

// sessionModel is the server's description of a session, which is how a kernel
// gets a name that others can see.
type sessionModel struct {
	ID     string      `json:"id"`
	Path   string      `json:"path"`
	Name   string      `json:"name"`
	Kernel kernelModel `json:"kernel"`
}

// A handle names a kernel on the server, and the session that tags it, if any.
type handle struct {
	kernel, session string
}

// sessionPath is the path prefix that marks the sessions of a tag.
func sessionPath(tag string) string { return "toolcell/" + tag + "/" }

// startKernel starts a kernel in a session that carries the tag, or, where the
// server has no sessions or needs an environment, a bare kernel. It goes on
// after ctx was canceled, and then deletes what it started.
func (c *client) startKernel(ctx context.Context, spec string, done func()) (handle, error) {
	type started struct {
		h   handle
		err error
	}
	ch := make(chan started, 1)
	long, cancel := context.WithTimeoutCause(context.WithoutCancel(ctx), c.opts.StartTimeout,
		unavailable("the server started no kernel within %v", c.opts.StartTimeout))
	go func() {
		defer done()
		defer cancel()
		h, err := c.postKernel(long, spec)
		if err == nil && ctx.Err() != nil {
			err = errors.Join(context.Cause(ctx), c.deleteKernel(ctx, h))
		}
		ch <- started{h, err}
	}()
	select {
	case s := <-ch:
		return s.h, s.err
	case <-ctx.Done():
	}
	return handle{}, context.Cause(ctx)
}

// postKernel starts a kernel, waiting for a server that is starting. A session
// of the same path is the same session, so it can be asked for again.
func (c *client) postKernel(ctx context.Context, spec string) (handle, error) {
	if len(c.opts.KernelEnv) > 0 {
		return c.postBareKernel(ctx, spec)
	}
	var s sessionModel
	path := sessionPath(c.opts.Tag) + rand.Text()
	err := c.await(ctx, func(context.Context) error {
		return c.do(ctx, http.MethodPost, "api/sessions", map[string]any{
			"path": path, "name": "toolcell " + c.opts.Tag, "type": "toolcell",
			"kernel": map[string]string{"name": spec},
		}, &s)
	})
	if err == nil && s.Kernel.ID == "" {
		err = unavailable("the server started a session without a kernel")
	}
	if e, ok := errors.AsType[*StatusError](err); ok && (e.Code == 404 || e.Code == 405) {
		return c.postBareKernel(ctx, spec)
	}
	return handle{s.Kernel.ID, s.ID}, unknownSpec(err, spec)
}

func (c *client) postBareKernel(ctx context.Context, spec string) (handle, error) {
	env := map[string]string{"KERNEL_TOOLCELL_TAG": c.opts.Tag}
	maps.Copy(env, c.opts.KernelEnv)
	var k kernelModel
	err := c.do(ctx, http.MethodPost, "api/kernels", map[string]any{"name": spec, "env": env}, &k)
	return handle{kernel: k.ID}, unknownSpec(err, spec)
}

// unknownSpec says which kernelspec the server did not start.
func unknownSpec(err error, spec string) error {
	if e, ok := errors.AsType[*StatusError](err); ok && e.Code >= 500 && e.Code <= 501 {
		e.Hint = fmt.Sprintf("the server did not start the kernelspec %q", spec)
	}
	return err
}

// deleteKernel ends a kernel and what runs in it. A kernel that is gone is
// not an error.
func (c *client) deleteKernel(ctx context.Context, h handle) error {
	if h.session != "" {
		err := c.call(ctx, killTimeout, http.MethodDelete, "api/sessions/"+h.session, nil, nil)
		if err == nil {
			// A restart at the same moment can outlive the session.
			_, err = c.kernelState(ctx, h.kernel, requestTimeout)
		}
		if e, refused := errors.AsType[*StatusError](err); err != nil && (!refused || e.Code == 404 && e.Request == "GET api/kernels/"+h.kernel) {
			return ignoreGone(err)
		}
	}
	err := c.call(ctx, killTimeout, http.MethodDelete, "api/kernels/"+h.kernel, nil, nil)
	return ignoreGone(err)
}

func ignoreGone(err error) error {
	if isGone(err) {
		return nil
	}
	return err
}

// isGone reports whether err says that the kernel does not exist.
func isGone(err error) bool { return errors.Is(err, codeinterp.ErrContext) }

func (c *client) kernelState(ctx context.Context, id string, limit time.Duration) (kernelModel, error) {
	var k kernelModel
	err := c.call(ctx, limit, http.MethodGet, "api/kernels/"+id, nil, &k)
	return k, err
}

func (c *client) interruptKernel(ctx context.Context, id string, limit time.Duration) error {
	return c.call(ctx, limit, http.MethodPost, "api/kernels/"+id+"/interrupt", nil, nil)
}

func (c *client) restartKernel(ctx context.Context, id string) error {
	return c.call(ctx, killTimeout, http.MethodPost, "api/kernels/"+id+"/restart", nil, nil)
}

// Sweep deletes the kernels that clients with the tag of opts left behind when
// they crashed: those that no client is connected to and that had no activity
// for idle. It returns how many it deleted. Servers that do not list sessions,
// as gateways by default, refuse with a *StatusError.
func Sweep(ctx context.Context, opts *Options, idle time.Duration) (int, error) {
	o, err := opts.check()
	if err != nil {
		return 0, wrap("sweep", err)
	}
	c, err := newClient(&o)
	if err != nil {
		return 0, wrap("sweep", err)
	}
	defer c.close()
	n, err := c.sweep(ctx, idle)
	return n, wrap("sweep", err)
}

func (c *client) sweep(ctx context.Context, idle time.Duration) (int, error) {
	var sessions []sessionModel
	if err := c.call(ctx, requestTimeout, http.MethodGet, "api/sessions", nil, &sessions); err != nil {
		return 0, err
	}
	n := 0
	var errs []error
	for _, s := range sessions {
		if !strings.HasPrefix(s.Path, sessionPath(c.opts.Tag)) || s.Kernel.Connections > 0 ||
			time.Since(s.Kernel.LastActivity) < idle {
			continue
		}
		if err := c.deleteKernel(ctx, handle{s.Kernel.ID, s.ID}); err != nil {
			errs = append(errs, err)
			continue
		}
		n++
	}
	return n, errors.Join(errs...)
}
