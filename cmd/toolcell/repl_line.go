package main

import (
	"bufio"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"

	"github.com/mattn/go-isatty"
	"github.com/peterh/liner"
)

// errAborted says that Ctrl-C dropped what was being typed.
var errAborted = errors.New("aborted")

// maxLine is the longest line, in bytes, of input that is no terminal.
const maxLine = 1 << 20

// A lineReader reads lines until io.EOF. What is written to it is for people
// who type, and goes nowhere where there are none.
type lineReader interface {
	io.Writer
	read(ctx context.Context, prompt string) (string, error)
	close() error
}

// newLineReader returns an editor where this is a terminal, else what reads
// plain lines.
func (a *app) newLineReader(f *replFlags, language string, complete liner.WordCompleter) (lineReader, error) {
	in, _ := a.stdin.(*os.File)
	out, _ := a.stdout.(*os.File)
	if in == nil || out == nil || !isatty.IsTerminal(in.Fd()) || !isatty.IsTerminal(out.Fd()) {
		lines := bufio.NewScanner(a.stdin)
		lines.Buffer(nil, maxLine)
		return &plainLines{Writer: io.Discard, lines: lines}, nil
	}
	cooked, err := liner.TerminalMode()
	if err != nil {
		return nil, err
	}
	e := &editor{Writer: a.stdout, in: in, cooked: cooked, state: liner.NewLiner(), keep: f.keepFile}
	e.state.SetCtrlCAborts(true)
	e.state.SetBeep(false)
	e.state.SetWordCompleter(complete)
	e.state.SetTabCompletionStyle(liner.TabPrints)
	if e.history = f.history; e.history == "" {
		if dir, err := os.UserConfigDir(); err == nil {
			e.history = filepath.Join(dir, "toolcell", "history-"+language)
		}
	}
	if e.history == "none" {
		e.history = ""
	}
	if file, err := os.Open(e.history); err == nil {
		// A file that cannot be read to its end keeps nobody from typing.
		_, _ = e.state.ReadHistory(file)
		file.Close()
	}
	return e, nil
}

// typed is a line, or why there is none.
type typed struct {
	line string
	err  error
}

// await returns what read returns, or ctx's cause. read is left behind then.
func await(ctx context.Context, read func() (string, error)) (string, error) {
	done := make(chan typed, 1)
	go func() {
		line, err := read()
		done <- typed{line, err}
	}()
	select {
	case t := <-done:
		return t.line, t.err
	case <-ctx.Done():
		return "", context.Cause(ctx)
	}
}

// plainLines reads lines that nobody types.
type plainLines struct {
	io.Writer
	lines *bufio.Scanner
}

func (p *plainLines) read(ctx context.Context, _ string) (string, error) {
	return await(ctx, func() (string, error) {
		if p.lines.Scan() {
			return p.lines.Text(), nil
		}
		if err := p.lines.Err(); err != nil {
			return "", err
		}
		return "", io.EOF
	})
}

func (p *plainLines) close() error { return nil }

// An editor reads lines from a terminal.
type editor struct {
	io.Writer
	in      *os.File
	cooked  liner.ModeApplier // as the terminal was
	state   *liner.State
	history string // file; empty for none
	keep    func(path string) (*os.File, error)
}

func (e *editor) read(ctx context.Context, prompt string) (string, error) {
	line, err := await(ctx, func() (string, error) { return e.state.Prompt(prompt) })
	if errors.Is(err, liner.ErrPromptAborted) {
		return "", errAborted
	}
	if err == nil && line != "" {
		e.state.AppendHistory(line)
	}
	return line, err
}

// close gives the terminal back and keeps what was typed.
func (e *editor) close() error {
	err := e.state.Close()
	if e.history == "" {
		return err
	}
	file, err := e.keep(e.history)
	if err != nil {
		return err
	}
	_, err = e.state.WriteHistory(file)
	return errors.Join(err, file.Close())
}
