//go:build unix

package sandbox

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"

	"github.com/toolcell/toolcell/codeinterp"
)

// A tempRoot is the directory that holds the directories of TempDir. It can be
// passed through by everybody and listed by nobody.
type tempRoot struct {
	mu  sync.Mutex
	dir string
}

// TempDir makes an empty directory that suits Cmd.Workdir: nobody but its
// program's uid can read it, and that uid can reach it. The caller removes it
// with [RemoveAll]; Close removes what is left.
func (s *Sandbox) TempDir() (string, error) {
	s.temp.mu.Lock()
	defer s.temp.mu.Unlock()
	if s.temp.dir == "" {
		root, err := os.MkdirTemp(s.opts.TempDir, "toolcell-")
		if err != nil {
			return "", fmt.Errorf("%w: temporary directory: %w", codeinterp.ErrUnavailable, bare(err))
		}
		if root, err = filepath.EvalSymlinks(root); err != nil {
			return "", fmt.Errorf("%w: temporary directory: %w", codeinterp.ErrUnavailable, bare(err))
		}
		if err := os.Chmod(root, 0o711); err != nil {
			return "", fmt.Errorf("%w: temporary directory: %w", codeinterp.ErrUnavailable, bare(err))
		}
		s.temp.dir = root
	}
	dir, err := os.MkdirTemp(s.temp.dir, "w")
	if err != nil {
		return "", fmt.Errorf("%w: temporary directory: %w", codeinterp.ErrUnavailable, bare(err))
	}
	if s.ids != nil {
		id := s.ids.fixed
		if !id.drop {
			id = s.ids.fresh()
		}
		if err := os.Lchown(dir, id.uid, id.gid); err != nil {
			return "", fmt.Errorf("%w: temporary directory: %w", codeinterp.ErrUnavailable, bare(err))
		}
	}
	return dir, nil
}

func (t *tempRoot) path() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.dir
}

// holds reports whether TempDir made dir.
func (t *tempRoot) holds(dir string) bool {
	root := t.path()
	return root != "" && strings.HasPrefix(dir, root+"/")
}

func (t *tempRoot) remove() error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.dir == "" {
		return nil
	}
	dir := t.dir
	t.dir = ""
	return RemoveAll(dir)
}

// RemoveAll removes dir and what is in it, also directories that a program
// made unreadable. It follows no symbolic links.
func RemoveAll(dir string) error {
	if os.RemoveAll(dir) == nil {
		return nil
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return bare(err)
	}
	defer root.Close()
	_ = root.Chmod(".", 0o700)
	_ = fs.WalkDir(root.FS(), ".", func(name string, d fs.DirEntry, err error) error {
		if d != nil && d.IsDir() {
			_ = root.Chmod(name, 0o700)
		}
		return nil
	})
	if err := os.RemoveAll(dir); err != nil {
		return bare(err)
	}
	return nil
}

// Reachable reports whether programs can execute or read path at all: whether
// the uid that they run as may pass through its directories. It is always so
// unless the host is root. Whether the mode lets them is another matter.
func (s *Sandbox) Reachable(path string) error {
	if s.ids == nil {
		return nil
	}
	real, err := filepath.EvalSymlinks(path)
	if err != nil {
		return bare(err)
	}
	for _, p := range []string{path, real} {
		if err := passable(filepath.Clean(p), s.ids.fixed); err != nil {
			return err
		}
	}
	return nil
}

// passable checks that id, or where it is zero some uid without any groups,
// may search every directory above path, and read path.
func passable(path string, id identity) error {
	for dir := path; ; dir = filepath.Dir(dir) {
		info, err := os.Stat(dir)
		if err != nil {
			return bare(err)
		}
		need := fs.FileMode(0o1)
		if dir == path && !info.IsDir() {
			need = 0o4
		}
		mode := info.Mode().Perm()
		bits := mode
		if st, ok := sysStat(info); ok && id.drop {
			switch {
			case int(st.Uid) == id.uid:
				bits >>= 6
			case int(st.Gid) == id.gid:
				bits >>= 3
			}
		}
		if bits&need == 0 {
			return fmt.Errorf("%s is closed to other users (mode %#o), and programs of a root host run as one", dir, mode)
		}
		if dir == "/" {
			return nil
		}
	}
}

func sysStat(info fs.FileInfo) (*syscall.Stat_t, bool) {
	st, ok := info.Sys().(*syscall.Stat_t)
	return st, ok
}
