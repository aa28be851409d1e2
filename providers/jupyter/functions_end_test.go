//go:build linux

package jupyter_test

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/internal/callstest"
	"github.com/toolcell/toolcell/providers/jupyter"
)

// TestFunctionStops: a timeout, the end of the caller's ctx and an interrupt end
// a wait for a call, and leave the state and the next run's calls alone.
func TestFunctionStops(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, s *server) {
		c := realSession(t, s, jupyter.Options{Grace: time.Minute})
		c.ok("kept = 1")
		for _, code := range []string{
			"tools.hang()",
			"await tools.aio.late()",
			"from concurrent.futures import ThreadPoolExecutor\nwith ThreadPoolExecutor(3) as p: list(p.map(lambda i: tools.hang(), range(3)))",
		} {
			for how, want := range map[string]codeinterp.Status{"timeout": codeinterp.StatusTimeout, "cancel": codeinterp.StatusCanceled, "interrupt": codeinterp.StatusError} {
				ctx, cancel := context.WithCancel(t.Context())
				begun := sync.OnceFunc(func() {
					switch how {
					case "cancel":
						time.AfterFunc(300*time.Millisecond, cancel)
					case "interrupt":
						time.AfterFunc(300*time.Millisecond, func() { _ = c.ci.InterruptContext(t.Context(), c.id) })
					}
				})
				o := &codeinterp.RunOptions{Functions: callstest.Functions(t), OnOutput: func(codeinterp.Output) error { begun(); return nil }}
				if how == "timeout" {
					o.Timeout = 300 * time.Millisecond
				}
				res, err := c.ci.RunInContext(ctx, c.id, "print('begun', flush=True)\n"+code, o)
				cancel()
				if res.Status != want || res.StateLost || err != nil && !errors.Is(err, context.Canceled) {
					t.Errorf("%s: %q: %+v, %v", how, code, res, err)
				}
				res, err = c.run("print(tools.echo(v=kept))", &codeinterp.RunOptions{Functions: callstest.Functions(t)})
				if err != nil || res.Stdout() != "1\n" || len(res.Calls) != 1 {
					t.Errorf("after %s: %q: %+v, %v", how, code, res, err)
				}
			}
		}
	})
}

// TestFunctionsAfterTheEnd: what a run left behind calls nothing, neither
// between the runs nor in the next one.
func TestFunctionsAfterTheEnd(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, s *server) {
		c := realSession(t, s, jupyter.Options{})
		o := &codeinterp.RunOptions{Functions: callstest.Functions(t)}
		res, err := c.run(`
import threading, asyncio
go, told = threading.Event(), []
def late(wait):
    if wait: go.wait()
    try: tools.hang()
    except ToolError as e: told.append(e.message)
threads = [threading.Thread(target=late, args=(w,), daemon=True) for w in (False, True)]
for t in threads: t.start()
async def task():
    try: await tools.aio.hang()
    except ToolError as e: told.append(e.message)
t = asyncio.create_task(task())
while len(get_ipython()._toolcell.pump.calls) < 2: await asyncio.sleep(0.01)
print(len(told))`, o)
		if err != nil || res.Stdout() != "0\n" || len(res.Calls) > 2 { // one may be on its way
			t.Fatalf("%+v, %+v, %v", res, res.Error, err)
		}
		res, err = c.run("go.set()\nfor t in threads: t.join()\nawait asyncio.sleep(0.01)\nprint(*told, sep='\\n')", o)
		const ended = "the run has ended\n"
		if err != nil || res.Stdout() != ended+ended+ended || len(res.Calls) != 0 {
			t.Fatalf("%+v, %v", res, err)
		}
	})
}

// TestFunctionsOverANewSocket: calls that wait while the connection is cut are
// answered, once, whatever was under way.
func TestFunctionsOverANewSocket(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, s *server) {
		p := newCutter(t, s.url)
		c := realSession(t, s, jupyter.Options{DialContext: p.dial})
		var served atomic.Int32
		f := callstest.Function("cuts", func(_ context.Context, a map[string]any) (any, error) {
			if served.Add(1)%20 == 0 {
				p.cut()
			}
			return a["v"], nil
		})
		slow := callstest.Function("slow", func(context.Context, map[string]any) (any, error) {
			p.cut()
			time.Sleep(time.Second)
			return "slept", nil
		})
		res, err := c.run(`
import asyncio
print([tools.cuts(v=i) for i in range(50)] == list(range(50)))
print(await asyncio.gather(*(tools.aio.cuts(v=i) for i in range(50))) == list(range(50)))
print(tools.slow())`, &codeinterp.RunOptions{Functions: []codeinterp.Function{f, slow}})
		if err != nil || !res.OK() || res.Stdout() != "True\nTrue\nslept\n" && len(res.Truncated) == 0 || served.Load() != 100 || len(res.Calls) != 101 {
			t.Errorf("%d calls, %+v, %v", served.Load(), res, err)
		}
	})
}

// TestForgedPrompts: what a program sends in place of the pump is a call like
// any other, or nothing.
func TestForgedPrompts(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, s *server) {
		c := realSession(t, s, jupyter.Options{})
		res, err := c.run(`
p = get_ipython()._toolcell.pump
def prompt(text):
    with p.lock: p.send(text)
for text in (p.nonce, p.nonce + "{", p.nonce + "[]", p.nonce + '{"n":-1}', p.nonce + '{"n":9,"calls":[[1]]}',
             p.nonce + '{"n":1,"calls":[' + ",".join('[%d,"echo",{}]' % i for i in range(9000)) + ']}', p.nonce + '{"n":1,"calls":7}'):
    prompt(text)
# One that is whole, of functions and with arguments that there are not:
with p.lock:
    p.count += 3
    base = p.count
got = []
class W:
    def give(self, answer): got.append(answer)
for i, call in enumerate(('"other",{}', '"echo",[1]', '"echo",{"v":7}')):
    with p.lock:
        p.calls[base + i] = W()
        text = p.prompt('[%d,%s]' % (base + i, call))
    prompt(text)
    p.ring()
import time
while len(got) < 3: time.sleep(0.01)
for g in sorted(got): print(*g)
print(tools.echo(v=8))
`, &codeinterp.RunOptions{Functions: callstest.Functions(t), Timeout: time.Minute})
		want := "False the arguments are not a JSON object\nFalse the run was given no function of this name\nTrue 7\n8\n"
		if err != nil || !res.OK() || res.Stdout() != want {
			t.Errorf("%+v, %+v, %v", res, res.Error, err)
		}
		res, err = c.run("print(get_ipython().kernel._input_request('whatever', None, {}))", &codeinterp.RunOptions{Functions: callstest.Functions(t), Timeout: 3 * time.Second})
		if err != nil || res.OK() {
			t.Errorf("%+v, %v", res, err)
		}
		if res, err = c.run("print(tools.echo(v=9))", &codeinterp.RunOptions{Functions: callstest.Functions(t)}); err != nil || res.Stdout() != "9\n" {
			t.Errorf("%+v, %v", res, err)
		}
	})
}
