//go:build linux && real

package jupyter_test

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/internal/filestest"
	"github.com/toolcell/toolcell/providers/jupyter"
)

// adopt protects row 14, in a kernel that another client has left to its owner.
func adopt(t *testing.T, s *server) {
	first := realSession(t, s, jupyter.Options{})
	first.ok("precious = 42")
	ref, err := attaches(first.ci).Detach(t.Context(), first.id)
	if err != nil {
		t.Fatal(err)
	}
	owner := &session{t: t, ci: connected(t, s)}
	if owner.id, err = attaches(owner.ci).Attach(t.Context(), ref); err != nil {
		t.Fatal(err)
	}
	ci := connected(t, s)
	var kernel struct{ Kernel string }
	if err := json.Unmarshal([]byte(ref), &kernel); err != nil {
		t.Fatal(err)
	}
	id, err := ci.Adopt(t.Context(), kernel.Kernel)
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
		for range 3 {
			if res, err := owner.run("import time; time.sleep(1.5)", nil); err != nil || !res.OK() {
				busy <- errors.Join(err, errors.New(string(res.Status)))
				return
			}
		}
		busy <- nil
	}()
	for range 2 {
		if res, err := foreign.run("1", &codeinterp.RunOptions{Timeout: time.Second}); err != nil || !res.OK() {
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

// connected returns a client, which is closed with the test.
func connected(t *testing.T, s *server) *jupyter.Stateful {
	t.Helper()
	ci, err := open(t.Context(), s, jupyter.Options{Grace: time.Second})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = ci.Close() })
	return ci
}

// exits protects exit codes and state loss.
func exits(t *testing.T, on *server) {
	s := realSession(t, on, jupyter.Options{})
	s.ok("x = 1")
	for code, want := range map[string]int{"import sys; sys.exit(3)": 3, "exit()": 0, "raise SystemExit('no')": 1, "quit(256 + 4)": 4} {
		res, err := s.run(code, nil)
		if err != nil || res.ExitCode != want || res.StateLost || res.Error != nil || strings.Contains(res.Stderr(), "Warning") {
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

// streams protects row 8: a program that breaks its streams leaves a kernel that runs.
func streams(t *testing.T, on *server) {
	s := realSession(t, on, jupyter.Options{})
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

// late protects rows 16 and 21: a traceback that is shown and survived is output, and output of threads and tasks of an earlier run is late.
func late(t *testing.T, on *server) {
	s := realSession(t, on, jupyter.Options{})
	res := s.ok("try:\n    1/0\nexcept ZeroDivisionError:\n    get_ipython().showtraceback()\nprint('on')\n7")
	if res.Error != nil || res.Stdout() != "on\n" || res.Text() != "7" || !strings.Contains(res.Stderr(), "ZeroDivisionError") {
		t.Errorf("%+v", res)
	}
	s.ok("import threading, time, asyncio\nfrom concurrent.futures import ThreadPoolExecutor\npool = ThreadPoolExecutor(1)\n" +
		"threading.Thread(target=lambda: (time.sleep(1), print('thread'))).start()\n" +
		"async def f():\n  await asyncio.sleep(1); print('task')\nt = asyncio.create_task(f())\npool.submit(print, 'own').result()")
	res = s.ok("pool.submit(print, 'ours').result(); await asyncio.sleep(2)")
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

// files protects that a context's files are those of its programs, and lead nowhere else.
func files(t *testing.T, on *server) {
	s := realSession(t, on, jupyter.Options{})
	of, _ := codeinterp.Files(s.ci)
	dir, err := of.OpenFiles(t.Context(), s.id)
	if err != nil {
		t.Fatal(err)
	}
	filestest.Run(t, dir)
	s.ok("import os; os.symlink('dir/bytes', 'link'); os.symlink('/etc/passwd', 'out'); os.symlink('..', 'up')")
	if info, err := dir.Stat("link"); err != nil || info.Size() != 256 {
		t.Errorf("a link: %v, %v", info, err)
	}
	if info, err := dir.Lstat("out"); err != nil || info.Mode()&fs.ModeSymlink == 0 {
		t.Errorf("the link itself: %v, %v", info, err)
	}
	for _, name := range []string{"out", "up", "up/x"} {
		if _, err := dir.Stat(name); !errors.Is(err, codeinterp.ErrOutside) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if err := dir.RemoveAll("up"); err != nil {
		t.Error(err)
	}
}

// away protects row 8: a run whose server goes away is never ok, and its error says that
// the program may still be running. The context's next run ends what is left, and reports it
// once, in a late line. A call that is open when the connection is lost fails.
func away(t *testing.T, s *server) {
	way, cut := cuttable(t, s)
	c := realSession(t, way, jupyter.Options{})
	opts := &codeinterp.RunOptions{Functions: []codeinterp.Function{{Name: "f", Call: func(context.Context, codeinterp.FunctionCall) (json.RawMessage, error) {
		restore := cut()
		time.Sleep(100 * time.Millisecond)
		restore()
		return json.RawMessage("7"), nil
	}}}}
	res, err := c.run("try:\n    print(tools.f())\nexcept ToolError as e:\n    print(e)", opts)
	if out := res.Stdout(); err != nil || !res.OK() || out != "7\n" && !strings.Contains(out, "may have been made") {
		t.Errorf("a call: %q, %+v, %v", out, res, err)
	}
	var restore func()
	res, err = c.run("print('busy', flush=True)\nimport time\ntime.sleep(3600)", &codeinterp.RunOptions{
		Timeout: 2 * time.Second,
		OnOutput: func(codeinterp.Output) error {
			if restore == nil {
				restore = cut()
			}
			return nil
		},
	})
	if restore == nil {
		t.Fatal(res, err)
	}
	restore()
	if res.Status != codeinterp.StatusTimeout && (res.Status != codeinterp.StatusLost || res.Cause != codeinterp.CauseServer) {
		t.Errorf("status %q, cause %q", res.Status, res.Cause)
	}
	if !errors.Is(err, codeinterp.ErrUnavailable) || !strings.Contains(err.Error(), "may") {
		t.Errorf("error %v", err)
	}
	late := func(o codeinterp.Output) bool { return o.Late }
	for run, want := range []bool{true, false} {
		res := c.ok("print('next', end='')")
		if res.Stdout() != "next" || slices.ContainsFunc(res.Outputs, late) != want {
			t.Errorf("run %d after it: %v; late output: %v", run+1, res, want)
		}
	}
}
