// Package leftover makes the tests of a package fail if they leave files or processes
// behind.
//
//	func TestMain(m *testing.M) { os.Exit(leftover.Run(m)) }
package leftover

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/toolcell/toolcell/internal/procfs"
)

// Run runs m's tests with a temporary directory of their own, which every user
// can reach, and returns the exit code: that of the tests, or 1 if they passed
// and the directory is not empty afterwards, or if a process goes on that was
// started in it or with it in its arguments or environment. Processes are
// looked for where there is a /proc.
func Run(m interface{ Run() int }) int { return run(m, 5*time.Second) }

// run gives processes that were killed so long to be gone.
func run(m interface{ Run() int }, patience time.Duration) int {
	dir, err := os.MkdirTemp("", "tests-")
	if err == nil {
		err = os.Chmod(dir, 0o755)
	}
	if err == nil {
		err = os.Setenv("TMPDIR", dir)
	}
	if err != nil {
		fmt.Println(err)
		return 1
	}
	defer os.RemoveAll(dir)
	if code := m.Run(); code != 0 {
		return code
	}
	var left []string
	for end := time.Now().Add(patience); ; time.Sleep(50 * time.Millisecond) {
		files, _ := filepath.Glob(dir + "/*")
		if left = append(files, processes(dir)...); len(left) == 0 {
			return 0
		}
		if time.Now().After(end) {
			break
		}
	}
	fmt.Printf("the tests left behind:\n%s\n", strings.Join(left, "\n"))
	return 1
}

// processes returns the processes that have dir in their arguments or environment, or
// work in it.
func processes(dir string) (found []string) {
	for _, pid := range procfs.PIDs() {
		args, _ := procfs.File(pid, "cmdline")
		env, _ := os.ReadFile(fmt.Sprintf("/proc/%d/environ", pid))
		cwd, _ := os.Readlink(fmt.Sprintf("/proc/%d/cwd", pid))
		if pid != os.Getpid() && (bytes.Contains(args, []byte(dir)) || bytes.Contains(env, []byte(dir)) || strings.HasPrefix(cwd, dir)) {
			found = append(found, fmt.Sprintf("process %d: %q", pid, args[:min(len(args), 100)]))
		}
	}
	return found
}

// notKilled matches the status of a process to which no SIGKILL, 9, was sent.
var notKilled = regexp.MustCompile(`(?m)^ShdPnd:\s+[0-9a-f]*[02468ace][0-9a-f]{2}$`)

// Running returns the processes with a text in their arguments that can run code of their
// own. What was killed may be seen for a moment, until it is its turn to end.
func Running(text string) (found []int) {
	for _, pid := range procfs.PIDs() {
		args, _ := procfs.File(pid, "cmdline") // a zombie has none
		if status, _ := procfs.File(pid, "status"); bytes.Contains(args, []byte(text)) && notKilled.Match(status) {
			found = append(found, pid)
		}
	}
	return found
}

// Dir returns a new directory that every user can reach, as a program of a root
// host has to, and that goes with the test. [testing.TB]'s own is closed to
// others.
func Dir(t testing.TB) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "dir-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := os.RemoveAll(dir); err != nil {
			t.Error(err)
		}
	})
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	return dir
}
