package jupytertest

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
)

// Server starts the server of the test parts, or the one on PATH, and returns
// its address, with its token. It ends with the test, and its kernels with it.
// Where there is none, the test is skipped, in CI failed.
func Server(t testing.TB) string {
	t.Helper()
	bin, err := server()
	if err != nil {
		if os.Getenv("CI") != "" {
			t.Fatal("no Jupyter server: run internal/testenv/jupyter.sh")
		}
		t.Skip("no Jupyter server: run internal/testenv/jupyter.sh")
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	port := l.Addr().(*net.TCPAddr).Port
	l.Close()
	dir := t.TempDir()
	cmd := exec.Command(bin, "--allow-root", "--no-browser", "--ServerApp.ip=127.0.0.1",
		fmt.Sprint("--ServerApp.port=", port), "--ServerApp.token=T", "--IdentityProvider.token=T", "--ServerApp.root_dir="+dir)
	cmd.Dir = dir
	cmd.Env = []string{"PATH=" + filepath.Dir(bin) + ":" + os.Getenv("PATH"), "HOME=" + dir, "LANG=C.UTF-8", "TMPDIR=" + dir}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
		_ = cmd.Wait()
	})
	return fmt.Sprintf("http://127.0.0.1:%d/?token=T", port)
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
