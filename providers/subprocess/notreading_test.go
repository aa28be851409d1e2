//go:build real && unix

package subprocess_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/providers/subprocess"
)

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
						t.Errorf("%s: nobody ran it", summary(res))
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

// TestLanguageWithoutContexts: a language without a driver takes contexts from
// no other.
func TestLanguageWithoutContexts(t *testing.T) {
	awk := subprocess.Language{Name: "awk", Commands: []string{"awk", "mawk", "gawk"}, Args: []string{"-f", subprocess.FileArg}, Extension: ".awk", VersionArgs: []string{"BEGIN { print 1 }"}}
	ci := open(t, subprocess.Options{Languages: []subprocess.Language{awk, subprocess.Bash()}})
	if res := run(t, ci, "awk", `BEGIN { print 6 * 7 }`, nil); res.Stdout() != "42\n" {
		t.Error(summary(res))
	}
	if res := newNotebook(t, ci, "bash").run("echo in a context", nil); res.Stdout() != "in a context\n" {
		t.Error(summary(res))
	}
	if _, err := ci.CreateContext(t.Context(), "awk", nil); !errors.Is(err, codeinterp.ErrLanguage) {
		t.Errorf("a context of awk: %v", err)
	}
	for _, l := range ci.Describe().Languages {
		if l.Contexts != (l.Name == "bash") {
			t.Errorf("%s: contexts %v", l.Name, l.Contexts)
		}
	}
}

// TestCwdReplaced: a Cwd that was exchanged for a link leads nowhere, also when
// the context gets a new process.
func TestCwdReplaced(t *testing.T) {
	dir := t.TempDir()
	for d := dir; d != os.TempDir(); d = filepath.Dir(d) {
		if err := os.Chmod(d, 0o777); err != nil {
			t.Fatal(err)
		}
	}
	cwd, other := filepath.Join(dir, "cwd"), filepath.Join(dir, "other")
	for _, d := range []string{cwd, other} {
		if err := errors.Join(os.Mkdir(d, 0o777), os.Chmod(d, 0o777)); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(other, "secret"), []byte("HUSH"), 0o644); err != nil {
		t.Fatal(err)
	}
	eachMode(t, func(t *testing.T, o subprocess.Options) {
		ci := open(t, o)
		id, err := ci.CreateContext(t.Context(), "bash", &codeinterp.ContextOptions{Cwd: cwd})
		if err != nil {
			t.Fatal(err)
		}
		moved := cwd + ".moved"
		if err := errors.Join(os.Rename(cwd, moved), os.Symlink(other, cwd)); err != nil {
			t.Fatal(err)
		}
		defer func() {
			if err := errors.Join(os.Remove(cwd), os.Rename(moved, cwd)); err != nil {
				t.Fatal(err)
			}
		}()
		if err := ci.RestartContext(t.Context(), id); err != nil {
			t.Fatal(err)
		}
		res, err := ci.RunInContext(t.Context(), id, "cat secret; pwd", &codeinterp.RunOptions{Timeout: time.Minute})
		if !errors.Is(err, codeinterp.ErrInvalid) || strings.Contains(res.Stdout(), "HUSH") {
			t.Errorf("%s, %v", summary(res), err)
		}
	})
}
