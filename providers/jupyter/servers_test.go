//go:build linux

package jupyter_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/toolcell/toolcell/internal/aparttest"
	"github.com/toolcell/toolcell/internal/jupytertest"
)

const testToken = "test-token-5f3a"

// A server is a real Jupyter of one kind, started once for all tests.
type server struct {
	kind   string
	url    string
	token  string
	cmd    *exec.Cmd
	log    *jupytertest.Log
	dir    string
	wait   chan error
	forker *exec.Cmd // what its kernels are forked from, if they are

	unwatch func() // nil if nothing watches it
}

// A kind tells how to start a server.
type kind struct {
	dir   string // environment under .testenv/jupyter
	start func(k kind, bin, dir string, port int, extra []string) (*exec.Cmd, string)
	must  bool // required in CI
}

var kinds = map[string]kind{
	"server6": {dir: "server6", start: notebookServer, must: true},
	"server7": {dir: "server7", start: notebookServer, must: true},
	"gateway": {dir: "gateway", start: kernelGateway, must: true},
	"hub":     {dir: "hub", start: jupyterHub, must: true},
	"eg":      {dir: "eg", start: enterpriseGateway},
	"cluster": {dir: "server6", start: provisioningServer, must: true},
}

// testenv is where the scripts of internal/testenv install.
func testenv() string {
	dir, err := os.Getwd()
	if err != nil {
		return ""
	}
	for ; dir != filepath.Dir(dir); dir = filepath.Dir(dir) {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return filepath.Join(dir, ".testenv", "jupyter")
		}
	}
	return ""
}

// missing fails in CI and skips elsewhere.
func missing(t testing.TB, must bool, format string, args ...any) {
	t.Helper()
	if must && os.Getenv("CI") != "" {
		t.Fatalf(format, args...)
	}
	t.Skipf(format, args...)
}

var shared = struct {
	sync.Mutex
	servers map[string]*server
}{servers: map[string]*server{}}

// sharedServer returns the server of a kind that tests share.
func sharedServer(t testing.TB, name string) *server {
	t.Helper()
	shared.Lock()
	defer shared.Unlock()
	if s := shared.servers[name]; s != nil {
		return s
	}
	s := startServer(t, name, true)
	s.watch()
	shared.servers[name] = s
	return s
}

// watch tells where the server stands still, and ends the process of a suite then:
// its cases would wait in vain, one by one, and could not say for what.
func (s *server) watch() {
	w := jupytertest.Watched{URL: joinURL(s.url, "api"), Server: s.cmd, Log: s.log, Forker: s.forker, Dir: s.dir}
	s.unwatch = w.Watch(time.Minute, func(report string) {
		fmt.Fprintf(os.Stderr, "%s: %s", s.kind, report)
		if aparttest.Apart() {
			os.Exit(1)
		}
	})
}

// ownServer returns a server for one test.
func ownServer(t testing.TB, name string, extra ...string) *server {
	t.Helper()
	s := startServer(t, name, false, extra...)
	t.Cleanup(s.stop)
	return s
}

func startServer(t testing.TB, name string, forked bool, extra ...string) *server {
	t.Helper()
	k := kinds[name]
	bin := filepath.Join(testenv(), k.dir, "bin")
	if _, err := os.Stat(filepath.Join(testenv(), k.dir, ".done")); err != nil {
		if sys, err := exec.LookPath("jupyter-server"); err == nil && name == "server6" {
			bin = filepath.Dir(sys)
		} else {
			missing(t, k.must, "no %s: run internal/testenv/jupyter.sh", name)
		}
	}
	dir, err := os.MkdirTemp("", "toolcell-jupyter-")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(filepath.Join(dir, "tmp"), 0o700); err != nil {
		t.Fatal(err)
	}
	s := &server{kind: name, token: testToken, dir: dir, log: &jupytertest.Log{}}
	if forked {
		s.forker = jupytertest.Forked(t, bin, dir, serverEnv(dir, bin))
	}
	port := jupytertest.FreePort(t)
	s.cmd, s.url = k.start(k, bin, dir, port, extra)
	s.launch(t)
	return s
}

// launch starts the process and waits until it listens.
func (s *server) launch(t testing.TB) {
	t.Helper()
	s.cmd.Dir = s.dir
	if s.cmd.Env == nil {
		s.cmd.Env = serverEnv(s.dir, filepath.Dir(s.cmd.Path))
	}
	s.cmd.Stdout, s.cmd.Stderr = s.log, s.log
	s.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	s.cmd.WaitDelay = 10 * time.Second // kernels have its output too
	if err := s.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	s.wait = make(chan error, 1)
	go func() { s.wait <- s.cmd.Wait() }()
	if s.kind == "hub" {
		s.addUser(t)
		return
	}
	s.awaitListening(t)
}

