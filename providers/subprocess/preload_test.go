//go:build unix

package subprocess_test

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/internal/leftover"
	"github.com/toolcell/toolcell/internal/race"
	"github.com/toolcell/toolcell/providers/subprocess"
)

// preloading returns options with a Python of its own, that has a module to preload,
// ahead, which does what its source says. Files beside that are in site.
func preloading(t *testing.T, o subprocess.Options, source string) (with subprocess.Options, site string) {
	t.Helper()
	venv := filepath.Join(leftover.Dir(t), "venv")
	if out, err := exec.CommandContext(t.Context(), python(t).Commands[0], "-m", "venv", "--without-pip", venv).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	sites, err := filepath.Glob(filepath.Join(venv, "lib", "python3*", "site-packages"))
	if err != nil || len(sites) != 1 {
		t.Fatal(sites, err)
	}
	if err := os.WriteFile(filepath.Join(sites[0], "ahead.py"), []byte(source), 0o644); err != nil {
		t.Fatal(err)
	}
	l := subprocess.Python()
	l.Commands = []string{filepath.Join(venv, "bin", "python")}
	o.Languages, o.Warm = []subprocess.Language{l}, &subprocess.Warm{Pool: 1, Preload: []string{"ahead"}}
	return o, sites[0]
}

// untilPreloaded makes contexts until one has the module.
func untilPreloaded(t *testing.T, ci *subprocess.Stateful, module string) *notebook {
	t.Helper()
	for end := time.Now().Add(2 * time.Minute); time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
		n := newNotebook(t, ci, "python")
		if res := n.run("import sys; '"+module+"' in sys.modules", nil); res.Text() == "True" {
			return n
		}
		if err := ci.DeleteContext(t.Context(), n.id); err != nil {
			t.Fatal(err)
		}
	}
	t.Fatalf("no process has %s", module)
	return nil
}

// uses are programs that use a part of a second of CPU time and 50 MiB of memory, and
// what status each has, in a process that has imported what uses more than both.
var uses = []struct {
	code   string
	status codeinterp.Status
	cause  codeinterp.Cause
}{
	{"import time\nend = time.process_time() + 0.4\nwhile time.process_time() < end: pass", codeinterp.StatusOK, ""},
	{"x = b'x' * (25 << 20)", codeinterp.StatusOK, ""},
	{"x = b'x' * (200 << 20)", codeinterp.StatusError, ""},
	{"while True: pass", codeinterp.StatusLost, codeinterp.CauseCPU},
}

// TestPreloadIsNoRuns: what an import takes is no program's, and a context that starts
// without it, or again, runs too.
func TestPreloadIsNoRuns(t *testing.T) {
	eachMode(t, func(t *testing.T, o subprocess.Options) {
		if o.Require == subprocess.None {
			race.Long(t, "Landlock mode forks processes too")
		}
		cwd := leftover.Dir(t)
		o, _ = preloading(t, o, "import time\nx = b'x' * (60 << 20)\nwhile time.process_time() < 1.2: pass")
		o.Writable, o.Limits = []string{cwd}, subprocess.Limits{CPU: 1, Memory: 50 << 20}
		ci := open(t, o)
		if res := run(t, ci, "python", "1", nil); res.Text() != "1" {
			t.Errorf("a run: %s", summary(res))
		}
		id, err := ci.CreateContext(t.Context(), "python", &codeinterp.ContextOptions{Cwd: cwd})
		if err != nil {
			t.Fatal(err)
		}
		for name, n := range map[string]*notebook{"a context": untilPreloaded(t, ci, "ahead"), "one with a Cwd": {t, ci, id}} {
			for _, tt := range uses {
				if res := n.run(tt.code, nil); res.Status != tt.status || res.Cause != tt.cause {
					t.Errorf("%s, %s: %s", name, tt.code, summary(res))
				}
			}
			for i := range 2 {
				if !race.Takes(i, 2) {
					continue
				}
				if res := n.run("2", nil); res.Text() != "2" {
					t.Errorf("%s, started again: %s", name, summary(res))
				}
				if err := ci.RestartContext(t.Context(), n.id); err != nil {
					t.Fatal(err)
				}
			}
		}
	})
}

