//go:build unix

package subprocess_test

import (
	"errors"
	"os"
	"testing"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/conformance"
	"github.com/toolcell/toolcell/providers/subprocess"
)

// modes are the ways of isolation to test; each is skipped where the machine
// does not have it, unless CI is set.
var modes = []subprocess.Mode{subprocess.Landlock, subprocess.Bwrap, subprocess.None}

// eachMode runs a test in each mode that the machine has.
func eachMode(t *testing.T, f func(t *testing.T, o subprocess.Options)) {
	for _, mode := range modes {
		t.Run(mode.String(), func(t *testing.T) {
			o := subprocess.Options{Require: mode, AllowNone: mode == subprocess.None}
			ci, err := subprocess.New(&o)
			if err != nil {
				missing(t, err)
			}
			if err := ci.Close(); err != nil {
				t.Fatal(err)
			}
			f(t, o)
		})
	}
}

// missing skips a test for want of a part of the machine, and fails in CI.
func missing(t testing.TB, err error) {
	t.Helper()
	if os.Getenv("CI") != "" || !errors.Is(err, codeinterp.ErrIsolation) && !errors.Is(err, codeinterp.ErrUnavailable) {
		t.Fatal(err)
	}
	t.Skip(err)
}

// TestConformance covers New. What RunCode does is also part of
// TestStatefulConformance, in every mode and language, so that here the modes
// that differ least are tried with two languages, unless the variable
// TOOLCELL_TEST_FULL is set.
func TestConformance(t *testing.T) {
	eachMode(t, func(t *testing.T, o subprocess.Options) {
		if o.Require != subprocess.Landlock && os.Getenv("TOOLCELL_TEST_FULL") == "" {
			o.Languages = []subprocess.Language{subprocess.Python(), subprocess.Bash()}
		}
		conformance.Run(t, conformance.Config{
			New:   func() (codeinterp.CodeInterpreter, error) { return subprocess.New(&o) },
			Lacks: []conformance.Feature{conformance.Manager},
		})
	})
}

// TestWarmConformance is the same with processes that are forked or come from
// a pool.
func TestWarmConformance(t *testing.T) {
	o := subprocess.Options{
		Require:   subprocess.Landlock,
		Languages: []subprocess.Language{subprocess.Python(), subprocess.JavaScript()},
		Warm:      &subprocess.Warm{},
	}
	open(t, o)
	conformance.Run(t, conformance.Config{
		New:      func() (codeinterp.CodeInterpreter, error) { return subprocess.NewStateful(&o) },
		Stateful: true,
		Thrifty:  true,
	})
}

func TestStatefulConformance(t *testing.T) {
	eachMode(t, func(t *testing.T, o subprocess.Options) {
		conformance.Run(t, conformance.Config{
			New:      func() (codeinterp.CodeInterpreter, error) { return subprocess.NewStateful(&o) },
			Stateful: true,
		})
	})
}
