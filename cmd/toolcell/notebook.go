package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/pflag"

	"github.com/toolcell/toolcell/cmd/toolcell/internal/outdir"
	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/notebook"
)

// notebookFlags are flags of notebooks.
type notebookFlags struct {
	allowErrors bool
	artifacts   string
}

func (f *notebookFlags) registerNotebook(fs *pflag.FlagSet) {
	group(fs, "Notebooks", "", func() {
		fs.BoolVar(&f.allowErrors, "allow-errors", false, "continue after a cell that fails")
		fs.StringVar(&f.artifacts, "artifacts", "", "save files that the cells create or change into this `directory`, up to 8 MiB in all")
	})
}

// isNotebook reports whether the operands of run name a notebook.
func isNotebook(operands []string, inline bool) bool {
	return !inline && len(operands) > 0 && strings.EqualFold(filepath.Ext(operands[0]), ".ipynb")
}

// runNotebook runs the cells of a notebook. The exit code is that of the first cell that
// failed.
func (a *app) runNotebook(ctx context.Context, f *runFlags, fs *pflag.FlagSet, operands []string) int {
	file := operands[0]
	nb, err := f.loadNotebook(fs, operands)
	if err != nil {
		return a.usageError("%s", plain(err))
	}
	given := f.language
	if given == "" && len(f.kernels) > 0 {
		given = nb.Language() // not the kernelspec that the notebook names
	}
	if f.language == "" {
		f.language = nb.Language()
	}
	if err := f.choose(fs); err != nil {
		return a.usageError("%s", plain(err))
	}
	files, err := f.openFiles(&f.programFlags, "--artifacts", f.artifacts)
	defer files.close()
	if err == nil {
		f.script, err = newScript(&f.programFlags, "", nil)
	}
	if err != nil {
		return a.usageError("%s", plain(err))
	}
	ci, code := a.start(ctx, &f.programFlags)
	if ci == nil {
		return code
	}
	defer ci.Close()
	if f.language == "" {
		given, _ = chooseLanguage("", ci.Languages())
	}
	report, code := a.runCells(ctx, ci, nb, f, file, &notebook.Options{
		Language: given, Context: &codeinterp.ContextOptions{Env: f.env.values, Files: files.in},
		AllowErrors: f.allowErrors, Timeout: f.timeout, MaxOutput: -1, Artifacts: f.artifacts != "",
	})
	code = a.saveArtifacts(&files, &codeinterp.Result{ExitCode: code, Artifacts: report.Artifacts, Truncated: report.Truncated})
	// A notebook of which nothing ran is left as it was.
	if f.out == "" || report.Ran == 0 && code != 0 {
		return code
	}
	if err := a.writeNotebook(&f.programFlags, f.out, nb); err != nil {
		return max(code, a.fail(err))
	}
	return code
}

// loadNotebook reads a notebook. Flags may follow its name.
func (f *runFlags) loadNotebook(fs *pflag.FlagSet, operands []string) (*notebook.Notebook, error) {
	err := fs.Parse(operands[1:])
	switch {
	case err != nil:
		return nil, err
	case fs.Changed("keep"):
		return nil, errors.New("--keep is for programs, not for notebooks")
	case fs.NArg() > 0:
		return nil, fmt.Errorf("a notebook takes no arguments such as %q; use --env NAME=VALUE", fs.Arg(0))
	case f.json || f.stdin:
		return nil, errors.New("--json and --stdin are not for notebooks; --out - writes one to standard output")
	}
	b, err := os.ReadFile(operands[0])
	if err != nil {
		return nil, err
	}
	nb, err := notebook.Decode(b)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", operands[0], err)
	}
	return nb, nil
}

func (a *app) runCells(ctx context.Context, ci codeinterp.CodeInterpreter, nb *notebook.Notebook, f *runFlags, file string, opts *notebook.Options) (notebook.Report, int) {
	s := newScreen(a, newImageShower(a, &f.programFlags))
	s.images.beside(file)
	if f.out == "-" {
		// Standard output is the notebook's.
		s.stdout, s.images.none = io.Discard, true
	}
	ctx, leave, show := s.follow(ctx)
	defer leave()
	opts.OnOutput = func(_ int, o codeinterp.Output) error { return show(o) }
	opts.OnCell = func(_ int, res *codeinterp.Result) {
		s.rest(res)
		s.end(res)
		a.missing(ci, f.language, res)
		s.seen, s.cleared = [len(s.seen)]int64{}, false
	}
	report, err := notebook.Run(ctx, ci, nb, opts)
	if len(report.Failed) > 0 {
		fmt.Fprintf(a.stderr, "toolcell: cell %d of the notebook failed; cells that failed: %d, that did not run: %d\n", report.Failed[0]+1, len(report.Failed), report.Left)
	}
	res := &report.Result
	switch {
	case s.err != nil:
		return report, a.fail(fmt.Errorf("showing the output: %w", s.err))
	case res.Status == codeinterp.StatusCanceled, err != nil && ctx.Err() != nil && errors.Is(err, context.Cause(ctx)):
		return report, a.stopped()
	case errors.Is(err, codeinterp.ErrLanguage):
		return report, a.usageError("%s%s", plain(err), f.elsewhere())
	case err != nil:
		return report, a.fail(err)
	case !report.OK():
		return report, max(res.ExitCode, exitFailure)
	}
	return report, 0
}

// writeNotebook writes a file, which may be the one that was read, whole or not at all.
func (a *app) writeNotebook(f *programFlags, file string, nb *notebook.Notebook) error {
	b, err := nb.Encode()
	if err != nil {
		return err
	}
	if file == "-" {
		_, err = a.stdout.Write(b)
		return err
	}
	dir, err := outdir.Writable(f.write).Open(filepath.Dir(file))
	if err != nil {
		return err
	}
	defer dir.Close()
	return outdir.Write(dir, filepath.Base(file), b, 0o644)
}
