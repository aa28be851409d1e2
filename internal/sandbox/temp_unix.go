//go:build unix

package sandbox

import (
	"cmp"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/internal/sandbox/diskuse"
	"github.com/toolcell/toolcell/internal/sandbox/rmtree"
)

// A tempRoot is the directory that holds the directories of TempDir. Every
// user may pass through it and none may list it.
type tempRoot struct {
	mu   sync.Mutex
	dir  string
	lock *os.File // held while this host lives

	families map[string]*family // by the directories that hold theirs
}

// TempDir makes an empty directory that suits Cmd.Workdir: only its program's uid can
// read it, and that uid can reach it. The caller gives it back to [Sandbox.Discard];
// Close removes what is left, and what a host leaves that was killed, a later one removes.
func (s *Sandbox) TempDir() (string, error) {
	s.temp.mu.Lock()
	defer s.temp.mu.Unlock()
	dir, err := s.makeTemp()
	if err == nil && s.ids != nil {
		id := s.ids.fresh()
		err = os.Lchown(dir, id.uid, id.gid)
	}
	if err != nil {
		return "", fmt.Errorf("%w: temporary directory: %w", codeinterp.ErrUnavailable, bare(err))
	}
	return dir, nil
}

// makeTemp makes an empty directory. s.temp.mu is held.
func (s *Sandbox) makeTemp() (dir string, err error) {
	t := &s.temp
	if t.dir == "" {
		if t.dir, t.lock, err = makeRoot(cmp.Or(s.opts.TempDir, os.TempDir())); err != nil {
			return "", err
		}
	}
	return os.MkdirTemp(t.dir, "w")
}

const (
	discardTime = 200 * time.Millisecond // for a directory before its removal goes on in the background
	closeTime   = 10 * time.Second       // for what is left when a Sandbox is closed
)

// Discard removes a directory of TempDir, FamilyDir or ForkDir, whose processes have ended.
// A small one is gone when it returns; a large one goes in the background.
func (s *Sandbox) Discard(dir string) {
	_, _ = removeWithin(s.leaveFamily(dir), discardTime)
}

// removeWithin removes a directory, and reports whether that was done within d; otherwise
// it goes on in the background.
func removeWithin(dir string, d time.Duration) (done bool, err error) {
	result := make(chan error, 1)
	go func() { result <- rmtree.RemoveAll(dir) }()
	select {
	case err := <-result:
		return true, err
	case <-time.After(d):
		return false, nil
	}
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
	dir := t.dir
	t.dir = ""
	t.mu.Unlock()
	if dir == "" {
		return nil
	}
	defer t.lock.Close()
	done, err := removeWithin(dir, closeTime)
	if !done {
		err = fmt.Errorf("%w: removing directories takes too long; the next host goes on", codeinterp.ErrUnavailable)
	}
	return err
}

// Reachable reports whether programs can execute or read path at all: whether
// the uid that they run as may pass through its directories. It is always so
// unless the host is root. Whether the mode lets them is another matter.
func (s *Sandbox) Reachable(path string) error {
	if s.ids == nil {
		return nil
	}
	real, err := Follow(path, func(link, target string) error {
		if target == "" || s.shows(link) {
			return nil
		}
		return s.passable(filepath.Dir(link))
	})
	if err != nil {
		return bare(err)
	}
	return s.passable(real)
}

// passable checks that programs may search every directory above path, up to one
// that they are shown, and read path.
func (s *Sandbox) passable(path string) error {
	for dir := path; ; dir = filepath.Dir(dir) {
		if err := passes(dir, dir == path); err != nil {
			return err
		}
		if dir == "/" || s.shows(dir) {
			return nil
		}
	}
}

// passes checks that other users may search path if it is a directory, or else read it
// if that is wanted.
func passes(path string, read bool) error {
	info, err := os.Stat(path)
	if err != nil {
		return bare(err)
	}
	need, how := fs.FileMode(0o1), "x"
	if read && !info.IsDir() {
		need, how = 0o4, "r"
	}
	if mode := info.Mode().Perm(); mode&need == 0 {
		return fmt.Errorf("%s is closed to other users (mode %#o), and programs of a root host run as another user; chmod a+%s it, or use another", path, mode, how)
	}
	return nil
}

func sysStat(info fs.FileInfo) (*syscall.Stat_t, bool) {
	st, ok := info.Sys().(*syscall.Stat_t)
	return st, ok
}

// RemoveAll removes dir and what is in it, also directories that a program made
// unreadable or nested thousands of levels deep. It follows no symbolic links. A missing
// directory is no error.
func RemoveAll(dir string) error { return rmtree.RemoveAll(dir) }

// Used returns the bytes on disk, and the files and directories, in a directory, as far as
// a walk of two seconds finds them; nothing where directories are not measured.
func Used(dir string) (bytes int64, inodes int) { return diskuse.Used(dir) }
