//go:build real && (amd64 || arm64)

package sandbox_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/internal/sandbox"
)

// someUser owns the directories of these tests where the host is root.
const someUser = 65533

// project makes a directory of an ordinary user's with a directory sub in it,
// and another directory with a secret.
func project(t *testing.T) (proj, secret string) {
	t.Helper()
	base := must(os.MkdirTemp("", "project-"))
	t.Cleanup(func() { os.RemoveAll(base) })
	check(t, os.Chmod(base, 0o755))
	proj, secret = filepath.Join(base, "proj"), filepath.Join(base, "secret")
	for _, dir := range []string{proj, filepath.Join(proj, "sub"), secret} {
		check(t, os.Mkdir(dir, 0o755))
		if os.Getuid() == 0 {
			check(t, os.Chown(dir, someUser, someUser))
		}
	}
	check(t, os.WriteFile(filepath.Join(secret, "key"), []byte(fileSecret), 0o644))
	return proj, secret
}

func shell(t *testing.T, s *sandbox.Sandbox, cwd *sandbox.Dir, code string) result {
	t.Helper()
	c := sh
	c.Cwd = cwd
	return run(t, s, c, code)
}

func TestCwd(t *testing.T) { eachMode(t, testCwd) }

func testCwd(t *testing.T, mode sandbox.Mode) {
	proj, secret := project(t)
	sub := filepath.Join(proj, "sub")
	s := open(t, &sandbox.Options{Require: mode})
	check(t, os.Symlink(sub, filepath.Join(proj, "link")))
	d := must(sandbox.OpenDir(filepath.Join(proj, "link")))
	defer d.Close()
	got := shell(t, s, d, "pwd; echo made > file; ls /proc/self/fd 2>/dev/null | tr '\\n' ' '")
	if !strings.HasPrefix(got.out, sub+"\n") || strings.Contains(got.out, " 4 ") {
		t.Errorf("got %+v", got)
	}
	if b, err := os.ReadFile(filepath.Join(sub, "file")); err != nil || string(b) != "made\n" {
		t.Errorf("got %q, %v", b, err)
	}
	check(t, os.Rename(sub, sub+"2"))
	check(t, os.Symlink(secret, sub))
	c := sh
	c.Cwd, c.Workdir = d, must(s.TempDir())
	if _, err := s.Start(&c); !errors.Is(err, codeinterp.ErrInvalid) || strings.Contains(err.Error(), proj) {
		t.Errorf("a link in its place: %v", err)
	}
	check(t, os.Remove(sub))
	check(t, os.Mkdir(sub, 0o755))
	if _, err := s.Start(&c); !errors.Is(err, codeinterp.ErrInvalid) {
		t.Errorf("another directory in its place: %v", err)
	}
}

func TestOpenDir(t *testing.T) {
	proj, _ := project(t)
	check(t, os.WriteFile(filepath.Join(proj, "file"), nil, 0o644))
	for _, path := range []string{"relative", filepath.Join(proj, "nothing"), filepath.Join(proj, "file"), proj + "\x00"} {
		if _, err := sandbox.OpenDir(path); !errors.Is(err, codeinterp.ErrInvalid) {
			t.Errorf("%q: %v", path, err)
		}
	}
	if d := must(sandbox.OpenDir("/")); d.Path() != "/" {
		t.Error(d.Path())
	}
}

// TestReplacedByLink has a program replace a listed directory by a link; what
// it leads to must not become readable for those that start later.
func TestReplacedByLink(t *testing.T) { eachMode(t, testReplacedByLink) }

func testReplacedByLink(t *testing.T, mode sandbox.Mode) {
	if mode == sandbox.None {
		t.Skip("none mode lets programs read anything")
	}
	proj, secret := project(t)
	o := sandbox.Options{Require: mode, Writable: []string{proj, filepath.Join(proj, "sub")}}
	check(t, os.Chmod(proj, 0o777))
	s := open(t, &o)
	if got := shell(t, s, nil, "cd "+proj+"; mv sub sub2 && ln -s "+secret+" sub; ls -d sub"); mode == sandbox.Landlock && !strings.Contains(got.out, "sub") {
		t.Fatalf("got %+v", got)
	} else if mode == sandbox.Bwrap {
		check(t, os.RemoveAll(filepath.Join(proj, "sub")))
		check(t, os.Symlink(secret, filepath.Join(proj, "sub")))
	}
	c := sh
	c.Workdir, c.Files = must(s.TempDir()), []*os.File{nil, nil, nil}
	p, err := s.Start(&c)
	if mode == sandbox.Bwrap {
		if !errors.Is(err, codeinterp.ErrIsolation) {
			t.Errorf("bubblewrap does not show a directory in the place of a link, and no program ran: %v", err)
		}
		return
	}
	check(t, err)
	p.Wait()
	got := shell(t, s, nil, "cat "+secret+"/key "+proj+"/sub/key; echo x > "+proj+"/sub/planted; echo done")
	if strings.Contains(got.out, fileSecret) || !strings.Contains(got.out, "done") {
		t.Errorf("got %+v", got)
	}
	if _, err := os.Stat(filepath.Join(secret, "planted")); err == nil {
		t.Error("a file was planted")
	}
}

// TestCwdOfRoot has programs of a root host work in directories of root's.
func TestCwdOfRoot(t *testing.T) { eachMode(t, testCwdOfRoot) }

func testCwdOfRoot(t *testing.T, mode sandbox.Mode) {
	if os.Getuid() != 0 {
		t.Skip("only for root")
	}
	base := must(os.MkdirTemp("", "roots-"))
	defer os.RemoveAll(base)
	check(t, os.Chmod(base, 0o755))
	check(t, os.WriteFile(filepath.Join(base, "old"), []byte("of root\n"), 0o644))
	check(t, os.WriteFile(filepath.Join(base, "closed"), []byte(fileSecret), 0o600))
	s := open(t, &sandbox.Options{Require: mode})
	d := must(sandbox.OpenDir(base))
	defer d.Close()
	for range 2 {
		got := shell(t, s, d, "id -u; cat old closed; echo x >> old; echo more >> new; cat new; echo done")
		if strings.HasPrefix(got.out, "0\n") || !strings.Contains(got.out, "of root") || strings.Contains(got.out, fileSecret) || !strings.Contains(got.out, "more\ndone") {
			t.Errorf("got %+v", got)
		}
	}
	if b := must(os.ReadFile(filepath.Join(base, "old"))); string(b) != "of root\n" {
		t.Errorf("a file of root's was changed: %q", b)
	}
	if b := must(os.ReadFile(filepath.Join(base, "new"))); string(b) != "more\nmore\n" {
		t.Errorf("got %q", b)
	}
	if info := must(os.Stat(base)); info.Mode().Perm()&0o007 != 0o005 {
		t.Errorf("mode %v", info.Mode())
	}
}
