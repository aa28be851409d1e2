//go:build linux

package jupyter_test

import (
	"fmt"
	"testing"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/providers/jupyter"
)

// TestFirstStreams: what a program writes to python's first streams, also in place of the
// kernel's, is its own, and comes with it.
func TestFirstStreams(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, s *server) {
		c := realSession(t, s, jupyter.Options{})
		for i, step := range []struct{ code, stdout, stderr string }{
			{"import sys, os, warnings; print('a', file=sys.__stdout__); print('b', end='', file=sys.__stdout__)", "a\nb", ""},
			{"kernels = sys.stdout, sys.stderr; sys.stdout = sys.__stdout__; print('c')", "c\n", ""},
			{"for i in range(3): print(i, end=' ')", "0 1 2 ", ""},
			{"_ = os.system('echo child; echo of it >&2')", "child\n", "of it\n"},
			{"sys.stderr = sys.__stderr__; print('d', file=sys.stderr)", "", "d\n"},
			{"print('e', end='', file=sys.stderr); _ = os.system('echo child; echo of it >&2')", "child\n", "of it\ne"},
			{"class Tee:\n  def write(self, s): sys.__stdout__.write(s); sys.__stderr__.write(s)\n  def flush(self): pass\nsys.stdout = Tee(); print('f')", "f\n", "f\n"},
			{"print('g')", "g\n", "g\n"},
			{"sys.stdout, sys.stderr = kernels; print('h'); print('i', file=sys.stderr)", "h\n", "i\n"},
			{"print('j'); print('k', file=sys.stderr)", "j\n", "k\n"},
			{"1", "", ""},
		} {
			res := c.ok(step.code)
			late := ""
			for _, o := range res.Outputs {
				if o.Late {
					late += fmt.Sprintf("%s %q ", o.Kind, o.Data)
				}
			}
			if res.Stdout() != step.stdout || res.Stderr() != step.stderr || late != "" {
				t.Errorf("%d, %q: %q, %q, late %s", i, step.code, res.Stdout(), res.Stderr(), late)
			}
		}
		out := ""
		_, err := c.run("sys.stdout = sys.__stdout__; print('at once'); import time; time.sleep(60)", &codeinterp.RunOptions{OnOutput: func(o codeinterp.Output) error {
			out += string(o.Data)
			return c.ci.InterruptContext(t.Context(), c.id)
		}})
		if err != nil || out != "at once\n" {
			t.Errorf("%q, %v", out, err)
		}
	})
}
