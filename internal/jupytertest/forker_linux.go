package jupytertest

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

//go:embed forker.py
var forker []byte

//go:embed stub.py
var stub []byte

// startForker starts a process that has imported ipykernel, from which the Python kernels of
// a server are forked, which costs a quarter of what a new interpreter does. dir is the
// server's own. It ends with the test, and its kernels with it.
func startForker(t testing.TB, bin, dir string, env []string) {
	t.Helper()
	python, socket := filepath.Join(bin, "python3"), filepath.Join(dir, "forker")
	spec, err := json.Marshal(map[string]any{
		"argv":         []string{python, "-ISE", filepath.Join(dir, "stub.py"), socket, "-f", "{connection_file}"},
		"display_name": "Python 3", "language": "python",
	})
	if err != nil {
		t.Fatal(err)
	}
	for path, data := range map[string][]byte{
		filepath.Join(dir, "forker.py"):                            forker,
		filepath.Join(dir, "stub.py"):                              stub,
		filepath.Join(specDir(dir), "kernels/python3/kernel.json"): spec,
		filepath.Join(configDir(dir), "jupyter_config.py"):         fmt.Appendf(nil, directInterrupts, socket),
	} {
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	cmd := exec.Command(python, filepath.Join(dir, "forker.py"), socket)
	cmd.Dir, cmd.Env = dir, env
	run(t, cmd, false)
}

// specDir is the JUPYTER_PATH of a server with this directory, where it looks for
// kernelspecs first, and configDir its JUPYTER_CONFIG_DIR.
func specDir(dir string) string   { return filepath.Join(dir, "share") }
func configDir(dir string) string { return filepath.Join(dir, "config") }

// directInterrupts makes a server interrupt a forked kernel itself, as it does any
// other, so that the interrupt is there when the server says so.
//
// It looks for dead kernels more often than every three seconds.
const directInterrupts = `
import os, signal
get_config().KernelRestarter.time_to_dead = 0.5
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
