//go:build amd64 || arm64

package sandbox_test

import (
	"cmp"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/toolcell/toolcell/internal/aparttest"
)

// TestUnprivileged runs the tests again as another user, beside those of this one,
// but for mode none, in which there is nothing to hold: make attack has that too. With
// -short it is the attacks, in Landlock mode, of which a user has more to hope for.
func TestUnprivileged(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("this is an unprivileged user already")
	}
	if aparttest.Run(t) {
		return
	}
	if testing.Short() {
		asUser(t, "^(TestAttacks|TestTrees|TestHostDeath)$/^landlock$")
		return
	}
	for _, tests := range []string{
		"^(TestAttacks|TestProbes|TestExit|TestKill|TestTrees|TestCwd|TestReplacedByLink|TestSignal|TestHostDeath|TestLeaks)$/^(landlock|bwrap)$",
		"^(TestFork|TestProbeFails)$",
		"^TestLimits$/^(landlock|bwrap)$/^(memory_of_orphans|memory_of_sockets.*|memory_of_processes.*|descriptors.*|programs.*|shared_memory_(o|behind).*|page_tables|fork_bomb|sizes.*|number_of_files.*)$",
	} {
		asUser(t, tests)
	}
}

func asUser(t *testing.T, tests string) {
	t.Helper()
	b, err := aparttest.AsUser(t, someUser, tests).CombinedOutput()
	if err != nil || !strings.Contains(string(b), "--- PASS") {
		t.Errorf("%v\n%s", err, aparttest.Failed(b))
	}
}

// attackTests are the tests whose subtests are, for each mode, the rows of the
// table.
const attackTests = "^(TestAttacks|TestLimits|TestTrees|TestHostDeath|TestCwd|TestReplacedByLink|TestReportIsTrue|TestProbes|TestHiddenBeside)$"

var outcome = regexp.MustCompile(`(?m)^ *--- (PASS|FAIL|SKIP): Test(\w+)/(none|landlock|bwrap)(?:/(\S+))? `)

// TestTable runs every attack as root and as an ordinary user, and prints what
// held. It takes minutes: run it by make attack.
func TestTable(t *testing.T) {
	if os.Getenv("TOOLCELL_ATTACK") == "" {
		t.Skip("TOOLCELL_ATTACK is not set; the attacks themselves are tests of their own")
	}
	hosts := map[string]*exec.Cmd{"user": exec.Command("/proc/self/exe", "-test.run="+attackTests, "-test.v", "-test.timeout=15m")}
	if os.Getuid() == 0 {
		hosts["root"] = hosts["user"]
		hosts["user"] = aparttest.AsUser(t, someUser, attackTests)
	}
	cells, reasons := map[string]map[string]string{}, map[string]bool{}
	for host, cmd := range hosts {
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Errorf("%s: %v\n%s", host, err, aparttest.Failed(out))
		}
		told := notes(out)
		for _, m := range outcome.FindAllStringSubmatch(string(out), -1) {
			row, name := m[2]+"/"+cmp.Or(m[4], "all"), strings.TrimSuffix(m[2]+"/"+m[3]+"/"+m[4], "/")
			if cells[row] == nil {
				cells[row] = map[string]string{}
			}
			in, why := verdict(m[1], told[name])
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
	b.WriteString("\nfaults and their rows:\n")
	for _, c := range cases {
		fmt.Fprintf(&b, "%s: %s in %s\n", c.fault, strings.Join(c.rows, ", "), c.pkg)
	}
	t.Log("\n" + b.String())
}
