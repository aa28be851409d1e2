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

	stop  chan struct{} // closed when the command is to end
	ended sync.Once
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

// Run implements driver.Session.
func (s *toyShell) Run(ctx context.Context, p *driver.Program, out *driver.Output) (driver.Outcome, error) {
	r := &toyRun{ctx: ctx, stop: s.stop, in: p, out: out}
	p.Begin()
	code, ended := s.execute(r)
	p.End()
	if !ended {
		return driver.Outcome{Lost: true, Cause: codeinterp.CauseSignal}, nil
	}
	return driver.Outcome{ExitCode: code}, nil
}

// execute runs the command; ended is false where something else ended it.
func (s *toyShell) execute(r *toyRun) (code int, ended bool) {
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
		case "cat":
			input := r.in.Stdin
			if s.o.Input != nil {
				input, _ = io.ReadAll(s.o.Input)
			}
			_ = write(r, codeinterp.Stdout, string(input))
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
	s.ended.Do(func() { close(s.stop) })
	return nil
}

// Reset implements driver.Session.
func (s *toyShell) Reset(context.Context) error { return nil }

// Close implements driver.Session.
func (s *toyShell) Close(context.Context) error { return nil }
