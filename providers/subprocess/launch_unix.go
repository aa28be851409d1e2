//go:build unix

package subprocess

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"strings"
	"syscall"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/egress/gate"
	"github.com/toolcell/toolcell/internal/frames"
	"github.com/toolcell/toolcell/internal/sandbox"
)

// A place says where and how a process lives.
type place struct {
	dir  string            // its working directory; empty means a new one, which goes with it
	cwd  *sandbox.Dir      // where programs start; nil means dir
	env  map[string]string // on top of the provider's
	once bool              // it runs one program
	late func(codeinterp.Output)

	forks *forkServer // what the process is, if it is one

	id  codeinterp.ContextID // empty for a single run
	net *gate.Session        // of the last process that was started, nil without Options.Egress

	// first, if set, is the run to which all output of a process without a
	// driver belongs, from its start on.
	first *run
}

// command returns the arguments and the environment of l's driver.
func (h *host) command(l *language, pl *place) *sandbox.Cmd {
	c := &sandbox.Cmd{Path: l.Path, Args: []string{l.Path}, Workdir: pl.dir, ReadOnly: l.Roots}
	if l.Driver != nil {
		for _, a := range l.Driver.Args {
			// A source alone is the same text for all contexts, which keep their arguments.
			if a == DriverArg {
				a = l.Driver.Source
			} else {
				a = strings.ReplaceAll(a, DriverArg, l.Driver.Source)
			}
			c.Args = append(c.Args, a)
		}
	}
	env := maps.Clone(h.opts.Env)
	if env == nil {
		env = map[string]string{}
	}
	maps.Copy(env, l.Env)
	maps.Copy(env, pl.env)
	h.connect(pl, c, env)
	c.Env = h.sandbox.Env(pl.dir, pl.cwd, env)
	c.Cwd = pl.cwd
	return c
}

// launch starts l's driver in a place and configures it. The driver's hello is still
// to come. It imports nothing: that would count as what its program uses.
func (h *host) launch(l *language, pl *place) (*process, error) {
	p, err := h.begin(l, pl)
	if err != nil {
		return nil, err
	}
	if err := p.configure(pl.once, nil); err != nil {
		p.kill()
		return nil, l.unstarted(fmt.Errorf("%w: the driver for %s did not start: %s", codeinterp.ErrUnavailable, l.Name, p.startupMessage()))
	}
	return p, nil
}

// begin starts l's driver in a place.
func (h *host) begin(l *language, pl *place) (*process, error) {
	var release func()
	if pl.dir == "" {
		own := *pl
		var err error
		if own.dir, release, err = h.tempDir(); err != nil {
			return nil, err
		}
		pl = &own
	}
	p, err := h.spawn(nil, l, pl, h.command(l, pl), nil, release)
	if err != nil {
		return nil, l.unstarted(err)
	}
	if p.write(l.Boot) != nil {
		p.sb.Kill() // what it printed says why
	}
	return p, nil
}

// tempDir makes a working directory, which release gives back.
func (h *host) tempDir() (dir string, release func(), err error) {
	dir, err = h.sandbox.TempDir()
	return dir, func() { h.sandbox.Discard(dir) }, err
}

// spawn starts a command with descriptors 1, 2 and, for a driver, 3 that lead to the host:
// ends, or new ones if that is nil. Of its Files those from the fourth on stay. release,
// which may be nil, is called when the process has ended or was not started.
func (h *host) spawn(ends *ends, l *language, pl *place, c *sandbox.Cmd, stdin *os.File, release func()) (p *process, err error) {
	defer func() {
		if err != nil && release != nil {
			release()
		}
	}()
	if ends == nil {
		if ends, err = newEnds(l.Driver != nil); err != nil {
			return nil, err
		}
	}
	more := c.Files[min(3, len(c.Files)):]
	c.Files = []*os.File{stdin, ends.child[0], ends.child[1]}
	if l.Driver != nil {
		c.Files = append(c.Files, ends.child[2])
	}
	c.Files = append(c.Files, more...)
	sb, err := h.sandbox.Start(c)
	ends.closeChild()
	if err != nil {
		pl.net.Close()
		ends.closeHost()
		return nil, err
	}
	return newProcess(h, l, sb, ends, pl, h.sandbox.WorkdirInside(pl.dir, pl.cwd), release)
}

// An ends holds both ends of a process's standard output, standard error and
// control channel, if it has one.
type ends struct{ host, child [3]*os.File }

