//go:build real

package environments

import (
	"archive/zip"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/egress"
	"github.com/toolcell/toolcell/internal/leftover"
	"github.com/toolcell/toolcell/internal/sandbox"
)

// wheels makes a directory of wheels that uv and pip install from without the network,
// and puts the tests' uv on PATH. A wheel's files come beside its metadata.
func wheels(t *testing.T, packages map[string]map[string]string) string {
	t.Helper()
	dir := leftover.Dir(t)
	for name, files := range packages {
		f, err := os.Create(filepath.Join(dir, name+"-1.0-py3-none-any.whl"))
		if err != nil {
			t.Fatal(err)
		}
		w := zip.NewWriter(f)
		info := name + "-1.0.dist-info/"
		all := map[string]string{info + "WHEEL": "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n", info + "RECORD": "", info + "METADATA": "Metadata-Version: 2.1\nName: " + name + "\nVersion: 1.0\n" + files["requires"]}
		for path, text := range files {
			if path != "requires" {
				all[path] = text
			}
		}
		for path, text := range all {
			p, err := w.Create(path)
			if err == nil {
				_, err = p.Write([]byte(text))
			}
			if err != nil {
				t.Fatal(err)
			}
		}
		if err := errors.Join(w.Close(), f.Close()); err != nil {
			t.Fatal(err)
		}
	}
	for name, value := range map[string]string{"UV_NO_INDEX": "1", "UV_OFFLINE": "1", "UV_FIND_LINKS": dir, "PIP_FIND_LINKS": dir} {
		t.Setenv(name, value)
	}
	uv, err := filepath.Abs("../.testenv/uv/bin")
	if err == nil {
		_, err = os.Stat(filepath.Join(uv, "uv"))
	}
	if err != nil {
		t.Fatal("no .testenv/uv; run make testenv: ", err)
	}
	t.Setenv("PATH", uv+":"+os.Getenv("PATH"))
	return dir
}

