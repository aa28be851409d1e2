//go:build amd64 || arm64

package sandbox_test

import (
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/internal/sandbox"
)

// A wall is a line of the report about what programs reach, and the attacks
// that none of may get through where the line says so.
type wall struct {
	line    string
	says    func(codeinterp.Isolation) bool
	attacks []string
}

var walls = []wall{
	{"files", func(i codeinterp.Isolation) bool { return i.Filesystem != codeinterp.ReachOpen },
		[]string{"secret file", "accounts and directories", "writing outside", "metadata outside"}},
	{"network", func(i codeinterp.Isolation) bool { return i.Network == codeinterp.ReachBlocked },
		[]string{"internet sockets", "unix sockets", "other socket families"}},
	{"processes", func(i codeinterp.Isolation) bool { return i.Processes == codeinterp.ReachBlocked },
		[]string{"environment of other processes", "command lines of other processes", "memory of other processes"}},
	{"signals", func(i codeinterp.Isolation) bool { return i.Signals == codeinterp.ReachBlocked },
		[]string{"signals", "signals to every thread"}},
}

// A bound is a line of the report about a limit, and the programs that show it.
// How one ends tells who holds it: the kernel by an error, the watchdog by
// killing the tree.
type bound struct {
	line    string
	says    func(codeinterp.Isolation) string
	greedy  []string
	cause   codeinterp.Cause
	refused string // what the program sees where the kernel refuses
}

var bounds = []bound{
	{"memory", func(i codeinterp.Isolation) string { return i.Memory }, []string{"memory of orphans", "page tables"}, codeinterp.CauseMemory, ""},
	{"processes", func(i codeinterp.Isolation) string { return i.PIDs }, []string{"forks"}, codeinterp.CauseProcesses, "Resource temporarily unavailable"},
	{"disk", func(i codeinterp.Isolation) string { return i.Disk },
		[]string{"sizes of many files", "sizes of removed files", "sizes in a directory that cannot be listed", "sizes of files that are only mapped", "sizes of files in flight"}, codeinterp.CauseDisk, ""},
	{"CPU time", func(i codeinterp.Isolation) string { return i.CPU }, []string{"CPU time of many processes"}, codeinterp.CauseCPU, ""},
}

// TestReportIsTrue derives every line of the report from attacks.
func TestReportIsTrue(t *testing.T) { eachMode(t, testReportIsTrue) }

func testReportIsTrue(t *testing.T, mode sandbox.Mode) {
	if _, err := os.Stat(python); err != nil {
		needs(t, "python3 in /usr/bin", err)
	}
	s := open(t, &sandbox.Options{Require: mode, Limits: sandbox.Limits{CPU: 600}})
	r := s.Report()
	h := newHost(t)
	for _, w := range walls {
		if !w.says(r) {
			continue
		}
		for _, name := range w.attacks {
			if _, through := find(t, attacks, name, func(a attack) string { return a.name }).run(t, s, h); through != "" {
				t.Errorf("%s: not as reported: %s", w.line, through)
			}
		}
	}
	for _, b := range bounds {
		for _, name := range b.greedy {
			g := find(t, gluttons, name, func(g greedy) string { return g.name })
			got := g.run(t, s)
			by := "nobody"
			switch {
			case b.refused != "" && strings.Contains(got.out, b.refused) && got.exit.Cause == "":
				by = "rlimit"
			case got.exit.Cause == b.cause:
				by = "watchdog"
			}
			if says := b.says(r); by != says && says != "cgroup" {
				t.Errorf("%s: held by %s, reported %s: %s %+v", b.line, by, says, name, got)
			}
		}
	}
	if left := outlive(t, mode); len(left) > 0 && r.HostDeath == "all" {
		t.Errorf("host death: reported %s, survivors %v", r.HostDeath, left)
	}
}

func find[T any](t *testing.T, list []T, name string, of func(T) string) T {
	t.Helper()
	i := slices.IndexFunc(list, func(e T) bool { return of(e) == name })
	if i < 0 {
		t.Fatalf("there is no %q", name)
	}
	return list[i]
}
