package jupytertest

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
)

//go:embed forker.py
var forker []byte

//go:embed stub.py
var stub []byte

// Forked has the Python kernels of a server, whose programs are in bin, forked from
// one process that has imported ipykernel, which costs a quarter of what a new
// interpreter does. dir is the server's own, where Path and Config say what it finds.
// It returns that process, which ends with its parent; its kernels end with it.
func Forked(t testing.TB, bin, dir string, env []string) *exec.Cmd {
	t.Helper()
	python, err := exec.LookPath(filepath.Join(bin, "python3"))
	if err != nil {
		t.Fatal(err)
	}
	socket := forkerSocket(dir)
	spec, err := json.Marshal(map[string]any{
		"argv":         []string{python, "-ISE", filepath.Join(dir, "stub.py"), socket, "-f", "{connection_file}"},
		"display_name": "Python 3", "language": "python",
	})
	if err != nil {
		t.Fatal(err)
	}
	for path, data := range map[string][]byte{
		"forker.py": forker, "stub.py": stub,
		filepath.Join(Path(""), "kernels", "python3", "kernel.json"): spec,
		filepath.Join(Config(""), "jupyter_config.py"):               fmt.Appendf(nil, directInterrupts, socket),
	} {
		path = filepath.Join(dir, path)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	cmd := exec.Command(python, filepath.Join(dir, "forker.py"), socket)
	said, err := os.Create(forkerLog(dir))
	if err != nil {
		t.Fatal(err)
	}
	defer said.Close()
	cmd.Dir, cmd.Env, cmd.Stderr = dir, env, said
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	return cmd
}

// Path is the JUPYTER_PATH of a server with this directory, where it looks for
// kernelspecs first, and Config its JUPYTER_CONFIG_DIR.
func Path(dir string) string   { return filepath.Join(dir, "share") }
func Config(dir string) string { return filepath.Join(dir, "config") }

func forkerSocket(dir string) string { return filepath.Join(dir, "forker") }
func forkerLog(dir string) string    { return filepath.Join(dir, "forker.log") }

// directInterrupts has a server interrupt a forked kernel itself, as it does any
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
