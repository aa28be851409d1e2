//go:build linux && real

package main

import (
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/toolcell/toolcell/internal/leftover"
)

// TestMain is also the example.
func TestMain(m *testing.M) {
	if os.Args[0] == "toolcell-keeper" || os.Getenv("ATTACH_EXAMPLE") != "" {
		main()
		return
	}
	os.Exit(leftover.Run(m))
}

// TestAttach: the second process has what the first one left.
func TestAttach(t *testing.T) {
	dir, sockets := leftover.Dir(t), t.TempDir()
	run := func() string {
		cmd := exec.Command("/proc/self/exe", dir)
		cmd.Env = append(os.Environ(), "ATTACH_EXAMPLE=1", "XDG_RUNTIME_DIR="+sockets)
		out, err := cmd.CombinedOutput()
		if err != nil && err.Error() != "signal: killed" {
			t.Errorf("%v\n%s", err, out)
		}
		return string(out)
	}
	if out := run(); out != "1 1\n2 3\n3 6\n" {
		t.Errorf("the first process: %s", out)
	}
	out := run()
	for _, want := range []string{"(python): kept.\n", "Directory " + dir + ": kept.\n", "the run: ok\n1 1\n", "10 55\n", "total 55\n"} {
		if !strings.Contains(out, want) {
			t.Errorf("the second process lacks %q:\n%s", want, out)
		}
	}
}
