package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"regexp"
	"strconv"
	"strings"
	"sync"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/toolcell/toolcell/cmd/toolcell/internal/terminal"
	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/providers/subprocess"
)

type replFlags struct {
	programFlags
	history string
}

func (f *replFlags) registerAll(fs *pflag.FlagSet, getenv func(string) string) {
	group(fs, "Program", "", func() {
		fs.StringVar(&f.language, "language", "", "the `language` (default: Python for local processes and Jupyter, JavaScript for the embedded engine)")
		fs.StringVar(&f.history, "history", "", "the `file` that keeps what was typed, or none (default: toolcell/history-LANGUAGE in the user's configuration directory)")
	})
	f.register(fs, getenv)
}

// replCommand runs programs in one context as they are typed.
func (a *app) replCommand() *cobra.Command {
	f := &replFlags{}
	c := a.command("repl [flags]", "Type programs and see their output; variables stay", f.registerAll,
		func(ctx context.Context, fs *pflag.FlagSet, _ []string) int { return a.repl(ctx, f, fs) })
	c.Example = "  toolcell repl --language python --with pandas"
	return c
}

// repl reads and runs programs until the end of the input, :quit, or the end of ctx.
func (a *app) repl(ctx context.Context, f *replFlags, fs *pflag.FlagSet) int {
	if f.language == "" && f.settings != nil && len(f.settings.Languages) > 0 {
		f.language = f.settings.Languages[0]
	}
	if err := f.choose(fs); err != nil {
		return a.usageError("%s", plain(err))
	}
	if f.language == "" && f.provider == "subprocess" {
		f.language = "python"
	}
	var err error
	here := f.startHere()
	if f.script, err = newScript(&f.programFlags, "", nil); err != nil {
		return a.usageError("%s", plain(err))
	}
	timeout := max(f.timeout, 0)
	f.timeout = min(f.timeout, 0) // is a program's, not the provider's
	ci, code := a.start(ctx, &f.programFlags)
	if ci == nil {
		return code
	}
	defer ci.Close()
	language, err := chooseLanguage(f.language, ci.Languages())
	if err != nil {
		return a.usageError("%s%s", plain(err), f.elsewhere())
	}
	r := &repl{app: a, language: language, options: codeinterp.RunOptions{Timeout: timeout}, env: f.env.values, files: f.startFiles, images: newImageShower(a, &f.programFlags)}
	r.images.beside("repl")
	if err := r.open(ctx, ci); err != nil {
		return a.fail(err)
	}
	r.lines, err = r.newReader(f)
	if err != nil {
		return a.fail(err)
	}
	defer func() {
		if err := r.lines.close(); err != nil {
			fmt.Fprintf(a.stderr, "toolcell: the history is not kept: %v\n", err)
		}
	}()
	for _, l := range codeinterp.Describe(ci).Languages {
		if l.Name == language {
			fmt.Fprintf(r.lines, "%s, %s; :help lists commands\n", cmp.Or(l.Runtime, language), codeinterp.Describe(ci).Provider)
		}
	}
	if here {
		fmt.Fprintf(r.lines, "programs can read %s; --write . lets them change it\n", visible(f.dir))
	}
	return r.loop(ctx)
}

// startHere makes the current directory the one to start in, which programs can read,
// unless it is the user's home or the root directory.
func (f *programFlags) startHere() bool {
	dir, err := os.Getwd()
	home, _ := os.UserHomeDir()
	if err != nil || f.provider != "subprocess" || f.dir != "" || f.startFiles != "" || dir == home || dir == "/" || f.isolation == subprocess.None {
		return false
	}
	f.dir = dir
	return true
}

// A repl reads programs and runs them in one context.
type repl struct {
	*app
	lines    programReader
	language string
	options  codeinterp.RunOptions
	env      map[string]string
	files    string // a directory of files for the context; empty: none
	images   imageShower

	interpreter codeinterp.StatefulInterpreter
	manager     codeinterp.ContextManager // may be nil
	completer   codeinterp.Completer      // may be nil
	context     codeinterp.ContextID
	reads       bool // a program may read what is typed
}

// open creates the context.
func (r *repl) open(ctx context.Context, ci codeinterp.CodeInterpreter) (err error) {
	var ok bool
	if r.interpreter, ok = codeinterp.Stateful(ci); !ok {
		return fmt.Errorf("%w: this provider keeps no variables; use toolcell run", codeinterp.ErrInvalid)
	}
	r.manager, _ = codeinterp.Manager(ci)
	r.completer, _ = codeinterp.Completions(ci)
	r.context, err = r.create(ctx)
	return err
}

