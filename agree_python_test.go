//go:build linux && real

package toolcell_test

import (
	"testing/fstest"
	"time"

	"github.com/toolcell/toolcell/codeinterp"
)

// agreedMain is what programs run in a loop.
const agreedMain = "import asyncio\nasync def main():\n  await asyncio.sleep(0.01); return 7\n"

// IPython shows classes and functions its own way, keeps the last value as _, and
// does not count an empty program. Who asks a kernel how its process died is not
// reported. None of that is here.
var agreedPython = []agreedCall{
	{name: "output and value", once: true, programs: []string{"import sys; print('out', end=''); print('err', file=sys.stderr); {'b': [1, 'é'], 'a': None}"}},
	{name: "output of processes", processes: true, programs: []string{"import os, subprocess; os.write(1, b'raw\\xff'); subprocess.run(['echo', 'child']).returncode"}},
	{name: "no value", programs: []string{"x = 1", "None", "# only a comment", "1;", "import os"}},
	{name: "values", programs: []string{"(1, (True, None))", "{1: 2}", "float('nan')", "10**30", "-0.0", "{1}", "'a\\ud800'", "'x' * 5", "l = []; l.append(l); l"}},
	{name: "displays", programs: []string{"display(1, 'x')", "class H:\n  def _repr_html_(self): return '<b>'\n  def __repr__(self): return 'H!'\nH()",
		"from IPython.display import clear_output, update_display\nprint('gone'); clear_output(); print('kept')", "h = display('a', display_id='d'); update_display('b', display_id='d')"}},
	{name: "values that cannot be shown", full: true, ownReports: true, programs: []string{
		"print('before')\nclass A:\n  def __repr__(self): raise ValueError('no repr')\nA()",
		"class H:\n  def _repr_html_(self): raise KeyError('no html')\n  def __repr__(self): return 'H!'\nH()",
		"class M:\n  def _repr_mimebundle_(self, **kw): raise KeyError('no bundle')\n  def __repr__(self): return 'M!'\nM()",
		"class N:\n  def _repr_html_(self): raise NotImplementedError\n  def __repr__(self): return 'N!'\nN()",
		"class E:\n  def _ipython_display_(self): raise OSError('no display')\n  def __repr__(self): return 'E!'\ndisplay(E())",
		"class X:\n  def __repr__(self): raise SystemExit(3)\nX()",
		"class I:\n  def __repr__(self): return 5\n[I()]",
		"display(A(), H()); print('after')", "print(1); 1/0"}},
	{name: "displays of unknown types", programs: []string{"display({'application/sql': 'select 1'}, raw=True)", "display({'application/sql': 'ZGF0YQ=='}, raw=True)", "display({'application/x-foo': '/wA='}, raw=True)",
		"display({'application/x-foo': '/wA'}, raw=True)", "display({'application/x-foo': {'a': [1]}, 'application/sql': 'é'}, raw=True)", "display({'application/pdf; version=1': 'JVBERg=='}, raw=True)", "display({'application/x-foo': b'\\xff\\x00'}, raw=True)", "display({'application/json': 'no'}, raw=True)", "display({'application/json': 'NaN'}, raw=True)"}},
	{name: "errors", programs: []string{"raise ValueError('two\\nlines')", "\n\n1/0", "nosuch", "def f():\n  raise KeyError('k')\n\nf()",
		"raise BaseException('b')", "class E(Exception): pass\nraise E", "exec('1/0')"}},
	{name: "syntax", programs: []string{"1 + + )", "if True:\nx", "print('before')\nfoo bar", "return 1", "'abc", "  x = 1", "x = 1 $"}},
	{name: "modules", programs: []string{"import toolcell_no_such", "import toolcell_no_such.sub"}},
	{name: "exits", once: true, fresh: true, programs: []string{"exit(0)", "import sys; sys.exit(3)", "raise SystemExit('text')", "raise SystemExit(256)", "kept = 1", "print('kept' in globals())"}},
	{name: "await", programs: []string{"import asyncio\nawait asyncio.sleep(0, 'v')", "async def f(): raise ValueError('in a task')\nawait f()", "import asyncio\nasyncio.run(asyncio.sleep(0, 5))"}},
	{name: "line ends", programs: []string{"\ufeffprint('bom')", "x = 1\r\nprint(x)\r\n1/0"}},
	{name: "no input", once: true, programs: []string{"input()", "input('Name? ')", "import sys; sys.stdin.read()"}},
	{name: "loops", full: true, programs: []string{agreedMain + "loop = asyncio.new_event_loop(); print(loop.run_until_complete(main())); loop.close()",
		agreedMain + "loop = asyncio.new_event_loop(); asyncio.set_event_loop(loop); print(loop.run_until_complete(main()), asyncio.run(main()))",
		agreedMain + "loop = asyncio.new_event_loop(); loop.call_later(0.01, loop.stop); loop.run_forever(); print(loop.is_running())",
		agreedMain + "with asyncio.Runner() as r: print(r.run(main()))"}},
	{name: "input", once: true, programs: []string{"print(repr(input()))", "import sys; print(repr(sys.stdin.read()))", "print(input('> ') + input())"}, opts: codeinterp.RunOptions{Stdin: []byte("one\ntwo")}},
	{name: "environment", once: true, fresh: true, programs: []string{"import os; print(os.environ['A']); os.environ['A'] = 'changed'", "import os; print(os.environ['A'])"}, opts: codeinterp.RunOptions{Env: map[string]string{"A": "b é"}}},
	{name: "files", once: true, programs: []string{"print(open('in/a').read()); _ = open('out.csv', 'w').write('1,2')", "import os; os.remove('in/a')", "1/0"},
		opts: codeinterp.RunOptions{Artifacts: true, Files: fstest.MapFS{"in/a": {Data: []byte("given"), Mode: 0o644}}}},
	{name: "functions", programs: []string{"tools.echo(a=1, b='é', c=[None, 1.5])", "tools.fails()", "tools.secret()", "tools.panics()", "tools.nosuch()", "tools.echo(x=object())",
		"await tools.aio.echo(a=1)", "try:\n  tools.fails()\nexcept ToolError as e: print(e.name, e.message)"}, opts: codeinterp.RunOptions{Functions: agreedFunctions()}},
	{name: "functions at the end", fresh: true, programs: []string{"import asyncio\nt = asyncio.ensure_future(tools.aio.waits())\nawait asyncio.sleep(0.1)\nraise ValueError('no')",
		"v = []\nfor i in range(20000): v = [v]\ntools.echo(v=v)"}, opts: codeinterp.RunOptions{Functions: agreedFunctions()}},
	{name: "truncation", programs: []string{"print('x' * 5000)", "'x' * 5000"}, opts: codeinterp.RunOptions{MaxOutput: 1000}},
	{name: "state after a timeout", programs: []string{"kept = 1", "print('x')\nwhile True: pass", "kept"}, opts: codeinterp.RunOptions{Timeout: time.Second}},
	{name: "cancellation", once: true, fresh: true, programs: []string{"print('x', flush=True)\nimport time; time.sleep(3600)"}, canceled: true},
	{name: "interrupt", fresh: true, programs: []string{"print('x', flush=True)\nimport time\ndef f():\n  time.sleep(3600)\nf()"}, interrupted: true},
	{name: "restart", fresh: true, programs: []string{"print('x', flush=True)\nimport time; time.sleep(3600)"}, restarted: true},
	{name: "deletion", fresh: true, programs: []string{"print('x', flush=True)\nimport time; time.sleep(3600)"}, deleted: true},
}
