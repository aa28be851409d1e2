//go:build unix

package subprocess_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/internal/leftover"
	"github.com/toolcell/toolcell/providers/subprocess"
)

// makeEnvironment returns an environment of a tiny package, and skips where no registry is
// reached: the test parts say whether one has to be.
func makeEnvironment(t *testing.T, root string) *subprocess.Environment {
	t.Helper()
	base := python(t).Commands[0]
	e, err := subprocess.NewEnvironment(t.Context(), &subprocess.EnvironmentOptions{Packages: []string{"six==1.17.0"}, Python: base, Root: root})
	if err != nil {
		if os.Getenv("CI") != "" {
			t.Fatal(err)
		}
		t.Skip("no environment can be made here: ", err)
	}
	return e
}

// made returns what is in a root, but for locks and the cache of what installs.
func made(t *testing.T, root string) []string {
	t.Helper()
	list, err := filepath.Glob(filepath.Join(root, "*"))
	if err != nil {
		t.Fatal(err)
	}
	return slices.DeleteFunc(list, func(p string) bool { return strings.HasSuffix(p, ".lock") || filepath.Base(p) == "cache" })
}

// TestPackagesOfAnEnvironment: several that ask at once get one environment; programs use
// it, cannot change it, and find it again without the network; what is half
// is never found.
func TestPackagesOfAnEnvironment(t *testing.T) {
	root := leftover.Dir(t)
	var first, other *subprocess.Environment
	base := python(t).Commands[0]
	var wg sync.WaitGroup
	wg.Go(func() {
		other, _ = subprocess.NewEnvironment(t.Context(), &subprocess.EnvironmentOptions{Packages: []string{"six==1.17.0 ", "six==1.17.0"}, Python: base, Root: root})
	})
	first = makeEnvironment(t, root)
	wg.Wait()
	if made := made(t, root); len(made) != 2 || other == nil || other.ID != first.ID { // with the wheels
		t.Fatalf("two at once made %q", made)
	}
	if !slices.Contains(first.Lock, "six==1.17.0") {
		t.Errorf("locked are %q", first.Lock)
	}
	for _, name := range []string{"HTTP_PROXY", "HTTPS_PROXY", "PIP_INDEX_URL", "UV_INDEX_URL", "UV_DEFAULT_INDEX"} {
		t.Setenv(name, "http://127.0.0.1:1") // there is no network any more
	}
	if again := makeEnvironment(t, root); again.ID != first.ID || again.Python != first.Python {
		t.Errorf("the same again is %+v, not %+v", again, first)
	}
	if opened, err := subprocess.OpenEnvironment(root, first.ID); err != nil || !slices.Equal(opened.Lock, first.Lock) {
		t.Errorf("opened as %+v, %v", opened, err)
	}
	locked, err := subprocess.NewEnvironment(t.Context(), &subprocess.EnvironmentOptions{Packages: first.Lock, Exact: true, Python: base, Root: root})
	if err != nil || locked.ID == first.ID || !slices.Equal(locked.Lock, first.Lock) {
		t.Fatalf("from its lock, without the network, it is %+v, %v", locked, err)
	}
	if err := locked.Remove(t.Context()); err != nil {
		t.Error(err)
	}
	if err := locked.Remove(t.Context()); !errors.Is(err, codeinterp.ErrUnavailable) || strings.Contains(err.Error(), root) {
		t.Errorf("removed twice: %v", err)
	}
	ci := open(t, subprocess.Options{Languages: []subprocess.Language{first.Language()}})
	res := run(t, ci, "python", "import six, sys\nprint(six.__version__, sys.prefix)\nopen(sys.prefix + '/new', 'w')", nil)
	if want := "1.17.0 " + first.Dir + "\n"; res.Stdout() != want || res.Status != codeinterp.StatusError {
		t.Errorf("a program in it: %s", summary(res))
	}
	if l := ci.Describe().Languages[0]; !slices.Contains(l.Packages, "six 1.17.0") || l.Prefix != first.Dir {
		t.Errorf("it is described as %+v", l)
	}
	if err := other.Remove(t.Context()); err != nil {
		t.Error(err)
	}
	if _, err := ci.RunCode(t.Context(), "python", "1", nil); !errors.Is(err, codeinterp.ErrUnavailable) || !strings.Contains(err.Error(), first.Python+" is gone") {
		t.Errorf("without it: %v", err)
	}
	if left, _ := filepath.Glob(filepath.Join(root, "*")); slices.ContainsFunc(left, func(p string) bool { return !strings.HasSuffix(p, ".lock") }) {
		t.Errorf("removal leaves %q", left)
	}
}

