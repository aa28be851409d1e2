package callstest

import "github.com/toolcell/toolcell/codeinterp"

// A Program calls Functions.
type Program struct {
	Name, Code string
	Stdout     string
	Error      string // the name of its error, "" without one
}

// Ended reports whether a run of the program ended as it should.
func (p *Program) Ended(res codeinterp.Result) bool {
	name := ""
	if res.Error != nil {
		name = res.Error.Name
	}
	return res.Stdout() == p.Stdout && name == p.Error
}

// Python returns the programs in Python.
func Python() []Program {
	return []Program{
		{"sequential", "a = tools.add(a=1, b=2)\nprint(tools.add(a=a, b=a))", "6\n", ""},
		{"gather", "import asyncio\nprint(sum(await asyncio.gather(*(tools.aio.add(a=i, b=1) for i in range(300)))))", "45150\n", ""},
		{"own loop", "import asyncio\nasync def f(): return await asyncio.gather(*(tools.aio.echo(v=i) for i in range(3)))\nprint(asyncio.run(f()))", "[0, 1, 2]\n", ""},
		{"threads", "from concurrent.futures import ThreadPoolExecutor\nwith ThreadPoolExecutor(8) as p: r = list(p.map(lambda i: tools.echo(v=i), range(400)))\nprint(r == list(range(400)))", "True\n", ""},
		{"loops in threads", loopsInThreads, "[True, True, True, True]\n", ""},
		{"caught", "try: await tools.aio.fail()\nexcept ToolError as e: print(e.name, e.message)", "fail no such café\n", ""},
		{"uncaught", "print(1)\ntools.fail()", "1\n", "ToolError"},
		{"secret", "try: tools.secret()\nexcept ToolError as e: print('secret' in e.message)", "False\n", ""},
		{"panic", "try: tools.panics()\nexcept ToolError as e: print('secret' in e.message)", "False\n", ""},
		{"loop", "n = 0\nfor i in range(1000): n = tools.add(a=n, b=i)\nprint(n)", "499500\n", ""},
		{"nested data", "v = {'a': [1, 2.5, {'b': None, 'c': True}], 'd': {}}\nprint(tools.echo(v=v) == v)", "True\n", ""},
		{"unicode", `v = 'é漢\U0001f600\x00"\\<'` + "\nprint(tools.echo(v=v) == v)", "True\n", ""},
		{"nothing", "print(tools.nothing())", "None\n", ""},
		{"large argument", "print(len(tools.echo(v=list(range(200_000)))))", "200000\n", ""},
		{"large string", "print(tools.size(s='x' * 10_000_000))", "10000000\n", ""},
		{"large result", "print(len(tools.repeat(s='é', n=5_000_000)))", "5000000\n", ""},
		{"large both", "import asyncio\nprint([len(v) for v in await asyncio.gather(*(tools.aio.echo(v='x' * 3_000_000) for _ in range(4)))])", "[3000000, 3000000, 3000000, 3000000]\n", ""},
		{"input", "tools.echo(v=1)\ntry: input()\nexcept EOFError: print('none')\nprint(tools.echo(v=2))", "none\n2\n", ""},
		{"not JSON", "tools.echo(v={1, 2})", "", "TypeError"},
		{"by position", "tools.echo(1)", "", "TypeError"},
		{"awaited", "r = tools.echo(v=1)\nawait r", "", "TypeError"},
		{"awaited at once", "import asyncio, sys\nif sys.version_info < (3, 11): raise TypeError('tools.aio.')\nawait asyncio.wait_for(tools.never(), 1)", "", "TypeError"},
		{"unknown", "tools.other()", "", "AttributeError"},
		{"imported", "import tools as t\nfrom tools import echo, aio\nprint(t is tools, echo(v=1), await aio.echo(v=2))", "True 1 2\n", ""},
		{"imported beside a module", besideModule, "5 True\n", ""},
		{"shadowed", "tools = [1]\ntools.append(2)\ndel tools\nprint(tools.echo(v=7))", "7\n", ""},
		{"forked", forked, "True 2\n", ""},
	}
}

const (
	loopsInThreads = `import asyncio, threading
out = []
async def f(k): out.append(await asyncio.gather(*(tools.aio.echo(v=k + i) for i in range(50))) == [k + i for i in range(50)])
ts = [threading.Thread(target=lambda k=k: asyncio.run(f(k))) for k in range(0, 400, 100)]
for t in ts: t.start()
[tools.echo(v=i) for i in range(100)]
for t in ts: t.join()
print(out)`

	besideModule = `import importlib, os, sys
open('tools.py', 'w').write('x = 5')
importlib.invalidate_caches()
functions = tools
import tools
print(tools.x, functions.echo(v=True))
os.remove('tools.py')
del tools, sys.modules['tools']`

	forked = `import os
r, w = os.pipe()
if os.fork() == 0:
    try: tools.echo(v=1)
    except ToolError as e: os.write(w, str(e).encode())
    os._exit(0)
os.wait()
print('forked process' in os.read(r, 1000).decode(), tools.echo(v=2))`
)

// Met are programs in Python that call Meet(100) a hundred times at once, and
// print True.
func Met() []string {
	return []string{
		"from concurrent.futures import ThreadPoolExecutor\nwith ThreadPoolExecutor(100) as p: r = list(p.map(lambda i: tools.meet(v=i), range(100)))\nprint(r == list(range(100)))",
		"import asyncio\nprint(await asyncio.gather(*(tools.aio.meet(v=i) for i in range(100))) == list(range(100)))",
	}
}
