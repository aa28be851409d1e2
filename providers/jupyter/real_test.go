//go:build linux

package jupyter_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/internal/race"
	"github.com/toolcell/toolcell/providers/jupyter"
)

// TestKillKernel kills the kernel's process during a run.
func TestKillKernel(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, s *server) {
		c := realSession(t, s, jupyter.Options{})
		pid, err := strconv.Atoi(c.ok("import os; os.getpid()").Text())
		if err != nil {
			t.Fatal(err)
		}
		var killed time.Time
		res, err := c.run("print('partial', flush=True)\nimport time; time.sleep(60)", &codeinterp.RunOptions{
			OnOutput: func(codeinterp.Output) error {
				killed = time.Now()
				return syscall.Kill(pid, syscall.SIGKILL)
			}})
		if err != nil || res.Status != codeinterp.StatusLost || res.ExitCode != 137 || !res.StateLost || res.Stdout() != "partial\n" {
			t.Errorf("%+v, %v", res, err)
		}
		if took := time.Since(killed); took > time.Minute {
			t.Errorf("noticed after %v", took)
		}
		if res := c.ok("1"); res.StateLost {
			t.Error("StateLost twice")
		}
	})
}

// TestStopServer stops the server during a run: nothing of it can be reached,
// and the caller is told so on time.
func TestStopServer(t *testing.T) {
	t.Parallel()
	s := ownServer(t, "server6")
	c := realSession(t, s, jupyter.Options{Grace: time.Second})
	res, err := c.run("print('x', flush=True)\nimport time; time.sleep(4); print('y')", &codeinterp.RunOptions{
		OnOutput: func(o codeinterp.Output) error {
			if strings.Contains(string(o.Data), "x") {
				_ = s.cmd.Process.Signal(syscall.SIGSTOP)
				time.AfterFunc(3*time.Second, func() { _ = s.cmd.Process.Signal(syscall.SIGCONT) })
			}
			return nil
		}})
	if err != nil || !res.OK() || res.Stdout() != "x\ny\n" || len(res.Truncated) > 0 {
		t.Errorf("a server that stops for a while: %+v, %v", res, err)
	}
	// A busy machine may take longer than the timeout to print.
	var start time.Time
	stopped := false
	for timeout := 2 * time.Second; !stopped && timeout < time.Minute; timeout *= 2 {
		start = time.Now()
		res, err = c.run("print('x', flush=True)\nimport time; time.sleep(600)", &codeinterp.RunOptions{Timeout: timeout,
			OnOutput: func(codeinterp.Output) error {
				stopped = true
				return s.cmd.Process.Signal(syscall.SIGSTOP)
			}})
	}
	if !errors.Is(err, codeinterp.ErrUnavailable) || res.Status != codeinterp.StatusTimeout || !res.StateLost || res.Stdout() != "x\n" {
		t.Errorf("a server that stays stopped: %+v, %v", res, err)
	}
	if took := time.Since(start); took > 2*time.Minute {
		t.Errorf("took %v", took)
	}
	_ = s.cmd.Process.Signal(syscall.SIGCONT)
	if res := c.ok("1"); res.StateLost {
		t.Error("StateLost twice")
	}
	if err := c.ci.Close(); err != nil {
		t.Error(err)
	}
	if left := s.kernels(t); len(left) > 0 {
		t.Errorf("kernels left: %v", left)
	}
}

