//go:build linux

package subprocess_test

import (
	"archive/tar"
	"compress/gzip"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/internal/aparttest"
	"github.com/toolcell/toolcell/internal/leftover"
	"github.com/toolcell/toolcell/providers/subprocess"
)

// walled tries installations in each mode that isolates.
func walled(t *testing.T, try func(*testing.T, subprocess.Mode)) {
	for _, mode := range []subprocess.Mode{subprocess.Bwrap, subprocess.Landlock} {
		t.Run(mode.String(), func(t *testing.T) {
			ci, err := subprocess.New(&subprocess.Options{Languages: []subprocess.Language{subprocess.Bash()}, Require: mode, AllowSignals: true})
			if err != nil {
				missing(t, err)
			}
			ci.Close()
			try(t, mode)
		})
	}
}

// home makes a home with files that others may read, as far as its walls go.
func home(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := leftover.Dir(t)
	for name, text := range files {
		file := filepath.Join(dir, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(file), 0o755), os.WriteFile(file, []byte(text), 0o644)); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("HOME", dir)
	t.Setenv("XDG_CONFIG_HOME", "")
	return dir
}

// hostileClient is a uv that does what a package might have it do, and says what it
// could.
const hostileClient = `#!%s -I
import os, socket, sys
def can(what, do):
    try: do()
    except OSError: print(what, 'refused', file=sys.stderr)
    else: print('CAN', what, file=sys.stderr)
home, outside, abstract = %q, %q, %q
can('read the home', lambda: open(home + '/secret').read())
can('list the home', lambda: os.listdir(home))
for place in (home, outside):
    try: open(place + '/new', 'w') # may be private, and gone
    except OSError: pass
can('replace an environment', lambda: os.rename(outside + '/other', outside + '/else'))
can('talk to a socket', lambda: socket.socket(socket.AF_UNIX).connect('\0' + abstract))
if os.fork() == 0:
    os.setsid()
    os.execv('/bin/sleep', ['sleep', '600'])
sys.exit(7)
`

// TestHostileClient: what installs reaches nothing of the host's but what it needs,
// whatever package it was taken over by, and nothing of it goes on.
func TestHostileClient(t *testing.T) {
	base := python(t)
	walled(t, func(t *testing.T, mode subprocess.Mode) {
		dir, root := home(t, map[string]string{"secret": "s"}), leftover.Dir(t)
		if err := os.Mkdir(filepath.Join(root, "other"), 0o777); err != nil {
			t.Fatal(err)
		}
		name := filepath.Base(root)
		listener, err := net.Listen("unix", "@"+name)
		if err != nil {
			t.Fatal(err)
		}
		defer listener.Close()
		bin := t.TempDir() // which nobody else reaches, so that it has to be brought there
		client := fmt.Sprintf(hostileClient, base.Commands[0], dir, root, name)
		if err := os.WriteFile(filepath.Join(bin, "uv"), []byte(client), 0o755); err != nil {
			t.Fatal(err)
		}
		t.Setenv("PATH", bin+":"+os.Getenv("PATH"))
		_, err = subprocess.NewEnvironment(t.Context(), &subprocess.EnvironmentOptions{Packages: []string{"six"}, Python: base.Commands[0], Root: root, Require: mode})
		if !errors.Is(err, codeinterp.ErrUnavailable) || strings.Contains(err.Error(), "CAN") || !strings.Contains(err.Error(), "talk to a socket refused") {
			t.Errorf("it said %v", err)
		}
		if left := append(made(t, root), made(t, dir)...); len(left) != 2 {
			t.Errorf("left is %q", left)
		}
	})
}

