//go:build unix

package subprocess_test

import (
	"strings"
	"testing"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/providers/subprocess"
)

// TestNeverAwaited has coroutines end that nobody awaited: Python warns of the line
// that runs then, which is the program's, or none.
func TestNeverAwaited(t *testing.T) {
	ci := open(t, subprocess.Options{Languages: []subprocess.Language{subprocess.Python()}})
	for _, tt := range []struct{ name, last, alone, kept string }{
		{"last value", "\nco()", "<cell 1>:3: ", "<cell 1>:3: "},
		{"within the last value", "[\nco()\n]\n# that was it", "<cell 1>:2: ", "<cell 1>:2: "},
		{"awaited to a coroutine", "async def other(): return co()\nawait other()", "<cell 1>:3: ", "<cell 1>:3: "},
		{"variable", "x = co()", "sys:1: ", ""},
		{"error", "def f(x): 1/0\nf(co())", "", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			n := newNotebook(t, ci, "python")
			program := "async def co(): pass\n" + tt.last
			checkWarned(t, "alone", run(t, ci, "python", program, nil), tt.alone)
			checkWarned(t, "context", n.run(program, nil), tt.kept)
			checkWarned(t, "next", n.run("2", nil), "")
		})
	}
}

func checkWarned(t *testing.T, what string, res codeinterp.Result, at string) {
	t.Helper()
	warned := strings.Contains(res.Stderr(), at+"RuntimeWarning: coroutine 'co' was never awaited\n")
	if at != "" && !warned || strings.Contains(res.Stderr(), "toolcell") {
		t.Errorf("%s: got %q, want a warning at %q", what, res.Stderr(), at)
	}
}
