//go:build real && unix

package subprocess_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/internal/leftover"
	"github.com/toolcell/toolcell/providers/subprocess"
)

// TestWhichInterpreter: Describe names the interpreter that programs really
// have, where it is installed and what with, and what was passed over and why.
func TestWhichInterpreter(t *testing.T) {
	venv := filepath.Dir(filepath.Dir(python(t).Commands[0]))
	bad := leftover.Dir(t)
	if err := os.WriteFile(filepath.Join(bad, "python3"), []byte("#!/bin/sh\necho broken >&2\nexit 1\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", bad+":"+filepath.Join(venv, "bin")+":"+os.Getenv("PATH"))
	ci := open(t, subprocess.Options{Languages: []subprocess.Language{subprocess.Python()}})
	l := ci.Describe().Languages[0]
	res := run(t, ci, "python", "import sys\nprint(sys.executable, sys.prefix)", nil)
	if got := l.Path + " " + l.Prefix + "\n"; got != res.Stdout() {
		t.Errorf("Describe says %q, programs have %q", got, res.Stdout())
	}
	if !slices.ContainsFunc(l.Packages, func(p string) bool { return strings.HasPrefix(p, "pandas ") }) {
		t.Errorf("pandas is not among the packages %q", l.Packages)
	}
	if want := filepath.Join(bad, "python3") + " (does not work: broken)"; !slices.Contains(l.PassedOver, want) {
		t.Errorf("passed over are %q, want %q", l.PassedOver, want)
	}
}

// TestActiveEnvironment: VIRTUAL_ENV alone makes programs run in it.
func TestActiveEnvironment(t *testing.T) {
	venv, err := filepath.EvalSymlinks(filepath.Dir(filepath.Dir(python(t).Commands[0])))
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv("VIRTUAL_ENV", venv)
	ci := open(t, subprocess.Options{Languages: []subprocess.Language{subprocess.Python()}})
	if res := run(t, ci, "python", "import sys, pandas\nprint(sys.prefix)", nil); res.Stdout() != venv+"\n" {
		t.Errorf("VIRTUAL_ENV=%s, and %s", venv, summary(res))
	}
}

// TestVersionIsWhole: what an interpreter says in words is not taken for all of
// its version.
func TestVersionIsWhole(t *testing.T) {
	ci := open(t, subprocess.Options{Languages: []subprocess.Language{{
		Name: "talker", Commands: []string{"sh"}, Args: []string{subprocess.FileArg},
		VersionArgs: []string{"-c", "echo 'This is talker 5, version 36 (v5.36.0)'"},
	}}})
	if got := ci.Describe().Languages[0].Runtime; got != "talker 5.36.0" {
		t.Errorf("the runtime is %q", got)
	}
}

// TestAbortedDriver: a runtime that ends itself for want of a thread says nothing, as
// node does where the limit of processes is almost reached. The error says what happened.
func TestAbortedDriver(t *testing.T) {
	o := inMode(subprocess.Landlock)
	o.Languages = []subprocess.Language{{
		Name: "aborts", Commands: []string{"sh"}, VersionArgs: []string{"-c", "echo 1"},
		Driver: &subprocess.Driver{Args: []string{"-c", "read -r x; kill -ABRT $$"}, Source: "\n"},
	}}
	ci, err := subprocess.New(&o)
	if err == nil { // it did not come to the abort where it was tried
		defer ci.Close()
		_, err = ci.RunCode(t.Context(), "aborts", "1", nil)
	}
	if !errors.Is(err, codeinterp.ErrUnavailable) || !strings.Contains(fmt.Sprint(err), "limit of processes") {
		t.Error(err)
	}
}
