package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"time"

	"github.com/toolcell/toolcell/codeinterp"
)

type runFlags struct {
	providerFlags
	timeout time.Duration
	json    bool
	code    string
	stdin   bool
	images  string
	env     variables
	dir     string
	notebookFlags
}

func (a *app) run(ctx context.Context, args []string) int {
	var f runFlags
	fs := flag.NewFlagSet("run", flag.ContinueOnError)
	f.register(fs, a.getenv)
	fs.StringVar(&f.language, "language", "", "`language` of the program (default: by the file's name or its #! line; without either, python or else javascript where the provider has it)")
	fs.DurationVar(&f.timeout, "timeout", 0, "end the program, or each cell of a notebook, after this `duration`, such as 30s")
	fs.BoolVar(&f.json, "json", false, "print the result as JSON and nothing else")
	fs.StringVar(&f.code, "e", "", "the program itself (`code`)")
	fs.BoolVar(&f.stdin, "stdin", false, "let the program read this command's standard input")
	fs.StringVar(&f.images, "images", "auto", "show images by auto, kitty, iterm2, sixel or none, or save them into a `directory`")
	fs.Var(&f.env, "env", "a `NAME=VALUE` for the program's environment, or a NAME whose value is this command's; several times for several")
	f.env.getenv = a.getenv
	fs.StringVar(&f.dir, "dir", "", "subprocess: the `directory` to start in and to import from, which programs may read, and change with --write too")
	f.registerNotebook(fs)
	operands, code, done := a.parseLeading(fs, "run [flags] (-e CODE | FILE | -) [ARG...]", args)
	switch {
	case done:
		return code
	case isNotebook(operands, isSet(fs, "e")):
		return a.runNotebook(ctx, &f, fs, operands)
	case f.out != "" || f.allowErrors:
		return a.usageError("--out and --allow-errors are for notebooks, whose names end in .ipynb")
	}
	program, file, args, err := a.program(ctx, &f, operands, isSet(fs, "e"))
	if err == nil && f.language == "" {
		f.language, err = languageOf(file, program)
	}
	f.choose(fs)
	if err == nil {
		f.script, err = newScript(&f, file, args)
	}
	if err != nil && ctx.Err() != nil {
		return a.stopped()
	} else if err != nil {
		return a.usageError("%v", err)
	}
	ci, code := a.start(ctx, &f, false)
	if ci == nil {
		return code
	}
	defer ci.Close()
	language, err := chooseLanguage(f.language, ci.Languages())
	if err != nil {
		return a.usageError("%v%s", err, f.elsewhere())
	}
	program = f.script.introduce(language, program)
	opts := &codeinterp.RunOptions{Timeout: f.timeout, Env: f.env.values}
	if f.stdin {
		if opts.Stdin, err = a.readAll(ctx, math.MaxInt64); err != nil && ctx.Err() != nil {
			return a.stopped()
		} else if err != nil {
			return a.fail(err)
		}
	}
	ci = f.script.named(ci)
	if f.json {
		return a.runJSON(ctx, ci, language, program, opts)
	}
	return a.runLive(ctx, ci, language, program, opts, f.images)
}

func isSet(fs *flag.FlagSet, name string) (set bool) {
	fs.Visit(func(f *flag.Flag) { set = set || f.Name == name })
	return set
}

// program returns the source text, the name of the file it is from and its
// arguments.
func (a *app) program(ctx context.Context, f *runFlags, operands []string, inline bool) (code, file string, args []string, err error) {
	switch {
	case inline:
		return f.code, "", operands, nil
	case len(operands) == 0 && (f.stdin || !a.piped()):
		return "", "", nil, errors.New("no program: give a file, - for standard input, or -e CODE")
	case len(operands) == 0 || operands[0] == "-":
		if f.stdin {
			return "", "", nil, errors.New("standard input is the program, so --stdin has nothing to read")
		}
		b, err := a.readAll(ctx, codeinterp.MaxCode+1)
		return string(b), "", operands[min(1, len(operands)):], err
	}
	b, err := os.ReadFile(operands[0])
	return string(b), operands[0], operands[1:], err
}

// errOpenTimeout is why a provider was not opened: --timeout ran out.
var errOpenTimeout = errors.New("timed out")

