// Package kept is what a host and the keeper of a context or a command say to each other,
// with the run and its output, which the keeper keeps for hosts that come and go.
package kept

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/codeinterp/driver"
	"github.com/toolcell/toolcell/internal/keeper"
)

const (
	patience  = 5 * time.Second // for answers that need no program
	holdLimit = time.Second     // for the host before to be gone
	holdPause = 10 * time.Millisecond
)

// A Client is a host's end of a context or a command.
type Client struct {
	Dir    keeper.Dir
	Key    string
	Hello  *Hello        // set by Hold
	Gone   chan struct{} // made by Hold; closed when the keeper has ended, or Leave was called
	Missed int64         // bytes of output that a run which was resumed lacks, once it has begun

	holding   *keeper.Conn
	following atomic.Pointer[keeper.Conn]
	left      atomic.Bool // by Leave
}

func (c *Client) dial(ctx context.Context) (*keeper.Conn, error) {
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	socket, err := c.Dir.Dial(c.Key)
	if err != nil {
		return nil, failed(err)
	}
	_ = socket.SetDeadline(time.Now().Add(patience))
	return keeper.NewConn(socket), nil
}

// failed returns the error of a connection.
func failed(err error) error {
	if _, said := errors.AsType[*Error](err); said {
		return err
	}
	return fmt.Errorf("%w: the keeper does not answer: %w", codeinterp.ErrUnavailable, err)
}

// Hold attaches the context. The error is keeper.ErrNone if there is no keeper.
func (c *Client) Hold(ctx context.Context) error {
	// The keeper may have yet to notice that the host before has gone.
	for end := time.Now().Add(holdLimit); ; time.Sleep(holdPause) {
		s, err := c.dial(ctx)
		if err != nil {
			return err
		}
		r, err := ask(s, &Request{Op: hold})
		if err == nil {
			_ = s.SetDeadline(time.Time{})
			gone := make(chan struct{})
			c.holding, c.Hello, c.Gone = s, r.Hello, gone
			c.left.Store(false)
			go func() {
				_, _ = io.Copy(io.Discard, s) // until the keeper ends
				close(gone)
			}()
			return nil
		}
		s.Close()
		if !errors.Is(err, codeinterp.ErrCapacity) || time.Now().After(end) {
			return failed(err)
		}
	}
}

// Leave gives up what Hold took. It ends a Follow in progress.
func (c *Client) Leave() {
	c.left.Store(true)
	if s := c.following.Load(); s != nil {
		s.Close()
	}
	c.holding.Close()
	<-c.Gone
}

// Call asks for something that is soon done, and needless once the keeper has ended. ctx
// bounds it.
func (c *Client) Call(ctx context.Context, op string) error {
	return c.Ask(ctx, &Request{Op: op})
}

// Ask is Call for a request with more to it.
func (c *Client) Ask(ctx context.Context, q *Request) error {
	if c.isGone() {
		return nil
	}
	s, err := c.dial(ctx)
	if err == nil {
		defer s.Close()
		_ = s.SetDeadline(time.Time{}) // a command may take its input late
		defer context.AfterFunc(ctx, func() { s.Close() })()
		_, err = ask(s, q)
	}
	switch {
	case err == nil || c.isGone() || errors.Is(err, keeper.ErrNone):
		return nil
	case ctx.Err() != nil:
		return context.Cause(ctx)
	}
	return failed(err)
}

func (c *Client) isGone() bool {
	select {
	case <-c.Gone:
		return true
	default:
		return false
	}
}

// errLeft is the end of a run that Leave left to others.
var errLeft = fmt.Errorf("%w: it goes on without this process", codeinterp.ErrUnavailable)

// Follow passes on the output of a run, to its end. q is Run, Command or Resume. The error is
// codeinterp.ErrNoRun if the keeper has ended before.
func (c *Client) Follow(ctx context.Context, p *driver.Program, out *driver.Output, q *Request) (driver.Outcome, error) {
	s, err := c.dial(ctx)
	if errors.Is(err, keeper.ErrNone) {
		<-c.Gone // a moment later
		err = codeinterp.ErrNoRun
	}
	if err != nil {
		return driver.Outcome{}, err
	}
	defer s.Close()
	if err := s.Encode(q); err != nil {
		return driver.Outcome{}, failed(err)
	}
	_ = s.SetDeadline(time.Time{})
	c.following.Store(s)
	// On the same connection, since it must not come before the run.
	defer context.AfterFunc(ctx, func() {
		_ = s.SetWriteDeadline(time.Now().Add(patience))
		if s.Encode(&Request{Op: stop}) != nil {
			c.Kill()
		}
	})()
	for begun := false; ; {
		r := &Reply{}
		err := s.Decode(r)
		switch {
		case err != nil && c.left.Load():
			return driver.Outcome{Unknown: errLeft}, nil
		case err != nil: // the keeper has died, perhaps before the program began
			if !begun {
				p.Begin()
			}
			c.Kill() // if only the connection was lost
			<-c.Gone
			out.MayLack(codeinterp.TruncatedByExit)
			return driver.Outcome{ExitCode: codeinterp.ExitKilled, Lost: true, Cause: codeinterp.CauseExit}, nil
		case r.Begun:
			c.Missed = r.Missed
			p.Begin()
			begun = true
		case r.Output != nil:
			out.Add(*r.Output)
		case r.End == nil || r.End.Status == codeinterp.StatusNotRun:
			_ = s.Encode(&Request{Op: got})
			return driver.Outcome{}, r.failure()
		default:
			_ = s.Encode(&Request{Op: got})
			for _, t := range r.End.Truncated {
				out.Lost(t)
			}
			return outcome(r.End, r.failure()), nil
		}
	}
}

// outcome returns how a run ended that the interpreter of a keeper ran.
func outcome(res *codeinterp.Result, err error) driver.Outcome {
	o := driver.Outcome{ExitCode: res.ExitCode, Error: res.Error, Cause: res.Cause, Count: res.ExecutionCount, Lost: res.StateLost,
		Artifacts: res.Artifacts, Refusals: res.Refusals, Former: res}
	if res.Status == codeinterp.StatusLost {
		o.Unknown = err
	}
	return o
}

// Kill kills the keeper, and with it all that runs below it.
func (c *Client) Kill() {
	// Once it is gone, another process may have the id.
	if pid := keeper.PID(c.holding.UnixConn); pid > 0 && !c.isGone() && !c.left.Load() {
		_ = syscall.Kill(pid, syscall.SIGKILL)
	}
}
