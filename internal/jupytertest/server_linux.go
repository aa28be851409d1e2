package jupytertest

import (
	"cmp"
	_ "embed"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// forker has a server fork its Python kernels, which costs a quarter of what a new
// interpreter does.
//
//go:embed forker.py
var forker []byte

// Token is that of the servers.
const Token = "test-token-5f3a"

// Options says how to start a server. The zero value is a Jupyter Server with ipykernel 6.
type Options struct {
	Env     string                              // its environment below .testenv/jupyter; empty means server6
	Forked  bool                                // its Python kernels are forked from one process
	Command func(dir string, port int) []string // nil means JupyterServer
	Environ []string
}

// A Server runs until the end of a test.
type Server struct {
	Port int
	Dir  string // where it starts its kernels
	Log  *Log
}

// Address is the server's address as browsers show it, with its token.
func (s *Server) Address() string { return fmt.Sprintf("http://127.0.0.1:%d/?token=%s", s.Port, Token) }

// JupyterServer is the command of a Jupyter Server below /, with dir as in Options.Command.
func JupyterServer(dir string, port int) []string {
	return []string{"jupyter-server", "--allow-root", "--no-browser", "--ServerApp.ip=127.0.0.1",
		"--ServerApp.port=" + strconv.Itoa(port), "--ServerApp.port_retries=0", "--ServerApp.token=" + Token,
		"--IdentityProvider.token=" + Token, "--ServerApp.root_dir=" + filepath.Join(dir, "work")}
}

// Start starts a server. If it is not installed, the test is skipped, in CI failed.
func Start(t testing.TB, o *Options) *Server {
	t.Helper()
	if o == nil {
		o = &Options{}
	}
	bin := filepath.Join(Environment(t, cmp.Or(o.Env, "server6")), "bin")
	dir, err := os.MkdirTemp("", "toolcell-jupyter-") // sockets have short names
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	s := &Server{Port: freePort(t), Dir: filepath.Join(dir, "work"), Log: &Log{}}
	for _, name := range []string{"work", "tmp", "config"} {
		if err := os.Mkdir(filepath.Join(dir, name), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	env := []string{"PATH=" + bin + ":" + os.Getenv("PATH"), "HOME=" + dir, "LANG=C.UTF-8", "NO_COLOR=1",
		"JUPYTER_CONFIG_DIR=" + filepath.Join(dir, "config"), "JUPYTER_DATA_DIR=" + filepath.Join(dir, "data"),
		"JUPYTER_RUNTIME_DIR=" + filepath.Join(dir, "runtime"), "IPYTHONDIR=" + filepath.Join(dir, "ipython"), "TMPDIR=" + filepath.Join(dir, "tmp")}
	if o.Forked {
		if err := os.WriteFile(filepath.Join(dir, "config/jupyter_config.py"), forker, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	command := o.Command
	if command == nil {
		command = JupyterServer
	}
	args := command(dir, s.Port)
	cmd := exec.Command(filepath.Join(bin, args[0]), args[1:]...)
	cmd.Dir, cmd.Env, cmd.Stdout, cmd.Stderr = s.Dir, append(env, o.Environ...), s.Log, s.Log
	cmd.WaitDelay = 10 * time.Second // kernels have its output too
	run(t, cmd, o.Command != nil)
	s.await(t)
	return s
}

// run starts a process that ends with the test, and its group with it. One that is
// asked to end, as a hub, ends what it started.
func run(t testing.TB, cmd *exec.Cmd, ask bool) {
	t.Helper()
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	// Pdeathsig is sent when the thread ends that started the process.
	started, ended := make(chan error), make(chan struct{})
	go func() {
		runtime.LockOSThread()
		started <- cmd.Start()
		<-ended
	}()
	if err := <-started; err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		defer close(ended)
		kill := func() { _ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
		if ask {
			_ = cmd.Process.Signal(syscall.SIGTERM)
			defer time.AfterFunc(5*time.Second, kill).Stop()
		} else {
			kill()
		}
		_ = cmd.Wait()
		kill()
	})
}

// await waits until the server listens, which takes minutes on a busy machine.
func (s *Server) await(t testing.TB) {
	t.Helper()
	for end := time.Now().Add(5 * time.Minute); time.Now().Before(end); time.Sleep(50 * time.Millisecond) {
		if conn, err := net.Dial("tcp", fmt.Sprint("127.0.0.1:", s.Port)); err == nil {
			conn.Close()
			return
		}
	}
	t.Fatalf("the server does not listen\n%s", s.Log)
}

// Environment is the directory of a test part below .testenv/jupyter. If it is not
// installed, the test is skipped, in CI failed.
func Environment(t testing.TB, name string) string {
	t.Helper()
	dir, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for ; dir != filepath.Dir(dir); dir = filepath.Dir(dir) {
		env := filepath.Join(dir, ".testenv/jupyter", name)
		if _, err := os.Stat(filepath.Join(env, "bin")); err == nil {
			return env
		}
	}
	text := "no Jupyter " + name + ": run make " + map[bool]string{true: "testenv", false: "testenv-full"}[strings.HasPrefix(name, "server")]
	if os.Getenv("CI") != "" {
		t.Fatal(text)
	}
	t.Skip(text)
	return ""
}

// A Log keeps the end of the output of a process.
type Log struct {
	mu   sync.Mutex
	data []byte
}

const maxLog = 128 << 10

// Write implements io.Writer.
func (l *Log) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.data = append(l.data, p...)
	l.data = l.data[max(0, len(l.data)-maxLog):]
	return len(p), nil
}

func (l *Log) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return string(l.data)
}

// freePort returns a port that nothing listens on, nor on the two after it. It is
// none that the system gives to whoever wants any, as kernels do: one of those
// would be taken before the server, which starts for seconds, comes to listen.
func freePort(t testing.TB) int {
	t.Helper()
	const first, last = 10_000, 32_000
	for range 100 {
		port := first + 4*rand.IntN((last-first)/4)
		if unused(port) && unused(port+1) && unused(port+2) {
			return port
		}
	}
	t.Fatal("no port is free")
	return 0
}

func unused(port int) bool {
	l, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", port))
	if err != nil {
		return false
	}
	return l.Close() == nil
}
