//go:build unix

package subprocess_test

import (
	"archive/zip"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/toolcell/toolcell/internal/aparttest"
	"github.com/toolcell/toolcell/internal/leftover"
	"github.com/toolcell/toolcell/providers/subprocess"
)

// putWheel writes a wheel of a name, version 1.0, with files of its own.
func putWheel(t *testing.T, dir, name, requires string, files map[string]string) {
	t.Helper()
	f, err := os.Create(filepath.Join(dir, name+"-1.0-py3-none-any.whl"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	w := zip.NewWriter(f)
	put := func(name, text string) {
		p, err := w.Create(name)
		if err == nil {
			_, err = p.Write([]byte(text))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	for path, text := range files {
		put(path, text)
	}
	info := name + "-1.0.dist-info/"
	put(info+"METADATA", "Metadata-Version: 2.1\nName: "+name+"\nVersion: 1.0\n"+requires)
	put(info+"WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
	put(info+"RECORD", "")
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
}

// TestHostileWheels: no code of a package runs as the host, whatever its wheel
// has beside modules: not when it is installed, and not when the environment's
// Python is asked what it is.
func TestHostileWheels(t *testing.T) {
	if aparttest.Run(t) {
		return
	}
	wheels := leftover.Dir(t)
	source := filepath.Join(wheels, "source") // where what installs may read
	if err := os.Mkdir(source, 0o755); err != nil {
		t.Fatal(err)
	}
	mark := filepath.Join(source, "ran")
	code := "open('" + mark + "', 'w').close()\n"
	for name, text := range map[string]string{"own.py": code, "pyproject.toml": "[build-system]\nrequires = []\nbuild-backend = 'own'\nbackend-path = ['.']\n"} {
		if err := os.WriteFile(filepath.Join(source, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for name, value := range map[string]string{"PIP_NO_INDEX": "1", "PIP_FIND_LINKS": wheels, "UV_NO_INDEX": "1", "UV_FIND_LINKS": wheels} {
		t.Setenv(name, value)
	}
	_, uv := exec.LookPath("uv") // which has words of its own
	for _, tt := range []struct {
		name, requires string
		files          map[string]string
		refused        string
	}{
		{"startup", "", map[string]string{"startup.pth": "import os; " + code, "sitecustomize.py": code}, ""},
		{"shell", "", map[string]string{"shell-1.0.data/scripts/python": "#!/bin/sh\n", "shell-1.0.data/scripts/python._pth": source, "shell-1.0.data/data/pyvenv.cfg": "home = " + source}, "replaced pyvenv.cfg\na package has replaced bin/python\na package has bin/python._pth"},
		{"direct", "Requires-Dist: source @ file://" + source + "\n", nil, "only wheels are installed"},
		{"names", "", map[string]string{"names-1.0.data/purelib/x-1\n--no-binary=:all:.dist-info/METADATA": ""}, "calls itself"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			putWheel(t, wheels, tt.name, tt.requires, tt.files)
			e, err := subprocess.NewEnvironment(t.Context(), &subprocess.EnvironmentOptions{Packages: []string{tt.name}, Python: python(t).Commands[0], Root: leftover.Dir(t)})
			switch {
			case tt.refused != "":
				if uv != nil && (err == nil || !strings.Contains(err.Error(), tt.refused)) {
					t.Errorf("%v, want %q", err, tt.refused)
				}
			case err != nil:
				t.Error(err)
			default:
				open(t, subprocess.Options{Languages: []subprocess.Language{e.Language()}})
			}
			if _, err := os.Stat(mark); err == nil {
				t.Error("its code ran as the host")
				_ = os.Remove(mark)
			}
		})
	}
}

// TestLockElsewhere: what is locked can be made where its wheels are not yet, by the
// network, with uv and with pip.
func TestLockElsewhere(t *testing.T) {
	if aparttest.Run(t) {
		return
	}
	index := t.TempDir()
	if err := os.Mkdir(filepath.Join(index, "elsewhere"), 0o755); err != nil {
		t.Fatal(err)
	}
	putWheel(t, filepath.Join(index, "elsewhere"), "elsewhere", "", map[string]string{"elsewhere.py": "here = 5\n"})
	// A list of a directory's files is what an index is.
	server := httptest.NewServer(http.FileServer(http.Dir(index)))
	t.Cleanup(server.Close)
	for _, name := range []string{"PIP_INDEX_URL", "UV_DEFAULT_INDEX"} {
		t.Setenv(name, server.URL)
	}
	for _, name := range []string{"NO_PROXY", "no_proxy"} {
		t.Setenv(name, "127.0.0.1")
	}
	for _, name := range []string{"pip", "uv"} {
		t.Run(name, func(t *testing.T) {
			path := pathWithout(t, "uv")
			if name == "uv" {
				path = uvDir(t) + ":" + path
			}
			t.Setenv("PATH", path)
			opts := &subprocess.EnvironmentOptions{Packages: []string{"elsewhere==1.0"}, Exact: true, Python: python(t).Commands[0], Root: leftover.Dir(t)}
			e, err := subprocess.NewEnvironment(t.Context(), opts)
			if err != nil {
				t.Fatal(err)
			}
			ci := open(t, subprocess.Options{Languages: []subprocess.Language{e.Language()}})
			if res := run(t, ci, "python", "import elsewhere; print(elsewhere.here)", nil); res.Stdout() != "5\n" {
				t.Error(summary(res))
			}
		})
	}
}

// pathWithout returns PATH without the directories that have a command.
func pathWithout(t *testing.T, command string) string {
	t.Helper()
	list := slices.DeleteFunc(filepath.SplitList(os.Getenv("PATH")), func(dir string) bool {
		_, err := os.Stat(filepath.Join(dir, command))
		return err == nil
	})
	return strings.Join(list, string(filepath.ListSeparator))
}