// TestHalfAnEnvironment: what is not whole is not found.
func TestHalfAnEnvironment(t *testing.T) {
	root, id := leftover.Dir(t), strings.Repeat("0a", 12)
	if err := os.MkdirAll(filepath.Join(root, id, "bin"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(root, id, "bin", "python"), nil, 0o755); err != nil {
		t.Fatal(err)
	}
	if half, err := subprocess.OpenEnvironment(root, id); !errors.Is(err, codeinterp.ErrUnavailable) {
		t.Errorf("half an environment was found: %+v, %v", half, err)
	}
}

// TestEnvironmentGivenUp: an installation that is canceled leaves nothing.
func TestEnvironmentGivenUp(t *testing.T) {
	root := leftover.Dir(t)
	base := python(t).Commands[0]
	ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer cancel()
	_, err := subprocess.NewEnvironment(ctx, &subprocess.EnvironmentOptions{Packages: []string{"six==1.17.0"}, Python: base, Root: root})
	if err == nil {
		t.Fatal("made within no time")
	}
	if left := made(t, root); len(left) > 0 {
		t.Errorf("it leaves %q", left)
	}
}

func TestRequirements(t *testing.T) {
	good := "# data\npandas\nnumpy>=2,<3 # new\n\nrequests[socks]==2.*\nsix; python_version < '4'\npandas\n"
	list, err := subprocess.Requirements(good)
	if want := "numpy>=2,<3|pandas|requests[socks]==2.*|six; python_version < '4'"; err != nil || strings.Join(list, "|") != want {
		t.Errorf("%q, %v", list, err)
	}
	for _, bad := range []string{"-e .", "--index-url x", "-r other.txt", "git+ssh://h/r", "six @ file:///x", "./six", "../six", "/six", "six\x00", "a b", "$(id)", strings.Repeat("x", 2000)} {
		if list, err := subprocess.Requirements(bad); !errors.Is(err, codeinterp.ErrInvalid) {
			t.Errorf("%.30q was taken: %q, %v", bad, list, err)
		}
	}
	for _, opts := range []*subprocess.EnvironmentOptions{nil, {}, {Packages: []string{"-v"}}, {Packages: []string{"six"}, Exact: true}} {
		if _, err := subprocess.NewEnvironment(t.Context(), opts); !errors.Is(err, codeinterp.ErrInvalid) {
			t.Errorf("%+v: %v", opts, err)
		}
	}
	if _, err := subprocess.OpenEnvironment(t.TempDir(), "../../etc"); !errors.Is(err, codeinterp.ErrInvalid) {
		t.Errorf("opened outside: %v", err)
	}
}

// TestNodeEnvironment: packages of npm, for JavaScript and TypeScript, read-only,
// again from their lock without the network; and what is swept.
func TestNodeEnvironment(t *testing.T) {
	root := leftover.Dir(t)
	first, err := subprocess.NewEnvironment(t.Context(), &subprocess.EnvironmentOptions{Language: "javascript", Packages: []string{"ms@2.1.3"}, Root: root})
	if err != nil {
		if os.Getenv("CI") != "" {
			t.Fatal(err)
		}
		t.Skip("no environment can be made here: ", err)
	}
	for _, name := range []string{"HTTP_PROXY", "HTTPS_PROXY", "npm_config_proxy", "npm_config_https_proxy"} {
		t.Setenv(name, "http://127.0.0.1:1") // there is no network any more
	}
	e, err := subprocess.NewEnvironment(t.Context(), &subprocess.EnvironmentOptions{Language: "javascript", Packages: first.Lock, Exact: true, Root: root})
	if err != nil || e.ID == first.ID || e.Python != "" || strings.Join(e.Lock, " ") != "ms@2.1.3" {
		t.Fatalf("from the lock %q: %+v, %v", first.Lock, e, err)
	}
	ci := open(t, subprocess.Options{Languages: e.Languages()})
	program := "import ms from 'ms'\nconsole.log(ms('2d'), require('ms')(1))\nrequire('fs').writeFileSync(require.resolve('ms'), '')"
	for _, language := range []string{"javascript", "typescript"} {
		if res := run(t, ci, language, program, nil); res.Stdout() != "172800000 1ms\n" || res.Status != codeinterp.StatusError {
			t.Errorf("%s: %s", language, summary(res))
		}
	}
	if l := ci.Describe().Languages[0]; !slices.Contains(l.Packages, "ms 2.1.3") {
		t.Errorf("it is described as %+v", l)
	}
	sweepOf(t, root, e, first)
}

// sweepOf sweeps a root of two environments, of which the second was not used
// since.
func sweepOf(t *testing.T, root string, used, unused *subprocess.Environment) {
	t.Helper()
	half := filepath.Join(root, strings.Repeat("0b", 12)+".new")
	if err := os.Mkdir(half, 0o755); err != nil {
		t.Fatal(err)
	}
	removed, left, err := subprocess.SweepEnvironments(t.Context(), root, 1<<30, nil)
	if _, there := os.Stat(half); err != nil || len(removed) > 0 || left == 0 || there == nil {
		t.Errorf("with room for all: %q, %d, %v, half: %v", removed, left, err, there)
	}
	if removed, left, err = subprocess.SweepEnvironments(t.Context(), root, left-1, nil); err != nil || len(removed) != 1 || removed[0] != unused.ID || left == 0 {
		t.Errorf("with room for one: %q, %d, %v", removed, left, err)
	}
	if removed, _, err = subprocess.SweepEnvironments(t.Context(), root, 0, []string{used.ID}); err != nil || len(removed) > 0 {
		t.Errorf("with one to keep: %q, %v", removed, err)
	}
	if removed, left, err = subprocess.SweepEnvironments(t.Context(), root, 0, nil); err != nil || len(removed) != 1 || left != 0 {
		t.Errorf("without: %q, %d, %v", removed, left, err)
	}
}

// TestPackagesOfNode: names only.
func TestPackagesOfNode(t *testing.T) {
	for _, opts := range []*subprocess.EnvironmentOptions{
		{Packages: []string{"git+ssh://h/r"}}, {Packages: []string{"--prefix=/"}}, {Packages: []string{"x@file:y"}}, {Packages: []string{"./x"}}, {Packages: []string{"a/b"}},
		{Packages: []string{"x@npm:y"}}, {Packages: []string{"x@^1"}, Exact: true}, {Packages: []string{"x"}, Python: "/usr/bin/python3"}, {},
	} {
		opts.Language = "javascript"
		if _, err := subprocess.NewEnvironment(t.Context(), opts); !errors.Is(err, codeinterp.ErrInvalid) {
			t.Errorf("%+v: %v", opts, err)
		}
	}
	if _, err := subprocess.NewEnvironment(t.Context(), &subprocess.EnvironmentOptions{Language: "ruby", Packages: []string{"x"}}); !errors.Is(err, codeinterp.ErrInvalid) {
		t.Errorf("ruby: %v", err)
	}
}

// TestUV: where uv is on PATH it makes environments, from its cache if the network
// is gone.
func TestUV(t *testing.T) {
	t.Setenv("PATH", uvDir(t)+":"+os.Getenv("PATH"))
	root := leftover.Dir(t)
	first := makeEnvironment(t, root)
	if _, err := os.Stat(filepath.Join(root, "wheels")); err == nil {
		t.Fatal("it was made by pip")
	}
	for _, name := range []string{"HTTP_PROXY", "HTTPS_PROXY"} {
		t.Setenv(name, "http://127.0.0.1:1")
	}
	locked, err := subprocess.NewEnvironment(t.Context(), &subprocess.EnvironmentOptions{Packages: first.Lock, Exact: true, Python: python(t).Commands[0], Root: root})
	if err != nil || !slices.Equal(locked.Lock, first.Lock) {
		t.Fatalf("from its lock, without the network, it is %+v, %v", locked, err)
	}
	ci := open(t, subprocess.Options{Languages: []subprocess.Language{locked.Language()}})
	if res := run(t, ci, "python", "import six; print(six.__version__)", nil); res.Stdout() != "1.17.0\n" {
		t.Error(summary(res))
	}
}

// uvDir returns the directory of the tests' uv, and skips where there is none.
func uvDir(t *testing.T) string {
	t.Helper()
	dir, err := filepath.Abs("../../.testenv/uv/bin")
	if _, gone := os.Stat(filepath.Join(dir, "uv")); err != nil || gone != nil {
		if os.Getenv("CI") != "" {
			t.Fatal("no .testenv/uv; run internal/testenv/python.sh")
		}
		t.Skip("no .testenv/uv; run internal/testenv/python.sh")
	}
	return dir
}
