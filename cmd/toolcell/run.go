package main

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/providers/subprocess"
)

type runFlags struct {
	providerFlags
	language string
	timeout  time.Duration
	json     bool
	code     string
	stdin    bool
	images   string
}

func (a *app) run(ctx context.Context, args []string) int {
	var f runFlags
	fs := flag.NewFlagSet("run", flag.ContinueOnError)
	f.register(fs, a.getenv)
	fs.StringVar(&f.language, "language", "", "`language` of the program (default: by the file's name, else the provider's first choice)")
	fs.DurationVar(&f.timeout, "timeout", 0, "end the program after this `duration`, such as 30s")
	fs.BoolVar(&f.json, "json", false, "print the result as JSON and nothing else")
	fs.StringVar(&f.code, "e", "", "the program itself (`code`)")
	fs.BoolVar(&f.stdin, "stdin", false, "let the program read this command's standard input")
	fs.StringVar(&f.images, "images", "auto", "show images by auto, kitty, iterm2, sixel or none, or save them into a `directory`")
	operands, code, done := a.parse(fs, "run [flags] (-e CODE | FILE | -)", args)
	if done {
		return code
	}
	program, file, err := a.program(ctx, &f, operands, isSet(fs, "e"))
	if err != nil && ctx.Err() != nil {
		return a.stopped()
	} else if err != nil {
		return a.usageError("%v", err)
	}
	f.choose(fs)
	f.waiting, f.spawning = a.waiting, a.spawning
	ci, err := f.start(ctx, file)
	switch {
	case err != nil && ctx.Err() != nil:
		return a.stopped()
	case errors.Is(err, errOpenTimeout):
		fmt.Fprintf(a.stderr, "toolcell: timed out after %v, before the program began\n", f.timeout)
		return codeinterp.ExitTimeout
	case err != nil:
		return a.fail(err)
	}
	defer ci.Close()
	language, err := chooseLanguage(f.language, file, ci.Languages())
	if err != nil {
		return a.usageError("%v%s", err, f.elsewhere(file))
	}
	opts := &codeinterp.RunOptions{Timeout: f.timeout}
	if f.stdin {
		if opts.Stdin, err = a.readAll(ctx, math.MaxInt64); err != nil && ctx.Err() != nil {
			return a.stopped()
		} else if err != nil {
			return a.fail(err)
		}
	}
	if f.json {
		return a.runJSON(ctx, ci, language, program, opts)
	}
	return a.runLive(ctx, ci, language, program, opts, f.images)
}

func isSet(fs *flag.FlagSet, name string) (set bool) {
	fs.Visit(func(f *flag.Flag) { set = set || f.Name == name })
	return set
}

// program returns the source text and the name of the file it is from.
func (a *app) program(ctx context.Context, f *runFlags, operands []string, inline bool) (code, file string, err error) {
	switch {
	case len(operands) > 1 || inline && len(operands) > 0:
		return "", "", fmt.Errorf("one program at a time, but there is also %q", operands[len(operands)-1])
	case inline:
		return f.code, "", nil
	case len(operands) == 0:
		return "", "", errors.New("no program: give a file, - for standard input, or -e CODE")
	case operands[0] == "-":
		if f.stdin {
			return "", "", errors.New("standard input is the program, so --stdin has nothing to read")
		}
		b, err := a.readAll(ctx, codeinterp.MaxCode+1)
		return string(b), "", err
	}
	b, err := os.ReadFile(operands[0])
	return string(b), operands[0], err
}

var extensions = map[string]string{
	".py": "python", ".js": "javascript", ".mjs": "javascript", ".cjs": "javascript",
	".ts": "typescript", ".mts": "typescript", ".sh": "bash", ".bash": "bash",
}

// usual are the languages that a program is taken for, in this order, where
// nothing says what it is.
var usual = []string{"python", "javascript"}

// errOpenTimeout is why a provider was not opened: --timeout ran out.
var errOpenTimeout = errors.New("timed out")

// start opens the provider within the program's time.
func (f *runFlags) start(ctx context.Context, file string) (codeinterp.CodeInterpreter, error) {
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
	for _, name := range f.wanted(file) {
		f.narrow(name)
		if ci, err = f.open(ctx, false); err == nil || !errors.Is(err, codeinterp.ErrUnavailable) {
			break
		}
	}
	if err != nil && context.Cause(ctx) == errOpenTimeout {
		err = errOpenTimeout
	}
	return ci, err
}

// wanted are the languages that the program may be in: the one that is known,
// or else, where that makes a difference, one after the other.
func (f *runFlags) wanted(file string) []string {
	name := cmp.Or(f.language, extensions[filepath.Ext(file)])
	if name == "" && f.provider == "subprocess" {
		return usual
	}
	return []string{name}
}

// narrow keeps the subprocess provider from looking for interpreters that the
// program does not need.
func (f *providerFlags) narrow(name string) {
	if i := ownLanguage(name); i >= 0 {
		f.languages = ownLanguages()[i : i+1]
	}
}

// ownLanguages are those of the subprocess provider.
func ownLanguages() []subprocess.Language {
	return []subprocess.Language{subprocess.Bash(), subprocess.JavaScript(), subprocess.Python(), subprocess.TypeScript()}
}

// ownLanguage returns which of ownLanguages has that name, -1 for none.
func ownLanguage(name string) int {
	var names []string
	for _, l := range ownLanguages() {
		names = append(names, l.Name)
	}
	name, err := codeinterp.ResolveLanguage(name, names)
	if err != nil {
		return -1
	}
	return slices.Index(names, name)
}

// elsewhere says where there is a language that the embedded engine lacks.
func (f *runFlags) elsewhere(file string) string {
	if f.provider != "inmemory" || ownLanguage(cmp.Or(f.language, extensions[filepath.Ext(file)])) < 0 {
		return ""
	}
	return "; use --provider subprocess for the interpreters of this machine"
}

// chooseLanguage takes the flag, then the file's extension, then the first of
// the usual languages that the provider has.
func chooseLanguage(name, file string, languages []string) (string, error) {
	if name == "" {
		name = extensions[filepath.Ext(file)]
	}
	if name != "" {
		return codeinterp.ResolveLanguage(name, languages)
	}
	for _, name := range usual {
		if l, err := codeinterp.ResolveLanguage(name, languages); err == nil {
			return l, nil
		}
	}
	if len(languages) == 0 {
		return "", errors.New("the provider has no language")
	}
	return languages[0], nil
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
