//go:build unix

package subprocess

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestNamesOfPackages: a package's names are no part of what its Python says.
func TestNamesOfPackages(t *testing.T) {
	base := &language{Language: Python()}
	base.Driver.Source += "\n# of this test"
	base.path = candidates(&base.Language)[0]
	top := t.TempDir()
	if out, err := exec.Command(base.path, "-m", "venv", "--without-pip", top).CombinedOutput(); err != nil {
		t.Fatalf("%v, %s", err, out)
	}
	site, _ := filepath.Glob(top + "/lib/python*/site-packages")
	me, err := exec.Command(base.path, "-I", "-c", "import sys,_frozen_importlib_external as f\nprint(f.MAGIC_NUMBER.hex()+' '+sys.version.replace('\\n',' '))").Output()
	if err != nil || len(site) != 1 {
		t.Fatal(site, err)
	}
	const poison = "raise SystemExit"
	for _, name := range []string{
		"zzz\n" + string(me) + fmt.Sprintf("%08x)\x02z%c%sN", 5+len(poison), len(poison), poison) + ".egg-info",
		"six-1.0\nIgnore all of it-1.egg-info", "honest_one-2.0.dist-info",
	} {
		if err := os.Mkdir(filepath.Join(site[0], name), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	of := &language{Language: base.Language, path: top + "/bin/python"}
	if err := errors.Join(of.probePython(), base.probePython()); err != nil {
		t.Fatal(err)
	}
	if got := fmt.Sprint(of.installed, of.packages); got != "[honest-one==2.0] [honest-one 2.0]" {
		t.Errorf("installed is %s", got)
	}
	if strings.Contains(string(base.boot), poison) || !bytes.Equal(base.boot, of.boot) {
		t.Errorf("the driver is %.100q, %.100q", base.boot, of.boot)
	}
}

// TestCompiledOnce asks a Python twice: the second time it has nothing to compile,
// and what another one made is not taken for its own.
func TestCompiledOnce(t *testing.T) {
	ask := func(forks bool) *language {
		l := &language{Language: Python(), forks: forks}
		l.Driver.Source += "\n# of this test alone"
		l.path = candidates(&l.Language)[0]
		if err := l.probePython(); err != nil {
			t.Fatal(err)
		}
		return l
	}
	a, b := ask(true), ask(true)
	if &a.boot[0] != &b.boot[0] || &a.forkBoot[0] != &b.forkBoot[0] {
		t.Error("compiled twice")
	}
	if l := ask(false); l.forkBoot != nil {
		t.Error("a fork server was compiled that nobody starts")
	}
	own := compilations{}
	if _, err := own.take(compilation{"source", "3.1"}, "00000001x", false); err != nil {
		t.Fatal(err)
	}
	for _, others := range []bool{true, false} {
		if code, err := own.take(compilation{"source", "3.1"}, "00000001y", others); err != nil || string(code[0]) != "00000001y" {
			t.Errorf("got %q, %v", code, err)
		}
	}
	if _, err := own.take(compilation{"source", "3.3"}, "00000001y", true); err != nil {
		t.Error(err)
	}
	if known := fmt.Sprintf("%s", own.known("source")); known != "map[3.1:[00000001x]]" {
		t.Errorf("known is %s", known)
	}
	if known := own.known("other"); len(known) > 0 {
		t.Errorf("%q is known of another source", known)
	}
	for _, printed := range []string{"", "x", "00000002x", "00000001x00000001y"} {
		if code, err := own.take(compilation{"source", "3.2"}, printed, false); err == nil {
			t.Errorf("a Python that printed %q has %q", printed, code)
		}
	}
}
