package jupyter

import (
	"context"
	"crypto/rand"
	"encoding/base64"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/codeinterp/driver"
	"github.com/toolcell/toolcell/providers/jupyter/internal/kernel"
	"github.com/toolcell/toolcell/providers/jupyter/internal/server"
)

const (
	// endLimit is how long a command may take to end once it was killed, before
	// its kernel is.
	endLimit = 8 * time.Second

	// leastPause and mostPause bound the time between two looks at a command.
	leastPause, mostPause = 2 * time.Millisecond, 500 * time.Millisecond
)

// A commandRuntime has kernels that can run commands.
type commandRuntime struct {
	*runtime
	machine *machine
}

var (
	_ driver.Commander       = commandRuntime{}
	_ driver.TerminalStarter = commandRuntime{}
)

// withCommands returns what the driver is given of a runtime.
func (rt *runtime) withCommands() driver.Runtime {
	// What serves their files serves commands.
	kind, ok := rt.kinds[commandLanguage]
	if !ok || !kind.HasFiles() {
		return rt
	}
	return commandRuntime{rt, newMachine(rt)}
}

// StartCommand implements driver.Commander.
func (c commandRuntime) StartCommand(_ context.Context, o codeinterp.CommandOptions) (driver.Session, error) {
	return c.newCommand(codeinterp.TerminalOptions{CommandOptions: o}), nil
}

// StartTerminal implements driver.TerminalStarter.
func (c commandRuntime) StartTerminal(_ context.Context, o codeinterp.TerminalOptions) (driver.Session, error) {
	return c.newCommand(o), nil
}

func (c commandRuntime) newCommand(o codeinterp.TerminalOptions) *command {
	return &command{m: c.machine, o: o, id: rand.Text(), woken: make(chan struct{}, 1)}
}

// Close implements driver.Runtime.
func (c commandRuntime) Close(ctx context.Context) error {
	return errors.Join(c.machine.close(), c.runtime.Close(ctx))
}

// A command is the session of one command.
type command struct {
	m     *machine
	o     codeinterp.TerminalOptions // without a Size there is no terminal
	id    string
	k     *kernel.Kernel        // set before Run waits for anything of it
	woken chan struct{}         // ends a pause of follow
	kept  bool                  // it can go on without this process
	was   *kernel.CommandAnswer // to attach; nil if this process has started it

	mu     sync.Mutex
	sent   codeinterp.Signal // the last signal that was sent to it
	active time.Time         // when it last printed, or was given something
}

// touch notes that there may soon be output.
func (c *command) touch() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.active = time.Now()
}

// wake is touch, and has follow look at once.
func (c *command) wake() {
	c.touch()
	select {
	case c.woken <- struct{}{}:
	default:
	}
}

// pause is the time to the next look: the longer, the longer nothing has happened.
func (c *command) pause() time.Duration {
	c.mu.Lock()
	defer c.mu.Unlock()
	return min(max(time.Since(c.active)/8, leastPause), mostPause)
}

// Run implements driver.Session.
func (c *command) Run(ctx context.Context, p *driver.Program, out *driver.Output) (driver.Outcome, error) {
	var at int64
	if c.was != nil {
		at = c.was.Start
		p.Begin()
	} else if err := c.begin(ctx, p); err != nil {
		return driver.Outcome{}, err
	}
	if c.kept && c.o.Kept.OnBegin != nil {
		c.o.Kept.OnBegin(c.ref(), at)
	}
	// What ends it takes requests too, which outlive the order to stop.
	life, cancel := context.WithCancel(context.WithoutCancel(ctx))
	defer cancel()
	defer context.AfterFunc(ctx, func() {
		time.AfterFunc(endLimit, cancel)
		_, _ = c.ask(life, &kernel.CommandRequest{Op: "stop"})
	})()
	helpers, over := c.help(life, p)
	left := c.leaving(cancel)
	end, err := c.follow(life, p, out, at)
	over()
	helpers.Wait()
	if left(err) {
		return driver.Outcome{Unknown: server.Unavailable("the command goes on without this process")}, nil
	}
	o := c.outcome(end, err, out)
	if ctx.Err() != nil {
		o.Error = nil // the signal that it died of was ours
	}
	c.forget(err)
	return o, nil
}

