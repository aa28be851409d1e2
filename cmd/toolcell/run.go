package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"slices"
	"syscall"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/environments"
	"github.com/toolcell/toolcell/workspace/template"
)

type runFlags struct {
	programFlags
	json  bool
	code  string
	stdin bool
	fileFlags
	notebookFlags
}

func (f *runFlags) registerAll(fs *pflag.FlagSet, getenv func(string) string) {
	group(fs, "Program", "", func() {
		fs.StringVarP(&f.code, "exec", "e", "", "run this `code`, and show the value of its last expression")
		fs.StringVar(&f.language, "language", "", "the program's `language` (default: by the file's name or its #! line; of -e and standard input JavaScript, or Python with --python, --env-name, --install, --preload or --with PACKAGE; with jupyter the kernel's)")
		fs.BoolVar(&f.stdin, "stdin", false, "give the program this command's standard input")
		fs.BoolVar(&f.json, "json", false, "print the result as JSON and nothing else")
	})
	f.registerFiles(fs)
	f.register(fs, getenv)
	f.registerNotebook(fs)
	group(fs, "Speed", "", func() {
		fs.DurationVar(&f.keep, "keep", 0, "leave a process behind for this `duration`, such as 10m, in which later runs with the same flags find Python started and its packages imported; for Python programs on Linux (environment: TOOLCELL_KEEP)")
	})
}

// runCommand runs a program or a notebook.
func (a *app) runCommand() *cobra.Command {
	f := &runFlags{}
	c := a.command("run [flags] (-e CODE | FILE | -) [ARG...]", "Run a program or a notebook and show its output", f.registerAll,
		func(ctx context.Context, fs *pflag.FlagSet, operands []string) int {
			return a.run(ctx, f, fs, operands)
		})
	// What follows the program's name is the program's.
	c.Args = cobra.ArbitraryArgs
	c.Flags().SetInterspersed(false)
	c.Example = `  toolcell run plot.py
  toolcell run --in sales.csv --out charts plot.py sales.csv
  toolcell run --with pandas -e 'import pandas; pandas.__version__' --language python
  toolcell run analysis.ipynb --out done.ipynb`
	return c
}

// forPython reports whether flags name a Python or its packages, and none of Node.js.
func (f *runFlags) forPython() bool {
	python, node := template.ByLanguage(f.with)
	if f.name != "" {
		e, err := environments.OpenNamed(f.getenv("TOOLCELL_ENVIRONMENTS"), f.name)
		return err != nil || e.Python != "" // the run reports the error
	}
	return len(node) == 0 && (len(python)+len(f.preload)+len(f.install) > 0 || f.python != "")
}

// settle chooses the language and the provider if the flags do not.
func (f *runFlags) settle(fs *pflag.FlagSet, file, program string) (err error) {
	if f.language == "" {
		f.language, err = languageOf(file, program)
	}
	if f.language == "" && f.forPython() {
		f.language = "python"
	}
	if f.language == "" && f.settings != nil && len(f.settings.Languages) > 0 {
		f.language = f.settings.Languages[0]
	}
	if err == nil {
		err = f.choose(fs)
	}
	// A kernel has a language of its own.
	if f.assumed = f.language == "" && f.provider != "jupyter"; f.assumed {
		f.language = "javascript"
	}
	return err
}

func (a *app) run(ctx context.Context, f *runFlags, fs *pflag.FlagSet, operands []string) int {
	inline := fs.Changed("exec")
	if isNotebook(operands, inline) {
		return a.runNotebook(ctx, f, fs, operands)
	}
	program, file, err := a.prepare(ctx, f, fs, operands, inline)
	var files runFiles
	if err == nil {
		files, err = f.openFiles(&f.programFlags, "--out", f.out)
	}
	defer files.close()
	if err != nil && ctx.Err() != nil {
		return a.stopped()
	} else if err != nil {
		return a.usageError("%s", plain(err))
	}
	ci, code := a.start(ctx, &f.programFlags)
	if ci == nil {
		return code
	}
	defer func() { f.net.log.print(a.stderr) }()
	defer ci.Close()
	return a.runIn(ctx, f, ci, program, file, &files)
}

// prepare reads the program and chooses its language, its provider and its script.
func (a *app) prepare(ctx context.Context, f *runFlags, fs *pflag.FlagSet, operands []string, inline bool) (program, file string, err error) {
	if f.allowErrors || f.artifacts != "" {
		return "", "", errors.New("--allow-errors and --artifacts are for notebooks, whose names end in .ipynb; --out DIR saves the files of other programs")
	}
	program, file, args, err := a.program(ctx, f, operands, inline)
	if err == nil {
		err = f.settle(fs, file, program)
	}
	if err != nil && slices.Contains(args, "-e") {
		err = fmt.Errorf("%w; -e behind %q is an argument of that program: flags come first", err, operands[0])
	}
	if err == nil {
		f.script, err = newScript(&f.programFlags, file, args)
	}
	if err == nil {
		f.script.later = f.provider == "subprocess" && len(f.script.python()) <= maxScript
		err = f.checkKeep()
	}
	return program, file, err
}

