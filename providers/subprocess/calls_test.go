//go:build real && unix

package subprocess_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/toolcell/toolcell/codeinterp"
)

// hostFunction makes a Function over decoded arguments.
func hostFunction(name string, f func(ctx context.Context, args map[string]any) (any, error)) codeinterp.Function {
	return codeinterp.Function{Name: name, Call: func(ctx context.Context, c codeinterp.FunctionCall) (json.RawMessage, error) {
		var args map[string]any
		if err := json.Unmarshal(c.Args, &args); err != nil {
			return nil, err
		}
		v, err := f(ctx, args)
		if err != nil {
			return nil, err
		}
		return json.Marshal(v)
	}}
}

// hostFunctions are what programs of tests call. One of them, never, returns after
// the test.
func hostFunctions(t testing.TB) []codeinterp.Function {
	end := make(chan struct{})
	t.Cleanup(func() { close(end) })
	return []codeinterp.Function{
		hostFunction("add", func(_ context.Context, a map[string]any) (any, error) {
			return a["a"].(float64) + a["b"].(float64), nil
		}),
		hostFunction("echo", func(_ context.Context, a map[string]any) (any, error) { return a["v"], nil }),
		hostFunction("nothing", func(context.Context, map[string]any) (any, error) { return nil, nil }),
		hostFunction("fail", func(context.Context, map[string]any) (any, error) {
			return nil, &codeinterp.FunctionError{Message: "no such café"}
		}),
		hostFunction("secret", func(context.Context, map[string]any) (any, error) { return nil, errors.New("/host/secret") }),
		hostFunction("panics", func(context.Context, map[string]any) (any, error) { panic("/host/secret") }),
		hostFunction("repeat", func(_ context.Context, a map[string]any) (any, error) {
			return strings.Repeat(a["s"].(string), int(a["n"].(float64))), nil
		}),
		hostFunction("size", func(_ context.Context, a map[string]any) (any, error) { return len(a["s"].(string)), nil }),
		hostFunction("hang", func(ctx context.Context, _ map[string]any) (any, error) {
			<-ctx.Done()
			return nil, ctx.Err()
		}),
		hostFunction("late", func(ctx context.Context, _ map[string]any) (any, error) {
			<-ctx.Done()
			time.Sleep(500 * time.Millisecond) // it ignores its ctx, for a while
			return nil, nil
		}),
		hostFunction("never", func(context.Context, map[string]any) (any, error) {
			<-end
			return nil, nil
		}),
	}
}

// meet makes a function that returns its argument v once n calls of it are in
// progress.
func meet(n int32) codeinterp.Function {
	var open atomic.Int32
	met := make(chan struct{})
	return hostFunction("meet", func(ctx context.Context, a map[string]any) (any, error) {
		if open.Add(1) == n {
			close(met)
		}
		select {
		case <-met:
			return a["v"], nil
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	})
}

// A caller is a program that calls hostFunctions.
type caller struct {
	name, code string
	stdout     string
	error      string // the name of its error, "" without one
}

// ended reports whether a run of the program ended as it should.
func (p *caller) ended(res codeinterp.Result) bool {
	name := ""
	if res.Error != nil {
		name = res.Error.Name
	}
	return res.Stdout() == p.stdout && name == p.error
}

// pythonCallers are those in Python.
func pythonCallers() []caller {
	return []caller{
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

// meeting are programs in Python that call meet(100) a hundred times at once, and
// print True.
func meeting() []string {
	return []string{
		"from concurrent.futures import ThreadPoolExecutor\nwith ThreadPoolExecutor(100) as p: r = list(p.map(lambda i: tools.meet(v=i), range(100)))\nprint(r == list(range(100)))",
		"import asyncio\nprint(await asyncio.gather(*(tools.aio.meet(v=i) for i in range(100))) == list(range(100)))",
	}
}
