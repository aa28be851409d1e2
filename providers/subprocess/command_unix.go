//go:build unix

package subprocess

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/codeinterp/driver"
	"github.com/toolcell/toolcell/internal/sandbox"
	"github.com/toolcell/toolcell/internal/shellboot"
	"github.com/toolcell/toolcell/providers/subprocess/internal/cells"
)

// shell returns what runs commands: it finds the interpreters of all languages
// by their names, and may read what they need.
func (h *host) shell() (*language, error) {
	shells := shellboot.Shells()
	i := slices.IndexFunc(shells, func(path string) bool {
		info, err := os.Stat(path)
		return err == nil && info.Mode().IsRegular() && h.sandbox.Reachable(path) == nil
	})
	if i < 0 {
		return nil, fmt.Errorf("%w: there is no shell: tried %s", codeinterp.ErrUnavailable, strings.Join(shells, ", "))
	}
	l := &language{knownLanguage: knownLanguage{Path: shells[i]}}
	l.Name = filepath.Base(l.Path)
	path := strings.Split(cmp.Or(h.opts.Env["PATH"], systemPath), ":")
	for _, name := range h.names {
		of := h.languages[name]
		l.Roots = append(l.Roots, of.Roots...)
		if dir := filepath.Dir(of.Path); !slices.Contains(path, dir) {
			path = slices.Insert(path, 0, dir)
		}
	}
	l.Env = map[string]string{"PATH": strings.Join(path, ":")}
	return l, nil
}

const systemPath = "/usr/local/bin:/usr/bin:/bin"

// StartCommand implements driver.Commander.
func (h *host) StartCommand(_ context.Context, o codeinterp.CommandOptions) (driver.Session, error) {
	l, err := h.shell()
	if err != nil {
		return nil, err
	}
	return &command{h: h, lang: l, o: o}, nil
}

// A command is the session of one command.
type command struct {
	h    *host
	lang *language
	o    codeinterp.CommandOptions
	term *terminal // nil without one
	p    *process  // nil before it has begun

	mu   sync.Mutex
	sent codeinterp.Signal // the last signal that was sent to it
}

// Run implements driver.Session.
func (c *command) Run(ctx context.Context, prog *driver.Program, out *driver.Output) (driver.Outcome, error) {
	r := newRun(out, prog, &cells.Program{})
	var stdin io.WriteCloser
	err := prog.HandOver(func() (err error) {
		stdin, err = c.begin(prog, r)
		return err
	})
	if err != nil {
		return driver.Outcome{}, err
	}
	stop := context.AfterFunc(ctx, c.p.end)
	defer stop()
	done := make(chan struct{})
	var helpers sync.WaitGroup
	helpers.Go(func() { driver.Forward(done, c.o.Signals, c.signal) })
	if t := c.term; t != nil {
		helpers.Go(func() { driver.Forward(done, t.resizes, t.change) })
	}
	fed := feedCommand(stdin, c.o.Input)
	<-r.done // also when ctx ends, which kills the process
	close(done)
	helpers.Wait()
	stopInput(stdin, c.o.Input, fed)
	return c.outcome(r), nil
}

// begin starts the shell and gives it the command. It returns where to write its
// input to, nil if nowhere.
func (c *command) begin(prog *driver.Program, r *run) (feed io.WriteCloser, err error) {
	dir, release, err := c.h.tempDir()
	if err != nil {
		return nil, err
	}
	defer func() {
		// Once there is a process, it gives the directory back at its end.
		if err != nil && c.p == nil {
			release()
		}
	}()
	stdin, feed, err := c.stdin(prog.Stdin)
	if err != nil {
		return nil, err
	}
	defer stdin.Close()
	defer func() {
		if err != nil && feed != nil {
			feed.Close()
		}
		if err != nil && c.term != nil && c.p == nil {
			c.term.host.Close()
		}
	}()
	script, code, err := os.Pipe()
	if err != nil {
		return nil, noDescriptors(err)
	}
	defer script.Close()
	defer code.Close()
	pl := &place{dir: dir, cwd: c.h.dir, once: true, env: maps.Clone(prog.Env), first: r}
	if c.term != nil && c.h.opts.Env["TERM"] == "" && pl.env["TERM"] == "" {
		if pl.env == nil {
			pl.env = map[string]string{}
		}
		pl.env["TERM"] = "xterm-256color"
	}
	cmd := c.h.command(c.lang, pl)
	pl.beginRun(prog)
	if c.term != nil && c.h.sandbox.Mode() == sandbox.Bwrap {
		cmd.Args = append(cmd.Args, "-m") // bubblewrap itself is not to get what is typed
	}
	cmd.Args = append(cmd.Args, "-c", shellboot.Script, c.lang.Name, c.o.Cwd)
	cmd.Files = []*os.File{nil, nil, nil, script}
	var e *ends
	if c.term != nil {
		cmd.Terminal = true
		if e, err = c.term.ends(stdin); err != nil {
			return nil, err
		}
	}
	if c.p, err = c.h.spawn(e, c.lang, pl, cmd, stdin, release); err != nil {
		return nil, err
	}
	// Before the write, so that a shell which ends early shows as EPIPE.
	script.Close()
	_ = code.SetWriteDeadline(time.Now().Add(maxWrite))
	// With EPIPE the shell has ended already, and its exit says why.
	text := prog.Code
	if c.term != nil && strings.TrimSpace(text) == "" {
		text = c.h.interactive(c.lang)
	}
	if _, err := io.WriteString(code, text); err != nil && !errors.Is(err, syscall.EPIPE) {
		c.p.kill()
		return nil, fmt.Errorf("%w: the command cannot be handed over", codeinterp.ErrUnavailable)
	}
	return feed, nil
}

