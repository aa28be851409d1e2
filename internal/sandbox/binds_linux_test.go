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

// TestListedReplaced: a program that replaces a directory above a listed path gets no
// other file shown in its place.
func TestListedReplaced(t *testing.T) { eachMode(t, testListedReplaced) }

func testListedReplaced(t *testing.T, mode sandbox.Mode) {
	if mode == sandbox.None {
		t.Skip("there is nothing to show")
	}
	for _, code := range []string{
		"mkdir sub && ln -s %s sub/data",
		"ln -s %s sub",
		"mkdir sub && echo >sub/data",
		"mkdir -p sub/data && chmod 0 sub",
		"chmod 555 .",
	} {
		proj, secret := project(t)
		data := filepath.Join(proj, "sub", "data")
		check(t, os.Mkdir(data, 0o755))
		check(t, os.WriteFile(filepath.Join(data, "key"), []byte("data"), 0o644))
		s := open(t, &sandbox.Options{Require: mode, ReadOnly: []string{data}})
		cwd := must(sandbox.OpenDir(proj))
		t.Cleanup(func() { cwd.Close() })
		if got := shell(t, s, cwd, "cat "+data+"/key"); got.out != "data" {
			t.Errorf("at first: %+v", got)
		}
		code = "mv sub old && " + strings.ReplaceAll(code, "%s", secret) + " && echo done"
		if got := shell(t, s, cwd, code); !strings.HasSuffix(got.out, "done\n") {
			t.Fatalf("%s: %+v", code, got)
		}
		dir := must(s.TempDir())
		p, err := s.Start(&sandbox.Cmd{Path: "/bin/true", Workdir: dir, Cwd: cwd})
		if mode == sandbox.Bwrap && errors.Is(err, codeinterp.ErrIsolation) {
			continue // bubblewrap has no place for the path, and says so
		}
		check(t, err)
		if exit := p.Wait(); exit.Code != 0 {
			t.Errorf("%s: what did not begin looks like a program that failed: %+v", code, exit)
		}
		if got := shell(t, s, cwd, "cat "+data+"/key 2>/dev/null; echo on"); !strings.HasSuffix(got.out, "on\n") || strings.Contains(got.out, fileSecret) {
			t.Errorf("%s: %+v", code, got)
		}
		check(t, os.Chmod(proj, 0o755))
	}
}
