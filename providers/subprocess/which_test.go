//go:build real && unix

package subprocess_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

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
