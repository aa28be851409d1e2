//go:build real && unix

package subprocess_test

import (
	"bytes"
	"encoding/base64"
	"encoding/gob"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/internal/leftover"
	"github.com/toolcell/toolcell/providers/subprocess"
)

// plant leaves what a Python runs when it starts in the environment where the
// program is.
const plant = `import glob
site = glob.glob('.venv/lib/python3*/site-packages')[0]
open(site + '/evil.pth', 'w').write("import os; os.path.exists(%(mark)r) or open(%(mark)r, 'w').close()\n" % {'mark': MARK})
import os
os.mkdir(site + '/pandas-9.9.9.dist-info')
print('planted')`

// TestInterpreterThatProgramsChange: what programs leave in an environment that
// lies where they work is not run by the host, whose walls it would be outside of.
func TestInterpreterThatProgramsChange(t *testing.T) {
	eachMode(t, func(t *testing.T, o subprocess.Options) {
		if o.Sandbox.Mode == subprocess.None {
			return // it has no wall to be outside of
		}
		outside, mark := leftover.Dir(t), ""
		mark = filepath.Join(outside, "mark")
		o.Dir = leftover.Dir(t)
		l := subprocess.Python()
		l.Commands = []string{project(t, o.Dir)}
		o.Languages = []subprocess.Language{l}
		code := strings.ReplaceAll(plant, "MARK", "'"+mark+"'")
		if res := run(t, open(t, o), "python", code, nil); res.Stdout() != "planted\n" {
			t.Fatal(summary(res))
		}
		ci := open(t, o)
		if _, err := os.Stat(mark); err == nil {
			t.Error("the host has run what a program left")
		}
		res := run(t, ci, "python", "import sys; print(sys.prefix, sys.executable)", nil)
		if want := filepath.Dir(filepath.Dir(l.Commands[0])) + " " + l.Commands[0] + "\n"; res.Stdout() != want {
			t.Errorf("%s, want %q", summary(res), want)
		}
		about := ci.Describe().Languages[0]
		if about.Path != l.Commands[0] || len(about.Packages) != 1 || about.Packages[0] != "pandas 9.9.9" {
			t.Errorf("%q with %q", about.Path, about.Packages)
		}
	})
}

// TestInterpreterOfPackages: what a package has put in the place of an environment's
// Python is started behind the walls only.
func TestInterpreterOfPackages(t *testing.T) {
	eachMode(t, func(t *testing.T, o subprocess.Options) {
		if o.Sandbox.Mode == subprocess.None {
			return // it has no wall to be outside of
		}
		dir := leftover.Dir(t)
		mark := filepath.Join(dir, "mark")
		l := subprocess.Python()
		l.Commands = []string{filepath.Join(dir, "bin", "python")}
		if err := os.Mkdir(filepath.Join(dir, "bin"), 0o755); err != nil {
			t.Fatal(err)
		}
		for name, text := range map[string]string{
			"toolcell.lock": "six==1.17.0\n", "toolcell.base": "/usr/bin/python3", "pyvenv.cfg": "home = /usr/bin\n",
			"bin/python": "#!/bin/sh\necho >" + mark + "\nexec /usr/bin/python3 \"$@\"\n",
		} {
			if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o755); err != nil {
				t.Fatal(err)
			}
		}
		o.Languages = []subprocess.Language{l}
		if res := run(t, open(t, o), "python", "print(6 * 7)", nil); res.Stdout() != "42\n" {
			t.Error(summary(res))
		}
		if _, err := os.Stat(mark); err == nil {
			t.Error("the host has started it")
		}
	})
}

// TestInterpreterCopied: a file that programs can change themselves is none that
// the host starts, nor is what a link of theirs leads to.
func TestInterpreterCopied(t *testing.T) {
	dir := leftover.Dir(t)
	l := subprocess.Python()
	l.Commands = []string{project(t, dir)}
	o := inMode(subprocess.Landlock)
	o.Languages = []subprocess.Language{l}
	own := open(t, o)
	if _, err := own.CreateContext(t.Context(), "python", &codeinterp.ContextOptions{Cwd: dir}); !errors.Is(err, codeinterp.ErrInvalid) {
		t.Errorf("%v for a Cwd with the interpreter that the host has started", err)
	}
	shared := o
	shared.Dir = dir
	if _, err := open(t, shared).CreateContext(t.Context(), "python", &codeinterp.ContextOptions{Cwd: leftover.Dir(t)}); !errors.Is(err, codeinterp.ErrInvalid) {
		t.Errorf("%v for a Cwd from which the interpreter is not to be seen", err)
	}
	o.Writable = []string{dir}
	id, err := open(t, o).CreateContext(t.Context(), "python", &codeinterp.ContextOptions{Cwd: dir})
	if err != nil {
		t.Error(id, err)
	}
	for name, leads := range map[string]string{"a file": "", "another program": "/bin/sh"} {
		if err := os.Remove(l.Commands[0]); err != nil {
			t.Fatal(err)
		}
		if leads != "" {
			err = os.Symlink(leads, l.Commands[0])
		} else {
			err = os.WriteFile(l.Commands[0], []byte("#!/bin/sh\nexec python3 \"$@\"\n"), 0o755)
		}
		if err != nil {
			t.Fatal(err)
		}
		ci, err := subprocess.New(&o)
		if !errors.Is(err, codeinterp.ErrUnavailable) || !strings.Contains(err.Error(), "programs change what is in "+dir) {
			t.Errorf("%s: %v", name, err)
		}
		if err == nil {
			ci.Close()
		}
	}
}

