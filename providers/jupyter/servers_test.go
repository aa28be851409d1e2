//go:build linux && real

package jupyter_test

import (
	"cmp"
	"context"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"net/url"
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
	"github.com/toolcell/toolcell/internal/jupytertest"
	"github.com/toolcell/toolcell/providers/jupyter"
)

const testToken = "test-token-5f3a"

// A server is a real Jupyter of one kind, started once for all tests.
type server struct {
	kind, url, token, dir string
	cmd, forker           *exec.Cmd
	log                   *jupytertest.Log
}

// A kind says how to start a server: its environment below .testenv/jupyter, and its
// command. With {port} in url, the server is started there.
type kind struct {
	env, url string
	args     func(dir string, port int) []string
	environ  []string
}

var kinds = map[string]kind{
	"server7": {env: "server7", url: "http://127.0.0.1:{port}/base/", args: jupyterServer},
}

func jupyterServer(dir string, port int) []string {
	return []string{"jupyter-server", "--allow-root", "--no-browser", "--ServerApp.ip=127.0.0.1",
		"--ServerApp.port=" + strconv.Itoa(port), "--ServerApp.port_retries=0", "--ServerApp.token=" + testToken,
		"--IdentityProvider.token=" + testToken, "--ServerApp.base_url=/base/", "--ServerApp.root_dir=" + dir,
		"--ZMQChannelsWebsocketConnection.iopub_data_rate_limit=1e12", "--ZMQChannelsWebsocketConnection.iopub_msg_rate_limit=1e9"}
}

// testenv is where internal/testenv/jupyter.sh installs.
func testenv(t testing.TB) string {
	dir, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for ; dir != filepath.Dir(dir); dir = filepath.Dir(dir) {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			break
		}
	}
	return filepath.Join(dir, ".testenv", "jupyter")
}

// start starts a server. Its Python kernels are forked from one process if forked is
// set. It ends with the test.
func start(t testing.TB, name string, forked bool) *server {
	t.Helper()
	k, port := kinds[name], jupytertest.FreePort(t)
	bin := filepath.Join(testenv(t), k.env, "bin")
	if _, err := os.Stat(bin); err != nil {
		t.Fatalf("no %s: run make testenv-full", name)
	}
	dir, err := os.MkdirTemp("", "toolcell-jupyter-")
	if err != nil {
		t.Fatal(err)
	}
	s := &server{kind: name, url: strings.ReplaceAll(k.url, "{port}", strconv.Itoa(port)), token: testToken, dir: dir, log: &jupytertest.Log{}}
	t.Cleanup(s.stop)
	if err := os.Mkdir(filepath.Join(dir, "tmp"), 0o700); err != nil {
		t.Fatal(err)
	}
	env := []string{"PATH=" + bin + ":" + os.Getenv("PATH"), "HOME=" + dir, "LANG=C.UTF-8", "NO_COLOR=1",
		"JUPYTER_CONFIG_DIR=" + jupytertest.Config(dir), "JUPYTER_DATA_DIR=" + filepath.Join(dir, "data"),
		"JUPYTER_RUNTIME_DIR=" + filepath.Join(dir, "runtime"), "IPYTHONDIR=" + filepath.Join(dir, "ipython"),
		"JUPYTER_PATH=" + jupytertest.Path(dir), "TMPDIR=" + filepath.Join(dir, "tmp")}
	if forked {
		s.forker = jupytertest.Forked(t, bin, dir, env)
	}
	args := k.args(dir, port)
	s.cmd = exec.Command(filepath.Join(bin, args[0]), args[1:]...)
	s.cmd.Dir, s.cmd.Env, s.cmd.Stdout, s.cmd.Stderr = dir, append(env, k.environ...), s.log, s.log
	s.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	s.cmd.WaitDelay = 10 * time.Second // kernels have its output too
	if err := s.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	s.await(t)
	return s
}

// await waits until the server listens.
func (s *server) await(t testing.TB) {
	t.Helper()
	u, err := url.Parse(s.url)
	if err != nil {
		t.Fatal(err)
	}
	for end := time.Now().Add(2 * time.Minute); time.Now().Before(end); time.Sleep(50 * time.Millisecond) {
		if conn, err := net.Dial("tcp", u.Host); err == nil {
			conn.Close()
			return
		}
	}
	t.Fatalf("the server does not listen\n%s", s.log)
}

