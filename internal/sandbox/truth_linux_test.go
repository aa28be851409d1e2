//go:build real && (amd64 || arm64)

package sandbox_test

import (
	"os"
	"path/filepath"

	"slices"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/internal/sandbox"
)

// A wall is a line of the report about what programs reach, and the attacks
// that none of may get through where the line says so.
type wall struct {
	line    string // the field of Isolation
	says    func(codeinterp.Isolation) bool
	attacks []string
}

var walls = []wall{
	{"Filesystem", func(i codeinterp.Isolation) bool { return i.Filesystem != codeinterp.ReachOpen },
		[]string{"secret file", "accounts and directories", "writing outside", "metadata outside"}},
	{"Network", func(i codeinterp.Isolation) bool { return i.Network == codeinterp.ReachBlocked },
		[]string{"internet sockets", "unix sockets", "other socket families"}},
	{"Processes", func(i codeinterp.Isolation) bool { return i.Processes == codeinterp.ReachBlocked },
		[]string{"environment of other processes", "command lines of other processes", "memory of other processes"}},
	{"Signals", func(i codeinterp.Isolation) bool { return i.Signals == codeinterp.ReachBlocked },
		[]string{"signals", "signals to every thread"}},
}

// A bound is a line of the report about a limit, and the programs that show it.
// How one ends tells who holds it: the kernel by an error, the watchdog by
// killing the tree.
type bound struct {
	line    string
	says    func(codeinterp.Isolation) string
	glutton []string
	cause   codeinterp.Cause
	refused string // what the program sees where the kernel refuses
}

var bounds = []bound{
	{"Memory", func(i codeinterp.Isolation) string { return i.Memory }, []string{"memory of orphans", "page tables"}, codeinterp.CauseMemory, ""},
	{"PIDs", func(i codeinterp.Isolation) string { return i.PIDs }, []string{"forks"}, codeinterp.CauseProcesses, "Resource temporarily unavailable"},
	{"Disk", func(i codeinterp.Isolation) string { return i.Disk },
		[]string{"sizes of many files", "sizes in a directory that cannot be listed"}, codeinterp.CauseDisk, ""},
	{"CPU", func(i codeinterp.Isolation) string { return i.CPU }, []string{"CPU time of many processes"}, codeinterp.CauseCPU, ""},
}

// TestReportIsTrue derives every line of the report from attacks.
func TestReportIsTrue(t *testing.T) {
	nightly(t, testReportIsTrue)
}

func testReportIsTrue(t *testing.T, mode sandbox.Mode) {
	if _, err := os.Stat(python); err != nil {
		needs(t, "python3 in /usr/bin", err)
	}
	s := open(t, &sandbox.Options{Require: mode, Limits: sandbox.Limits{CPU: 600}})
	r := s.Report()
	h := newHost(t)
	for _, w := range walls {
		w.check(t, s, h)
	}
	for _, b := range bounds {
		for _, name := range b.glutton {
			g := find(t, gluttons, name, func(g glutton) string { return g.name })
			got := g.run(t, s)
			by := "none"
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
	if left := outlive(t, mode); len(left) > 0 && r.HostDeath != "none" {
		t.Errorf("host death: reported %s, survivors %v", r.HostDeath, left)
	}
	testUser(t, s)
}

// check compares what the report says with what comes of the attacks: none gets
// through where it says so, and one does where it says that nothing is held back.
func (w wall) check(t *testing.T, s *sandbox.Sandbox, h *host) {
	t.Helper()
	shut, bites := w.says(s.Report()), false
	h.hits.Store(0)
	for _, name := range w.attacks {
		if !shut && notInNone[name] {
			bites = true // not tried, for the machine's sake
			continue
		}
		_, through := find(t, attacks, name, func(a attack) string { return a.name }).run(t, s, h)
		h.repair(t)
		bites = bites || through != ""
		if shut && (through != "" || h.hits.Load() > 0) {
			t.Errorf("%s: not as reported: %s", w.line, through)
		}
	}
	// It may be on its way to the host.
	if !shut && !await(func() bool { return bites || h.hits.Load() > 0 }) {
		t.Errorf("%s: reported open, but no attack gets through", w.line)
	}
}

// testUser compares the report with whose a program's files are.
func testUser(t *testing.T, s *sandbox.Sandbox) {
	t.Helper()
	dir := must(s.TempDir())
	defer s.Discard(dir)
	c := sh
	c.Workdir = dir
	run(t, s, c, "echo > made")
	var st unix.Stat_t
	check(t, unix.Stat(filepath.Join(dir, "made"), &st))
	says, own := s.Report().User, int(st.Uid) == os.Getuid()
	number, hosts := strings.CutSuffix(says, " (the host's)")
	if uid, err := strconv.Atoi(number); err == nil && uid != int(st.Uid) || own != hosts || st.Uid == 0 {
		t.Errorf("User: reported %q, files are of %d", says, st.Uid)
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
