// Package leftover has the tests of a package fail if they leave files or
// processes behind.
//
//	func TestMain(m *testing.M) { os.Exit(leftover.Run(m)) }
package leftover

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
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
		if left = append(files(dir), processes(dir)...); len(left) == 0 {
			return 0
		}
		if time.Now().After(end) {
			break
		}
	}
	fmt.Printf("the tests left behind:\n%s\n", strings.Join(left, "\n"))
	return 1
}

func files(dir string) []string {
	list, err := filepath.Glob(dir + "/*")
	if err != nil {
		return []string{err.Error()}
	}
	return list
}

// processes returns the processes that have to do with dir, besides this one
// and those that it descends from.
func processes(dir string) []string {
	var own []int
	for pid := os.Getpid(); pid > 1 && !slices.Contains(own, pid); pid = parent(pid) {
		own = append(own, pid)
	}
	var found []string
	for _, pid := range procfs.PIDs() {
		if slices.Contains(own, pid) {
			continue
		}
		proc := fmt.Sprintf("/proc/%d", pid)
		args, _ := os.ReadFile(proc + "/cmdline")
		env, _ := os.ReadFile(proc + "/environ")
		cwd, _ := os.Readlink(proc + "/cwd")
		if bytes.Contains(args, []byte(dir)) || bytes.Contains(env, []byte(dir)) || strings.HasPrefix(cwd, dir) {
			args = args[:min(len(args), 100)]
			found = append(found, fmt.Sprintf("process %d: %q", pid, bytes.ReplaceAll(args, []byte{0}, []byte{' '})))
		}
	}
	return found
}

// parent returns the parent of a process, 0 if that is not known.
func parent(pid int) int {
	st, _ := procfs.Read(pid)
	return st.Parent
}
