//go:build real && full && unix

package subprocess_test

import (
	"errors"
	"fmt"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/providers/subprocess"
)

// TestBoundedErrors: an error's texts have bounds, of which their reader is
// reported, and whatever is raised does not cost the context.
func TestBoundedErrors(t *testing.T) {
	cut := regexp.MustCompile(`left out|more characters`) // by the driver, and by util.inspect
	for language, programs := range map[string][]string{
		"python": {
			"raise ValueError('x' * 10_000_000)", "raise ValueError('a\\n' * 4_000_000)", "raise type('N' * 3_000_000, (Exception,), {})()",
			"import importlib; importlib.import_module('m' * 10_000_000)",
		},
		"javascript": {
			"throw new Error('x'.repeat(10_000_000))", "throw new Error('a\\n'.repeat(4_000_000))", "throw 'x'.repeat(10_000_000)",
			"throw Object.assign(new Error('m'), { name: 'N'.repeat(3_000_000) })", "throw Object.assign(new Error('m'), { stack: 's'.repeat(10_000_000) })",
		},
	} {
		t.Run(language, func(t *testing.T) {
			n := newNotebook(t, open(t, subprocess.Options{}), language)
			n.run("var kept = 1", nil)
			if language == "python" {
				n.run("kept = 1", nil)
			}
			for _, code := range programs {
				res := n.run(code, nil)
				if res.Status != codeinterp.StatusError || res.StateLost || res.Error == nil {
					t.Fatalf("%.40s: %.200s", code, summary(res))
				}
				size := len(res.Error.Name) + len(res.Error.Message) + len(res.Error.MissingModule)
				for _, line := range res.Error.Traceback {
					size += len(line) + 16
				}
				if all := fmt.Sprint(*res.Error); size > 1<<20 || !cut.MatchString(all) && len(res.Truncated) == 0 {
					t.Errorf("%.40s: an error of %d bytes", code, size)
				}
			}
			if res := n.run("kept", nil); res.Text() != "1" || res.StateLost {
				t.Error(summary(res))
			}
		})
	}
}

// notReading are programs that end their run with a frame of their own, and then have the host
// answer shows without reading the answers, or read nothing at all. Those of Node
// cannot: they do not get at the number of their run.
var notReading = []struct{ language, code string }{
	{"python", `
import os
def frame(kind, *fields):
    body = kind + b''.join(b'%08x%s' % (len(f), f) for f in fields)
    return b'%08x' % len(body) + body
run = display.__globals__['state'].seq.encode()
os.write(3, frame(b'Z', run, b'ok', b'0', b'', b'', b'0', b'', b''))
show = frame(b'D', run, b'7', b'display', b'', b'', b'', b'text/plain', b'x')
while True: os.write(3, show)`},
	{"python", `
import os, time
body = b'Z' + b''.join(b'%08x%s' % (len(f), f) for f in (display.__globals__['state'].seq.encode(), b'ok', b'0', b'', b'', b'0', b'', b''))
os.write(3, b'%08x' % len(body) + body)
while True: time.sleep(1)`},
	{"bash", `
__toolcell_send Z "$__toolcell_run" ok 0 '' '' 0 '' ''
while :; do __toolcell_send D "$__toolcell_run" 7 display '' '' '' text/plain x; done`},
}

// TestDriverThatReadsNothing: a driver that reads nothing holds up no run, deletion or
// Close for longer than the run's own time and the grace.
func TestDriverThatReadsNothing(t *testing.T) {
	large := strings.Repeat("#", 4<<20)
	for _, d := range notReading {
		for name, next := range map[string]string{"small": "1", "large": large} {
			t.Run(d.language+" "+name, func(t *testing.T) {
				ci, err := subprocess.NewStateful(&subprocess.Options{Sandbox: subprocess.Sandbox{Mode: subprocess.Landlock}, Grace: 500 * time.Millisecond})
				if err != nil {
					t.Fatal(err)
				}
				id, err := ci.CreateContext(t.Context(), d.language, nil)
				if err != nil {
					t.Fatal(err)
				}
				n := &notebook{t, ci, id}
				n.run(d.code, &codeinterp.RunOptions{Timeout: time.Minute})
				within(t, "the next run", func() {
					res, err := ci.RunInContext(t.Context(), id, next, &codeinterp.RunOptions{Timeout: time.Second})
					if res.OK() && err == nil {
						t.Errorf("%s: it was not run", summary(res))
					}
				})
				within(t, "DeleteContext", func() { _ = ci.DeleteContext(t.Context(), id) })
				within(t, "Close", func() { _ = ci.Close() })
			})
		}
	}
}

// within fails the test where f does not return for a minute, which is far
// longer than anything here may take on a busy machine.
func within(t *testing.T, what string, f func()) {
	t.Helper()
	done := make(chan struct{})
	go func() {
		defer close(done)
		f()
	}()
	select {
	case <-done:
	case <-time.After(time.Minute):
		t.Fatalf("%s hangs", what)
	}
}

// TestPreloadEndless: New does not wait for ever for a module whose import does not end.
func TestPreloadEndless(t *testing.T) {
	t.Parallel()
	o, _ := preloading(t, inMode(subprocess.Bwrap), "import time; time.sleep(1e6)\n")
	if _, err := subprocess.New(&o); !errors.Is(err, codeinterp.ErrUnavailable) || !strings.Contains(err.Error(), "ahead: not done") {
		t.Error(err)
	}
}
