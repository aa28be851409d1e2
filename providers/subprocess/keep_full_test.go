//go:build real && full && linux

package subprocess_test

import (
	"testing"
	"time"

	"github.com/toolcell/toolcell/providers/subprocess"
)

// TestConformanceKeep is the contract for contexts that outlive the host.
func TestConformanceKeep(t *testing.T) {
	t.Setenv("XDG_RUNTIME_DIR", t.TempDir())
	o := keepOptions(time.Minute)
	conform(t, o, subprocess.Python())
}
