//go:build linux && real

package toolcell_test

import (
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/toolcell/toolcell/codeinterp"
)

// agreedPythons are compared between a process of CPython and the one in memory: what a
// kernel does its own way, and what each of the two has of the language and its library.
// The versions of both may differ.
var agreedPythons = []agreedCall{
	{name: "names", once: true, programs: []string{"import sys; print(__name__, sys.argv, sorted(k for k in globals() if k[0] != '_')); __name__ == '__main__'",
		"x = 5; import __main__; __main__.x", "exit", "quit(3)", "import io, contextlib\nwith contextlib.redirect_stdout(io.StringIO()) as f: help(len)\n'Help on built-in function len' in f.getvalue() and [f for f in (help, exit, quit, license, credits, copyright) if not callable(f)]"}},
	{name: "last values", fresh: true, programs: []string{"class A: pass\nA", "len", "41", "_ + 1", "_2", "_, __name__", "[1, 2];", "x: int = 3", "x", "async def f(): return 'v'\nawait f()", "%%writefile m.txt\nhello", "%nosuch"}},
	{name: "exit codes", once: true, fresh: true, programs: []string{"import sys; sys.exit('bye')", "import sys; sys.exit(True)", "import sys; sys.exit([1, 2])", "raise SystemExit(-1)", "import sys; sys.exit(10**30)", "raise SystemExit from ValueError()",
		"raise KeyboardInterrupt", "raise MemoryError('m')", "raise GeneratorExit", "raise StopIteration(3)"}},
	{name: "an exit without clean-up", once: true, fresh: true, programs: []string{"import os; os._exit(4)"}},
	{name: "errors of many kinds", programs: []string{"{}['a']", "foo.bar", "(lambda a: a)()", "x = {}\n\n\nx['a']['b']", "import math; math.sqrt(-1)", "int('x')", "'a' + 1", "[].pop()", "open('none.txt').read(0)[0:0] or 1 / 0",
		"raise ExceptionGroup('g', [ValueError(1), TypeError('t')])", "try: raise ValueError('a')\nexcept ValueError as e: raise KeyError('b') from e", "class E(Exception):\n  def __str__(self): return 'é\\nline'\ne = E(); e.add_note('n'); raise e",
		"if x = 1: pass", "print 'hello'", "yield 1", "break", "await 5", "def f(n): return f(n + 1)\nf(0)", "int('9' * 5000)"}, ownErrors: true},
	{name: "errors in modules", fresh: true, programs: []string{"open('mod.py', 'w').write('x = 1\\ndef f():\\n  raise ValueError(\"in mod\")\\n')", "import mod; mod.f()", "import os; os.makedirs('pkg/sub'); open('pkg/__init__.py', 'w').write('from .sub import y'); open('pkg/sub/__init__.py', 'w').write('y = 5')",
		"import pkg; pkg.y, pkg.__path__[0][-4:]", "open('bad.py', 'w').write('x = = 1\\n')", "import bad", "import zipfile, sys\nwith zipfile.ZipFile('z.zip', 'w') as z: z.writestr('inzip.py', 'v = 9\\n')\nsys.path.insert(0, 'z.zip'); import inzip; inzip.v, inzip.__file__[-14:]",
		"import runpy; runpy.run_path('mod.py')['x']", "open('mod.py', 'w').write('x = 22222\\n')", "import importlib; importlib.reload(mod).x"}},
	{name: "numbers", programs: []string{"print(0.1 + 0.2, 1e22, 1e16, 5e-324, -0.0, '%.20f' % 0.1, f'{1e10:,.2f}', round(2.5), 2 ** 0.5, 1 / 3, 2 ** 100, -7 // 2, divmod(-7, 3))",
		"from decimal import *; print(Decimal(1) / 3, Decimal('1e-10'), Decimal('0.1') + Decimal('0.20'))", "from fractions import Fraction; Fraction(1, 3) + Fraction('0.5')", "import random; random.seed(1); print(random.random(), random.sample(range(10), 3), random.gauss(0, 1))",
		"import math; print(math.log(10), math.fsum([.1] * 10), math.hypot(3, 4), math.comb(50, 25), math.factorial(25), math.isqrt(10**30))", "import statistics as s; print(s.mean([1, 2, 3.5]), s.median([3, 1, 2]))", "2.0 ** 10000"}, ownErrors: true},
	{name: "texts", programs: []string{"print('😀é\\x00\\x1b[31m')", "print('\\ud800')", "'a\\ud800b'", "sorted(['b', 'A', 'é', 'z'])", "import unicodedata; unicodedata.normalize('NFD', 'é').encode()", "'\\N{BULLET}'", "ü = 2; ü", "import re; re.sub(r'(?P<a>\\w+)', r'<\\g<a>>', 'héllo wörld')",
		"print('\\r\\n|a\\tb\\x07', end='')", "import textwrap; print(textwrap.fill('a b ' * 40))", "import sys; sys.stdout.buffer.write(b'\\xff\\xfe'); sys.stdout.flush()"}},
	{name: "the library", programs: []string{
		"import sqlite3; c = sqlite3.connect('a.db'); c.execute('create table t(a, b)'); c.executemany('insert into t values(?, ?)', [(1, 'x'), (2, None)]); c.commit(); c.execute('select * from t').fetchall()", "c.close(); sqlite3.connect('a.db').execute('select sum(a) from t').fetchone()", "sqlite3.connect('a.db').execute('select nope from t')",
		"import zlib, gzip; zlib.crc32(b'x'), gzip.decompress(gzip.compress(b'hi' * 1000)) == b'hi' * 1000", "import pickle\nclass P: x = 1\ntype(pickle.loads(pickle.dumps(P()))) is P",
		"from dataclasses import *\n@dataclass(order=True, slots=True)\nclass D:\n  a: int\n  b: list = field(default_factory=list)\nprint(asdict(D(2)), sorted([D(2), D(1)]))\nD(1)",
		"import typing; print(typing.Optional[int], list[int])", "import argparse; p = argparse.ArgumentParser(prog='p'); p.add_argument('--x', type=int); print(p.parse_args(['--x', '3'])); p.parse_args(['--y'])",
		"import logging; logging.warning('w %d', 1); logging.basicConfig(level='INFO', force=True); logging.info('x')", "import warnings; warnings.warn('hey')", "import doctest\ndef f():\n  '''\n  >>> 1 + 1\n  2\n  '''\ndoctest.testmod()",
		"import unittest\nclass T(unittest.TestCase):\n  def test_a(self): self.assertEqual(1, 2)\nr = unittest.TextTestRunner(stream=__import__('io').StringIO()).run(unittest.defaultTestLoader.loadTestsFromTestCase(T)); len(r.failures)",
		"import gc, weakref\nclass A: pass\na = A(); r = weakref.ref(a); a.self = a; del a; gc.collect(); r()", "import datetime, zoneinfo; print(datetime.datetime(2024, 7, 1, tzinfo=zoneinfo.ZoneInfo('Europe/Paris')), datetime.date(2024, 2, 29) + datetime.timedelta(365))",
		"import hashlib, hmac; hashlib.sha256(b'x').hexdigest(), hmac.new(b'k', b'm', 'md5').hexdigest()", "import xml.etree.ElementTree as E; E.tostring(E.fromstring('<a b=\"1\"><c/>é</a>'))", "import csv, io; f = io.StringIO(); csv.writer(f).writerow([1, 'a,b']); f.getvalue()", "import os; a = os.times(); sum(range(10000)); os.times().user - a.user < 5"}, ownErrors: true},
	{name: "asyncio", fresh: true, programs: []string{"import asyncio\nasync def g():\n  for i in range(3):\n    yield i\n    await asyncio.sleep(0)\n[x async for x in g()]", "await asyncio.wait_for(asyncio.sleep(3600), 0.01)", "async with asyncio.TaskGroup() as tg: tg.create_task(asyncio.sleep(0.01))",
		"q = asyncio.Queue(); await q.put(1); await q.get()", "await asyncio.gather(asyncio.sleep(0, 1), asyncio.sleep(0.01, 2))", "late = asyncio.create_task(asyncio.sleep(0.01, 'late'))\nawait asyncio.sleep(0)", "await late", "asyncio.run(asyncio.sleep(0, 3))"}, ownErrors: true},
	{name: "generators", fresh: true, programs: []string{"def g():\n  try:\n    yield 1\n    yield 2\n  finally:\n    print('closed')\nit = g(); next(it)", "next(it)", "del it", "next(x for x in [])"}},
	{name: "what programs break", fresh: true, programs: []string{"import builtins; builtins.print = None; builtins.len = None; 1", "print(1)", "import sys; del sys.stdout, sys.stderr; 2", "3", "globals().clear(); 4", "5"}},
	{name: "closed output", fresh: true, programs: []string{"import sys; sys.stdout = None; print('x'); 5", "import io, contextlib\nwith contextlib.redirect_stdout(io.StringIO()) as f: print('in')\nf.getvalue()"}},
	{name: "depth", fresh: true, programs: []string{"l = []\nfor _ in range(100000): l = [l]\nrepr(l)", "del l; 1", "import json; json.loads('[' * 100000 + ']' * 100000)", "1"}, ownErrors: true},
	{name: "all of standard input", once: true, programs: []string{"import sys; print(input(), sys.stdin.readline(), list(sys.stdin), sys.stdin.isatty())", "open(0).read()", "import fileinput; list(fileinput.input())"}, opts: codeinterp.RunOptions{Stdin: []byte("one\ntwo\n\nfour é\n")}},
	{name: "zones", once: true, programs: []string{"import os; os.environ['TZ']"}, opts: codeinterp.RunOptions{Env: map[string]string{"TZ": "UTC"}}},
	{name: "files and directories", fresh: true, programs: []string{"import os\nopen('in/b', 'w').write('x'); os.mkdir('d'); open('d/e.png', 'wb').write(b'\\x89PNG\\r\\n\\x1a\\n'); open('in/a', 'a').write('more')", "f = open('t', 'w+'); f.write('abc'); f.seek(1); f.truncate(); f.flush(); os.utime('t', (1, 2)); print(os.stat('t').st_size, os.stat('t').st_mtime)",
		"import shutil, glob; shutil.copytree('in', 'cp'); print(sorted(glob.glob('**', recursive=True))); shutil.rmtree('cp')", "import pathlib; p = pathlib.Path('q'); p.mkdir(); (p / 'é ü').write_text('x'); list(p.iterdir())", "os.replace('d/e.png', 'q/f'); print(sorted(os.walk('q')))", "open('a\\0b')"},
		opts: codeinterp.RunOptions{Artifacts: true, Files: fstest.MapFS{"in/a": {Data: []byte("given"), Mode: 0o644}}}},
	{name: "errors of files", programs: []string{"open('none')", "import os; os.mkdir('twice'); os.mkdir('twice')", "os.rmdir('none')", "open('plain', 'w').close(); os.listdir('plain')", "open('twice', 'w')", "os.rmdir('twice/../..') or 1"}, ownErrors: true},
	{name: "functions at once", programs: []string{"import asyncio\ne, a = await asyncio.gather(tools.aio.fails(), tools.aio.echo(a=1), return_exceptions=True)\nprint(e, e.name, e.message, a)"}, opts: codeinterp.RunOptions{Functions: agreedFunctions()}},
	{name: "a caught timeout", fresh: true, programs: []string{"kept = 2", "try:\n  while True: x = 1\nexcept KeyboardInterrupt: caught = True; raise", "kept"}, opts: codeinterp.RunOptions{Timeout: time.Second}},
	{name: "a timeout that is ignored", full: true, fresh: true, programs: []string{"kept = 3", "while True:\n  try:\n    while True: pass\n  except BaseException: pass", "'kept' in globals()"}, opts: codeinterp.RunOptions{Timeout: time.Second}},
}

