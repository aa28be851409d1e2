//go:build real && unix

package subprocess_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/internal/tier"
	"github.com/toolcell/toolcell/providers/subprocess"
)

// pythonPrograms are what programs may expect of Python, whatever its version.
var pythonPrograms = []struct{ name, code, want string }{
	{"indented", "  x = 1\n  if x:\n      y = '''a\n  b'''\n  y", "ok value='a\\n  b'"},
	{"indented with comment", "# c\n    x = 1\n    x + 1", "ok value=2"},
	{"task left behind", "import asyncio\nasync def f():\n    try: await asyncio.sleep(100)\n    finally: print('ended')\nasync def g():\n    global t\n    t = asyncio.create_task(f())\n    await asyncio.sleep(0)\n    return 3\nawait g()", "ok out=ended\n value=3"},
	{"await in statements", "import asyncio\nfor i in range(2):\n    await asyncio.sleep(0)\nx = await asyncio.sleep(0, 7)\nprint(x)", "ok out=7\n"},
	{"real main", "__name__, __import__('sys').modules['__main__'].__dict__ is globals()", "ok value=('__main__', True)"},
	{"pickle", "import pickle\nclass A:\n    def __init__(self): self.x = 1\npickle.loads(pickle.dumps(A())).x", "ok value=1"},
	{"future annotations", "from __future__ import annotations\ndef f(x: Nope): pass\nf.__annotations__", "ok value={'x': 'Nope'}"},
	{"source", "import inspect\ndef f():\n    return 1  # here\nprint(inspect.getsource(f), end='')", "ok out=def f():\n    return 1  # here\n"},
	{"buffers of C code", "import ctypes, os\nc = ctypes.CDLL(None)\n_ = c.puts(b'c')\nif os.fork() == 0:\n    _ = c.puts(b'child')\nelse:\n    _ = os.wait()\n    print('py', flush=True)", "ok out=c\nchild\npy\nc\n"},
	{"raw descriptors", "import os\nprint('a')\n_ = os.write(1, b'b\\n')\n_ = os.system('echo c')\nprint('d')", "ok out=a\nb\nc\nd\n"},
	{"atexit", "import atexit\n_ = atexit.register(print, 'bye')\nprint('hi')", "ok out=hi\nbye\n"},
	{"destructor", "class A:\n    def __del__(self): print('del')\na = A()", "ok out=del\n"},
	{"fork", "import os\npid = os.fork()\nif pid == 0:\n    print('child', flush=True)\n    os._exit(0)\n_ = os.waitpid(pid, 0)\nprint('parent')", "ok out=child\nparent\n"},
	{"fork that falls through", "import os\npid = os.fork()\nif pid: _ = os.waitpid(pid, 0)\nprint('x', end='')", "ok out=xx"},
	{"fork that fails", "import os\nr, w = os.pipe()\npid = os.fork()\nif pid == 0:\n    os.dup2(w, 2)\n    1 / 0\nos.close(w)\nlines = open(r).read().splitlines()\nprint(lines[0], lines[-1], os.waitpid(pid, 0)[1] >> 8)", "ok out=Traceback (most recent call last): ZeroDivisionError: division by zero 1\n"},
	{"stdout gone", "import sys\nsys.stdout = None\n5", "ok value=5"},
	{"stdout closed", "import sys\nsys.stdout.close()\n5", "ok value=5"},
	{"builtins broken", "import builtins\nbuiltins.len = builtins.print = builtins.repr = None\n5", "ok value=5"},
	{"broken error", "class E(Exception):\n    def __str__(self): raise ValueError\nraise E()", "error error=E: <the error has no readable message>"},
	{"relative import", "open('mine.py', 'w').write('v = 8')\nimport mine\nmine.v", "ok value=8"},
	{"library not shadowed", "_ = open('json.py', 'w').write('boom')\n_ = open('traceback.py', 'w').write('boom')\nimport json\n{}['x']", "error error=KeyError: 'x'"},
}

func TestPython(t *testing.T) {
	o := subprocess.Options{Languages: []subprocess.Language{subprocess.Python()}}
	if !tier.Full {
		o.Warm = &subprocess.Warm{}
	}
	testPython(t, open(t, o))
}

func testPython(t *testing.T, ci *subprocess.Stateful) {
	t.Log(ci.Describe().Languages[0].Runtime)
	for _, tt := range pythonPrograms {
		t.Run(tt.name, func(t *testing.T) {
			if got := summary(run(t, ci, "python", tt.code, nil)); got != tt.want {
				t.Errorf("got  %s\nwant %s", got, tt.want)
			}
		})
	}
}

func TestNumericLibraries(t *testing.T) {
	t.Parallel()
	for _, warm := range []*subprocess.Warm{{Preload: []string{"numpy", "pandas", "matplotlib.pyplot", "PIL.Image"}}, nil} {
		if warm == nil && !tier.Full {
			continue
		}
		ci := open(t, subprocess.Options{Languages: []subprocess.Language{python(t)}, Warm: warm})
		testNumeric(t, ci)
	}
}

func testNumeric(t *testing.T, ci codeinterp.CodeInterpreter) {
	png := []byte("\x89PNG\r\n")
	images := func(res codeinterp.Result) int {
		n := 0
		for _, rep := range res.Images() {
			if rep.MIME == "image/png" && bytes.HasPrefix(rep.Data, png) {
				n++
			}
		}
		return n
	}
	for _, tt := range []struct {
		name, code string
		images     int
	}{
		{"show", "import matplotlib.pyplot as plt\nplt.plot([1, 2])\nplt.show()\nprint('after')", 1},
		{"left open", "import matplotlib.pyplot as plt\nplt.plot([1, 2])\nplt.figure()\n_ = plt.bar([1], [2])", 2},
		{"own backend", "import matplotlib\nmatplotlib.use('Agg')\nimport matplotlib.pyplot as plt\n_ = plt.plot([1])", 1},
		{"closed", "import matplotlib.pyplot as plt\n_ = plt.plot([1])\nplt.savefig('p.png')\nplt.close()", 0},
		{"figure as value", "import matplotlib.pyplot as plt\nfig, ax = plt.subplots()\nax.plot([1])\nfig", 1},
		{"image", "from PIL import Image\nImage.new('RGB', (2, 2))", 1},
	} {
		t.Run(tt.name, func(t *testing.T) {
			res := run(t, ci, "python", tt.code, nil)
			// What matplotlib says after five seconds, on a busy machine.
			stderr := strings.TrimPrefix(res.Stderr(), "Matplotlib is building the font cache; this may take a moment.\n")
			if !res.OK() || images(res) != tt.images || stderr != "" {
				t.Errorf("got %s, %d images, stderr %s", summary(res), images(res), stderr)
			}
		})
	}
	res := run(t, ci, "python", "import pandas as pd\npd.DataFrame({'a': [1, 2]})", nil)
	o, _ := res.Value()
	html, _ := o.Richest("text/html")
	if !strings.Contains(string(html.Data), "<table") || !strings.Contains(res.Text(), "a\n0  1") {
		t.Errorf("got %s, %+v, %s", summary(res), o, res.Stderr())
	}
	res = run(t, ci, "python", "import numpy as np\nnp.arange(3)", nil)
	if res.Text() != "array([0, 1, 2])" {
		t.Errorf("got %s", summary(res))
	}
}
