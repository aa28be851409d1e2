//go:build real && unix

package subprocess_test

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/internal/tier"
	"github.com/toolcell/toolcell/providers/subprocess"
)

// pythonPrograms are what programs may expect of Python, whatever its version.
var pythonPrograms = []struct{ name, code, want string }{
	{"value", "x = 2\nx * 21", "ok value=42"},
	{"no value", "x = 2", "ok"},
	{"semicolon hides the value", "x = 2\nx;", "ok"},
	{"semicolon in a string", "';'", "ok value=';'"},
	{"indented", "  x = 1\n  if x:\n      y = '''a\n  b'''\n  y", "ok value='a\\n  b'"},
	{"indented with comment", "# c\n    x = 1\n    x + 1", "ok value=2"},
	{"carriage returns", "x = 1\r\nif x:\r\n    print('a')\r\nx", "ok out=a\n value=1"},
	{"byte order mark", "\ufeffprint('a')", "ok out=a\n"},
	{"top-level await", "import asyncio\nasync def f():\n    await asyncio.sleep(0)\n    return 3\nawait f()", "ok value=3"},
	{"task left behind", "import asyncio\nasync def f():\n    try: await asyncio.sleep(100)\n    finally: print('ended')\nasync def g():\n    global t\n    t = asyncio.create_task(f())\n    await asyncio.sleep(0)\n    return 3\nawait g()", "ok out=ended\n value=3"},
	{"await in statements", "import asyncio\nfor i in range(2):\n    await asyncio.sleep(0)\nx = await asyncio.sleep(0, 7)\nprint(x)", "ok out=7\n"},
	{"async for", "async def g():\n    yield 1\n    yield 2\n[x async for x in g()]", "ok value=[1, 2]"},
	{"asyncio.run", "import asyncio\nasync def f(): return 5\nasyncio.run(f())", "ok value=5"},
	{"real main", "__name__, __import__('sys').modules['__main__'].__dict__ is globals()", "ok value=('__main__', True)"},
	{"pickle", "import pickle\nclass A:\n    def __init__(self): self.x = 1\npickle.loads(pickle.dumps(A())).x", "ok value=1"},
	{"dataclass", "from dataclasses import dataclass\n@dataclass\nclass P:\n    x: int\nP(3)", "ok value=P(x=3)"},
	{"future annotations", "from __future__ import annotations\ndef f(x: Nope): pass\nf.__annotations__", "ok value={'x': 'Nope'}"},
	{"source", "import inspect\ndef f():\n    return 1  # here\nprint(inspect.getsource(f), end='')", "ok out=def f():\n    return 1  # here\n"},
	{"exit", "import sys\nsys.exit(3)", "error"},
	{"exit text", "import sys\nsys.exit('bye')", "error"},
	{"input", "input('? ')", "error out=?  error=EOFError: there is no standard input: this run was given none"},
	{"buffers of C code", "import ctypes, os\nc = ctypes.CDLL(None)\n_ = c.puts(b'c')\nif os.fork() == 0:\n    _ = c.puts(b'child')\nelse:\n    _ = os.wait()\n    print('py', flush=True)", "ok out=c\nchild\npy\nc\n"},
	{"raw descriptors", "import os\nprint('a')\n_ = os.write(1, b'b\\n')\n_ = os.system('echo c')\nprint('d')", "ok out=a\nb\nc\nd\n"},
	{"subprocess", "import subprocess\nsubprocess.run(['echo', 'x'], check=True).returncode", "ok out=x\n value=0"},
	{"atexit", "import atexit\n_ = atexit.register(print, 'bye')\nprint('hi')", "ok out=hi\nbye\n"},
	{"destructor", "class A:\n    def __del__(self): print('del')\na = A()", "ok out=del\n"},
	{"thread", "import threading, time\ndef f():\n    time.sleep(0.05)\n    print('t')\nthreading.Thread(target=f).start()", "ok out=t\n"},
	{"fork", "import os\npid = os.fork()\nif pid == 0:\n    print('child', flush=True)\n    os._exit(0)\n_ = os.waitpid(pid, 0)\nprint('parent')", "ok out=child\nparent\n"},
	{"fork that falls through", "import os\npid = os.fork()\nif pid: _ = os.waitpid(pid, 0)\nprint('x', end='')", "ok out=xx"},
	{"fork that fails", "import os\nr, w = os.pipe()\npid = os.fork()\nif pid == 0:\n    os.dup2(w, 2)\n    1 / 0\nos.close(w)\nlines = open(r).read().splitlines()\nprint(lines[0], lines[-1], os.waitpid(pid, 0)[1] >> 8)", "ok out=Traceback (most recent call last): ZeroDivisionError: division by zero 1\n"},
	{"stdout gone", "import sys\nsys.stdout = None\n5", "ok value=5"},
	{"stdout closed", "import sys\nsys.stdout.close()\n5", "ok value=5"},
	{"builtins broken", "import builtins\nbuiltins.len = builtins.print = builtins.repr = None\n5", "ok value=5"},
	{"json broken", "import json\njson.dumps = json.loads = None\n{'a': [1, None]}", "ok value={'a': [1, None]}"},
	{"broken error", "class E(Exception):\n    def __str__(self): raise ValueError\nraise E()", "error error=E: <the error has no readable message>"},
	{"broken repr", "class R:\n    def __repr__(self): 1/0\nR()", "ok"},
	{"not faithful", "[(1, {2: 3}), {1}]", "ok value=[(1, {2: 3}), {1}]"},
	{"surrogate", "'\\ud800'", "ok value='\\ud800'"},
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
	n := newNotebook(t, ci, "python")
	for _, tt := range pythonPrograms {
		t.Run(tt.name, func(t *testing.T) {
			if got := summary(run(t, ci, "python", tt.code, nil)); got != tt.want {
				t.Errorf("got  %s\nwant %s", got, tt.want)
			}
		})
	}
	t.Run("context", func(t *testing.T) { testPythonContext(t, n) })
}