// runIn runs a program in a provider that is open.
func (a *app) runIn(ctx context.Context, f *runFlags, ci codeinterp.CodeInterpreter, program, file string, files *runFiles) int {
	language, err := chooseLanguage(f.language, ci.Languages())
	if err != nil {
		return a.usageError("%s%s", plain(err), f.elsewhere())
	}
	opts := &codeinterp.RunOptions{Timeout: f.timeout, Env: f.env.values, Files: files.in, Artifacts: files.out != nil}
	if err := a.giveInput(ctx, f, ci, language, opts); err != nil && ctx.Err() != nil {
		return a.stopped()
	} else if err != nil {
		return a.fail(err)
	}
	ci = scriptRunner{ci, f.script}
	if f.json {
		return a.runJSON(ctx, ci, language, program, opts, files)
	}
	// The end reports files that are lost.
	opts.Artifacts = opts.Artifacts || files.private && codeinterp.Describe(ci).HasFiles(language)
	s := newScreen(a, newImageShower(a, &f.programFlags))
	s.file = file != ""
	s.images.beside(file)
	return a.runLive(ctx, ci, language, program, &f.programFlags, opts, files, s)
}

// giveInput gives the program this command's standard input if --stdin says so.
func (a *app) giveInput(ctx context.Context, f *runFlags, ci codeinterp.CodeInterpreter, language string, opts *codeinterp.RunOptions) (err error) {
	if !f.stdin {
		return nil
	}
	if takesInput(ci, language) {
		opts.Input = struct{ io.Reader }{a.stdin} // which stays open
		return nil
	}
	if isTerminal(a.stdin) {
		fmt.Fprintln(a.stderr, "toolcell: type what the program reads; it begins after Ctrl-D")
	}
	opts.Stdin, err = a.readAll(ctx, math.MaxInt64)
	return err
}

// takesInput reports whether programs can read what comes while they run.
func takesInput(ci codeinterp.CodeInterpreter, language string) bool {
	return slices.ContainsFunc(codeinterp.Describe(ci).Languages, func(l codeinterp.LanguageInfo) bool { return l.Input && l.Name == language })
}

// program returns the source text, the name of the file it is from and its
// arguments.
func (a *app) program(ctx context.Context, f *runFlags, operands []string, inline bool) (code, file string, args []string, err error) {
	if inline {
		return f.code, "", operands, nil
	}
	args = operands[min(1, len(operands)):]
	if len(operands) > 0 && operands[0] != "-" {
		file = operands[0]
	}
	var b []byte
	switch {
	case len(operands) == 0 && (f.stdin || !a.piped()):
		err = errors.New("no program: give a file, - for standard input, or -e CODE")
	case file != "":
		b, err = os.ReadFile(file)
	case f.stdin:
		err = errors.New("standard input is the program, so --stdin has nothing to read")
	default:
		b, err = a.readAll(ctx, codeinterp.MaxCode+1)
	}
	return code + string(b), file, args, err
}

func (a *app) runJSON(ctx context.Context, ci codeinterp.CodeInterpreter, language, program string, opts *codeinterp.RunOptions, files *runFiles) int {
	// Nothing was shown live, so nothing may be dropped.
	opts.MaxOutput = -1
	res, err := ci.RunCode(ctx, language, program, opts)
	if neverBegan(ctx, &res, err) {
		return a.stopped()
	}
	if err != nil && res.Status != codeinterp.StatusCanceled {
		return a.fail(err)
	}
	code := a.saveArtifacts(files, &res)
	b, err := res.MarshalJSON()
	if err != nil {
		return a.fail(err)
	}
	if _, err := a.stdout.Write(append(b, '\n')); err != nil {
		return a.unread(err)
	}
	return code
}

func (a *app) runLive(ctx context.Context, ci codeinterp.CodeInterpreter, language, program string, f *programFlags, opts *codeinterp.RunOptions, files *runFiles, s *screen) int {
	ctx, leave, show := s.follow(ctx)
	defer leave()
	opts.OnOutput = show
	res, err := ci.RunCode(ctx, language, program, opts)
	s.rest(&res)
	s.end(&res)
	a.missing(ci, language, &res)
	a.hint(f, files, !s.file || opts.Input != nil || len(opts.Stdin) > 0, &res)
	code := a.saveArtifacts(files, &res)
	switch {
	case s.err != nil:
		return a.unread(fmt.Errorf("showing the output: %w", s.err))
	case neverBegan(ctx, &res, err):
		return a.stopped()
	case res.Status == codeinterp.StatusCanceled:
		a.stopped()
	case err != nil:
		return a.fail(err)
	}
	return code
}

// unread returns the exit code if the output cannot be written: that of SIGPIPE, without a
// message, if the reader has gone, as head does.
func (a *app) unread(err error) int {
	if errors.Is(err, syscall.EPIPE) {
		return 128 + int(syscall.SIGPIPE)
	}
	return a.fail(err)
}

// neverBegan reports whether the run was stopped before it began.
func neverBegan(ctx context.Context, res *codeinterp.Result, err error) bool {
	return res.Status == codeinterp.StatusNotRun && ctx.Err() != nil && errors.Is(err, context.Cause(ctx))
}
