package server

import (
	"context"
	"crypto/rand"
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

// A server that takes longer than liveAfter to end a kernel has liveLimit to answer any
// other request, or counts as gone: one that ends many kernels at once is slow.
const (
	liveAfter = 2 * time.Second
	liveLimit = 10 * time.Second
)

// whileAlive returns a ctx for a call that ends a kernel. It ends if the server shows no sign
// of life. done ends the watch.
func (c *Client) whileAlive(ctx context.Context, id string) (_ context.Context, done func()) {
	ctx, cancel := context.WithCancelCause(ctx)
	over := make(chan struct{})
	go func() {
		defer close(over)
		_ = Wait(ctx, liveAfter)
		for ctx.Err() == nil {
			one, stop := context.WithTimeout(ctx, liveLimit)
			_, _ = c.State(one, id)
			answered := one.Err() == nil
			stop()
			if answered {
				return
			}
			if time.Since(time.Unix(0, c.answered.Load())) > liveLimit {
				cancel(Unavailable("the server did not answer within %v", liveAfter+liveLimit))
			}
		}
	}()
	return ctx, func() { cancel(nil); <-over }
}

// A Kernel is the server's description of a kernel.
type Kernel struct {
	ID          string `json:"id"`
	Name        string `json:"name"`
	State       string `json:"execution_state"`
	Connections int    `json:"connections"`
}

// A Session is the server's description of a session, which is how a kernel
// gets a name that others can see.
type Session struct {
	ID     string `json:"id"`
	Path   string `json:"path"`
	Name   string `json:"name"`
	Kernel Kernel `json:"kernel"`
}

// A Handle names a kernel on the server, and its session, if any.
type Handle struct {
	Kernel, Session string
}

// StartKernel starts a kernel in a session, or a bare kernel if the server has no sessions
// or KernelEnv is set. After ctx was canceled it continues in the
// background and deletes the kernel; done is called at the end of that, with the kernel that
// could not be deleted, if any. Its Handle is empty if the server did not answer.
func (c *Client) StartKernel(ctx context.Context, spec string, done func(left *Handle)) (Handle, error) {
	type started struct {
		h   Handle
		err error
	}
	// Unbuffered, so that either the caller has the kernel or it is deleted.
	ch := make(chan started)
	long, cancel := context.WithTimeoutCause(context.WithoutCancel(ctx), c.cfg.StartTimeout,
		Unavailable("the server started no kernel within %v", c.cfg.StartTimeout))
	stop := context.AfterFunc(c.life, cancel)
	go func() {
		var left *Handle
		defer func() { done(left) }()
		defer cancel()
		defer stop()
		h, err := c.postKernel(long, spec)
		select {
		case ch <- started{h, err}:
		case <-ctx.Done():
			if err == nil && c.DeleteKernel(context.WithoutCancel(ctx), h) != nil {
				left = &h
			}
			if err != nil && long.Err() != nil {
				left = &Handle{}
			}
		}
	}()
	select {
	case s := <-ch:
		return s.h, s.err
	case <-ctx.Done():
	}
	return Handle{}, context.Cause(ctx)
}

// postKernel starts a kernel, waiting for a server that is starting. A session
// of the same path is the same session, so it can be asked for again.
func (c *Client) postKernel(ctx context.Context, spec string) (Handle, error) {
	if len(c.cfg.KernelEnv) > 0 {
		return c.postBareKernel(ctx, spec)
	}
	var s Session
	path := "toolcell/" + rand.Text()
	err := c.Await(ctx, func(context.Context) error {
		return c.do(ctx, http.MethodPost, "api/sessions", map[string]any{
			"path": path, "name": "toolcell", "type": "toolcell",
			"kernel": map[string]string{"name": spec},
		}, &s)
	})
	if err == nil && s.Kernel.ID == "" {
		err = Unavailable("the server started a session without a kernel")
	}
	// Gateways have no sessions by default.
	if e, ok := errors.AsType[*StatusError](err); ok && (e.Code == 404 || e.Code == 405) {
		return c.postBareKernel(ctx, spec)
	}
	return Handle{s.Kernel.ID, s.ID}, unknownSpec(err, spec)
}

func (c *Client) postBareKernel(ctx context.Context, spec string) (Handle, error) {
	body := map[string]any{"name": spec}
	if len(c.cfg.KernelEnv) > 0 {
		body["env"] = c.cfg.KernelEnv
	}
	var k Kernel
	// Not within Await: an answer that was lost would make it two kernels.
	err := c.do(ctx, http.MethodPost, "api/kernels", body, &k)
	return Handle{Kernel: k.ID}, unknownSpec(err, spec)
}

// unknownSpec says which kernelspec the server did not start.
func unknownSpec(err error, spec string) error {
	if e, ok := errors.AsType[*StatusError](err); ok && e.Code >= 500 && e.Code <= 501 {
		e.Hint = fmt.Sprintf("the server did not start the kernelspec %q", spec)
	}
	return err
}

// DeleteKernel ends a kernel and what runs in it. A kernel that is gone is
// not an error. It takes at most KillTimeout.
func (c *Client) DeleteKernel(ctx context.Context, h Handle) error {
	ctx, cancel := context.WithTimeoutCause(ctx, KillTimeout,
		Unavailable("the server did not delete the kernel within %v", KillTimeout))
	defer cancel()
	ctx, done := c.whileAlive(ctx, h.Kernel)
	defer done()
	c.afresh()
	if h.Session != "" {
		err := c.call(ctx, KillTimeout, http.MethodDelete, "api/sessions/"+h.Session, nil)
		if err == nil {
			// A restart at the same moment can outlive the session.
			_, err = c.State(ctx, h.Kernel)
		}
		// The kernel can outlive its session.
		if e, refused := errors.AsType[*StatusError](err); err != nil && (!refused || e.Code == 404 && e.Request == "GET api/kernels/"+h.Kernel) {
			return IgnoreGone(err)
		}
	}
	for {
		err := c.call(ctx, KillTimeout, http.MethodDelete, "api/kernels/"+h.Kernel, nil)
		if e, ok := errors.AsType[*StatusError](err); !ok || e.Code != http.StatusInternalServerError {
			return IgnoreGone(err)
		}
		// Servers fail so while they restart the kernel, and some when one
		// ends faster than they expect.
		if Wait(ctx, deletePause) != nil {
			return err
		}
		if _, gone := c.State(ctx, h.Kernel); IsGone(gone) {
			return nil
		}
	}
}

// deletePause is the time between two tries to delete a kernel.
const deletePause = time.Second

// IgnoreGone is err, but nil if the kernel does not exist.
func IgnoreGone(err error) error {
	if IsGone(err) {
		return nil
	}
	return err
}

// IsGone reports whether err says that the kernel does not exist.
func IsGone(err error) bool { return errors.Is(err, codeinterp.ErrContext) }

// State returns a kernel as the server sees it at present.
func (c *Client) State(ctx context.Context, id string) (Kernel, error) {
	for limit := stateLimit; ; limit *= 2 {
		var k Kernel
		one, cancel := context.WithTimeoutCause(ctx, limit, Unavailable("the server did not answer within %v", limit))
		err := c.do(one, http.MethodGet, "api/kernels/"+id, nil, &k)
		unanswered := one.Err() != nil && ctx.Err() == nil
		cancel()
		if !unanswered || limit >= requestTimeout {
			return k, err
		}
		c.afresh()
	}
}

// stateLimit is how long a server has at first to report a kernel's state.
const stateLimit = 4 * time.Second

// afresh makes the next call open a connection, for calls that cannot wait for a dead one.
func (c *Client) afresh() { c.http.CloseIdleConnections() }

// ErrUnconfirmed is an interrupt that the server may or may not deliver.
var ErrUnconfirmed = fmt.Errorf("%w: an interrupt was not answered, and can still come", codeinterp.ErrUnavailable)

// Interrupt makes the server interrupt a kernel. It is ErrUnconfirmed if the request was
// sent and not answered.
func (c *Client) Interrupt(ctx context.Context, id string) error {
	c.afresh()
	err := c.call(ctx, requestTimeout, http.MethodPost, "api/kernels/"+id+"/interrupt", nil)
	e, answered := errors.AsType[*StatusError](err)
	op, dialled := errors.AsType[*net.OpError](err)
	switch {
	// Never sent, or answered: none is under way. A proxy's 504 is no answer.
	case err == nil, dialled && op.Op == "dial", answered && e.Code != http.StatusGatewayTimeout:
		return err
	}
	return fmt.Errorf("%w: %w", ErrUnconfirmed, err)
}

// Restart makes the server end a kernel's process and start another.
func (c *Client) Restart(ctx context.Context, id string) error {
	c.afresh()
	ctx, done := c.whileAlive(ctx, id)
	defer done()
	return c.call(ctx, KillTimeout, http.MethodPost, "api/kernels/"+id+"/restart", nil)
}

const (
	listTries = 5
	listPause = 200 * time.Millisecond
)

// Sessions lists the server's sessions. Servers fail while a kernel of the list is starting.
func (c *Client) Sessions(ctx context.Context) (list []Session, err error) {
	for tries := 1; ; tries++ {
		err := c.call(ctx, requestTimeout, http.MethodGet, "api/sessions", &list)
		if e, refused := errors.AsType[*StatusError](err); !refused || e.Code != http.StatusInternalServerError || tries == listTries {
			return list, err
		}
		if Wait(ctx, listPause) != nil {
			return list, err
		}
	}
}
