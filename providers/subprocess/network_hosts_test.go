//go:build real && full && linux

package subprocess_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// A policy holds for each kind of host: root, which the tests beside this one are, root
// that may not trace others, as in a container, and an ordinary user.
func TestNetworkHosts(t *testing.T) {
	setpriv, err := exec.LookPath("setpriv")
	if err != nil || os.Getuid() != 0 {
		t.Skip("the host is not root, or there is no setpriv")
	}
	dir := t.TempDir()
	self := filepath.Join(dir, "host")
	b, err := os.ReadFile("/proc/self/exe")
	if err == nil {
		err = os.WriteFile(self, b, 0o755)
	}
	for d := dir; err == nil && strings.HasPrefix(d, os.TempDir()+"/"); d = filepath.Dir(d) {
		err = os.Chmod(d, 0o755)
	}
	if err != nil {
		t.Fatal(err)
	}
	for name, args := range map[string][]string{
		"container": {"--bounding-set=-sys_ptrace,-sys_admin", "--inh-caps=-sys_ptrace,-sys_admin"},
		"user":      {"--reuid=1234", "--regid=1234", "--clear-groups", "--bounding-set=-all", "--inh-caps=-all"},
	} {
		t.Run(name, func(t *testing.T) {
			tests := "^TestNetworkAttacks$"
			if name == "user" { // who reads the memory of his own processes
				tests = "^(TestNetworkAttacks|TestNetworkSecret)$"
			}
			cmd := exec.Command(setpriv, append(args, self, "-test.run="+tests, "-test.v", "-test.timeout=8m")...)
			cmd.Env = append(os.Environ(), "HOME=/nonexistent", "TMPDIR=/tmp")
			out, err := cmd.CombinedOutput()
			if err != nil || strings.Count(string(out), "--- PASS: TestNetworkAttacks/") != 2 {
				t.Errorf("%v: %s", err, out)
			}
		})
	}
}
