//go:build unix

package subprocess

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"strings"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/internal/outbuf"
	"github.com/toolcell/toolcell/internal/sandbox"
)

// prepare turns the code of a run into what l's driver executes.
func (l *language) prepare(code string) *program {
	if l.kind != typescriptKind || l.strips {
		return &program{code: code, strip: l.strips}
	}
	return eraseTypes(code)
}

// refused is the Result of a program that cannot start by its own fault.
func (p *program) refused(out *outbuf.Collector) codeinterp.Result {
	res := codeinterp.Result{Status: codeinterp.StatusError, ExitCode: 1, Error: p.failed}
	out.Finish(&res)
	return res
}

// fresh returns a process for one program, which nobody has used before.
func (i *Interpreter) fresh(ctx context.Context, l *language, o *codeinterp.RunOptions, pr *program) (*process, error) {
	if l.Driver == nil {
		return i.oneShot(l, o, pr)
	}
	if w := i.warm[l.Name]; w != nil {
		if p, err := w.take(ctx, true, nil); p != nil || err != nil {
			return p, err
		}
	}
	return i.launch(l, &place{once: true, env: o.Env})
}

// lodge returns a process for a context in pl, whose working directory
// outlives the process.
func (i *Interpreter) lodge(ctx context.Context, l *language, pl *place) (*process, error) {
	if w := i.warm[l.Name]; w != nil && pl.cwd == "" {
		p, err := w.take(ctx, false, pl.env)
		if err != nil {
			return nil, err
		}
		if p != nil {
			p.settle()
			return p, nil
		}
	}
	dir, err := i.sandbox.TempDir()
	if err != nil {
		return nil, err
	}
	pl.dir = dir
	p, err := i.launch(l, pl)
	if err != nil {
		_ = sandbox.RemoveAll(dir)
	}
	return p, err
}

// oneShot starts the interpreter itself, for a language without a driver, on a
// file that holds the program. The program is on its way from then on.
func (i *Interpreter) oneShot(l *language, o *codeinterp.RunOptions, pr *program) (_ *process, err error) {
	dir, err := i.sandbox.TempDir()
	if err != nil {
		return nil, err
	}
	release := func() { _ = sandbox.RemoveAll(dir) }
	defer func() {
		if err != nil {
			release()
		}
	}()
	work, file := filepath.Join(dir, "work"), filepath.Join(dir, "program"+l.Extension)
	if err := errors.Join(os.Mkdir(work, 0o700), os.WriteFile(file, []byte(pr.code), 0o444), os.Chmod(dir, 0o711)); err != nil {
		return nil, fmt.Errorf("%w: the program cannot be handed over", codeinterp.ErrUnavailable)
	}
	pl := &place{dir: work, once: true, env: maps.Clone(o.Env)}
	c := i.command(l, pl)
	for _, a := range l.Args {
		c.Args = append(c.Args, strings.ReplaceAll(a, FileArg, file))
	}
	c.ReadOnly = append(c.ReadOnly[:len(c.ReadOnly):len(c.ReadOnly)], file)
	input, err := inputFile(i.opts.TempDir, o.Stdin)
	if err != nil {
		return nil, err
	}
	if input != nil {
		defer input.Close()
	}
	return i.spawn(l, pl, c, input, release)
}

// inputFile returns a file without a name that holds b, nil for nil.
func inputFile(dir string, b []byte) (*os.File, error) {
	if b == nil {
		return nil, nil
	}
	f, err := os.CreateTemp(dir, "toolcell-stdin-")
	if err == nil {
		_ = os.Remove(f.Name())
		_, err = f.Write(b)
		if err == nil {
			_, err = f.Seek(0, 0)
		}
	}
	if err != nil {
		return nil, fmt.Errorf("%w: standard input cannot be handed over", codeinterp.ErrUnavailable)
	}
	return f, nil
}
