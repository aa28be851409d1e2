//go:build real && unix

package subprocess_test

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/internal/tier"
	"github.com/toolcell/toolcell/providers/subprocess"
)

// waiting are programs that wait for calls when they are stopped, in the main
// thread and beside it.
var waiting = []struct{ language, code string }{
	{"python", "kept = 1\ntools.hang()"},
	{"python", "kept = 1\nawait tools.aio.hang()"},
	{"python", "kept = 1\nimport threading\nt = threading.Thread(target=tools.hang)\nt.start()\ntools.hang()"},
	{"python", "kept = 1\nfrom concurrent.futures import ThreadPoolExecutor\nwith ThreadPoolExecutor(3) as p: list(p.map(lambda i: tools.hang(), range(3)))"},
	{"python", "kept = 1\ntools.late()"},
	{"bash", "kept=1\ntool hang"},
	{"bash", "kept=1\nfor i in 1 2 3; do tool hang & done; x=$(tool late); echo on"},
	{"javascript", "var kept = 1; await tools.hang()"},
	{"javascript", "var kept = 1; await Promise.all([tools.hang(), tools.late()])"},
}

// TestFunctionStops: a timeout, the end of the caller's ctx and an interrupt end
// a wait for a call, and leave the state and the next run's calls alone.
func TestFunctionStops(t *testing.T) {
	t.Parallel()
	ci := open(t, subprocess.Options{Grace: time.Minute}) // which is no part of this: a busy machine may need long for an end
	for i, p := range waiting {
		if i > 0 && p.language == waiting[i-1].language && !tier.Full {
			continue
		}
		t.Run(p.language, func(t *testing.T) {
			stopsCall(t, ci, p.language, p.code)
		})
	}
}

// stopsCall stops a program twice while it waits for a call.
func stopsCall(t *testing.T, ci *subprocess.Stateful, language, code string) {
	n := newNotebook(t, ci, language)
	first := map[string]string{"python": "kept = 1", "bash": "kept=1", "javascript": "var kept = 1"}[language]
	if res := n.run(first, nil); !res.OK() { // a busy machine may not come that far below
		t.Fatal(summary(res))
	}
	list := hostFunctions(t)
	check := func(how string, status codeinterp.Status, res codeinterp.Result, err error) {
		t.Helper()
		if res.Status != status || res.StateLost || err != nil && !errors.Is(err, context.Canceled) {
			t.Errorf("%s: %q: %s, %v", how, code, summary(res), err)
		}
		if language == "bash" && res.Stderr() != "" {
			t.Errorf("%s: %q: stderr %q", how, code, res.Stderr())
		}
		await := map[string]string{"javascript": "await tools.echo({ v: kept })", "bash": `tool echo "{\"v\":$kept}"`}[language]
		if await == "" {
			await = "tools.echo(v=kept)"
		}
		want := map[string]string{"bash": "ok out=1\n"}[language]
		if want == "" {
			want = "ok value=1"
		}
		if res := n.run(await, &codeinterp.RunOptions{Timeout: time.Minute, Functions: list}); summary(res) != want {
			t.Errorf("after %s: %q: %s", how, code, summary(res))
		}
	}
	res, err := ci.RunInContext(t.Context(), n.id, code, &codeinterp.RunOptions{Timeout: time.Second, Functions: list})
	check("timeout", codeinterp.StatusTimeout, res, err)
	ctx, cancel := context.WithCancel(t.Context())
	res, err = ci.RunInContext(ctx, n.id, code, &codeinterp.RunOptions{Functions: noting(list, cancel)})
	check("cancel", codeinterp.StatusCanceled, res, err)
}

// noting returns functions that call begun first.
func noting(list []codeinterp.Function, begun func()) []codeinterp.Function {
	list = slices.Clone(list)
	for i, f := range list {
		list[i].Call = func(ctx context.Context, c codeinterp.FunctionCall) (json.RawMessage, error) {
			begun()
			return f.Call(ctx, c)
		}
	}
	return list
}

