//go:build real && (amd64 || arm64)

package sandbox_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/toolcell/toolcell/internal/sandbox"
)

// shown is what programs of a root host are shown of Closed: where the link leads
// to, and so the link too.
func (h *host) shown(t testing.TB, s *sandbox.Sandbox) []string {
	t.Helper()
	if os.Getuid() != 0 {
		return nil
	}
	path := filepath.Join(h.Closed, "local", "tool", "lib")
	needsShow(t, s, path)
	return []string{path}
}

// needsShow skips a test, or fails it in CI, where this machine's root may not mount.
func needsShow(t testing.TB, s *sandbox.Sandbox, path string) {
	t.Helper()
	if err := s.Showable(path); err != nil {
		if !errors.Is(err, unix.EPERM) {
			t.Fatal(err)
		}
		needs(t, "CAP_SYS_ADMIN", err)
	}
}

// TestShowLinks: whether programs reach a path is decided by every link on the way,
// also where both the path and what it leads to are open.
func TestShowLinks(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("only programs of a root host are somebody else")
	}
	h := newHost(t)
	s := open(t, &sandbox.Options{})
	file, link, first := filepath.Join(h.Dir, "open"), filepath.Join(h.Closed, "link"), filepath.Join(h.Dir, "first")
	check(t, os.WriteFile(file, []byte("shown"), 0o644))
	check(t, os.Chmod(file, 0o644))
	check(t, os.Symlink(file, link))
	check(t, os.Symlink(link, first))
	if s.Reachable(file) != nil || s.Reachable(first) == nil {
		t.Errorf("open: %v, by a link that is not: %v", s.Reachable(file), s.Reachable(first))
	}
	needsShow(t, s, first)
	check(t, s.Show([]string{first}))
	c := sh
	c.ReadOnly = []string{first}
	if err := s.Reachable(first); err != nil {
		t.Error(err)
	} else if got := run(t, s, c, "cat "+first); got.out != "shown" {
		t.Errorf("got %+v", got)
	}
}

// TestShow: what only root reaches can be read, by every path that leads there on
// the host, and more of it can follow; the host itself sees nothing of that.
func TestShow(t *testing.T) { eachMode(t, testShow) }

func testShow(t *testing.T, mode sandbox.Mode) {
	if os.Getuid() != 0 {
		t.Skip("only programs of a root host are somebody else")
	}
	h := newHost(t)
	tool := filepath.Join(h.Closed, "local", "tool")
	script := filepath.Join(tool, "run")
	check(t, os.WriteFile(script, []byte("#!/bin/sh\necho ran\n"), 0o755))
	check(t, os.Chmod(script, 0o755))
	outside := filepath.Join(h.Dir, "tool")
	check(t, os.Symlink(tool, outside))
	check(t, os.Chmod(filepath.Join(h.Shown, "module"), 0o666))
	defer unix.Umask(unix.Umask(0o077)) // what is made on the way is for others all the same
	s := open(t, &sandbox.Options{Require: mode})
	needsShow(t, s, script)
	paths := []string{filepath.Join(tool, "lib"), filepath.Join(outside, "run")}
	for _, path := range paths {
		if s.Reachable(path) == nil || s.Showable(path) != nil {
			t.Errorf("%s: reachable: %v, showable: %v", path, s.Reachable(path), s.Showable(path))
		}
		check(t, s.Show([]string{path})) // one after the other
		check(t, s.Show([]string{path}))
		if err := s.Reachable(path); err != nil {
			t.Error(err)
		}
	}
	c := sh
	c.ReadOnly = append(paths, h.Shown)
	got := run(t, s, c, "cat "+h.Shown+"/module; cat "+tool+"/lib/module; "+outside+"/run; cat "+h.Secret+"; echo x >>"+h.Shown+"/module")
	if strings.Count(got.out, "shown") != 2 || !strings.Contains(got.out, "ran\n") || mode != sandbox.None && strings.Contains(got.out, fileSecret) {
		t.Errorf("got %+v", got)
	}
	if mounts := string(must(os.ReadFile("/proc/self/mountinfo"))); strings.Contains(mounts, h.Closed) {
		t.Errorf("the host's mounts are\n%s", mounts)
	}
	if b, err := os.ReadFile(filepath.Join(h.Shown, "module")); string(b) != "shown" {
		t.Errorf("the program has written what it is shown: %q, %v", b, err)
	}
	if b, err := os.ReadFile(filepath.Join(h.Closed, "id_rsa")); string(b) != fileSecret {
		t.Errorf("the host finds %q, %v", b, err)
	}
	testShowCwd(t, s, h)
}

// TestShowListed: what Options lists is shown, and what cannot be is no obstacle
// to the rest.
func TestShowListed(t *testing.T) {
	eachMode(t, func(t *testing.T, mode sandbox.Mode) {
		if os.Getuid() != 0 {
			t.Skip("only programs of a root host are somebody else")
		}
		h := newHost(t)
		needsShow(t, open(t, &sandbox.Options{Require: mode}), h.Shown)
		s := open(t, &sandbox.Options{Require: mode, ReadOnly: []string{h.Shown, filepath.Join(h.Closed, "no such")}})
		if got := run(t, s, sh, "cat "+h.Shown+"/module; cat "+h.Closed+"/id_rsa; echo x >"+h.Shown+"/made"); !strings.Contains(got.out, "shown") || strings.Contains(got.out, fileSecret) {
			t.Errorf("got %+v", got)
		}
		if _, err := os.Stat(filepath.Join(h.Shown, "made")); err == nil {
			t.Error("the program has made a file in what it may read")
		}
	})
}

// testShowCwd: a directory that is held open is one to a program that is shown
// something.
func testShowCwd(t *testing.T, s *sandbox.Sandbox, h *host) {
	dir := filepath.Join(h.Dir, "work")
	check(t, os.Mkdir(dir, 0o777))
	check(t, os.Chmod(dir, 0o777))
	d := must(sandbox.OpenDir(dir))
	defer d.Close()
	c := sh
	c.Cwd = d
	if got := run(t, s, c, "/bin/pwd; echo x >made"); !strings.Contains(got.out, dir+"\n") {
		t.Errorf("a program in %s: %+v", dir, got)
	}
	if _, err := os.Stat(filepath.Join(dir, "made")); err != nil {
		t.Error(err)
	}
	check(t, os.Rename(dir, dir+"2"))
	check(t, os.Mkdir(dir, 0o777))
	c.Workdir = must(s.TempDir())
	if _, err := s.Start(&c); err == nil {
		t.Error("a program started in a directory that took the place of its own")
	}
}

// TestShowRefused: a directory through which somebody else may pass stays as it
// is, and what is closed itself is not shown.
func TestShowRefused(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("only programs of a root host are somebody else")
	}
	h := newHost(t)
	s := open(t, &sandbox.Options{})
	refused := func(what, path string) {
		t.Helper()
		if s.Showable(path) == nil || s.Show([]string{path}) == nil {
			t.Errorf("%s is shown", what)
		}
		if s.Reachable(path) == nil {
			t.Errorf("%s is reachable", what)
		}
	}
	refused("a directory that is closed itself", h.Closed)
	key := filepath.Join(h.Closed, "id_rsa")
	check(t, os.Chmod(key, 0o600))
	refused("a file that is closed itself", key)
	check(t, os.Chmod(h.Closed, 0o710))
	check(t, os.Chown(h.Closed, 0, someUser))
	refused("what a group reaches", h.Shown)
	check(t, os.Chmod(h.Closed, 0o700))
	check(t, os.Chown(h.Closed, someUser, 0))
	refused("what another user reaches", h.Shown)
}
