//go:build linux

package jupyter_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/providers/jupyter"
)

// function makes a Function over decoded arguments.
func function(name string, f func(ctx context.Context, args map[string]any) (any, error)) codeinterp.Function {
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

// hostFunctions are what the programs of the table call.
func hostFunctions() []codeinterp.Function {
	return []codeinterp.Function{
		function("add", func(_ context.Context, a map[string]any) (any, error) {
			return a["a"].(float64) + a["b"].(float64), nil
		}),
		function("echo", func(_ context.Context, a map[string]any) (any, error) { return a["v"], nil }),
		function("fail", func(context.Context, map[string]any) (any, error) {
			return nil, &codeinterp.FunctionError{Message: "no such café"}
		}),
		function("secret", func(context.Context, map[string]any) (any, error) { return nil, errors.New("/host/secret") }),
		function("repeat", func(_ context.Context, a map[string]any) (any, error) {
			return strings.Repeat(a["s"].(string), int(a["n"].(float64))), nil
		}),
		function("hang", func(ctx context.Context, _ map[string]any) (any, error) {
			<-ctx.Done()
			return nil, ctx.Err()
		}),
		function("late", func(ctx context.Context, _ map[string]any) (any, error) {
			<-ctx.Done()
			time.Sleep(500 * time.Millisecond)
			return nil, nil
		}),
	}
}

// callingPrograms are programs that call functions, what they print, and the
// name of their error.
var callingPrograms = []struct{ name, code, want, failure string }{
	{"sequential", "a = tools.add(a=1, b=2)\nprint(tools.add(a=a, b=a))", "6\n", ""},
	{"gather", "import asyncio\nprint(sum(await asyncio.gather(*(tools.aio.add(a=i, b=1) for i in range(300)))))", "45150\n", ""},
	{"own loop", "import asyncio\nasync def f(): return await asyncio.gather(*(tools.aio.echo(v=i) for i in range(3)))\nprint(asyncio.run(f()))", "[0, 1, 2]\n", ""},
	{"threads", "from concurrent.futures import ThreadPoolExecutor\nwith ThreadPoolExecutor(8) as p: r = list(p.map(lambda i: tools.echo(v=i), range(400)))\nprint(r == list(range(400)))", "True\n", ""},
	{"loops in threads", "import asyncio, threading\nout = []\nasync def f(k): out.append(await asyncio.gather(*(tools.aio.echo(v=k + i) for i in range(50))) == [k + i for i in range(50)])\nts = [threading.Thread(target=lambda k=k: asyncio.run(f(k))) for k in range(0, 400, 100)]\nfor t in ts: t.start()\n[tools.echo(v=i) for i in range(100)]\nfor t in ts: t.join()\nprint(out)", "[True, True, True, True]\n", ""},
	{"caught", "try: await tools.aio.fail()\nexcept ToolError as e: print(e.name, e.message)", "fail no such café\n", ""},
	{"uncaught", "print(1)\ntools.fail()", "1\n", "ToolError"},
	{"secret", "try: tools.secret()\nexcept ToolError as e: print('secret' in e.message)", "False\n", ""},
	{"loop", "n = 0\nfor i in range(1000): n = tools.add(a=n, b=i)\nprint(n)", "499500\n", ""},
	{"nested data", "v = {'a': [1, 2.5, {'b': None, 'c': True}], 'd': {}}\nprint(tools.echo(v=v) == v)", "True\n", ""},
	{"unicode", `v = 'é漢\U0001f600\x00"\\<'` + "\nprint(tools.echo(v=v) == v)", "True\n", ""},
	{"large argument", "print(len(tools.echo(v=list(range(200_000)))))", "200000\n", ""},
	{"large result", "print(len(tools.repeat(s='é', n=5_000_000)))", "5000000\n", ""},
	{"large both", "import asyncio\nprint([len(v) for v in await asyncio.gather(*(tools.aio.echo(v='x' * 3_000_000) for _ in range(4)))])", "[3000000, 3000000, 3000000, 3000000]\n", ""},
	{"input", "tools.echo(v=1)\ntry: input('name? ')\nexcept EOFError: print('none')\nprint(tools.echo(v=2))", "none\n2\n", ""},
	{"in a cell of a cell", "get_ipython().run_cell('print(tools.echo(v=1))')\nprint(tools.echo(v=2))", "1\n2\n", ""},
	{"by position", "tools.echo(1)", "", "TypeError"},
	{"awaited", "await tools.echo(v=1)", "", "TypeError"},
	{"unknown", "tools.other()", "", "AttributeError"},
	{"forked", "import os\nr, w = os.pipe()\nif os.fork() == 0:\n    try: tools.echo(v=1)\n    except ToolError as e: os.write(w, str(e).encode())\n    os._exit(0)\nos.wait()\nprint('forked process' in os.read(r, 1000).decode(), tools.echo(v=2))", "True 2\n", ""},
}

// TestFunctionsTogether has programs make a hundred calls that wait for each other.
func TestFunctionsTogether(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, s *server) {
		c := realSession(t, s, jupyter.Options{})
		for _, code := range []string{
			"from concurrent.futures import ThreadPoolExecutor\nwith ThreadPoolExecutor(100) as p: r = list(p.map(lambda i: tools.meet(v=i), range(100)))\nprint(r == list(range(100)))",
			"import asyncio\nprint(await asyncio.gather(*(tools.aio.meet(v=i) for i in range(100))) == list(range(100)))",
		} {
			var open atomic.Int32
			met := make(chan struct{})
			meet := function("meet", func(ctx context.Context, a map[string]any) (any, error) {
				if open.Add(1) == 100 {
					close(met)
				}
				select {
				case <-met:
					return a["v"], nil
				case <-ctx.Done():
					return nil, ctx.Err()
				}
			})
			res, err := c.run(code, &codeinterp.RunOptions{Functions: []codeinterp.Function{meet}, Timeout: 2 * time.Minute})
			if err != nil || res.Stdout() != "True\n" {
				t.Errorf("%s: %+v, %v", code, res, err)
			}
		}
	})
}

