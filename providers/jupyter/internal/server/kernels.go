package server

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"time"

	"github.com/toolcell/toolcell/codeinterp"
)

// KillTimeout bounds a call that ends a kernel: servers wait some 5 s for one
// that does not answer before they kill it, and answer a restart when the new
// process does.
const KillTimeout = 24 * time.Second

// A Kernel is the server's description of a kernel.
type Kernel struct {
	ID          string `json:"id"`
	Name        string `json:"name"`
	State       string `json:"execution_state"`
	Connections int    `json:"connections"`
}

// A Session is the server's description of an open notebook.
type Session struct {
	Path   string `json:"path"`
	Kernel Kernel `json:"kernel"`
}

// StartKernel starts a kernel, waiting for a server that is starting.
func (c *Client) StartKernel(ctx context.Context, spec string) (id string, err error) {
	ctx, cancel := context.WithTimeoutCause(ctx, c.cfg.StartTimeout,
		Unavailable("the server started no kernel within %v", c.cfg.StartTimeout))
	defer cancel()
	// The path is that of the server's own directory.
	body := map[string]any{"name": spec, "path": ""}
	if len(c.cfg.KernelEnv) > 0 {
		body["env"] = c.cfg.KernelEnv
	}
	var k Kernel
	waited := c.Await(ctx, func(context.Context) error {
		err = c.do(ctx, http.MethodPost, "api/kernels", body, &k)
		// Once it was sent, a second request would make it two kernels.
		if op, ok := errors.AsType[*net.OpError](err); ok && op.Op == "dial" {
			return err
		}
		return nil
	})
	if e, ok := errors.AsType[*StatusError](err); ok && e.Code >= 500 && e.Code <= 501 {
		e.Hint = fmt.Sprintf("the server did not start the kernelspec %q", spec)
	}
	if err == nil && k.ID == "" {
		err = Unavailable("the server started a kernel and did not say which")
	}
	return k.ID, cmp.Or(waited, err)
}

// DeleteKernel ends a kernel and what runs in it. A kernel that is gone is
// not an error. It takes at most KillTimeout.
func (c *Client) DeleteKernel(ctx context.Context, id string) error {
	ctx, cancel := context.WithTimeoutCause(ctx, KillTimeout,
		Unavailable("the server did not delete the kernel within %v", KillTimeout))
	defer cancel()
	c.afresh()
	for {
		err := c.do(ctx, http.MethodDelete, "api/kernels/"+id, nil, nil)
		if IsGone(err) {
			return nil
		}
		if e, ok := errors.AsType[*StatusError](err); !ok || e.Code != http.StatusInternalServerError {
			return err
		}
		// Servers fail so while they restart the kernel, and some when one
		// ends faster than they expect.
		if Wait(ctx, deletePause) != nil {
			return err
		}
		if _, gone := c.State(ctx, id); IsGone(gone) {
			return nil
		}
	}
}

// deletePause is the time between two tries to delete a kernel.
const deletePause = time.Second

// IsGone reports whether err says that the kernel does not exist.
func IsGone(err error) bool { return errors.Is(err, codeinterp.ErrContext) }

// State returns a kernel as the server sees it at present.
func (c *Client) State(ctx context.Context, id string) (k Kernel, err error) {
	if err = c.call(ctx, stateLimit, http.MethodGet, "api/kernels/"+id, &k); err != nil {
		c.afresh()
	}
	return k, err
}

// stateLimit is how long a server has to report a kernel's state.
const stateLimit = 10 * time.Second

// afresh makes the next call open a connection, for calls that cannot wait for a dead one.
func (c *Client) afresh() { c.http.CloseIdleConnections() }

// Interrupt makes the server interrupt a kernel.
func (c *Client) Interrupt(ctx context.Context, id string) error {
	c.afresh()
	return c.call(ctx, requestTimeout, http.MethodPost, "api/kernels/"+id+"/interrupt", nil)
}

// Restart makes the server end a kernel's process and start another.
func (c *Client) Restart(ctx context.Context, id string) error {
	c.afresh()
	return c.call(ctx, KillTimeout, http.MethodPost, "api/kernels/"+id+"/restart", nil)
}

// Sessions lists the server's sessions.
func (c *Client) Sessions(ctx context.Context) (list []Session, err error) {
	err = c.call(ctx, requestTimeout, http.MethodGet, "api/sessions", &list)
	return list, err
}