// TestLinksOnTheWay: a link that programs can change may also stand in the middle.
func TestLinksOnTheWay(t *testing.T) {
	dir, outside := leftover.Dir(t), leftover.Dir(t)
	for link, to := range map[string]string{filepath.Join(dir, "way"): "/usr/bin", filepath.Join(outside, "bin"): dir + "/way"} {
		if err := os.Symlink(to, link); err != nil {
			t.Fatal(err)
		}
	}
	l := subprocess.Bash()
	l.Commands = []string{filepath.Join(outside, "bin", "bash")}
	ci := open(t, subprocess.Options{Writable: []string{dir}, Languages: []subprocess.Language{l}})
	if roots := ci.Describe().Languages[0].Roots; len(roots) > 0 {
		t.Errorf("%q is opened, where programs choose what it leads to", roots)
	}
}

// poison replaces a result of the cache, and does what it can to make that look like the
// host's.
const poison = `import base64, hashlib, os
data = base64.b64decode(DATA)
open(FILE, 'wb').write(data)
try:
    os.setxattr(FILE, 'user.toolcell.sha256', hashlib.sha256(data).digest())
    print('sealed')
except OSError:
    print('changed')`

// withRoots returns an entry of the probe cache that opens other directories, nil if b is
// that of no interpreter.
func withRoots(t *testing.T, b []byte, roots ...string) []byte {
	t.Helper()
	var entry struct {
		Key    string
		Time   time.Time
		Files  map[string]string
		Result []byte
	}
	var known struct {
		Path, Runtime, Prefix      string
		Roots, Packages, Installed []string
		Boot, ForkBoot             []byte
		Files                      []string
	}
	decode := func(b []byte, v any) error { return gob.NewDecoder(bytes.NewReader(b)).Decode(v) }
	var result, all bytes.Buffer
	if decode(b, &entry) != nil || decode(entry.Result, &known) != nil || len(known.Boot) == 0 {
		return nil
	}
	known.Roots = roots
	err := gob.NewEncoder(&result).Encode(known)
	entry.Result = result.Bytes()
	if err = errors.Join(err, gob.NewEncoder(&all).Encode(entry)); err != nil {
		t.Fatal(err)
	}
	return all.Bytes()
}

// TestCacheThatProgramsChange: a program that may write to the probe cache does not
// open files of the host to the programs of later calls.
func TestCacheThatProgramsChange(t *testing.T) {
	eachMode(t, func(t *testing.T, o subprocess.Options) {
		if o.Sandbox.Mode == subprocess.None {
			t.Skip("none mode opens all files")
		}
		secrets, home := leftover.Dir(t), leftover.Dir(t)
		file := filepath.Join(secrets, "secret")
		if err := os.WriteFile(file, []byte("the host's\n"), 0o644); err != nil {
			t.Fatal(err)
		}
		o.Languages = []subprocess.Language{subprocess.Python()}
		o.ProbeCache = filepath.Join(home, "probes")
		open(t, o) // it fills the cache
		writes := o
		writes.Writable = []string{home}
		list, err := filepath.Glob(filepath.Join(o.ProbeCache, "*"))
		if err != nil {
			t.Fatal(err)
		}
		var entry []byte
		var path string
		for _, path = range list {
			b, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if entry = withRoots(t, b, secrets); entry != nil {
				break
			}
		}
		if os.Geteuid() == 0 { // programs of a root host have another uid, for which the cache is closed
			for _, path := range append(list, o.ProbeCache) {
				if err := os.Chmod(path, 0o777); err != nil {
					t.Fatal(err)
				}
			}
		}
		code := strings.NewReplacer("FILE", "'"+path+"'", "DATA", "'"+base64.StdEncoding.EncodeToString(entry)+"'").Replace(poison)
		if res := run(t, open(t, writes), "python", code, nil); entry == nil || res.Stdout() != "changed\n" {
			t.Fatal(summary(res))
		}
		if err := os.Chmod(o.ProbeCache, 0o700); err != nil {
			t.Fatal(err)
		}
		ci := open(t, o)
		if roots := ci.Describe().Languages[0].Roots; slices.Contains(roots, secrets) {
			t.Errorf("%q is open to programs", roots)
		}
		if res := run(t, ci, "python", "print(open('"+file+"').read())", nil); res.OK() || strings.Contains(res.Stdout(), "host's") {
			t.Error(summary(res))
		}
	})
}

// project returns the interpreter of a new environment in a directory that
// programs change, as its owner has made it.
func project(t *testing.T, dir string) string {
	t.Helper()
	python, err := exec.LookPath("/usr/bin/python3")
	if err != nil {
		t.Fatal(err)
	}
	if out, err := exec.CommandContext(t.Context(), python, "-m", "venv", "--without-pip", filepath.Join(dir, ".venv")).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	out, err := exec.CommandContext(t.Context(), "chmod", "-R", "a+rwX", dir).CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return filepath.Join(dir, ".venv", "bin", "python")
}
