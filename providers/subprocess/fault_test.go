//go:build real && unix

package subprocess_test

import (
	"testing"
	"time"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/providers/subprocess"
)

// TestBrokenDriver runs programs that attack the driver that runs them. Each must
// end its run, in its own context only, and the next run must work.
func TestBrokenDriver(t *testing.T) {
	t.Parallel()
	ci := open(t, subprocess.Options{})
	for _, tt := range []struct {
		name, language, code string
		lost                 bool
	}{
		{"garbage on the control channel", "python", "import os\nos.write(3, b'garbage!garbage!')\nimport time; time.sleep(90)", true},
		{"huge frame", "python", "import os\nos.write(3, b'ffffffff')\nimport time; time.sleep(90)", true},
		{"empty frame", "python", "import os\nos.write(3, b'00000000')\nimport time; time.sleep(90)", true},
		{"cut frame", "python", "import os\nos.write(3, b'00000100Z')\nos._exit(0)", true},
		{"field beyond its frame", "python", "import os\nos.write(3, b'00000009Z0000ffff')\nimport time; time.sleep(90)", true},
		{"unknown frame", "python", "import os\nos.write(3, b'00000001?')\nimport time; time.sleep(90)", true},
		{"closed control channel", "python", "import os\nos.close(3)\nimport time; time.sleep(90)", true},
		{"other program", "python", "import os\nos.execv('/bin/sh', ['sh', '-c', 'sleep 100'])", true},
		{"end of another run", "python", "import os\nb = b'Z' + b''.join(b'%08x%s' % (len(f), f) for f in [b'99', b'ok', b'0'])\nos.write(3, b'%08x%s' % (len(b), b))\nimport time; time.sleep(90)", true},
		{"no builtins", "python", "import builtins\nfor k in list(vars(builtins)):\n    if k != '__import__': delattr(builtins, k)", false},
		{"no modules", "python", "import sys\nsys.modules.clear()", false},
		{"no driver", "python", "import sys, gc\nf = sys._getframe()\nwhile f.f_back: f = f.f_back\nf.f_globals.clear()", false},
		{"exit from a hook", "python", "import sys\nsys.displayhook = sys.excepthook = lambda *a: sys.exit(9)\n1/0", false},
		{"descriptors closed", "python", "import os\nos.closerange(0, 100)", true},
		{"garbage on the control channel", "javascript", "require('fs').writeSync(3, 'garbage!garbage!'); Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0)", true},
		{"closed control channel", "javascript", "require('fs').closeSync(3); Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0)", true},
		{"garbage on the control channel", "bash", "echo 'garbage!garbage!' >&230; sleep 90", true},
		{"functions replaced", "bash", "printf() { exit 3; }; read() { exit 4; }; eval() { :; }; exec() { :; }", false},
	} {
		t.Run(tt.language+" "+tt.name, func(t *testing.T) {
			n := newNotebook(t, ci, tt.language)
			n.run("x=1", nil)
			res := n.run(tt.code, &codeinterp.RunOptions{Timeout: 20 * time.Second})
			if res.Status == codeinterp.StatusTimeout {
				t.Fatalf("got %s: it was not noticed", summary(res))
			}
			if tt.lost && !res.StateLost {
				t.Errorf("got %s, want the state to be lost", summary(res))
			}
			echo := map[string]string{"python": "print('next')", "javascript": "console.log('next')", "bash": "echo next"}[tt.language]
			var next codeinterp.Result
			for range 2 { // a driver that broke quietly ends with the next run
				if next = n.run(echo, &codeinterp.RunOptions{Timeout: 20 * time.Second}); next.Stdout() == "next\n" {
					return
				}
				if !next.StateLost {
					break
				}
			}
			t.Errorf("the next run: %s, stderr %s", summary(next), next.Stderr())
		})
	}
}

// TestForgedLaterEnds: no program can write the ends of runs to come, which
// would be ok then without having begun.
func TestForgedLaterEnds(t *testing.T) {
	n := newNotebook(t, open(t, subprocess.Options{Languages: []subprocess.Language{subprocess.Python()}}), "python")
	n.run(`
import os, time
def frame(kind, *fields):
    body = kind + b''.join(b'%08x%s' % (len(f), f) for f in fields)
    return b'%08x' % len(body) + body
ends = [frame(b'Z', b'%d' % i, b'ok', b'0', b'', b'', b'0', b'', b'') for i in range(2, 6)]
os.write(3, frame(b'Z', display.__globals__['state'].seq.encode(), b'ok', b'0', b'', b'', b'0', b'', b'') + b''.join(ends))
time.sleep(3)`, nil)
	for range 3 {
		if res := n.run("print('it ran')", nil); res.OK() && res.Stdout() != "it ran\n" {
			t.Errorf("got %s", summary(res))
		}
	}
}

func TestLimits(t *testing.T) {
	eachMode(t, func(t *testing.T, o subprocess.Options) {
		o.Limits = subprocess.Limits{Memory: 300 << 20, CPU: 2, FileSize: 1 << 20}
		o.Languages = []subprocess.Language{subprocess.Python()}
		ci := open(t, o)
		res := run(t, ci, "python", "x = bytearray(1 << 30)", nil)
		if res.Error == nil || res.Error.Name != "MemoryError" {
			t.Errorf("memory: %s", summary(res))
		}
		res = run(t, ci, "python", "import mmap\nm = mmap.mmap(-1, 1 << 30)\nfor i in range(0, 1 << 30, 4096): m[i] = 1", nil)
		if res.Status != codeinterp.StatusLost || res.Cause != codeinterp.CauseMemory {
			t.Errorf("shared memory: %s, cause %s", summary(res), res.Cause)
		}
		res = run(t, ci, "python", "while True: pass", &codeinterp.RunOptions{Timeout: busyTimeout})
		if res.Status != codeinterp.StatusLost || res.Cause != codeinterp.CauseCPU {
			t.Errorf("CPU: %s, cause %s", summary(res), res.Cause)
		}
		res = run(t, ci, "python", "f = open('f', 'wb', 0)\nfor i in range(100): f.write(b'x' * 100000)", nil)
		if res.Error == nil || res.Error.Name != "OSError" {
			t.Errorf("file size: %s", summary(res))
		}
	})
}

func TestNodeMemory(t *testing.T) {
	ci := open(t, subprocess.Options{Languages: []subprocess.Language{subprocess.JavaScript()}, Limits: subprocess.Limits{Memory: 400 << 20}})
	res := run(t, ci, "javascript", "const a = []; for (;;) a.push(new Array(1000).fill({}))", nil)
	if res.Status != codeinterp.StatusLost || res.Cause != codeinterp.CauseMemory {
		t.Errorf("got %s, cause %s, stderr %s", summary(res), res.Cause, res.Stderr())
	}
}
