//go:build linux

package jupyter_test

import (
	"testing"
	"time"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/providers/jupyter"
)

// TestSurroundingsOfARun: whatever a program has done to its streams, its descriptors and
// os.environ, the next run has its input, and what a run was given ends with it.
func TestSurroundingsOfARun(t *testing.T) {
	t.Parallel()
	given := codeinterp.RunOptions{Env: map[string]string{"RUNVAR": "rv"}, Stdin: []byte("a\n")}
	secret := codeinterp.RunOptions{Env: given.Env}
	const left = "os.environ.get('RUNVAR'), os.popen('echo $RUNVAR').read()"
	none, has := `(None, '\n')`, `('a', 'rv')`
	both(t, func(t *testing.T, s *server) {
		c := realSession(t, s, jupyter.Options{})
		for _, tt := range []struct {
			name, code string
			opts       codeinterp.RunOptions
			want       string
		}{
			{"no sys.stdin", "import os, sys; del sys.stdin, sys.__stdin__; 1", secret, "1"},
			{"its next", "input(), os.environ['RUNVAR']", given, has},
			{"after it", left, codeinterp.RunOptions{}, none},
			{"no descriptors", "fs = []\ntry:\n  while True: fs.append(open('/dev/null'))\nexcept OSError: pass\nlen(fs) > 20", given, "True"},
			{"its next", "input(), os.environ['RUNVAR']", given, has},
			{"once more", "input(), os.environ['RUNVAR']", given, has},
			{"after it", "fs.clear(); " + left, codeinterp.RunOptions{}, none},
			{"no descriptor 0", "os.close(0); 1", codeinterp.RunOptions{}, "1"},
			{"its next", "os.popen('cat; echo $RUNVAR').read()", given, `'a\nrv\n'`},
			{"after it", left, codeinterp.RunOptions{}, none},
			{"a copy of os.environ", "old = os.environ; os.environ = dict(old); os.environ['RUNVAR']", secret, "'rv'"},
			{"after it", "old.get('RUNVAR'), " + left, codeinterp.RunOptions{}, `(None, None, '\n')`},
			{"its next", "old['RUNVAR'], os.environ['RUNVAR']", secret, `('rv', 'rv')`},
			{"after that", "old.get('RUNVAR'), " + left, codeinterp.RunOptions{}, `(None, None, '\n')`},
			{"no os.environ", "del os.environ; 1", given, "1"},
			{"its next", "input(), os.environ['RUNVAR']", given, has},
			{"after it", left, codeinterp.RunOptions{}, none},
			{"one of its own that exits", "from collections import ChainMap, UserDict\nclass Exits(dict):\n  def get(self, *args): raise SystemExit(3)\n  __setitem__ = __delitem__ = __getitem__ = __contains__ = get\nos.environ = Exits(old); 1", secret, "1"},
			{"its next", "dict.get(os.environ, 'RUNVAR'), old['RUNVAR']", secret, `('rv', 'rv')`},
			{"after it", "dict.get(os.environ, 'RUNVAR'), old.get('RUNVAR')", codeinterp.RunOptions{}, `(None, None)`},
			{"one that never ends", "class Spins(UserDict):\n  def get(self, *args):\n    while True: pass\n  __setitem__ = __getitem__ = __contains__ = get\nos.environ = Spins(); 1", codeinterp.RunOptions{}, "1"},
			{"its next", "old['RUNVAR']", secret, `'rv'`},
			{"a chain", "os.environ = ChainMap({}, old); os.environ['RUNVAR']", secret, "'rv'"},
			{"its next", "os.environ['RUNVAR']", secret, "'rv'"},
			{"after it", "os.environ.get('RUNVAR'), old.get('RUNVAR')", codeinterp.RunOptions{}, `(None, None)`},
		} {
			tt.opts.Timeout = time.Minute
			res, err := c.run(tt.code, &tt.opts)
			if err != nil { // each of those that follow would take as long
				t.Fatalf("%s, %s: %s, %v", tt.name, tt.code, res.Status, err)
			}
			if !res.OK() || res.Text() != tt.want {
				t.Errorf("%s, %s: %s, value %s, error %+v, truncated %+v", tt.name, tt.code, res.Status, res.Text(), res.Error, res.Truncated)
			}
		}
	})
}
