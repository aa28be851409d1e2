package conformance

import (
	"context"
	"fmt"
	"io"
	"os/exec"
	"strings"
	"sync"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/codeinterp/driver"
)

// A toyShell runs one command, of the few words that the suite's consist of.
type toyShell struct {
	o       codeinterp.CommandOptions
	size    codeinterp.TerminalSize // of a terminal
	resizes <-chan codeinterp.TerminalSize
	line    string // that was read

	mu   sync.Mutex
	stop chan struct{} // closed when the command is to end
	sent bool          // by a signal of the caller's
}

// StartCommand implements driver.Commander.
func (toy) StartCommand(_ context.Context, o codeinterp.CommandOptions) (driver.Session, error) {
	return &toyShell{o: o, stop: make(chan struct{})}, nil
}

// StartTerminal implements driver.TerminalStarter.
func (toy) StartTerminal(_ context.Context, o codeinterp.TerminalOptions) (driver.Session, error) {
	return &toyShell{o: o.CommandOptions, size: o.Size, resizes: o.Resizes, stop: make(chan struct{})}, nil
}

// read reads what is typed up to Enter, and shows it.
func (s *toyShell) read(r *toyRun) {
	s.line = string(r.in.Stdin)
	lines := make(chan string, 1)
	if s.o.Input != nil {
		go func() {
			b := make([]byte, 100)
			n, _ := s.o.Input.Read(b)
			lines <- string(b[:n])
		}()
	} else {
		lines <- s.line
	}
	for read := false; !read; {
		select {
		case s.size = <-s.resizes:
		case s.line = <-lines:
			read = true
		}
	}
	s.line = strings.TrimSuffix(s.line, "\r")
	_ = write(r, codeinterp.Stdout, s.line+"\r\n")
}

// end ends the command, once.
func (s *toyShell) end(sent bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	select {
	case <-s.stop:
	default:
		s.sent = sent
		close(s.stop)
	}
}

// Run implements driver.Session.
func (s *toyShell) Run(ctx context.Context, p *driver.Program, out *driver.Output) (driver.Outcome, error) {
	r := &toyRun{ctx: ctx, stop: s.stop, in: p, out: out}
	done := make(chan struct{})
	var signals sync.WaitGroup
	signals.Go(func() {
		select {
		case <-s.o.Signals:
			s.end(true)
		case <-done:
		}
	})
	p.Begin()
	code, ended := s.execute(r)
	p.End()
	close(done)
	signals.Wait()
	switch {
	case ended:
		return driver.Outcome{ExitCode: code}, nil
	case s.sent:
		return driver.Outcome{ExitCode: 143, Cause: codeinterp.CauseInterrupt}, nil
	}
	return driver.Outcome{Lost: true, Cause: codeinterp.CauseSignal}, nil
}

// execute runs the command; ended is false where something else ended it.
func (s *toyShell) execute(r *toyRun) (code int, ended bool) {
	if s.o.Cwd != "" && s.o.Cwd != "/usr" {
		_ = write(r, codeinterp.Stderr, "no directory "+s.o.Cwd+"\n")
		return 126, true
	}
	for part := range strings.SplitSeq(r.in.Code, "; ") {
		if left, next, ok := strings.Cut(part, " & "); ok {
			part = next
			child := exec.Command("sleep", strings.TrimPrefix(left, "sleep "))
			if child.Start() != nil {
				return 127, true
			}
			defer func() { _, _ = child.Process.Kill(), child.Wait() }()
		}
		word, rest, _ := strings.Cut(part, " ")
		switch word {
		case "echo":
			kind := codeinterp.Stdout
			if text, ok := strings.CutSuffix(rest, " >&2"); ok {
				kind, rest = codeinterp.Stderr, text
			}
			_ = write(r, kind, strings.ReplaceAll(rest, "$x", s.line)+"\n")
		case "read":
			s.read(r)
		case "stty":
			_ = write(r, codeinterp.Stdout, fmt.Sprintf("%d %d\n", s.size.Rows, s.size.Columns))
		case "printf":
			_ = write(r, codeinterp.Stdout, r.in.Env[strings.Trim(rest, `%s "$`)])
		case "cat":
			input := r.in.Stdin
			if s.o.Input != nil {
				input, _ = io.ReadAll(s.o.Input)
			}
			_ = write(r, codeinterp.Stdout, string(input))
		case "pwd":
			_ = write(r, codeinterp.Stdout, s.o.Cwd+"\n")
		case "exit":
			return number(rest), true
		case "sleep":
			if !r.pause(duration(rest + "s")) {
				return 0, false
			}
		}
	}
	return 0, true
}

// Interrupt implements driver.Session.
func (s *toyShell) Interrupt(context.Context) error {
	s.end(false)
	return nil
}

// Reset implements driver.Session.
func (s *toyShell) Reset(context.Context) error { return nil }

// Close implements driver.Session.
func (s *toyShell) Close(context.Context) error { return nil }
