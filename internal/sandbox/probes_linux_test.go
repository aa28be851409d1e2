//go:build real && (amd64 || arm64)

package sandbox_test

import (
	_ "embed"
	"os"
	"strings"
	"testing"

	"github.com/toolcell/toolcell/internal/sandbox"
)

//go:embed testdata/probes.py
var probes string

// knownProbes are those that get through in a mode, and why that is as it is, as
// the package documents. They have to.
var knownProbes = map[string]map[sandbox.Mode]string{
	"/proc: memory of the first process":    {sandbox.Bwrap: "it is under the same filter; only the exit status can be forged"},
	"reading /proc/sys/kernel/core_pattern": {sandbox.Bwrap: "what the kernel tells every user can be read"},
	"size of the host's secret":             {sandbox.Landlock: "stat works on every path"},
	"where the host's link leads":           {sandbox.Landlock: "readlink works on every path"},
	"lock of a system file":                 {sandbox.Landlock: readLocks, sandbox.Bwrap: readLocks},
}

const readLocks = "who may read a file may lock it (flock)"

// TestProbes tries every way out that one program can try, in one process; each
// is a row.
func TestProbes(t *testing.T) { eachMode(t, testProbes) }

func testProbes(t *testing.T, mode sandbox.Mode) {
	if _, err := os.Stat(python); err != nil {
		needs(t, "python3 in /usr/bin", err)
	}
	h := newHost(t)
	s := open(t, &sandbox.Options{Require: mode})
	before := h.state(t)
	got := runPython(t, s, h, probes)
	tried := 0
	for line := range strings.Lines(got.out) {
		f := strings.SplitN(strings.TrimSpace(line), "\t", 3)
		if len(f) != 3 || f[0] != "probe" {
			continue
		}
		tried++
		t.Run(f[1], func(t *testing.T) {
			judge(t, mode, strings.HasPrefix(f[2], "REACHED"), f[2], knownProbes[f[1]][mode])
		})
	}
	if !strings.Contains(got.out, "probe\tend\t") || tried < 150 {
		t.Errorf("%d probes, the last of them: %s, %+v", tried, got.out[max(len(got.out)-500, 0):], got.exit)
	}
	if after := h.state(t); mode != sandbox.None && after != before {
		t.Errorf("the host has changed:\n%s\n%s", before, after)
	}
	if strings.Contains(got.out, envSecret) || mode != sandbox.None && strings.Contains(got.out, fileSecret) {
		t.Error("a secret was printed")
	}
	h.repair(t)
}

// judge fails the test where an attack got through that is not known to, or one
// did not that is. In none mode it says what came of it.
func judge(t *testing.T, mode sandbox.Mode, through bool, what, known string) {
	t.Helper()
	switch {
	case mode == sandbox.None && through:
		t.Log(cell + "not held: none mode isolates nothing")
	case mode == sandbox.None:
	case through && known == "":
		t.Error(what)
	case through:
		t.Log(cell + "not held: " + known)
	case known != "":
		t.Errorf("known to get through (%s), but does not: say so", known)
	}
}

// cell begins what a row of the table says in place of "held".
const cell = "attack: "
