//go:build full && unix

package python_test

import (
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/providers/inmemory"
	"github.com/toolcell/toolcell/providers/inmemory/engine"
)

// hostile are programs that run on, take all memory or break the interpreter. keeps tells
// that an interrupt is enough to end them.
var hostile = []struct {
	name, code string
	keeps      bool
}{
	{"endless loop", "while True: pass", true},
	{"catching the interrupt", "while True:\n  try:\n    while True: pass\n  except BaseException: pass", false},
	{"endless finally", "try:\n  while True: pass\nfinally:\n  while True: pass", false},
	{"ignored signal", "import signal\nsignal.signal(signal.SIGINT, signal.SIG_IGN)\nwhile True: pass", false},
	{"regular expression", "import re\nre.match('(x+x+)+y', 'x' * 50)", true},
	{"power", "5 ** (10 ** 8)", false},
	{"digits", "import sys\nsys.set_int_max_str_digits(0)\nstr(7 ** 3000000)", false},
	{"factorial", "import math\nmath.factorial(10 ** 7)", false},
	{"sum", "sum(range(10 ** 13))", false},
	{"count", "import itertools, collections\ncollections.deque(itertools.count(), 0)", false},
	{"never found", "import itertools\n-1 in itertools.count()", false},
	{"all", "import itertools\nall(itertools.repeat(True))", false},
	{"sleep", "import time\ntime.sleep(1000)", true},
	{"stubborn sleep", "import time\nwhile True:\n  try: time.sleep(1000)\n  except BaseException: pass", false},
	{"asyncio sleep", "import asyncio\nawait asyncio.sleep(1000)", true},
	{"asyncio never", "import asyncio\nawait asyncio.Event().wait()", true},
	{"large sorts", "a = list(range(300000))\nwhile True: sorted(a, key=lambda v: v * 7919 % 300007)", false},
	{"JSON", "import json\nd = [{'i': i} for i in range(20000)]\nwhile True: json.loads(json.dumps(d))", true},
	{"large string", "'x' * 10 ** 10", true},
	{"strings", "a = []\nwhile True: a.append('x' * 10 ** 7)", true},
	{"lists", "a = []\nwhile True: a.append([1, 2, 3])", true},
	{"large list", "[0] * 10 ** 9", true},
	{"dictionary", "d = {}\ni = 0\nwhile True:\n  d[i] = str(i)\n  i += 1", true},
	{"catching no memory", "a = []\nwhile True:\n  try: a.append(bytearray(10 ** 6))\n  except MemoryError: pass", true},
	{"large bytes", "bytearray(10 ** 9)", true},
	{"doubled string", "s = 'ab'\nwhile True: s += s", true},
	{"recursion", "def f(): return f() + 1\nf()", true},
	{"recursion without limit", "import sys\nsys.setrecursionlimit(10 ** 8)\ndef f(): return f() + 1\nf()", false},
	{"deep repr", "a = []\nfor _ in range(200000): a = [a]\nrepr(a)", true},
	{"deep comparison", "a = b = None\nfor _ in range(200000): a, b = [a], [b]\na == b", true},
	{"deep deletion", "a = None\nfor _ in range(1000000): a = (a,)\ndel a", true},
	{"deep JSON", "import json\njson.loads('[' * 200000)", true},
	{"deep parentheses", "eval('(' * 5000 + ')' * 5000)", true},
	{"deep minus", "eval('-' * 200000 + '1')", true},
	{"deep attributes", "eval('a' + '.a' * 200000)", false},
	{"getattr recursion", "class A:\n  def __getattr__(self, n): return getattr(self, n)\nA().x", true},
	{"C recursion", "def g(x): return list(map(g, [x]))\ng(1)", true},
	{"deep pattern", "import re\nre.compile('(' * 3000 + ')' * 3000)", false},
	{"repr recursion", "import sys\nsys.setrecursionlimit(10 ** 9)\nclass A:\n  def __repr__(self): return repr(self)\nrepr(A())", false},
	{"prints", "while True: print('x' * 1000)", true},
	{"short prints", "while True: print(1)", true},
	{"exit", "import os\nos._exit(7)", false},
	{"abort", "import os\nos.abort()", false},
	{"segmentation fault", "import faulthandler\nfaulthandler._sigsegv()", false},
	{"large file", "f = open('x', 'wb')\nwhile True: f.write(b'x' * 10 ** 6)", true},
	{"many files", "i = 0\nwhile True:\n  open('f%d' % i, 'w').close()\n  i += 1", true},
	{"many open files", "import os\nfor i in range(3000): os.open('x', os.O_CREAT | os.O_RDWR)", true},
	{"sparse file", "f = open('x', 'wb')\nf.seek(10 ** 12)\nf.write(b'x')\nf.flush()", true},
	{"endless finalizer", "class A:\n  def __del__(self):\n    while True: pass\na = A()\ndel a", true},
	{"deadlock", "import threading\nl = threading.Lock()\nl.acquire()\nl.acquire()", false},
	{"exec", "exec('while 1: pass')", true},
	{"generator", "list(x for x in iter(int, 1))", true},
	{"replace", "('a' * 10 ** 6).replace('a', 'b' * 100)", true},
	{"zip bomb", "import zlib\nz = zlib.compress(bytes(10 ** 7))\nwhile True: zlib.decompress(z)", true},
	{"hash collisions", "class A:\n  def __hash__(self): return 1\n  def __eq__(self, o): return False\nd = {}\nwhile True: d[A()] = 1", true},
	{"large shift", "1 << 10 ** 10", true},
	{"decimal", "import decimal\ndecimal.getcontext().prec = 10 ** 6\ndecimal.Decimal(2).sqrt() ** decimal.Decimal('0.3')", false},
	{"sqlite", "import sqlite3\nsqlite3.connect(':memory:').execute('with recursive c(x) as (select 1 union all select x + 1 from c) select count(*) from c').fetchall()", false},
	{"requests of its own", "import _toolcell\nwhile True: _toolcell.request(b'junk')", true},
	{"requests to wait", "import _toolcell\nwhile True: _toolcell.request(b'0000000bW00000002-1')", true},
	{"false end", "import _toolcell\n_toolcell.request(b'00000023Z000000011' + b'00000002ok' + b'000000010')\nwhile True: pass", true},
	{"driver overwritten", "import sys\nsys.modules.clear()\nwhile True: pass", false},
	{"trace", "import sys\ndef t(*a):\n  while True: pass\nsys.settrace(t)\n(lambda: 1)()", true},
	{"comparison", "('a' * 10 ** 7 + 'b') in ('a' * 10 ** 7)", true},
	{"permutations", "import itertools\nsum(1 for _ in itertools.permutations(range(15)))", true},
	{"max", "import itertools\nmax(itertools.count())", false},
	{"text search", "s = 'ab' * 10 ** 6\nwhile True: s.find('ba' * 10 ** 5 + 'x')", true},
	{"random bytes", "import os\nwhile True: os.urandom(3 * 10 ** 7)", false},
	{"large reads", "open('f', 'wb').write(bytes(3 * 10 ** 7))\nimport os\nf = os.open('f', os.O_RDONLY)\nwhile True: os.pread(f, 3 * 10 ** 7, 0)", true},
	{"file names", "import os\nfor i in range(4000): open('f%d' % i, 'w').close()\nwhile True: os.listdir('.')", true},
	{"deep paths", "import os\nwhile True: os.path.exists('a/' * 2000)", true},
	{"large prints", "s = 'x' * 10 ** 7\nwhile True: print(s)", true},
	{"large requests", "import _toolcell\nb = bytes(3 * 10 ** 7)\nwhile True: _toolcell.request(b)", true},
	{"copies", "b = bytearray(20 * 10 ** 6)\nwhile True: b[:] = bytes(b)", true},
}

