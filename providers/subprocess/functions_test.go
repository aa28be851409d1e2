//go:build real && unix

package subprocess_test

import (
	"testing"
	"time"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/internal/tier"
	"github.com/toolcell/toolcell/providers/subprocess"
)

// calling are programs that call functions, and their summaries, beside
// pythonCallers.
var calling = map[string][]struct{ name, code, want string }{
	"python": {
		{"await", "await tools.aio.add(a=1, b=2)", "ok value=3"},
		{"caught aio", "try: await tools.aio.fail()\nexcept ToolError as e: print(e)", "ok out=fail: no such café\n"},
		{"uncaught", "tools.fail()", "error error=ToolError: fail: no such café"},
		{"profiled", "import cProfile\nwith cProfile.Profile() as p: r = tools.echo(v=1)\nlen(p.getstats()) > 0 and r", "ok value=1"},
		{"unread", "import asyncio, time\nt = asyncio.create_task(tools.aio.repeat(s='x', n=10_000_000))\nawait asyncio.sleep(0)\ntime.sleep(0.5)\nprint(len(tools.repeat(s='y', n=10_000_000)))\nlen(await t)", "ok out=10000000\n value=10000000"},
		{"display", "import threading\nt = threading.Thread(target=lambda: [tools.echo(v='z' * 100_000) for _ in range(50)])\nt.start()\nfor i in range(50): display(i)\nt.join()", "ok"},
		{"by position", "tools.echo(1)", "error error=TypeError: tools.echo takes its arguments by name"},
		{"awaited", "r = tools.echo(v=1)\nawait r", "error error=TypeError: object int can't be used in 'await' expression (tools.name(...) returns the result itself; to await it, write await tools.aio.name(...))"},
		{"gathered", "import asyncio\nr = tools.echo(v=1)\nawait asyncio.gather(r)", "error error=TypeError: An asyncio.Future, a coroutine or an awaitable is required (tools.name(...) returns the result itself; to await it, write await tools.aio.name(...))"},
		{"awaited at once", earlyAwait("await tools.never()"), earlyAwaited},
		{"timed at once", earlyAwait("await asyncio.wait_for(tools.never(), 1)"), earlyAwaited},
		{"gathered at once", earlyAwait("await asyncio.gather(tools.never())"), earlyAwaited},
		{"await of another", "import asyncio\nasync def f(x): return x\nawait f(tools.echo(v=1)) + await asyncio.wait_for(f(tools.echo(v=2)), 60)", "ok value=3"},
		{"namespace", "tools.shop.orders()", "error error=AttributeError: there is no function shop; there is: add, echo, fail, hang, late, never, nothing, panics, repeat, secret, size"},
		{"unknown", "tools.other()", "error error=AttributeError: there is no function other; there is: add, echo, fail, hang, late, never, nothing, panics, repeat, secret, size"},
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
		{"unicode", `const v = 'é漢\u{1f600}\0"\\'; (await tools.echo({ v })) === v`, "ok value=true"},
		{"nothing", "console.log(await tools.nothing())", "ok out=null\n"},
		{"large result", "(await tools.repeat({ s: 'é', n: 5_000_000 })).length", "ok value=5000000"},
		{"unread", "const t = tools.repeat({ s: 'x', n: 10_000_000 }); const u = tools.repeat({ s: 'y', n: 10_000_000 }); for (const end = Date.now() + 500; Date.now() < end;); for (let i = 0; i < 20; i++) display(i); (await t).length + (await u).length", "ok value=20000000"},
		{"not JSON", "await tools.echo({ v: 1n })", "error error=TypeError: Do not know how to serialize a BigInt"},
		{"no object", "try { await tools.echo([1]) } catch (e) { console.log(e.name) }", "ok out=ToolError\n"},
		{"unknown", "await tools.other()", "error error=TypeError: tools.other is not a function; there is: add, echo, fail, hang, late, never, nothing, panics, repeat, secret, size"},
		{"keys", "Object.keys(tools).length", "ok value=11"},
		{"shadowed", "{ const tools = [1]; tools.push(2) }; await tools.echo({ v: 7 })", "ok value=7"},
	},
}

// earlyAwait is a program that awaits a function's result, where Python knows that it
// is about to.
func earlyAwait(statement string) string {
	return "import asyncio, sys\nif sys.version_info < (3, 11): raise TypeError('tools.never(...) returns the result itself; to await it, write await tools.aio.never(...)')\n" + statement
}

const earlyAwaited = "error error=TypeError: tools.never(...) returns the result itself; to await it, write await tools.aio.never(...)"

// TestFunctionsTogether has programs make a hundred calls that wait for each other.
func TestFunctionsTogether(t *testing.T) {
	ci := open(t, subprocess.Options{})
	programs := map[string][]string{
		"python":     meeting(),
		"javascript": {"const r = await Promise.all([...Array(100).keys()].map((v) => tools.meet({ v }))); console.log(r.every((v, i) => v === i) ? 'True' : 'False');"},
	}
	for language, list := range programs {
		for _, code := range list {
			o := &codeinterp.RunOptions{Timeout: 2 * time.Minute, Functions: []codeinterp.Function{meet(100)}}
			if s := summary(run(t, ci, language, code, o)); s != "ok out=True\n" {
				t.Errorf("%s: %.500s", code, s)
			}
		}
	}
}

// TestFunctions runs the programs of the tables in a context of each language,
// and in fresh processes and warm ones by turns.
func TestFunctions(t *testing.T) {
	fresh, warm := open(t, subprocess.Options{}), open(t, subprocess.Options{Warm: &subprocess.Warm{}})
	programs := 0
	try := func(n *notebook, language, name, code string, right func(codeinterp.Result) bool) {
		programs++
		t.Run(language+" "+name, func(t *testing.T) {
			o := &codeinterp.RunOptions{Timeout: 2 * time.Minute, Functions: hostFunctions(t)}
			check := func(res codeinterp.Result) {
				t.Helper()
				if !right(res) {
					t.Errorf("got %.500q\n%+v\n%s", summary(res), res.Error, res.Stderr())
				}
			}
			check(n.run(code, o))
			if tier.Full {
				check(run(t, []*subprocess.Stateful{fresh, warm}[programs%2], language, code, o))
			}
		})
	}
	for language, list := range calling {
		n := newNotebook(t, fresh, language)
		for _, p := range list {
			try(n, language, p.name, p.code, func(res codeinterp.Result) bool { return summary(res) == p.want })
		}
		if language == "python" && tier.Full { // conformance has others
			for _, p := range pythonCallers() {
				try(n, language, p.name, p.code, p.ended)
			}
		}
	}
}
