//go:build unix

package subprocess

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/codeinterp/driver"
	"github.com/toolcell/toolcell/internal/rootfs"
	"github.com/toolcell/toolcell/internal/sandbox"
	"github.com/toolcell/toolcell/providers/subprocess/internal/cells"
)

// A session is the place of a context, in which one process lives at a time, or
// that of a single run.
type session struct {
	h     *host
	lang  *language
	place place

	p      *process // nil if none runs
	used   bool     // a program has begun in it
	folder folder
	before *rootfs.Snapshot // of the run in progress, where it asks for artifacts

	mu   sync.Mutex
	run  *run   // in progress
	stop func() // ends the run's translation, nil once the driver has the program
}

// startContext starts a context's first process.
func (s *session) startContext(ctx context.Context, cwd string) error {
	if cwd != "" {
		dir, err := sandbox.OpenDir(cwd)
		if err != nil {
			return err
		}
		s.place.cwd = dir
		if err := s.h.sandbox.Reachable(dir.Path()); err != nil {
			return fmt.Errorf("%w: Cwd: %w", codeinterp.ErrInvalid, err)
		}
		if err := s.h.admit(s.lang, dir.Path()); err != nil {
			return err
		}
	}
	p, err := s.h.processIn(ctx, s.lang, &s.place)
	if err != nil {
		return err
	}
	s.p = p
	s.place.dir = p.place.dir
	_, err = p.readHello(ctx)
	return err
}

// Cwd returns where programs start.
func (s *session) Cwd() string {
	switch {
	case s.place.cwd != nil:
		return s.place.cwd.Path()
	case s.p != nil:
		return s.p.inside
	}
	return s.h.sandbox.WorkdirInside(s.place.dir, nil)
}

// Run implements driver.Session.
func (s *session) Run(ctx context.Context, prog *driver.Program, out *driver.Output) (o driver.Outcome, err error) {
	if s.lang.Driver == nil {
		return s.runFile(ctx, prog, out)
	}
	if err := s.ensure(ctx, prog); err != nil {
		return driver.Outcome{}, err
	}
	stdin, stopInput, err := s.prepare(ctx, prog)
	defer stopInput()
	if err != nil {
		s.withdraw(stdin, false)
		return driver.Outcome{}, err
	}
	p, fresh := s.p, !s.used
	// Until the program is handed over, the order to stop costs no state.
	stop, handed := func() bool { return true }, false
	leave := sync.OnceFunc(func() {
		if !stop() { // the process is on its way out, which no later run is to meet
			s.end()
			o.Lost = true
		}
	})
	defer leave()
	r, over, err := s.begin(ctx, prog, stdin, out, func() { stop, handed = context.AfterFunc(ctx, p.end), true })
	if err != nil {
		s.withdraw(stdin, handed)
		return driver.Outcome{}, err
	}
	s.used = s.used || over == nil
	if over != nil {
		s.finished(r)
		over.Fresh = fresh
		return *over, nil
	}
	<-r.done // also when ctx ends, which kills the process
	s.finished(r)
	o = r.outcome(p, s.place.once)
	if r.end != nil && r.end.How == "gone" {
		s.end() // no later run is to meet it on its way out
		o.Lost, o.Exited = true, true
	}
	// From here on the order to stop is for findArtifacts, and kills no process.
	if leave(); prog.Artifacts {
		s.findArtifacts(ctx, prog, &o)
	}
	o.Fresh = fresh
	return o, nil
}

// finished notes that a run is over.
func (s *session) finished(r *run) {
	r.calls.over()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.run, s.stop = nil, nil
}

// prepare puts what the run needs beside its code into the directory. It
// returns where the program finds its standard input, and what to call in the
// end, also where it fails.
func (s *session) prepare(ctx context.Context, prog *driver.Program) (stdin string, stopInput func(), err error) {
	stopInput = func() {}
	if err := s.copyFiles(ctx, prog); err != nil {
		return "", stopInput, err
	}
	if prog.Input != nil {
		stdin, stopInput, err = s.feedInput(prog.Input)
	} else {
		stdin, err = s.stdin(prog.Stdin)
	}
	if err != nil {
		s.end()
		return "", stopInput, err
	}
	return stdin, stopInput, s.snapshot(ctx, prog)
}

// ensure makes sure of a process that is ready for the program.
func (s *session) ensure(ctx context.Context, prog *driver.Program) (err error) {
	if s.p != nil && !alive(s.p.sb) {
		s.end()
	}
	if s.p != nil {
		return nil
	}
	s.used = false
	if s.place.once {
		s.place.env = prog.Env
		err = s.single(ctx, prog)
	} else {
		s.p, err = s.h.launch(s.lang, &s.place)
	}
	if err == nil {
		_, err = s.p.readHello(ctx)
	}
	if err != nil {
		s.end()
	}
	return err
}

