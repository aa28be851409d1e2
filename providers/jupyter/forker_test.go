//go:build linux

package jupyter_test

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
)

// forkKernels has a server's Python kernels forked from one process that has
// imported ipykernel, which costs a quarter of what a new interpreter does. The
// kernelspec comes first on the server's JUPYTER_PATH; servers that tests have
// for themselves start their kernels in the ordinary way.
func (s *server) forkKernels(t testing.TB, bin string) {
	t.Helper()
	python, err := exec.LookPath(filepath.Join(bin, "python3"))
	if err != nil {
		t.Fatal(err)
	}
	scripts, err := filepath.Abs("testdata")
	if err != nil {
		t.Fatal(err)
	}
	socket := filepath.Join(s.dir, "forker")
	spec, err := json.Marshal(map[string]any{
		"argv":         []string{python, "-ISE", filepath.Join(scripts, "stub.py"), socket, "-f", "{connection_file}"},
		"display_name": "Python 3", "language": "python",
	})
	if err != nil {
		t.Fatal(err)
	}
	specs := filepath.Join(jupyterPath(s.dir), "kernels", "python3")
	if err := os.MkdirAll(specs, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(specs, "kernel.json"), spec, 0o600); err != nil {
		t.Fatal(err)
	}
	config := filepath.Join(s.dir, "config")
	if err := os.MkdirAll(config, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(config, "jupyter_config.py"), fmt.Appendf(nil, directInterrupts, socket), 0o600); err != nil {
		t.Fatal(err)
	}
	s.forker = exec.Command(python, filepath.Join(scripts, "forker.py"), socket)
	s.forker.Dir, s.forker.Env = s.dir, serverEnv(s.dir, bin)
	s.forker.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	if err := s.forker.Start(); err != nil {
		t.Fatal(err)
	}
}

// directInterrupts has a server interrupt a forked kernel itself, as it does any
// other, so that the interrupt is there when the server says so.
const directInterrupts = `
import os, signal
try:
    from jupyter_client.provisioning.local_provisioner import LocalProvisioner
except ImportError:
    LocalProvisioner = None  # an older one, where stubs pass it on
if LocalProvisioner:
    through_stub = LocalProvisioner.send_signal

    async def send_signal(self, signum):
        try:
            with open(f"%s.{self.pid}") as f:
                kernel = int(f.read())
        except (OSError, ValueError):
            kernel = None
        if signum != signal.SIGINT or kernel is None:
            return await through_stub(self, signum)
        try:
            os.killpg(kernel, signum)
        except ProcessLookupError:
            pass

    LocalProvisioner.send_signal = send_signal
`

// jupyterPath is where a server looks for kernelspecs first.
func jupyterPath(dir string) string { return filepath.Join(dir, "share") }

// stopForker ends what forkKernels started, kernels included.
func (s *server) stopForker() {
	if s.forker == nil {
		return
	}
	_ = s.forker.Process.Kill()
	_ = s.forker.Wait()
}
