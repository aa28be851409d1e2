//go:build unix

package leftover_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"slices"
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

// TestRunning: what was killed runs no code of its own, also before it is its turn to end.
func TestRunning(t *testing.T) {
	if _, err := os.Stat("/proc/self/cmdline"); err != nil {
		t.Skip("no /proc")
	}
	text := fmt.Sprintf("3600.%d", rand.Int32())
	cmd := exec.Command("sleep", text)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer cmd.Wait()
	before := leftover.Running(text)
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	if after := leftover.Running(text); !slices.Equal(before, []int{cmd.Process.Pid}) || len(after) > 0 {
		t.Errorf("%v before, %v after", before, after)
	}
}
