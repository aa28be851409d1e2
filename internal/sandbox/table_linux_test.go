//go:build real && (amd64 || arm64)

package sandbox_test

import (
	"cmp"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/toolcell/toolcell/internal/tier"
)

// TestUnprivileged runs the attacks again as an ordinary user, who has more to hope for
// in Landlock mode.
func TestUnprivileged(t *testing.T) {
	tests := "^(TestAttacks|TestTrees|TestHostDeath)$/^landlock$"
	if tier.Full {
		tests = "^(TestAttacks|TestProbes|TestExit|TestKill|TestTrees|TestCwd|TestReplacedByLink|TestSignal|TestHostDeath|TestLeaks|TestFork|TestProbeFails|TestLimits)$"
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

// attackTests are the tests whose subtests are, for each mode, the rows of the
// table.
const attackTests = "^(TestAttacks|TestLimits|TestTrees|TestHostDeath|TestCwd|TestReplacedByLink|TestReportIsTrue|TestProbes)$"

var outcome = regexp.MustCompile(`(?m)^ *--- (PASS|FAIL|SKIP): Test(\w+)/(none|landlock|bwrap)(?:/(\S+))? `)

// TestTable runs every attack as root and as an ordinary user, and prints what held.
func TestTable(t *testing.T) {
	if !tier.Full {
		return // the attacks are tests of their own
	}
	hosts := map[string]*exec.Cmd{"user": testsOf("/proc/self/exe", attackTests)}
	if os.Getuid() == 0 {
		hosts["root"] = hosts["user"]
		hosts["user"] = asUser(t, attackTests)
	}
	cells, reasons := map[string]map[string]string{}, map[string]bool{}
	for host, cmd := range hosts {
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Errorf("%s: %v\n%s", host, err, failed(out))
		}
		notes := notes(out)
		for _, m := range outcome.FindAllStringSubmatch(string(out), -1) {
			row, name := m[2]+"/"+cmp.Or(m[4], "all"), strings.TrimSuffix(m[2]+"/"+m[3]+"/"+m[4], "/")
			if cells[row] == nil {
				cells[row] = map[string]string{}
			}
			in, why := verdict(m[1], notes[name])
			cells[row][m[3]+" "+host] = in
			if why != "" {
				reasons[fmt.Sprintf("%s, %s %s: %s: %s", row, m[3], host, in, why)] = true
			}
		}
	}
	printTable(t, cells, slices.Sorted(maps.Keys(reasons)))
}

var (
	began = regexp.MustCompile(`^=== (?:RUN|NAME|CONT) +Test(\S+)`)
	said  = regexp.MustCompile(`^ +\w+_test\.go:\d+: (.*)`)
)

// notes are what the tests of an output said last, by their names.
func notes(out []byte) map[string]string {
	list, name := map[string]string{}, ""
	for line := range strings.Lines(string(out)) {
		if m := began.FindStringSubmatch(line); m != nil {
			name = m[1]
		} else if m := said.FindStringSubmatch(line); m != nil {
			list[name] = m[1]
		}
	}
	return list
}

// verdict turns a subtest's outcome, and what it said, into a cell and the reason
// for it.
func verdict(outcome, note string) (in, why string) {
	switch why, known := strings.CutPrefix(note, cell+"not held: "); {
	case outcome == "FAIL":
		return "NOT HELD", note
	case outcome == "SKIP":
		return "n/a", note
	case known:
		return "not held", why
	}
	return "held", ""
}

func printTable(t *testing.T, cells map[string]map[string]string, reasons []string) {
	columns := []string{"bwrap root", "bwrap user", "landlock root", "landlock user", "none root", "none user"}
	var b strings.Builder
	fmt.Fprintf(&b, "%-70s", "")
	for _, c := range columns {
		fmt.Fprintf(&b, " %-13s", c)
	}
	rows := make([]string, 0, len(cells))
	for row := range cells {
		rows = append(rows, row)
	}
	slices.Sort(rows)
	for _, row := range rows {
		fmt.Fprintf(&b, "\n%-70s", strings.ReplaceAll(row, "_", " "))
		for _, c := range columns {
			fmt.Fprintf(&b, " %-13s", cmp.Or(cells[row][c], "n/a"))
		}
	}
	b.WriteString("\n\nwhy (n/a without a reason: there is no such row in that mode):\n")
	for _, why := range reasons {
		b.WriteString(strings.ReplaceAll(why, "_", " ") + "\n")
	}
	t.Log("\n" + b.String())
}
