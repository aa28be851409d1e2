//go:build real && (amd64 || arm64)

package sandbox_test

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/toolcell/toolcell/internal/sandbox"
)

// TestSweep kills a host, and finds its directories removed by the next one,
// which leaves those of living hosts alone.
func TestSweep(t *testing.T) {
	tmp := must(os.MkdirTemp("", "sweep-"))
	defer os.RemoveAll(tmp)
	check(t, os.Chmod(tmp, 0o755))
	o := &sandbox.Options{Require: sandbox.None, TempDir: tmp}
	alive := open(t, o)
	kept := must(alive.TempDir())
	cmd := helper("leaves")
	cmd.Env = append(cmd.Env, "TMPDIR="+tmp)
	if out, err := cmd.CombinedOutput(); err == nil {
		t.Fatalf("the host has not died: %s", out)
	}
	roots := func() int { return len(must(filepath.Glob(filepath.Join(tmp, "*")))) }
	if roots() != 2 {
		t.Fatalf("%d roots", roots())
	}
	next := open(t, o)
	must(next.TempDir())
	if !await(func() bool { return roots() == 2 }) {
		t.Errorf("%d roots: what the dead host left is still there", roots())
	}
	if _, err := os.Stat(kept); err != nil {
		t.Error(err)
	}
}

// hostThatLeaves makes a directory and is killed.
func hostThatLeaves() error {
	s, err := sandbox.New(&sandbox.Options{Require: sandbox.None})
	if err != nil {
		return err
	}
	dir, err := s.TempDir()
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Join(dir, "a", "b"), 0o700); err != nil {
		return err
	}
	p, err := os.FindProcess(os.Getpid())
	if err != nil {
		return err
	}
	if err := p.Kill(); err != nil {
		return err
	}
	time.Sleep(time.Minute)
	return errors.New("it lives on")
}

func TestDiscard(t *testing.T) {
	s := open(t, &sandbox.Options{Require: sandbox.None})
	small := must(s.TempDir())
	s.Discard(small)
	if _, err := os.Stat(small); err == nil {
		t.Error("a small directory is still there")
	}
	large := must(s.TempDir())
	for i := range 20_000 {
		check(t, os.Symlink("x", filepath.Join(large, string(rune('a'+i%26))+time.Duration(i).String())))
	}
	start := time.Now()
	s.Discard(large)
	if took := time.Since(start); took > time.Minute {
		t.Errorf("took %v", took)
	}
	if !await(func() bool { _, err := os.Stat(large); return err != nil }) {
		t.Error("a large directory is still there")
	}
}