func testPythonContext(t *testing.T, n *notebook) {
	for _, tt := range []struct{ code, want string }{
		{"import ctypes\n_ = ctypes.CDLL(None).puts(b'c')", "ok out=c\n"},
		{"def f(x):\n    return 1 / x\nimport time", "ok"},
		{"f(0)", "error error=ZeroDivisionError: division by zero"},
		{"import sys\nsys.exit(5)", "error"},
		{"f(2)", "ok value=0.5"},
		{"from __future__ import annotations", "ok"},
		{"def g(x: Nope): pass\ng.__annotations__", "ok value={'x': 'Nope'}"},
		{"import os\nos.chdir('/usr')", "ok"},
		{"os.getcwd()", "ok value='/usr'"},
		{"import asyncio\nq = asyncio.Queue()\nawait q.put(4)", "ok"},
		{"await q.get()", "ok value=4"},
	} {
		if got := summary(n.run(tt.code, nil)); got != tt.want {
			t.Errorf("%s\ngot  %s\nwant %s", tt.code, got, tt.want)
		}
	}
	res := n.run("\n\nf(0)", nil)
	e := res.Error
	if e == nil || e.Line != 3 {
		t.Fatalf("got %+v, want an error in line 3", e)
	}
	report := strings.Join(e.Traceback, "\n")
	for _, want := range []string{"Traceback (most recent call last):", "line 3, in <module>", "    f(0)", "    return 1 / x", "ZeroDivisionError: division by zero"} {
		if !strings.Contains(report, want) {
			t.Errorf("the traceback lacks %q:\n%s", want, report)
		}
	}
	if strings.Contains(report, "toolcell") {
		t.Errorf("the traceback shows the driver:\n%s", report)
	}
	if res := n.run("import numpyy", nil); res.Error == nil || res.Error.MissingModule != "numpyy" {
		t.Errorf("got %+v", res.Error)
	}
	if res := n.run("x = (\n1 +", nil); res.Error == nil || res.Error.Name != "SyntaxError" || res.Error.Line == 0 {
		t.Errorf("got %+v", res.Error)
	}
	e = n.run("import sys\nsys.exit('bye')", nil).Error
	if e != nil {
		t.Errorf("got %+v for an exit", e)
	}
}