func (s *server) stop() {
	if s.cmd != nil && s.cmd.Process != nil {
		_ = s.cmd.Process.Signal(syscall.SIGTERM)
		killer := time.AfterFunc(5*time.Second, func() { _ = syscall.Kill(-s.cmd.Process.Pid, syscall.SIGKILL) })
		_ = s.cmd.Wait()
		killer.Stop()
		_ = syscall.Kill(-s.cmd.Process.Pid, syscall.SIGKILL)
	}
	if s.forker != nil {
		_ = s.forker.Process.Kill()
		_ = s.forker.Wait()
	}
	_ = os.RemoveAll(s.dir)
}

// kernels lists the ids of the kernels on a server.
func (s *server) kernels(t testing.TB) (ids []string) {
	t.Helper()
	req, err := http.NewRequestWithContext(context.Background(), http.MethodGet, s.url+"api/kernels", nil)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Authorization", "token "+s.token)
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	var list []struct{ ID string }
	if err := json.NewDecoder(resp.Body).Decode(&list); err != nil {
		t.Fatal(err)
	}
	for _, k := range list {
		ids = append(ids, k.ID)
	}
	return ids
}

// open connects to a test server with options that fit its kind.
func open(ctx context.Context, s *server, opts jupyter.Options) (*jupyter.Stateful, error) {
	opts.URL, opts.Auth.Token = s.url, s.token
	opts.StartTimeout = cmp.Or(opts.StartTimeout, 2*time.Minute)
	if s.kind == "hub" {
		opts.Auth.Hub = &jupyter.HubOptions{}
	}
	return jupyter.NewStateful(ctx, &opts)
}

// A session is a context on a real server.
type session struct {
	t  testing.TB
	ci *jupyter.Stateful
	id codeinterp.ContextID
}

func realSession(t testing.TB, s *server, opts jupyter.Options) *session {
	t.Helper()
	ci, err := open(t.Context(), s, opts)
	if err != nil {
		t.Fatalf("%v\n%s", err, s.log)
	}
	t.Cleanup(func() { _ = ci.Close() })
	id, err := ci.CreateContext(t.Context(), "python", nil)
	if err != nil {
		t.Fatal(err)
	}
	return &session{t, ci, id}
}

func (s *session) run(code string, opts *codeinterp.RunOptions) (codeinterp.Result, error) {
	return s.ci.RunInContext(s.t.Context(), s.id, code, opts)
}

func (s *session) ok(code string) codeinterp.Result {
	s.t.Helper()
	res, err := s.run(code, nil)
	if err != nil || !res.OK() {
		s.t.Fatalf("%q: %+v, %v", code, res, err)
	}
	return res
}

// A cutter is a way to a server that can be cut.
type cutter struct {
	l      net.Listener
	target string

	mu    sync.Mutex
	shut  bool
	conns []net.Conn
}

// cuttable returns s as it is reached by a way that cut closes until restore is called.
func cuttable(t testing.TB, s *server) (way *server, cut func() (restore func())) {
	u, err := url.Parse(s.url)
	if err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	c := &cutter{l: l, target: u.Host}
	go c.serve()
	u.Host = l.Addr().String()
	w := *s
	w.url = u.String()
	return &w, func() func() {
		c.set(true)
		return func() { c.set(false) }
	}
}

func (c *cutter) set(shut bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.shut = shut
	for _, conn := range c.conns {
		conn.Close()
	}
	c.conns = nil
}

func (c *cutter) serve() {
	for {
		near, err := c.l.Accept()
		if err != nil {
			return
		}
		far, err := net.Dial("tcp", c.target)
		c.mu.Lock()
		if c.shut || err != nil {
			near.Close()
		}
		if err == nil {
			if c.shut {
				far.Close()
			}
			c.conns = append(c.conns, near, far)
			go pass(near, far)
			go pass(far, near)
		}
		c.mu.Unlock()
	}
}

func pass(to, from net.Conn) {
	defer to.Close()
	defer from.Close()
	_, _ = io.Copy(to, from)
}
