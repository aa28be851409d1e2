//go:build real

package python_test

import (
	"context"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/providers/inmemory"
)

// TestClosedInput: a program that closes standard input, as open(0) does, does not take it
// from the runs that come.
func TestClosedInput(t *testing.T) {
	ci := newStateful(t)
	id := newContext(t, ci)
	for range 2 {
		res, err := ci.RunInContext(t.Context(), id, "print(open(0).read())", &codeinterp.RunOptions{Stdin: []byte("given")})
		if err != nil || res.Stdout() != "given\n" {
			t.Fatalf("%q, %v, %v", res.Stdout(), res.Error, err)
		}
	}
	if got := stdout(t, ci, id, "print(1)"); got != "1\n" {
		t.Error(got)
	}
}

// TestStoppedError: a run that was stopped reports where the program was.
func TestStoppedError(t *testing.T) {
	ci := newStateful(t)
	res, err := ci.RunInContext(t.Context(), newContext(t, ci), "x = 1\nwhile True: x += 1", &codeinterp.RunOptions{Timeout: time.Second})
	if err != nil || res.Status != codeinterp.StatusTimeout || res.Error == nil || res.Error.Name != "KeyboardInterrupt" || res.Error.Line != 2 {
		t.Errorf("%s, %+v, %v", res.Status, res.Error, err)
	}
}

// TestExitCode: a program that ends its interpreter by itself has its exit code.
func TestExitCode(t *testing.T) {
	ci, err := inmemory.New(options(t))
	if err != nil {
		t.Fatal(err)
	}
	defer ci.Close()
	if res, err := ci.RunCode(t.Context(), "python", "import os; os._exit(4)", nil); err != nil || res.ExitCode != 4 || res.Status != codeinterp.StatusError {
		t.Errorf("%+v, %v", res, err)
	}
}

// TestLockTwice: a lock that its own thread waits for ends the context, and says why.
func TestLockTwice(t *testing.T) {
	ci := newStateful(t)
	id := newContext(t, ci)
	res, err := ci.RunInContext(t.Context(), id, "import threading; l = threading.Lock(); l.acquire(); print(1); l.acquire()", nil)
	if err != nil || res.Status != codeinterp.StatusLost || !res.StateLost || res.Stdout() != "1\n" || res.Error == nil || !strings.Contains(res.Error.Message, "a lock") {
		t.Errorf("%+v, %v", res, err)
	}
	if res, err := ci.RunInContext(t.Context(), id, "'l' in globals()", nil); err != nil || res.Text() != "False" || res.ExecutionCount != 1 {
		t.Errorf("%+v, %v", res, err)
	}
}

// TestSleepEnds: a program that sleeps as its run ends does not go on as if its time had
// passed.
func TestSleepEnds(t *testing.T) {
	ci := newStateful(t)
	id := newContext(t, ci)
	for range 50 {
		ctx, cancel := context.WithCancel(t.Context())
		o := &codeinterp.RunOptions{OnOutput: func(codeinterp.Output) error { cancel(); return nil }}
		res, err := ci.RunInContext(ctx, id, "import time; went_on = False; print(1, flush=True); time.sleep(3600); went_on = True", o)
		if err == nil || res.Status != codeinterp.StatusCanceled {
			t.Fatalf("%s, %v", res.Status, err)
		}
		if got := stdout(t, ci, id, "print(went_on)"); got != "False\n" {
			t.Fatal("it went on")
		}
	}
}

// TestCompletionEnds: a program that has the interpreter call it in a completion holds up
// no other, and its end there costs its state, which the next run says.
func TestCompletionEnds(t *testing.T) {
	o := options(t)
	o.MaxRunning = 1
	ci, err := inmemory.NewStateful(o)
	if err != nil {
		t.Fatal(err)
	}
	defer ci.Close()
	c, ok := codeinterp.Completions(ci)
	if !ok {
		t.Fatal("there are no completions")
	}
	for _, does := range []string{
		"while True:\n    try: time.sleep(1)\n    except BaseException: pass",
		"while True: pass",
		"os._exit(3)",
	} {
		id := newContext(t, ci)
		stdout(t, ci, id, `
import decimal, os, sys, time
class D(dict):
  def __contains__(self, name):
    `+strings.ReplaceAll(does, "\n", "\n    ")+`
x = decimal.Decimal(1)
sys.modules = D(sys.modules)
`)
		start := time.Now()
		_, failed := c.Complete(t.Context(), id, "x.as", 4)
		if took := time.Since(start); took > 30*time.Second {
			t.Errorf("%s: took %v", does, took)
		}
		other := newContext(t, ci)
		if got := stdout(t, ci, other, "print(1)"); got != "1\n" {
			t.Errorf("%s: another context printed %q", does, got)
		}
		res, err := ci.RunInContext(t.Context(), id, "'x' in globals()", nil)
		if err != nil || res.StateLost != (failed != nil) || res.Text() != map[bool]string{true: "False", false: "True"}[res.StateLost] {
			t.Errorf("%s: %+v, %v after %v", does, res, err, failed)
		}
	}
	if n := ci.Abandoned(); n != 0 {
		t.Errorf("%d engines were abandoned", n)
	}
}

// TestForgedCalls: a program that begins calls by frames of its own takes no memory of the
// host by what it never reads.
func TestForgedCalls(t *testing.T) {
	ci := newStateful(t)
	for what, frame := range map[string]string{
		"large numbers": "b'k' * 4000000, b'none'",
		"large names":   "b'1', b'n' * 4000000",
		"many":          "b'1', b'none'",
	} {
		id := newContext(t, ci)
		before := allocated()
		res, err := ci.RunInContext(t.Context(), id, `
import _toolcell
body = b'S' + b''.join(b'%08x%b' % (len(f), f) for f in (`+frame+`, b'{}'))
body = b'%08x%b' % (len(body), body)
for _ in range(100 if len(body) > 1000 else 50000): _toolcell.request(body)
`, nil)
		if err != nil || (res.Status == codeinterp.StatusLost) != (what != "large names") {
			t.Errorf("%s: %v, %s, %v", what, err, res.Status, res.Error)
		}
		if grown := allocated() - before; grown > 100<<20 {
			t.Errorf("%s: the host has %d MiB more", what, grown>>20)
		}
		runtime.KeepAlive(res)
	}
}

// allocated is what the host keeps.
func allocated() int64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}