func newEnds(control bool) (*ends, error) {
	e := &ends{}
	for n := range 2 {
		r, w, err := namedPipe()
		if err != nil {
			e.close()
			return nil, err
		}
		e.host[n], e.child[n] = r, w
	}
	if !control {
		return e, nil
	}
	host, child, err := socketpair()
	if err != nil {
		e.close()
		return nil, noDescriptors(err)
	}
	e.host[2], e.child[2] = host, child
	return e, nil
}

// namedPipe returns a pipe that programs of another user may open by its names, such
// as /dev/stdout.
func namedPipe() (r, w *os.File, err error) {
	r, w, err = os.Pipe()
	if err != nil {
		return nil, nil, noDescriptors(err)
	}
	_ = r.Chmod(0o666) // BSDs have no such thing, and duplicate what is open
	return r, w, nil
}

func noDescriptors(err error) error {
	if s := (*os.SyscallError)(nil); errors.As(err, &s) {
		err = s.Err
	}
	if errors.Is(err, syscall.EMFILE) || errors.Is(err, syscall.ENFILE) {
		return fmt.Errorf("%w: %w", codeinterp.ErrCapacity, err)
	}
	return fmt.Errorf("%w: pipes: %w", codeinterp.ErrUnavailable, err)
}

func (e *ends) close() { e.closeHost(); e.closeChild() }

func (e *ends) closeHost() { closeAll(e.host[:]) }

func (e *ends) closeChild() { closeAll(e.child[:]) }

func closeAll(files []*os.File) {
	for _, f := range files {
		if f != nil {
			f.Close()
		}
	}
}

// socketpair returns a connected pair of stream sockets, the first of them
// non-blocking.
func socketpair() (host, child *os.File, err error) {
	// A process that is forked before CloseOnExec would inherit the pair.
	syscall.ForkLock.RLock()
	fds, err := syscall.Socketpair(syscall.AF_UNIX, syscall.SOCK_STREAM, 0)
	if err == nil {
		syscall.CloseOnExec(fds[0])
		syscall.CloseOnExec(fds[1])
	}
	syscall.ForkLock.RUnlock()
	if err != nil {
		return nil, nil, err
	}
	// os.NewFile gives deadlines to what is non-blocking only.
	if err := syscall.SetNonblock(fds[0], true); err != nil {
		syscall.Close(fds[0])
		syscall.Close(fds[1])
		return nil, nil, err
	}
	return os.NewFile(uintptr(fds[0]), "control"), os.NewFile(uintptr(fds[1]), "control"), nil
}

// configure sends the driver the mode and the environment of its programs; it answers with
// a hello.
func (p *process) configure(once bool, env map[string]string) error {
	mode := ""
	if once {
		mode = "once"
	}
	p.once.Store(once)
	return p.send(frames.Configure, append([]string{mode}, pairs(env)...)...)
}

// keepDir makes the process's working directory the caller's to remove. It
// reports whether the process is there, and so the directory.
func (p *process) keepDir() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.release = nil
	return !p.dead
}

// readHello waits for the driver's hello, which has the runtime's version.
func (p *process) readHello(ctx context.Context) (string, error) {
	select {
	case <-p.greeted:
	case <-p.gone:
	case <-ctx.Done():
		return "", context.Cause(ctx)
	}
	if !isDone(p.greeted) {
		return "", p.lang.unstarted(fmt.Errorf("%w: %s did not start: %s", codeinterp.ErrUnavailable, p.lang.Name, p.startupMessage()))
	}
	if problem, failed := strings.CutPrefix(p.hello, "!"); failed {
		return "", preloadError(problem)
	}
	return p.hello, nil
}

// startupMessage returns what a process that did not come up printed, or what it
// ended of.
func (p *process) startupMessage() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	text := strings.ToValidUTF8(strings.TrimSpace(string(p.startup)), "\uFFFD")
	if len(text) > 500 {
		text = text[len(text)-500:]
	}
	switch {
	case text != "":
		return text
	case !isDone(p.gone):
		return "it ended without a word"
	}
	return unsaid(p.sb.Wait())
}

// unsaid returns what is known of how a process ended that said nothing.
func unsaid(e sandbox.Exit) string {
	switch {
	case e.Signal == syscall.SIGABRT && e.Detail == "":
		// libuv's way to say that pthread_create failed.
		return "it aborted without a word, as runtimes do that can start no thread: the limit of processes may be reached"
	case e.Detail != "":
		return "it was ended by a limit: " + e.Detail
	case e.Cause == codeinterp.CauseCPU:
		return "it was ended by the limit of CPU time"
	case e.Cause != "" && e.Cause != codeinterp.CauseSignal:
		return fmt.Sprintf("it was ended by the limit of %s", e.Cause)
	}
	return "it ended without a word"
}
