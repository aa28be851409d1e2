//go:build unix

package subprocess

import (
	"context"
	"fmt"
	"os"
	"sync"
	"time"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/codeinterp/driver"
	"github.com/toolcell/toolcell/internal/rootfs"
	"github.com/toolcell/toolcell/internal/sandbox"
)

var _ driver.Filer = (*host)(nil)

// Files implements driver.Filer.
func (h *host) Files(s driver.Session) (codeinterp.FS, error) {
	return s.(interface{ files() (*rootfs.FS, error) }).files()
}

// A folder is the directory in which a session's programs start, opened once
// a caller asks for it.
type folder struct {
	mu     sync.Mutex
	files  *rootfs.FS
	closed bool
}

// open returns the directory of a place whose process was started before, or is
// to be started as its owner.
func (f *folder) open(h *host, pl *place) (*rootfs.FS, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.closed {
		return nil, fmt.Errorf("%w: the directory is given up", codeinterp.ErrUnavailable)
	}
	if f.files == nil {
		files, err := h.openFiles(pl)
		if err != nil {
			return nil, err
		}
		f.files = files
	}
	return f.files, nil
}

func (f *folder) close() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.closed = true
	if f.files != nil {
		f.files.Close()
	}
}

// openFiles opens a place's directory as who its programs run as, within their
// limits.
func (h *host) openFiles(pl *place) (*rootfs.FS, error) {
	var o rootfs.Options
	if pl.cwd != nil && pl.cwd == h.dir {
		return h.openShared()
	}
	uid, gid, other, err := h.sandbox.Owner(pl.dir)
	if err != nil {
		return nil, err
	}
	if other {
		o.As = &rootfs.User{UID: uid, GID: gid}
	}
	limits := h.sandbox.Limits()
	o.MaxFile = max(limits.FileSize, 0)
	if pl.cwd != nil {
		root, err := pl.cwd.Root()
		if err != nil {
			return nil, err
		}
		return rootfs.New(root, &o), nil
	}
	root, err := os.OpenRoot(pl.dir)
	if err != nil {
		return nil, fmt.Errorf("%w: the directory cannot be opened", codeinterp.ErrUnavailable)
	}
	o.MaxBytes, o.MaxFiles = max(limits.Disk, 0), max(limits.Inodes, 0)
	if o.MaxBytes > 0 || o.MaxFiles > 0 {
		o.Measure = func() (int64, int) { return sandbox.Used(pl.dir) }
	}
	return rootfs.New(root, &o), nil
}

// files returns the directory in which programs start.
func (s *session) files() (*rootfs.FS, error) { return s.folder.open(s.h, &s.place) }

// wantsFiles reports whether a run has to do with files.
func wantsFiles(prog *driver.Program) bool { return prog.HasFiles() || prog.Artifacts }

// takeDir makes the directory of a single run's process the session's.
func (s *session) takeDir() error {
	if !s.p.keepDir() {
		return fmt.Errorf("%w: the process of %s is gone", codeinterp.ErrUnavailable, s.lang.Name)
	}
	s.place.dir = s.p.place.dir
	return nil
}

// copyFiles copies the caller's files for a run.
func (s *session) copyFiles(ctx context.Context, prog *driver.Program) error {
	if !prog.HasFiles() {
		return nil
	}
	dir, err := s.files()
	if err != nil {
		return err
	}
	return prog.CopyFiles(ctx, dir)
}

// snapshot notes what is in the directory, where the run asks for what it does
// to it.
func (s *session) snapshot(ctx context.Context, prog *driver.Program) error {
	s.before = nil
	if !prog.Artifacts {
		return nil
	}
	dir, err := s.files()
	if err == nil {
		s.before = dir.Snapshot(ctx)
	}
	return err
}

// lookTime is how long is looked for artifacts after the run's timeout, or
// another order to stop.
const lookTime = time.Second

// findArtifacts finds what the run that has ended did to files. Nothing of a single run
// goes on meanwhile.
func (s *session) findArtifacts(ctx context.Context, prog *driver.Program, o *driver.Outcome) {
	stop := prog.Taken()
	if s.place.once {
		s.end()
	}
	look, cancel := context.WithCancel(context.WithoutCancel(ctx))
	defer cancel()
	go func() {
		select {
		case <-stop:
			time.AfterFunc(lookTime, cancel)
		case <-look.Done():
		}
	}()
	if dir, err := s.files(); err == nil {
		o.Artifacts, o.Missing = dir.Artifacts(look, s.before, s.place.once)
	}
	s.before = nil
}