// stdin returns the end of the command's standard input that it reads, and, if there is
// input to write, the other.
func (c *command) stdin(b []byte) (read *os.File, write io.WriteCloser, err error) {
	if c.o.Input == nil && b != nil {
		c.o.Input = bytes.NewReader(b)
	}
	if c.term != nil {
		if read, err = c.term.open(); err != nil || c.o.Input == nil {
			return read, nil, err
		}
		return read, typed{c.term.host}, nil
	}
	if c.o.Input == nil {
		read, err = os.Open(os.DevNull)
		return read, nil, err
	}
	r, w, err := namedPipe()
	if err != nil {
		return nil, nil, err
	}
	return r, w, nil
}

// feedCommand copies input to a command, if w is not nil, until it ends or no process reads it any
// more, and closes what it returns.
func feedCommand(w io.WriteCloser, in io.Reader) (done chan struct{}) {
	done = make(chan struct{})
	if w == nil {
		close(done)
		return done
	}
	go func() {
		defer close(done)
		defer w.Close()
		_, _ = io.Copy(struct{ io.Writer }{w}, in)
	}()
	return done
}

// stopInput ends the copying of input. A Read that does not end when its reader is
// closed is not waited for.
func stopInput(w io.WriteCloser, in io.Reader, done chan struct{}) {
	if w == nil {
		return
	}
	// Ends a Write that waits for the command; a Read is ended by its reader's Close.
	w.Close()
	if in, ok := in.(io.Closer); ok {
		in.Close()
	}
	select {
	case <-done:
	case <-time.After(drainTimeout):
	}
}

// signals are those that commands can be sent.
var signals = map[codeinterp.Signal]syscall.Signal{
	codeinterp.SignalInterrupt: syscall.SIGINT, codeinterp.SignalTerminate: syscall.SIGTERM,
	codeinterp.SignalHangup: syscall.SIGHUP, codeinterp.SignalQuit: syscall.SIGQUIT,
	codeinterp.SignalUser1: syscall.SIGUSR1, codeinterp.SignalUser2: syscall.SIGUSR2, codeinterp.SignalKill: syscall.SIGKILL,
}

// signal sends a signal of the caller's to the command.
func (c *command) signal(name codeinterp.Signal) {
	if sig, ok := signals[name]; ok {
		c.mu.Lock()
		c.sent = name
		c.mu.Unlock()
		_ = c.p.sb.SignalAll(sig)
	}
}

// outcome says how the command ended. One that the caller's signal ended was not
// lost.
func (c *command) outcome(r *run) driver.Outcome {
	o := r.outcome(c.p, true)
	exit := c.p.sb.Wait()
	c.mu.Lock()
	defer c.mu.Unlock()
	if sig, ok := signals[c.sent]; ok && !exit.Killed && exit.Code == 128+int(sig) {
		o.Lost, o.Cause, o.Error = false, codeinterp.CauseInterrupt, nil
	}
	return o
}

// Interrupt implements driver.Session: a command is killed at once.
func (c *command) Interrupt(context.Context) error { return errors.ErrUnsupported }

// Reset implements driver.Session.
func (c *command) Reset(ctx context.Context) error { return c.Close(ctx) }

// Close implements driver.Session.
func (c *command) Close(context.Context) error {
	if c.p != nil {
		c.p.kill()
	}
	return nil
}
