package sandbox_test

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/internal/sandbox"
)

// TestFamily: a directory that is given back is empty when it is given out again, one
// that is not stays closed, and the last one takes all along.
func TestFamily(t *testing.T) {
	s, err := sandbox.New(&sandbox.Options{Require: sandbox.None, AllowNone: true, Forks: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	if _, err := s.ForkDir("/tmp/x"); !errors.Is(err, codeinterp.ErrInvalid) {
		t.Errorf("a directory beside none of a family: %v", err)
	}
	first, err := s.FamilyDir()
	if err != nil {
		t.Fatal(err)
	}
	fork := func() string {
		t.Helper()
		dir, err := s.ForkDir(first)
		if err != nil {
			t.Fatal(err)
		}
		if list, err := os.ReadDir(dir); err != nil || len(list) > 0 {
			t.Errorf("%s: %d entries, %v", dir, len(list), err)
		}
		if err := os.MkdirAll(filepath.Join(dir, "a/b"), 0o755); err != nil {
			t.Fatal(err)
		}
		return dir
	}
	second := fork()
	s.Discard(second)
	if info, err := os.Stat(second); err != nil || info.Mode().Perm() != 0 {
		t.Errorf("a free directory has mode %v, %v", info.Mode(), err)
	}
	if again := fork(); again != second {
		t.Errorf("%s, want %s", again, second)
	}
	s.Discard(second)
	if err := errors.Join(os.Chmod(second, 0o700), os.Mkdir(filepath.Join(second, "left"), 0o755)); err != nil {
		t.Fatal(err)
	}
	third := fork()
	if third == second {
		t.Error("a directory that is not empty is given out")
	}
	s.Discard(first)
	s.Discard(third)
	if _, err := os.Stat(filepath.Dir(first)); !os.IsNotExist(err) {
		t.Errorf("the last directory is gone, its family's is there: %v", err)
	}
}
