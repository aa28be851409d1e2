package jupytertest

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// Server starts the server of the test parts, or the one on PATH, and returns
// its address, with its token. It ends with the test, and its kernels with it.
// If there is none, the test is skipped, in CI failed.
func Server(t testing.TB) string { return address(serve(t, false)) }

// ForkingServer is Server, whose Python kernels are Forked, for tests of many.
func ForkingServer(t testing.TB) string { return address(serve(t, true)) }

func address(port int) string { return fmt.Sprintf("http://127.0.0.1:%d/?token=T", port) }

// ServerWith is Server, with further arguments, and returns the port. If they
// say where it listens there is none.
func ServerWith(t testing.TB, args ...string) (port int) {
	t.Helper()
	return serve(t, false, args...)
}

func serve(t testing.TB, forked bool, args ...string) (port int) {
	t.Helper()
	bin := program(t)
	network, where := "unix", ""
	for _, arg := range args {
		if path, ok := strings.CutPrefix(arg, "--ServerApp.sock="); ok {
			where = path
		}
	}
	if where == "" {
		port = FreePort(t)
		network, where = "tcp", fmt.Sprint("127.0.0.1:", port)
		args = append(args, "--ServerApp.ip=127.0.0.1", fmt.Sprint("--ServerApp.port=", port), "--ServerApp.port_retries=0")
	}
	dir := t.TempDir()
	args = append(args, "--allow-root", "--no-browser", "--ServerApp.token=T", "--IdentityProvider.token=T", "--ServerApp.root_dir="+dir)
	cmd := exec.Command(bin, args...)
	cmd.Dir = dir
	cmd.Env = []string{"PATH=" + filepath.Dir(bin) + ":" + os.Getenv("PATH"), "HOME=" + dir, "LANG=C.UTF-8", "TMPDIR=" + dir}
	if forked {
		_, own := forks(t, filepath.Dir(bin), cmd.Env)
		cmd.Env = append(cmd.Env, "JUPYTER_PATH="+Path(own), "JUPYTER_CONFIG_DIR="+Config(own))
	}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
		_ = cmd.Wait()
	})
	awaitListening(t, network, where)
	return port
}

// forks starts what forks kernels for as long as the test runs, in the directory
// that it returns.
func forks(t testing.TB, bin string, env []string) (forker *exec.Cmd, dir string) {
	t.Helper()
	dir, err := os.MkdirTemp("", "toolcell-forker-") // sockets have short names
	if err != nil {
		t.Fatal(err)
	}
	forker = Forked(t, bin, dir, env)
	t.Cleanup(func() {
		_ = forker.Process.Kill()
		_ = forker.Wait()
		_ = os.RemoveAll(dir)
	})
	return forker, dir
}

// awaitListening waits for a server for longer than its clients do: on a machine
// that does much beside it takes minutes.
func awaitListening(t testing.TB, network, address string) {
	t.Helper()
	for end := time.Now().Add(5 * time.Minute); time.Now().Before(end); time.Sleep(50 * time.Millisecond) {
		if conn, err := net.Dial(network, address); err == nil {
			conn.Close()
			return
		}
	}
	t.Fatalf("no Jupyter server listens at %s", address)
}

// program is the server, without which the test is skipped, in CI failed.
func program(t testing.TB) string {
	t.Helper()
	bin, err := server()
	if err != nil {
		if os.Getenv("CI") != "" {
			t.Fatal("no Jupyter server: run make testenv-full")
		}
		t.Skip("no Jupyter server: run make testenv-full")
	}
	return bin
}

// server finds the program, from the package's directory upwards.
func server() (string, error) {
	dir, err := os.Getwd()
	if err != nil {
		return "", err
	}
	for ; dir != filepath.Dir(dir); dir = filepath.Dir(dir) {
		bin := filepath.Join(dir, ".testenv/jupyter/server6/bin/jupyter-server")
		if _, err := os.Stat(bin); err == nil {
			return bin, nil
		}
	}
	return exec.LookPath("jupyter-server")
}
