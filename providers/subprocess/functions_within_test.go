//go:build unix

package subprocess_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/internal/aparttest"
	"github.com/toolcell/toolcell/internal/callstest"
	"github.com/toolcell/toolcell/internal/race"
	"github.com/toolcell/toolcell/providers/subprocess"
)

// withinCalls are programs that call while the same thread waits for another call, or
// is about to.
var withinCalls = []struct{ name, code, want string }{
	{"alarm in a wait", `
import signal
got = []
signal.signal(signal.SIGALRM, lambda *_: got.append(tools.echo(v=1)))
signal.setitimer(signal.ITIMER_REAL, 0.1)
got.append(tools.slow(v=2))
got`, "ok value=[1, 2]"},
	{"alarm in a wait beside a thread's", `
import signal, threading
got = []
t = threading.Thread(target=lambda: got.append(tools.slow(v=3)))
t.start()
def alarm(*_):
    got.append([tools.echo(v=i) for i in range(20)] == list(range(20)))
    signal.setitimer(signal.ITIMER_REAL, 0.05) # not before: on a busy machine handlers would nest without end
signal.signal(signal.SIGALRM, alarm)
signal.setitimer(signal.ITIMER_REAL, 0.1)
got.append(tools.slow(v=2))
signal.signal(signal.SIGALRM, signal.SIG_IGN)
t.join()
got[0], 2 in got, 3 in got, False in got`, "ok value=(True, True, True, False)"},
	{"alarm within an alarm", `
import signal
got = []
def first(*_):
    signal.setitimer(signal.ITIMER_REAL, 0.05)
    got.append(tools.slow(v=2))
signal.signal(signal.SIGUSR1, first)
signal.signal(signal.SIGALRM, lambda *_: got.append(tools.echo(v=1)))
import os, threading
threading.Timer(0.05, lambda: os.kill(os.getpid(), signal.SIGUSR1)).start()
got.append(tools.slow(v=3))
got`, "ok value=[1, 2, 3]"},
	{"many alarms", `
import signal
n = bad = 0
def alarm(*_):
    global n, bad
    n += 1
    if tools.echo(v='x' * 5000) != 'x' * 5000: bad += 1
    signal.setitimer(signal.ITIMER_REAL, 0.002) # not before: on a busy machine handlers would nest without end
signal.signal(signal.SIGALRM, alarm)
signal.setitimer(signal.ITIMER_REAL, 0.002)
i = 0
while n < 200 or i < 200:
    if tools.echo(v=[i, 'y' * 100_000])[0] != i: bad += 1
    if i % 10 == 0: display(i)
    i += 1
signal.setitimer(signal.ITIMER_REAL, 0)
print(bad)`, "ok out=0\n"},
	{"alarm that raises", `
import signal
def alarm(*_): raise TimeoutError('late')
signal.signal(signal.SIGALRM, alarm)
caught = 0
while caught < 100:
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.001 + caught * 0.00003)
        while True: tools.echo(v='z' * 50_000)
    except TimeoutError: caught += 1
tools.echo(v=caught)`, "ok value=100"},
	{"alarm that raises in a flush", `
import signal, sys, os
class Out:
    def __init__(self, own): self.own = own
    def write(self, s): return self.own.write(s)
    def flush(self):
        os.kill(os.getpid(), signal.SIGALRM)
        self.own.flush()
def alarm(*_): raise TimeoutError('late')
signal.signal(signal.SIGALRM, alarm)
own, sys.stdout = sys.stdout, Out(sys.stdout)
try:
    tools.echo(v=1)
    got = 'lost'
except TimeoutError: got = 'raised'
sys.stdout = own
got, tools.echo(v=2)`, "ok value=('raised', 2)"},
	{"handlers are the program's own", `
import signal
def f(*_): pass
old = signal.getsignal(signal.SIGALRM)
a = signal.signal(signal.SIGALRM, f)
b = signal.getsignal(signal.SIGALRM)
c = signal.signal(signal.SIGALRM, signal.SIG_IGN)
(a is old, a == signal.SIG_DFL, b is f, c is f, signal.getsignal(signal.SIGALRM))`, "ok value=(True, True, True, True, <Handlers.SIG_IGN: 1>)"},
	{"trace function", `
import sys
got = []
def trace(frame, event, arg):
    if frame.f_code.co_name == 'f' and event == 'call': got.append(tools.echo(v=len(got)))
    return trace
def f(): return tools.echo(v='f')
sys.settrace(trace)
f(); tools.echo(v=5); f()
sys.settrace(None)
got`, "ok value=[0, 1]"},
	{"trace function of everything", `
import sys
got = []
def trace(frame, event, arg):
    if len(got) < 50: got.append(tools.echo(v=len(got)))
    return trace
sys.settrace(trace)
x = tools.echo(v=5)
sys.settrace(None)
x, got == list(range(len(got))), len(got) > 0`, "ok value=(5, True, True)"},
	{"finalizers", `
import gc
told = set()
class Cycle:
    def __init__(self): self.me = self
    def __del__(self):
        try: told.add(tools.echo(v='gone'))
        except ToolError as e: told.add(e.message)
gc.set_threshold(3)
for i in range(500):
    Cycle()
    assert tools.echo(v=[[i], {'a': [i]}]) == [[i], {'a': [i]}]
gc.set_threshold(700)
'gone' in told, told - {'gone'} <= {'functions cannot be called here: another call of this thread is on its way'}`, "ok value=(True, True)"},
	{"weakref callback", `
import weakref
class V: pass
v, got = V(), []
r = weakref.ref(v, lambda _: got.append(tools.echo(v=1)))
del v
got`, "ok value=[1]"},
}

// TestFunctionsWithinCalls: what interrupts a wait for a call may call itself.
func TestFunctionsWithinCalls(t *testing.T) {
	if aparttest.Run(t) {
		return
	}
	ci := open(t, subprocess.Options{Languages: []subprocess.Language{subprocess.Python()}})
	list := append(callstest.Functions(t), callstest.Function("slow", func(ctx context.Context, a map[string]any) (any, error) {
		select {
		case <-time.After(500 * time.Millisecond):
			return a["v"], nil
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}))
	for i, c := range withinCalls {
		if !race.Takes(i, 3) {
			continue
		}
		t.Run(strings.ReplaceAll(c.name, " ", "_"), func(t *testing.T) {
			n := newNotebook(t, ci, "python")
			limits := codeinterp.FunctionLimits{Calls: -1}
			res := n.run(c.code, &codeinterp.RunOptions{Timeout: 10 * time.Minute, Functions: list, FunctionLimits: limits})
			if summary(res) != c.want {
				t.Errorf("%s", summary(res))
			}
			if res := n.run("tools.echo(v=7)", &codeinterp.RunOptions{Timeout: time.Minute, Functions: list}); summary(res) != "ok value=7" {
				t.Errorf("afterwards: %s", summary(res))
			}
		})
	}
}