// start opens the provider, or returns nil and the exit code.
func (a *app) start(ctx context.Context, f *runFlags, stateful bool) (codeinterp.CodeInterpreter, int) {
	f.waiting, f.spawning = a.waiting, a.spawning
	ci, err := f.start(ctx, stateful)
	switch {
	case err != nil && ctx.Err() != nil:
		return nil, a.stopped()
	case errors.Is(err, errOpenTimeout):
		fmt.Fprintf(a.stderr, "toolcell: timed out after %v, before the program began\n", f.timeout)
		return nil, codeinterp.ExitTimeout
	case err != nil:
		return nil, a.fail(err)
	}
	return ci, 0
}

// start opens the provider within the program's time.
func (f *runFlags) start(ctx context.Context, stateful bool) (codeinterp.CodeInterpreter, error) {
	if f.timeout < 0 {
		return nil, fmt.Errorf("%w: negative timeout %v", codeinterp.ErrInvalid, f.timeout)
	}
	if f.timeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeoutCause(ctx, f.timeout, errOpenTimeout)
		defer cancel()
	}
	var ci codeinterp.CodeInterpreter
	var err error
	for _, name := range f.wanted() {
		f.narrow(name)
		if ci, err = f.open(ctx, stateful); err == nil || !errors.Is(err, codeinterp.ErrUnavailable) {
			break
		}
	}
	if err != nil && context.Cause(ctx) == errOpenTimeout {
		err = errOpenTimeout
	}
	return ci, err
}

func (a *app) runJSON(ctx context.Context, ci codeinterp.CodeInterpreter, language, program string, opts *codeinterp.RunOptions) int {
	opts.MaxOutput = -1
	res, err := ci.RunCode(ctx, language, program, opts)
	if neverBegan(ctx, &res, err) {
		return a.stopped()
	}
	if err != nil && res.Status != codeinterp.StatusCanceled {
		return a.fail(err)
	}
	b, err := res.MarshalJSON()
	if err != nil {
		return a.fail(err)
	}
	if _, err := a.stdout.Write(append(b, '\n')); err != nil {
		return a.fail(err)
	}
	return res.ExitCode
}

func (a *app) runLive(ctx context.Context, ci codeinterp.CodeInterpreter, language, program string, opts *codeinterp.RunOptions, images string) int {
	s := newScreen(a, images)
	ctx, leave := context.WithCancel(ctx)
	defer leave()
	opts.OnOutput = func(o codeinterp.Output) error {
		err := s.live(o)
		if err != nil {
			leave() // nobody sees the program any more
		}
		return err
	}
	res, err := ci.RunCode(ctx, language, program, opts)
	s.rest(&res)
	s.end(&res)
	a.missing(ci, language, &res)
	switch {
	case s.err != nil:
		return a.fail(fmt.Errorf("showing the output: %w", s.err))
	case neverBegan(ctx, &res, err):
		return a.stopped()
	case res.Status == codeinterp.StatusCanceled:
		a.stopped()
	case err != nil:
		return a.fail(err)
	}
	return res.ExitCode
}

// neverBegan reports whether the run was stopped before it began.
func neverBegan(ctx context.Context, res *codeinterp.Result, err error) bool {
	return res.Status == codeinterp.StatusNotRun && ctx.Err() != nil && errors.Is(err, context.Cause(ctx))
}

// missing says which interpreter it was where a module could not be imported,
// and how to have another.
func (a *app) missing(ci codeinterp.CodeInterpreter, language string, res *codeinterp.Result) {
	if res.Error == nil || res.Error.MissingModule == "" {
		return
	}
	if s, ok := ci.(scripted); ok {
		if beside := s.script.beside(res.Error.MissingModule); beside != "" {
			fmt.Fprintf(a.stderr, "toolcell: %s is not open to the program; --dir %s opens it\n", beside, filepath.Dir(beside))
			return
		}
	}
	for _, l := range codeinterp.Describe(ci).Languages {
		if l.Name != language || l.Path == "" {
			continue
		}
		fmt.Fprintf(a.stderr, "toolcell: this was %s, %s; --%s PATH takes another\n", l.Runtime, l.Path, flagOf(language))
		for _, other := range l.PassedOver {
			fmt.Fprintf(a.stderr, "toolcell: passed over: %s\n", other)
		}
	}
}

// flagOf names the flag that chooses the interpreter of a language that can
// miss modules.
func flagOf(language string) string {
	if language == "python" {
		return language
	}
	return "node"
}