// begin starts the command.
func (c *command) begin(ctx context.Context, p *driver.Program) error {
	k, err := c.m.kernel(ctx)
	if err != nil {
		return err
	}
	q := &kernel.CommandRequest{Op: "start", Code: []byte(p.Code), Cwd: []byte(c.o.Cwd),
		Private: c.m.rt.opts.Dir == "", Input: p.Stdin != nil || c.o.Input != nil, Rows: c.o.Size.Rows, Columns: c.o.Size.Columns}
	if c.kept {
		q.Lease = c.m.rt.opts.KeepCommands.Seconds()
	}
	if strings.TrimSpace(p.Code) == "" {
		q.Code = []byte(`exec "${SHELL:-${BASH:-sh}}" -l -i`)
	}
	// Twice in base64, once by us.
	if len(q.Code) > maxRequest*3/4 {
		return fmt.Errorf("%w: a command of %d bytes, and servers accept %d; put it into a file", codeinterp.ErrInvalid, len(q.Code), maxRequest*3/4)
	}
	for name, value := range p.Env {
		q.Env = append(q.Env, [2][]byte{[]byte(name), []byte(value)})
	}
	c.k = k
	c.touch()
	err = p.HandOver(func() error {
		_, err := c.ask(ctx, q)
		return err
	})
	if err != nil {
		// It may have begun, where its answer was lost.
		c.forget(err)
	}
	return err
}

func (c *command) ask(ctx context.Context, q *kernel.CommandRequest) (*kernel.CommandAnswer, error) {
	q.ID = c.id
	return c.m.ask(ctx, c.k, q)
}

// follow takes the command's output to its end.
func (c *command) follow(ctx context.Context, p *driver.Program, out *driver.Output, at int64) (*kernel.CommandEnd, error) {
	for {
		a, err := c.ask(ctx, &kernel.CommandRequest{Op: "read", At: at})
		switch {
		case err != nil:
			return nil, err
		// It has ended, and there may be output of it, which is read first.
		case a.End != nil && len(a.Pieces) == 0:
			return a.End, nil
		case a.Over:
			p.End()
		}
		for _, piece := range a.Pieces {
			data, err := base64.StdEncoding.DecodeString(piece[1])
			if err != nil {
				return nil, server.Unavailable("malformed output of a command")
			}
			at += int64(len(data))
			out.Write(kernel.StreamKind(piece[0]), data)
		}
		if len(a.Pieces) > 0 {
			c.touch()
			continue
		}
		select {
		case <-c.woken:
		case <-time.After(c.pause()):
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}
}

// outcome says how the command ended; err is why that is not known.
func (c *command) outcome(end *kernel.CommandEnd, err error, out *driver.Output) driver.Outcome {
	switch {
	case errors.Is(err, kernel.ErrForgotten), errors.Is(err, kernel.ErrGone), err == nil && end.Lost:
		out.MayLack(codeinterp.TruncatedByExit, codeinterp.Stdout, codeinterp.Stderr)
		return driver.Outcome{ExitCode: codeinterp.ExitKilled, Lost: true,
			Unknown: server.Unavailable("what watched the command was killed, and what the command started may still be running")}
	case err != nil:
		out.MayLack(codeinterp.TruncatedByConnection, codeinterp.Stdout, codeinterp.Stderr)
		return driver.Outcome{ExitCode: codeinterp.ExitKilled, Lost: true, Unknown: fmt.Errorf("%w: %w", codeinterp.ErrUnavailable, err)}
	}
	o := driver.Outcome{ExitCode: end.Code & 0xff}
	c.mu.Lock()
	defer c.mu.Unlock()
	switch n, ok := numbers[c.sent]; {
	case end.Left:
		o.Unknown = server.Unavailable("something that the command started may still be running")
	case ok && o.ExitCode == 128+n:
		o.Cause = codeinterp.CauseInterrupt
	case end.Signal != 0:
		o.Lost, o.Cause = true, codeinterp.CauseSignal
		o.Error = &codeinterp.ProgramError{Name: "Killed", Message: fmt.Sprintf("the process died: signal %d", end.Signal)}
	}
	return o
}

// forget ends what may be left of the command, and removes it from the kernel. One
// that cannot be reached goes with its kernel.
func (c *command) forget(err error) {
	if errors.Is(err, kernel.ErrForgotten) || errors.Is(err, kernel.ErrGone) {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), endLimit)
	defer cancel()
	if _, err := c.ask(ctx, &kernel.CommandRequest{Op: "forget"}); err != nil && !errors.Is(err, kernel.ErrForgotten) {
		_ = c.m.drop(c.k) // Close tries again, and reports the failure
	}
}

// Interrupt implements driver.Session: a command is killed at once.
func (c *command) Interrupt(context.Context) error { return errors.ErrUnsupported }

// Reset implements driver.Session.
func (c *command) Reset(context.Context) error { return nil }

// Close implements driver.Session. Run leaves nothing behind.
func (c *command) Close(context.Context) error { return nil }