// TestConfiguredClients: pip and uv find their settings in the home, and what these
// name, and the environment is nobody's but the host's.
func TestConfiguredClients(t *testing.T) {
	if aparttest.Run(t) {
		return
	}
	base := python(t)
	for _, client := range []string{"pip", "uv"} {
		walled(t, func(t *testing.T, mode subprocess.Mode) {
			t.Run(client, func(t *testing.T) {
				use(t, client)
				wheels, root := leftover.Dir(t), leftover.Dir(t)
				putWheel(t, wheels, "mine", "", map[string]string{"mine.py": "word = 'found'\n", "mine-1.0.dist-info/entry_points.txt": "[console_scripts]\nmine = mine:word\n"})
				home(t, map[string]string{
					".config/pip/pip.conf": "[global]\nno-index = true\nfind-links =\n  " + wheels + "\n",
					".config/uv/uv.toml":   "[pip]\nno-index = true\nfind-links = [\"" + wheels + "\"]\n",
				})
				for _, name := range []string{"PIP_FIND_LINKS", "PIP_CONFIG_FILE", "PIP_NO_INDEX", "UV_FIND_LINKS"} {
					t.Setenv(name, "")
					os.Unsetenv(name)
				}
				o := &subprocess.EnvironmentOptions{Packages: []string{"mine"}, Python: base.Commands[0], Root: root, Require: mode}
				e, err := subprocess.NewEnvironment(t.Context(), o)
				if err != nil {
					t.Fatal(err)
				}
				wantOwn(t, e.Dir)
				if about, err := os.Stat(filepath.Join(e.Dir, "bin", "mine")); err != nil || about.Mode()&0o111 != 0o111 {
					t.Errorf("its script is %v, %v", about, err)
				}
				ci := open(t, subprocess.Options{Languages: []subprocess.Language{e.Language()}})
				if res := run(t, ci, "python", "import mine; print(mine.word)", nil); res.Stdout() != "found\n" {
					t.Error(summary(res))
				}
			})
		})
	}
}

// wantOwn wants all of a directory to be the host's, and nobody else's to change.
func wantOwn(t *testing.T, dir string) {
	t.Helper()
	err := filepath.Walk(dir, func(path string, about os.FileInfo, err error) error {
		if err == nil && (int(about.Sys().(*syscall.Stat_t).Uid) != os.Geteuid() || about.Mode()&os.ModeSymlink == 0 && about.Mode().Perm()&0o022 != 0) {
			t.Errorf("%s is %v", path, about.Mode())
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
}

// TestSources: a package that there are only sources of is refused, and none of its
// code runs.
func TestSources(t *testing.T) {
	base := python(t)
	for _, client := range []string{"pip", "uv"} {
		t.Run(client, func(t *testing.T) {
			use(t, client)
			links, root := leftover.Dir(t), leftover.Dir(t)
			dir := home(t, map[string]string{"secret": "s"})
			putSource(t, links, "open('"+dir+"/ran', 'w').write(open('"+dir+"/secret').read())\n")
			for name, value := range map[string]string{"PIP_NO_INDEX": "1", "PIP_FIND_LINKS": links, "UV_OFFLINE": "1", "UV_FIND_LINKS": links} {
				t.Setenv(name, value)
			}
			_, err := subprocess.NewEnvironment(t.Context(), &subprocess.EnvironmentOptions{Packages: []string{"toolcellbuilt"}, Python: base.Commands[0], Root: root})
			if _, ran := os.Stat(filepath.Join(dir, "ran")); !errors.Is(err, codeinterp.ErrUnavailable) || ran == nil {
				t.Errorf("%v; did it run: %v", err, ran)
			}
		})
	}
}

// putSource writes a source distribution whose setup.py has the code.
func putSource(t *testing.T, dir, code string) {
	t.Helper()
	f, err := os.Create(filepath.Join(dir, "toolcellbuilt-1.0.tar.gz"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z := gzip.NewWriter(f)
	w := tar.NewWriter(z)
	for name, text := range map[string]string{
		"toolcellbuilt-1.0/PKG-INFO": "Metadata-Version: 2.1\nName: toolcellbuilt\nVersion: 1.0\n",
		"toolcellbuilt-1.0/setup.py": code + "from setuptools import setup\nsetup(name='toolcellbuilt', version='1.0')\n",
	} {
		err := w.WriteHeader(&tar.Header{Name: name, Mode: 0o644, Size: int64(len(text))})
		if err == nil {
			_, err = w.Write([]byte(text))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(w.Close(), z.Close()); err != nil {
		t.Fatal(err)
	}
}