// TestContextDirectory wants a context's own directory to last as long as the
// context, and no longer.
func TestContextDirectory(t *testing.T) {
	t.Parallel()
	s := sharedServer(t, "server6")
	ci, err := open(t.Context(), s, jupyter.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer ci.Close()
	for _, end := range []func(codeinterp.ContextID) error{
		func(id codeinterp.ContextID) error { return ci.DeleteContext(t.Context(), id) },
		func(codeinterp.ContextID) error { return ci.Close() },
	} {
		id, err := ci.CreateContext(t.Context(), "python", nil)
		if err != nil {
			t.Fatal(err)
		}
		if err := ci.RestartContext(t.Context(), id); err != nil {
			t.Fatal(err)
		}
		res, err := ci.RunInContext(t.Context(), id, "import os; open('x', 'w').close(); print(os.getcwd())", nil)
		if err != nil || !res.OK() {
			t.Fatalf("%+v, %v", res, err)
		}
		dir := strings.TrimSpace(res.Stdout())
		if _, err := os.Stat(filepath.Join(dir, "x")); err != nil {
			t.Error(err)
		}
		if err := end(id); err != nil {
			t.Error(err)
		}
		if _, err := os.Stat(dir); !os.IsNotExist(err) {
			t.Errorf("%s is still there: %v", dir, err)
		}
	}
}

// TestRestartServer restarts the server during a run, with its kernels.
func TestRestartServer(t *testing.T) {
	t.Parallel()
	s := ownServer(t, "server6")
	c := realSession(t, s, jupyter.Options{})
	c.ok("x = 1")
	restarted := make(chan struct{})
	res, err := c.run("print('x', flush=True)\nimport time; time.sleep(600)", &codeinterp.RunOptions{
		OnOutput: func(codeinterp.Output) error {
			go func() {
				defer close(restarted)
				s.restart(t)
			}()
			return nil
		}})
	<-restarted
	// A server that ends may interrupt its kernels, and tell what came of that.
	interrupted := res.Status == codeinterp.StatusError && res.Error != nil && res.Error.Name == "KeyboardInterrupt"
	if err != nil || !(res.Status == codeinterp.StatusLost && res.StateLost || interrupted) || res.Stdout() != "x\n" {
		t.Errorf("%+v, %v", res, err)
	}
	if next := c.ok("'x' in globals()"); next.Text() != "False" || res.StateLost == next.StateLost {
		t.Errorf("after the restart: %+v", next)
	}
}

// TestCutSocket cuts the connection in the middle of a stream: what was lost
// on the way is told, and what the server kept is replayed.
func TestCutSocket(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, s *server) {
		p := newCutter(t, s.url)
		c := realSession(t, s, jupyter.Options{DialContext: p.dial})
		cuts := 0
		res, err := c.run("import time\nfor i in range(60):\n  print(i, flush=True); time.sleep(0.05)\n'end'", &codeinterp.RunOptions{
			OnOutput: func(o codeinterp.Output) error {
				if cuts++; cuts == 10 || cuts == 30 {
					p.cut()
				}
				return nil
			}})
		if err != nil || !res.OK() {
			t.Fatalf("%+v, %v", res, err)
		}
		// What a server no longer has when the socket is back is missing, and told.
		n := len(strings.Fields(res.Stdout()))
		if (n != 60 || res.Text() != "'end'") && len(res.Truncated) == 0 {
			t.Errorf("%d of 60 lines, value %q, truncated %+v", n, res.Text(), res.Truncated)
		}
		if res := c.ok("i"); res.StateLost || res.Text() != "59" {
			t.Errorf("after: %+v", res)
		}
	})
}

// TestRateLimit exhausts the server's limit, and goes around it.
func TestRateLimit(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, s *server) {
		const code = "for i in range(8): print('y' * 1_000_000, flush=True)\n'value'"
		// One message that is too large by itself is dropped at any speed.
		res := realSession(t, s, jupyter.Options{}).ok("print('y' * 8_000_000, flush=True)\n'value'")
		if reason(*res) != codeinterp.TruncatedByRate || strings.Contains(res.Stderr(), "IOPub") {
			t.Errorf("%d bytes, truncated %+v, stderr %q", len(res.Stdout()), res.Truncated, res.Stderr())
		}
		res = realSession(t, s, jupyter.Options{Spill: true}).ok(code)
		if len(res.Stdout()) != 8_000_008 || len(res.Truncated) > 0 || res.Text() != "'value'" {
			t.Errorf("spilled: %d bytes, truncated %+v, value %q", len(res.Stdout()), res.Truncated, res.Text())
		}
		// A kernel drops messages that a starved server does not take, which is told.
		many := race.Some(20_000, 6_000) // servers take 3,000 at once
		res = realSession(t, s, jupyter.Options{Spill: true}).ok(fmt.Sprintf("for i in range(%d): print(i, flush=True)", many))
		if n := len(strings.Fields(res.Stdout())); n != many && len(res.Truncated) == 0 {
			t.Errorf("many messages: %d lines, truncated %+v", n, res.Truncated)
		}
	})
}

// TestMagics runs what text put before the code would break.
func TestMagics(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, s *server) {
		c := realSession(t, s, jupyter.Options{})
		env := &codeinterp.RunOptions{Env: map[string]string{"A": "it's \"é\"\n"}}
		for code, want := range map[string]string{
			"%%capture x\nprint('hidden')":                        "",
			"from __future__ import annotations\nprint('future')": "future\n",
			"!printf '%s' \"$A\"":                                 "it's \"é\"\r\n",
			"%%bash\necho bash":                                   "bash\n",
			"import os; print('A' in os.environ)":                 "True\n",
			// what IPython tells of a cell that an interrupt ended between its steps
			"get_ipython().events.trigger('post_run_cell', None)": "",
		} {
			res, err := c.run(code, env)
			if err != nil || !res.OK() || res.Stdout() != want {
				t.Errorf("%q: %q, %+v, %v", code, res.Stdout(), res, err)
			}
		}
		res, err := c.run("\n\n1/0", env)
		if err != nil || res.Error == nil || res.Error.Line != 3 {
			t.Errorf("line: %+v, %v", res.Error, err)
		}
		if out := c.ok("sorted(n for n in dir() if 'tool' in n.lower()), 'A' in os.environ, len(In)").Text(); out != "([], False, 9)" {
			t.Errorf("traces in the namespace: %s", out)
		}
	})
}

