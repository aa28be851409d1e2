//go:build linux && real

package jupyter_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/providers/jupyter"
)

// TestReal tries what the contract's clauses do not: adopting, detaching, the ways to
// end a kernel from outside, and a shown traceback.
func TestReal(t *testing.T) {
	s := start(t, "server7", true)
	t.Run("adopt", func(t *testing.T) { adopt(t, s) })
	t.Run("detach", func(t *testing.T) { detach(t, s) })
	t.Run("verdict", func(t *testing.T) { verdict(t, realSession(t, s, jupyter.Options{})) })
	t.Run("exits", func(t *testing.T) { exits(t, realSession(t, s, jupyter.Options{})) })
	t.Run("order", func(t *testing.T) { order(t, realSession(t, s, jupyter.Options{})) })
	t.Run("streams", func(t *testing.T) { streams(t, realSession(t, s, jupyter.Options{})) })
	t.Run("late", func(t *testing.T) { late(t, realSession(t, s, jupyter.Options{})) })
	if left := s.kernels(t); len(left) > 0 {
		t.Errorf("kernels left: %v", left)
	}
}

func adopt(t *testing.T, s *server) {
	owner := realSession(t, s, jupyter.Options{Tag: "owner"})
	defer owner.ci.Close()
	owner.ok("precious = 42")
	ci, err := open(t.Context(), s, jupyter.Options{Grace: time.Second})
	if err != nil {
		t.Fatal(err)
	}
	defer ci.Close()
	list, err := ci.Kernels(t.Context())
	if err != nil || len(list) != 1 {
		t.Fatalf("%+v, %v", list, err)
	}
	if _, err := ci.Adopt(t.Context(), list[0].ID[:3]); !errors.Is(err, codeinterp.ErrContext) {
		t.Errorf("by too little of its id: %v", err)
	}
	id, err := ci.Adopt(t.Context(), list[0].ID[:8])
	if err != nil {
		t.Fatal(err)
	}
	foreign := &session{t, ci, id}
	if res := foreign.ok("print(precious)\nmine = 1"); res.Stdout() != "42\n" || res.StateLost {
		t.Errorf("%+v", res)
	}
	// The owner's programs are not interrupted, and theirs is no time of ours.
	busy := make(chan error, 1)
	go func() {
		for range 8 {
			if res, err := owner.run("import time; time.sleep(0.4)", nil); err != nil || !res.OK() {
				busy <- errors.Join(err, errors.New(string(res.Status)))
				return
			}
		}
		busy <- nil
	}()
	for range 4 {
		if res, err := foreign.run("1", &codeinterp.RunOptions{Timeout: 300 * time.Millisecond}); err != nil || !res.OK() {
			t.Errorf("beside the owner: %+v, %v", res, err)
		}
	}
	if err := <-busy; err != nil {
		t.Errorf("the owner: %v", err)
	}
	res, err := foreign.run("import time; time.sleep(60)", &codeinterp.RunOptions{Timeout: time.Second})
	if err != nil || res.Status != codeinterp.StatusTimeout || res.StateLost {
		t.Errorf("timeout: %+v, %v", res, err)
	}
	if err := ci.RestartContext(t.Context(), id); !errors.Is(err, codeinterp.ErrInvalid) {
		t.Errorf("restart: %v", err)
	}
	if err := ci.Close(); err != nil {
		t.Error(err)
	}
	if res := owner.ok("print(precious, mine)"); res.Stdout() != "42 1\n" || res.StateLost {
		t.Errorf("the owner, afterwards: %+v", res)
	}
}