// TestPreloadAfterRestart: where processes are forked, the next one of a context has
// the modules too, and the files.
func TestPreloadAfterRestart(t *testing.T) {
	eachMode(t, func(t *testing.T, o subprocess.Options) {
		if o.Require == subprocess.Bwrap {
			return // nothing is forked there
		}
		o.Languages, o.Warm = []subprocess.Language{python(t)}, &subprocess.Warm{Preload: []string{"decimal"}}
		ci := open(t, o)
		id, err := ci.CreateContext(t.Context(), "python", &codeinterp.ContextOptions{Env: map[string]string{"A": "b"}})
		if err != nil {
			t.Fatal(err)
		}
		n := &notebook{t, ci, id}
		n.run("open('x', 'w').write('y')", nil)
		for _, end := range []string{"1", "import os; os._exit(3)"} {
			n.run(end, nil)
			if err := ci.RestartContext(t.Context(), id); err != nil {
				t.Fatal(err)
			}
			res := n.run("import sys, os\nprint('decimal' in sys.modules, open('x').read(), os.environ['A'])\nopen('x', 'w').write('y')", nil)
			if res.Stdout() != "True y b\n" {
				t.Errorf("after %q: %s, stdout %q", end, summary(res), res.Stdout())
			}
		}
	})
}

// TestPreloadKeepsNobodyWaiting: a run that finds no process which has imported what is
// preloaded begins without.
func TestPreloadKeepsNobodyWaiting(t *testing.T) {
	eachMode(t, func(t *testing.T, o subprocess.Options) {
		o, site := preloading(t, o, "import os, time\nif os.path.exists(os.path.join(os.path.dirname(__file__), 'slow')): time.sleep(600)")
		ci := open(t, o)
		if err := os.WriteFile(filepath.Join(site, "slow"), nil, 0o644); err != nil {
			t.Fatal(err)
		}
		for range 4 {
			if res := run(t, ci, "python", "1", nil); !res.OK() {
				t.Errorf("got %s", summary(res))
			}
		}
	})
}

// TestPreloadBreaks: runs go on where what was preloaded cannot be any more.
func TestPreloadBreaks(t *testing.T) {
	eachMode(t, func(t *testing.T, o subprocess.Options) {
		o, site := preloading(t, o, "import os\nif os.path.exists(os.path.join(os.path.dirname(__file__), 'broken')): os._exit(3)")
		ci := open(t, o)
		if err := os.WriteFile(filepath.Join(site, "broken"), nil, 0o644); err != nil {
			t.Fatal(err)
		}
		n := newNotebook(t, ci, "python")
		for range 4 {
			if res := run(t, ci, "python", "1", nil); !res.OK() {
				t.Errorf("a run: %s", summary(res))
			}
			if err := ci.RestartContext(t.Context(), n.id); err != nil {
				t.Fatal(err)
			}
			if res := n.run("1", nil); !res.OK() {
				t.Errorf("a context: %s", summary(res))
			}
		}
	})
}

func TestPreloadFails(t *testing.T) {
	for source, want := range map[string]string{
		"import no_such_module":                           "preload of ahead: ModuleNotFoundError: No module named 'no_such_module';",
		"import os; os.write(2, b'it says'); os._exit(3)": "ahead: it says;",
		"import os; os._exit(3)":                          "ahead: it ended without a word;",
	} {
		t.Run(want, func(t *testing.T) {
			eachMode(t, func(t *testing.T, o subprocess.Options) {
				o, _ = preloading(t, o, source)
				for _, size := range []int{0, -1} {
					o.Warm.Pool = size
					ci, err := subprocess.New(&o)
					if err == nil {
						ci.Close()
					}
					if !errors.Is(err, codeinterp.ErrUnavailable) || !strings.Contains(fmt.Sprint(err), want) || !strings.Contains(fmt.Sprint(err), "install it for this Python") {
						t.Errorf("a pool of %d: got %v", size, err)
					}
				}
			})
		})
	}
}