// awaitListening waits until the server takes connections: on a busy machine
// where many start at once that takes it minutes.
func (s *server) awaitListening(t testing.TB) {
	t.Helper()
	u, err := url.Parse(s.url)
	if err != nil {
		t.Fatal(err)
	}
	for end := time.Now().Add(5 * time.Minute); time.Now().Before(end); time.Sleep(50 * time.Millisecond) {
		if conn, err := net.DialTimeout("tcp", u.Host, 10*time.Second); err == nil {
			conn.Close()
			return
		}
		select {
		case err := <-s.wait:
			s.wait <- err
			t.Fatalf("the server ended: %v\n%s", err, s.log)
		default:
		}
	}
	t.Fatal("the server does not listen")
}

func serverEnv(dir, bin string) []string {
	return []string{"PATH=" + bin + ":" + os.Getenv("PATH"), "HOME=" + dir, "LANG=C.UTF-8",
		"JUPYTER_CONFIG_DIR=" + jupytertest.Config(dir), "JUPYTER_DATA_DIR=" + filepath.Join(dir, "data"),
		"JUPYTER_RUNTIME_DIR=" + filepath.Join(dir, "runtime"), "IPYTHONDIR=" + filepath.Join(dir, "ipython"),
		"JUPYTER_PATH=" + jupytertest.Path(dir), "DENO_DIR=" + filepath.Join(dir, "deno"), "TMPDIR=" + filepath.Join(dir, "tmp"), "NO_COLOR=1"}
}

// stop ends the server: politely, so that it ends its kernels, then its group.
func (s *server) stop() {
	if s.cmd.Process == nil {
		return
	}
	if s.unwatch != nil {
		s.unwatch()
	}
	_ = s.cmd.Process.Signal(syscall.SIGCONT)
	_ = s.cmd.Process.Signal(syscall.SIGTERM)
	select {
	case <-s.wait:
	case <-time.After(10 * time.Second):
		_ = syscall.Kill(-s.cmd.Process.Pid, syscall.SIGKILL)
		s.stopForker() // its kernels may hold the server's output open
		<-s.wait
	}
	_ = syscall.Kill(-s.cmd.Process.Pid, syscall.SIGKILL)
	s.stopForker()
	_ = os.RemoveAll(s.dir)
	s.cmd.Process = nil
}

func (s *server) post(url string) (int, []byte) {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, url, nil)
	if err != nil {
		return 0, nil
	}
	req.Header.Set("Authorization", "token "+testToken)
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return 0, nil
	}
	defer resp.Body.Close()
	body, _ := io.ReadAll(resp.Body)
	return resp.StatusCode, body
}

// kernels lists the ids of the kernels on a server.
func (s *server) kernels(t testing.TB) []string {
	t.Helper()
	var list []struct{ ID string }
	s.get(t, "api/kernels", &list)
	var ids []string
	for _, k := range list {
		ids = append(ids, k.ID)
	}
	return ids
}

// get asks the server within bounds, and again where it fails at a kernel that it
// just started, as real ones do.
func (s *server) get(t testing.TB, path string, out any) {
	t.Helper()
	for tries := 1; ; tries++ {
		status, err := s.getOnce(path, out)
		if err == nil {
			return
		} else if status != http.StatusInternalServerError || tries == 5 {
			t.Fatalf("GET %s: %v", path, err)
		}
		time.Sleep(200 * time.Millisecond)
	}
}

func (s *server) getOnce(path string, out any) (status int, err error) {
	// Not the test's, which has ended where it is called in a cleanup.
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, joinURL(s.url, path), nil)
	if err != nil {
		return 0, err
	}
	req.Header.Set("Authorization", "token "+s.token)
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return 0, err
	}
	defer resp.Body.Close()
	if resp.StatusCode != 200 {
		return resp.StatusCode, errors.New(resp.Status)
	}
	return 200, json.NewDecoder(resp.Body).Decode(out)
}

func joinURL(base, path string) string {
	if base[len(base)-1] != '/' {
		base += "/"
	}
	return base + path
}

// sideBySide is how many tests run at once: most of them wait most of the time,
// for servers, kernels and timeouts, and the suites only for their processes.
const sideBySide = 5 + 6

func TestMain(m *testing.M) {
	aparttest.Beside(sideBySide)
	code := m.Run()
	for _, s := range shared.servers {
		s.stop()
	}
	os.Exit(code)
}

// stopForker ends what its kernels were forked from, kernels included.
func (s *server) stopForker() {
	if s.forker == nil {
		return
	}
	_ = s.forker.Process.Kill()
	_ = s.forker.Wait()
}
