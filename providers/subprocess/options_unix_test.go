//go:build unix

package subprocess

import (
	"testing"

	"github.com/toolcell/toolcell/internal/sandbox"
)

// TestModes: the modes and limits of this package are those of the sandbox, and
// the defaults are as documented.
func TestModes(t *testing.T) {
	for m, want := range map[Mode]sandbox.Mode{Auto: sandbox.Auto, None: sandbox.None, Landlock: sandbox.Landlock, Bwrap: sandbox.Bwrap} {
		if sandbox.Mode(m) != want || m.String() != want.String() {
			t.Errorf("%d is %s, want %s", m, m, want)
		}
	}
	documented := Limits{Memory: 2 << 30, Processes: 256, CPU: -1, FileSize: 512 << 20, Disk: 1 << 30, Inodes: 100_000, OpenFiles: 1024}
	if got := Limits(sandbox.DefaultLimits()); got != documented {
		t.Errorf("the defaults are %+v, documented are %+v", got, documented)
	}
}