// loop reads and runs programs until the end of the input.
func (r *repl) loop(ctx context.Context) int {
	interrupts := make(chan os.Signal, 1)
	signal.Notify(interrupts, os.Interrupt)
	defer signal.Stop(interrupts)
	for {
		text, err := r.lines.read(ctx)
		switch {
		case ctx.Err() != nil:
			return r.stopped()
		case errors.Is(err, terminal.ErrAborted):
			continue
		case errors.Is(err, io.EOF):
			return 0
		case err != nil:
			return r.fail(fmt.Errorf("reading: %w", err))
		}
		if name, rest, ok := commandIn(text); ok {
			if r.command(ctx, name, rest) {
				return 0
			}
			continue
		}
		if code, ok := exitIn(r.language, text); ok {
			return code
		}
		if r.stray(text) {
			continue
		}
		if strings.TrimSpace(text) != "" && !r.run(ctx, text, interrupts) {
			return exitFailure
		}
	}
}

// run runs a program and shows its output. It reports whether it can go on.
func (r *repl) run(ctx context.Context, program string, interrupts <-chan os.Signal) bool {
	for len(interrupts) > 0 {
		<-interrupts // meant for nothing that still runs
	}
	s := newScreen(r.app, r.images)
	ctx, leave, show := s.follow(ctx)
	defer leave()
	stop := make(chan struct{})
	defer close(stop)
	go r.interrupt(ctx, interrupts, stop, leave)
	opts := r.options
	opts.OnOutput = show
	in, done := r.input(program)
	opts.Input = in
	res, err := r.interpreter.RunInContext(ctx, r.context, program, &opts)
	done()
	s.rest(&res)
	s.finishLine()
	s.end(&res)
	r.images = s.images
	r.missing(r.interpreter, r.language, &res)
	r.report(program, &res, err)
	if s.err != nil {
		r.fail(fmt.Errorf("showing the output: %w", s.err))
	}
	return s.err == nil && !errors.Is(err, codeinterp.ErrContext) && !errors.Is(err, codeinterp.ErrClosed)
}

// interrupt interrupts the run when Ctrl-C is pressed, and ends it if that cannot be
// done.
func (r *repl) interrupt(ctx context.Context, interrupts <-chan os.Signal, stop <-chan struct{}, leave func()) {
	for {
		select {
		case <-stop:
			return
		case <-interrupts:
			if r.manager == nil || r.manager.InterruptContext(ctx, r.context) != nil {
				leave()
			}
		}
	}
}

// leaving matches programs that end the prompt.
var leaving = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^\s*(?:exit|quit)(?:\s*\(\s*(\d*)\s*\)|(?:\s+(\d+))?)\s*;?\s*$`)
})

// exitIn returns the exit code of a program that ends the prompt.
func exitIn(language, program string) (code int, ok bool) {
	m := leaving().FindStringSubmatch(program)
	if m == nil || language == "bash" && (strings.Contains(program, "(") || strings.Contains(program, "quit")) {
		return 0, false
	}
	code, _ = strconv.Atoi(m[1] + m[2])
	return code & 0xff, true
}

// stray reports whether a line of Python is indented at the top level, and prints an error:
// it is the rest of a block that a blank line has ended, and must not run by itself.
func (r *repl) stray(text string) bool {
	_, piped := r.lines.(*plainLines)
	if !piped || r.language != "python" || strings.TrimSpace(text) == "" || text[0] != ' ' && text[0] != '\t' {
		return false
	}
	fmt.Fprintf(r.stderr, "    %s\nIndentationError: unexpected indent\n", strings.TrimSpace(text))
	return true
}

// report prints how a run ended if its output does not show it.
func (r *repl) report(program string, res *codeinterp.Result, err error) {
	if err != nil && res.Status != codeinterp.StatusCanceled {
		r.fail(err)
	}
	if res.Cause == codeinterp.CauseInterrupt {
		fmt.Fprintln(r.stderr, "toolcell: interrupted")
	} else if res.Status == codeinterp.StatusError && res.Error == nil && r.language != "bash" { // whose commands often fail
		fmt.Fprintf(r.stderr, "toolcell: exit code %d\n", res.ExitCode)
	}
	if res.StateLost {
		fmt.Fprintln(r.stderr, "toolcell: the variables are gone")
	}
}

// create creates a context, with the files of a template.
func (r *repl) create(ctx context.Context) (codeinterp.ContextID, error) {
	o := &codeinterp.ContextOptions{Env: r.env}
	if r.files != "" {
		o.Files = os.DirFS(r.files)
	}
	return r.interpreter.CreateContext(ctx, r.language, o)
}
