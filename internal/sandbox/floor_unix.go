//go:build unix && !linux

package sandbox

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/toolcell/toolcell/codeinterp"
)

// A Sandbox starts processes under one mode of isolation. On this system the
// only one is none: a process group, resource limits and a clean environment.
type Sandbox struct {
	mode Mode
	opts Options
	ids  *ids // nil
	temp tempRoot
	live liveProcs
}

// New returns a Sandbox where o allows none mode. Its error wraps
// codeinterp.ErrIsolation, or ErrInvalid.
func New(o *Options) (*Sandbox, error) {
	s := &Sandbox{mode: None}
	if o != nil {
		s.opts = *o
	}
	if err := s.opts.check(); err != nil {
		return nil, err
	}
	if s.opts.Require != None && (s.opts.Require != Auto || !s.opts.AllowNone) {
		return nil, fmt.Errorf("%w: there is only mode none on this system, and it must be allowed explicitly", codeinterp.ErrIsolation)
	}
	if s.opts.Egress || s.opts.Forks {
		return nil, fmt.Errorf("%w: egress and forks: only on Linux", codeinterp.ErrIsolation)
	}
	s.opts.Limits = s.opts.Limits.or(DefaultLimits())
	if os.Geteuid() == 0 {
		return nil, fmt.Errorf("%w: the host is root; run it as another user", codeinterp.ErrIsolation)
	}
	return s, nil
}

// Report says item by item what is in force.
func (s *Sandbox) Report() codeinterp.Isolation {
	return codeinterp.Isolation{
		Backend: "none", Filesystem: codeinterp.ReachOpen, Network: codeinterp.ReachOpen,
		Processes: codeinterp.ReachOpen, Signals: codeinterp.ReachOpen,
		Memory: "rlimit", CPU: "rlimit", PIDs: "none", Disk: "none", HostDeath: "none",
		User:    s.user(),
		Reasons: []string{"bwrap: only on Linux", "landlock: only on Linux"},
	}
}

// Close kills every process of the sandbox, waits until they are gone, and
// removes what TempDir made. Later calls of Start fail with ErrClosed.
func (s *Sandbox) Close() error {
	s.live.close()
	return s.temp.remove()
}

// Start starts a program in a process group of its own. A shell sets its
// limits before it runs.
func (s *Sandbox) Start(c *Cmd) (*Process, error) {
	pl, err := s.plan(c)
	if err != nil {
		return nil, err
	}
	dir := pl.Workdir
	if pl.Cwd != nil {
		dir = pl.Cwd.Path()
	}
	cmd := &exec.Cmd{
		Path: "/bin/sh", Dir: dir, Env: pl.Env, SysProcAttr: &syscall.SysProcAttr{Setpgid: !pl.Terminal, Setsid: pl.Terminal, Setctty: pl.Terminal},
		Args: append([]string{"sh", "-c", pl.ulimit() + `p=$1; shift; exec "$p" "$@"`, "sh", pl.Path}, pl.Args[1:]...),
	}
	null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", codeinterp.ErrUnavailable, bare(err))
	}
	defer null.Close()
	files := pl.Files
	for i, f := range files {
		if f == nil {
			files[i] = null
		}
	}
	cmd.Stdin, cmd.Stdout, cmd.Stderr, cmd.ExtraFiles = files[0], files[1], files[2], files[3:]
	p := &proc{s: s, cmd: cmd}
	p.done = make(chan struct{})
	p.Process.tree = p
	return p.start()
}

// ulimit returns shell commands that set what the shell can set.
func (p *plan) ulimit() string {
	l := p.limits
	var b strings.Builder
	set := func(flag string, v int64) {
		if v > 0 {
			fmt.Fprintf(&b, "ulimit -%s %d 2>/dev/null; ", flag, v)
		}
	}
	set("d", p.data()>>10) // ulimit counts in KiB
	set("t", l.CPU)
	set("f", l.FileSize>>9) // and files in blocks of 512 bytes
	set("n", int64(l.OpenFiles))
	return b.String() + "ulimit -c 0; "
}

// A proc is a Process with a group of its own.
type proc struct {
	Process
	s   *Sandbox
	cmd *exec.Cmd

	mu     sync.Mutex
	ended  bool
	killed bool
}

func (p *proc) start() (*Process, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if err := p.s.live.add(p); err != nil {
		return nil, err
	}
	if err := p.cmd.Start(); err != nil {
		p.s.live.remove(p)
		close(p.done)
		return nil, fmt.Errorf("%w: starting the program: %w", codeinterp.ErrUnavailable, bare(err))
	}
	p.pid = p.cmd.Process.Pid
	go p.wait()
	return &p.Process, nil
}

func (p *proc) wait() {
	_ = p.cmd.Wait()
	p.mu.Lock()
	p.ended = true
	_ = syscall.Kill(-p.pid, syscall.SIGKILL)
	st := p.cmd.ProcessState
	p.exit = Exit{Code: st.ExitCode(), CPU: time.Duration(st.UserTime() + st.SystemTime())}
	if ws, ok := st.Sys().(syscall.WaitStatus); ok {
		p.exit.set(ws)
	}
	if p.killed {
		p.exit.Killed, p.exit.Cause = true, ""
	}
	p.mu.Unlock()
	p.s.live.remove(p)
	close(p.done)
}

func (p *proc) signalAll(sig syscall.Signal) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.ended {
		return os.ErrProcessDone
	}
	return syscall.Kill(-p.pid, sig)
}

func (p *proc) kill() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.ended && p.pid > 0 {
		p.killed = true
		_ = syscall.Kill(-p.pid, syscall.SIGKILL)
	}
}

// PauseWay says how Pause stops processes: here it does not.
func (s *Sandbox) PauseWay() string { return "" }

// Pause fails on this system.
func (s *Sandbox) Pause(context.Context) error { return errors.ErrUnsupported }

// Resume does nothing on this system.
func (s *Sandbox) Resume() {}

func (p *proc) finish(uint32) {}

func (p *proc) rest(bool) {}

// Showable returns nil: programs run as the host's user.
func (s *Sandbox) Showable(string) error { return nil }

// Show does nothing on this system.
func (s *Sandbox) Show([]string) error { return nil }

func (s *Sandbox) shows(string) bool { return false }

// CanFork reports whether Fork works in this mode: not on this system.
func (s *Sandbox) CanFork() bool { return false }

// Fork fails with ErrUnavailable on this system.
func (s *Sandbox) Fork(*Process, *Cmd) (*Fork, error) {
	return nil, fmt.Errorf("%w: %w", codeinterp.ErrUnavailable, errors.ErrUnsupported)
}

// Adopt is never reached on this system.
func (f *Fork) Adopt(int) (*Process, error) { return nil, codeinterp.ErrUnavailable }

// Close does nothing on this system.
func (f *Fork) Close() error { return nil }
