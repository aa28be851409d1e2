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
	"github.com/toolcell/toolcell/codeinterp/driver"
)

// prepare turns the code of a run into what l's driver executes. Its error is
// ctx's.
func (l *language) prepare(ctx context.Context, code string) (*program, error) {
	if l.kind != typescriptKind {
		return &program{code: code}, nil
	}
	return eraseTypes(ctx, code)
}

// fresh returns a process for one program, which nobody has used before.
func (h *host) fresh(ctx context.Context, l *language, pl *place) (*process, error) {
	if w := h.warm[l.Name]; w != nil {
		if p, err := w.take(ctx, true, nil); p != nil || err != nil {
			return p, err
		}
	}
	return h.launch(l, pl)
}

// lodge returns a process for a context in pl, whose working directory
// outlives the process.
func (h *host) lodge(ctx context.Context, l *language, pl *place) (*process, error) {
	if w := h.warm[l.Name]; w != nil && pl.cwd == h.dir {
		p, err := w.take(ctx, false, pl.env)
		if err != nil {
			return nil, err
		}
		if p != nil {
			p.settle()
			p.belong(pl.late)
			return p, nil
		}
	}
	dir, err := h.sandbox.TempDir()
	if err != nil {
		return nil, err
	}
	pl.dir = dir
	p, err := h.launch(l, pl)
	if err != nil {
		h.sandbox.Discard(dir)
	}
	return p, err
}

// oneShot starts the interpreter itself, for a language without a driver, on a
// file that holds the program. The program is on its way from then on.
func (s *session) oneShot(ctx context.Context, o *driver.Program) (_ *process, err error) {
	h, l := s.h, s.lang
	if s.place.dir, err = h.sandbox.TempDir(); err != nil {
		return nil, err
	}
	if err := errors.Join(s.stock(ctx, o), s.remember(ctx, o)); err != nil {
		return nil, err
	}
	dir, err := h.sandbox.TempDir()
	if err != nil {
		return nil, err
	}
	release := func() { h.sandbox.Discard(dir) }
	defer func() {
		if err != nil {
			release()
		}
	}()
	file := filepath.Join(dir, "program"+l.Extension)
	if err := errors.Join(os.WriteFile(file, []byte(o.Code), 0o444), os.Chmod(dir, 0o711)); err != nil {
		return nil, fmt.Errorf("%w: the program cannot be handed over", codeinterp.ErrUnavailable)
	}
	pl := &place{dir: s.place.dir, cwd: s.place.cwd, once: true, env: maps.Clone(o.Env)}
	c := h.command(l, pl)
	for _, a := range l.Args {
		c.Args = append(c.Args, strings.ReplaceAll(a, FileArg, file))
	}
	c.ReadOnly = append(c.ReadOnly[:len(c.ReadOnly):len(c.ReadOnly)], file)
	input, err := inputFile(h.opts.TempDir, o.Stdin)
	if err != nil {
		return nil, err
	}
	if input != nil {
		defer input.Close()
	}
	return h.spawn(l, pl, c, input, release)
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