func python(t *testing.T) string {
	t.Helper()
	path, err := filepath.Abs("../.testenv/python/bin/python")
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// TestNew: concurrent requests make one environment, which is found again, made again
// from its lock, and removed.
func TestNew(t *testing.T) {
	wheels(t, map[string]map[string]string{"mine": {"mine.py": "word = 'found'\n", "mine-1.0.dist-info/entry_points.txt": "[console_scripts]\nmine = mine:word\n"}})
	root := leftover.Dir(t)
	o := &Options{Packages: []string{"mine"}, Python: python(t), Root: root}
	var made [2]*Environment
	var wg sync.WaitGroup
	for i := range made {
		wg.Go(func() {
			var err error
			if made[i], err = New(t.Context(), o); err != nil {
				t.Error(err)
			}
		})
	}
	if wg.Wait(); t.Failed() {
		return
	}
	e := made[0]
	if e.ID != made[1].ID || strings.Join(e.Lock, " ") != "mine==1.0" {
		t.Fatalf("made %+v and %+v", e, made[1])
	}
	if out, err := exec.Command(e.Python, "-I", "-c", "import mine; print(mine.word)").CombinedOutput(); err != nil || string(out) != "found\n" {
		t.Errorf("it prints %q, %v", out, err)
	}
	locked, err := New(t.Context(), &Options{Packages: e.Lock, Exact: true, Python: e.Python, Root: root})
	if err != nil || locked.ID == e.ID || strings.Join(locked.Lock, " ") != "mine==1.0" {
		t.Fatalf("from its lock it is %+v, %v", locked, err)
	}
	if err := errors.Join(e.Remove(t.Context()), locked.Remove(t.Context())); err != nil {
		t.Error(err)
	}
	if err := e.Remove(t.Context()); !errors.Is(err, codeinterp.ErrUnavailable) {
		t.Errorf("removed again: %v", err)
	}
	if left := contents(t, root); left != "" {
		t.Errorf("left is %s", left)
	}
}

// TestHostilePackages protects "no code of a package runs before a program imports it".
func TestHostilePackages(t *testing.T) {
	mark := filepath.Join(leftover.Dir(t), "ran")
	code := "open('" + mark + "', 'w').close()\n"
	wheels(t, map[string]map[string]string{
		"startup": {"startup.pth": "import os; " + code, "sitecustomize.py": code},
		"shell":   {"shell-1.0.data/scripts/python": "#!/bin/sh\ntouch " + mark + "\n", "shell-1.0.data/data/pyvenv.cfg": "home = /tmp"},
		"path":    {"path-1.0.data/scripts/python._pth": "/tmp"},
		"direct":  {"requires": "Requires-Dist: source @ file:///tmp/source\n"},
	})
	for _, name := range []string{"startup", "shell", "path", "direct"} {
		e, err := New(t.Context(), &Options{Packages: []string{name}, Python: python(t), Root: leftover.Dir(t)})
		if name == "startup" && err != nil || name == "direct" && err == nil {
			t.Errorf("%s: %+v, %v", name, e, err)
		}
		if _, err := os.Stat(mark); err == nil {
			t.Errorf("%s: its code ran", name)
		}
	}
}

// hostileUV is an installer that a package has taken over. It reports what it can do.
const hostileUV = `#!%s -I
import os, socket, sys
def can(what, do):
    try: do()
    except OSError: print(what, 'refused', file=sys.stderr)
    else: print('CAN', what, file=sys.stderr)
home, root = %q, %q
can('read the home', lambda: open(home + '/secret').read())
can('replace an environment', lambda: os.rename(root + '/other', root + '/else'))
can('use unix sockets', lambda: socket.socket(socket.AF_UNIX).connect('\0toolcell'))
if os.fork() == 0:
    os.setsid()
    os.execv('/bin/sleep', ['sleep', '600'])
sys.exit(7)
`

// TestHostileInstaller protects "Installers run in a sandbox": they reach nothing of the
// home and no other environment, and nothing of theirs continues.
func TestHostileInstaller(t *testing.T) {
	for _, mode := range []sandbox.Mode{sandbox.Landlock, sandbox.Bwrap} {
		home, root, bin := leftover.Dir(t), leftover.Dir(t), t.TempDir()
		put(t, filepath.Join(home, "secret"), "s", 0o644)
		if err := os.Mkdir(filepath.Join(root, "other"), 0o777); err != nil {
			t.Fatal(err)
		}
		real, err := exec.LookPath("/usr/bin/python3")
		if err != nil {
			t.Fatal(err)
		}
		put(t, filepath.Join(bin, "uv"), fmt.Sprintf(hostileUV, real, home, root), 0o755)
		t.Setenv("HOME", home)
		t.Setenv("PATH", bin+":/usr/bin:/bin")
		_, err = New(t.Context(), &Options{Packages: []string{"six"}, Python: python(t), Root: root, require: mode})
		if !errors.Is(err, codeinterp.ErrUnavailable) || strings.Contains(err.Error(), "CAN") || !strings.Contains(err.Error(), "use unix sockets refused") {
			t.Errorf("%v: %v", mode, err)
		}
	}
}

// TestNewUnisolated: environments are made also where no sandbox works.
func TestNewUnisolated(t *testing.T) {
	wheels(t, map[string]map[string]string{"mine": {"mine.py": "word = 'found'\n"}})
	root := leftover.Dir(t)
	e, err := New(t.Context(), &Options{Packages: []string{"mine"}, Python: python(t), Root: root, require: sandbox.None})
	if err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command(e.Python, "-c", "import mine; print(mine.word)").CombinedOutput(); string(out) != "found\n" {
		t.Errorf("%s, %v", out, err)
	}
	if left := contents(t, root); left != e.ID {
		t.Errorf("there are %s", left)
	}
}

// TestNewCanceled: an installation that is canceled leaves nothing.
func TestNewCanceled(t *testing.T) {
	root, bin := leftover.Dir(t), t.TempDir()
	put(t, filepath.Join(bin, "uv"), "#!/bin/sh\nexec sleep 600\n", 0o755)
	t.Setenv("PATH", bin+":/usr/bin:/bin")
	ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer cancel()
	if _, err := New(ctx, &Options{Packages: []string{"mine"}, Python: python(t), Root: root}); !errors.Is(err, context.DeadlineExceeded) {
		t.Error(err)
	}
	if left := contents(t, root); left != "" {
		t.Errorf("left is %s", left)
	}
}

// contents lists what is in a root beside locks.
func contents(t *testing.T, root string) string {
	t.Helper()
	entries, err := os.ReadDir(root)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, e := range entries {
		if filepath.Ext(e.Name()) != ".lock" {
			names = append(names, e.Name())
		}
	}
	return strings.Join(names, " ")
}

// TestNewWithinPolicy protects Options.Egress: the installer reaches the index that the
// policy allows, with its credential, and nothing else.
func TestNewWithinPolicy(t *testing.T) {
	dir := wheels(t, map[string]map[string]string{"mine": {"mine.py": "word = 'found'\n"}})
	for _, name := range []string{"UV_NO_INDEX", "UV_OFFLINE", "UV_FIND_LINKS", "PIP_FIND_LINKS"} {
		t.Setenv(name, "")
		os.Unsetenv(name)
	}
	var mu sync.Mutex // of auth and dialled
	var auth []string
	srv := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		auth = append(auth, r.Header.Get("Authorization"))
		mu.Unlock()
		switch r.URL.Path {
		case "/simple/mine/":
			w.Header().Set("Content-Type", "text/html")
			fmt.Fprint(w, `<a href="/files/mine-1.0-py3-none-any.whl">mine-1.0-py3-none-any.whl</a>`)
		default:
			http.ServeFile(w, r, filepath.Join(dir, filepath.Base(r.URL.Path)))
		}
	}))
	defer srv.Close()
	t.Setenv("UV_DEFAULT_INDEX", "https://example.com/simple/")
	var dialled []string
	o := &egress.Options{
		Policy:  egress.Policy{Mode: egress.Hosts, Rules: []egress.Rule{{Hosts: []string{"example.com"}, Methods: []string{"GET"}, Paths: []string{"/simple/*", "/files/*"}, Credential: true}}},
		Secrets: egress.Static{"example.com": egress.Bearer("index", "index-token-0123")},
		RootCAs: srv.Client().Transport.(*http.Transport).TLSClientConfig.RootCAs,
		Lookup: func(context.Context, string) ([]netip.Addr, error) {
			return []netip.Addr{netip.AddrFrom4([4]byte{93, 184, 216, 34})}, nil
		},
		Dial: func(_ context.Context, a netip.AddrPort) (net.Conn, error) {
			mu.Lock()
			dialled = append(dialled, a.String())
			mu.Unlock()
			return net.Dial("tcp", srv.Listener.Addr().String())
		},
	}
	e, err := New(t.Context(), &Options{Packages: []string{"mine"}, Python: python(t), Root: leftover.Dir(t), Egress: o})
	if err != nil || strings.Join(e.Lock, " ") != "mine==1.0" {
		t.Fatalf("%+v, %v", e, err)
	}
	for _, a := range auth {
		if a != "Bearer index-token-0123" {
			t.Errorf("a request with %q", a)
		}
	}
	if len(auth) < 2 || len(dialled) == 0 {
		t.Errorf("%d requests, %d connections", len(auth), len(dialled))
	}
	o.Policy.Rules[0].Hosts[0] = "other.test"
	o.Secrets = egress.Static{"other.test": egress.Bearer("index", "index-token-0123")}
	if e, err := New(t.Context(), &Options{Packages: []string{"mine"}, Python: python(t), Root: leftover.Dir(t), Egress: o}); err == nil || !strings.Contains(err.Error(), "example.com") {
		t.Errorf("an index that is not allowed: %+v, %v", e, err)
	}
}
