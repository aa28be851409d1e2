//go:build real && full && linux

package subprocess_test

import (
	"bytes"
	"os"
	"syscall"
	"testing"
	"time"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/internal/keeper"
	"github.com/toolcell/toolcell/providers/subprocess"
)

// TestConformanceKeep is the contract for contexts that outlive the host, and for single
// programs in a keeper that hosts share.
func TestConformanceKeep(t *testing.T) {
	for name, warm := range map[string]*subprocess.Warm{"contexts": nil, "shared": {}} {
		t.Run(name, func(t *testing.T) {
			t.Setenv("XDG_RUNTIME_DIR", t.TempDir())
			defer endKeepers(t)
			o := keepOptions(time.Minute)
			o.Warm = warm
			conform(t, o, subprocess.Python())
		})
	}
}

// endKeepers ends the keepers that stay for their lease.
func endKeepers(t *testing.T) {
	dir, err := keeper.Open(os.Getenv)
	if err != nil {
		t.Fatal(err)
	}
	for _, pid := range dir.Keepers("*") {
		_ = syscall.Kill(pid, syscall.SIGTERM)
	}
	keeperEnds(t)
}

// TestLateInput: a kept command gets all of its input, however late it takes it.
func TestLateInput(t *testing.T) {
	t.Setenv("XDG_RUNTIME_DIR", t.TempDir())
	o := &codeinterp.CommandOptions{Kept: &codeinterp.KeptCommand{}}
	o.Input = bytes.NewReader(make([]byte, 300_000))
	if res := command(t, open(t, keepOptions(time.Minute)), "sleep 7; wc -c", o); res.Stdout() != "300000\n" {
		t.Error(summary(res))
	}
}
