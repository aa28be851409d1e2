package jupyter

import (
	"bytes"
	"context"
	"io"
	"sync"
	"time"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/codeinterp/driver"
	"github.com/toolcell/toolcell/providers/jupyter/internal/kernel"
	"github.com/toolcell/toolcell/providers/jupyter/internal/server"
)

// feedPiece is how many bytes of input one request carries.
const feedPiece = 64 << 10

// maxLinger is how long a Read of the caller's is waited for that does not end
// when it is closed.
const maxLinger = time.Second

// numbers are those of the signals that commands can be sent, by POSIX and on all
// systems alike, but for the user's own, which are Linux's.
var numbers = map[codeinterp.Signal]int{
	codeinterp.SignalHangup: 1, codeinterp.SignalInterrupt: 2, codeinterp.SignalQuit: 3, codeinterp.SignalKill: 9,
	codeinterp.SignalUser1: 10, codeinterp.SignalUser2: 12, codeinterp.SignalTerminate: 15,
}

// help passes input, signals and sizes on to the command until over is called.
func (c *command) help(ctx context.Context, p *driver.Program) (helpers *sync.WaitGroup, over func()) {
	ctx, cancel := context.WithCancel(ctx)
	helpers = new(sync.WaitGroup)
	helpers.Go(func() { driver.Forward(ctx.Done(), c.o.Signals, c.pass(ctx)) })
	helpers.Go(func() {
		driver.Forward(ctx.Done(), c.o.Resizes, func(size codeinterp.TerminalSize) { c.resize(ctx, size) })
	})
	fed := make(chan struct{})
	switch {
	case c.o.Input != nil:
		go func() { defer close(fed); c.feed(ctx, c.o.Input) }()
	case p.Stdin != nil:
		go func() { defer close(fed); c.feed(ctx, bytes.NewReader(p.Stdin)) }()
	default:
		close(fed)
	}
	return helpers, func() {
		cancel()
		if in, ok := c.o.Input.(io.Closer); ok {
			in.Close()
		}
		select {
		case <-fed:
		case <-time.After(maxLinger):
		}
	}
}

// feed gives the command its input.
func (c *command) feed(ctx context.Context, in io.Reader) {
	buf := make([]byte, feedPiece)
	at := int64(0)
	if c.was != nil {
		at = c.was.Fed
	}
	for ctx.Err() == nil {
		n, err := in.Read(buf)
		if ctx.Err() != nil {
			return
		}
		var open bool
		if at, open = c.give(ctx, at, buf[:n], err != nil); !open || err != nil {
			return
		}
	}
}

// give writes data, which begins at an offset, and reports the next one and
// whether there can be more.
func (c *command) give(ctx context.Context, at int64, data []byte, last bool) (next int64, open bool) {
	for next = at + int64(len(data)); ; {
		a, err := c.ask(ctx, &kernel.CommandRequest{Op: "input", At: at, Data: data, Last: last})
		if err != nil || a.Shut {
			return next, false
		}
		took := min(max(a.Fed-at, 0), int64(len(data)))
		at, data = at+took, data[took:]
		if took > 0 {
			c.wake()
		}
		if len(data) == 0 {
			return next, !last
		}
		if server.Wait(ctx, c.pause()) != nil {
			return next, false
		}
	}
}

// pass returns what sends the caller's signals to the command.
func (c *command) pass(ctx context.Context) func(codeinterp.Signal) {
	n := int64(0)
	if c.was != nil {
		n = c.was.Signals
	}
	return func(sig codeinterp.Signal) {
		if sig.Check() != nil {
			return
		}
		c.mu.Lock()
		c.sent = sig
		c.mu.Unlock()
		n++
		_, _ = c.ask(ctx, &kernel.CommandRequest{Op: "signal", At: n, Signal: sig})
		c.wake()
	}
}

// resize sets the size of the terminal. What is no size is ignored.
func (c *command) resize(ctx context.Context, size codeinterp.TerminalSize) {
	if size, err := size.Check(); err == nil {
		_, _ = c.ask(ctx, &kernel.CommandRequest{Op: "resize", Rows: size.Rows, Columns: size.Columns})
		c.wake()
	}
}
