//go:build linux

package jupyter_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/providers/jupyter"
)

// awaitWarm waits until a server has n kernels that are ready.
func awaitWarm(t *testing.T, s *server, n int) {
	t.Helper()
	for range 3000 {
		dirs, err := filepath.Glob(filepath.Join(s.dir, "tmp", "toolcell-*"))
		if err != nil {
			t.Fatal(err)
		}
		if len(s.kernels(t)) >= n && len(dirs) >= n {
			time.Sleep(300 * time.Millisecond)
			return
		}
		time.Sleep(100 * time.Millisecond)
	}
	t.Fatalf("no %d warm kernels", n)
}

// TestWarmKernels wants runs and contexts on warm kernels to be as those on new
// ones.
func TestWarmKernels(t *testing.T) {
	t.Parallel()
	s := ownServer(t, "server6")
	// No run has a timeout, and one that does not end is to be told here.
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Minute)
	defer cancel()
	t.Log("the server listens")
	ci, err := open(ctx, s, jupyter.Options{Warm: map[string]int{"python": 1}})
	if err != nil {
		t.Fatal(err)
	}
	defer ci.Close()
	once := func(code string) string {
		t.Helper()
		awaitWarm(t, s, 1)
		t.Log("a kernel is warm")
		res, err := ci.RunCode(ctx, "python", code, nil)
		if err != nil || !res.OK() {
			t.Fatalf("%+v, %v", res, err)
		}
		return strings.TrimSpace(res.Stdout())
	}
	const where = "import os; print(os.getcwd(), os.listdir(), oct(os.stat('.').st_mode & 0o777))"
	first, second := once(where+"\nopen('x', 'w').close()"), once(where)
	if first == second || !strings.HasSuffix(first, " [] 0o700") || !strings.HasSuffix(second, " [] 0o700") {
		t.Errorf("directories: %q, %q", first, second)
	}
	growing := filepath.Join(s.dir, "growing")
	for name, code := range map[string]string{
		"thread": "import threading\nthreading.Thread(target=append, daemon=True).start()",
		"child":  "import subprocess, sys\nsubprocess.Popen(['sh', '-c', 'while :; do printf . >>\"$1\"; sleep 0.01; done', 'sh', path])",
		"task":   "import asyncio\nasync def go():\n  while True: append(1); await asyncio.sleep(0.01)\nasyncio.get_event_loop().create_task(go())",
	} {
		t.Logf("a program that leaves a %s", name)
		once(fmt.Sprintf("import time\npath = %q\ndef append(n=10**6):\n  for i in range(n):\n    open(path, 'a').write('.'); time.sleep(0.01)\n%s", growing, code))
		before, _ := os.ReadFile(growing)
		time.Sleep(200 * time.Millisecond)
		if after, _ := os.ReadFile(growing); len(after) != len(before) {
			t.Errorf("the %s runs on: %d bytes, then %d", name, len(before), len(after))
		}
	}
	for cwd, want := range map[string]string{".": s.dir, "tmp": filepath.Join(s.dir, "tmp"), s.dir: s.dir} {
		awaitWarm(t, s, 1)
		t.Logf("a context in %q", cwd)
		id, err := ci.CreateContext(ctx, "python", &codeinterp.ContextOptions{Cwd: cwd})
		if err != nil {
			t.Fatal(err)
		}
		for _, when := range []string{"warm", "restarted"} {
			res, err := ci.RunInContext(ctx, id, "import os; print(os.getcwd())", nil)
			if got := strings.TrimSpace(res.Stdout()); err != nil || got != want {
				t.Errorf("Cwd %q, %s: %q, %v; want %q", cwd, when, got, err, want)
			}
			if err := ci.RestartContext(ctx, id); err != nil {
				t.Fatal(err)
			}
		}
		if err := ci.DeleteContext(ctx, id); err != nil {
			t.Error(err)
		}
	}
	t.Log("close")
	if err := ci.Close(); err != nil {
		t.Error(err)
	}
	if left, _ := filepath.Glob(filepath.Join(s.dir, "tmp", "toolcell-*")); len(left) > 0 {
		t.Errorf("directories left: %v", left)
	}
}

// TestEnvIsRestoredAfterACancel gives a run up while the kernel is too busy to
// set its environment, which it does later.
func TestEnvIsRestoredAfterACancel(t *testing.T) {
	t.Parallel()
	c := realSession(t, sharedServer(t, "server6"), jupyter.Options{})
	begun, given := filepath.Join(t.TempDir(), "begun"), filepath.Join(t.TempDir(), "given")
	c.ok(fmt.Sprintf("import asyncio, os, time\ndef busy():\n  open(%q, 'w').close()\n  while not os.path.exists(%q): time.sleep(0.02)\n"+
		"_ = asyncio.get_event_loop().call_later(0.1, busy)", begun, given))
	awaitFile(t, begun)
	ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer cancel()
	res, err := c.ci.RunInContext(ctx, c.id, "1", &codeinterp.RunOptions{Env: map[string]string{"GIVEN_UP": "1"}})
	if !errors.Is(err, context.DeadlineExceeded) || res.Status != codeinterp.StatusNotRun {
		t.Fatalf("%+v, %v", res, err)
	}
	if err := os.WriteFile(given, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if got := c.ok("'GIVEN_UP' in os.environ").Text(); got != "False" {
		t.Errorf("the environment of a run that was given up is still there")
	}
}