// Timeout and limits of a hostile program.
const (
	hostileTimeout = 300 * time.Millisecond
	hostileMemory  = 64 << 20
	hostileMargin  = 64 << 20
	latest         = 50 * time.Millisecond
)

// TestHostile: whatever a program does, it ends in time, the host lives on within its
// memory, and whether the state is kept is as the result says.
func TestHostile(t *testing.T) {
	o := options(t)
	o.Limits = engine.Limits{Memory: hostileMemory}
	s, err := inmemory.NewStateful(o)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	for _, c := range hostile {
		t.Run(c.name, func(t *testing.T) {
			var lost, late bool
			for try := 0; try < 5 && (try == 0 || late || lost && c.keeps); try++ {
				lost, late = endure(t, s, c.code)
			}
			if late {
				t.Error("ended too late five times")
			}
			if lost && c.keeps {
				t.Error("lost its state five times")
			}
		})
	}
	if n := s.Abandoned(); n != 0 {
		t.Errorf("%d engines were abandoned", n)
	}
}

// endure runs a hostile program. What the machine computes for others is not its time.
func endure(t *testing.T, s *inmemory.Stateful, code string) (lost, late bool) {
	id := newContext(t, s)
	stdout(t, s, id, "kept = 1")
	before, peak, done := resident(t), atomic.Int64{}, make(chan struct{})
	go func() {
		for {
			select {
			case <-done:
				return
			case <-time.After(2 * time.Millisecond):
				peak.Store(max(peak.Load(), resident(t)))
			}
		}
	}()
	var atTimeout atomic.Int64
	mark := time.AfterFunc(hostileTimeout, func() { atTimeout.Store(int64(cpuTime())) })
	start := time.Now()
	res, err := s.RunInContext(t.Context(), id, code, &codeinterp.RunOptions{Timeout: hostileTimeout, MaxOutput: 1 << 20})
	took := time.Since(start)
	close(done)
	if err != nil {
		t.Fatal(err)
	}
	computed := time.Duration(0)
	if !mark.Stop() {
		computed = cpuTime() - time.Duration(atTimeout.Load())
	}
	late = took > hostileTimeout+latest && computed > latest
	if used := peak.Load() - before; used > hostileMemory+hostileMargin {
		t.Errorf("took %d MiB", used>>20)
	}
	after, err := s.RunInContext(t.Context(), id, "'kept' in globals()", nil)
	if err != nil {
		t.Fatal(err)
	}
	if kept := after.Text() == "True"; kept == res.StateLost {
		t.Errorf("StateLost is %v, and the variable was kept: %v", res.StateLost, kept)
	}
	t.Logf("%-7s %3d in %3d ms (computed %v after), %+d MiB, lost %v, %v", res.Status, res.ExitCode, took.Milliseconds(), computed, (peak.Load()-before)>>20, res.StateLost, res.Error)
	if err := s.DeleteContext(t.Context(), id); err != nil {
		t.Error(err)
	}
	return res.StateLost, late
}

func cpuTime() time.Duration {
	var u syscall.Rusage
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &u)
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
