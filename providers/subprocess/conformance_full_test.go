//go:build real && full && unix

package subprocess_test

import (
	"testing"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/conformance"
	"github.com/toolcell/toolcell/providers/subprocess"
)

// TestConformanceModes is the whole contract in every mode and language.
func TestConformanceModes(t *testing.T) {
	eachMode(t, func(t *testing.T, o subprocess.Options) {
		for _, l := range []subprocess.Language{subprocess.Bash(), subprocess.JavaScript(), subprocess.TypeScript(), subprocess.Python()} {
			t.Run(l.Name, func(t *testing.T) { conform(t, o, l) })
		}
	})
}

// TestConformanceWarm is the contract with processes that are forked or pooled.
func TestConformanceWarm(t *testing.T) {
	o := inMode(subprocess.Landlock)
	o.Warm = &subprocess.Warm{}
	conform(t, o, subprocess.Python(), subprocess.JavaScript(), subprocess.Bash())
}

// TestConformanceForks is the contract where contexts can be copied, without walls.
func TestConformanceForks(t *testing.T) {
	o := inMode(subprocess.None)
	o.Forks = true
	conform(t, o, subprocess.Python())
}

// TestConformanceOnce is the contract for an interpreter without contexts.
func TestConformanceOnce(t *testing.T) {
	o := inMode(subprocess.Landlock)
	conformance.Run(t, conformance.Config{
		New:     func() (codeinterp.CodeInterpreter, error) { return subprocess.New(&o) },
		Timeout: busyTimeout, Patience: busyPatience, Lacks: []conformance.Feature{conformance.Manager},
	})
}
