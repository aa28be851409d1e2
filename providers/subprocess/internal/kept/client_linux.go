// Package kept is what a host and the keeper of a context say to each other, with the run
// of the context and its output, which the keeper keeps for hosts that come and go.
package kept

import (
	"context"
	"errors"
	"fmt"
	"io"
	"syscall"
	"time"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/codeinterp/driver"
	"github.com/toolcell/toolcell/internal/keeper"
)

// The operations of a context. Each has a connection of its own.
const (
	Run       = "run"
	Resume    = "resume" // of the last run
	Interrupt = "interrupt"
	Restart   = "restart"
	Pause     = "pause" // until EndPause, or the host has gone
	EndPause  = "end pause"
	Release   = "release" // the host goes, and has got all
	Close     = "close"

	hold = "hold" // the context belongs to the host until the connection ends
	stop = "stop" // the run
	got  = "got"  // the host has got the end of the run
)

const (
	patience  = 5 * time.Second // for answers that need no program
	holdLimit = time.Second     // for the host before to be gone
	holdPause = 10 * time.Millisecond
)

// A Client is a host's end of a context.
type Client struct {
	Dir   keeper.Dir
	Key   string
	Hello *keeper.Hello // set by Hold
	Gone  chan struct{} // made by Hold; closed when the keeper has ended, or Leave was called

	holding *keeper.Conn
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
	if _, said := errors.AsType[*keeper.Error](err); said {
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
		r, err := s.Ask(&keeper.Request{Op: hold})
		if err == nil {
			_ = s.SetDeadline(time.Time{})
			gone := make(chan struct{})
			c.holding, c.Hello, c.Gone = s, r.Hello, gone
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

// Leave detaches the context.
func (c *Client) Leave() {
	c.holding.Close()
	<-c.Gone
}

// Call asks for something that is soon done, and needless once the keeper has ended. ctx
// bounds it.
func (c *Client) Call(ctx context.Context, op string) error {
	s, err := c.dial(ctx)
	if err == nil {
		defer s.Close()
		_ = s.SetDeadline(time.Time{})
		defer context.AfterFunc(ctx, func() { s.Close() })()
		_, err = s.Ask(&keeper.Request{Op: op})
	}
	select {
	case <-c.Gone:
		return nil
	default:
	}
	switch {
	case err == nil || errors.Is(err, keeper.ErrNone):
		return nil
	case ctx.Err() != nil:
		return context.Cause(ctx)
	}
	return failed(err)
}

// Follow passes on the output of a run, to its end. q is Run or Resume.
func (c *Client) Follow(ctx context.Context, p *driver.Program, out *driver.Output, q *keeper.Request) (driver.Outcome, error) {
	s, err := c.dial(ctx)
	if err != nil {
		return driver.Outcome{}, err
	}
	defer s.Close()
	if err := s.Encode(q); err != nil {
		return driver.Outcome{}, failed(err)
	}
	_ = s.SetDeadline(time.Time{})
	// On the same connection, since it must not come before the run.
	defer context.AfterFunc(ctx, func() {
		_ = s.SetWriteDeadline(time.Now().Add(patience))
		if s.Encode(&keeper.Request{Op: stop}) != nil {
			c.Kill()
		}
	})()
	for begun := false; ; {
		r := &keeper.Reply{}
		err := s.Decode(r)
		switch {
		case err != nil: // the keeper has died, perhaps before the program began
			if !begun {
				p.Begin()
			}
			c.Kill() // if only the connection was lost
			<-c.Gone
			out.MayLack(codeinterp.TruncatedByExit)
			return driver.Outcome{ExitCode: codeinterp.ExitKilled, Lost: true, Cause: codeinterp.CauseExit}, nil
		case r.Begun:
			p.Begin()
			begun = true
		case r.Output != nil:
			out.Add(*r.Output)
		case r.End == nil || r.End.Status == codeinterp.StatusNotRun:
			_ = s.Encode(&keeper.Request{Op: got})
			return driver.Outcome{}, r.Err
		default:
			_ = s.Encode(&keeper.Request{Op: got})
			for _, t := range r.End.Truncated {
				out.Lost(t)
			}
			var err error
			if r.Err != nil {
				err = r.Err
			}
			return outcome(r.End, err), nil
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
	pid := keeper.PID(c.holding.UnixConn)
	select {
	case <-c.Gone: // another process may have the id
	default:
		if pid > 0 {
			_ = syscall.Kill(pid, syscall.SIGKILL)
		}
	}
}
