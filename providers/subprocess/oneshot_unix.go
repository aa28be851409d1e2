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
	"github.com/toolcell/toolcell/providers/subprocess/internal/cells"
)

// runFile is Run for a language without a driver: the interpreter itself runs a
// file that holds the program.
func (s *session) runFile(ctx context.Context, prog *driver.Program, out *driver.Output) (o driver.Outcome, err error) {
	r := newRun(out, prog, &cells.Program{})
	start, drop, err := s.oneShot(ctx, prog, r)
	if err != nil {
		return driver.Outcome{}, err
	}
	defer drop()
	err = prog.HandOver(func() (err error) {
		s.p, err = start()
		return err
	})
	if err != nil {
		return driver.Outcome{}, err
	}
	s.used = true
	defer context.AfterFunc(ctx, s.p.end)()
	<-r.done // also when ctx ends, which kills the process
	r.calls.over()
	o = r.outcome(s.p, true)
	if prog.Artifacts {
		s.findArtifacts(ctx, prog, &o)
	}
	o.Fresh = true
	return o, nil
}

// oneShot prepares the run of a file. start begins it: all that is printed from
// then on is r's. drop lets go of what start did not need.
func (s *session) oneShot(ctx context.Context, o *driver.Program, r *run) (start func() (*process, error), drop func(), err error) {
	h, l := s.h, s.lang
	if s.place.dir, err = h.sandbox.TempDir(); err != nil {
		return nil, nil, err
	}
	if err := errors.Join(s.copyFiles(ctx, o), s.snapshot(ctx, o)); err != nil {
		return nil, nil, err
	}
	dir, release, err := h.tempDir()
	if err != nil {
		return nil, nil, err
	}
	file, stdin := filepath.Join(dir, "program"+l.Extension), filepath.Join(dir, "stdin")
	// On a root host another user runs it, who gets to the file by its name only.
	err = errors.Join(os.WriteFile(file, []byte(o.Code), 0o444), os.WriteFile(stdin, o.Stdin, 0o400), os.Chmod(dir, 0o711))
	input, failed := os.Open(stdin)
	if err = errors.Join(err, failed); err != nil {
		release()
		return nil, nil, fmt.Errorf("%w: the program cannot be handed over", codeinterp.ErrUnavailable)
	}
	pl := &place{dir: s.place.dir, cwd: s.place.cwd, once: true, env: maps.Clone(o.Env), first: r}
	c := h.command(l, pl)
	pl.beginRun(o)
	for _, a := range l.Args {
		c.Args = append(c.Args, strings.ReplaceAll(a, FileArg, file))
	}
	// Capped: these are the language's, to which other runs append meanwhile.
	c.ReadOnly = append(c.ReadOnly[:len(c.ReadOnly):len(c.ReadOnly)], file)
	start = func() (*process, error) {
		discard := release
		release = func() {} // from now on the process gives it back
		return h.spawn(nil, l, pl, c, input, discard)
	}
	return start, func() {
		release()
		input.Close()
	}, nil
}
