//go:build unix

package sandbox

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"

	"github.com/toolcell/toolcell/codeinterp"
)

// familySize is how many directories a family has.
const familySize = 32

// A family is the directories of a process that can be forked and of its copies. Walls
// cannot be widened, so the first process has all of them within its own; but it cannot
// change the directory that holds them, nor those that are free.
type family struct {
	free []string
	used int
}

// FamilyDir is TempDir for a process that can be forked. It needs Options.Forks.
func (s *Sandbox) FamilyDir() (string, error) {
	t := &s.temp
	t.mu.Lock()
	defer t.mu.Unlock()
	top, err := s.makeTemp()
	if err == nil {
		err = os.Chmod(top, 0o711)
	}
	f := &family{}
	for n := familySize; n > 0 && err == nil; n-- {
		dir := filepath.Join(top, strconv.Itoa(n))
		f.free = append(f.free, dir)
		err = os.Mkdir(dir, 0)
	}
	if err != nil {
		return "", fmt.Errorf("%w: temporary directory: %w", codeinterp.ErrUnavailable, bare(err))
	}
	if t.families == nil {
		t.families = map[string]*family{}
	}
	t.families[top] = f
	return f.take()
}

// ForkDir makes an empty directory for a copy of the process that lives in another one,
// which FamilyDir or ForkDir has made.
func (s *Sandbox) ForkDir(of string) (string, error) {
	s.temp.mu.Lock()
	defer s.temp.mu.Unlock()
	f := s.temp.families[filepath.Dir(of)]
	if f == nil {
		return "", fmt.Errorf("%w: the process cannot be forked", codeinterp.ErrInvalid)
	}
	return f.take()
}

// take opens a free directory. One that is not empty, since a process of the family wrote
// to it while it was cleared, stays closed.
func (f *family) take() (string, error) {
	for n := len(f.free) - 1; n >= 0; n-- {
		dir := f.free[n]
		f.free = f.free[:n]
		if err := os.Chmod(dir, 0o700); err != nil {
			return "", fmt.Errorf("%w: temporary directory: %w", codeinterp.ErrUnavailable, bare(err))
		}
		if list, err := os.ReadDir(dir); err == nil && len(list) == 0 {
			f.used++
			return dir, nil
		}
		_ = os.Chmod(dir, 0)
	}
	return "", fmt.Errorf("%w: a context and its copies are %d at once at most", codeinterp.ErrCapacity, familySize)
}

// leaveFamily gives a directory back to its family, if it has one, and returns what is to
// be removed: what was in it, or, with the last, the family's.
func (s *Sandbox) leaveFamily(dir string) string {
	t := &s.temp
	t.mu.Lock()
	defer t.mu.Unlock()
	top := filepath.Dir(dir)
	f := t.families[top]
	if f == nil {
		return dir
	}
	if f.used--; f.used == 0 {
		delete(t.families, top)
		return top
	}
	trash, err := s.makeTemp()
	if err != nil {
		return ""
	}
	if s.ids != nil {
		_ = os.Lchown(dir, 0, 0) // closed from here on
	}
	list, _ := os.ReadDir(dir)
	for _, e := range list {
		_ = os.Rename(filepath.Join(dir, e.Name()), filepath.Join(trash, e.Name()))
	}
	if os.Chmod(dir, 0) == nil {
		f.free = append(f.free, dir)
	}
	return trash
}

// family returns the directories of the family of a working directory, nil without one.
func (t *tempRoot) family(workdir string) (list []string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if top := filepath.Dir(workdir); t.families[top] != nil {
		for n := range familySize {
			list = append(list, filepath.Join(top, strconv.Itoa(n+1)))
		}
	}
	return list
}
