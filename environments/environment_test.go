//go:build unix

package environments

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/toolcell/toolcell/codeinterp"
)

// TestRequestID protects "Exact: exactly those versions are installed": no two requests
// share an environment.
func TestRequestID(t *testing.T) {
	attrs := []string{"attrs==25.3.0"}
	requests := map[string]*Options{
		"packages":       {Packages: attrs},
		"exact":          {Packages: attrs, Exact: true},
		"named exactly":  {Packages: append(attrs[:1:1], "exactly")},
		"named true":     {Packages: append(attrs[:1:1], "true")},
		"constraints":    {Packages: attrs, Constraints: []string{"six==1.17.0"}},
		"two packages":   {Packages: append(attrs[:1:1], "six==1.17.0")},
		"joined to one":  {Packages: []string{"attrs==25.3.0six==1.17.0"}},
		"another python": {Packages: attrs, Python: "/usr/local/bin/python3"},
	}
	ids := map[string]string{}
	for name, o := range requests {
		path := "/usr/bin/python3"
		if o.Python != "" {
			path = o.Python
		}
		id := requestID(path, "CPython 3.12.1", o)
		if other, ok := ids[id]; ok {
			t.Errorf("%s and %s share the ID %s", name, other, id)
		}
		ids[id] = name
	}
}

func TestRequirements(t *testing.T) {
	good := "# data\npandas\nnumpy>=2,<3 # new\n\nrequests[socks]==2.*\nsix; python_version < '4'\npandas\n"
	list, err := Requirements(good)
	if want := "numpy>=2,<3|pandas|requests[socks]==2.*|six; python_version < '4'"; err != nil || strings.Join(list, "|") != want {
		t.Errorf("%q, %v", list, err)
	}
	for _, bad := range []string{"-e .", "--index-url x", "-r other.txt", "git+ssh://h/r", "six @ file:///x", "./six", "../six", "/six", "six\x00", "a b", "$(id)", strings.Repeat("x", 2000)} {
		if list, err := Requirements(bad); !errors.Is(err, codeinterp.ErrInvalid) {
			t.Errorf("%.30q is accepted: %q, %v", bad, list, err)
		}
	}
}

// TestOptions protects "Options, addresses and paths are refused".
func TestOptions(t *testing.T) {
	for _, o := range []*Options{
		nil, {}, {Packages: []string{"-v"}}, {Packages: []string{"six"}, Exact: true}, {Packages: []string{"six"}, Disk: -1},
		{Packages: []string{"six"}, Changeable: []string{"here"}}, {Packages: []string{"x"}, Language: "ruby"},
	} {
		if _, err := New(t.Context(), o); !errors.Is(err, codeinterp.ErrInvalid) {
			t.Errorf("%+v: %v", o, err)
		}
	}
	for _, p := range []string{"git+ssh://h/r", "--prefix=/", "x@file:y", "./x", "a/b", "x@npm:y"} {
		if _, err := New(t.Context(), &Options{Language: "javascript", Packages: []string{p}}); !errors.Is(err, codeinterp.ErrInvalid) {
			t.Errorf("%s: %v", p, err)
		}
	}
	if _, err := Open(t.TempDir(), "../../etc"); !errors.Is(err, codeinterp.ErrInvalid) {
		t.Errorf("opened outside of the root: %v", err)
	}
}

// TestOpenIncomplete: an environment without its lock is not found.
func TestOpenIncomplete(t *testing.T) {
	root, id := t.TempDir(), strings.Repeat("0a", 12)
	put(t, filepath.Join(root, id, "bin", "python"), "", 0o755)
	if e, err := Open(root, id); !errors.Is(err, codeinterp.ErrUnavailable) {
		t.Errorf("found %+v, %v", e, err)
	}
}

// TestSweep protects the order of Sweep: what killed processes left, then the
// environments that were opened the longest ago.
func TestSweep(t *testing.T) {
	root := t.TempDir()
	ids := []string{strings.Repeat("0a", 12), strings.Repeat("0b", 12)}
	for _, id := range ids {
		put(t, filepath.Join(root, id, "node_modules", "x"), strings.Repeat("x", 1000), 0o644)
		put(t, filepath.Join(root, id, lockFile), "x@1.0.0\n", 0o644)
	}
	half := filepath.Join(root, strings.Repeat("0c", 12))
	if err := os.Mkdir(half, 0o755); err != nil {
		t.Fatal(err)
	}
	old := (&Environment{Dir: filepath.Join(root, ids[1])}).lastOpened().Add(-1e9)
	if err := os.Chtimes(filepath.Join(root, ids[1], lockFile), old, old); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		size    int64
		keep    []string
		removed string
	}{{1 << 20, nil, ""}, {1500, nil, ids[1]}, {0, ids[:1], ""}, {0, nil, ids[0]}} {
		removed, _, err := Sweep(t.Context(), root, c.size, c.keep)
		if err != nil || strings.Join(removed, " ") != c.removed {
			t.Errorf("to %d, keeping %q: removed %q, %v", c.size, c.keep, removed, err)
		}
	}
	if _, err := os.Stat(half); err == nil {
		t.Error("an incomplete environment is left")
	}
}

// TestSettle: what installers have made is plain files, without the rights of a user.
func TestSettle(t *testing.T) {
	for name, mode := range map[string]os.FileMode{"setuid": 0o777 | os.ModeSetuid, "a program without a mode": 0o600} {
		dir := t.TempDir()
		put(t, dir+"/bin/tool", "#!/bin/sh\n", 0o755)
		if err := errors.Join(os.Chmod(dir+"/bin/tool", mode), os.Symlink("/etc/passwd", dir+"/link")); err != nil {
			t.Fatal(err)
		}
		if err := settle(dir, -1, -1); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if about, _ := os.Stat(dir + "/bin/tool"); about.Mode() != 0o755 {
			t.Errorf("%s: %v", name, about.Mode())
		}
	}
}

// TestSettings: an index of pip's is uv's too, and installers read what settings name,
// but no home.
func TestSettings(t *testing.T) {
	home, shared := t.TempDir(), t.TempDir()
	t.Setenv("HOME", home)
	t.Setenv("XDG_CONFIG_HOME", "")
	for _, name := range []string{"PIP_INDEX_URL", "PIP_CONFIG_FILE", "UV_INDEX_URL", "UV_DEFAULT_INDEX", "PIP_FIND_LINKS", "UV_FIND_LINKS"} {
		t.Setenv(name, "")
	}
	put(t, filepath.Join(home, ".config/pip/pip.conf"), "[global]\nindex-url = https://index.example/simple\nfind-links =\n  "+shared+"\ncert = "+home+"/ca.pem\n", 0o600)
	put(t, filepath.Join(home, "ca.pem"), "", 0o600)
	s := readSettings()
	if s.env["UV_DEFAULT_INDEX"] != "https://index.example/simple" {
		t.Errorf("uv's index is %q", s.env["UV_DEFAULT_INDEX"])
	}
	if text := strings.Join(s.readable, " ") + " "; !strings.Contains(text, shared+" ") || strings.Contains(text, home+" ") {
		t.Errorf("readable are %q", s.readable)
	}
	to := t.TempDir()
	if err := s.copyTo(to); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(to, ".config/pip/pip.conf")); err != nil {
		t.Error(err)
	}
}

func put(t *testing.T, file, text string, mode os.FileMode) {
	t.Helper()
	if err := errors.Join(os.MkdirAll(filepath.Dir(file), 0o755), os.WriteFile(file, []byte(text), mode), os.Chmod(file, mode)); err != nil {
		t.Fatal(err)
	}
}
