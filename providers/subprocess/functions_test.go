//go:build unix

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
	"github.com/toolcell/toolcell/providers/subprocess"
)

// A hostFunction is a function of the host over decoded arguments.
type hostFunction func(ctx context.Context, args map[string]any) (any, error)

// function makes a Function of f.
func function(name string, f hostFunction) codeinterp.Function {
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

// together makes a function that returns its argument v once n calls of it are in
// progress.
func together(n int32) codeinterp.Function {
	var open atomic.Int32
	met := make(chan struct{})
	return function("meet", func(ctx context.Context, a map[string]any) (any, error) {
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

// functions are what the programs of the table call. After the test never
// returns.
func functions(t testing.TB) []codeinterp.Function {
	end := make(chan struct{})
	t.Cleanup(func() { close(end) })
	return []codeinterp.Function{
		function("add", func(_ context.Context, a map[string]any) (any, error) {
			return a["a"].(float64) + a["b"].(float64), nil
		}),
		function("echo", func(_ context.Context, a map[string]any) (any, error) { return a["v"], nil }),
		function("nothing", func(context.Context, map[string]any) (any, error) { return nil, nil }),
		function("fail", func(context.Context, map[string]any) (any, error) {
			return nil, &codeinterp.FunctionError{Message: "no such café"}
		}),
		function("secret", func(context.Context, map[string]any) (any, error) { return nil, errors.New("/host/secret") }),
		function("panics", func(context.Context, map[string]any) (any, error) { panic("/host/secret") }),
		function("repeat", func(_ context.Context, a map[string]any) (any, error) {
			return strings.Repeat(a["s"].(string), int(a["n"].(float64))), nil
		}),
		function("size", func(_ context.Context, a map[string]any) (any, error) { return len(a["s"].(string)), nil }),
		function("hang", func(ctx context.Context, _ map[string]any) (any, error) {
			<-ctx.Done()
			return nil, ctx.Err()
		}),
		function("never", func(context.Context, map[string]any) (any, error) {
			<-end
			return nil, nil
		}),
	}
}

// calling are programs that call functions, and their summaries.
var calling = map[string][]struct{ name, code, want string }{
	"python": {
		{"sequential", "a = tools.add(a=1, b=2)\ntools.add(a=a, b=a)", "ok value=6"},
		{"await", "await tools.aio.add(a=1, b=2)", "ok value=3"},
		{"gather", "import asyncio\nsum(await asyncio.gather(*(tools.aio.add(a=i, b=1) for i in range(300))))", "ok value=45150"},
		{"own loop", "import asyncio\nasync def f(): return await asyncio.gather(*(tools.aio.echo(v=i) for i in range(3)))\nasyncio.run(f())", "ok value=[0, 1, 2]"},
		{"threads", "from concurrent.futures import ThreadPoolExecutor\nwith ThreadPoolExecutor(8) as p: r = list(p.map(lambda i: tools.echo(v=i), range(400)))\nr == list(range(400))", "ok value=True"},
		{"loops in threads", "import asyncio, threading\nout = []\nasync def f(k): out.append(await asyncio.gather(*(tools.aio.echo(v=k + i) for i in range(50))) == [k + i for i in range(50)])\nts = [threading.Thread(target=lambda k=k: asyncio.run(f(k))) for k in range(0, 400, 100)]\nfor t in ts: t.start()\n[tools.echo(v=i) for i in range(100)]\nfor t in ts: t.join()\nout", "ok value=[True, True, True, True]"},
		{"caught", "try: tools.fail()\nexcept ToolError as e: print(e.name, e.message)\n1", "ok out=fail no such café\n value=1"},
		{"caught aio", "try: await tools.aio.fail()\nexcept ToolError as e: print(e)", "ok out=fail: no such café\n"},
		{"uncaught", "tools.fail()", "error error=ToolError: fail: no such café"},
		{"secret", "try: tools.secret()\nexcept ToolError as e: print('secret' in e.message)", "ok out=False\n"},
		{"panic", "try: tools.panics()\nexcept ToolError as e: print('secret' in e.message)", "ok out=False\n"},
		{"loop", "n = 0\nfor i in range(1000): n = tools.add(a=n, b=i)\nn", "ok value=499500"},
		{"nested", "v = {'a': [1, 2.5, {'b': None, 'c': True}], 'd': {}}\ntools.echo(v=v) == v", "ok value=True"},
		{"unicode", `v = 'é漢\U0001f600\x00"\\'` + "\ntools.echo(v=v) == v", "ok value=True"},
		{"nothing", "print(tools.nothing())", "ok out=None\n"},
		{"profiled", "import cProfile\nwith cProfile.Profile() as p: r = tools.echo(v=1)\nlen(p.getstats()) > 0 and r", "ok value=1"},
		{"large result", "len(tools.repeat(s='é', n=5_000_000))", "ok value=5000000"},
		{"large argument", "tools.size(s='x' * 10_000_000)", "ok value=10000000"},
		{"large both", "import asyncio\n[len(v) for v in await asyncio.gather(*(tools.aio.echo(v='x' * 3_000_000) for _ in range(4)))]", "ok value=[3000000, 3000000, 3000000, 3000000]"},
		{"unread", "import asyncio, time\nt = asyncio.create_task(tools.aio.repeat(s='x', n=10_000_000))\nawait asyncio.sleep(0)\ntime.sleep(0.5)\nprint(len(tools.repeat(s='y', n=10_000_000)))\nlen(await t)", "ok out=10000000\n value=10000000"},
		{"display", "import threading\nt = threading.Thread(target=lambda: [tools.echo(v='z' * 100_000) for _ in range(50)])\nt.start()\nfor i in range(50): display(i)\nt.join()", "ok"},
		{"not JSON", "tools.echo(v={1, 2})", "error error=TypeError: Object of type set is not JSON serializable"},
		{"by position", "tools.echo(1)", "error error=TypeError: tools.echo takes its arguments by name"},
		{"awaited", "await tools.echo(v=1)", "error error=TypeError: object int can't be used in 'await' expression (tools.name(...) returns the result itself; to await it, write await tools.aio.name(...))"},
		{"gathered", "import asyncio\nawait asyncio.gather(tools.echo(v=1))", "error error=TypeError: An asyncio.Future, a coroutine or an awaitable is required (tools.name(...) returns the result itself; to await it, write await tools.aio.name(...))"},
		{"unknown", "tools.other()", "error error=AttributeError: there is no function other; there is: add, echo, fail, hang, never, nothing, panics, repeat, secret, size"},
		{"shadowed", "tools = [1]\ntools.append(2)\ndel tools\ntools.echo(v=7)", "ok value=7"},
		{"forked", "import os\nr, w = os.pipe()\nif os.fork() == 0:\n    try: tools.echo(v=1)\n    except ToolError as e: os.write(w, str(e).encode())\n    os._exit(0)\nos.wait()\nprint('forked process' in os.read(r, 1000).decode())\ntools.echo(v=2)", "ok out=True\n value=2"},
	},
	"typescript": {
		{"typed", "const v: number = await tools.add({ a: 1, b: 2 } as any); v", "ok value=3"},
	},
	"javascript": {
		{"sequential", "const a = await tools.add({ a: 1, b: 2 }); await tools.add({ a, b: a })", "ok value=6"},
		{"parallel", "(await Promise.all([...Array(300).keys()].map((i) => tools.add({ a: i, b: 1 })))).reduce((a, b) => a + b)", "ok value=45150"},
		{"promise", "tools.echo({ v: 5 })", "ok value=5"},
		{"not awaited", "tools.echo({ v: 5 }).then((v) => console.log(v)); 1", "ok out=5\n value=1"},
		{"caught", "try { await tools.fail() } catch (e) { console.log(e instanceof ToolError, e.name, e.message) }; 1", "ok out=true ToolError fail: no such café\n value=1"},
		{"uncaught", "await tools.fail()", "error error=ToolError: fail: no such café"},
		{"unhandled", "tools.fail(); await new Promise(() => setTimeout(() => {}, 100))", "error error=ToolError: fail: no such café"},
		{"secret", "try { await tools.secret() } catch (e) { console.log(/secret.*secret/.test(e.message)) }", "ok out=false\n"},
		{"panic", "try { await tools.panics() } catch (e) { console.log(e.message.includes('secret')) }", "ok out=false\n"},
		{"loop", "let n = 0; for (let i = 0; i < 1000; i++) n = await tools.add({ a: n, b: i }); n", "ok value=499500"},
		{"nested", "const v = { a: [1, 2.5, { b: null, c: true }], d: {} }; require('util').isDeepStrictEqual(await tools.echo({ v }), v)", "ok value=true"},
		{"unicode", `const v = 'é漢\u{1f600}\0"\\'; (await tools.echo({ v })) === v`, "ok value=true"},
		{"nothing", "console.log(await tools.nothing())", "ok out=null\n"},
		{"large result", "(await tools.repeat({ s: 'é', n: 5_000_000 })).length", "ok value=5000000"},
		{"large argument", "await tools.size({ s: 'x'.repeat(10_000_000) })", "ok value=10000000"},
		{"large both", "(await Promise.all([1, 2, 3, 4].map(() => tools.echo({ v: 'x'.repeat(3_000_000) })))).map((v) => v.length).join()", "ok value=3000000,3000000,3000000,3000000"},
		{"unread", "const t = tools.repeat({ s: 'x', n: 10_000_000 }); const u = tools.repeat({ s: 'y', n: 10_000_000 }); for (const end = Date.now() + 500; Date.now() < end;); for (let i = 0; i < 20; i++) display(i); (await t).length + (await u).length", "ok value=20000000"},
		{"not JSON", "await tools.echo({ v: 1n })", "error error=TypeError: Do not know how to serialize a BigInt"},
		{"no object", "try { await tools.echo([1]) } catch (e) { console.log(e.name) }", "ok out=ToolError\n"},
		{"unknown", "await tools.other()", "error error=TypeError: tools.other is not a function; there is: add, echo, fail, hang, never, nothing, panics, repeat, secret, size"},
		{"keys", "Object.keys(tools).length", "ok value=10"},
		{"shadowed", "{ const tools = [1]; tools.push(2) }; await tools.echo({ v: 7 })", "ok value=7"},
	},
}

// TestFunctionsTogether has programs make a hundred calls that wait for each other.
func TestFunctionsTogether(t *testing.T) {
	t.Parallel()
	ci := open(t, subprocess.Options{})
	for _, p := range []struct{ language, code string }{
		{"python", "from concurrent.futures import ThreadPoolExecutor\nwith ThreadPoolExecutor(100) as p: r = list(p.map(lambda i: tools.meet(v=i), range(100)))\nprint(r == list(range(100)))"},
		{"python", "import asyncio\nprint(await asyncio.gather(*(tools.aio.meet(v=i) for i in range(100))) == list(range(100)))"},
		{"javascript", "const r = await Promise.all([...Array(100).keys()].map((v) => tools.meet({ v }))); console.log(r.every((v, i) => v === i) ? 'True' : 'False');"},
	} {
		o := &codeinterp.RunOptions{Timeout: 2 * time.Minute, Functions: []codeinterp.Function{together(100)}}
		if s := summary(run(t, ci, p.language, p.code, o)); s != "ok out=True\n" {
			t.Errorf("%s: %.500s", p.code, s)
		}
	}
}

// TestFunctions runs the programs of the table in a context of each language,
// and in fresh processes and warm ones by turns.
func TestFunctions(t *testing.T) {
	fresh, warm := open(t, subprocess.Options{}), open(t, subprocess.Options{Warm: &subprocess.Warm{}})
	for language, programs := range calling {
		n := newNotebook(t, fresh, language)
		for i, p := range programs {
			t.Run(language+" "+p.name, func(t *testing.T) {
				o := &codeinterp.RunOptions{Timeout: 2 * time.Minute, Functions: functions(t)}
				check := func(res codeinterp.Result) {
					t.Helper()
					if s := summary(res); s != p.want {
						t.Errorf("got %.500q, want %.500q\n%+v\n%s", s, p.want, res.Error, res.Stderr())
					}
					if p.name == "loop" && len(res.Calls) != codeinterp.MaxCallRecords {
						t.Errorf("%d calls", len(res.Calls))
					}
				}
				check(n.run(p.code, o))
				if !strings.HasPrefix(p.name, "large") {
					check(run(t, []*subprocess.Stateful{fresh, warm}[i%2], language, p.code, o))
				}
			})
		}
	}
}
