package jupyter

import (
	"context"
	"fmt"
	"time"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/codeinterp/driver"
	"github.com/toolcell/toolcell/providers/jupyter/internal/kernel"
	"github.com/toolcell/toolcell/providers/jupyter/internal/server"
)

const (
	// fileLimit is how long one request about files may take. A kernel's thread
	// for them stands still while a program does not let other threads run.
	fileLimit = 15 * time.Second

	// filePause is the time between two looks whether a kernel can be asked.
	filePause = 20 * time.Millisecond
)

var _ driver.Filer = (*runtime)(nil)

// errForeignFiles refuses what needs a helper of ours in a kernel that has none.
var errForeignFiles = fmt.Errorf("%w: the kernel was adopted, and is left as it is: no files are copied beside its programs, or looked for behind them", codeinterp.ErrInvalid)

// Files implements driver.Filer.
func (rt *runtime) Files(s driver.Session) (codeinterp.FS, error) {
	return s.(*session).directory(false)
}

// directory returns the session's directory. Within a method that the driver has
// called, nothing of a kernel's life is waited for.
func (s *session) directory(within bool) (directory, error) {
	if s.foreign {
		return directory{}, fmt.Errorf("%w: the kernel was adopted, and is left as it is", codeinterp.ErrUnavailable)
	}
	return directory{s: s, within: within}, nil
}

// ask makes a request once there is a kernel to answer it: between two runs one
// that is gone is replaced, and during a run it is waited for.
func (s *session) ask(q *kernel.FileRequest, within bool) (*kernel.FileAnswer, error) {
	ctx, cancel := context.WithTimeout(context.Background(), fileLimit)
	defer cancel()
	for {
		// Each time: ensureKernel may have put another in its place.
		k := s.k.Load()
		served, err := k.Served()
		switch {
		case err != nil:
			return nil, err
		case served:
			return k.Files(ctx, q)
		case within:
			return nil, server.Unavailable("the kernel cannot be reached")
		}
		if err := s.ensureKernel(ctx); err != nil {
			return nil, err
		}
	}
}

// ensureKernel makes sure of a kernel, or waits for a moment where a method of the
// session is about it.
func (s *session) ensureKernel(ctx context.Context) error {
	mine, cancel := context.WithCancel(ctx)
	defer cancel()
	if !s.turn.visit(cancel) {
		if server.Wait(ctx, filePause) != nil {
			return server.Unavailable("the kernel cannot be reached just now")
		}
		return nil
	}
	defer s.turn.give()
	switch {
	case s.closed:
		return server.Unavailable("the kernel was given up")
	case s.left != nothing:
		return server.Unavailable("an earlier program may still be running")
	}
	err := s.prepare(mine, nil)
	if err != nil && mine.Err() != nil && ctx.Err() == nil {
		return nil // a run began meanwhile, and is about it
	}
	return err
}

// copyFiles copies the caller's files for a run.
func (s *session) copyFiles(ctx context.Context, p *driver.Program) error {
	if !p.HasFiles() {
		return nil
	}
	if s.foreign {
		return errForeignFiles
	}
	dir, err := s.directory(true)
	if err != nil {
		return err
	}
	return p.CopyFiles(ctx, dir)
}