// single makes sure of the process of a single run.
func (s *session) single(ctx context.Context, prog *driver.Program) (err error) {
	if s.p, err = s.h.fresh(ctx, s.lang, &s.place); err == nil && wantsFiles(prog) {
		err = s.takeDir()
	}
	return err
}

// withdraw ends a run whose program was not handed over. If it was stopped before that, the
// process has seen nothing of it, and lives on with its state.
func (s *session) withdraw(stdin string, handed bool) {
	if handed || s.place.once {
		s.end()
	} else if stdin != "" { // which the driver would remove
		_ = os.Remove(filepath.Join(s.place.dir, filepath.Base(stdin)))
	}
}

// begin begins the program's run, prepares its code, and sends it. handing is called when
// the run begins. If the program fails to translate or is interrupted first, over is its
// outcome.
func (s *session) begin(ctx context.Context, prog *driver.Program, stdin string, out *driver.Output, handing func()) (r *run, over *driver.Outcome, err error) {
	p, prepares := s.p, s.lang.isJavaScript() && cells.Needs(s.lang.kind == typescriptKind, prog.Code)
	if prepares {
		free, err := cells.Wait(ctx, len(prog.Code))
		if err != nil {
			return nil, nil, err // it has not begun
		}
		defer free()
	}
	translation, stop := context.WithCancel(ctx)
	defer stop()
	p.drainStreams() // what was written before is late
	p.showing.Lock() // late output that comes while earlier one is shown follows it
	err = prog.HandOver(func() (err error) {
		handing()
		s.mu.Lock()
		defer s.mu.Unlock()
		if r, err = p.start(out, prog); err == nil {
			s.run = r
			if prepares {
				s.stop = stop
			}
		}
		return err
	})
	p.showing.Unlock()
	if err != nil {
		return nil, nil, err
	}
	if prepares {
		if over = s.prepareCode(translation, r); over != nil {
			p.abandon(r)
			return r, over, nil
		}
	}
	p.submit(r, stdin)
	return r, nil, nil
}

// prepareCode translates the run's program, which counts in its time. It returns an
// outcome if the program does not get to the driver.
func (s *session) prepareCode(ctx context.Context, r *run) *driver.Outcome {
	cell := r.prog.Cell
	pr, err := cells.Prepare(ctx, s.lang.kind == typescriptKind, r.prog.Code)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.stop = nil
	switch {
	// An interrupt that came just after the translation has stopped nothing else.
	case err != nil || ctx.Err() != nil:
		return &driver.Outcome{ExitCode: codeinterp.ExitCanceled, Cause: codeinterp.CauseInterrupt}
	case pr.Failed != nil:
		return &driver.Outcome{ExitCode: 1, Error: pr.Failed}
	}
	pr.Cell = cell
	r.prog = pr
	return nil
}

// stdin writes the run's standard input where the driver finds it.
func (s *session) stdin(b []byte) (string, error) {
	if b == nil {
		return "", nil
	}
	f, err := os.CreateTemp(s.p.place.dir, ".stdin-")
	if err == nil {
		_, err = f.Write(b)
		// On a root host the driver is another user's.
		err = errors.Join(err, f.Chmod(0o444), f.Close())
	}
	if err != nil {
		return "", fmt.Errorf("%w: standard input cannot be handed over", codeinterp.ErrUnavailable)
	}
	return filepath.Join(s.p.inside, filepath.Base(f.Name())), nil
}

// Interrupt implements driver.Session. The process of a single run is killed at
// once, since there is nothing to keep.
func (s *session) Interrupt(context.Context) error {
	s.mu.Lock()
	r, stop := s.run, s.stop
	s.mu.Unlock()
	switch {
	case stop != nil:
		stop()
	case s.place.once:
		return errors.ErrUnsupported
	case r != nil:
		r.p.interrupt(r)
		r.calls.interrupted()
	}
	return nil
}

// end kills the process, if there is one, and waits for that.
func (s *session) end() {
	if p := s.p; p != nil {
		s.p = nil
		p.kill()
	}
}

// Reset implements driver.Session. The working directory stays.
func (s *session) Reset(context.Context) error {
	s.end()
	return nil
}

// Close implements driver.Session.
func (s *session) Close(context.Context) error {
	// The process first: it uses all the rest.
	s.end()
	s.leaveDir()
	if s.place.dir != "" {
		s.h.sandbox.Discard(s.place.dir)
	}
	return nil
}

// leaveDir closes what is open of the directory.
func (s *session) leaveDir() {
	s.folder.close()
	if s.place.cwd != nil && s.place.cwd != s.h.dir {
		s.place.cwd.Close()
	}
}
