package sandbox

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/toolcell/toolcell/internal/sandbox/acl"
	"golang.org/x/sys/unix"
)

// A rootPath is a path that only root reaches, below the closed directory dir. It
// is a symbolic link where it has a target.
type rootPath struct{ path, dir, target string }

// Showable reports whether programs reach path, or can be made to by
// [Sandbox.Show]: from a root host that has CAP_SYS_ADMIN, on Linux 5.12.
func (s *Sandbox) Showable(path string) error {
	closed := s.Reachable(path)
	if closed == nil {
		return nil
	}
	if _, err := s.hidden(path); err != nil {
		return closed
	}
	if err := s.forks.do(s.forks.view.unshare); err != nil {
		return fmt.Errorf("%w; showing it to them takes a mount namespace: %w", closed, err)
	}
	return nil
}

// Show has programs of a root host reach files and directories that only root
// can, by read-only mounts in a namespace of the programs' own, and nothing that
// lies beside them. Whether they may read these is for Cmd.ReadOnly to say, as
// with any path.
func (s *Sandbox) Show(paths []string) error {
	var list []rootPath
	for _, path := range paths {
		if s.Reachable(path) == nil {
			continue
		}
		h, err := s.hidden(path)
		if err != nil {
			return err
		}
		list = append(list, h...)
	}
	if len(list) == 0 {
		return nil
	}
	slices.SortFunc(list, func(a, b rootPath) int { return strings.Compare(a.path, b.path) })
	if err := s.forks.do(func() error { return s.forks.view.show(list) }); err != nil {
		return fmt.Errorf("showing it to programs: %w", err)
	}
	return nil
}

// hidden returns what of a path only root reaches: where it leads to, and the
// symbolic links on the way there. It fails if another user may reach some of it, which
// a cover would prevent, and if programs may not read it.
func (s *Sandbox) hidden(path string) ([]rootPath, error) {
	var list []rootPath
	note := func(path, target string) error {
		dir, err := s.closedAbove(path)
		if dir != "" {
			list = append(list, rootPath{path, dir, target})
		}
		return err
	}
	at, err := Follow(path, func(link, target string) error {
		if target == "" {
			return nil
		}
		return note(link, target)
	})
	if err != nil {
		return nil, err
	}
	if err := passes(at, true); err != nil {
		return nil, err
	}
	return list, note(at, "")
}

// closedAbove returns the first directory above path that programs may not pass
// through, empty if there is none; with an error unless it is root's alone.
func (s *Sandbox) closedAbove(path string) (string, error) {
	dir := "/"
	for _, name := range split(filepath.Dir(path)) {
		dir = filepath.Join(dir, name)
		if closed := passes(dir, false); closed != nil {
			if !rootsAlone(dir) {
				return dir, closed
			}
			return dir, nil
		}
	}
	return "", nil
}

// rootsAlone reports whether only root may pass through a directory.
func rootsAlone(dir string) bool {
	info, err := os.Lstat(dir)
	if err != nil {
		return false
	}
	st, ok := sysStat(info)
	if !ok || !info.IsDir() || st.Uid != 0 || info.Mode()&0o001 != 0 || st.Gid != 0 && info.Mode()&0o010 != 0 {
		return false
	}
	_, err = unix.Getxattr(dir, acl.Name, nil)
	return err == unix.ENODATA || err == unix.ENOTSUP
}

// shows reports whether programs are shown path itself, whatever is above it.
func (s *Sandbox) shows(path string) bool { return s.forks.view.shows(path, false) }
