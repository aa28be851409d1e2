//go:build real && (amd64 || arm64)

package sandbox_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"

	"github.com/toolcell/toolcell/internal/tier"
)

// TestUnprivileged runs the attacks again as an ordinary user, who has more to hope for
// in Landlock mode.
func TestUnprivileged(t *testing.T) {
	tests := "^(TestAttacks|TestTrees|TestHostDeath|TestEgress)$/^landlock$"
	if tier.Full {
		tests = "^(TestAttacks|TestProbes|TestExit|TestKill|TestTrees|TestCwd|TestReplacedByLink|TestSignal|TestHostDeath|TestLeaks|TestFork|TestProbeFails|TestLimits|TestEgress|TestEgressEnds)$"
	}
	if out, err := asUser(t, tests).CombinedOutput(); err != nil || !strings.Contains(string(out), "--- PASS") {
		t.Errorf("%v\n%s", err, failed(out))
	}
}

// asUser returns a command that runs tests of this binary as an ordinary user, who must
// be able to reach it.
func asUser(t *testing.T, tests string) *exec.Cmd {
	t.Helper()
	if os.Getuid() != 0 {
		return testsOf("/proc/self/exe", tests)
	}
	path := filepath.Join(openTemp(t), "tests")
	check(t, os.WriteFile(path, must(os.ReadFile("/proc/self/exe")), 0o755))
	cmd := testsOf(path, tests)
	cmd.Dir, cmd.Env = "/", []string{"PATH=" + os.Getenv("PATH"), "CI=" + os.Getenv("CI")}
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: someUser, Gid: someUser}}
	return cmd
}

func testsOf(path, tests string) *exec.Cmd {
	return exec.Command(path, "-test.run="+tests, "-test.v", "-test.timeout=20m")
}

var passed = regexp.MustCompile(`(?m)^\s*(=== |--- (PASS|SKIP)).*\n`)

// failed returns what a run of tests printed about those that failed.
func failed(out []byte) []byte { return passed.ReplaceAll(out, nil) }