// TestFunctions runs programs that call functions, and wants nothing of these to
// be there in the runs after it.
func TestFunctions(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, s *server) {
		c := realSession(t, s, jupyter.Options{})
		for _, p := range callingPrograms {
			res, err := c.run(p.code, &codeinterp.RunOptions{Functions: hostFunctions(), Timeout: 2 * time.Minute})
			failure := ""
			if res.Error != nil {
				failure = res.Error.Name
			}
			if p.name == "awaited" && res.Error != nil && !strings.Contains(res.Error.Message, "tools.aio.name") {
				t.Errorf("no hint: %+v", res.Error)
			}
			if err != nil || res.Stdout() != p.want || failure != p.failure {
				t.Errorf("%s: %.1000s, error %+v, %v", p.name, fmt.Sprintf("%+v", res), res.Error, err)
			}
		}
		if res, err := c.run("try: tools\nexcept NameError: print('none')", nil); err != nil || res.Stdout() != "none\n" {
			t.Errorf("%+v, %v", res, err)
		}
		res, err := c.run("print(input('name? '), tools.echo(v=3), input())", &codeinterp.RunOptions{Functions: hostFunctions(), Stdin: []byte("ada\nb\n")})
		if err != nil || res.Stdout() != "name? ada 3 b\n" {
			t.Errorf("%+v, %v", res, err)
		}
		res, err = c.ci.RunCode(t.Context(), "python", "import threading\nthreading.Thread(target=lambda: print(tools.echo(v=4))).start()", &codeinterp.RunOptions{Functions: hostFunctions()})
		if err != nil || res.Stdout() != "4\n" || len(res.Calls) != 1 {
			t.Errorf("%+v, %v", res, err)
		}
	})
}
