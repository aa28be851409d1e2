//go:build unix

package leftover_test

import (
	"os"
	"os/exec"
	"testing"
	"time"

	"github.com/toolcell/toolcell/internal/leftover"
)

type tests func() int

func (f tests) Run() int { return f() }

func TestRun(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	for _, tt := range []struct {
		name string
		run  tests
		want int
	}{
		{"nothing", func() int { return 0 }, 0},
		{"failure", func() int { return 3 }, 3},
		{"file", func() int {
			if _, err := os.MkdirTemp("", "toolcell-"); err != nil {
				t.Error(err)
			}
			return 0
		}, 1},
		{"process", func() int {
			cmd := exec.Command("sleep", "100")
			if err := cmd.Start(); err != nil {
				t.Error(err)
			}
			t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
			return 0
		}, 1},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if _, err := os.Stat("/proc/self/environ"); err != nil && tt.name == "process" {
				t.Skip("no /proc")
			}
			before := os.Getenv("TMPDIR")
			if got := leftover.RunFor(tt.run, 100*time.Millisecond); got != tt.want {
				t.Errorf("got %d, want %d", got, tt.want)
			}
			if list, err := os.ReadDir(before); err != nil || len(list) != 0 {
				t.Errorf("Run left %v, %v", list, err)
			}
			os.Setenv("TMPDIR", before)
		})
	}
}
