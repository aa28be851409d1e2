package main

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"

	"github.com/toolcell/toolcell/cmd/toolcell/internal/outdir"
	"github.com/toolcell/toolcell/cmd/toolcell/internal/terminal"
	"github.com/toolcell/toolcell/cmd/toolcell/internal/unfinished"
)

// maxLine is the longest line, in bytes, of input that is not a terminal.
const maxLine = 1 << 20

// A programReader reads programs and commands until io.EOF. What is written to it is for
// people who type.
type programReader interface {
	io.Writer
	read(ctx context.Context) (string, error)
	close() error
}

// newReader returns an editor for a terminal, and otherwise a reader of plain lines.
func (r *repl) newReader(f *replFlags) (programReader, error) {
	in, isFile := r.stdin.(*os.File)
	if !isFile || !isTerminal(r.stdin) || !isTerminal(r.stdout) || !terminal.Supported {
		lines := bufio.NewScanner(r.stdin)
		lines.Buffer(nil, maxLine)
		return &plainLines{Writer: io.Discard, lines: lines, language: r.language}, nil
	}
	e := &editor{Writer: r.stdout, Editor: terminal.NewEditor(in, r.stdout), in: in, file: f.history, writable: f.write}
	e.Prompt, e.More, e.Complete = promptOf(r.language), "... ", r.complete
	e.Unfinished = func(text string) (bool, string) {
		if _, _, ok := commandIn(text); ok || !unfinished.Program(r.language, text+"\n") {
			return false, ""
		}
		return true, unfinished.Indent(r.language, text)
	}
	if e.file == "" {
		if dir, err := os.UserConfigDir(); err == nil {
			e.file = filepath.Join(dir, "toolcell", "history-"+r.language)
		}
	}
	if e.file == "none" {
		e.file = ""
	}
	if b, err := os.ReadFile(e.file); err == nil {
		for line := range strings.Lines(string(b)) {
			e.History = append(e.History, unescapeLines.Replace(strings.TrimSuffix(line, "\n")))
		}
	}
	return e, nil
}

// The history file has a program in each line.
var (
	escapeLines   = strings.NewReplacer(`\`, `\\`, "\n", `\n`)
	unescapeLines = strings.NewReplacer(`\\`, `\`, `\n`, "\n")
)

// plainLines reads lines that were not typed at a terminal.
type plainLines struct {
	io.Writer
	lines    *bufio.Scanner
	language string
}

// read returns the lines up to the end of a program or a command.
func (p *plainLines) read(ctx context.Context) (string, error) {
	var text strings.Builder
	for {
		line, err := p.line(ctx)
		if errors.Is(err, io.EOF) && text.Len() > 0 {
			return text.String(), nil // the end comes again
		}
		if err != nil {
			return "", err
		}
		if _, _, ok := commandIn(line); ok && text.Len() == 0 {
			return line, nil
		}
		text.WriteString(line + "\n")
		if !unfinished.Program(p.language, text.String()) {
			return text.String(), nil
		}
	}
}

// line returns the next line, or ctx's cause.
func (p *plainLines) line(ctx context.Context) (string, error) {
	return await(ctx, func() (string, error) {
		if !p.lines.Scan() {
			return "", cmp.Or(p.lines.Err(), io.EOF)
		}
		return p.lines.Text(), nil
	})
}

func (p *plainLines) close() error { return nil }

// An editor reads programs from a terminal.
type editor struct {
	io.Writer
	*terminal.Editor
	in       *os.File
	file     string // of the history; may be empty
	writable outdir.Writable
}

func (e *editor) read(ctx context.Context) (string, error) { return e.Read(ctx) }

// close writes the history.
func (e *editor) close() error {
	if e.file == "" {
		return nil
	}
	dir, err := e.writable.Open(filepath.Dir(e.file))
	if err != nil {
		return err
	}
	defer dir.Close()
	var b strings.Builder
	for _, text := range e.History {
		b.WriteString(escapeLines.Replace(text) + "\n")
	}
	return outdir.Write(dir, filepath.Base(e.file), []byte(b.String()), 0o600)
}

// promptOf returns the prompt that a language's users know.
func promptOf(language string) string {
	switch language {
	case "python":
		return ">>> "
	case "bash":
		return "$ "
	}
	return "> "
}

// mayRead matches programs that read standard input. Other programs get none, so that what
// is typed while they run is the next program.
var mayRead = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`\binput *\(|\bstdin\b|\bgetpass\b|\breadline\b|\bread\b|\bbreakpoint *\(|\bset_trace\b|\bprompt *\(|\bselect\b`)
})

// input returns the standard input of a program, or nil. done returns the terminal to the
// editor.
func (r *repl) input(program string) (in io.Reader, done func()) {
	done = func() {}
	e, ok := r.lines.(*editor)
	if !ok || !takesInput(r.interpreter, r.language) {
		return nil, done // the program would take the next lines
	}
	// What once reads may be called by any later program.
	if r.reads = r.reads || mayRead().MatchString(program); !r.reads {
		return nil, done
	}
	typed := terminal.NewReader(e.in)
	if typed == nil {
		return nil, done
	}
	return struct{ io.Reader }{typed}, func() { _ = typed.Close() } // not its descriptor
}