// TestAttachReal moves a context to another client while its kernel works.
func TestAttachReal(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, s *server) {
		c := realSession(t, s, jupyter.Options{})
		detached, printed := filepath.Join(t.TempDir(), "detached"), filepath.Join(t.TempDir(), "printed")
		c.ok(fmt.Sprintf("import os, threading, time\nx = 42\ndef late():\n  while not os.path.exists(%q): time.sleep(0.05)\n  print('meanwhile', flush=True); open(%q, 'w').close()\nthreading.Thread(target=late).start()", detached, printed))
		ref, err := c.ci.Detach(t.Context(), c.id)
		if err != nil {
			t.Fatal(err)
		}
		s.awaitLeft(t, ref)
		if err := os.WriteFile(detached, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		awaitFile(t, printed)
		time.Sleep(300 * time.Millisecond) // for the output's way to the server
		other, err := open(t.Context(), s, jupyter.Options{})
		if err != nil {
			t.Fatal(err)
		}
		defer other.Close()
		id, err := other.Attach(t.Context(), ref)
		if err != nil {
			t.Fatal(err)
		}
		res, err := other.RunInContext(t.Context(), id, "x", nil)
		if err != nil || res.Text() != "42" || res.StateLost || len(res.Outputs) != 2 || !res.Outputs[0].Late {
			t.Errorf("%+v, %v", res, err)
		}
	})
}

// awaitLeft waits until the server has noticed that nobody is connected to the
// kernel of a reference: it keeps output from then on.
func (s *server) awaitLeft(t *testing.T, ref string) {
	t.Helper()
	var kernel struct{ Kernel string }
	if err := json.Unmarshal([]byte(ref), &kernel); err != nil {
		t.Fatal(err)
	}
	state := struct{ Connections int }{1}
	for end := time.Now().Add(2 * time.Minute); state.Connections > 0; time.Sleep(20 * time.Millisecond) {
		if s.get(t, "api/kernels/"+kernel.Kernel, &state); time.Now().After(end) {
			t.Fatal("the server does not notice that the client left")
		}
	}
}

// awaitFile waits until a program has made a file.
func awaitFile(t *testing.T, path string) {
	t.Helper()
	for end := time.Now().Add(2 * time.Minute); time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
		if _, err := os.Stat(path); err == nil {
			return
		}
	}
	t.Fatalf("there is no %s", path)
}

// A cutter dials through connections that can all be cut at once.
type cutter struct {
	addr string
	mu   sync.Mutex
	open []net.Conn
}

func newCutter(t *testing.T, url string) *cutter {
	host := strings.TrimPrefix(url, "http://")
	host, _, _ = strings.Cut(host, "/")
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	p := &cutter{addr: l.Addr().String()}
	go func() {
		for {
			in, err := l.Accept()
			if err != nil {
				return
			}
			out, err := net.Dial("tcp", host)
			if err != nil {
				in.Close()
				continue
			}
			p.mu.Lock()
			p.open = append(p.open, in, out)
			p.mu.Unlock()
			go func() { _, _ = io.Copy(in, out); in.Close() }()
			go func() { _, _ = io.Copy(out, in); out.Close() }()
		}
	}()
	return p
}

func (p *cutter) cut() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, c := range p.open {
		if tcp, ok := c.(*net.TCPConn); ok {
			_ = tcp.SetLinger(0)
		}
		c.Close()
	}
	p.open = nil
}

// restart ends the server and starts it again on its port.
func (s *server) restart(t *testing.T) {
	_ = s.cmd.Process.Signal(syscall.SIGTERM)
	<-s.wait
	env := s.cmd.Env
	s.cmd = exec.Command(s.cmd.Args[0], s.cmd.Args[1:]...)
	s.cmd.Env = env
	s.launch(t)
}

func (p *cutter) dial(ctx context.Context, network, _ string) (net.Conn, error) {
	return (&net.Dialer{}).DialContext(ctx, network, p.addr)
}
