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
	// fileLimit bounds one request about files. The kernel's thread for them waits while
	// a program lets no other thread run.
	fileLimit = 15 * time.Second

	// filePause is the time between two checks whether a kernel can be asked.
	filePause = 20 * time.Millisecond
)

var _ driver.Filer = (*runtime)(nil)

// errForeignFiles refuses files in an adopted kernel.
var errForeignFiles = fmt.Errorf("%w: files are not supported in adopted kernels", codeinterp.ErrInvalid)

// Files implements driver.Filer.
func (rt *runtime) Files(s driver.Session) (codeinterp.FS, error) {
	of := s.(*session)
	if of.foreign {
		return nil, errForeignFiles
	}
	return directory{s: of}, nil
}

// ask makes a request. Between two runs a kernel that is gone is replaced; during a run
// it is waited for.
func (s *session) ask(q *kernel.FileRequest, within bool) (*kernel.FileAnswer, error) {
	ctx, cancel := context.WithTimeout(context.Background(), fileLimit)
	defer cancel()
	for {
		// Each time: ensureKernel may have replaced it.
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

// ensureKernel prepares a kernel, or waits for a moment while a method of the session
// does.
func (s *session) ensureKernel(ctx context.Context) error {
	select {
	case s.turn <- struct{}{}:
		defer s.turn.Give()
	default:
		if server.Wait(ctx, filePause) != nil {
			return server.Unavailable("the kernel cannot be reached just now")
		}
		return nil
	}
	switch {
	case s.closed:
		return server.Unavailable("the kernel was given up")
	case s.left != nothing:
		return server.Unavailable("an earlier program may still be running")
	}
	return s.prepare(ctx, nil)
}

// copyFiles copies the caller's files for a run.
func (s *session) copyFiles(ctx context.Context, p *driver.Program) error {
	if !p.HasFiles() {
		return nil
	}
	if s.foreign {
		return errForeignFiles
	}
	return p.CopyFiles(ctx, directory{s: s, within: true})
}