// TestFunctionsAfterTheEnd: what a run left behind calls nothing, neither
// between the runs nor in the next one, and costs others nothing.
func TestFunctionsAfterTheEnd(t *testing.T) {
	ci := open(t, subprocess.Options{})
	n := newNotebook(t, ci, "python")
	var hanging atomic.Int64
	o := &codeinterp.RunOptions{Timeout: time.Minute, Functions: append(noting(hostFunctions(t), func() { hanging.Add(1) }),
		hostFunction("hanging", func(context.Context, map[string]any) (any, error) { return hanging.Load(), nil }))}
	res := n.run(`
import threading, asyncio
go, refused = threading.Event(), []
def late(wait):
    if wait: go.wait()
    try: tools.hang()
    except ToolError as e: refused.append(e.message)
threads = [threading.Thread(target=late, args=(w,), daemon=True) for w in (False, True)]
for t in threads: t.start()
async def task():
    try: await tools.aio.hang()
    except ToolError as e: refused.append(e.message)
asking = asyncio.create_task(task())
while await tools.aio.hanging() < 2: await asyncio.sleep(0.01)
len(refused)`, o)
	if summary(res) != "ok value=0" || len(slices.DeleteFunc(res.Calls, func(c codeinterp.CallRecord) bool { return c.Name == "hanging" })) != 2 {
		t.Fatalf("%s, %d calls", summary(res), len(res.Calls))
	}
	res = n.run("go.set()\nfor t in threads: t.join()\nawait asking\nrefused", o)
	if summary(res) != "ok value=['the run has ended', 'the run has ended', 'the run has ended']" || len(res.Calls) != 0 {
		t.Fatalf("%s, %d calls", summary(res), len(res.Calls))
	}
	n = newNotebook(t, ci, "javascript")
	if res := n.run("var late = tools.hang; 1", o); summary(res) != "ok value=1" {
		t.Fatal(summary(res))
	}
	if res := n.run("typeof tools + typeof ToolError", nil); summary(res) != "ok value=undefinedundefined" {
		t.Fatal(summary(res))
	}
	if res := n.run("late({}).catch((e) => e.tool + e.name)", nil); summary(res) != "ok value=hangToolError" {
		t.Fatal(summary(res))
	}
}

// TestForgedCalls: a program that writes frames of its own reaches what it was
// given and nothing else, and its own run alone suffers.
func TestForgedCalls(t *testing.T) {
	ci := open(t, subprocess.Options{Languages: []subprocess.Language{subprocess.Python()}})
	forge := `
import os
def frame(kind, *fields):
    body = kind + b''.join(b'%08x%s' % (len(f), f) for f in fields)
    os.write(3, b'%08x' % len(body) + body)
`
	for _, c := range []struct{ code, want string }{
		{"frame(b'Q', b'1', b'999', b'add', b'{\"a\": 1, \"b\": 1}')\ntools.add(a=1, b=2)", "ok value=3"},
		{"frame(b'Q', b'1', b'2', b'echo', b'{\"v\": 5}')\ntools.add(a=1, b=2)", "ok value=3"},
		{"frame(b'Q', b'1', b'x', b'other', b'{}')\nframe(b'Q', b'1', b'y', b'add', b'no JSON')\ntools.add(a=1, b=2)", "ok value=3"},
		{"frame(b'Q', b'77', b'x', b'add', b'{}')\ntools.add(a=1, b=2)", "ok value=3"},
		{"frame(b'Q', b'1', b'x', b'add')\nimport time; time.sleep(60)", "lost"},
		{"frame(b'Q', b'1', b'x' * 65, b'add', b'{}')\nimport time; time.sleep(60)", "lost"},
		{"frame(b'V', b'1', b'ok', b'1')\nimport time; time.sleep(60)", "lost"},
		{"for i in range(9000): frame(b'Q', b'1', b'%d' % i, b'hang', b'{}')\nimport time; time.sleep(60)", "lost"},
	} {
		n := newNotebook(t, ci, "python")
		o := &codeinterp.RunOptions{Timeout: time.Minute, Functions: hostFunctions(t)}
		res := n.run(forge+c.code, o)
		if c.want == "lost" {
			if res.Status != codeinterp.StatusLost || res.Error == nil || res.Error.Name != "ProtocolError" {
				t.Errorf("%s: %s", c.code, summary(res))
			}
			continue
		}
		if summary(res) != c.want {
			t.Errorf("%s: %s", c.code, summary(res))
		}
	}
}
