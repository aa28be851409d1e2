//go:build unix

package awk

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/codeinterp/driver"
)

// An Interpreter runs awk programs.
type Interpreter struct{ *driver.Interpreter }

// A Stateful interpreter also has contexts.
type Stateful struct{ *driver.Stateful }

// New returns an interpreter without contexts.
func New() Interpreter { return Interpreter{driver.New(runtime{}, driver.Config{})} }

// NewStateful returns one with contexts.
func NewStateful() Stateful { return Stateful{driver.NewStateful(runtime{}, driver.Config{})} }

type runtime struct{}

func (runtime) Describe() codeinterp.Info {
	return codeinterp.Info{Provider: "awk", Languages: []codeinterp.LanguageInfo{{Name: "awk", Runtime: "the host's awk", Contexts: true}},
		Isolation: codeinterp.Isolation{Backend: "none"}} // what is not said is taken for open
}

func (runtime) Start(_ context.Context, o driver.Options) (driver.Session, error) {
	if info, err := os.Stat(o.Cwd); o.Cwd != "" && (err != nil || !info.IsDir()) {
		return nil, fmt.Errorf("%w: Cwd is no directory", codeinterp.ErrInvalid)
	}
	dir, err := os.MkdirTemp("", "awk-")
	s := &session{o: o, dir: dir}
	if err != nil {
		return nil, fmt.Errorf("%w: no directory can be made", codeinterp.ErrUnavailable)
	}
	return s, s.Reset(context.Background())
}

func (runtime) Close(context.Context) error { return nil }

// A session is a directory, in which each program is a process of its own.
type session struct {
	o   driver.Options
	dir string
	cmd *exec.Cmd // of the program
}

func (s *session) Cwd() string { return cmp.Or(s.o.Cwd, filepath.Join(s.dir, "files")) }

func (s *session) Run(ctx context.Context, p *driver.Program, out *driver.Output) (o driver.Outcome, err error) {
	code := filepath.Join(s.dir, "program")
	cmd, killed := exec.Command("awk", "-f", code), make(chan error, 1)
	s.cmd = cmd
	none, err := os.OpenFile(os.DevNull, os.O_WRONLY, 0) // of which reading fails
	if err != nil {
		return o, fmt.Errorf("%w: there is no %s", codeinterp.ErrUnavailable, os.DevNull)
	}
	defer none.Close()
	cmd.Dir, cmd.Env, cmd.Stdin = s.Cwd(), []string{"PATH=" + os.Getenv("PATH")}, none
	if p.Stdin != nil {
		cmd.Stdin = bytes.NewReader(p.Stdin)
	}
	for _, env := range []map[string]string{s.o.Env, p.Env} {
		for k, v := range env {
			cmd.Env = append(cmd.Env, k+"="+v)
		}
	}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Stdout, cmd.Stderr = out.Stream(codeinterp.Stdout), out.Stream(codeinterp.Stderr)
	if errors.Join(os.WriteFile(code, []byte(p.Code), 0o600), p.HandOver(cmd.Start)) != nil {
		return o, fmt.Errorf("%w: awk cannot be started", codeinterp.ErrUnavailable)
	}
	stop := context.AfterFunc(ctx, func() { killed <- s.signal(syscall.SIGKILL) })
	state, err := cmd.Process.Wait()
	p.End() // from now on an interrupt could hit other processes
	if !stop() {
		<-killed
	}
	_ = s.signal(syscall.SIGKILL)   // what the program left behind; then nothing writes
	if _ = cmd.Wait(); err != nil { // Wait waits for the output, too
		return driver.Outcome{Unknown: err}, nil
	}
	o.ExitCode = state.ExitCode()
	if status := state.Sys().(syscall.WaitStatus); status.Signaled() {
		o.ExitCode, o.Cause = 128+int(status.Signal()), codeinterp.CauseSignal
		o.Lost = status.Signal() != syscall.SIGTERM && ctx.Err() == nil
	}
	if o.Lost {
		err = s.Reset(ctx)
	}
	return o, err
}

// Interrupt sends no SIGINT, which awk ignores during a system().
func (s *session) Interrupt(context.Context) error { return s.signal(syscall.SIGTERM) }

// signal reaches the program and what it has started.
func (s *session) signal(n syscall.Signal) error { return syscall.Kill(-s.cmd.Process.Pid, n) }

func (s *session) Reset(context.Context) error {
	files := filepath.Join(s.dir, "files")
	if errors.Join(os.RemoveAll(files), os.Mkdir(files, 0o700)) != nil {
		return fmt.Errorf("%w: its files cannot be removed", codeinterp.ErrUnavailable)
	}
	return nil
}

func (s *session) Close(context.Context) error { return os.RemoveAll(s.dir) }
