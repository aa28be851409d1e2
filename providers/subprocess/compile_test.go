//go:build unix

package subprocess_test

import (
	"reflect"
	"strings"
	"testing"

	"github.com/toolcell/toolcell/internal/race"
	"github.com/toolcell/toolcell/providers/subprocess"
)

// TestCompiledQuickly runs programs by themselves, some of which are compiled
// without a syntax tree, and first in a context, where none is: they say the same.
func TestCompiledQuickly(t *testing.T) {
	t.Parallel()
	ci := open(t, subprocess.Options{})
	for i, code := range []string{
		"print(1)", "x = 1\nx", "\n\nx = [1]\n\nx  # all\n\n", "x = 1\nx;", "x = 1\ny = 2", "'a'\n__doc__", "def f():\n    1 / 0\n\nf()", "x = 1\n\nx / 0",
		"x = 1\nx.no", "x = 1\nx y", "print 1", "x = '''a\nb'''", "x = '''a\nb''' ; x", "x = (1,\ny)", "if 1:\n    x = 2\nx", "  x = 1\n  x", "x = 1 + \\\nabs(2)",
		"# \\\nabs(-2)", "abs(-2)\u00a0", "abs(-2)\x0c", "abs(-2)\x1c", "# -*- coding: latin-1 -*-\nascii('é')", "ﬁ = 3\nfi", "x = 1\nx is 1", "x = 1\nlen('\\d')",
		"from __future__ import annotations\ndef f(a: b): pass\nf.__annotations__['a']", "import asyncio\nawait asyncio.sleep(0, 7)", "yield 1", "x = 1\nreturn x", "x = lambda: (yield)\nx.__name__",
		"import sys\nsys.gettrace(), sys.getprofile()", "import sys\nsys._getframe().f_code.co_filename", "import warnings\nlen([f for f in warnings.filters if f[2] is SyntaxWarning])",
		"import warnings\nwarnings.warn('once')\nx = 1", "x = 5\neval('x')", "x = 1\nglobals()['x'], locals() is globals()", "def f(): return f.__code__.co_filename\nf()", "import inspect\ndef f():\n    return 1\nprint(inspect.getsource(f))\nf()",
		strings.Repeat("(", 300) + "1" + strings.Repeat(")", 300), "x = 1\nabs" + strings.Repeat("(", 300) + "1" + strings.Repeat(")", 300), "x = 1\nnot " + strings.Repeat("-", 3000) + "1",
		strings.Repeat("x = 1\n", 20000) + "x.no", "class A:\n    def __repr__(self): raise ValueError(1)\n\nA()", "None", "x = 1\nNone", "exit(3)", "import sys\nsys.exit('bye')",
	} {
		if !race.Takes(i, 3) {
			continue
		}
		n := newNotebook(t, ci, "python")
		want, got := n.run(code, nil), run(t, ci, "python", code, nil)
		what := code[:min(len(code), 60)]
		if w, g := summary(want), summary(got); w != g && want.Status != "lost" { // an exit costs a context's state
			t.Errorf("%q: %s, want %s", what, g, w)
		}
		if want.Stderr() != got.Stderr() || !reflect.DeepEqual(want.Error, got.Error) {
			t.Errorf("%q: %q %+v, want %q %+v", what, got.Stderr(), got.Error, want.Stderr(), want.Error)
		}
		if err := ci.DeleteContext(t.Context(), n.id); err != nil {
			t.Fatal(err)
		}
	}
}