func TestPythonDisplay(t *testing.T) {
	n := newNotebook(t, open(t, subprocess.Options{Languages: []subprocess.Language{subprocess.Python()}}), "python")
	res := n.run(`
class Rich:
    def _repr_html_(self): return '<b>h</b>'
    def _repr_markdown_(self): return '*m*'
    def _repr_latex_(self): return '$l$'
    def _repr_svg_(self): return '<svg/>'
    def _repr_png_(self): return b'\x89PNG'
    def _repr_jpeg_(self): return None
    def _repr_json_(self): return {'a': 1}
    def __repr__(self): return 'plain'
print('before')
display(Rich(), 5)
print('after')
Rich()`, nil)
	var kinds []string
	for _, o := range res.Outputs {
		kinds = append(kinds, o.Kind.String())
	}
	if want := []string{"stdout", "display", "display", "stdout", "result"}; !slices.Equal(kinds, want) {
		t.Fatalf("got %v, want %v: %+v %s", kinds, want, res.Error, res.Stderr())
	}
	var mimes []string
	for _, rep := range res.Outputs[1].Bundle {
		mimes = append(mimes, rep.MIME+"="+string(rep.Data))
	}
	want := []string{"image/png=\x89PNG", "image/svg+xml=<svg/>", "text/html=<b>h</b>", "text/markdown=*m*", "text/latex=$l$", `application/json={"a": 1}`, "text/plain=plain"}
	if !slices.Equal(mimes, want) {
		t.Errorf("got %q\nwant %q", mimes, want)
	}
	if len(res.Outputs[4].Bundle) != len(want) {
		t.Errorf("the result has %d representations", len(res.Outputs[4].Bundle))
	}

	res = n.run(`
from IPython.display import display, HTML, Image, Markdown, clear_output
print('gone')
clear_output(wait=True)
h = display(HTML('<i>1</i>'), display_id='d')
h.update(HTML('<i>2</i>'))
update_display(HTML('<i>3</i>'), display_id='d')
display({'text/plain': 'raw'}, raw=True)
display(Image(b'\x89PNGx'))`, nil)
	if !res.OK() || res.Stdout() != "" || len(res.Outputs) != 3 {
		t.Fatalf("got %s, %+v", summary(res), res.Outputs)
	}
	if rep, _ := res.Outputs[0].Richest("text/html"); string(rep.Data) != "<i>3</i>" || res.Outputs[0].DisplayID != "d" {
		t.Errorf("got %+v", res.Outputs[0])
	}
	if rep, _ := res.Outputs[2].Richest("image/png"); string(rep.Data) != "\x89PNGx" {
		t.Errorf("got %+v", res.Outputs[2])
	}
	res = n.run("display({'image/png': 'no base64!', 'text/plain': 'x'}, raw=True)", nil)
	if !res.OK() || len(res.Displays()) != 1 || !strings.Contains(res.Stderr(), "image/png was dropped") {
		t.Errorf("got %s, %+v", summary(res), res.Outputs)
	}
	res = n.run("class Big:\n    def _repr_html_(self): return 'x' * (60 << 20)\ndisplay(Big())\n5", nil)
	if !res.OK() || len(res.Truncated) != 1 || res.Truncated[0].Bytes < 60<<20 {
		t.Errorf("got %s, %+v", summary(res), res.Truncated)
	}
}

func TestNumericLibraries(t *testing.T) {
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