// failAlone wants what Python in memory has not to fail at once and with a clear error,
// also without contexts.
func failAlone(t *testing.T, p *places) {
	if !p.has(pythonInMemory) {
		return
	}
	ci := p.of(pythonInMemory)
	id := newContext(t, ci, "python")
	for code, want := range map[string]string{
		"import subprocess; subprocess.run(['ls'])":                  "does not support processes",
		"import os; os.system('ls')":                                 "no attribute 'system'",
		"import os; os.popen('ls')":                                  "does not support processes",
		"import os; os.fork()":                                       "no attribute 'fork'",
		"import multiprocessing":                                     "No module named 'multiprocessing'",
		"import asyncio\nawait asyncio.create_subprocess_exec('ls')": "does not support processes",
		"!ls": "does not support processes",
		"import threading; threading.Thread(target=print).start()":          "can't start new thread",
		"import asyncio\nawait asyncio.to_thread(print)":                    "can't start new thread",
		"import socket; socket.socket()":                                    "Not supported",
		"import urllib.request; urllib.request.urlopen('http://a.example')": "there is no network here",
		"import asyncio\nawait asyncio.open_connection('127.0.0.1', 1)":     "Not supported",
		"import ssl":                             "No module named '_ssl'",
		"import ctypes":                          "No module named 'ctypes'",
		"open('/etc/passwd')":                    "No such file",
		"import os; os.stat('/proc')":            "No such file",
		"open('../../../../../../etc/hostname')": "No such file",
	} {
		start := time.Now()
		res, err := ci.RunInContext(t.Context(), id, code, nil)
		alone, errAlone := ci.RunCode(t.Context(), "python", code, nil)
		for _, res := range []codeinterp.Result{res, alone} {
			if err != nil || errAlone != nil || res.Status != codeinterp.StatusError || res.StateLost || res.Error == nil || !strings.Contains(res.Error.Message, want) {
				t.Errorf("%s: %s, %v, %v, %v; want %q", code, res.Status, res.Error, err, errAlone, want)
			}
		}
		if d := time.Since(start); d > time.Minute {
			t.Errorf("%s took %v", code, d)
		}
	}
	if res, err := ci.RunInContext(t.Context(), id, "import os; os.listdir('/'), sorted(os.environ)", nil); err != nil || string(res.Text()) != "([], ['HOME', 'LANG', 'PATH', 'TMPDIR', 'USER'])" {
		t.Errorf("%s, %v, %v", res.Text(), res.Error, err)
	}
}
