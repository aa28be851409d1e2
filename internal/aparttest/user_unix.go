//go:build unix

package aparttest

import (
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"syscall"
	"testing"
)

// AsUser returns a command that runs tests of this binary as an ordinary user,
// which takes root. It starts in the root directory: that user need not reach
// the sources.
func AsUser(t *testing.T, uid uint32, tests string) *exec.Cmd {
	t.Helper()
	dir, err := os.MkdirTemp("", "tests-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	binary := filepath.Join(dir, "user"+strconv.Itoa(int(uid))+".test")
	if err := copySelf(binary); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), binary, "-test.run="+tests, "-test.v", "-test.timeout=30m", short())
	cmd.Dir = "/"
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uid, Gid: uid}}
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "CI=" + os.Getenv("CI")}
	return cmd
}

// copySelf makes a copy of the running binary that everybody can execute.
func copySelf(path string) error {
	self, err := os.Open("/proc/self/exe")
	if err != nil {
		return err
	}
	defer self.Close()
	out, err := os.OpenFile(path, os.O_CREATE|os.O_WRONLY, 0o755)
	if err != nil {
		return err
	}
	defer out.Close()
	if _, err := io.Copy(out, self); err != nil {
		return err
	}
	if err := out.Chmod(0o755); err != nil {
		return err
	}
	return out.Close()
}
