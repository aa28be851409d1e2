package kept

import (
	"context"
	"fmt"
	"io"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/codeinterp/driver"
	"github.com/toolcell/toolcell/internal/keeper"
)

const patience = 5 * time.Second // for what needs no program

// A Client is a host's end of a keeper.
type Client struct {
	Hello  *Hello
	Gone   chan struct{} // made by Hold; closed when the keeper has ended, or Leave was called
	Missed int64         // bytes of output that a run which was resumed lacks, once it has begun

	conn    *Conn
	process *os.Process
	left    atomic.Bool // by Leave

	mu    sync.Mutex
	last  int                 // request
	calls map[int]chan *Reply // open ones; nil once the connection has ended
}

// Hold attaches what the keeper has to whom a Hold was sent. The error is keeper.ErrNone if
// that has ended.
func (c *Client) Hold(ctx context.Context, conn *Conn) error {
	answer := make(chan *Reply, 1)
	c.conn, c.calls, c.Gone = conn, map[int]chan *Reply{0: answer}, make(chan struct{})
	c.left.Store(false)
	go c.receive()
	r, err := await(ctx, answer)
	if err != nil {
		c.Leave()
		return err
	}
	c.Hello = r.Hello
	return nil
}

// receive takes replies until the connection ends.
func (c *Client) receive() {
	var err error
	for err == nil {
		r := &Reply{}
		if err = c.conn.in.Decode(r); err == nil {
			if r.Hello != nil {
				c.process, _ = os.FindProcess(r.Hello.PID)
			}
			c.mu.Lock()
			c.calls[r.ID] <- r
			delete(c.calls, r.ID)
			c.mu.Unlock()
		}
	}
	if err != io.EOF { // only the connection was lost
		c.Kill()
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, answer := range c.calls {
		close(answer)
	}
	c.calls = nil
	close(c.Gone)
}

// send sends a request. Where that fails, the connection ends, and the answer is closed.
func (c *Client) send(q *Request) (answer chan *Reply, err error) {
	answer = make(chan *Reply, 1)
	c.mu.Lock()
	if c.calls == nil {
		c.mu.Unlock()
		close(answer)
		return answer, keeper.ErrNone
	}
	c.last++
	q.ID = c.last
	c.calls[q.ID] = answer
	c.mu.Unlock()
	return answer, c.conn.Send(q)
}

// await waits for an answer. The error is keeper.ErrNone if the keeper has ended.
func await(ctx context.Context, answer <-chan *Reply) (*Reply, error) {
	select {
	case r, ok := <-answer:
		if !ok {
			return nil, keeper.ErrNone
		}
		return r, r.failure()
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

// Leave gives up what Hold took. It ends a Follow in progress.
func (c *Client) Leave() {
	c.left.Store(true)
	c.conn.Close()
	<-c.Gone
}

// Ask asks for something that is needless once the keeper has ended. ctx bounds it.
func (c *Client) Ask(ctx context.Context, q *Request) error {
	answer, _ := c.send(q)
	_, err := await(ctx, answer)
	if err == keeper.ErrNone {
		return nil
	}
	return err
}

// errLeft is the end of a run that Leave left to others.
var errLeft = fmt.Errorf("%w: it goes on without this process", codeinterp.ErrUnavailable)

// Follow passes on the output of a run, to its end. q begins it. The error is
// codeinterp.ErrNoRun if the keeper has ended before.
func (c *Client) Follow(ctx context.Context, p *driver.Program, out *driver.Output, q *Request) (driver.Outcome, error) {
	answer, err := c.send(q)
	if err != nil {
		<-c.Gone // a moment later
		return driver.Outcome{}, codeinterp.ErrNoRun
	}
	defer context.AfterFunc(ctx, func() {
		ctx, cancel := context.WithTimeout(context.Background(), patience)
		defer cancel()
		if c.Ask(ctx, &Request{Op: stop}) != nil {
			c.Kill()
		}
	})()
	for begun := false; ; {
		r, ok := <-answer
		switch {
		case !ok && c.left.Load():
			return driver.Outcome{Unknown: errLeft}, nil
		case !ok: // the keeper has died, perhaps before the program began
			if !begun {
				p.Begin()
			}
			out.MayLack(codeinterp.TruncatedByExit)
			return driver.Outcome{ExitCode: codeinterp.ExitKilled, Lost: true, Cause: codeinterp.CauseExit}, nil
		case r.Begun:
			begun, c.Missed = true, 0
			for _, t := range r.Lost {
				c.Missed += t.Bytes
			}
			p.Begin()
		}
		for _, t := range r.Lost {
			out.Lost(t)
		}
		for _, o := range r.Outputs {
			out.Add(o)
		}
		switch {
		case r.End == nil && r.Err == nil:
			answer, _ = c.send(&Request{Op: next, From: r.Next})
			continue
		case r.End != nil:
			_, _ = c.send(&Request{Op: got})
		}
		if r.End == nil || r.End.Status == codeinterp.StatusNotRun {
			return driver.Outcome{}, r.failure()
		}
		for _, t := range r.End.Truncated {
			out.Lost(t)
		}
		return outcome(r.End, r.failure()), nil
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

// Kill kills the keeper, and with it all that runs below it, unless Leave was called.
func (c *Client) Kill() {
	if c.process != nil && !c.left.Load() {
		_ = c.process.Kill() // by a descriptor, never another process of this id
	}
}