func detach(t *testing.T, s *server) {
	first := realSession(t, s, jupyter.Options{})
	first.ok("kept = 7")
	ref, err := first.ci.Detach(t.Context(), first.id)
	if err != nil {
		t.Fatal(err)
	}
	second, err := open(t.Context(), s, jupyter.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer second.Close()
	id, err := second.Adopt(t.Context(), ref)
	if err != nil {
		t.Fatal(err)
	}
	c := &session{t, second, id}
	if res := c.ok("kept"); res.Text() != "7" || res.StateLost {
		t.Errorf("%+v", res)
	}
}

// verdict protects row 16.
func verdict(t *testing.T, s *session) {
	defer s.ci.Close()
	res := s.ok("try:\n    1/0\nexcept ZeroDivisionError:\n    get_ipython().showtraceback()\nprint('on')\n7")
	if res.Error != nil || res.Stdout() != "on\n" || res.Text() != "7" || !strings.Contains(res.Stderr(), "ZeroDivisionError") {
		t.Errorf("%+v", res)
	}
}

// exits protects exit codes and state loss.
func exits(t *testing.T, s *session) {
	defer s.ci.Close()
	s.ok("x = 1")
	for code, want := range map[string]int{"import sys; sys.exit(3)": 3, "exit()": 0, "raise SystemExit('no')": 1, "quit(256 + 4)": 4} {
		if res, err := s.run(code, nil); err != nil || res.ExitCode != want || res.StateLost || res.Error != nil {
			t.Errorf("%s: %+v, %v", code, res, err)
		}
	}
	s.ok("x")
	res, err := s.run("import os; os._exit(3)", nil)
	if res.Status != codeinterp.StatusLost || !res.StateLost || res.ExitCode != codeinterp.ExitKilled {
		t.Errorf("%+v, %v", res, err)
	}
	if res := s.ok("'x' in globals()"); res.Text() != "False" || res.StateLost {
		t.Errorf("%+v", res)
	}
}

// order protects row 21: text of a thread of an earlier run keeps its place in the stream.
func order(t *testing.T, s *session) {
	defer s.ci.Close()
	s.ok("import sys, threading\ngo, done = threading.Event(), threading.Event()\ndef f(out):\n" +
		"  for i in range(3): go.wait(); go.clear(); print('late', i, file=out); done.set()")
	for _, name := range []string{"stdout", "stderr"} {
		s.ok("threading.Thread(target=f, args=[sys." + name + "]).start()")
		res := s.ok("for i in range(3): go.set(); done.wait(); done.clear(); print('own', i, file=sys." + name + ")")
		var text, late string
		for _, o := range res.Outputs {
			text += string(o.Data)
			if o.Late {
				late += string(o.Data)
			}
		}
		if text != "late 0\nown 0\nlate 1\nown 1\nlate 2\nown 2\n" || late != "late 0\nlate 1\nlate 2\n" {
			t.Errorf("%s: %q, late %q", name, text, late)
		}
	}
}

// streams protects row 8: a program that breaks its streams leaves a kernel that runs.
func streams(t *testing.T, s *session) {
	defer s.ci.Close()
	opts := &codeinterp.RunOptions{Timeout: 10 * time.Second}
	for _, code := range []string{
		"sys.stdout = None", "sys.stderr = None", "sys.stdout = sys.stderr = None; 1/0", "sys.stdout = None; 1",
		"sys.stdout.close()", "sys.stderr.close()", "sys.stdout = open('/dev/null', 'w'); sys.stdout.close()",
	} {
		res, err := s.run("import sys; "+code, opts)
		if err != nil || res.Status != codeinterp.StatusOK && res.Status != codeinterp.StatusError || res.StateLost {
			t.Errorf("%s: %+v, %v", code, res, err)
		}
		res, err = s.run("print('out'); print('err', file=sys.stderr); 7", opts)
		if err != nil || res.Stdout() != "out\n" || res.Stderr() != "err\n" || res.Text() != "7" || res.StateLost {
			t.Errorf("after %s: %+v, %v", code, res, err)
		}
	}
}

// late protects row 21: output of threads and tasks of an earlier run is late.
func late(t *testing.T, s *session) {
	defer s.ci.Close()
	s.ok("import threading, time, asyncio\nfrom concurrent.futures import ThreadPoolExecutor\npool = ThreadPoolExecutor(1)\n" +
		"threading.Thread(target=lambda: (time.sleep(1), print('thread'))).start()\n" +
		"async def f():\n  await asyncio.sleep(1); print('task')\nt = asyncio.create_task(f())\npool.submit(print, 'own').result()")
	res := s.ok("pool.submit(print, 'ours').result(); await asyncio.sleep(2)")
	var late string
	for _, o := range res.Outputs {
		if o.Late {
			late += string(o.Data)
		}
	}
	if res.Stdout() != "ours\n" || late != "thread\ntask\n" && late != "task\nthread\n" {
		t.Errorf("%q, late %q", res.Stdout(), late)
	}
}
